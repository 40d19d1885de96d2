"""Another size along one axis, and along the axes of other tensors that must have the same size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hypothesis import strategies as st

from dmlcy._facts.rows import Field
from dmlcy._testing.starts import Values
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
