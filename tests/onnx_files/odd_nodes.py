"""Nodes that are drawn at random: most are not valid."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import numpy as np

from dmlcy._frontends.onnx.model import ELEMENTS, Attribute, Graph, Info, Model, Node, Tensor
from dmlcy._frontends.onnx.tables import OperatorRow, Parameter, Version

INTS = (0, 1, 1, -1, 2, 2, 3, 4, 7, -2, -9, 100, 2**31, -(2**31), 2**63 - 1, -(2**63))
SIZES = (
    (), (1,), (3,), (0,), (2, 3), (4, 4), (1, 2, 3), (2, 0, 3), (2, 3, 4, 4), (1, 4, 4, 2), (1, 2, 3, 4, 5), (1,) * 9,
)  # fmt: skip
FLOATS = (0.0, 1.0, -1.0, 0.5, float("inf"), float("nan"), 3e38)
TEXTS = ("", "NOTSET", "SAME_UPPER", "LEFT", "nearest", "linear", "x", "Relu", "Sigmoid", "bidirectional", "ij,jk->ik")
RARE = ("BOOL", "STRING", "BFLOAT16", "INT64", "INT32", "FLOAT16", "DOUBLE", "UINT4", "UINT8", "INT8")


def model(row: OperatorRow, version: Version, seed: int) -> Model:
    """A model of one node."""
    draw = Random(f"{row.domain} {row.name} {version.since} {seed}")
    base = draw.choice(SIZES)
    elements: dict[str, str] = {}
    inputs: list[str] = []
    infos: list[Info] = []
    constants: dict[str, Tensor] = {}
    for parameter in _several(draw, version.inputs):
        if parameter.mark == "?" and draw.random() < 0.4:
            inputs.append("")
            continue
        name = f"i{len(inputs)}"
        inputs.append(name)
        element = elements.setdefault(parameter.type, _element(draw, parameter))
        element = draw.choice(RARE) if draw.random() < 0.05 else element
        sizes = base if draw.random() < 0.6 else draw.choice(SIZES)
        if draw.random() < 0.3 or parameter.type == "INT64":
            constants[name] = _tensor(draw, name, element, sizes)
        else:
            infos.append(Info(name, element, sizes))
    outputs = tuple(f"o{number}" for number in range(len(_several(draw, version.outputs))))
    attributes = _attributes(draw, version)
    node = Node(0, "", row.name, row.domain, tuple(inputs), outputs, attributes)
    results = tuple(Info(name, None, None) for name in outputs)
    graph = Graph("", (node,), constants, tuple(infos), results, {})
    return Model("odd.onnx", 8, {row.domain: version.since}, "", graph, {})


def _several(draw: Random, rows: tuple[Parameter, ...]) -> list[Parameter]:
    """Parameters, of which the last may come several times, and optional ones are left out at the end."""
    found = list(rows)
    if found and found[-1].mark in ("*", "+"):
        found += [found[-1]] * draw.choice((0, 1, 2))
    while found and found[-1].mark in ("?", "*") and draw.random() < 0.5:
        found.pop()
    return found


def _element(draw: Random, parameter: Parameter) -> str:
    if parameter.type in ELEMENTS:
        return parameter.type
    return draw.choice(("FLOAT", "FLOAT", "FLOAT", "FLOAT16", "INT64", "UINT8"))


def _tensor(draw: Random, name: str, element: str, sizes: tuple[int, ...]) -> Tensor:
    numbers = [draw.choice(INTS[:9]) for _ in range(int(np.prod(sizes)))]
    numpy: Any = ELEMENTS[element].numpy
    array = np.array(numbers, np.int64).astype(numpy).reshape(sizes)
    return Tensor(name, element, sizes, partial(np.copy, array))


def _attributes(draw: Random, version: Version) -> dict[str, Attribute]:
    found = {}
    for name, row in version.attributes.items():
        if row.kind.removesuffix("S") in ("INT", "FLOAT", "STRING") and (row.required or draw.random() < 0.5):
            found[name] = Attribute(name, row.kind, _value(draw, row.kind))  # type: ignore[arg-type]
    return found


def _value(draw: Random, kind: str) -> Any:
    if kind.endswith("S"):
        return tuple(_value(draw, kind.removesuffix("S")) for _ in range(draw.choice((0, 1, 2, 2, 3, 4, 4, 5))))
    most = {"INT": INTS if draw.random() < 0.3 else INTS[:9], "FLOAT": FLOATS, "STRING": TEXTS}
    return draw.choice(most[kind])
