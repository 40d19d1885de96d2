"""Uses of operators for the conditions that no special value among the elements of an example meets, and plain Python
for the conditions on the elements at one place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from example_descs import desc_of_example, inputs_of

from dmlcy._desc.classes import desc_class
from dmlcy._facts.rows import Operator
from dmlcy._field_types.tensor_desc import TensorDesc

Case = tuple[Any, dict[str, Any]]
Cases = Callable[[Operator], Iterator[Case]]


def examples_with(**attributes: Any) -> Cases:
    """The first example with other attributes, and as it is."""

    def cases(operator: Operator) -> Iterator[Case]:
        example = operator.examples[0]
        yield desc_of_example(operator, example, **attributes), inputs_of(operator, example)
        yield desc_of_example(operator, example), inputs_of(operator, example)

    return cases


def use(
    operator: Operator, outputs: dict[str, tuple[str, Sequence[int]]], inputs: dict[str, Any], **given: Any
) -> Case:
    """A use with these inputs, outputs as (data type, sizes), and attributes."""
    tensors = {name: TensorDesc(array.dtype, array.shape) for name, array in inputs.items()}
    tensors |= {name: TensorDesc(dtype, sizes) for name, (dtype, sizes) in outputs.items()}
    return desc_class(operator.name)(**tensors, **given), inputs


def pairs(output: str, inputs: Mapping[str, tuple[str, Sequence[float]]], **given: Any) -> Cases:
    """Each of the given elements of an input with each of those of the other ones."""

    def cases(operator: Operator) -> Iterator[Case]:
        columns = list(zip(*itertools.product(*(values for _, values in inputs.values())), strict=True))
        arrays = {
            name: np.array(column, dtype.lower()).reshape(1, 1, 1, -1)
            for (name, (dtype, _)), column in zip(inputs.items(), columns, strict=True)
        }
        yield use(operator, {"output": (output, (1, 1, 1, len(columns[0])))}, arrays, **given)

    return cases


def each_of(*several: Cases) -> Cases:
    """All of them."""

    def cases(operator: Operator) -> Iterator[Case]:
        for one in several:
            yield from one(operator)

    return cases


def doubled(**given: Any) -> Cases:
    """Integers times two, plus one; and as they are."""
    integers = {"input": ("INT32", (*ENDS, 2**30, 2**24))}
    return each_of(pairs("INT32", integers, scale_bias=(2.0, 1.0), **given), pairs("INT32", integers, **given))


ENDS = (-(2**31), -3, -1, 0, 1, 2**31 - 1)
FLOATS = (math.nan, math.inf, -math.inf, -1.5, -0.0, 0.0, 0.5, 300.0, -129.0, 128.0, 127.9, 4.0e9, -0.9, 255.5, 256.0)
INTEGERS = pairs("INT32", {"a": ("INT32", ENDS), "b": ("INT32", ENDS)})
CASES: dict[str, Cases] = {
    "alpha": examples_with(alpha=0.0),
    "steepness": examples_with(steepness=0.0),
    "bounds-order": examples_with(min=2, max=1),
    "ACTIVATION_SHRINK-integer-precision": each_of(
        pairs("INT32", {"input": ("INT32", (*ENDS, 2**24 + 1))}, bias=3.0, threshold=2.5),
        pairs("UINT8", {"input": ("UINT8", (0, 1, 2, 3, 200))}, bias=2.0, threshold=0.5),
        pairs("INT8", {"input": ("INT8", (0, 1, -2, 3))}, bias=0.5, threshold=1.5),
    ),
    "CAST-conversion": each_of(
        *(pairs(dtype, {"input": ("FLOAT32", FLOATS)}) for dtype in ("INT8", "UINT8", "INT32", "UINT64", "FLOAT16"))
    ),
    "ELEMENT_WISE_ATAN_YX-origin": pairs("FLOAT32", {"a": ("FLOAT32", FLOATS), "b": ("FLOAT32", FLOATS)}),
    "ELEMENT_WISE_DIVIDE-division-by-zero": INTEGERS,
    "ELEMENT_WISE_DIVIDE-overflow": INTEGERS,
    "ELEMENT_WISE_MODULUS_FLOOR-division-by-zero": INTEGERS,
    "ELEMENT_WISE_MODULUS_FLOOR-overflow": INTEGERS,
    "ELEMENT_WISE_MODULUS_TRUNCATE-division-by-zero": INTEGERS,
    "ELEMENT_WISE_MODULUS_TRUNCATE-overflow": INTEGERS,
    "ELEMENT_WISE_MEAN-integers": each_of(
        INTEGERS, pairs("UINT8", {"a": ("UINT8", (0, 3, 200)), "b": ("UINT8", (0, 1, 100))})
    ),
    "ELEMENT_WISE_POW-powers-of-integers": pairs(
        "INT32", {"input": ("INT32", ENDS), "exponent": ("INT32", (-1, 0, 1, 9))}
    ),
    "ELEMENT_WISE_POW-float-exponents": each_of(
        pairs("INT32", {"input": ("INT32", (2, 3)), "exponent": ("FLOAT32", (2.0, 0.5))}),
        pairs("FLOAT32", {"input": ("FLOAT32", (2, 3)), "exponent": ("FLOAT32", (2.0, 0.5))}),
    ),
    "ELEMENT_WISE_POW-zero-to-the-zero": pairs(
        "FLOAT32", {"input": ("FLOAT32", (0.0, -0.0, 2)), "exponent": ("FLOAT32", (0.0, -0.0, 1))}
    ),
    "ELEMENT_WISE_CONSTANT_POW-zero-to-the-zero": pairs(
        "FLOAT32", {"input": ("FLOAT32", (0.0, -0.0, 2))}, exponent=0.0
    ),
    "ELEMENT_WISE_ABS-scaled-range": doubled(),
    "ELEMENT_WISE_IDENTITY-scaled-range": doubled(),
    "ELEMENT_WISE_CLIP-scaled-range": doubled(min=-10, max=10),
    "ELEMENT_WISE_CLIP1-scaled-range": doubled(min=-10, max=10),
    "ELEMENT_WISE_THRESHOLD-scaled-range": doubled(min=-10),
    "counts": each_of(
        *(
            pairs(dtype, {"a": (dtype, (1, 200)), "b": (dtype, (0, 7, 8, 9, 31, 32, 64))})
            for dtype in ("UINT8", "UINT32")
        )
    ),
}


def fits(x: float, dtype: np.dtype[Any]) -> bool:
    """Whether a number without its fraction is in the range of an integer data type."""
    limits = np.iinfo(dtype)
    return math.isfinite(x) and int(limits.min) <= math.trunc(x) <= int(limits.max)


def _has_nan(e: dict[str, Any], dtype: np.dtype[Any]) -> bool:
    return any(math.isnan(value) for name, value in e.items() if name in ("input", "a", "b", "min", "max"))


def _is_quotient_nan(e: dict[str, Any], dtype: np.dtype[Any]) -> bool:
    x, y = e["input"], e["scale"]
    return math.isnan(x) or math.isnan(y) or (math.isinf(x) and math.isinf(y)) or x == y == 0


def _shrinks_exactly(e: dict[str, Any], dtype: np.dtype[Any]) -> bool:
    x, bias = e["input"], e["bias"]
    return bias == int(bias) and abs(x) <= 2**24 and fits(x - bias if x > 0 else x + bias, dtype)


def _is_long(base: int, exponent: int, dtype: np.dtype[Any]) -> bool:
    return exponent < 0 or not fits(base**exponent, dtype)


PLAIN: dict[str, Callable[[dict[str, Any], np.dtype[Any]], bool]] = {
    "nan": _has_nan,
    "infinity": lambda e, dtype: math.isinf(e["input"]),
    "alpha": lambda e, dtype: e["alpha"] == 0,
    "steepness": lambda e, dtype: e["steepness"] == 0,
    "bounds-order": lambda e, dtype: e["min"] > e["max"],
    "integer-precision": lambda e, dtype: (
        dtype.kind != "f" and abs(e["input"]) > e["threshold"] and not _shrinks_exactly(e, dtype)
    ),
    "conversion": lambda e, dtype: dtype.kind != "f" and not fits(e["input"], dtype),
    "origin": lambda e, dtype: e["a"] == e["b"] == 0,
    "division-by-zero": lambda e, dtype: dtype.kind != "f" and e["b"] == 0,
    "overflow": lambda e, dtype: dtype.kind == "i" and e["b"] == -1 and not fits(-e["a"], dtype),
    "integers": lambda e, dtype: (
        dtype.kind != "f" and (not fits(e["a"] + e["b"], dtype) or (e["a"] + e["b"] < 0 and (e["a"] + e["b"]) % 2 == 1))
    ),
    "powers-of-integers": lambda e, dtype: dtype.kind != "f" and _is_long(e["input"], e["exponent"], dtype),
    "float-exponents": lambda e, dtype: dtype.kind != "f",
    "zero-to-the-zero": lambda e, dtype: e["input"] == e["exponent"] == 0,
    "scaled-range": lambda e, dtype: e["scale_bias"] is not None and abs(2 * e["input"] + 1) > 2**24,
    "min": lambda e, dtype: math.isnan(e["input"]) or math.isnan(e["min"]),
    "counts": lambda e, dtype: bool(e["b"] >= 8 * dtype.itemsize),
    "quotient-by-0": lambda e, dtype: e["scale"] == 0,
    "scale-of-0": lambda e, dtype: any(value == 0 for name, value in e.items() if name.endswith("scale")),
    "rounding": _is_quotient_nan,
}
"""By the ids of interpretations, whether an element is not judged, of its elements and attributes by name."""
