"""Faults of devices, made by a generator that knows no operator: of the inputs, of the desc, and of the arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from devices.arithmetic import SERIAL, SHORT, SINGLE, Device
from devices.cases import Case
from devices.uses import Arrays, Use
from dmlcy._arithmetic import WIDE, Array
from dmlcy._arithmetic.base import Arithmetic
from dmlcy._arithmetic.wide import Wide, is_integer
from dmlcy._desc.check import check
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import MISSING
from dmlcy._families import family_of
from dmlcy._families.given import Given
from dmlcy._reference.expected import outputs_of
from dmlcy._runtime.places import indices_of
from dmlcy._types import Number

COUNTS: Final = 4
"""A fault counts if its effect is so many bounds."""
SPOILT: Final = 1.01
SUMS: Final = "FLOAT16 added in FLOAT16"
BITS: Final = 13
"""Bits of FLOAT32 that are lost where 10 are left."""


@dataclass(frozen=True)
class Fault:
    """A use as a faulty device has it. ``exact``: the fault alone, without the roundings of a device."""

    name: str
    desc: OperatorDesc
    arrays: Arrays
    exact: Arithmetic = WIDE
    device: Device = SERIAL

    def run(self) -> dict[str, Array]:
        """The results of the device."""
        return self.device.run(self.desc, self.arrays)

    def effect(self, case: Case) -> float:
        """How many bounds the fault makes at most."""
        found = case.judged(evaluated(self.desc, self.arrays, self.exact))
        return max((one.part for one in found.values()), default=0.0)


def evaluated(desc: OperatorDesc, arrays: Arrays, arithmetic: Arithmetic) -> dict[str, Array]:
    """All outputs, over an arithmetic."""
    family, given = family_of(desc.operator), Given.of_desc(desc, arrays, arithmetic)
    with np.errstate(all="ignore"):
        return {name: family.result(given, name) for name in outputs_of(desc)}


def faults(use: Use, arrays: Arrays) -> Iterator[Fault]:
    """All faults of a use."""
    for name in use.inputs:
        for what, change in OF_ARRAYS.items():
            changed = change(array_of(arrays, name))
            if changed is not None:
                yield Fault(f"{name}: {what}", use.desc, _with(arrays, name, changed))
    for name, attributes in _changed(use):
        desc = type(use.desc)(**{**use.desc._values(), **attributes})
        if not check(desc):
            some = {one: array for one, array in arrays.items() if getattr(desc, one) is not None}
            yield Fault(name, desc, some)
    for name, kind in OF_ARITHMETIC.items():
        yield Fault(name, use.desc, arrays, _exact(kind), _device(kind))
    if use.dtype == "FLOAT16":
        yield Fault(SUMS, use.desc, arrays, SHORT, SHORT)


# Inputs


def array_of(arrays: Arrays, path: str) -> Array:
    """The array of an input, which may be one of several."""
    name, _, entry = path.partition("[")
    found: Array = arrays[name][int(entry[:-1])] if entry else arrays[name]
    return found


def _with(arrays: Arrays, path: str, array: Array) -> Arrays:
    name, _, entry = path.partition("[")
    if not entry:
        return arrays | {name: array}
    place = int(entry[:-1])
    return arrays | {name: (*arrays[name][:place], array, *arrays[name][place + 1 :])}


def spoilt(arrays: Arrays, path: str, factor: float, one: bool = False) -> Arrays:
    """All inputs, of which one is multiplied by a factor, or its largest element."""
    change = _one_multiplied if one else _multiplied
    return _with(arrays, path, change(array_of(arrays, path), factor))


def _multiplied(array: Array, factor: float) -> Array:
    return (array.astype(np.float64) * factor).astype(array.dtype)


def _one_multiplied(array: Array, factor: float) -> Array:
    found = array.copy()
    found[_largest(array)] = float(array[_largest(array)]) * factor
    return found


def _largest(array: Array) -> tuple[int, ...]:
    return tuple(map(int, indices_of(int(np.argmax(np.abs(array))), array.shape)))


def _exchanged(array: Array) -> Array | None:
    """Two axes exchanged: the elements in the order of the transposed tensor."""
    axes = [d for d, size in enumerate(array.shape) if size > 1]
    if len(axes) < 2:
        return None
    return np.ascontiguousarray(np.swapaxes(array, axes[-1], axes[-2])).reshape(array.shape)


def _shifted(array: Array) -> Array | None:
    axes = [d for d, size in enumerate(array.shape) if size > 1]
    return np.roll(array, 1, axes[-1]) if axes else None


def _cut(array: Array) -> Array | None:
    """10 bits of the mantissa."""
    if array.dtype != SINGLE:
        return None
    return (np.ascontiguousarray(array).view(np.uint32) & np.uint32(2**32 - 2**BITS)).view(np.float32)


OF_ARRAYS: Final[dict[str, Callable[[Array], Array | None]]] = {
    "1 % larger": partial(_multiplied, factor=SPOILT),
    "an element 1 % larger": partial(_one_multiplied, factor=SPOILT),
    "an element left out": partial(_one_multiplied, factor=0.0),
    "axes exchanged": _exchanged,
    "shifted by one": _shifted,
    "cut to 10 bits": _cut,
}

# Descs


def _changed(use: Use) -> Iterator[tuple[str, dict[str, Any]]]:
    """Optional tensors and attributes that are left out: None, 0, or the default; or attributes that are spoilt."""
    for field in use.operator.fields:
        value = getattr(use.desc, field.python)
        if field.kind == "input" and field.optional and value is not None:
            yield f"no {field.python}", {field.python: None}
        if field.kind != "attribute" or field.value is not None or value is None:
            continue
        others: list[Any] = [None] if field.optional else []
        if isinstance(value, float):
            others += [0.0, value * SPOILT]
        if field.default is not MISSING:
            others.append(field.default)
        for other in dict.fromkeys(others):
            if other != value:
                yield f"{field.python} {'left out' if other is None else f'= {other}'}", {field.python: other}


# Arithmetic


class Drops(Wide):
    """The last term of a sum is left out, if there are several."""

    def sum(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        last = axes if isinstance(axes, int) else max((d for d in axes if a.shape[d] > 1), default=None)
        return super().sum(a if last is None else _but_last(a, last), axes)

    def matmul(self, a: Array, b: Array) -> Number:
        return super().matmul(_but_last(a, -1), _but_last(b, -2))

    def sums(self, a: Array, axis: int) -> Number:
        found = super().sums(a, axis).copy()
        before = np.moveaxis(found, axis, 0)
        before[-1:] = before[-2:-1] if len(before) > 1 else before[-1:]
        return found


def _but_last(a: Array, axis: int) -> Array:
    count = a.shape[axis]
    return a.take(range(count - 1), axis) if count > 1 else a


class OneLess(Wide):
    """Means of squares are of one less than there are."""

    def divide(self, a: Number, b: Number) -> Number:
        if isinstance(b, int) and b > 1 and isinstance(a, np.ndarray) and not is_integer(a) and (a >= 0).all():
            b -= 1
        return super().divide(a, b)


OF_ARITHMETIC: Final[dict[str, type[Wide]]] = {"a term left out": Drops, "means of n - 1": OneLess}


def _exact(kind: type[Wide]) -> Wide:
    return kind()


def _device(kind: type[Wide]) -> Device:
    found: Device = type(kind.__name__, (kind, Device), {})()
    return found
