"""contract: sums of products, then scales, a summand, and an activation or a quantization."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._desc.memory import dtype_of
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._families.activations import activated, by_element, magnitudes
from dmlcy._families.base import Family, Result
from dmlcy._families.contract.blocks import Part, lengths
from dmlcy._families.contract.matrices import Matrices
from dmlcy._families.contract.sums import Sums
from dmlcy._families.contract.windows import Windows
from dmlcy._families.given import Given

KINDS: Final[dict[str, type[Sums]]] = {"matrices": Matrices, "windows": Windows}


class Contract(Family):
    """The family."""

    def evaluate(self, given: Given, output: str) -> Result:
        """The whole output."""
        sums, fused, dtype = _sums(given, output), _fused(given), _dtype(given, output)
        whole = tuple(slice(0, size) for size in sums.sizes)
        values = sums.output(_finished(sums, whole, dtype))

        def terms() -> Any:
            absolute = _sums(given, output, absolute=True)
            sizes = absolute.output(_finished(absolute, whole, dtype))
            return magnitudes(fused, values, sizes, given.arithmetic, dtype)

        return Result(activated(fused, values, given.arithmetic), magnitudes=terms)

    def result(self, given: Given, output: str) -> Array:
        """The same, part by part."""
        m, sums, fused, dtype = given.arithmetic, _sums(given, output), _fused(given), _dtype(given, output)
        alone = fused is None or by_element(fused)
        result: Array = np.empty(sums.output_sizes, dtype if alone else np.float64)
        target = sums.viewed(result)
        for at in sums.parts():
            values = _finished(sums, at, dtype)
            target[at] = m.stored(activated(fused, values, m), dtype, lengths(at)) if alone else values
        return result if alone else self.stored(given, activated(fused, result, m), output)


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
