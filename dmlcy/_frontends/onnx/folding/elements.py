"""Folding of nodes that compute each element of the output from one element of each input."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from dmlcy._frontends.onnx.elements import are_numbers
from dmlcy._frontends.onnx.folding.reading import alike, bounded, numbers
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.use import Use
from dmlcy._types import Array


def _each(compute: Callable[..., Array], kinds: str = "iuf") -> Callable[[Use], Array]:
    """A function of each input, which all have one data type."""
    return lambda use: compute(*alike(use, kinds))


def _all(compute: Callable[..., Array]) -> Callable[[Use], Array]:
    """A function of two elements, over any number of inputs."""
    return lambda use: reduce(compute, alike(use))


absolute = _each(np.abs)
negative = _each(np.negative)
floor = _each(np.floor, "f")
ceiling = _each(np.ceil, "f")
rounded = _each(np.rint, "f")
root = _each(np.sqrt, "f")
reciprocal = _each(np.reciprocal, "f")
sign = _each(np.sign)
no = _each(np.logical_not, "b")
both = _each(np.logical_and, "b")
either = _each(np.logical_or, "b")
one_only = _each(np.logical_xor, "b")
equal = _each(np.equal, "biufO")
greater = _each(np.greater)
greater_equal = _each(np.greater_equal)
less = _each(np.less)
less_equal = _each(np.less_equal)
add = _each(np.add)
subtract = _each(np.subtract)
multiply = _each(np.multiply)
total = _all(np.add)
largest = _all(np.maximum)
smallest = _all(np.minimum)


def divide(use: Use) -> Array:
    """The quotient of integers is cut off."""
    a, b = alike(use)
    if a.dtype.kind == "f":
        return np.divide(a, b)
    found: Array = np.floor_divide(a - np.fmod(a, _not_zero(use, b)), b)
    return found


def remainder(use: Use) -> Array:
    a, b = alike(use)
    b = b if b.dtype.kind == "f" else _not_zero(use, b)
    return np.fmod(a, b) if use.attribute("fmod") else np.mod(a, b)


def power(use: Use) -> Array:
    """In the data type of the base; whole numbers are computed as fractions where an exponent is none, or below 0."""
    base, exponent = numbers(use, 0), numbers(use, 1)
    bounded(use, use.broadcast_sizes())
    if base.dtype.kind == "f":
        found: Array = np.power(base, exponent.astype(base.dtype))
        return found
    if exponent.dtype.kind == "f" or (exponent < 0).any():
        return np.power(base.astype(np.float64), exponent)
    return np.power(base, exponent)


def clip(use: Use) -> Array:
    """The limits are inputs, or attributes before opset 11."""
    array = numbers(use, 0)
    for place, (name, limit) in enumerate((("min", np.maximum), ("max", np.minimum)), 1):
        value = use.single(place) if use.has(place) else use.attribute(name)
        if value is not None:
            array = limit(array, np.asarray(value).astype(array.dtype))
    return array


def where(use: Use) -> Array:
    bounded(use, use.broadcast_sizes())
    return np.where(numbers(use, 0, "b"), use.constant(1), use.constant(2))


def cast(use: Use) -> Array:
    """Cast and CastLike, except from or to text and small floats."""
    element = ELEMENTS[use.element()]
    array = numbers(use, 0, "biuf", bits=2)
    if not are_numbers(element, "biuf"):
        use.refuse("DML-ONNX-type", element=element.name, name=use.node.outputs[0])
    return (
        _few_bits(array, element.bits, element.name.startswith("INT"))
        if element.bits < 8
        else array.astype(element.numpy)
    )


def _few_bits(array: Array, bits: int, signed: bool) -> Array:
    """Whole numbers of less than 8 bits: the lowest bits of the number."""
    lowest = array.astype(np.int64) & (2**bits - 1)
    half = 2 ** (bits - 1) if signed else 0
    found: Array = (lowest ^ half) - half
    return found


def _not_zero(use: Use, array: Array) -> Array:
    if not array.all():
        use.refuse("DML-ONNX-division-zero")
    return array
