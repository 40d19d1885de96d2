"""The steps of a pass that look at rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any, Final, TypeAlias, cast

import numpy as np

from dmlcy._check.dtypes import packing
from dmlcy._check.state import State
from dmlcy._errors import Violation
from dmlcy._facts.rows import Rule
from dmlcy._facts.tables import LEVEL_INDEX
from dmlcy._field_types import type_of
from dmlcy._field_types.bad import UNREAD
from dmlcy._field_types.values import REPORTED
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array
from dmlcy._words.values import is_a, plain, show

LOOKED_AT: Final = 10_000
"""Indices of one rule on data that are looked at, from the first one that is broken."""
ELEMENT: Final = "v"
"""The name of an element in a rule on each one; a message says where the element is."""
WHOLE: Final = -1
"""In place of an index: all of a field."""
Part: TypeAlias = EllipsisType | tuple[EllipsisType, int]
"""The index of a part of an array."""
ACCEPTED: Final = "The documentation rules this out, but DirectML was observed to accept it."


def note(state: State, violation: Violation) -> None:
    """Keeps a violation of a rule: warnings apart, since nothing is refused because of them."""
    (state.late if violation.severity == "error" else state.warnings).append(violation)


def is_of(rule: Rule, level: int) -> bool:
    """Whether a rule is one of the level of that position."""
    return LEVEL_INDEX[rule.since] <= level and (rule.until is None or level < LEVEL_INDEX[rule.until])


def look(state: State, rule: Rule, first: int = 0) -> None:
    """Notes where a rule does not hold, unless it reads what has failed or is of another level."""
    if not is_of(rule, state.level):
        return
    done = state.broken.get(rule.about, set())
    if (state.bad or state.broken) and not _can_read(state, rule, done):
        return
    failed: set[int] = set()
    for index in _indices(state, rule, first):
        at = () if rule.index is None else (index,)
        if index in done or _holds(state, rule, at):
            continue
        failed.add(index)
        note(state, _broken_rule(state, rule, at))
        if len(failed) == REPORTED:
            failed = {WHOLE}
            break
    if failed and rule.severity == "error":
        state.broken[rule.about] = state.broken.get(rule.about, set()) | failed


def _can_read(state: State, rule: Rule, done: set[int]) -> bool:
    """Whether nothing that the rule reads has failed; of its own field it looks at what is left."""
    by_index = rule.index is not None and WHOLE not in done
    others = {facet for facet in rule.reads if not (by_index and facet.partition(".")[0] == rule.about)}
    return state.can_read(others, rule.guarded) and not any(
        facet in state.bad and not state.is_guarded(facet, rule.guarded) for facet in rule.reads
    )


def look_at_each(state: State, rule: Rule, array: Array) -> None:
    """Notes the elements at which a rule on each element does not hold; each value is looked at once."""
    if not is_of(rule, state.level) or not state.can_read(rule.reads, rule.guarded):
        return
    holds = np.ones(array.shape, bool)
    for index, part in parts_of(rule, array):
        values, places = np.unique(array[part], return_inverse=True)
        told = np.fromiter((_holds(state, rule, (*index, value)) for value in values.tolist()), bool, len(values))
        holds[part] = told[places].reshape(holds[part].shape)
    for place in np.flatnonzero(~holds)[:REPORTED]:
        at = indices_of(int(place), array.shape)
        index = () if rule.index is None else at[-1:]
        note(state, _broken_rule(state, rule, (*index, array.item(*at)), at))
    if not holds.all() and rule.severity == "error":
        state.broken[rule.about] = {WHOLE}


def parts_of(rule: Rule, array: Array) -> Iterator[tuple[tuple[int, ...], Part]]:
    """The parts of a tensor on whose elements a rule is alike: the index that it takes with each, and the part."""
    if rule.index is None:
        yield (), ...
    else:
        yield from (((index,), (..., index)) for index in range(array.shape[-1]))


def _indices(state: State, rule: Rule, first: int) -> Sequence[int]:
    if rule.domain is None:
        return (WHOLE,)
    try:
        indices = range(first, rule.domain(state.rules))
        return indices[:LOOKED_AT] if rule.data else indices
    except UNREAD:
        return ()


def _holds(state: State, rule: Rule, at: tuple[object, ...]) -> bool:
    """Whether the rule holds there; it does, for all that can be said, where it reads what has been refused."""
    try:
        return bool(rule.holds(state.rules, *at))
    except UNREAD:
        return True


def _counted(text: str) -> str:
    """The text of a term with the index as a number, where it is computed from another one: sizes(output)[2 + 1]."""
    summed = re.sub(r"\[(\d+) \+ (\d+)\]", lambda found: f"[{int(found[1]) + int(found[2])}]", text)
    return re.sub(r"\[min\((\d+), \d+\)\]", r"[\1]", summed)


def _broken_rule(state: State, rule: Rule, at: tuple[Any, ...], element: tuple[int, ...] | None = None) -> Violation:
    """The violation. ``at``: the arguments of the functions of the rule, ``element``: the place in a tensor."""
    names = {} if rule.index is None else {rule.index: at[0]}
    found = [(term, state.term(term, at)) for term in rule.terms]
    values = {term.label.format(**names): value for term, value in found}
    field = state.fields.get(rule.about)
    label = rule.about if field is None else state.label(field)
    where = f"{label}[{', '.join(map(str, element or at))}]" if at else label
    called = {} if element is None else {ELEMENT: where}
    texts = [
        f"{called.get(term.label, _counted(term.words.format(**names)))} = {'unknown' if it is None else show(it)}"
        for term, it in found
    ]
    shown = rule.shown.format(*texts, **names)
    told = f"{where} {rule.says}{shown and f': {shown}'}."
    taken = ACCEPTED if rule.accepts and rule.provenance == "documented" else ""
    packed = packing(state, values.values()) if f"{rule.about}.dtype" in rule.reads else ""
    fix = None if rule.fix is None else state.term(rule.fix, at)
    facets = {"dtype": "dtype", "sizes": "sizes", "rank": "sizes"}
    read = {part for facet, part in facets.items() if f"{rule.about}.{facet}" in rule.reads}
    members = set() if rule.data else read
    if field is not None and field.minimum is not None and is_a(fix, int) and cast(int, fix) < field.minimum:
        fix = None
    entry = (
        bool(at) and element is None and field is not None and type_of(field.type).tensors
    )  # the index is that of a tensor
    return Violation(
        id=rule.id,
        operator=state.operator.name,
        field=where if entry else rule.about,
        member=members.pop() if len(members) == 1 else None,
        index=element or (at[0] if at and not entry else None),
        message=" ".join(filter(None, (told, state.sizes_read(rule), taken))),
        rule=rule.text,
        values={label: plain(value) for label, value in values.items()},
        hint=" ".join(filter(None, (rule.hint, packed))),
        fix=plain(fix),
        level=rule.until,
        provenance=rule.provenance,
        error="InvalidDataError" if rule.data else "InvalidDescError",
        severity=rule.severity,
        _search=state.search.noted() if rule.severity == "error" else None,
    )
