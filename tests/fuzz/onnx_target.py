"""Any bytes as an ONNX model. Only a Refusal with an id of such files may come of it, quickly.

The reader and the ``onnx`` package, where it is installed, read the same. Then its nodes are put in order, and all of
its elements are read.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "onnx_files"))

from dmlcy._frontends.dxdispatch.problems import Refusal  # noqa: E402
from dmlcy._frontends.onnx.model import Graph, Model, Node, Tensor  # noqa: E402
from dmlcy._frontends.onnx.reader import decode  # noqa: E402
from dmlcy._frontends.onnx.structure import ordered  # noqa: E402

try:
    import onnx
    from google.protobuf.message import DecodeError
    from proto_peers import agree
except ImportError:
    onnx = None

LONGEST = 4096
SECONDS = 2
"""Of the processor, for one input."""
SEEDS: list[Path] = []  # the corpus has models of every message
IDS = ("DML-ONNX-file-", "DML-ONNX-graph-")


def dictionary() -> str:
    """Tags of fields, small lengths and long numbers, in libFuzzer's form."""
    words = {bytes([number << 3 | wire]) for number in range(1, 16) for wire in (0, 2)}
    words |= {bytes([number << 3 & 127 | wire | 128, number >> 4]) for number in range(16, 27) for wire in (0, 2)}
    words |= {b"\xff" * 9 + b"\1", b"\x80" * 9 + b"\1", b"\xff\xff\xff\xff\x07"}
    return "".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in sorted(words))


def read(data: bytes) -> Model:
    """The model in these bytes."""
    return decode("model.onnx", data, HERE / "no folder")


def refusal(data: bytes) -> Refusal | None:
    """Why these bytes are refused; None where they are read."""
    try:
        read(data)
    except Refusal as error:
        return error
    return None


def one(data: bytes) -> None:
    """Do with these bytes whatever can be done with an ONNX model that is read."""
    start = time.process_time()
    error = refusal(data)
    if error is not None:
        assert all(one.id.startswith(IDS) for one in error.violations)
        assert all(-1 <= problem.place.byte < len(data) for problem in error.problems)
        assert str(error).replace("\n", "").isprintable()
    else:
        model = read(data)
        for tensor in _tensors(model.graph):
            try:
                array = tensor.array()
            except Refusal as refused:
                assert all(one.id.startswith(IDS) for one in refused.violations)
            else:
                assert array.shape == tensor.sizes and not array.flags.writeable
        if onnx is not None:
            as_the_package(model, data)
    assert time.process_time() - start < SECONDS, "it took too long"


def as_the_package(model: Model, data: bytes) -> None:
    """Compare a model with what the package reads; it refuses damage in messages that are passed over here."""
    try:
        proto = onnx.ModelProto.FromString(data)
    except DecodeError:
        return
    agree(model, proto, None)


def _tensors(graph: Graph) -> Iterator[Tensor]:
    """The tensors of a graph, whose nodes have an order."""
    yield from graph.initializers.values()
    found = ordered(graph)
    assert sorted(node.number for node in found) == [*range(len(graph.nodes))]
    for node in found:
        yield from _of_node(node)


def _of_node(node: Node) -> Iterator[Tensor]:
    for attribute in node.attributes.values():
        values = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
        for value in values:
            if isinstance(value, Tensor):
                yield value
            elif isinstance(value, Graph):
                yield from _tensors(value)
