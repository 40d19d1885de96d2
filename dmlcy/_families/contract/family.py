"""contract: sums of products, then scales, a summand, and an activation or a quantization."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.activations import activated, along, magnitudes, operations
from dmlcy._families.base import Family, Result, of_floats, tensors_of
from dmlcy._families.blocks import At, around, inside, sizes_of, whole
from dmlcy._families.contract.matrices import Matrices
from dmlcy._families.contract.sums import LIMIT, Sums
from dmlcy._families.contract.windows import Windows
from dmlcy._families.given import Given
from dmlcy._families.operations import sizes_only
from dmlcy._types import Array, DType, Number

FEW: Final = 64
"""Elements of a matrix each of which the loops add in one order, however many others there are."""
KINDS: Final[dict[str, type[Sums]]] = {"matrices": Matrices, "windows": Windows}


class Contract(Family):
    """The family."""

    of_a_part, of_all = 4, 2

    def precedes(self, desc: OperatorDesc) -> bool:
        """Sums of products of floating-point elements, where no activation needs several of them."""
        fused = desc.operator.definition.roles.get("fused")
        return of_floats(desc) and (fused is None or not along(getattr(desc, fused), (1,)))

    def stores(self, desc: OperatorDesc) -> bool:
        """Where others may work on parts of the output."""
        return self.precedes(desc)

    def numbers_of_a_part(self, desc: OperatorDesc) -> int:
        """Of integers; floating-point elements have their place among those of all tensors."""
        return 0 if of_floats(desc) else self.of_a_part

    def keeps_bits(self, desc: OperatorDesc) -> bool:
        """Products of matrices with at least ``FEW`` elements: those of smaller ones are added in another order."""
        roles = desc.operator.definition.roles
        (output,) = (getattr(desc, one.python) for one in desc.operator.fields if one.kind == "output")
        fused = "fused" in roles and getattr(desc, roles["fused"]) is not None
        return of_floats(desc) and self.rearranges(desc) and not fused and math.prod(output.sizes[-2:]) >= FEW

    def makes(self, desc: OperatorDesc) -> str | None:
        """The right matrices, of FLOAT32."""
        name = desc.operator.definition.roles["right"]
        single = {dtype_of(tensor).name for tensor in tensors_of(desc)} == {"FLOAT32"}
        return name if single and self.rearranges(desc) else None

    def rearranges(self, desc: OperatorDesc) -> bool:
        """Products of matrices do."""
        return desc.operator.definition.words["of"] == "matrices"

    def operations(self, desc: OperatorDesc) -> int:
        """Two for each product, padding too; one for each zero point, summand, scale and factor of an element.

        A factor of 1 is none. A quantization takes two: the quotient, and the rounding to a whole number.
        """
        given = sizes_only(desc)
        sums = _sums(given, given.outputs[0][0])
        found: int = 2 * sums.products
        for side in ("left", "right"):
            if sums.array(f"{side}_zero") is not None:
                found += given.values[given.told.roles[side]].element_count
        each = sum(sums.array(role) is not None for role in ("added", "left_scale", "right_scale", "output_zero"))
        each += sum(sums.number(role) not in (None, 1.0) for role in ("alpha", "beta"))
        each += 2 * (sums.array("output_scale") is not None)
        found += each * math.prod(sums.output_sizes)
        return found + operations(given.of_role("fused"), sums.output_sizes)

    def evaluate(self, given: Given, output: str) -> Result:
        """The whole output."""
        sums, fused, dtype = _sums(given, output), given.of_role("fused"), given.dtype(output)
        every = whole(sums.sizes)
        values = sums.output(_finished(sums, every, dtype))

        def terms() -> Number:
            absolute = _sums(given, output, absolute=True)
            sizes = absolute.output(_finished(absolute, every, dtype))
            return magnitudes(fused, values, sizes, given.arithmetic, dtype)

        return Result(activated(fused, values, given.arithmetic), magnitudes=terms)

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``appended``: whether the element is one that the padding of the output of a convolution appends."""

        def appended() -> Array:
            sizes = given.values[output].sizes[2:]
            result: Array = np.ones(sizes, np.bool_)
            result[tuple(slice(n - more) for n, more in zip(sizes, given.field("appended"), strict=True))] = False
            return result

        return {"appended": appended}

    def spread(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """All results of a marked scale, zero point or summand."""
        sums = _sums(given.with_arrays({**given.arrays, name: marks}), output)
        role = next(role for role, one in given.told.roles.items() if one == name)
        found: Array = sums.output(np.broadcast_to(sums.entries(role, whole(sums.sizes)) != 0, sums.sizes))
        return found

    def idle(self, given: Given, output: str, name: str, marks: Array) -> Array:
        """The results of a filter that has a marked element over padding: not all marked ones are over the input."""
        roles = given.told.roles
        ones = np.broadcast_to(np.int64(1), given.arrays[roles["left"]].shape)
        sums = Windows(given.with_arrays({roles["left"]: ones, name: marks}), output)
        count = np.count_nonzero(sums.filter, tuple(range(2, sums.filter.ndim)))
        result: Array = np.empty(sums.output_sizes, np.bool_)
        for at in sums.parts():
            here = count[at[:2]].reshape(*sizes_of(at)[:2], *[1] * (len(at) - 2))
            sums.viewed(result)[at] = sums.of(at) < here
        return result

    def result(self, given: Given, output: str) -> Array:
        """The same, part by part. Numbers of which an activation makes results together are in one part."""
        m, sums, fused, dtype = given.arithmetic, _sums(given, output), given.of_role("fused"), given.dtype(output)
        together = along(fused, sums.output_sizes)
        result: Array = given.room(output)
        target = sums.viewed(result)
        if not together:
            for at in sums.parts():
                target[at] = m.stored(activated(fused, _finished(sums, at, dtype), m), dtype, sizes_of(at))
            return result
        if sums.sizes != sums.output_sizes:  # the activation knows the axes of the output only
            return super().result(given, output)
        for part in around(sums.sizes, together, LIMIT):
            numbers: Array = np.empty(sizes_of(part), m.storage(np.dtype(np.float64)))
            for at in sums.parts(part):
                numbers[inside(at, part)] = _finished(sums, at, dtype)
            target[part] = m.stored(activated(fused, numbers, m), dtype, numbers.shape)
        return result


def _sums(given: Given, output: str, absolute: bool = False) -> Sums:
    return KINDS[given.told.words["of"]](given, output, absolute)


def _finished(sums: Sums, at: At, dtype: DType) -> Number:
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
        values = m.add(m.kept(values), size(added if beta is None else m.multiply(added, beta)))
    scale, zero = sums.entries("output_scale", at), sums.entries("output_zero", at)
    if scale is not None:
        values = m.function("round_even", m.single(m.divide(values, scale)))
        values = m.saturate(values if zero is None else m.add(values, zero), dtype)
    return values


FAMILY: Final = Contract()
