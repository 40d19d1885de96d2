"""Random graphs of all operators that run: each node is an example of one, with other sizes where it takes them.

A value is read wherever a tensor of its data type and size in bytes is wanted, under whatever sizes that has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from example_descs import arrays_of, desc_of_example

import dmlcy as dml
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.tables import DTYPES, OPERATORS

LARGEST = 300
"""Elements of a tensor."""
Below = Callable[[int], int]
"""A number from 0 on, below another one."""


@cache
def examples() -> tuple[tuple[Any, Any], ...]:
    """A desc and its arrays for each small example of an operator that runs."""
    found = []
    for operator in OPERATORS.values():
        if not operator.runs:
            continue
        for example in operator.examples:
            whole = desc_of_example(operator, example)
            if not dml.check(whole) and all(tensor.element_count <= LARGEST for tensor in tensors(whole)):
                found.append((whole, arrays_of(example.inputs)))
    return tuple(found)


def tensors(desc: Any, *kinds: str) -> list[Any]:
    """The tensors of a desc that are there."""
    wanted = [one.python for one in desc.operator.fields if one.kind in (kinds or ("input", "output"))]
    values = [getattr(desc, name) for name in wanted]
    whole = [entry for value in values for entry in (value if isinstance(value, tuple) else (value,))]
    return [one for one in whole if one is not None]


@dataclass
class Drawer:
    """Draws a graph: ``below`` chooses."""

    below: Below
    inputs: list[Any] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)
    edges: list[Any] = field(default_factory=list)
    values: list[tuple[Any, Any]] = field(default_factory=list)

    def rarely(self) -> bool:
        return not self.below(8)

    def graph(self, count: int) -> dml.graph.GraphDesc:
        """A graph of so many operators, and of constants."""
        for _ in range(count):
            self.node()
        outputs: list[Any] = []
        known = [(port, desc) for port, desc in self.values if port.node is not None]
        for _ in range(1 + self.below(4)):
            port, desc = known[-1 - self.below(min(len(known), 6))]
            self.edges.append(dml.graph.Edge(port, dml.graph.Port(None, len(outputs))))
            outputs.append(dml.graph.End(f"y{len(outputs)}", desc if self.below(2) else None))
        ends = tuple(dml.graph.End(f"x{place}", desc) for place, desc in enumerate(self.inputs))
        return dml.graph.GraphDesc(tuple(self.nodes), ends, tuple(outputs), tuple(self.edges))

    def node(self) -> None:
        desc, arrays = examples()[self.below(len(examples()))]
        desc = self.fitted(desc)
        sources = []
        for one in desc.operator.fields:
            value = getattr(desc, one.python) if one.kind == "input" else ()
            entries = value if isinstance(value, tuple) else (value,)
            given = arrays.get(one.python)
            whole = given if isinstance(given, tuple) else (given,) * len(entries)
            sources += [
                None if tensor is None else self.source(tensor, array)
                for tensor, array in zip(entries, whole, strict=True)
            ]
        number = len(self.nodes)
        self.nodes.append(dml.graph.Node(desc, f"n{number}" if self.below(2) else ""))
        for index, port in enumerate(sources):
            if port is not None:
                self.edges.append(dml.graph.Edge(port, dml.graph.Port(number, index)))
        place = -1
        for one in desc.operator.fields:
            value = getattr(desc, one.python) if one.kind == "output" else ()
            for tensor in value if isinstance(value, tuple) else (value,):
                place += 1
                if tensor is not None:
                    self.values.append((dml.graph.Port(number, place), tensor))

    def fitted(self, desc: Any) -> Any:
        """The desc with the sizes and strides of a value that there is, where the operator takes these."""
        shapes = {one.sizes for one in tensors(desc)}
        fields = [one.python for one in desc.operator.fields if one.kind in ("input", "output")]
        if len(shapes) > 1 or not self.values or any(isinstance(getattr(desc, name), tuple) for name in fields):
            return desc
        _, like = self.values[-1 - self.below(min(len(self.values), 10))]
        strides = self.strides(like.sizes) if self.rarely() else like.strides
        changes: dict[str, Any] = {}
        for one in desc.operator.fields:
            old = getattr(desc, one.python) if one.kind in ("input", "output") else None
            if old is not None:
                broadcast = one.kind == "output" and strides is not None and 0 in strides
                changes[one.python] = dml.TensorDesc(old.dtype, like.sizes, None if broadcast else strides)
        found = with_fields(desc, changes)
        return desc if dml.check(found) else found

    def strides(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Other strides: turned, with gaps, or with zeros."""
        kind, steps, step = self.below(3), [0] * len(sizes), 1
        axes = range(len(sizes)) if kind == 0 else reversed(range(len(sizes)))
        for axis in axes:
            steps[axis] = step
            step *= sizes[axis] + (kind == 1)
        if kind == 2:
            steps[self.below(len(sizes))] = 0
        return tuple(steps)

    def source(self, tensor: Any, array: Any) -> Any:
        """The source of the tensor: an earlier value, a constant, or a new input."""
        alike = [
            port
            for port, desc in self.values
            if desc.dtype == tensor.dtype and desc.total_tensor_size_in_bytes == tensor.total_tensor_size_in_bytes
        ]
        if alike and self.below(8):
            return alike[-1 - self.below(len(alike))]
        if self.below(3):
            dtype = numpy_dtype(DTYPES[tensor.dtype.name])
            count = tensor.total_tensor_size_in_bytes // dtype.itemsize
            data = np.zeros(count, dtype) if array is None else np.resize(np.asarray(array).astype(dtype), count)
            port = dml.graph.Port(len(self.nodes), 0)
            desc = dml.TensorDesc(tensor.dtype, tensor.sizes, tensor.strides)
            constant = dml.graph.Constant(np.frombuffer(data.tobytes(), np.uint8), "", desc if self.below(2) else None)
            self.nodes.append(constant)
        else:
            port, desc = dml.graph.Port(None, len(self.inputs)), tensor
            self.inputs.append(tensor)
        self.values.append((port, desc))
        return port


def with_fields(desc: Any, changes: dict[str, Any]) -> Any:
    """The desc with other values of some fields."""
    values = {one.python: getattr(desc, one.python) for one in desc.operator.fields if one.value is None}
    return type(desc)(**(values | changes))


def arrays_for(graph: Any, tensor_of_input: Callable[[Any, int], Any], random: np.random.Generator) -> dict[int, Any]:
    """Small whole numbers for each graph input, equal where its desc has strides of 0."""
    found = {}
    for index in range(len(graph.inputs)):
        desc = tensor_of_input(graph, index)
        if desc is None:
            continue
        dtype = numpy_dtype(DTYPES[desc.dtype.name])
        sizes = (
            desc.sizes
            if desc.strides is None
            else [1 if not s else n for n, s in zip(desc.sizes, desc.strides, strict=True)]
        )
        low = 0 if dtype.kind == "u" else -3
        found[index] = np.array(np.broadcast_to(random.integers(low, 4, sizes).astype(dtype), desc.sizes))
    return found
