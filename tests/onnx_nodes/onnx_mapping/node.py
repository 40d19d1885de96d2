"""A node of ONNX with its tensors, and what a conversion of it to operators of DirectML is made of.

A conversion calls operators through ``dml``, and changes the layout of tensors only: shapes, views, data types of equal
bits. It computes nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import dmlcy

Array = Any
"""An array of NumPy."""


class NotExpressible(Exception):
    """Why a node is no use of DirectML's operators."""


@dataclass(frozen=True)
class Node:
    """A node, its inputs (None where one is left out), and how many outputs it has."""

    kind: str
    attributes: dict[str, Any]
    inputs: tuple[Array | None, ...]
    outputs: int
    opset: int

    def __getitem__(self, place: int) -> Array:
        """An input that must be there."""
        found = self.get(place)
        assert found is not None, f"{self.kind} has no input {place}"
        return found

    def get(self, place: int) -> Array | None:
        """An input, None where it is left out."""
        return self.inputs[place] if place < len(self.inputs) else None

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute."""
        return self.attributes.get(name, default)

    def axis(self, default: int, rank: int | None = None) -> int:
        """The attribute ``axis``, counted from the first one."""
        return int(self.attribute("axis", default)) % max(1, self[0].ndim if rank is None else rank)

    def given(self, name: str, place: int, default: Any = None) -> Any:
        """Whole numbers that are an attribute, or in newer opsets an input."""
        found = self.get(place)
        return self.attribute(name, default) if found is None else [int(number) for number in found.reshape(-1)]


Conversion = Callable[[Node], Any]
CONVERSIONS: dict[str, Conversion] = {}
REASONS: dict[str, str] = {}
"""Operators of ONNX that no node of is expressible, and why."""


def converts(*kinds: str) -> Callable[[Conversion], Conversion]:
    """Enter a conversion of these operators."""

    def enter(conversion: Conversion) -> Conversion:
        for kind in kinds:
            assert kind not in CONVERSIONS, kind
            CONVERSIONS[kind] = conversion
        return conversion

    return enter


def refuse_all(why: str, *kinds: str) -> None:
    """Enter operators that are not expressible."""
    REASONS.update(dict.fromkeys(kinds, why))


class _Operators:
    """The functions of dmlcy, by name, for tensors of at least one dimension; it keeps which are called."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(dmlcy, name)

        def call(*tensors: Any, **attributes: Any) -> Any:
            self.called.append(name.upper())
            given = [_plain(tensor) for tensor in tensors]
            return function(*given, **attributes)

        return call


def _plain(tensor: Any) -> Any:
    if isinstance(tensor, list | tuple):
        return [_plain(one) for one in tensor]
    if isinstance(tensor, np.ndarray | np.generic):
        array = np.asarray(tensor)
        if 0 in array.shape:
            raise NotExpressible("a size is 0, and those of DirectML are at least 1")
        array = array.view(np.uint8) if array.dtype == bool else array
        return array.reshape(1) if array.ndim == 0 else array
    return tensor


dml = _Operators()


@contextmanager
def calls() -> Iterator[list[str]]:
    """The names of the operators that are called meanwhile."""
    dml.called = found = []
    yield found


def alike(*arrays: Array) -> list[Array]:
    """The arrays, repeated along axes until all have the same sizes."""
    return list(np.broadcast_arrays(*arrays))


def with_rank(array: Array, rank: int) -> Array:
    """The array with leading axes of size 1, up to a number of axes."""
    return array.reshape((1,) * max(0, rank - array.ndim) + array.shape)


def along(array: Array, axis: int, rank: int) -> Array:
    """An array of one axis, as that axis of a tensor of more."""
    return array.reshape([-1 if place == axis else 1 for place in range(rank)])


def as_bool(array: Array) -> Array:
    """0 and 1 in UINT8 as truth."""
    return array.view(bool)


def scalar(array: Array) -> Any:
    """The one element of a tensor, as a plain number."""
    return np.asarray(array).reshape(-1)[0].item()


def normalised(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the first one, in order."""
    return sorted(int(axis) % rank for axis in axes)
