"""Descs for a pack: drawn from a seed, and of these as few as have every data type, rank, member and layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Final

from dmlcy._conformance.source import drawn
from dmlcy._desc.memory import strides_of
from dmlcy._desc.minimum import minimum_feature_level
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor import dtypes_at
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._testing.arrays import runs
from dmlcy._testing.descs import at_level, descs
from dmlcy._testing.starts import tensors_of

ROUND: Final = 24
"""Descs that are drawn before it is asked whether they have all that is wanted."""
ROUNDS: Final = 5
ELEMENTS: Final = 200
"""Of all tensors of a case together: the exact values of an element can take a millisecond."""

Fact = tuple[str, object]


def chosen(operator: Operator, level: int, count: int, number: int) -> list[OperatorDesc]:
    """At most so many valid descs of an operator at a level. Descs with something that no other desc has come first."""
    pool: list[OperatorDesc] = []
    met: set[Fact] = set()
    wanted = set(_wanted(operator, level))
    levels = dict.fromkeys([level, *_first_levels(operator, level)])
    for turn in range(min(ROUNDS, count)):
        for at in levels:
            strategy = descs(operator.name, level=LEVELS[at].name, most_elements=ELEMENTS)
            pool += [desc for desc in drawn(strategy, min(ROUND, 4 * count), number + turn) if runs(desc)]
        met |= {fact for desc in pool for fact in facts(desc)}
        if wanted <= met:
            break
    return _fewest(pool, wanted, count)


def _first_levels(operator: Operator, level: int) -> Iterator[int]:
    """The lowest level at which a desc can be valid, below this one."""
    for position in range(LEVEL_INDEX[operator.since], level):
        try:
            yield at_level(operator, LEVELS[position].name)
        except ValueError:
            continue
        return


def _fewest(pool: Sequence[OperatorDesc], wanted: Set[Fact], count: int) -> list[OperatorDesc]:
    """Descs that together have the wanted facts, then all facts of the pool; the one with the most new ones first."""
    left = {repr(desc): desc for desc in reversed(pool)}  # the later ones, and those of the lowest level, come first
    known = {name: set(facts(desc)) for name, desc in left.items()}
    missing = set().union(*known.values()) if known else set()
    taken: list[OperatorDesc] = []
    while left and len(taken) < count:
        name = max(left, key=lambda name: (len(known[name] & missing & wanted), len(known[name] & missing)))
        missing -= known[name]
        taken.append(left.pop(name))
    return taken


def facts(desc: OperatorDesc) -> Iterator[Fact]:
    """The facts of a desc that an error may depend on."""
    yield "level", minimum_feature_level(desc).level
    for field in desc.operator.fields:
        value = getattr(desc, field.python)
        tensors = tensors_of(value)
        if tensors:
            for tensor in tensors:
                yield from ((field.python, fact) for fact in _of_tensor(tensor))
        if isinstance(value, tuple) and tensors:
            yield field.python, f"{len(tensors)} tensors"
        elif isinstance(value, OperatorDesc):
            yield field.python, value.operator.name
        elif value is None or type_of(field.type).info is not None or isinstance(value, bool):
            yield field.python, str(value)
        elif field.minimum is not None and isinstance(value, int):
            yield field.python, "least" if value == field.minimum else "more"


def _of_tensor(tensor: TensorDesc) -> Iterator[object]:
    yield from (tensor.dtype.name, tensor.rank, tensor.flags.name)
    if tensor.strides is None:
        return
    axes = [(step, size) for step, size in zip(strides_of(tensor), tensor.sizes, strict=True) if size > 1]
    if any(step == 0 for step, _ in axes):
        yield "shared"
    elif axes != sorted(axes, reverse=True):
        yield "transposed"
    elif sum((size - 1) * step for step, size in axes) + 1 > tensor.element_count:
        yield "gaps"


def _wanted(operator: Operator, level: int) -> Iterator[Fact]:
    """The facts that the descs of an operator should have at a level, if they are known before a desc is drawn."""
    for field in operator.fields:
        yield from ((field.python, name) for name in _names(field, level))


def _names(field: Field, level: int) -> Iterator[str]:
    if field.value is not None:
        return
    if field.kind == "input":
        yield from dtypes_at(field, level)
        if field.optional:
            yield "None"
    info = type_of(field.type).info
    if info is not None:
        yield from (str(info.cls[name]) for name, (_, since) in info.members.items() if LEVEL_INDEX[since] <= level)
