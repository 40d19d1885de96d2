"""Parts that the functions that fold share: the most elements that they make, and the data types that they know."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from dmlcy._frontends.onnx.elements import are_numbers
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.use import HUGE, Use
from dmlcy._frontends.onnx.values import LARGEST, spanned
from dmlcy._types import Array


def bounded(use: Use, sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes of an array that is not too large to make."""
    if prod(sizes) > LARGEST or spanned(sizes) > HUGE:
        use.refuse("DML-ONNX-fold-large", elements=spanned(sizes))
    return tuple(sizes)


def numbers(use: Use, place: int, kinds: str = "iuf", *, bits: int = 8) -> Array:
    """The elements of an input that are numbers of these kinds, and of a data type of at least so many bits."""
    one = use[place]
    bounded(use, one.sizes)
    element = ELEMENTS[one.element]
    if 0 < element.bits < bits or not are_numbers(element, kinds):
        use.refuse("DML-ONNX-type", element=one.element, name=one.name)
    return use.constant(place)


def alike(use: Use, kinds: str = "iuf") -> list[Array]:
    """The elements of all inputs, which have one data type and sizes that can be broadcast."""
    first, rows = use[0], use.version.inputs
    count = len(use.inputs) if rows[-1].mark else len(rows)
    arrays = [numbers(use, at, kinds) for at in range(count)]
    if use.attribute("broadcast"):
        arrays[1] = _from_axis(use, arrays[1])
        if not _fits(arrays[1].shape, first.sizes):
            use.refuse("DML-ONNX-broadcast", sizes=[*use[1].sizes], wanted=[*first.sizes])
    else:
        bounded(use, use.broadcast_sizes(*range(count)))
    return arrays


def _from_axis(use: Use, array: Array) -> Array:
    """The second operand where an attribute says from which axis on it is broadcast, as before opset 7."""
    axis = use.attribute("axis")
    if axis is None:
        return array
    first = use.axis() if use[0].rank else 0
    return array.reshape(array.shape + (1,) * (use[0].rank - first - array.ndim))


def _fits(sizes: Sequence[int], wanted: Sequence[int]) -> bool:
    own = (1,) * (len(wanted) - len(sizes)) + tuple(sizes)
    return len(own) == len(wanted) and all(mine in (1, size) for mine, size in zip(own, wanted, strict=True))
