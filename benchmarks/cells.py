"""The cells to measure, as data: a cell is one operator with one set of attributes, sizes, data type and layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Sizes = tuple[int, ...]
Attributes = Mapping[str, Any]

LAYOUTS = ("contiguous", "channels_last", "strided")
SIZES = ("tiny", "small", "medium", "target", "large")
ONCE = ("target", "large")


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the table."""

    operator: str
    variant: str
    size: str
    dtype: str
    layout: str
    sizes: Sizes
    attributes: Attributes

    @property
    def parts(self) -> tuple[str, ...]:
        return self.operator, self.variant, self.size, self.dtype, self.layout

    @property
    def name(self) -> str:
        return "/".join(self.parts)

    def matches(self, pattern: str) -> bool:
        """Whether each part of a pattern such as ``unfold/medium`` is a part of this cell's name."""
        return set(pattern.split("/")) <= set(self.parts)


@dataclass(frozen=True, slots=True)
class Variant:
    """A set of attributes that people use, and the input sizes at which it is measured, by name."""

    name: str
    attributes: Attributes | Callable[[Sizes], Attributes]
    sizes: Mapping[str, Sizes]
    dtypes: Sequence[str] = ("FLOAT32",)
    layouts: Sequence[str] = ("contiguous", "channels_last")

    def cells(self, operator: str) -> Iterator[Cell]:
        """Every data type of contiguous tensors, the first one in the other layouts too.

        Tiny ones are contiguous only; large ones, and those of a figure to reach, of the first data type only as well.
        """
        for size, sizes in self.sizes.items():
            attributes = self.attributes(sizes) if callable(self.attributes) else self.attributes
            pairs = [(dtype, "contiguous") for dtype in (self.dtypes[:1] if size in ONCE else self.dtypes)]
            if size not in ("tiny", *ONCE):
                pairs += [(self.dtypes[0], layout) for layout in self.layouts if layout != "contiguous"]
            for dtype, layout in pairs:
                yield Cell(operator, self.name, size, dtype, layout, sizes, attributes)


def dtype_of(cell: Cell) -> np.dtype[Any]:
    """NumPy's data type."""
    return np.dtype(cell.dtype.lower())


def whole_numbers(sizes: Sizes, dtype: np.dtype[Any]) -> Array:
    """Small whole numbers in no order: their sums are exact, so that results of all libraries can be compared."""
    numbers = np.random.default_rng(0).integers(0 if dtype.kind == "u" else -8, 9, 1 << 16).astype(dtype)
    return np.resize(numbers[:-7], sizes)


def empty(sizes: Sizes, dtype: np.dtype[Any], layout: str) -> Array:
    """A touched tensor of this layout; below rank 4 there are no channels to be last."""
    if layout == "channels_last" and len(sizes) >= 3:
        return np.moveaxis(np.zeros((sizes[0], *sizes[2:], sizes[1]), dtype), -1, 1)
    if layout == "strided":
        return np.zeros((*sizes[:-1], sizes[-1] + 6), dtype)[..., 3:-3]
    return np.zeros(sizes, dtype)


def placed(x: Array, layout: str) -> Array:
    """The tensor in this layout."""
    if layout == "contiguous":
        return x
    result = empty(x.shape, x.dtype, layout)
    np.copyto(result, x)
    return result
