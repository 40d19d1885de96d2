"""Descs of an operator with exactly one violation."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, Final

from hypothesis import assume
from hypothesis import strategies as st

from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._facts.names import known_operator
from dmlcy._facts.rows import Field, Operator, Rule, Rules
from dmlcy._facts.tables import LEVEL_INDEX, OPERATORS, TensorDataType
from dmlcy._field_types import type_of
from dmlcy._field_types.base import Break
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.tensor import dtypes_at
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._testing.descs import MOST_ELEMENTS, at_level, class_of, descs, tensors_of, with_output

DELETED: Final = object()
OTHERS: Final = st.one_of(st.sampled_from([0.5, 1j, b"1", "x", (), (None,), object]), st.text(max_size=3))
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

ENTRIES: Final = (5, 17, 70, 1000, UINT_MAX, 0, -1)
"""What breaks the rules on an entry of an array."""


class Broken:
    """A desc that is being broken: its values, and what may be drawn."""

    def __init__(self, draw: st.DrawFn, desc: OperatorDesc, level: int) -> None:
        self.draw = draw
        self.desc = desc
        self.level = level
        self.operator = desc.operator
        self.places: dict[str, int] = {}  # of the tensors that are changed, by the array

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

    def place(self, field: Field) -> int | None:
        """The entry of an array of tensors that is changed; None for a single tensor."""
        value = getattr(self.desc, field.python)
        if not isinstance(value, tuple):
            return None
        if field.python not in self.places:
            self.places[field.python] = self.draw(st.integers(0, len(value) - 1))
        return self.places[field.python]

    def old(self, field: Field) -> TensorDesc:
        """The tensor desc that is changed."""
        value, place = getattr(self.desc, field.python), self.place(field)
        old: TensorDesc = value if place is None else value[place]
        return old

    def tensor(self, field: Field, **members: Any) -> OperatorDesc:
        """The desc with other members for one tensor desc."""
        old, place = self.old(field), self.place(field)
        kept = {"dtype": old.dtype, "sizes": old.sizes, "strides": None if "sizes" in members else old.strides}
        new: Any = TensorDesc(**{**kept, **members})
        if place is not None:
            value = getattr(self.desc, field.python)
            new = (*value[:place], new, *value[place + 1 :])
        return self.with_(field, new)

    def entries(self, field: Field, value: object) -> Any:
        """The entries of an array with one of another value."""
        entries = list(getattr(self.desc, field.python))
        entries[self.draw(st.integers(0, len(entries) - 1))] = value
        return tuple(entries)

    def enlarged(self, numbers: tuple[int, ...]) -> OperatorDesc:
        """The desc with one or two attributes of these, which make its outputs large."""
        able = [one for one in self.operator.fields if one.kind == "attribute" and one.value is None and one.maximum]
        assume(able)
        desc = self.desc
        for one in self.draw(st.permutations(able))[:2]:
            value, size = getattr(desc, one.python), self.of(*numbers)
            size = min(size, one.maximum or size)
            several = tuple(size for _ in value) if isinstance(value, tuple) else size
            desc = Broken(self.draw, desc, self.level).with_(one, several)
        return desc

    def json(self, field: Field | None, member: str, value: object) -> OperatorDesc:
        """The desc as JSON with another member of the struct, or of the tensor desc that a field is."""
        model = copy.deepcopy(self.desc.to_dict())
        owner = model["desc"] if field is None else model["desc"][field.name]
        if isinstance(owner, list) and field is not None:
            owner = owner[self.place(field) or 0]
        if value is DELETED:
            del owner[member]
        else:
            owner[member] = value
        return type(self.desc).from_dict(model)


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
    if field.kind == "output" and getattr(desc, field.python) is None:  # an optional output
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
    kind = type_of(field.type)
    if field.optional and field.kind != "attribute":
        yield "required", lambda b, field: b.json(field, b.of("DataType", "Sizes"), b.of(DELETED, None))
    elif not field.optional:
        yield "required", lambda b, field: b.json(None, field.name, b.of(DELETED, None))
    yield "type", lambda b, field: kind.mistyped(b, field, b.draw(OTHERS))
    yield from kind.breaks(operator, field, level) if field.value is None else kind.contradictions(field)


def _against(rule: Rule) -> Break:
    """Another value of the field that the rule is about, with data types and enum members that make it wrong."""

    def break_(b: Broken, field: Field) -> OperatorDesc:
        if field.kind != "attribute":
            return _tensor_against(b, field)
        if isinstance(getattr(b.desc, field.python), tuple):
            others = [number for number in ENTRIES if field.minimum is None or number >= field.minimum]
            return b.with_(field, b.entries(field, b.of(*others)))
        against = _settings_against(b, rule, field)
        assume(against)
        return b.changed(b.of(*against))

    return break_


def _tensor_against(b: Broken, field: Field) -> OperatorDesc:
    """More dimensions; of an array also another size of a tensor, or no tensors."""
    sizes, several = tuple(b.old(field).sizes), b.place(field) is not None
    more = b.tensor(field, sizes=(1,) * b.of(1, 2, 3, 4, 5) + sizes)
    if not several:
        return more
    at = b.of(*range(len(sizes)))
    other = b.tensor(field, sizes=(*sizes[:at], sizes[at] + 1, *sizes[at + 1 :]))
    return b.of(more, other, b.with_(field, ()))  # type: ignore[no-any-return]


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
        elif other.python in rule.reads and (info := type_of(other.type).info) is not None:
            known = info.members.items()
            choices[other.python] = [info.cls[name] for name, (_, since) in known if LEVEL_INDEX[since] <= b.level]
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
                    old = getattr(b.desc, field.python)
                    several = [TensorDesc(dtype, one.sizes, one.strides) for one in tensors_of(old)]
                    changed[field.python] = tuple(several) if isinstance(old, tuple) else several[0]
    return changed
