"""The steps of a pass that take the sizes of tensors, and the steps that fill in the sizes of outputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

from dmlcy._check.state import State
from dmlcy._facts.rows import Field, Formula, Operator
from dmlcy._facts.tables import LEVELS
from dmlcy._field_types.bad import BAD
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.tensor import has_rank, ranks_at
from dmlcy._field_types.tensor_desc import TensorDesc, layout, structure
from dmlcy._field_types.wording import after_ones, axes_of, without_ones


def with_ones(state: State, field: Field, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes, with the leading sizes of 1 that a call may leave out."""
    if not state.call or field.leading_ones != "call" or not sizes:
        return sizes
    ranks = ranks_at(field, state.level)
    if not ranks:
        return sizes
    return (1,) * (ranks[0] - len(sizes)) + sizes


def take_rank(state: State, field: Field, rank: int) -> None:
    """Takes the number of dimensions of a tensor."""
    if has_rank(field, rank, state.level):
        return
    allowed = ranks_at(field, state.level)
    state.fail(f"{field.python}.sizes", f"{field.python}.rank")
    needed = next((level for level in range(state.level, len(LEVELS)) if has_rank(field, rank, level)), None)
    if needed is None:
        fewest = state.call and field.leading_ones == "desc"  # the others are for sizes of 1 that only a desc may add
        hint = _gives_axes(state, field) or _names_axes(state, field) or axes_of(field)
        if state.call and hint and field.kind == "input" and rank + 1 == min(allowed):
            hint += f" Add a missing axis with {field.python}[numpy.newaxis]."
        rank_refused(state, field, rank, _spans(allowed[:1] if fewest else allowed), hint)
    else:
        subject = f"{state.label(field)} with {rank} dimensions"
        hint = f"That level allows {_spans(allowed)} dimensions." if allowed else ""
        state.too_new(field, subject, needed, hint, "sizes")


def rank_refused(state: State, field: Field, rank: int, allowed: str, hint: str = "") -> None:
    """Reports a number of dimensions that the tensor must not have."""
    words = {"allowed": allowed, "dimensions": "dimension" if rank == 1 else "dimensions"}
    state.add(field, "rank", member="sizes", values={"actual": rank}, words=words, hint=hint)


def _gives_axes(state: State, field: Field) -> str:
    """Which part of its axes an output has from what a call is given."""
    given = {name: state.resolved.get(name) for name in choices_of(state.operator, field)} if state.call else {}
    counts = [
        f"{name} gives {len(sizes)} of these dimensions." for name, sizes in given.items() if isinstance(sizes, tuple)
    ]
    return " ".join(counts)


def _names_axes(state: State, field: Field) -> str:
    """The keyword by which a call gives the sizes of an output, in words."""
    asked = state.call and field.kind == "output" and state.asked_sizes.get(field.python) is not None
    return f"{field.sized_by} are the sizes of all axes of the output." if asked else ""


def choices_of(operator: Operator, field: Field) -> list[str]:
    """The choices that a call has for the sizes of an output."""
    return [one.python for one in operator.chosen if one.part is not None and one.part.tensor == field.python]


def compare(state: State, field: Field) -> None:
    """Compare the sizes of a tensor with the sizes that follow from the other fields."""
    name, actual = field.python, state.tensors[field.python].sizes
    if f"{name}.sizes" in state.bad or name in state.broken or name in state.inferred:
        return
    expected = state.computed(field)
    if expected is None or field.sizes is None:
        return
    given = cast(TensorDesc, state.resolved[name]).sizes
    needed = told = expected
    if field.leading_ones == "both" or (not state.call and field.leading_ones == "desc"):
        extra = len(actual) - len(expected)
        ones = extra > 0 and all(size is BAD or size == 1 for size in actual[:extra])
        needed = (1,) * extra + expected if ones else expected
        told = (1,) * max(extra, 0) + expected
    pairs = zip(actual, needed, strict=False)
    differ = [at for at, (a, b) in enumerate(pairs) if a is not BAD and a != b]
    if len(actual) == len(needed) and not differ:
        return
    hint = field.hint if field.hint_when is None or state.evaluated(field.hint_when) else ""
    state.fail(f"{name}.sizes")
    formula = after_ones(field.sizes.words, len(told) - len(expected))
    if state.call and field.leading_ones == "call" and len(given) < len(expected):
        ones_left_out = len(expected) - len(given)
        formula, expected = without_ones(formula, ones_left_out), expected[ones_left_out:]
        told = expected
        needed, differ = needed[ones_left_out:], [at - ones_left_out for at in differ]
    one = differ[0] if len(differ) == 1 and len(given) == len(needed) else None
    valid = all(size >= 1 for size in needed) and math.prod(needed) <= UINT_MAX
    state.add(
        field,
        "sizes",
        member="sizes",
        at=one,
        values={"actual": given, "expected": expected},
        words={"formula": formula, "expected": state.written(told)},
        terms=_terms(state, field.sizes),
        called={term.label: term.words for term in field.sizes.terms},
        hint=hint,
        fix=None if not valid else needed if one is None else needed[one],
    )


def say_sizes(state: State, field: Field) -> None:
    """Tells a tensor with a wrong number of dimensions the sizes that follow, now that the other fields are known."""
    expected = state.computed(field) if f"{field.python}.rank" in state.bad else None
    if expected is None or field.sizes is None or not has_rank(field, len(expected), state.level):
        return
    name = field.python.partition("[")[0]
    found = state.found[name]
    for place, one in enumerate(found):
        if one.field == field.python and one.id.endswith(f"-{name}-rank"):
            told = f"It must have the sizes {state.written(expected)}: {field.sizes.words}."
            hint = " ".join(filter(None, (one.hint, told)))
            found[place] = replace(one, hint=hint, fix=one.fix if one.fix is not None else expected)


def _terms(state: State, formula: Formula) -> dict[str, object]:
    """The values that a message shows beside a formula: those of its names, and what a call chooses."""
    found = {term.label: state.term(term, ()) for term in formula.terms}
    return found | state.chosen_for(formula) if found else {}


@cache
def _outputs(operator: Operator) -> tuple[tuple[Field, str, str, str], ...]:
    """The outputs whose sizes a formula gives, with their names, and the facets of the sizes."""
    outputs = [field for field in operator.fields if field.kind == "output" and field.sizes is not None]
    return tuple((field, field.python, f"{field.python}.sizes", f"{field.python}.rank") for field in outputs)


def infer(state: State, reads: Iterable[str]) -> None:
    """Fills in the sizes of the outputs that are not given, and that somebody is about to read."""
    for field, name, facet, rank in _outputs(state.operator):
        read = facet in reads or rank in reads
        if not read or name in state.inferred or facet in state.bad or state.resolved[name] is not None:
            continue
        state.inferred.add(name)
        sizes = state.computed(field)
        if sizes is None:
            state.fail(facet, rank)
            continue
        tensor = state.tensors[name]
        desc = TensorDesc(tensor.dtype, sizes)  # type: ignore[arg-type]    # None: not known
        wrong = list(structure(desc)) or [one for one in layout(desc, False) if one.slug == "elements"]
        if not state.limited and min(sizes) >= 1:
            wrong = []
        for refused in wrong:
            refused.hint = f"The sizes follow from the other fields: {cast(Formula, field.sizes).words}."
            refused.fix = None
            state.refused(field, refused)
        take_rank(state, field, len(sizes))
        if wrong:
            state.fail(facet)
        tensor.sizes = sizes
        if tensor.dtype is not None and facet not in state.bad:
            state.resolved[name] = desc


def _spans(ranks: Sequence[int]) -> str:
    """Ranks in words: 1 to 8, or 4 or 5."""
    if not ranks:
        return "none"
    if len(ranks) > 2 and ranks[-1] - ranks[0] == len(ranks) - 1:
        return f"{ranks[0]} to {ranks[-1]}"
    return " or ".join(str(rank) for rank in ranks)
