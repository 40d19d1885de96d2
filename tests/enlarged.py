"""Uses of operators that are much larger than what is drawn, along an axis whose slices are independent by the spec.

A small use is drawn, and its axis gets so many more slices that a tensor has as many elements as are asked for. The
inputs take little memory: their slices overlap in a row of elements, so that no two slices are the same. The results of
some slices are what the same operator gives for these slices alone, in exact arithmetic.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

OPERATORS: Final = str(Path(__file__).resolve().parent / "operators")
if OPERATORS not in sys.path:
    sys.path.insert(0, OPERATORS)

# ruff: noqa: E402
from drawing import draw_all
from example_descs import arrays_of, desc_of_example, joined

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc.classes import desc_class
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Operator
from dmlcy._families.slices import Slices, replaced, sizes_of, slices
from dmlcy._field_types.tensor_array import by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._reference.expected import outputs_of

Array = npt.NDArray[Any]
PERIOD = 1_000_003  # a prime: elements that lie a power of two apart differ
REPEATED = 2**28  # bytes of an input whose slices are repeated, since a rule is about its elements


@dataclass(frozen=True, slots=True)
class Use:
    """A use, its arrays by the paths of the inputs, and an axis of ``groups`` independent slices."""

    desc: OperatorDesc
    arrays: dict[str, Array]
    along: Slices
    groups: int
    declared: int  # the number of the declaration of the axis

    @property
    def tensors(self) -> dict[str, TensorDesc]:
        """All tensors by their paths."""
        values, fields = self.desc._values(), self.desc.operator.fields
        return {path: one for kind in ("input", "output") for path, one in by_path(fields, kind, values)}

    @property
    def elements(self) -> int:
        """Of the largest tensor that has the axis."""
        return max(one.element_count for path, one in self.tensors.items() if path in self.along.axes)

    def size(self, path: str, groups: int) -> int:
        """Elements along the axis of a tensor if there are so many slices."""
        return int(self.tensors[path].sizes[self.along.axes[path]]) // self.groups * groups

    def resized(self, groups: int) -> OperatorDesc:
        """The use with so many slices."""
        values, tensors, axes = dict(self.desc._values()), self.tensors, self.along.axes
        resized: dict[str, TensorDesc] = {}
        for path, tensor in tensors.items():
            sizes = tuple(tensor.sizes)
            if path in axes:
                sizes = replaced(sizes, (axes[path],), self.size(path, groups))
            resized[path] = TensorDesc(tensor.dtype, sizes)
        made = joined(resized)
        gives = self.along.gives * groups
        for name, place in sizes_of(
            self.desc.operator, self.desc.operator.arguments(self.desc), axes, self.along.sized
        ):
            if name in values:
                made[name] = replaced(made.get(name, values[name]), place, gives)
        desc: OperatorDesc = desc_class(self.desc.operator.name)(**(values | made))
        return desc

    def large(self, groups: int) -> dict[str, Array]:
        """The inputs with so many slices, by their paths."""
        ruled = {rule.each or rule.about for rule in self.desc.operator.rules if rule.data}
        return {path: self._large(path, array, groups, path.partition("[")[0] in ruled)
                for path, array in self.arrays.items()}  # fmt: skip

    def _large(self, path: str, array: Array, groups: int, ruled: bool) -> Array:
        axis = self.along.axes.get(path)
        if axis is None:
            return array
        size = self.size(path, groups)
        if ruled:
            times = groups // self.groups
            if array.nbytes * times <= REPEATED:
                return np.concatenate([array] * times, axis)
            one = array[(slice(None),) * axis + (slice(0, 1),)]
            return np.broadcast_to(one, replaced(array.shape, (axis,), size))
        others = [one for d, one in enumerate(array.shape) if d != axis]
        count = size + math.prod(others)
        flat = np.resize(np.random.default_rng(3).choice(array.ravel(), min(PERIOD, count)), count)
        steps = [math.prod(others[d + 1 :]) for d in range(len(others))]
        steps.insert(axis, 1)
        shape = replaced(array.shape, (axis,), size)
        return np.lib.stride_tricks.as_strided(flat, shape, [step * flat.itemsize for step in steps], writeable=False)

    def run(self, groups: int, arrays: dict[str, Array]) -> dict[str, Array]:
        """The outputs with so many slices, by their paths."""
        given = joined(arrays)
        inputs: list[Any] = [given.get(field.python) for field in self.desc.operator.fields if field.kind == "input"]
        desc = self.resized(groups)
        result = dml.compile(desc)(*inputs)
        return dict(zip(outputs_of(desc), result if isinstance(result, tuple) else (result,), strict=True))

    def parts(self, groups: Sequence[int], whole: int, arrays: dict[str, Array]) -> dict[str, Array]:
        """Some slices of arrays that have ``whole``, by their paths."""
        return {path: self.part(path, array, groups, whole) for path, array in arrays.items()}

    def assert_exact(
        self, groups: Sequence[int], whole: int, arrays: dict[str, Array], results: dict[str, Array]
    ) -> None:
        """Some slices of the results are what exact arithmetic gives for them."""
        desc, inputs = self.resized(len(groups)), joined(self.parts(groups, whole, arrays))
        for path, part in self.parts(groups, whole, results).items():
            exact = testing.expected(desc, inputs, path)
            errors = exact.errors(part)
            assert not (errors > exact.ulp).any(), (desc, path, errors.max(), part, exact.values)

    def part(self, path: str, array: Array, groups: Sequence[int], whole: int) -> Array:
        """Some slices of an array that has ``whole``; of an array without the axis, all of it."""
        axis = self.along.axes.get(path)
        if axis is None:
            return array
        each = array.shape[axis] // whole
        places = (np.asarray(groups)[:, None] * each + np.arange(each)).ravel()
        found: Array = array[(slice(None),) * axis + (places,)]  # np.take copies all of an array of overlapping slices
        return found


def by_paths(arrays: dict[str, Any]) -> dict[str, Array]:
    """Arrays by the paths of tensors: those of a tuple by their places in it."""
    found: dict[str, Array] = {}
    for name, given in arrays.items():
        if given is not None:
            several = isinstance(given, tuple)
            found |= {f"{name}[{place}]": one for place, one in enumerate(given)} if several else {name: given}
    return found


def uses(operator: Operator, draws: int, most: int, seed: int = 0) -> Iterator[Use]:
    """Each axis along which slices of the examples and of what is drawn are independent."""
    drawn = [(desc_of_example(operator, one), arrays_of(one.inputs)) for one in operator.examples]
    draw_all(testing.cases(operator.name, most_elements=most), draws, drawn.append, seed)
    for desc, arrays in drawn:
        yield from uses_of(desc, arrays)


def uses_of(desc: OperatorDesc, arrays: dict[str, Any]) -> Iterator[Use]:
    """Each axis along which slices of a use are independent."""
    paths = by_paths(arrays)
    for number, declared in enumerate(desc.operator.independent):
        for along in slices(desc.operator, Formulas(desc).rules, desc._values(), declared):
            first, axis = next(iter(along.axes.items()))
            size = paths[first].shape[axis]
            if all(path in along.axes for path in outputs_of(desc)):
                yield Use(desc, paths, along, size // along.takes, number)
