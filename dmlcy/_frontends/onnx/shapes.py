"""Sizes, orders and windows that the attributes and constants of a node give: for conversions and for folding."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from math import ceil, inf, isfinite, prod
from typing import Final, TypeVar

from dmlcy._frontends.onnx.use import Use
from dmlcy._frontends.onnx.values import right_aligned

Given = TypeVar("Given", bound=Sized)
MOST_AXES: Final = 64
"""The rank up to which NumPy has arrays."""


def axes_of(use: Use, name: str, place: int, rank: int) -> tuple[int, ...] | None:
    """Axes that are an attribute or an input, each at most once, counted from the first one."""
    given = use.integers(name, place)
    return None if given is None else _different(use, name, given, rank)


def _different(use: Use, name: str, given: Sequence[int], rank: int) -> tuple[int, ...]:
    axes = use.axes(given, name, rank)
    if len(set(axes)) < len(axes) or len(axes) > rank:
        use.refuse("DML-ONNX-attribute-value", name=name, value=tuple(given), known="different axes")
    return axes


def axis_of(use: Use) -> int:
    """The axis that the node names, of an input that has axes."""
    if use[0].rank == 0:
        use.refuse("DML-ONNX-rank", name=use[0].name, rank=0, wanted="1 or more")
    return use.axis()


def counted(use: Use, name: str, given: Given, wanted: int) -> Given:
    """A sequence or a vector that must have so many elements."""
    if len(given) != wanted:
        use.refuse("DML-ONNX-count", name=name, count=len(given), wanted=wanted)
    return given


def not_negative(use: Use, name: str, given: Sequence[int]) -> tuple[int, ...]:
    """Sizes or counts of at most so many axes as arrays have."""
    if len(given) > MOST_AXES:
        use.refuse("DML-ONNX-rank", name=name, rank=len(given), wanted=f"{MOST_AXES} at most")
    for one in given:
        if one < 0:
            use.refuse("DML-ONNX-negative", name=name, value=one)
    return tuple(given)


def needed(use: Use, name: str, place: int = -1) -> tuple[int, ...]:
    """Whole numbers that are an attribute or an input, and must be given."""
    given = use.integers(name, place)
    if given is None:
        use.refuse("DML-ONNX-node-input", input=name)
    return given


def flattened(use: Use) -> tuple[int, ...]:
    """Flatten: the axes before an axis as one, and those from it on as another."""
    axis, sizes = use.integer("axis"), use[0].sizes
    if not -len(sizes) <= axis <= len(sizes):
        use.refuse("DML-ONNX-axis", name="axis", axis=axis, rank=len(sizes))
    axis += len(sizes) if axis < 0 else 0
    return prod(sizes[:axis]), prod(sizes[axis:])


def reshaped(use: Use) -> tuple[int, ...]:
    """Reshape: 0 keeps a size, unless the node says otherwise; one size of -1 follows from the others."""
    wanted, own = needed(use, "shape", 1), use[0].sizes
    if not use.attribute("allowzero"):
        wanted = tuple(own[at] if size == 0 and at < len(own) else size for at, size in enumerate(wanted))
    known = [size for size in wanted if size != -1]
    not_negative(use, "shape", known)
    if len(known) < len(wanted):
        step, total = prod(known), prod(own)
        if len(known) + 1 < len(wanted) or step == 0 or total % step:
            use.refuse("DML-ONNX-reshape", sizes=[*own], wanted=[*wanted])
        wanted = tuple(total // step if size == -1 else size for size in wanted)
    return not_negative(use, "shape", wanted)


def squeezed(use: Use) -> tuple[int, ...]:
    """Squeeze: without the axes that are named; without all axes of size 1 where none is named."""
    own = use[0].sizes
    axes = axes_of(use, "axes", 1, len(own))
    if axes is None:
        return tuple(size for size in own if size != 1)
    rest = tuple(size for at, size in enumerate(own) if at not in axes)
    if any(own[at : at + 1] != (1,) for at in axes):
        use.refuse("DML-ONNX-reshape", sizes=[*own], wanted=[*rest])
    return rest


def unsqueezed(use: Use) -> tuple[int, ...]:
    """Unsqueeze: with axes of size 1, which are counted in the output."""
    own, count = use[0].sizes, len(needed(use, "axes", 1))
    not_negative(use, "axes", (0,) * (len(own) + count))
    axes = axes_of(use, "axes", 1, len(own) + count) or ()
    rest = iter(own)
    return tuple(1 if at in axes else next(rest) for at in range(len(own) + count))


def same(use: Use) -> tuple[int, ...]:
    """Identity, and what becomes of it."""
    return use[0].sizes


def permutation(use: Use) -> tuple[int, ...]:
    """Transpose: the axis of the input that becomes each axis of the output."""
    axes = range(use[0].rank)
    given = use.integers("perm")
    if given is None:
        return tuple(reversed(axes))
    if sorted(given) != [*axes]:
        use.refuse(
            "DML-ONNX-attribute-value",
            name="perm",
            value=[*given],
            known=f"the axes 0 to {len(axes) - 1} in some order",
        )
    return given


def expanded(use: Use) -> tuple[int, ...]:
    """Expand: the sizes of the input and the wanted sizes, broadcast."""
    wanted, own = not_negative(use, "shape", needed(use, "shape", 1)), use[0].sizes
    rank = max(len(wanted), len(own))
    pairs = [*zip(right_aligned(own, rank), right_aligned(wanted, rank), strict=True)]
    if any(1 not in pair and pair[0] != pair[1] for pair in pairs):
        use.refuse("DML-ONNX-broadcast", sizes=[*own], wanted=[*wanted])
    return tuple(mine if size == 1 else size for mine, size in pairs)


def windows(use: Use) -> list[range]:
    """Slice: the places of each axis, in their order."""
    own = use[0].sizes
    starts, ends = needed(use, "starts", 1), needed(use, "ends", 2)
    axes = axes_of(use, "axes", 3, len(own)) if use.has(3) or "axes" in use.version.attributes else None
    if axes is None:
        axes = _different(use, "starts", range(len(starts)), len(own))
    steps = use.integers("steps", 4) if use.has(4) else None
    steps = (1,) * len(axes) if steps is None else steps
    found = [range(size) for size in own]
    for name, given in (("starts", starts), ("ends", ends), ("steps", steps)):
        counted(use, name, given, len(axes))
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if step == 0:
            use.refuse("DML-ONNX-attribute-value", name="steps", value=0, known="another number")
        start = max(start, -own[axis]) if step < 0 else start  # where the slices of Python are empty
        found[axis] = range(*slice(start, end, step).indices(own[axis]))
    return found


def parts(use: Use) -> tuple[int, tuple[int, ...]]:
    """Split: the axis, and the size of each part along the axis."""
    axis = axis_of(use)
    length, count = use[0].sizes[axis], len(use.node.outputs)
    given = use.integers("split", 1)
    if given is None:
        pieces = use.attribute("num_outputs") or count
        if "num_outputs" not in use.version.attributes and length % max(pieces, 1):
            use.refuse("DML-ONNX-parts", name=use[0].name, axis=axis, size=length, parts=f"{pieces} of one size")
        counted(use, "outputs", use.node.outputs, pieces)
        step = -(-length // max(pieces, 1))
        given = (step,) * (pieces - 1) + (length - step * (pieces - 1),)
    counted(use, "split", given, count)
    if any(one < 0 for one in given) or sum(given) != length:
        use.refuse("DML-ONNX-parts", name=use[0].name, axis=axis, size=length, parts=given)
    return axis, given


def paddings(use: Use) -> tuple[tuple[int, int], ...]:
    """Pad: what is added before and after each axis."""
    rank = use[0].rank
    axes = axes_of(use, "axes", 3, rank) if use.has(3) else None
    axes = tuple(range(rank)) if axes is None else axes
    name = "paddings" if "paddings" in use.version.attributes else "pads"
    given = counted(use, name, needed(use, name, 1), 2 * len(axes))
    found = [(0, 0)] * rank
    for at, axis in enumerate(axes):
        found[axis] = given[at], given[at + len(axes)]
    for (before, after), size in zip(found, use[0].sizes, strict=True):
        if min(before, after, before + after) + size < 0:
            use.refuse("DML-ONNX-negative", name=name, value=min(before, after))
    return tuple(found)


def padded(sizes: tuple[int, ...], added: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """The sizes with these paddings."""
    return tuple(before + size + after for size, (before, after) in zip(sizes, added, strict=True))


def padding_value(use: Use) -> float | None:
    """Pad: the element that is added; None where the node does not say."""
    if "value" in use.version.attributes:
        return use.number("value")
    found: float | None = use.single(2, "biuf") if use.has(2) else None
    return found


def joined(use: Use) -> tuple[int, tuple[int, ...]]:
    """Concat: the axis, which is 1 where old nodes do not say, and the sizes."""
    first = use[0]
    axis = use.axes([1 if use.attribute("axis") is None else use.integer("axis")], "axis")[0]
    if first.rank == 0:
        use.refuse("DML-ONNX-rank", name=first.name, rank=0, wanted=1)
    length = 0
    for place in range(len(use.inputs)):
        one = use[place]
        if one.rank != first.rank or any(
            mine != size for at, (mine, size) in enumerate(zip(one.sizes, first.sizes, strict=True)) if at != axis
        ):
            wanted = f"{first.sizes}, except along the axis {axis}"
            use.refuse("DML-ONNX-sizes", name=one.name, sizes=one.sizes, wanted=wanted)
        length += one.sizes[axis]
    return axis, replaced(first.sizes, axis, length)


def replaced(sizes: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    """The sizes with another one at an axis."""
    return (*sizes[:axis], size, *sizes[axis + 1 :])


def repeats(use: Use) -> tuple[int, ...]:
    """Tile: how many times the elements are repeated along each axis."""
    rank = use[0].rank
    if "tiles" in (one.name for one in use.version.inputs):
        count, axis = whole_number(use, 1), whole_number(use, 2)
        return not_negative(use, "tiles", replaced((1,) * rank, use.axes([axis])[0], count))
    return not_negative(use, "repeats", tuple(counted(use, "repeats", needed(use, "repeats", 1), rank)))


def looked_up(use: Use) -> tuple[int, tuple[int, ...]]:
    """Gather: the axis, and the sizes with those of the indices in its place."""
    axis, own = axis_of(use), use[0].sizes
    return axis, own[:axis] + use[1].sizes + own[axis + 1 :]


def looked_up_by_elements(use: Use) -> int:
    """GatherElements and ScatterElements: the axis, for indices whose other sizes are at most those of the input."""
    axis, own, sizes = axis_of(use), use[0].sizes, use[1].sizes
    if len(sizes) != len(own):
        use.refuse("DML-ONNX-rank", name=use[1].name, rank=len(sizes), wanted=len(own))
    if any(mine > size for at, (mine, size) in enumerate(zip(sizes, own, strict=True)) if at != axis):
        use.refuse(
            "DML-ONNX-sizes", name=use[1].name, sizes=sizes, wanted=f"at most {own}, except along the axis {axis}"
        )
    return axis


def looked_up_by_tuples(use: Use, batches: int) -> tuple[int, tuple[int, ...]]:
    """GatherND and ScatterND: how many axes a tuple of indices chooses from, and the sizes of what they choose."""
    own, sizes = use[0].sizes, use[1].sizes
    if not own or not sizes:
        use.refuse("DML-ONNX-rank", name=use[int(bool(own))].name, rank=0, wanted="1 or more")
    if not 0 <= batches < min(len(own), len(sizes)):
        use.refuse("DML-ONNX-axis", name="batch_dims", axis=batches, rank=min(len(own), len(sizes)))
    depth = sizes[-1]
    if own[:batches] != sizes[:batches] or not 0 < depth <= len(own) - batches:
        use.refuse("DML-ONNX-broadcast", sizes=[*sizes], wanted=[*own])
    return depth, sizes[:-1] + own[batches + depth :]


def scattered_elements(use: Use) -> int:
    """ScatterElements: the axis, for as many updates as indices."""
    axis = looked_up_by_elements(use)
    _updates(use, use[1].sizes)
    return axis


def scattered_tuples(use: Use) -> int:
    """ScatterND: how many axes a tuple of indices chooses from, for updates that are as large as what they choose."""
    depth, sizes = looked_up_by_tuples(use, 0)
    _updates(use, sizes)
    return depth


def _updates(use: Use, sizes: tuple[int, ...]) -> None:
    if use[2].sizes != sizes:
        use.refuse("DML-ONNX-sizes", name=use[2].name, sizes=use[2].sizes, wanted=sizes)


def one_hot(use: Use) -> tuple[int, tuple[int, ...]]:
    """OneHot: the axis that is added, and the sizes."""
    own, depth = use[0].sizes, whole_number(use, 1)
    not_negative(use, "depth", (depth, *own))
    axis = use.axis(rank=len(own) + 1)
    if use[2].sizes != (2,):
        use.refuse("DML-ONNX-sizes", name=use[2].name, sizes=use[2].sizes, wanted=(2,))
    return axis, (*own[:axis], depth, *own[axis:])


def whole_number(use: Use, place: int) -> int:
    """The element of an input, which may be of a data type with fractions."""
    found = use.single(place)
    if found != found or found in (inf, -inf):
        use.refuse("DML-ONNX-attribute-value", name=use[place].name, value=found, known="a finite number")
    return int(found)


def matrix(use: Use) -> tuple[int, ...]:
    """The sizes of an input that must have two axes."""
    if use[0].rank != 2:
        use.refuse("DML-ONNX-rank", name=use[0].name, rank=use[0].rank, wanted=2)
    return use[0].sizes


def matrices(use: Use) -> tuple[int, ...]:
    """The sizes of an input that must have two axes or more."""
    if use[0].rank < 2:
        use.refuse("DML-ONNX-rank", name=use[0].name, rank=use[0].rank, wanted="2 or more")
    return use[0].sizes


def filling(use: Use) -> object:
    """ConstantOfShape: the element."""
    value = use.attribute("value")
    return 0 if value is None else counted(use, "value", value.array().reshape(-1), 1)[0]


def sequence(use: Use) -> tuple[float, float, int]:
    """Range: the first element, the step, and how many elements there are before the limit."""
    start, limit, delta = (use.single(place) for place in range(3))
    if delta == 0:
        use.refuse("DML-ONNX-attribute-value", name="delta", value=0, known="another number")
    if isinstance(start, int):
        return start, delta, max(0, -((start - limit) // delta))
    count = (limit - start) / delta
    if not isfinite(count):
        use.refuse("DML-ONNX-attribute-value", name="delta", value=delta, known="a finite number of elements")
    return start, delta, max(0, ceil(count))
