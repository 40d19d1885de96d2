"""Convolutions: for each element of the filter, a product of matrices of channels.

The axes are: groups, channels of a group of the output, batch, spatial axes. Padding is no summand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dmlcy._families.blocks import At, cut, ranges, sizes_of, steps_of, whole
from dmlcy._families.contract.sums import LIMIT, SIDE, Sums
from dmlcy._families.given import Given
from dmlcy._types import Array, Number

SPATIAL = 3
"""The first spatial axis."""


class Windows(Sums):
    """A filter at each place of the input, or of the output if the convolution is transposed."""

    def __init__(self, given: Given, output: str, absolute: bool = False) -> None:
        super().__init__(given, output, absolute)
        source, weights = self.array("left"), self.array("right")
        assert source is not None and weights is not None
        self.backward = given.is_member("direction", "BACKWARD")
        groups = given.field("groups")
        self.groups = groups
        self.source = _grouped(source, groups)
        weights = weights.reshape(groups, weights.shape[0] // groups, *weights.shape[1:])
        self.filter = weights.swapaxes(1, 2) if self.backward else weights  # group, channels of output and of input
        if given.is_member("mode", "CONVOLUTION"):
            self.filter = np.flip(self.filter, tuple(range(SPATIAL, self.filter.ndim)))
        rank = source.ndim - 2
        self.strides, self.dilations, self.start, self.appended = (
            tuple(given.field(role)) if role in given.told.roles else (0,) * rank
            for role in ("strides", "dilations", "start", "appended")
        )
        self.inputs = min(self.filter.shape[2], SIDE)
        outputs = min(self.filter.shape[1], SIDE)
        some, *others = steps_of((groups, *self.sizes[2:]), max(1, LIMIT // max(self.inputs, outputs)))
        self.steps = (min(some, max(1, LIMIT // (self.inputs * outputs))), outputs, *others)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Groups, channels of a group, batch, spatial axes."""
        batch, channels, *spatial = self.output_sizes
        return self.groups, channels // self.groups, batch, *spatial

    @property
    def products(self) -> int:
        """For each element of the output those of a filter; backwards, for each element of the input."""
        _, outputs, inputs, *taps = self.filter.shape
        if self.backward:
            return int(self.source.size * outputs * math.prod(taps))
        return int(math.prod(self.output_sizes) * inputs * math.prod(taps))

    def parts(self, part: At | None = None) -> Iterator[At]:
        """Some channels, then some items of the batch or some rows."""
        return cut(whole(self.sizes) if part is None else part, self.steps)

    def viewed(self, result: Array) -> Array:
        """The axis of the channels split, and the one of the batch after it."""
        return _grouped(result, self.groups)

    def output(self, values: Array) -> Array:
        """The same backwards."""
        return np.moveaxis(np.broadcast_to(values, self.sizes), 2, 0).reshape(self.output_sizes)

    def of(self, at: At) -> Array:
        """The sums over the elements of the filter and the channels of the input."""
        groups, channels, batch, *spatial = at
        m, zero = self.m, self.entries("right_zero", at)
        zero = zero if zero is None else zero.reshape(*zero.shape[:2], 1)
        before = self.array("left_zero")
        total: Number = m.partial(m.of(np.zeros(sizes_of(at), self.source.dtype)))
        for tap in np.ndindex(*self.filter.shape[SPATIAL:]):
            places = [self._places(axis, element, spatial[axis]) for axis, element in enumerate(tap)]
            if any(place is None for place in places):
                continue
            written = (..., *(place[0] for place in places if place))
            read = tuple(place[1] for place in places if place)
            for some in ranges(slice(0, self.filter.shape[2]), self.inputs):
                weights = self.operand(self.filter[(groups, channels, some, *tap)], zero)
                elements = self.source[(groups, some, batch, *read)]
                numbers = self.operand(elements, None if before is None else m.of(before.reshape(1)))
                product = m.matmul(weights, numbers.reshape(*elements.shape[:2], -1))
                target = total[written]
                total[written] = m.add(target, product.reshape(target.shape))
        return np.asarray(total)

    def _places(self, axis: int, element: int, at: slice) -> tuple[slice, slice] | None:
        """Along a spatial axis, what an element of the filter adds to in a part of the output, and what of the input.

        None: nothing.
        """
        stride, size = self.strides[axis], self.source.shape[SPATIAL + axis]
        moved = element * self.dilations[axis] - self.start[axis]
        if self.backward:  # from place i of the input to i * stride + moved
            first = max(0, -((moved - at.start) // stride))
            last = min(size - 1, (at.stop - 1 - moved) // stride)
            begin = first * stride + moved - at.start
            found = slice(begin, begin + (last - first) * stride + 1, stride), slice(first, last + 1)
        else:  # from place i * stride + moved of the input to i
            positions = self.sizes[SPATIAL + axis] - self.appended[axis]
            first = max(at.start, -(moved // stride))
            last = min(at.stop - 1, positions - 1, (size - 1 - moved) // stride)
            begin = first * stride + moved
            found = (
                slice(first - at.start, last + 1 - at.start),
                slice(begin, begin + (last - first) * stride + 1, stride),
            )
        return found if first <= last else None

    def entries(self, role: str, at: At) -> Number:
        """The elements of some channels, or the only one."""
        array = self.array(role)
        if array is None:
            return None
        ones = (1,) * (len(at) - 2)
        if math.prod(array.shape) == 1:
            return self.m.of(array.reshape(1, 1, *ones))
        return self.m.of(array.reshape(*self.sizes[:2], *ones)[at[0], at[1]])


def _grouped(array: Array, groups: int) -> Array:
    """Groups, channels of a group, batch, spatial axes: a view of an array with the batch and the channels first."""
    batch, channels, *spatial = array.shape
    return np.moveaxis(array.reshape(batch, groups, channels // groups, *spatial), 0, 2)
