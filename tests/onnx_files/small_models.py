"""Small models of nodes, written without the package ``onnx``, and one for each id that a node or a size gets."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from written import block, function, number, opset, tensor

from dmlcy._errors import ModelError
from dmlcy._frontends.dxdispatch.problems import Refusal
from dmlcy._frontends.onnx.elements import element_of
from dmlcy._frontends.onnx.exposing import extracted
from dmlcy._frontends.onnx.inputs import arrays_for
from dmlcy._frontends.onnx.lint import lint
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.report import report_of
from dmlcy._graph.limits import MOST
from dmlcy._judge.dumps.compare import Report
from dmlcy._judge.models.compare import compared

Values = Mapping[str, tuple[str, tuple[int | str, ...]]]
"""Data types and sizes by the names of values."""


class Node(NamedTuple):
    """A node; the names of its inputs and outputs have spaces between them, and "-" is an input that is left out."""

    operator: str
    inputs: str
    outputs: str
    attributes: Mapping[str, Any] = {}
    domain: str = ""


def small(
    nodes: Sequence[Node],
    values: Values,
    constants: Mapping[str, Any] | None = None,
    *,
    version: int = 21,
    outputs: Values | None = None,
    domains: Sequence[str] = (),
) -> bytes:
    """The bytes of a model whose inputs are ``values``; ``outputs``: what it says of its outputs."""
    imported = [block(8, number(2, version)), *(opset(one, 1) for one in domains)]
    return number(1, 10) + b"".join(imported) + block(7, graph(nodes, values, constants, outputs or {}))


def graph(
    nodes: Sequence[Node], values: Values, constants: Mapping[str, Any] | None = None, outputs: Values | None = None
) -> bytes:
    """The bytes of a graph."""
    found = [block(1, _node(one)) for one in nodes]
    found += [block(5, _constant(name, np.asarray(array))) for name, array in (constants or {}).items()]
    found += [block(11, _value(name, *said)) for name, said in values.items()]
    found += [block(12, _value(name, *said)) for name, said in (outputs or {}).items()]
    return block(2, "g") + b"".join(found)


def _node(one: Node) -> bytes:
    names = [block(1, "" if name == "-" else name) for name in one.inputs.split()]
    names += [block(2, name) for name in one.outputs.split()]
    attributes = [block(5, _attribute(name, value)) for name, value in one.attributes.items()]
    domain = [block(7, one.domain)] if one.domain else []
    return b"".join([*names, block(4, one.operator), *attributes, *domain])


def _attribute(name: str, value: Any) -> bytes:
    match value:
        case bytes():
            kind, said = 5, block(6, value)
        case str():
            kind, said = 3, block(4, value)
        case int():
            kind, said = 2, number(3, value)
        case float():
            kind, said = 1, b"\x15" + struct.pack("<f", value)
        case np.ndarray():
            kind, said = 4, block(5, _constant("", value))
        case _:
            kind, said = 7, b"".join(number(8, one) for one in value)
    return block(1, name) + number(20, kind) + said


def _constant(name: str, array: Any) -> bytes:
    element = ELEMENTS[element_of(array) or "FLOAT"]
    return tensor(name, element.number, array.shape, block(9, array.tobytes()))


def _value(name: str, element: str, sizes: Sequence[int | str]) -> bytes:
    dimensions = [block(1, number(1, one) if isinstance(one, int) else block(2, one)) for one in sizes]
    kind = number(1, ELEMENTS[element].number) + block(2, b"".join(dimensions))
    return block(1, name) + block(2, block(1, kind))


def compare(model: CompiledModel, inputs: Mapping[str, Any], values: Mapping[str, Any], path: Path) -> Report:
    """The report of ``dmlcy compare`` on the values of a device, without the summaries."""
    return compared(model, inputs, values, path)[0]


def ids_of(data: bytes, **options: Any) -> set[str]:
    """The ids that the report and lint give, or those of a refusal."""
    shapes, level, limit = options.get("shapes"), options.get("level", "6_4"), options.get("limit", MOST)
    try:
        model = decode("m.onnx", data, None)
        report = report_of(model, **options)
        found = lint(model, level, shapes, limit)
    except Refusal as error:
        return {one.violation.id for one in error.problems}
    placed = {why.id for node in report.nodes for why in node.reasons} | {note.id for note in report.notes}
    return placed | {finding.violation.id for finding in found.findings}


X: Values = {"x": ("FLOAT", (2, 3))}
ANY: Values = {"x": ("FLOAT", ("n", 3))}
RELU = Node("Relu", "x", "y")
IMAGE: Values = {"x": ("FLOAT", (1, 3, 8, 8))}
WEIGHTS = {"w": np.ones((4, 3, 3, 3), np.float32)}
ONE = np.ones(1, np.int64)
BRANCH = graph([Node("Neg", "x", "b")], {}, None, {"b": ("FLOAT", (2, 3))})
CALL = small([Node("f", "x", "y", {}, "own")], X, domains=["own"]) + function(
    "f", block(4, "a"), block(5, "c"), block(7, _node(Node("Neg", "a", "b"))), block(7, _node(Node("Abs", "b", "c")))
)
CASES: Sequence[tuple[str, bytes, Mapping[str, Any]]] = (
    ("cpu-version", small([Node("Conv", "x w", "y")], IMAGE, WEIGHTS, version=22), {}),
    ("model-opset", small([Node("Conv", "x w", "y")], IMAGE, WEIGHTS, version=22), {}),
    ("cpu-kernel", small([Node("Det", "x", "y")], {"x": ("FLOAT", (2, 2))}), {}),
    ("cpu-unknown", small([Node("Thing", "x", "y", {}, "own")], X, domains=["own"]), {}),
    ("cpu-opset", small([Node("Gelu", "x", "y")], X, version=11), {}),
    ("cpu-type", small([Node("Add", "x x", "y")], {"x": ("DOUBLE", (2,))}), {}),
    ("cpu-device", small([Node("Add", "x x", "y")], {"x": ("INT64", (2,))}), {"types": {"FLOAT32"}}),
    ("cpu-query", small([Node("MaxPool", "x", "y", {"kernel_shape": [2, 2], "storage_order": 1})], IMAGE), {}),
    ("cpu-shape", small([Node("Shape", "x", "s"), Node("Gather", "s i", "y")], ANY, {"i": ONE}), {}),
    ("cpu-memory", small([Node("Shape", "x", "y")], ANY), {}),
    (
        "cpu-control",
        small(
            [Node("If", "c", "y", {"then_branch": BRANCH, "else_branch": BRANCH})], {**X, "c": ("BOOL", ())}, version=19
        ),
        {},
    ),
    (
        "alone-never",
        small(
            [Node("LSTM", "x w r", "y", {"hidden_size": 3})],
            {"x": ("FLOAT", (4, 1, 2))},
            {"w": np.ones((1, 12, 2), np.float32), "r": np.ones((1, 12, 3), np.float32)},
        ),
        {},
    ),
    ("alone-inputs", small([Node("Max", "x x x", "y")], X), {}),
    ("fused", small([Node("Add", "x x", "h"), Node("Relu", "h", "y")], X), {"optimize": "extended"}),
    (
        "alone-subgraph",
        small(
            [Node("If", "c", "y", {"then_branch": BRANCH, "else_branch": BRANCH})], {**X, "c": ("BOOL", ())}, version=19
        ),
        {},
    ),
    (
        "model-subgraph",
        small(
            [Node("If", "c", "y", {"then_branch": BRANCH, "else_branch": BRANCH})], {**X, "c": ("BOOL", ())}, version=19
        ),
        {},
    ),
    ("alone-sizes", small([RELU], ANY), {}),
    ("alone-empty", small([RELU], {"x": ("FLOAT", (0,))}, outputs={"y": ("FLOAT", (0,))}), {}),
    (
        "alone-constant",
        small([Node("ReduceSum", "x a", "y")], {**X, "a": ("INT64", (1,))}, outputs={"y": ("FLOAT", (2, 1))}),
        {},
    ),
    (
        "alone-shader",
        small(
            [Node("GridSample", "x g", "y")],
            {"x": ("FLOAT", (1, 1, 4, 4)), "g": ("FLOAT", (1, 2, 2, 2))},
            outputs={"y": ("FLOAT", (1, 1, 2, 2))},
            version=19,
        ),
        {},
    ),
    ("level", small([Node("Gelu", "x", "y", {}, "com.microsoft")], X, domains=["com.microsoft"]), {"level": "5_0"}),
    ("node-input", small([Node("Add", "x -", "y")], X), {}),
    ("node-inputs", small([Node("Relu", "x x", "y")], X), {}),
    ("node-attribute", small([Node("Cast", "x", "y")], X), {}),
    ("node-attribute-unknown", small([Node("Relu", "x", "y", {"slope": 1})], X), {}),
    ("node-attribute-kind", small([Node("Softmax", "x", "y", {"axis": 1.0})], X), {}),
    ("input-unknown", small([Node("Reshape", "x s", "y")], {**X, "s": ("INT64", (1,))}), {}),
    ("axis", small([Node("Softmax", "x", "y", {"axis": 2})], X), {}),
    ("type", small([Node("Cast", "x", "y", {"to": 16})], X), {}),
    ("empty", small([RELU], {"x": ("FLOAT", (0,))}), {}),
    ("input-type", small([Node("Clip", "x l", "y")], X, {"l": np.ones((), np.int64)}), {}),
    ("input-type", small([Node("ReduceSum", "x a", "y")], X, {"a": np.ones(1, np.float32)}), {}),
    ("sizes", small([Node("Concat", "x z", "y", {"axis": 0})], {**X, "z": ("FLOAT", (2, 4))}), {}),
    ("parts", small([Node("Split", "x s", "y z")], X, {"s": np.array([1, 2])}), {}),
    ("parts", small([Node("Split", "x", "y z", {"axis": 1})], X, version=13), {}),
    ("parts", small([Node("DepthToSpace", "x", "y", {"blocksize": 2})], IMAGE), {}),
    ("attribute-value", small([Node("Unsqueeze", "x a", "y")], X, {"a": np.array([0, 0])}), {}),
    ("broadcast", small([Node("Add", "x z", "y")], {**X, "z": ("FLOAT", (4,))}), {}),
    ("reshape", small([Node("Reshape", "x s", "y")], X, {"s": np.array([4])}), {}),
    ("attribute-value", small([Node("Conv", "x w", "y", {"auto_pad": "SOME"})], IMAGE, WEIGHTS), {}),
    ("rank", small([Node("Conv", "x w", "y")], X, WEIGHTS), {}),
    ("unsupported", small([Node("Resize", "x - s", "y", {"mode": "cubic"})], X, {"s": np.ones(2, np.float32)}), {}),
    ("count", small([Node("Pad", "x p", "y")], X, {"p": np.zeros(3, np.int64)}), {}),
    ("index", small([Node("Gather", "d i", "y")], {}, {"d": ONE, "i": np.array([3])}), {}),
    ("negative", small([Node("Pad", "x p", "y")], X, {"p": np.array([-1, 0, 0, 0])}), {}),
    ("division-zero", small([Node("Div", "d z", "y")], {}, {"d": ONE, "z": np.zeros(1, np.int64)}), {}),
    (
        "fold-large",
        small([Node("Expand", "d s", "c"), Node("Reshape", "x c", "y")], X, {"d": ONE, "s": np.array([2**25])}),
        {},
    ),
    ("function-large", CALL, {"limit": 1}),
    ("dynamic", small([Node("NonZero", "x", "y")], X), {}),
    ("shape-free", small([RELU], ANY), {}),
    ("shape-name", small([RELU], ANY), {"shapes": {"z": (1, 2)}}),
    ("shape-sizes", small([RELU], ANY), {"shapes": {"x": (1, 2)}}),
    ("output-sizes", small([RELU], ANY, outputs={"y": ("FLOAT", (7, 3))}), {"shapes": {"n": (2,)}}),
    ("output-rank", small([RELU], ANY, outputs={"y": ("FLOAT", (2,))}), {"shapes": {"n": (2,)}}),
)
"""The end of an id, a model that gets it, and the options of the report."""


_Y = {"y": ("FLOAT", (2, 3))}
_RELU = small([Node("Relu", "x", "y")], {"x": ("FLOAT", (2, 3))}, outputs=_Y)
_SQUARE = np.ones((3, 3), np.float32)


def warned(report: Report) -> None:
    """Raise the warnings of a report."""
    raise ModelError([one.violation for one in report.warnings])


RUNS: list[tuple[str, bytes, Callable[[CompiledModel], object]]] = [
    ("run-type", _RELU, lambda model: model(np.zeros((2, 3)))),
    ("run-value", _RELU, lambda model: model.run({"x": np.zeros((2, 3), np.float32)}, ["z"])),
    ("run-node", _RELU, lambda model: extracted(model, {"x": np.zeros((2, 3), np.float32)}, "z")),
    (
        "run-shape",
        small([Node("Relu", "x", "y")], {"x": ("FLOAT", (2, "n"))}, outputs=_Y),
        lambda model: arrays_for(model, {}, 0),
    ),
    (
        "run-unjudged",
        small([Node("Det", "x", "y")], {"x": ("FLOAT", ("n", 3))}, outputs=_Y),
        lambda model: warned(compare(model, {"x": _SQUARE}, {"y": _SQUARE[0, 0]}, Path())),
    ),
    ("run-unknown", small([Node("Det", "x", "y")], {"x": ("FLOAT", (3, 3))}, outputs=_Y), str),
]
"""Runs that fail, by the end of the id: the model, and what is done with it."""


def ids_of_run(data: bytes, run: Callable[[CompiledModel], object]) -> set[str]:
    """The ids of the error of a run; none where the model runs."""
    try:
        run(CompiledModel(decode("small.onnx", data, None), {}))
    except ModelError as error:
        return {one.id for one in error.violations}
    return set()
