"""Simulated devices: the arithmetic of ``[kernel]`` in FLOAT32, in an order and with a rounding that Direct3D allows.

Each operation rounds to FLOAT32. Integers are exact. A device knows no operator: it evaluates the reference.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np

from devices.functions import LIBRARY, SHADER, SHADER_OF_HALVES, Function
from dmlcy._arithmetic.wide import Wide, is_integer
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families import family_of
from dmlcy._families.given import Given
from dmlcy._reference.expected import outputs_of
from dmlcy._types import Array, Number

SINGLE: Final = np.dtype(np.float32)
HALF: Final = np.dtype(np.float16)
TINY: Final = float(np.finfo(np.float32).smallest_normal)
LIMIT: Final = 1 << 21
"""Products that are kept at once."""
TO_NEAREST: Final = 0
TOWARD_ZERO: Final = {"x86_64": 0xC00, "AMD64": 0xC00, "aarch64": 0xC00000, "arm64": 0xC00000}
"""The constants of ``fenv.h``."""
ROUNDINGS: Final = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round_even": np.rint}


@cache
def _mathematics() -> Any:
    return ctypes.CDLL(ctypes.util.find_library("m"))


@contextmanager
def toward_zero() -> Iterator[None]:
    """The operations of this thread, those of NumPy included, truncate."""
    _mathematics().fesetround(TOWARD_ZERO[platform.machine()])
    try:
        yield
    finally:
        _mathematics().fesetround(TO_NEAREST)


def can_truncate() -> bool:
    """Whether this machine is one whose rounding can be changed here."""
    return platform.system() == "Linux" and platform.machine() in TOWARD_ZERO


@dataclass(frozen=True)
class Device(Wide):
    """A device.

    Attributes
    ----------
    lanes
        Sums that are kept beside each other, and joined pairwise at the end: 1 adds one term after another. None: as
        many as there are terms, so that all are joined pairwise.
    truncates
        Each operation rounds toward zero.
    flushes
        Denormal numbers are 0, as inputs and as results.
    fused
        The products of a sum are not rounded.
    functions
        How functions are computed.
    between
        The data type in which the results of operations are kept; sums, and additions, which may be parts of sums, are
        in the next one.
    within
        The data type in which terms are added.
    """

    lanes: int | None = 1
    truncates: bool = False
    flushes: bool = False
    fused: bool = False
    functions: Mapping[str, Function] = field(default_factory=lambda: LIBRARY, repr=False)
    between: np.dtype[Any] = SINGLE
    within: np.dtype[Any] = SINGLE

    def run(self, desc: OperatorDesc, arrays: Mapping[str, Any]) -> dict[str, Array]:
        """All outputs of a use, by their names."""
        family, given = family_of(desc.operator), Given.of_desc(desc, arrays, self)
        found = {}
        with np.errstate(all="ignore"):
            for name in outputs_of(desc):
                result = family.evaluate(given, name)
                found[name] = result.values if result.moved else family.stored(given, result.values, name)
        return found

    # Numbers

    def of(self, array: Array) -> Array:
        return self._flushed(array.astype(np.float32)) if array.dtype.kind == "f" else super().of(array)

    def stored(self, values: Number, dtype: np.dtype[Any], sizes: Sequence[int]) -> Array:
        found = np.asarray(values)
        short = dtype == HALF and found.dtype.kind == "f"
        return super().stored(self._short(found) if short else found, dtype, sizes)

    def _short(self, values: Array) -> Array:
        """Rounded to FLOAT16."""
        found = values.astype(HALF)
        if not self.truncates:
            return found
        return np.where(np.abs(found.astype(np.float32)) > np.abs(values), np.nextafter(found, HALF.type(0)), found)

    def _numbers(self, values: Number) -> Number:
        """In FLOAT32, whatever they are."""
        return np.asarray(values, np.float32)

    def _flushed(self, values: Array) -> Array:
        return values * (np.abs(values) >= TINY) if self.flushes else values  # -0 and NaN stay

    def _kept(self, values: Array) -> Array:
        """The result as the device stores it: rounded, and flushed."""
        return self._flushed(self._short(values).astype(np.float32) if self.between == HALF else values)

    @contextmanager
    def _rounding(self) -> Iterator[None]:
        if self.truncates:
            with toward_zero():
                yield
        else:
            yield

    def _rounded(self, function: Function, *values: Number) -> Array:
        given = [self._numbers(one) for one in values]
        with self._rounding():
            found = function(*given)
        return self._kept(np.asarray(found, np.float32))

    # Operations

    def add(self, a: Number, b: Number) -> Number:
        if is_integer(a) and is_integer(b):
            return super().add(a, b)
        with self._rounding():
            total = np.add(self._numbers(a), self._numbers(b))
        return self._within(self._flushed(total))

    def _within(self, total: Array) -> Array:
        """A sum, which may be of many terms, in the data type of sums."""
        return self._short(total).astype(np.float32) if self.within == HALF else total

    def subtract(self, a: Number, b: Number) -> Number:
        whole = is_integer(a) and is_integer(b)
        return super().subtract(a, b) if whole else self._rounded(np.subtract, a, b)

    def multiply(self, a: Number, b: Number) -> Number:
        whole = is_integer(a) and is_integer(b)
        return super().multiply(a, b) if whole else self._rounded(np.multiply, a, b)

    def divide(self, a: Number, b: Number) -> Number:
        if self.functions is not LIBRARY:
            return self._rounded(lambda x, y: x * (np.float32(1) / y), a, b)
        return self._rounded(np.true_divide, a, b)

    def mod_floor(self, a: Number, b: Number) -> Number:
        return super().mod_floor(a, b) if is_integer(a) and is_integer(b) else self._rest(np.floor, a, b)

    def mod_trunc(self, a: Number, b: Number) -> Number:
        return super().mod_trunc(a, b) if is_integer(a) and is_integer(b) else self._rest(np.trunc, a, b)

    def _rest(self, whole: Function, a: Number, b: Number) -> Number:
        """The remainder of a division, as a shader computes it: with one more rounding of the quotient."""
        if self.functions is not LIBRARY:
            return self.subtract(a, self.multiply(b, whole(self.divide(a, b))))
        exact = super().mod_floor if whole is np.floor else super().mod_trunc
        return exact(self._numbers(a), self._numbers(b))

    def single(self, a: Number) -> Number:
        return self._kept(self._numbers(a))

    def single_sum(self, a: Number, b: Number) -> Number:
        return self.single(self.add(a, b))

    def double(self, a: Number) -> Number:
        return self._numbers(a)

    def placed(self, rest: Array, place: Array) -> Number:
        """A device that truncates finds places a little before where they are."""
        lost = np.spacing(np.abs(place).astype(np.float32) + np.float32(1)) if self.truncates else 0.0
        return self.of(np.maximum(rest - lost, 0.0))

    def saturate(self, a: Number, dtype: np.dtype[Any]) -> Number:
        return super().saturate(a if is_integer(a) else np.asarray(a, np.float64), dtype)

    def function(self, name: str, *values: Number) -> Number:
        if name in self.functions:
            return self._rounded(self.functions[name], *values)
        if name in ROUNDINGS:
            return ROUNDINGS[name](self._numbers(values[0]))
        return super().function(name, *values)

    # Along axes

    def sum(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        if is_integer(a):
            return super().sum(a, axes)
        several = axes if isinstance(axes, tuple) else (axes,)
        kept = [d for d in range(a.ndim) if d % a.ndim not in {axis % a.ndim for axis in several}]
        shape = [size if d in kept else 1 for d, size in enumerate(a.shape)]
        order = [*(d for d in range(a.ndim) if d not in kept), *kept]
        terms = np.ascontiguousarray(self._numbers(a).transpose(order)).reshape(-1, *(a.shape[d] for d in kept))
        return self._flushed(self._total(terms)).reshape(shape)

    def _total(self, terms: Array) -> Any:
        """The sum along the first axis."""
        count = len(terms)
        if not count:
            return np.zeros(terms.shape[1:], np.float32)
        lanes = min(self.lanes or count, count)
        missing = -count % lanes
        if missing:
            terms = np.concatenate([terms, np.zeros((missing, *terms.shape[1:]), terms.dtype)])
        terms = terms.reshape(-1, lanes, *terms.shape[1:]).astype(self.within)
        with self._rounding():
            return self._joined(np.add.accumulate(terms, 0)[-1] if len(terms) > 1 else terms[0]).astype(np.float32)

    @staticmethod
    def _joined(sums: Array) -> Any:
        """Sums along the first axis, joined pairwise."""
        while len(sums) > 1:
            pairs = sums[: len(sums) // 2 * 2]
            joined = pairs[::2] + pairs[1::2]
            sums = np.concatenate([joined, sums[-1:]]) if len(sums) % 2 else joined
        return sums[0]

    def product(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        if is_integer(a):
            return super().product(a, axes)
        found = self._numbers(a)
        with self._rounding():
            for axis in axes if isinstance(axes, tuple) else (axes,):
                found = np.multiply.accumulate(found, axis).take([-1], axis)
        return self._kept(found)

    def least(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return super().least(a, axes) if is_integer(a) else self._numbers(super().least(a, axes))

    def greatest(self, a: Array, axes: int | tuple[int, ...]) -> Number:
        return super().greatest(a, axes) if is_integer(a) else self._numbers(super().greatest(a, axes))

    def sums(self, a: Array, axis: int) -> Number:
        return super().sums(a, axis) if is_integer(a) else self._scanned(np.add, self._numbers(a), axis)

    def products(self, a: Array, axis: int) -> Number:
        return super().products(a, axis) if is_integer(a) else self._scanned(np.multiply, self._numbers(a), axis)

    def _scanned(self, function: np.ufunc, a: Array, axis: int) -> Array:
        """The function of each number and all before it: one after another, or of 2, 4, 8 and so on."""
        with self._rounding():
            if self.lanes == 1:
                found = function.accumulate(a.astype(self.within), axis).astype(np.float32)
            else:
                found, far = np.moveaxis(a, axis, 0), 1
                while far < len(found):
                    found = np.concatenate([found[:far], function(found[far:], found[:-far])])
                    far *= 2
                found = np.moveaxis(found, 0, axis)
        return self._kept(found)

    def matmul(self, a: Array, b: Array) -> Number:
        if is_integer(a) and is_integer(b):
            return super().matmul(a, b)
        a, b = self._numbers(a), self._numbers(b)
        rows, depth, columns = a.shape[-2], a.shape[-1], b.shape[-1]
        lanes = min(self.lanes or depth, depth)
        step = max(1, LIMIT // max(1, lanes * columns))
        parts = [self._product(a[..., first : first + step, :], b, lanes) for first in range(0, rows, step)]
        return self._flushed(np.concatenate(parts, -2))

    def _product(self, a: Array, b: Array, lanes: int) -> Any:
        """Some rows: each step adds a product to each of the lanes."""
        missing = -a.shape[-1] % lanes
        if missing:
            a = np.concatenate([a, np.zeros((*a.shape[:-1], missing), a.dtype)], -1)
            b = np.concatenate([b, np.zeros((*b.shape[:-2], missing, b.shape[-1]), b.dtype)], -2)
        wide = np.dtype(np.float64) if self.fused else self.within
        left = np.moveaxis(a.reshape(*a.shape[:-1], -1, lanes), -2, 0)[..., None].astype(wide)
        right = np.moveaxis(b.reshape(*b.shape[:-2], -1, lanes, b.shape[-1]), -3, 0)[..., None, :, :].astype(wide)
        with self._rounding():
            total = (left[0] * right[0]).astype(self.within, copy=False)
            for one, other in zip(left[1:], right[1:], strict=True):
                total = (total + self._flushed(one * other)).astype(self.within, copy=False)
            return self._joined(np.moveaxis(total, -2, 0)).astype(np.float32)


class Numpy(Device):
    """Sums and products of matrices as NumPy computes them in FLOAT32."""

    def _total(self, terms: Array) -> Any:
        return np.sum(np.moveaxis(terms, 0, -1).copy(), -1)

    def matmul(self, a: Array, b: Array) -> Number:
        if is_integer(a) and is_integer(b):
            return super().matmul(a, b)
        return np.matmul(self._numbers(a), self._numbers(b))


SERIAL: Final = Device()
TRUNCATING: Final = Device(truncates=True, functions=SHADER)
FLUSHING: Final = Device(lanes=16, flushes=True)
FULL: Final[dict[str, Device]] = {
    "one after another": SERIAL,
    "pairwise, fused": Device(lanes=None, fused=True),
    "16 lanes, shader": Device(lanes=16, functions=SHADER),
    "NumPy": Numpy(),
    "flushed": FLUSHING,
    "truncating": TRUNCATING,
}
"""Devices of FLOAT32, and of FLOAT16 that is added in FLOAT32."""
ROUNDED: Final = Device(between=HALF)
"""The device that keeps the results of operations on FLOAT16 in FLOAT16, and adds in FLOAT32."""
ROUNDED_DOWN: Final = Device(truncates=True, functions=SHADER_OF_HALVES, between=HALF)
"""The same, truncating."""
SHORT: Final = Device(between=HALF, within=HALF)
"""The device that adds FLOAT16 in FLOAT16."""
