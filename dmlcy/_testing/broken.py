"""Descs of an operator with exactly one violation."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, Final

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from dmlcy._check.support import dtypes_at, ranks_at
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._facts.names import known_operator
from dmlcy._facts.rows import Field, Operator, Rule, Rules
from dmlcy._facts.tables import DTYPES, ENUMS, LEVEL_INDEX, LEVELS, OPERATORS, TensorDataType
from dmlcy._field_types.tensor_desc import UINT_MAX, TensorDesc
from dmlcy._testing.descs import MOST_ELEMENTS, at_level, class_of, descs, with_output

DELETED: Final = object()
OTHERS: Final = st.one_of(st.sampled_from([0.5, 1j, b"1", "x", (), (None,), object]), st.text(max_size=3))
OUTSIDE: Final = [-1, UINT_MAX + 1, 2**64, -(2**31), 10**30]
NUMBERS: Final = (
    0,
    -1.0,
    2,
    3,
    7,
    300,
    1000,
    65520.0,
    -(2.0**31),
    UINT_MAX,
    2.0**64,
    1e38,
    -1e38,
    math.inf,
    -math.inf,
    math.nan,
)
"""What breaks the rules on a number: each kind of data type refuses some of them."""


class Broken:
    """A desc that is being broken: its values, and what may be drawn."""

    def __init__(self, draw: st.DrawFn, desc: OperatorDesc, level: int) -> None:
        self.draw = draw
        self.desc = desc
        self.level = level
        self.operator = desc.operator

    def of(self, *choices: Any) -> Any:
        """One of some values."""
        return self.draw(st.sampled_from(choices))

    def with_(self, field: Field, value: object) -> OperatorDesc:
        """The desc with another value for one field; what follows from others is not given, unless it is that."""
        return self.changed({field.python: value})

    def changed(self, values: Mapping[str, object]) -> OperatorDesc:
        """The desc with other values for some fields, of whose others those that follow from them are not given."""
        fields = [one for one in self.operator.fields if one.kind != "output" or self.operator.is_open(one)]
        given = {one.python: getattr(self.desc, one.python) for one in fields if one.value is None}
        return class_of(self.operator)(**{**given, **values})

    def tensor(self, field: Field, **members: Any) -> OperatorDesc:
        """The desc with other members for one tensor desc."""
        old: TensorDesc = getattr(self.desc, field.python)
        kept = {"dtype": old.dtype, "sizes": old.sizes, "strides": None if "sizes" in members else old.strides}
        return self.with_(field, TensorDesc(**{**kept, **members}))

    def entries(self, field: Field, value: object) -> Any:
        """The entries of an array with one of another value."""
        entries = list(getattr(self.desc, field.python))
        entries[self.draw(st.integers(0, len(entries) - 1))] = value
        return tuple(entries)

    def json(self, field: Field | None, member: str, value: object) -> OperatorDesc:
        """The desc as JSON with another member of the struct, or of the tensor desc that a field is."""
        model = copy.deepcopy(self.desc.to_dict())
        owner = model["desc"] if field is None else model["desc"][field.name]
        if value is DELETED:
            del owner[member]
        else:
            owner[member] = value
        return type(self.desc).from_dict(model)


Break = Callable[[Broken, Field], OperatorDesc]


def broken_descs(
    operator: object, *, id: str | None = None, level: object = None, most_elements: int = MOST_ELEMENTS
) -> st.SearchStrategy[tuple[OperatorDesc, Violation]]:
    """Descs of which one thing is wrong, each with the violation: ``check`` reports it and nothing else.

    Parameters
    ----------
    id
        The id of that violation, such as ``DML-PADDING1-input-rank``; None: each that a desc can have at the level.
    operator, level, most_elements
        Those of ``descs``.

    Raises
    ------
    ValueError
        No desc has a violation of that id at the level.
    """
    known = known_operator(operator)
    position = at_level(known, level)
    ways = ways_of(known.name, position)
    if id is not None and id not in ways:
        raise ValueError(f"no desc of {known.name} can be broken so: {id!r}")
    ids = sorted(ways) if id is None else [id]
    return _broken(ids, known, position, descs(operator, level=level, most_elements=most_elements))


@st.composite
def _broken(
    draw: st.DrawFn, ids: list[str], operator: Operator, level: int, valid: st.SearchStrategy[OperatorDesc]
) -> tuple[OperatorDesc, Violation]:
    id_ = draw(st.sampled_from(ids))
    field, break_ = ways_of(operator.name, level)[id_]
    desc = draw(valid)
    if getattr(desc, field.python) is None:  # an optional output
        dtype = draw(st.sampled_from(dtypes_at(field, level)))
        desc = class_of(operator)(**with_output(operator, desc.values(), field, dtype, level))
    desc = break_(Broken(draw, desc, level), field)
    violations = desc._violations(level)
    assume([violation.id for violation in violations] == [id_])
    return desc, violations[0]


@cache
def ways_of(name: str, level: int) -> Mapping[str, tuple[Field, Break]]:
    """By id, the field that is broken and how."""
    operator = OPERATORS[name]
    ways: dict[str, tuple[Field, Break]] = {}
    first = operator.fields[0]
    ways[f"DML-{name}-operator-unknown"] = (first, lambda b, field: b.json(None, "Bogus", 1))
    for field in operator.fields:
        for slug, break_ in _ways(operator, field, level):
            ways[f"DML-{name}-{field.python}-{slug}"] = (field, break_)
    for rule in operator.rules:
        if _holds_at(rule, level):
            about = next(field for field in operator.fields if field.python == rule.about)
            ways[rule.id] = (about, _against(rule))
    return ways


def _holds_at(rule: Rule, level: int) -> bool:
    """Whether a desc must keep the rule at a level."""
    known = LEVEL_INDEX[rule.since] <= level and (rule.until is None or level < LEVEL_INDEX[rule.until])
    return known and not rule.data


def _ways(operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
    if field.optional:
        yield "required", lambda b, field: b.json(field, b.of("DataType", "Sizes"), b.of(DELETED, None))
    else:
        yield "required", lambda b, field: b.json(None, field.name, b.of(DELETED, None))
    if field.kind != "attribute":
        yield from _tensor_ways(operator, field, level)
    elif field.value is not None:
        yield from _count_ways(operator, field)
    else:
        yield "type", _wrong_type
        yield from _attribute_ways(field, level)


def _tensor_ways(operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
    yield "type", lambda b, field: b.of(
        b.with_(field, b.draw(OTHERS)), b.tensor(field, sizes=0.5), b.tensor(field, strides=("x",)),
        b.tensor(field, guaranteed_base_offset_alignment=0.5), b.tensor(field, dimension_count="4"),
    )  # fmt: skip
    yield "unknown", lambda b, field: b.json(field, "Bogus", 1)
    yield "dtype", lambda b, field: b.tensor(field, dtype=b.of(*_others(field), "BOGUS", bool, complex))
    yield "byteorder", lambda b, field: b.tensor(field, dtype=np.dtype(_numpy(b, field)).newbyteorder())
    yield "rank", lambda b, field: b.tensor(field, sizes=(1,) * b.of(*_other_ranks(field)))
    yield (
        "range",
        lambda b, field: b.of(
            b.tensor(field, sizes=_resized(b, field, b.of(0, *OUTSIDE))), b.tensor(field, total_tensor_size_in_bytes=-1)
        ),
    )
    yield "length", lambda b, field: b.tensor(field, dimension_count=b.of(0, 9, -1))
    yield "member", lambda b, field: b.tensor(field, flags=b.of("BOGUS", "", "OWNED"))
    yield "strides", lambda b, field: b.tensor(field, strides=b.of((*_strides(b, field), 1), _one(b, field)))
    yield "total-size", lambda b, field: b.tensor(field, total_tensor_size_in_bytes=_less(b, field))
    yield "alignment", lambda b, field: b.tensor(field, guaranteed_base_offset_alignment=b.of(3, 48, -4, UINT_MAX + 1))
    if LEVEL_INDEX[operator.since] <= level < len(LEVELS) - 1:
        later = [name for name in dtypes_at(field, len(LEVELS) - 1) if name not in dtypes_at(field, level)]
        ranks = [rank for rank in ranks_at(field, len(LEVELS) - 1) if rank not in ranks_at(field, level)]
        if later or ranks:
            yield (
                "level",
                lambda b, field: b.of(
                    *(b.tensor(field, dtype=name) for name in later),
                    *(b.tensor(field, sizes=(1,) * rank) for rank in ranks),
                ),
            )
    if field.same_dtype_as is not None or (field.kind == "output" and not field.optional):
        yield "same-dtype", lambda b, field: b.tensor(field, dtype=b.of(*dtypes_at(field, b.level)))
    if field.sizes is not None:
        yield "sizes", lambda b, field: b.tensor(field, sizes=_resized(b, field, b.of(1, 2, 3, 5, 7)))
    yield "elements", _too_many
    if field.kind == "output":
        yield "overlap", lambda b, field: b.tensor(field, strides=(0,) * getattr(b.desc, field.python).rank)


def _count_ways(operator: Operator, field: Field) -> Iterator[tuple[str, Break]]:
    yield "type", _wrong_type
    if field.type.startswith("enum:"):
        yield "member", lambda b, field: b.with_(field, b.of("BOGUS", ""))
        yield "same-dtype", lambda b, field: b.with_(field, b.of(*(name for name in DTYPES if DTYPES[name].numpy)))
    else:
        yield "length", lambda b, field: b.with_(field, b.of(0, 1, 2, 3, 9, UINT_MAX))


def _attribute_ways(field: Field, level: int) -> Iterator[tuple[str, Break]]:
    if field.type.startswith("enum:"):
        yield "member", lambda b, field: b.with_(field, b.of("BOGUS", "", "constant"))
        members = ENUMS[field.type.removeprefix("enum:")].members
        later = [name for name, (_, since) in members.items() if LEVEL_INDEX[since] > level]
        if later:
            yield "level", lambda b, field: b.with_(field, b.of(*later))
    if field.minimum is not None and field.maximum is not None:
        outside = [field.minimum - 1, field.maximum + 1, *OUTSIDE]
        if field.type == "uint":
            yield "range", lambda b, field: b.with_(field, b.of(*outside))
        else:
            yield "range", lambda b, field: b.with_(field, b.entries(field, b.of(*outside)))
    if field.length is not None:
        yield (
            "length",
            lambda b, field: b.with_(
                field, b.of((*getattr(b.desc, field.python), 1), getattr(b.desc, field.python)[1:], (1,) * 50)
            ),
        )
    if field.type == "float":
        beyond = (1e39, -1e39) if field.infinite else (math.nan, math.inf, -math.inf, 1e39)
        yield "finite", lambda b, field: b.with_(field, b.of(*beyond))
    if field.type == "scalar_union":
        yield "value", lambda b, field: b.with_(field, b.of(2**64, -(2**63) - 1, 10**400, -1, 300, 2**31, 2**16))


def _wrong_type(b: Broken, field: Field) -> OperatorDesc:
    value = b.draw(OTHERS)
    if field.type in ("uint_array", "size_2d") and b.draw(st.booleans()):
        value = b.entries(field, b.of(0.5, "2", None, True))
    return b.with_(field, value)


def _numpy(b: Broken, field: Field) -> str:
    return str(getattr(b.desc, field.python).dtype.name).lower()


def _others(field: Field) -> list[str]:
    """Data types that a tensor cannot have at any level."""
    return [name for name in DTYPES if name not in dtypes_at(field, len(LEVELS) - 1)]


def _other_ranks(field: Field) -> list[int]:
    return [rank for rank in range(12) if rank not in ranks_at(field, len(LEVELS) - 1)]


def _resized(b: Broken, field: Field, size: int) -> tuple[int, ...]:
    sizes = list(getattr(b.desc, field.python).sizes)
    sizes[b.draw(st.integers(0, len(sizes) - 1))] = size
    return tuple(sizes)


def _strides(b: Broken, field: Field) -> tuple[int, ...]:
    sizes = getattr(b.desc, field.python).sizes
    return tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


def _one(b: Broken, field: Field) -> tuple[int, ...]:
    """Strides of which one is out of range."""
    strides = list(_strides(b, field))
    strides[b.draw(st.integers(0, len(strides) - 1))] = b.of(*OUTSIDE)
    return tuple(strides)


def _less(b: Broken, field: Field) -> int:
    """Fewer bytes than the tensor has."""
    old: TensorDesc = getattr(b.desc, field.python)
    enough = TensorDesc(old.dtype, old.sizes, old.strides).total_tensor_size_in_bytes
    return int(b.of(0, enough - 4, enough - 1))


def _too_many(b: Broken, field: Field) -> OperatorDesc:
    """More than 2**32 - 1 elements: sizes that multiply to it, or of an output, attributes that make them so."""
    sizes = list(getattr(b.desc, field.python).sizes)
    if field.kind == "input" or b.draw(st.booleans()):
        sizes[: b.draw(st.integers(1, len(sizes)))] = [b.of(2**16, 2**20, UINT_MAX)] * len(sizes)
        return b.tensor(field, sizes=sizes[: len(getattr(b.desc, field.python).sizes)])
    able = [one for one in b.operator.fields if one.kind == "attribute" and one.value is None and one.maximum]
    assume(able)
    desc = b.desc
    for one in b.draw(st.permutations(able))[:2]:
        value, size = getattr(desc, one.python), b.of(2**16, 2**20, UINT_MAX)
        size = min(size, one.maximum or size)
        desc = Broken(b.draw, desc, b.level).with_(
            one, tuple(size for _ in value) if isinstance(value, tuple) else size
        )
    return desc


def _against(rule: Rule) -> Break:
    """Another value of the field that the rule is about, with data types and enum members that make it wrong."""

    def break_(b: Broken, field: Field) -> OperatorDesc:
        if field.kind != "attribute":
            sizes = getattr(b.desc, field.python).sizes
            return b.tensor(field, sizes=(1,) * b.of(1, 2, 3, 4, 5) + tuple(sizes))
        if isinstance(getattr(b.desc, field.python), tuple):
            return b.with_(field, b.entries(field, b.of(5, 17, 70, 1000, UINT_MAX)))
        against = _settings_against(b, rule, field)
        assume(against)
        return b.changed(b.of(*against))

    return break_


def _settings_against(b: Broken, rule: Rule, field: Field) -> list[dict[str, Any]]:
    """What breaks a rule: a number for its field, with data types and members for the others that the rule reads."""
    numbers = [
        number
        for number in NUMBERS
        if (field.minimum is None or number >= field.minimum) and (field.infinite or math.isfinite(number))
    ]
    choices: dict[str, Sequence[Any]] = {field.python: numbers}
    for other in b.operator.fields:
        if f"{other.python}.dtype" in rule.reads:
            choices[other.python] = [TensorDataType[name] for name in dtypes_at(other, b.level)]
        elif other.python in rule.reads and other.type.startswith("enum:"):
            members = ENUMS[other.type.removeprefix("enum:")]
            choices[other.python] = [
                members.cls[name] for name, (_, since) in members.members.items() if LEVEL_INDEX[since] <= b.level
            ]
    values = Formulas(b.desc).rules
    settings = (dict(zip(choices, setting, strict=True)) for setting in product(*choices.values()))
    return [_tensors(b, setting) for setting in settings if _first_broken(b, field, values, setting) is rule]


def _first_broken(b: Broken, field: Field, values: Rules, setting: Mapping[str, Any]) -> Rule | None:
    """The rule on a field that is reported for these values and data types; the others are those of the desc."""
    for name, value in setting.items():
        if type(value) is TensorDataType:
            values.__dict__[name].dtype = value
        else:
            values.__dict__[name] = value
    rules = (rule for rule in b.operator.rules if rule.about == field.python and _holds_at(rule, b.level))
    return next((rule for rule in rules if not rule.holds(values)), None)


def _tensors(b: Broken, setting: Mapping[str, Any]) -> dict[str, Any]:
    """The setting with tensor descs in place of data types, for all tensors that share them."""
    fields = {field.python: field for field in b.operator.fields}
    changed = dict(setting)
    for name, dtype in setting.items():
        if type(dtype) is TensorDataType:
            root = fields[name].same_dtype_as or name
            for field in fields.values():
                if root in (field.python, field.same_dtype_as) and (field.kind == "input" or b.operator.is_open(field)):
                    old: TensorDesc = getattr(b.desc, field.python)
                    changed[field.python] = TensorDesc(dtype, old.sizes, old.strides)
    return changed
