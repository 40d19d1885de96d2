"""A broken model, or several, for each id of ONNX files, with a part of what is said about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from written import (
    VALID,
    attribute,
    block,
    external,
    function,
    graph,
    model,
    nested,
    node,
    number,
    opset,
    tensor,
    varint,
    with_attribute,
    with_tensor,
)

from dmlcy._frontends.onnx.graphs import DEEPEST, NODES
from dmlcy._frontends.onnx.wire import MOST

FLOAT, INT4, STRING, INT64 = 1, 22, 8, 7
FLOATS, INT, GRAPH = 6, 2, 5
WHOLE = node("Relu", "x", "y")


def broken() -> Iterator[tuple[str, str, bytes]]:
    """The ends of ids, parts of messages, and models that are refused when they are read."""
    yield from _bytes()
    yield from _messages()
    yield from _tensors()
    yield from _structures()


def _bytes() -> Iterator[tuple[str, str, bytes]]:
    yield "file-kind", "The file is an empty file, not an ONNX model.", b""
    yield "file-kind", "The file is an image", b"\x89PNG\r\n\x1a\n" + bytes(60)
    yield "file-kind", "The file is a text", b'{"model": 1}'
    yield "file-kind", "The file is a binary file", bytes(range(200, 256)) * 4
    yield "file-end", "ModelProto ends at byte 2, inside a number that begins at byte 0", b"\x08\x80"
    yield "file-end", "TensorProto ends at byte", with_tensor(tensor("w", INT64, (1,)) + b"\x80")
    yield "file-length", "The field graph of ModelProto begins at byte", VALID[:-1]
    yield (
        "file-length",
        "ModelProto ends after 1 of these",
        number(1, 8) + varint(7 << 3 | 2) + varint(2**40) + b"x",
    )
    short = varint(99 << 3 | 1) + b"1234567"
    yield "file-length", "The field 99 of ModelProto begins at byte 2 and has 8", number(1, 8) + short
    yield "file-number", "has more than 10 bytes", number(1, 8) + b"\x08" + b"\xff" * 10 + b"\x01"
    yield "file-tag", "with the number 0 and the wire type 0", number(1, 8) + number(0, 1)
    for wire in (3, 4, 6, 7):
        yield "file-tag", f"with the number 9 and the wire type {wire}", number(1, 8) + varint(9 << 3 | wire)
    yield "file-tag", f"with the number {2**29}", number(1, 8) + number(2**29, 1)
    yield "file-field", "The field graph of ModelProto has the wire type 0 (a number)", number(1, 8) + number(7, 1)
    yield "file-field", "must have 0 (a number) or 2 (a length", with_tensor(varint(1 << 3 | 5) + bytes(4))
    yield "file-text", "The field op_type of NodeProto is not text", model(graph(block(1, block(4, b"\xff"))))


def _messages() -> Iterator[tuple[str, str, bytes]]:
    body = graph(WHOLE)
    yield "file-version", "does not have an IR version", opset() + block(7, body)
    for version in (0, 15, -1, 2**62):
        yield "file-version", f"has IR version {version}, and dmlcy reads", model(body, version=version)
    yield "file-graph", "does not have a graph", number(1, 10) + opset()
    yield "file-opset", "The model does not have an opset_import", number(1, 10) + block(7, body)
    yield "file-opset", 'names opset version 0 of the domain "ai.onnx"', model(body, opset("", 0))
    yield "file-opset", 'The function "f" names', model(body, function("f", block(9, number(2, -3))))
    yield "file-operator", "does not have an op_type", model(graph(block(1, block(2, "y"))))
    yield "file-nesting", f"nested more than {DEEPEST} deep", nested(DEEPEST + 1)
    yield "file-limit", f"more than {NODES} nodes", model(graph(WHOLE * (NODES + 1)))
    yield "file-limit", f"more than {MOST} names", with_attribute(block(1, "") * (MOST + 1))
    yield "file-limit", f"more than {MOST} names", with_attribute(attribute("a", 7, block(8, bytes(MOST + 1))))
    yield "file-limit", f"more than {MOST} names", model(graph(WHOLE, block(2, bytes(64 * MOST))))
    yield "file-attribute", "does not have a name", with_attribute(attribute("", INT, number(3, 1)))
    yield "file-attribute", 'The attribute "a" appears twice', with_attribute(attribute("a", INT, number(3, 1)) * 2)
    yield "file-attribute", "of the kind 77, which", with_attribute(attribute("a", 77, b""))
    yield "file-attribute", "does not have a kind", with_attribute(attribute("a", 0, b""))
    yield "file-attribute", "is of the kind GRAPH, and does not have g", with_attribute(attribute("a", GRAPH, b""))
    yield "file-attribute", "is of the kind INT, and does", with_attribute(attribute("a", INT, block(4, "s")))


def _tensors() -> Iterator[tuple[str, str, bytes]]:
    yield "file-dtype", 'The tensor "w" has the data type 29', with_tensor(tensor("w", 29, (1,)))
    type_ = block(2, block(1, number(1, 99)))
    yield "file-dtype", 'The value "v" has the data type 99', model(graph(WHOLE, block(13, block(1, "v") + type_)))
    yield "file-sizes", "has the sizes (2, -1): a size is neg", with_tensor(tensor("w", FLOAT, (2, -1)))
    for sizes in ((2**40, 2**40), (0, 2**62, 2**62), (2**61,)):
        yield "file-sizes", "no file has as many elements", with_tensor(tensor("w", FLOAT, sizes))
    yield "file-sizes", "there are 65 of them", with_tensor(tensor("w", FLOAT, (1,) * 65))
    yield "file-elements", "(3,): the number of bytes in raw_data is 8", _elements(FLOAT, (3,), block(9, bytes(8)))
    yield "file-elements", "bytes in raw_data is 0, and must be 12", _elements(FLOAT, (3,), block(9, b""))
    yield "file-elements", "of bytes in raw_data is 3, and must be 2", _elements(INT4, (3,), block(9, bytes(3)))
    yield "file-elements", "in float_data is 0, and must be 4", _elements(FLOAT, ())
    yield "file-elements", "numbers in int64_data is at most 1, and must be 2", _elements(INT64, (2,), number(7, 1))
    yield "file-elements", "is at least 2, and must be 1", _elements(INT64, (1,), block(7, bytes(11)))
    yield "file-elements", "elements in string_data is 1, and must be 2", _elements(STRING, (2,), block(6, "a"))
    yield "file-storage", "in int64_data, and must have them in raw_data or float", _elements(FLOAT, (1,), number(7, 1))
    both = block(9, bytes(4)) + block(4, bytes(4))
    yield "file-storage", "has its elements in raw_data and float_data", _elements(FLOAT, (1,), both)
    yield "file-storage", "in raw_data, and must have them in string_data", _elements(STRING, (1,), block(9, b"abcd"))
    yield "file-segment", 'The tensor "w" is a segment', _elements(FLOAT, (1,), block(3, b""), block(9, bytes(4)))
    elements = tensor("w", FLOAT, (2,), block(9, bytes(8)))
    indices = tensor("i", INT64, (3,), block(9, bytes(24)))
    yield "file-sparse", "does not have values", model(graph(WHOLE, block(15, number(3, 4))))
    yield "file-sparse", "with indices of INT64", model(graph(WHOLE, block(15, block(1, elements) + number(3, 4))))
    sparse = block(15, block(1, elements) + block(2, indices) + number(3, 4))
    yield "file-sparse", "must have (2,) or (2, 1)", model(graph(WHOLE, sparse))
    for entries, what in (
        ({}, 'The tensor "w" has the entry "location" of external_data'),
        ({"location": ""}, "is missing, or is empty"),
        ({"location": "w", "offset": "-1"}, 'entry "offset" of external_data, which is "-1"'),
        ({"location": "w", "length": "9" * 21}, 'the entry "length"'),
        ({"location": "w", "offset": "\u0663"}, "must be a number of bytes"),
    ):
        yield "file-external", what, _elements(FLOAT, (1,), external(**entries))


def _elements(element: int, sizes: tuple[int, ...], *more: bytes) -> bytes:
    return with_tensor(tensor("w", element, sizes, *more))


def _structures() -> Iterator[tuple[str, str, bytes]]:
    yield "graph-undefined", 'node 0 (Relu): Input 0 of the node is "q"', model(graph(node("Relu", "q", "y")))
    yield "graph-undefined", 'Output 0 of the graph is "z"', model(graph(WHOLE, outputs="z"))
    inside = attribute("then_branch", GRAPH, block(6, graph(node("Relu", "q", "r"), inputs="", outputs="r")))
    yield (
        "graph-undefined",
        "node 0 (If), then_branch, node 0 (Relu): Input",
        model(graph(node("If", "x", "y", inside))),
    )
    yield "graph-undefined", 'function "f": Output 0', model(graph(WHOLE), function("f", block(5, "y")))
    yield "graph-twice", "by node 0 (Relu) and by node 1 (Tanh)", model(graph(WHOLE, node("Tanh", "x", "y")))
    yield "graph-twice", 'The value "x" is given twice: by an input and', model(graph(node("Relu", "x", "x"), WHOLE))
    yield "graph-twice", "by an input and by another", model(graph(WHOLE, inputs="x x"))
    weight = block(5, tensor("w", FLOAT, (1,), block(9, bytes(4))))
    yield "graph-twice", "by an initializer and by another", model(graph(WHOLE, weight * 2))
    loop = (node("Relu", "a", "b"), node("Tanh", "b", "a"))
    yield "graph-cycle", "node 0 (Relu) <- node 1 (Tanh) <- node 0 (Relu)", model(graph(*loop, outputs="a"))
    long = [node("Relu", str(i), str((i + 1) % 30)) for i in range(30)]
    yield "graph-cycle", "<- ... (30 nodes in all)", model(graph(*long, outputs="0"))
    around = attribute("body", GRAPH, block(6, graph(node("Relu", "y", "r"), inputs="", outputs="r")))
    yield "graph-cycle", "node 0 (If) <- node 0 (If)", model(graph(node("If", "x", "y", around)))
    yield "graph-domain", 'of the domain "own", but the model', model(graph(node("F", "x", "y", block(7, "own"))))
    yield "graph-function-twice", 'The function "f" of the domain "own"', model(graph(WHOLE), function("f") * 2)
    own = block(9, block(1, "own") + number(2, 1))
    call, back = (block(7, block(4, name) + block(7, "own")) for name in "gf")
    yield "graph-recursion", 'The function "f" calls itself.', model(graph(WHOLE), function("f", own, back))
    pair = function("f", own, call), function("g", own, back)
    yield "graph-recursion", 'calls itself by way of "g"', model(graph(WHOLE), *pair)


EXTERNAL: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("file-external-path", "../w.bin", {}),
    ("file-external-path", "inner/../../w.bin", {}),
    ("file-external-path", "/etc/passwd", {}),
    ("file-external-path", "C:\\w.bin", {}),
    ("file-external-path", "\\\\server\\w.bin", {}),
    ("file-external-path", "link.bin", {}),
    ("file-external-path", "link/w.bin", {}),
    ("file-external-path", "w\0.bin", {}),
    ("file-external-missing", "nothing.bin", {}),
    ("file-external-missing", "inner", {}),
    ("file-external-missing", "pipe", {}),
    ("file-external-missing", "circle", {}),
    ("file-external-missing", "x" * 300, {}),
    ("file-external-range", "w.bin", {"offset": 1}),
    ("file-external-range", "w.bin", {"offset": 2**63}),
    ("file-external-range", "empty.bin", {}),
    ("file-elements", "w.bin", {"length": 4}),
)
"""Files of elements that are refused when the elements are asked for: ends of ids, locations, entries."""
