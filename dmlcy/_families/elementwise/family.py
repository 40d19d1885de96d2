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

    applied_by_element = True

    def evaluate(self, given: Given, output: str) -> Result:
        """The expression of the elements of all inputs, then the activation."""
        words, roles, m = given.told.words, given.told.roles, given.arithmetic
        names = [field.python for field in given.operator.fields if field.kind == "input"]
        given = _with_entries(given)
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
            part = given.with_arrays({name: array[_within(array, at)] for name, array in given.arrays.items()})
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


def _scaled(m: Arithmetic, x: Any, scale_bias: Sequence[float], dtype: np.dtype[Any]) -> Any:
    """The elements times the scale, plus the bias: rounded to FLOAT32, or at each step to FLOAT64 beyond its range."""
    scale, bias = map(single, scale_bias)
    if dtype.kind == "f" and dtype.itemsize <= np.dtype(np.float32).itemsize:
        return m.single(m.add(m.multiply(x, scale), bias))
    return m.double(m.add(m.double(m.multiply(m.double(x), scale)), bias))


def _with_entries(given: Given) -> Given:
    """The use with the arrays among its attributes as tensors, which have one axis of more than one element."""
    rank = len(given.output_sizes)
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


def _within(array: Array, at: Sequence[slice]) -> tuple[slice, ...]:
    """The part of an input that goes with a part of the output; an axis of one element goes with all."""
    return tuple(one if size > 1 else slice(None) for one, size in zip(at, array.shape, strict=False))


FAMILY: Final = Elementwise()
