"""Operators that make elements by a rule."""

from __future__ import annotations

from typing import Final

from dmlcy._frontends.onnx import shapes
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, right_aligned

LEAST: Final = -(2**31)
MOST: Final = 2**31 - 1


def constant_of_shape(use: Use) -> OnnxValue:
    """All elements are the same."""
    sizes, value = shapes.not_negative(use, "input", use.whole(0)), shapes.filling(use)
    return use.filled(
        sizes, lambda: use.make(output_sizes=right_aligned(sizes, RANK), value=value, output_dtype=use.dtype())
    )  # fmt: skip


def sequence(use: Use) -> OnnxValue:
    """Range."""
    start, delta, count = shapes.sequence(use)
    sizes = (count,)
    return use.filled(
        sizes,
        lambda: use.make(
            output_sizes=right_aligned(sizes, RANK), value_start=start, value_delta=delta, output_dtype=use.dtype()
        ),
    )


def eye_like(use: Use) -> OnnxValue:
    """Only the sizes of the input count."""
    sizes, k = shapes.matrix(use), max(LEAST, min(use.integer("k"), MOST))
    return use.filled(
        sizes, lambda: use.make(output_sizes=right_aligned(sizes, RANK), offset=k, output_dtype=use.dtype())
    )  # fmt: skip


def trilu(use: Use) -> OnnxValue:
    """The elements on one side of a diagonal become 0."""
    sizes, k = shapes.matrices(use), use.single(1, "iu") if use.has(1) else 0
    begin, end = (LEAST, k) if use.integer("upper") else (k + 1, MOST)
    return use.filled(
        sizes,
        lambda: use.make(
            use.right(0),
            output_sizes=right_aligned(sizes, RANK),
            value=0,
            diagonal_fill_begin=max(LEAST, min(begin, MOST)),
            diagonal_fill_end=max(LEAST, min(end, MOST)),
        ),
    )


def one_hot(use: Use) -> OnnxValue:
    """The indices have an axis of size 1 where the output has the depth."""
    axis, sizes = shapes.one_hot(use)
    wanted = right_aligned(sizes, RANK)
    return use.filled(
        sizes,
        lambda: use.make(
            use.view(0, right_aligned(shapes.replaced(sizes, axis, 1), RANK)),
            use.right(2, len(wanted)),
            axis=axis + len(wanted) - len(sizes),
            output_sizes=wanted,
        ),
    )
