"""The windows of convolutions and poolings: sizes, steps and paddings along the spatial axes of an input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.use import Use

LEAST: Final = 2
"""The least number of spatial axes that the provider gives to DirectML; those in front of ONNX's have the size 1."""
PADDINGS: Final = ("NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID")


class Windows:
    """The windows of a node, a number for each spatial axis of ONNX.

    Parameters
    ----------
    use
        The node.
    spatial
        The spatial sizes of its input.
    kernel
        The sizes of a window where the node does not say them.
    pads
        The paddings at the starts, then those at the ends, where they are no attribute.
    """

    def __init__(
        self, use: Use, spatial: Sequence[int], kernel: Sequence[int] | None = None, pads: Sequence[int] | None = None
    ) -> None:
        self.use = use
        self.spatial = spatial
        self.count = count = len(spatial)
        self.kernel = self.numbers("kernel_shape", kernel, count)
        self.strides = self.numbers("strides", [1] * count, count)
        self.dilations = self.numbers("dilations", [1] * count, count)
        given = self.numbers("pads", pads or [0] * 2 * count, 2 * count)
        self.start, self.end = given[:count], given[count:]
        self.same = self._same()

    def numbers(self, name: str, default: Sequence[int] | None, count: int) -> list[int]:
        """An attribute of so many numbers."""
        found = self.use.integers(name) or default
        if found is None or len(found) != count:
            self.use.refuse(
                "DML-ONNX-attribute-value", name=name, value=[*(found or ())], known=f"a list of length {count}"
            )
        return [*found]

    def _same(self) -> str:
        """The attribute ``auto_pad`` where it asks for paddings, else the empty text."""
        found = self.use.attribute("auto_pad") or PADDINGS[0]
        if found not in PADDINGS:
            self.use.refuse("DML-ONNX-attribute-value", name="auto_pad", value=found, known=[*PADDINGS])
        if found == "VALID":
            self.start = self.end = [0] * self.count
        return found if found.startswith("SAME") else ""

    @property
    def dilated(self) -> bool:
        return any(step != 1 for step in self.dilations)

    @property
    def steps(self) -> list[int]:
        """The strides as divisors: DirectML refuses strides below 1."""
        return [max(step, 1) for step in self.strides]

    @property
    def extents(self) -> list[int]:
        """Elements that a window spans."""
        return [step * (size - 1) + 1 for size, step in zip(self.kernel, self.dilations, strict=True)]

    def divide(self, totals: Iterable[int], *, more_in_front: bool) -> None:
        """Pad by so many elements, half of them in front."""
        whole = [max(total, 0) for total in totals]
        less = [total // 2 for total in whole]
        more = [total - half for total, half in zip(whole, less, strict=True)]
        self.start, self.end = (more, less) if more_in_front else (less, more)

    def positions(self, *, round_up: bool = False) -> list[int]:
        """The number of windows; ``round_up``: also a last one that begins inside the input, and reaches beyond it."""
        if self.same:
            counts = [-(-size // step) for size, step in zip(self.spatial, self.steps, strict=True)]
            spans = zip(counts, self.steps, self.extents, self.spatial, strict=True)
            totals = [(count - 1) * step + extent - size for count, step, extent, size in spans]
            self.divide(totals, more_in_front=self.same == "SAME_LOWER")
        found = []
        axes = zip(self.spatial, self.start, self.end, self.extents, self.steps, strict=True)
        for size, start, end, extent, step in axes:
            free = size + start + end - extent
            count = free // step + 1
            found.append(max(count + (round_up and free % step > 0 and count * step < size + start), 0))
        return found

    def reached(self, added: Sequence[int]) -> list[int]:
        """Elements that windows of this number reach, and so many more: the output of a transposed convolution."""
        axes = zip(self.spatial, self.strides, self.extents, added, strict=True)
        return [(size - 1) * step + extent + more for size, step, extent, more in axes]

    def fields(self, *, dilations: bool = True) -> dict[str, object]:
        """The fields of the desc that convolutions and poolings share."""
        found: dict[str, object] = {
            "strides": self._fill(self.strides, 1),
            "start_padding": self._fill(self.start, 0),
            "end_padding": self._fill(self.end, 0),
        }
        return {**found, "dilations": self._fill(self.dilations, 1)} if dilations else found

    def window(self) -> list[int]:
        """The sizes of the window in the desc."""
        return self._fill(self.kernel, 1)

    def _fill(self, numbers: Sequence[int], one: int) -> list[int]:
        return [one] * (LEAST - len(numbers)) + [*numbers]


def channels_first(numbers: Sequence[int]) -> tuple[int, ...]:
    """Sizes or strides of N, the spatial axes and C in the order that DirectML has."""
    return (numbers[0], numbers[-1], *numbers[1:-1])


def output_desc(dtype: str, sizes: Sequence[int], strides: Sequence[int] | None = None) -> TensorDesc | None:
    """The desc of an output; None where a size is not positive, so that DirectML's own rules say why."""
    return TensorDesc(dtype, sizes, strides) if min(sizes, default=1) > 0 else None
