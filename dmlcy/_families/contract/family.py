"""contract: sums of products, then scales, a summand, and an activation or a quantization."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._desc.memory import dtype_of
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._families.activations import activated, along, magnitudes
from dmlcy._families.base import Family, Result
from dmlcy._families.blocks import around, whole
from dmlcy._families.contract.blocks import LIMIT, Part, lengths
from dmlcy._families.contract.matrices import Matrices
from dmlcy._families.contract.sums import Sums
from dmlcy._families.contract.windows import Windows
from dmlcy._families.given import Given

KINDS: Final[dict[str, type[Sums]]] = {"matrices": Matrices, "windows": Windows}


class Contract(Family):
    """The family."""

    of_a_part, of_all = 0, 2

    def evaluate(self, given: Given, output: str) -> Result:
        """The whole output."""
        sums, fused, dtype = _sums(given, output), _fused(given), _dtype(given, output)
        every = whole(sums.sizes)
        values = sums.output(_finished(sums, every, dtype))

        def terms() -> Any:
            absolute = _sums(given, output, absolute=True)
            sizes = absolute.output(_finished(absolute, every, dtype))
            return magnitudes(fused, values, sizes, given.arithmetic, dtype)

        return Result(activated(fused, values, given.arithmetic), magnitudes=terms)

    def result(self, given: Given, output: str) -> Array:
        """The same, part by part. What an activation makes results of together is in one part."""
        m, sums, fused, dtype = given.arithmetic, _sums(given, output), _fused(given), _dtype(given, output)
        together = along(fused, sums.output_sizes)
        result: Array = np.empty(sums.output_sizes, dtype)
        target = sums.viewed(result)
        if not together:
            for at in sums.parts():
                target[at] = m.stored(activated(fused, _finished(sums, at, dtype), m), dtype, lengths(at))
            return result
        if sums.sizes != sums.output_sizes:  # the activation knows the axes of the output only
            return super().result(given, output)
        for part in around(sums.sizes, together, LIMIT):
            numbers: Array = np.empty(lengths(part))
            for at in sums.parts(part):
                inner = (slice(a.start - b.start, a.stop - b.start) for a, b in zip(at, part, strict=True))
                numbers[tuple(inner)] = _finished(sums, at, dtype)
            target[part] = m.stored(activated(fused, numbers, m), dtype, numbers.shape)
        return result


def _sums(given: Given, output: str, absolute: bool = False) -> Sums:
    return KINDS[given.told.words["of"]](given, output, absolute)


def _fused(given: Given) -> Any:
    """The activation, if there is one."""
    role = given.told.roles.get("fused")
    return None if role is None else given.values[role]


def _dtype(given: Given, output: str) -> np.dtype[Any]:
    return numpy_dtype(dtype_of(given.values[output]))


def _finished(sums: Sums, at: Part, dtype: np.dtype[Any]) -> Any:
    """A part of the output before the activation; or, of sums of absolute values, the absolute values of its terms."""
    m = sums.m
    size = m.absolute if sums.absolute else lambda x: x
    values, added = sums.of(at), sums.entries("added", at)
    if added is not None and sums.is_whole("added"):
        values, added = m.add(values, added), None
    factors = [sums.entries("left_scale", at), sums.entries("right_scale", at), sums.number("alpha")]
    scales = [factor for factor in factors if factor is not None]
    if scales and sums.is_whole("left"):
        values = m.double(values)
    for scale in scales:
        values = m.multiply(values, size(scale))
    if added is not None:
        beta = sums.number("beta")
        values = m.add(values, size(added if beta is None else m.multiply(added, beta)))
    scale, zero = sums.entries("output_scale", at), sums.entries("output_zero", at)
    if scale is not None:
        values = m.function("round_even", m.single(m.divide(values, scale)))
        values = m.saturate(values if zero is None else m.add(values, zero), dtype)
    return values


FAMILY: Final = Contract()
