"""elementwise: each element of an output is an expression of the elements at the same place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Arithmetic, Array
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._families.activations import activated
from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given, Kernel
from dmlcy._field_types.float import single

BLOCK: Final = 1 << 16
"""Elements that are computed at once: their numbers stay in the caches."""


class Elementwise(Family):
    """The family."""

    of_a_part = 4

    def evaluate(self, given: Given, output: str) -> Result:
        """The expression of the elements of all inputs, then the activation."""
        words, roles, m = given.told.words, given.told.roles, given.arithmetic
        names = _names(given)
        given = _with_entries(given, spread=True)
        elements: dict[str, Any] = {}
        for name in names:
            array = given.arrays.get(name)
            if array is None:
                elements[name] = given.value(f"absent.{name}") if f"absent.{name}" in given.told.formulas else None
            else:
                elements[name] = m.of(array.view(f"u{array.itemsize}") if "elements" in words else array)
        whole = all(array.dtype.kind in "iu" for array in given.arrays.values()) or "elements" in words
        scale_bias = given.values[roles["scaled"]] if "scaled" in roles else None
        if scale_bias is not None:
            elements[names[0]] = _scaled(m, elements[names[0]], scale_bias, given.input.dtype)
            whole = False
        elements |= {name: m.of(array) for name, array in given.arrays.items() if name not in names}
        if len(names) == 1:
            elements["x"] = elements.pop(names[0])
        key = "integers" if whole and _has(given, "integers") else "result"
        tensor = given.values[output]
        given.rules.stored_as = numpy_dtype(dtype_of(tensor))  # type: ignore[attr-defined]
        several = f"{key}.{output}"
        found = given.value(several if several in given.told.formulas else key, **elements)
        if "fused" in roles:
            found = activated(given.values[roles["fused"]], found, m)
        return Result(found)

    def result(self, given: Given, output: str) -> Array:
        """The same, block by block."""
        tensor = given.values[output]
        sizes = tuple(tensor.sizes)
        if math.prod(sizes) <= BLOCK:
            return super().result(given, output)
        given = _with_entries(given)
        result: Array = np.empty(sizes, numpy_dtype(dtype_of(tensor)))
        for at in _blocks(sizes):
            part = given.with_arrays({name: _part(array, at, sizes) for name, array in given.arrays.items()})
            target = result[at]
            target[...] = self.stored(given, self.evaluate(part, output).values, output, target.shape)
        return result

    def stored(self, given: Given, values: Any, output: str, sizes: tuple[int, ...] | None = None) -> Array:
        """Numbers in the data type of the output; of bits, those of the output."""
        if "elements" not in given.told.words:
            return super().stored(given, values, output, sizes)
        tensor = given.values[output]
        own = numpy_dtype(dtype_of(tensor))
        bits = given.arithmetic.stored(values, np.dtype(f"u{own.itemsize}"), tensor.sizes if sizes is None else sizes)
        return np.ascontiguousarray(bits).view(own)

    def applied(self, desc: OperatorDesc, kernel: Kernel, values: Any, arithmetic: Arithmetic) -> Any:
        """The operator as an activation."""
        kernel.rules.__dict__.update(desc._values())
        for name, value in vars(kernel.rules).items():
            if type(value) is float:
                kernel.rules.__dict__[name] = single(value)
        scaled = kernel.told.roles.get("scaled")
        scale_bias = None if scaled is None else getattr(desc, scaled)
        if scale_bias is not None:
            values = _scaled(arithmetic, values, scale_bias, np.dtype(np.float32))
        return kernel.value("result", x=values)

    def applied_along(self, desc: OperatorDesc, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """No axes: each result is of one number."""
        return ()


def _scaled(m: Arithmetic, x: Any, scale_bias: Sequence[float], dtype: np.dtype[Any]) -> Any:
    """The elements times the scale, plus the bias: rounded to FLOAT32, or at each step to FLOAT64 beyond its range."""
    scale, bias = map(single, scale_bias)
    if dtype.kind == "f" and dtype.itemsize <= np.dtype(np.float32).itemsize:
        return m.single(m.add(m.multiply(x, scale), bias))
    return m.double(m.add(m.double(m.multiply(m.double(x), scale)), bias))


def _names(given: Given) -> list[str]:
    """The names of the elements of the inputs: of an array of tensors, those that ``tensors`` gives them."""
    fields = [field.python for field in given.operator.fields if field.kind == "input"]
    return [name for field in fields for name in given.told.words.get(f"tensors.{field}", field).split()]


def _with_entries(given: Given, spread: bool = False) -> Given:
    """The use with the tensors of arrays by their names, and the arrays among its attributes as tensors.

    These have one axis of more than one element. ``spread``: a tensor whose elements are for blocks gets the sizes of
    the output.
    """
    rank = len(given.output_sizes)
    several = {name: found for name, found in given.arrays.items() if type(found) is tuple}
    if several:
        arrays = {name: found for name, found in given.arrays.items() if name not in several}
        for field, found in several.items():
            arrays |= dict(zip(given.told.words[f"tensors.{field}"].split(), found, strict=False))
        whole = tuple(slice(0, size) for size in given.output_sizes)
        if spread:
            arrays = {name: _part(array, whole, given.output_sizes) for name, array in arrays.items()}
        given = given.with_arrays(arrays)
    arrays = {}
    for key, axis in given.told.words.items():
        head, _, name = key.partition(".")
        if head == "along" and name not in given.arrays:
            entries = np.array(given.values[name], np.float32)
            arrays[name] = entries.reshape([entries.size if d == int(axis) else 1 for d in range(rank)])
    return given.with_arrays({**given.arrays, **arrays}) if arrays else given


def _has(given: Given, key: str) -> bool:
    return any(name.partition(".")[0] == key for name in given.told.formulas)


def _blocks(sizes: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """Parts of a tensor of at most BLOCK elements each."""
    inner, axis = 1, len(sizes) - 1
    while inner * sizes[axis] <= BLOCK and axis:
        inner *= sizes[axis]
        axis -= 1
    step = max(1, BLOCK // inner)
    for outer in np.ndindex(*sizes[:axis]):
        before = tuple(slice(i, i + 1) for i in outer)
        for first in range(0, sizes[axis], step):
            yield (*before, slice(first, min(first + step, sizes[axis])))


def _part(array: Array, at: Sequence[slice], sizes: Sequence[int]) -> Array:
    """The part of an input that goes with a part of the output.

    An axis of one element goes with all; of fewer elements than the output has, each goes with a block of them.
    """
    if all(own in (1, size) for own, size in zip(array.shape, sizes, strict=False)):
        return array[tuple(one if own > 1 else slice(None) for one, own in zip(at, array.shape, strict=False))]
    whole = [*at, *(slice(0, size) for size in sizes[len(at) :])]
    places = [
        np.arange(one.start, one.stop) * own // size for one, own, size in zip(whole, array.shape, sizes, strict=True)
    ]
    return array[np.ix_(*places)]


FAMILY: Final = Elementwise()
