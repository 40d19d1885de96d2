"""The steps of a pass that take attributes; what a value must be, its type says (dmlcy._field_types)."""

from __future__ import annotations

from functools import cache
from typing import cast

from dmlcy._check.sizes import rank_refused, take_rank
from dmlcy._check.state import State
from dmlcy._facts.rows import MISSING, Field, Formula, Operator, Part
from dmlcy._field_types import type_of
from dmlcy._field_types.enum import UNKNOWN, is_unsaid
from dmlcy._field_types.values import Refused


@cache
def in_order(operator: Operator) -> tuple[Field, ...]:
    """The attributes, each after the attributes that its value or length reads; the first ones follow from others."""
    fields = {field.python: field for field in operator.fields if field.kind == "attribute"}
    found: dict[str, Field] = {}

    def visit(field: Field, waiting: frozenset[str]) -> None:
        if field.python in found or field.python in waiting:
            return
        for formula in (field.value, field.length, field.max_length):
            for name in sorted(formula.reads) if formula is not None else ():
                if name in fields:
                    visit(fields[name], waiting | {field.python})
        found[field.python] = field

    for field in sorted(fields.values(), key=lambda field: field.value is None):
        visit(field, frozenset())
    return tuple(found.values())


def take(state: State, field: Field) -> None:
    """Takes the value of an attribute, or refuses it."""
    name = field.python
    value = state.values.get(name, field.default)
    state.keep(field, None if value is MISSING else value)
    if value is MISSING or (value is None and field.default is MISSING):
        if value is MISSING or not field.optional:
            state.fail(name)
            state.add(field, "required")
        return
    if value is None and field.optional:
        return
    try:
        type_of(field.type).resolve(field, value, state)
    except Refused as refused:
        state.fail(name)
        state.refused(field, refused)


def follow(state: State, field: Field) -> None:
    """A field whose value follows from others: it may be left out, and must not contradict them."""
    name = field.python
    expected = state.evaluated(cast(Formula, field.value))
    value = state.values.get(name)
    state.keep(field, expected)
    if expected is None:
        state.fail(name)
    if value is None or value is MISSING:
        if value is MISSING:
            state.add(field, "required")
        return
    state.resolved[name] = value
    if field.unsaid and is_unsaid(value):
        state.keep(field, UNKNOWN)
        return
    kind = type_of(field.type)
    try:
        given = state.resolved[name] = kind.counted(value, state.literal)
    except Refused as refused:
        state.fail(name)
        state.refused(field, refused)
        return
    if expected is not None and given != expected:
        state.fail(name)
        state.refused(field, kind.contradicted(field, given, expected, state))


def choose(state: State, field: Field) -> None:
    """Sizes that a call is given, and that a desc has in its output."""
    assert field.part is not None
    if state.call:
        take(state, field)
        if field.python not in state.bad:
            _rank_of_choice(state, field.python, field.part)
    elif f"{field.part.tensor}.sizes" in state.bad or state.resolved[field.part.tensor] is None:
        state.fail(field.python)
    else:
        state.read(field, field.part.of(state.tensors[field.part.tensor].sizes))
        _length_of_choice(state, field, field.part)


def _length_of_choice(state: State, field: Field, part: Part) -> None:
    """The output of a desc has as many sizes as a call is asked for."""
    expected = None if field.length is None else state.evaluated(field.length)
    actual = len(state.tensors[part.tensor].sizes)
    if expected is None or part.before + expected + part.after == actual:
        return
    state.fail(field.python, f"{part.tensor}.sizes", f"{part.tensor}.rank")
    rank_refused(state, state.fields[part.tensor], actual, str(part.before + expected + part.after))


def _rank_of_choice(state: State, name: str, part: Part) -> None:
    """So many sizes make an output that can be."""
    rank = part.before + len(cast("tuple[int, ...]", state.readable[name])) + part.after
    take_rank(state, state.fields[part.tensor], rank)
    if f"{part.tensor}.rank" in state.bad:
        state.fail(name)
