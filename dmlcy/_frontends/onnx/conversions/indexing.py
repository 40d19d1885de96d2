"""Operators that read or write elements at indices."""

from __future__ import annotations

from dmlcy._frontends.onnx import shapes
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, right_aligned


def gather(use: Use) -> OnnxValue:
    """All tensors have the largest rank of them."""
    axis, sizes = shapes.looked_up(use)
    own, count = use[0].rank, use[1].rank
    rank = max(own, count, len(sizes))
    return use.filled(
        sizes,
        lambda: use.make(
            use.right(0, rank), use.right(1, rank), axis=axis + rank - own, index_dimensions=count
        ),
    )  # fmt: skip


def gather_elements(use: Use) -> OnnxValue:
    """In the rank of the model."""
    axis, sizes = shapes.looked_up_by_elements(use), use[1].sizes
    return use.filled(sizes, lambda: use.make(use.right(0, 1), use.right(1, 1), axis=axis))


def gather_nd(use: Use) -> OnnxValue:
    """All tensors have the largest rank of them."""
    batches = use.attribute("batch_dims") or 0
    _, sizes = shapes.looked_up_by_tuples(use, batches)
    own, count = use[0].rank, use[1].rank
    rank = max(own, count, len(sizes))
    return use.filled(
        sizes,
        lambda: use.make(
            use.right(0, rank),
            use.right(1, rank),
            input_dimension_count=own,
            indices_dimension_count=count,
            batch_dimension_count=batches,
        ),
    )


def scatter_elements(use: Use) -> OnnxValue:
    """Without indices, the data are copied."""
    axis, sizes = shapes.scattered_elements(use), use[0].sizes
    _refuse_reduction(use)
    if 0 in use[1].sizes:
        return use.filled(sizes, lambda: use.way(1)(use.right(0)))
    return use.filled(sizes, lambda: use.make(*map(use.right, range(3)), axis=use.promoted([axis])[0]))


def scatter_nd(use: Use) -> OnnxValue:
    """All tensors have the largest rank of them."""
    shapes.scattered_tuples(use)
    _refuse_reduction(use)
    own, count = use[0].rank, use[1].rank
    rank = max(own, count, use[2].rank)
    return use.filled(
        use[0].sizes,
        lambda: use.make(
            *(use.right(place, rank) for place in range(3)),
            input_dimension_count=own,
            indices_dimension_count=count,
        ),
    )


def _refuse_reduction(use: Use) -> None:
    """DirectML writes over elements, and does not combine them."""
    reduction = use.attribute("reduction") or "none"
    if reduction != "none":
        use.refuse("DML-ONNX-unsupported", what=f"the reduction {reduction}")


def nonzero(use: Use) -> OnnxValue:
    """How many columns the output has is not known."""
    use.refuse("DML-ONNX-dynamic", input=use[0].name)


def reverse_sequence(use: Use) -> OnnxValue:
    """The lengths, one for each place of the batch axis, are read as unsigned integers, with strides of 0."""
    own = use[0].sizes
    batch, time = (use.axis(name) for name in ("batch_axis", "time_axis"))
    if len(own) < 2:
        use.refuse("DML-ONNX-rank", name=use[0].name, rank=len(own), wanted="2 or more")
    if batch == time:
        use.refuse("DML-ONNX-attribute-value", name="time_axis", value=time, known="another axis than batch_axis")
    if use[1].sizes != (own[batch],):
        use.refuse("DML-ONNX-sizes", name=use[1].name, sizes=use[1].sizes, wanted=(own[batch],))
    if use[1].element not in ("INT32", "INT64"):
        use.refuse("DML-ONNX-input-type", element=use[1].element, name=use[1].name, wanted="INT32 or INT64")
    sizes = right_aligned(shapes.replaced(own, time, 1), RANK)
    strides = [int(at == batch + len(sizes) - len(own)) for at in range(len(sizes))]
    return use.filled(
        own,
        lambda: use.make(
            use.right(0), use.view(1, sizes, strides, dtype=f"U{use[1].element}"), axis=use.promoted([time])[0]
        ),
    )
