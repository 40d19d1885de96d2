"""ONNX models written byte by byte, broken ones too. Numbers of fields are those of onnx.proto."""

from __future__ import annotations


def varint(value: int) -> bytes:
    """A number as protocol buffers write it."""
    found = bytearray()
    value &= 2**64 - 1
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return varint(field << 3) + varint(value)


def block(field: int, payload: bytes | str) -> bytes:
    """A field with bytes: a text, or a message."""
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def attribute(name: str, kind: int, value: bytes) -> bytes:
    """An attribute, as a field of a node."""
    return block(5, block(1, name) + number(20, kind) + value)


def node(operator: str, inputs: str, outputs: str, *more: bytes) -> bytes:
    """A node, as a field of a graph; the names of its inputs and outputs have spaces between them."""
    names = [block(1, name) for name in inputs.split()] + [block(2, name) for name in outputs.split()]
    return block(1, b"".join([*names, block(4, operator), *more]))


def tensor(name: str, element: int, sizes: tuple[int, ...], *more: bytes) -> bytes:
    """The bytes of a tensor."""
    return b"".join([*(number(1, size) for size in sizes), number(2, element), block(8, name), *more])


def external(**entries: object) -> bytes:
    """The entries of a tensor whose elements are in a file of their own."""
    said = [block(13, block(1, key) + block(2, str(value))) for key, value in entries.items()]
    return b"".join([number(14, 1), *said])


def graph(*fields: bytes, inputs: str = "x", outputs: str = "y") -> bytes:
    """The bytes of a graph; nothing is said of its inputs and outputs but the names."""
    names = [block(11, block(1, name)) for name in inputs.split()]
    names += [block(12, block(1, name)) for name in outputs.split()]
    return b"".join([block(2, "g"), *fields, *names])


def opset(domain: str = "", version: int = 21) -> bytes:
    """The version of an opset, as a field of a model."""
    return block(8, (block(1, domain) if domain else b"") + number(2, version))


def function(name: str, *more: bytes) -> bytes:
    """A function of the domain "own", as a field of a model."""
    return block(25, b"".join([block(1, name), block(10, "own"), block(9, number(2, 21)), *more]))


def model(graph: bytes, *more: bytes, version: int = 10) -> bytes:
    """The bytes of a model with one opset."""
    return number(1, version) + opset() + b"".join(more) + block(7, graph)


def with_tensor(data: bytes) -> bytes:
    """A model whose one initializer has these bytes."""
    return model(graph(block(5, data), node("Relu", "x", "y")))


def with_attribute(*values: bytes) -> bytes:
    """A model whose one node has these attributes."""
    return model(graph(node("Relu", "x", "y", *values)))


def nested(depth: int) -> bytes:
    """A model with so many graphs, each in an attribute of a node of the one before."""
    inner = graph(inputs="", outputs="x")
    for _ in range(depth - 1):
        inner = graph(node("If", "x", "y", attribute("then_branch", 5, block(6, inner))), inputs="", outputs="y")
    return model(inner + block(11, block(1, "x")))


VALID = model(graph(node("Relu", "x", "h"), node("Tanh", "h", "y")))
