"""Nodes of ONNX with random inputs and attributes, most of them invalid."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import numpy as np

from dmlcy._frontends.onnx.elements import parameter
from dmlcy._frontends.onnx.model import ELEMENTS, Attribute, Graph, Info, Model, Node, Tensor
from dmlcy._frontends.onnx.tables import AttributeRow, OperatorRow, Parameter, Version, operator
from dmlcy._generated.onnx import OPERATORS

FEW: Final = (0, 1, 1, 1, 2, 2, 3, -1, -1, -2, 4)
MANY: Final = (*FEW, 5, -5, 8, 2**31, -(2**31), 2**40, 2**63 - 1, -(2**63))
FRACTIONS: Final = (0.0, 0.5, 1.0, 2.0, -1.5, 1e30, float("inf"), float("-inf"), float("nan"))
TEXTS: Final = (
    "",
    "none",
    "add",
    "DCR",
    "CRD",
    "constant",
    "reflect",
    "wrap",
    "linear",
    "nearest",
    "SAME_UPPER",
    b"\xff",
)


class Nodes:
    """Draws nodes."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.rows = [row for key in OPERATORS if (row := operator(*key)) is not None and row.versions]

    def model(self) -> Model:
        """A model of one node, of any operator and version."""
        row = self.random.choice(self.rows)
        version = self.random.choice(row.versions)
        attributes = {
            name: self._attribute(name, one)
            for name, one in version.attributes.items()
            if one.kind != "GRAPH" and self.random.random() < (0.95 if one.required else 0.5)
        }
        inputs: dict[str, Tensor | Info | None] = {}
        base, types = self._sizes(), {}  # type: tuple[int, ...], dict[str, str]
        for place, one in enumerate(self._parameters(version)):
            inputs[f"x{place}"] = self._input(row, one, place, base, types)
        names = tuple("" if one is None else name for name, one in inputs.items())
        count = len(version.outputs) if self.random.random() < 0.8 else self.random.choice((0, 1, 2, 3))
        outputs = tuple(f"y{place}" for place in range(count))
        node = Node(0, "", row.name, row.domain, names, outputs, attributes)
        constants = {name: one for name, one in inputs.items() if isinstance(one, Tensor)}
        infos = tuple(one for one in inputs.values() if isinstance(one, Info))
        graph = Graph("g", (node,), constants, infos, tuple(Info(name, None, None) for name in outputs), {})
        return Model("random.onnx", 10, {row.domain: version.since}, "", graph, {})

    def _parameters(self, version: Version) -> list[Parameter]:
        count = len(version.inputs) + self.random.choice((0, 0, 0, 0, 0, -1, 1, 2))
        return [one for place in range(count) if (one := parameter(version.inputs, place)) is not None]

    def _input(
        self, row: OperatorRow, one: Parameter, place: int, base: tuple[int, ...], types: dict[str, str]
    ) -> Tensor | Info | None:
        if one.mark == "?" and self.random.random() < 0.4:
            return None
        element = one.type
        if element not in ELEMENTS:
            allowed = [name for name in row.types.get(one.name, ()) if name in ELEMENTS]
            element = types.setdefault(element, self.random.choice(allowed or [*ELEMENTS]))
        if self.random.random() < 0.03:
            element = self.random.choice([*ELEMENTS])
        sizes = base if self.random.random() < 0.6 else self._sizes()
        if place in row.constants and self.random.random() < 0.8:
            sizes = self.random.choice(((), (1,), (2,), (len(base),), (len(base),), (2 * len(base),)))
        if self.random.random() < (0.9 if place in row.constants else 0.3):
            return self._tensor(f"x{place}", element, sizes)
        return Info(f"x{place}", element, sizes)

    def _sizes(self) -> tuple[int, ...]:
        rank = self.random.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 9))
        return tuple(self.random.choice((0, 1, 1, 2, 2, 3, 4, 6)) for _ in range(rank))

    def _tensor(self, name: str, element: str, sizes: tuple[int, ...]) -> Tensor:
        dtype = np.dtype(ELEMENTS[element].numpy)
        count = int(np.prod(sizes))
        drawn: Any
        if dtype.kind in "OSU":
            drawn = np.full(count, "text", object)
        elif dtype.kind in "fc":
            drawn = np.array(self.random.choices(FRACTIONS, k=count))
        else:
            chosen = self.random.choices(FEW if self.random.random() < 0.8 else MANY, k=count)
            drawn = np.array(chosen, np.int64)
        with np.errstate(all="ignore"):
            array = drawn.astype(dtype).reshape(sizes)
        return Tensor(name, element, sizes, lambda: array)

    def _attribute(self, name: str, row: AttributeRow) -> Attribute:
        kind = row.kind if self.random.random() < 0.97 else self.random.choice(("INT", "FLOAT", "STRING", "INTS"))
        whole = FEW if self.random.random() < 0.8 else MANY
        many = self.random.randint(0, 5)
        values: dict[str, Any] = {
            "INT": self.random.choice(whole),
            "FLOAT": self.random.choice(FRACTIONS),
            "STRING": self.random.choice(TEXTS),
            "INTS": tuple(self.random.choices(whole, k=many)),
            "FLOATS": tuple(self.random.choices(FRACTIONS, k=many)),
            "STRINGS": tuple(self.random.choices(TEXTS, k=many)),
        }
        value = values.get(kind)
        if kind == "TENSOR":
            value = self._tensor(name, self.random.choice([*ELEMENTS]), self.random.choice(((), (1,), (0,), (2,))))
        return Attribute(name, kind, value)  # type: ignore[arg-type]
