"""A call of an operator on dask arrays: checked as a whole, and the axes along which it can be cut."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

import dask.array as da
import numpy as np

from dmlcy._dask.arrays import DaskArray, refuse_chunks, with_known_sizes
from dmlcy._errors import raise_violations
from dmlcy._facts.levels import LEVEL
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import OPERATORS
from dmlcy._families import family_of
from dmlcy._families.given import Kernel
from dmlcy._families.pieces import Cut, bounds, cut
from dmlcy._families.slices import slices
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_array import as_tensors, by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._field_types.values import Refused
from dmlcy._reference.call import check_of, faces_of
from dmlcy._runtime.tensor import to_array


class Call:
    """The arguments of one call, with what follows from them. ``inputs`` has each tensor that there is, by its path."""

    def __init__(self, name: str, arguments: Mapping[str, object]) -> None:
        self.operator: Operator = OPERATORS[name]
        self.arguments = arguments
        tensors = [field for field in self.operator.fields if field.kind == "input"]
        for role in arguments.keys() - {field.python for field in tensors}:
            if _is_dask(arguments[role]):
                raise TypeError(f"{self.operator.python}(): {role} is a dask array. Pass {role}.compute().")
        given: dict[str, DaskArray] = {}
        described: dict[str, object] = {}
        for field in tensors:
            described[field.python] = self._described(field, arguments[field.python], given)
        found = check_of(faces_of(name), described, arguments, LEVEL.get(), limited=False)
        if found.violations:
            raise_violations(found.violations, self.operator.python)
        self.rules = found.rules
        self.kernel = Kernel(self.operator, found.rules)
        self.resolved = found.resolved
        self.ones = {path: len(found.tensors[path].sizes) - x.ndim for path, x in given.items()}
        self.inputs = {path: x[(None,) * self.ones[path]] for path, x in given.items()}
        self.outputs = dict(by_path(self.operator.fields, "output", found.resolved))
        whole = {name: TensorDesc(x.dtype, x.shape) for name, x in self.inputs.items() if name in found.resolved}
        self.values = {**found.resolved, **whole}
        self.input = next(iter(self.inputs), "")
        self.output = next(iter(self.outputs))

    @property
    def several(self) -> bool:
        """Whether the result is a tuple."""
        return len(self.outputs) > 1 or "[" in self.output

    def _described(self, field: Field, value: object, given: dict[str, DaskArray]) -> object:
        """The desc of a tensor or of each of several, whose arrays are put into ``given``; else the value as it is."""
        if not type_of(field.type).tensors:
            return self._tensor(field.python, value, given)
        try:
            entries = as_tensors(value, literal=False, call=True)
        except Refused:
            return value
        return tuple(self._tensor(f"{field.python}[{place}]", one, given) for place, one in enumerate(entries))

    def _tensor(self, path: str, value: object, given: dict[str, DaskArray]) -> object:
        """The desc of a dask array, or of what else is an array; anything else is for the checks to refuse."""
        if _is_dask(value):
            given[path] = self._known(path, value)
        elif value is None or (array := to_array(value)) is None:
            return value
        else:
            given[path] = da.from_array(array, chunks=-1)
        return TensorDesc(given[path].dtype, given[path].shape)

    def _known(self, path: str, array: DaskArray) -> DaskArray:
        """A dask array of which the sizes are known."""
        array = with_known_sizes(self.operator.python, path, array)
        if array.dtype == np.bool:
            array = array.view(np.uint8)
        if array.ndim == 0:
            array = array.reshape(1)
        return array

    def sizes(self, name: str) -> tuple[int, ...]:
        """The sizes of a tensor."""
        return self.outputs[name].sizes if name in self.outputs else self.inputs[name].shape

    def chunks(self, name: str, axis: int) -> Sequence[int]:
        """The sizes of the chunks of an input along an axis."""
        return self.inputs[name].chunks[axis]

    def merge_rows(self, name: str, axis: int) -> None:
        """Makes the chunks of an input whole along all axes behind this one, and no larger than they were."""
        self.inputs[name] = _in_rows(self.inputs[name], axis)

    def cuts(self) -> Iterator[Cut]:
        """Every axis that can be cut: first the axes that the spec declares, then the axes of the family."""
        done: set[tuple[str, int]] = set()
        for one in itertools.chain(self._independent(), family_of(self.operator).cuts(self)):
            if done.isdisjoint(one.axes.items()):
                done.update(one.axes.items())
                yield one

    def _independent(self) -> Iterator[Cut]:
        for declared in self.operator.independent:
            for one in slices(self.operator, self.rules, self.values, declared):
                yield Cut(one.axes, cut(self._chunks_along(one.axes), one.takes, one.gives), sized=one.sized)

    def _chunks_along(self, axes: Mapping[str, int]) -> Sequence[int]:
        """The chunks of the first input that has several along its axis, as parts of the first input."""
        inputs = [path for path in axes if path in self.inputs]
        cut_one = next((path for path in inputs if len(bounds(self.chunks(path, axes[path]))) > 2), inputs[0])
        chunks = bounds(self.chunks(cut_one, axes[cut_one]))
        size = self.sizes(inputs[0])[axes[inputs[0]]]
        ends = [bound * size // chunks[-1] for bound in chunks]
        return [end - begin for begin, end in itertools.pairwise(ends)]

    def refuse_axis(self, name: str, axis: int) -> None:
        """Raises ValueError: the axis has several chunks, and no piece of it gives a piece of the output."""
        chunks = len(self.inputs[name].chunks[axis])
        refuse_chunks(self.operator.python, name, axis - self.ones[name], chunks)


def _is_dask(value: object) -> TypeGuard[DaskArray]:
    return isinstance(value, da.Array)


def _in_rows(x: DaskArray, first: int) -> DaskArray:
    """The array in chunks of whole rows along the axes behind the first spatial one, no larger than they were."""
    rest = range(first + 1, x.ndim)
    parts = math.prod(len(bounds(x.chunks[axis])) - 1 for axis in rest)
    if parts == 1:
        return x
    sizes: list[int] = []
    for begin, end in itertools.pairwise(bounds(x.chunks[first])):
        each = -(-(end - begin) // parts)
        sizes += [min(each, end - at) for at in range(begin, end, each)]
    return x.rechunk({first: tuple(sizes), **dict.fromkeys(rest, -1)})
