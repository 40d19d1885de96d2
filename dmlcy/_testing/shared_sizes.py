"""Other sizes of a valid desc: along one axis of all tensors that must have it, or of a tensor of one element."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hypothesis import strategies as st

from dmlcy._facts.rows import Field
from dmlcy._testing.starts import Values, tensors_of
from dmlcy._testing.walk import COUNTS, Walk, follows


def new_shared_size(walk: Walk, fields: Sequence[Field]) -> None:
    """Draws a size for one axis of a tensor; takes it together with those axes of other tensors that rules tie to it.

    No formula says which axes these are. An axis of the same old size is one of them if fewer rules, or other rules,
    are broken with the new size there.
    """
    given = [field for field in fields if not walk.lacks(field) and not follows(field)]
    axes = [(field, axis) for field in given for axis in range(walk.tensors(field)[0].rank)]
    if not axes:
        return
    first, place = walk.draw(st.sampled_from(axes))
    old, new = walk.tensors(first)[0].sizes[place], walk.draw(COUNTS)
    moved = {(first.python, place)}
    changes = _changes(walk, given, moved, new)
    broken = _broken(walk, changes)
    for field, axis in sorted(axes, key=lambda one: one[1] != place):
        if not broken:
            break
        if walk.tensors(field)[0].sizes[axis] != old:
            continue
        more = _changes(walk, given, moved | {(field.python, axis)}, new)
        left = _broken(walk, more)
        if len(left) < len(broken) or (len(left) == len(broken) and left != broken):
            moved, changes, broken = moved | {(field.python, axis)}, more, left
    walk.take(changes)


def enlarge(walk: Walk, field: Field) -> None:
    """Draws whether a tensor of one element gets more, and whether axes of size 1 get the sizes of another tensor.

    The other fields have been drawn by now. A rule may ask for the size of another tensor, which few random sizes are.
    """
    if walk.lacks(field) or follows(field):
        return
    if walk.tensors(field)[0].element_count == 1 and walk.draw(st.booleans()):
        walk.new_sizes(field)
    sizes = walk.tensors(field)[0].sizes
    others = [one.sizes for name in walk.given if name != field.python for one in tensors_of(walk.values[name])]
    alike = (one for one in others if len(one) == len(sizes))
    larger = [one for one in alike if any(own == 1 < other for own, other in zip(sizes, one, strict=True))]
    if not larger or walk.draw(st.booleans()):
        return
    pairs, every = zip(sizes, walk.draw(st.sampled_from(larger)), strict=True), walk.draw(st.booleans())
    drawn = [other if own == 1 < other and (every or walk.draw(st.booleans())) else own for own, other in pairs]
    walk.take_entries(drawn, sizes, lambda sizes: {field.python: walk.resized(field, lambda old: sizes)})


def _changes(walk: Walk, fields: Sequence[Field], moved: set[tuple[str, int]], new: int) -> Values:
    """The tensors with the new size along these axes."""
    changes: Values = {}
    for field in fields:
        axes = [axis for name, axis in moved if name == field.python]
        if axes:
            changes[field.python] = walk.resized(field, partial(_with_size, axes, new))
    return changes


def _with_size(axes: Sequence[int], new: int, sizes: tuple[int, ...]) -> list[int]:
    return [new if axis in axes else size for axis, size in enumerate(sizes)]


def _broken(walk: Walk, changes: Values) -> list[str]:
    """The ids of the rules that a desc with these changes breaks."""
    return [violation.id for violation in walk.changed(changes).violations]
