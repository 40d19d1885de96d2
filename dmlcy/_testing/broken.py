"""Descs of an operator with exactly one violation."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice, product
from typing import Any, Final, TypeAlias, TypeVar, cast

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from dmlcy._check.checker import Check
from dmlcy._check.optional import descs_for
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._facts.names import known_operator
from dmlcy._facts.rows import Field, Operator, Rule, Rules
from dmlcy._facts.tables import LEVEL_INDEX, OPERATORS, TensorDataType
from dmlcy._field_types import type_of
from dmlcy._field_types.base import Break
from dmlcy._field_types.integers import UINT_MAX, Integers
from dmlcy._field_types.tensor import dtypes_at
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._testing.descs import MOST_ELEMENTS, at_level, class_of, desc_of, descs
from dmlcy._testing.starts import Values, tensors_of
from dmlcy._testing.walk import ADAPTED, adapted

T = TypeVar("T")

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
"""Values that break the rules on a number: each kind of data type refuses some of them."""

ENTRIES: Final = (5, 17, 70, 1000, UINT_MAX, 0, -1)
"""Values that break the rules on an entry of an array."""

TRIES: Final = 8
"""How often a desc is broken until it has the violation alone; another valid desc takes longer to draw."""


class Broken:
    """A desc that is being broken: its values, and what may be drawn."""

    def __init__(self, draw: st.DrawFn, desc: OperatorDesc, level: int) -> None:
        self.draw = draw
        self.desc = desc
        self.level = level
        self.operator = desc.operator
        self.places: dict[str, int] = {}  # of the tensors that are changed, by the array

    def of(self, *choices: T) -> T:
        """One of some values."""
        return self.draw(st.sampled_from(choices))

    def with_(self, field: Field, value: object) -> OperatorDesc:
        """The desc with another value for one field; what follows from others is not given, unless it is that."""
        return self.changed({field.python: value})

    def changed(self, values: Mapping[str, object]) -> OperatorDesc:
        """The desc with other values for some fields; other fields whose values follow are not given."""
        needed = self.needed
        fields = [
            one
            for one in self.operator.fields
            if one.kind != "output" or self.operator.is_open(one) or one.python in needed
        ]
        given = {one.python: getattr(self.desc, one.python) for one in fields if one.value is None}
        return class_of(self.operator)(**{**given, **values})

    @property
    def needed(self) -> list[str]:
        """The optional outputs that the desc needs: without them, a rule is broken that it keeps."""
        values = self.desc._values()
        there = [
            one.python
            for one in self.operator.fields
            if one.kind == "output" and one.optional and values[one.python] is not None
        ]
        if not there:
            return []
        without = Check(self.operator, values | dict.fromkeys(there), self.level, call=False)
        return there if without.violations else []

    def toggled(self, field: Field) -> OperatorDesc:
        """The desc without an optional field that it has, or with one that it lacks."""
        if getattr(self.desc, field.python) is not None:
            return self.with_(field, None)
        if field.kind == "attribute":
            return self.with_(field, type_of(field.type).some(self, field))
        return self.with_(field, self.of(*islice(descs_for(self.operator, field, self.desc._values(), self.level), 3)))

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
        return self.with_(field, self._tensor(field, members))

    def tensor_alone(self, field: Field, **members: Any) -> OperatorDesc:
        """The desc with other members for one tensor desc, and with the outputs that it has."""
        return class_of(self.operator)(**{**self.desc._values(), field.python: self._tensor(field, members)})

    def _tensor(self, field: Field, members: Mapping[str, Any]) -> object:
        """The value of a field with other members for one tensor desc."""
        old, place = self.old(field), self.place(field)
        kept = {"dtype": old.dtype, "sizes": old.sizes, "strides": None if "sizes" in members else old.strides}
        new = TensorDesc(**{**kept, **members})
        if place is None:
            return new
        value = getattr(self.desc, field.python)
        return (*value[:place], new, *value[place + 1 :])

    def entries(self, field: Field, value: object) -> tuple[object, ...]:
        """The entries of an array with one of another value."""
        entries = list(getattr(self.desc, field.python))
        assume(entries)
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


Way: TypeAlias = Callable[[Broken, Field], object]
"""Breaks a desc in one way that is about the field."""


def broken_descs(
    operator: object, *, id: str | None = None, level: object = None, most_elements: int = MOST_ELEMENTS
) -> st.SearchStrategy[tuple[OperatorDesc, Violation]]:
    """Descs of which one thing is wrong, each with the violation: ``check`` reports it and nothing else.

    Parameters
    ----------
    id
        The id of that violation, such as ``DML-PADDING1-input-rank``; None: each that a desc can have at the level.
    operator, level, most_elements
        The parameters of ``descs``.

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
    return broken_from(ids, known, position, descs(operator, level=level, most_elements=most_elements))


@st.composite
def broken_from(
    draw: st.DrawFn, ids: list[str], operator: Operator, level: int, valid: st.SearchStrategy[OperatorDesc]
) -> tuple[OperatorDesc, Violation]:
    """Valid descs that are broken in one way, each with its violation; an example where few descs can be broken so."""
    id_ = draw(st.sampled_from(ids))
    found = _broken_in_one_way(draw, id_, draw(valid), level)
    if found is None:
        examples = valid_examples(operator.name, level)
        assume(examples)
        found = _broken_in_one_way(draw, id_, draw(st.sampled_from(examples)), level)
    assume(found is not None)
    return cast(tuple[OperatorDesc, Violation], found)


@cache
def valid_examples(name: str, level: int) -> list[OperatorDesc]:
    """The descs of the examples that are valid at a level."""
    operator = OPERATORS[name]
    return [desc for desc in map(partial(desc_of, operator), operator.examples) if not desc._violations(level)]


def _broken_in_one_way(
    draw: st.DrawFn, id_: str, desc: OperatorDesc, level: int
) -> tuple[OperatorDesc, Violation] | None:
    """The desc broken so that it has a violation of the id and no other; None if it is not broken so."""
    operator = desc.operator
    field, break_ = ways_of(operator.name, level)[id_]
    if getattr(desc, field.python) is None and field.kind != "attribute":  # an optional tensor
        dtype = draw(st.sampled_from(dtypes_at(field, level)))
        values = desc._values()
        made = (values | {field.python: one} for one in descs_for(operator, field, values, level, dtype))
        valid_ones = (one for one in made if not Check(operator, one, level, call=False).violations)
        values = next(valid_ones, values)
        if values[field.python] is None and id_ not in {rule.id for rule in operator.rules}:
            return None
        desc = class_of(operator)(**values)
    for _ in range(TRIES):
        try:
            broken = break_(Broken(draw, desc, level), field)
        except UnsatisfiedAssumption:
            continue
        assert isinstance(broken, OperatorDesc)
        found = _alone(broken, id_, level)
        if found is not None:
            return found
    return None


def _alone(desc: OperatorDesc, id_: str, level: int) -> tuple[OperatorDesc, Violation] | None:
    """The desc with its violation of the id, where it has no other; what follows from the broken field is adapted."""
    for _ in range(ADAPTED):
        violations = desc._violations(level)
        ids = [violation.id for violation in violations]
        if ids == [id_]:
            return desc, violations[0]
        others = [violation for violation in violations if violation.id != id_]
        if id_ not in ids or not all(one.id.endswith(("-sizes", "-length")) for one in others):
            return None
        values = adapted(desc.operator, desc._values(), Check(desc.operator, desc._values(), level, call=False))
        desc = class_of(desc.operator)(**values)
    return None


@cache
def ways_of(name: str, level: int) -> Mapping[str, tuple[Field, Way]]:
    """By id, the field that is broken and how."""
    operator = OPERATORS[name]
    ways: dict[str, tuple[Field, Way]] = {}
    first = operator.fields[0]
    ways[f"DML-{name}-operator-unknown"] = (first, lambda b, field: b.json(None, "Bogus", 1))
    for field in operator.fields:
        for slug, break_ in _ways(operator, field, level):
            if slug != "same-dtype" or _follows_another(operator, field, level):
                ways[f"DML-{name}-{field.python}-{slug}"] = (field, break_)
    for rule in operator.rules:
        if _holds_at(rule, level):
            about = next(field for field in operator.fields if field.python == rule.about)
            ways[rule.id] = (about, _against(rule))
    return ways


def _follows_another(operator: Operator, field: Field, level: int) -> bool:
    """Whether a valid desc has this tensor and another one, whose data type this tensor must have."""
    root = field.same_dtype_as
    if root is None or not operator.field(root).optional:
        return True
    before = operator.fields[: operator.fields.index(field)]
    others = [one for one in before if root in (one.python, one.same_dtype_as)]
    examples = [desc._values() for desc in valid_examples(operator.name, level)]
    given = [values for values in examples if values[field.python] is not None]
    return not given or any(_can_have(operator, values, other, level) for values in given for other in others)


def _can_have(operator: Operator, values: Values, field: Field, level: int) -> bool:
    """Whether a desc has an optional tensor, or is valid with it."""
    if values[field.python] is not None:
        return True
    made = islice(descs_for(operator, field, values, level), 3)
    return any(not Check(operator, values | {field.python: one}, level, call=False).violations for one in made)


def _holds_at(rule: Rule, level: int) -> bool:
    """Whether a desc must keep the rule at a level."""
    known = LEVEL_INDEX[rule.since] <= level and (rule.until is None or level < LEVEL_INDEX[rule.until])
    return known and not rule.data and rule.severity == "error"


def _ways(operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
    kind = type_of(field.type)
    if field.optional and field.kind != "attribute":
        yield "required", lambda b, field: b.json(field, b.of("DataType", "Sizes"), b.of(DELETED, None))
    elif not field.optional:
        yield "required", lambda b, field: b.json(None, field.name, b.of(DELETED, None))
    yield "type", lambda b, field: kind.mistyped(b, field, b.draw(OTHERS))
    yield from kind.breaks(operator, field, level) if field.value is None else kind.contradictions(field)


def _against(rule: Rule) -> Way:
    """Another value of the field that the rule is about, with data types and enum members that make it wrong."""

    def break_(b: Broken, field: Field) -> OperatorDesc:
        members = {one.python: _members(b, one) for one in b.operator.fields if one.python in rule.reads}
        others = {name: b.of(*known) for name, known in members.items() if known and name != field.python}
        if others and field.kind != "attribute" and b.of(False, True):
            b = Broken(b.draw, b.changed(others), b.level)
        optional = [one for one in b.operator.fields if one.optional and f"{one.python}.present" in rule.reads]
        lacks = field.kind != "attribute" and getattr(b.desc, field.python) is None
        if optional and (lacks or b.of(False, True)):
            one = b.of(None, *optional)
            return b.toggled(one) if one is not None else b.changed(dict.fromkeys(one.python for one in optional))
        if field.kind != "attribute":
            assume(not lacks)
            return b.of(*_tensors_against(b, rule, field))()
        value = getattr(b.desc, field.python)
        if isinstance(value, tuple):
            assume(value)
            return b.with_(field, b.of(*_entries_against(b, rule, field, value)))
        against = _settings_against(b, rule, field)
        assume(against)
        return b.changed(_tensors(b, b.of(*against)))

    return break_


def _tensors_against(b: Broken, rule: Rule, field: Field) -> list[Callable[[], OperatorDesc]]:
    """Ways to break a rule on a tensor: more axes, other sizes, data types, truth values; of an array no tensors."""
    ways: list[Callable[[], OperatorDesc]] = []
    if not {f"{field.python}.{facet}" for facet in ("sizes", "rank")}.isdisjoint(rule.reads):
        inputs = [one for one in b.operator.fields if one.kind == "input" and f"{one.python}.sizes" in rule.reads]
        sized = b.of(field, field, *(one for one in inputs if getattr(b.desc, one.python) is not None))
        ways.append(lambda: b.tensor(sized, sizes=b.of(*_sizes_against(b, rule, sized))))
    reads = [one for one in b.operator.fields if one.python in rule.reads]
    switches = [one for one in reads if type(getattr(b.desc, one.python)) is bool]
    ways += [partial(_switched, b, field, one) for one in switches]
    if f"{field.python}.count" in rule.reads:
        ways.append(lambda: b.with_(field, ()))
    if any(read.endswith(".dtype") for read in rule.reads) and (settings := _settings_against(b, rule, field)):
        ways.append(lambda: b.changed(_tensors(b, _alike(b, b.of(*settings)))))
    assume(ways)
    return ways


def _sizes_against(b: Broken, rule: Rule, field: Field) -> list[tuple[int, ...]]:
    """Other sizes of a tensor that break a rule: more axes, fewer, another size of one; of an array any such."""
    sizes = b.old(field).sizes
    found = [(1,) * more + sizes for more in range(1, 6)]
    for axis, size in enumerate(sizes):
        found += [(*sizes[:axis], other, *sizes[axis + 1 :]) for other in (1, 2, 3, 5, 7, size + 1)]
        found += [sizes[:axis] + sizes[axis + 1 :]] if len(sizes) > 1 else []
    values = Formulas(b.desc).rules
    tensor = getattr(values, field.python)
    if isinstance(tensor, tuple):
        return found
    against: list[tuple[int, ...]] = []
    for other in found:
        tensor.sizes = other
        if not _holds(rule, values):
            against.append(other)
    return against or found


def _alike(b: Broken, setting: Mapping[str, object]) -> Mapping[str, object]:
    """The setting, with its first data type for the other tensors that can have it, or without."""
    dtype = next((value for value in setting.values() if type(value) is TensorDataType), None)
    if dtype is None or b.of(False, True):
        return setting
    tensors = [one for one in b.operator.fields if one.kind != "attribute"]
    return {one.python: dtype for one in tensors if dtype.name in dtypes_at(one, b.level)} | {**setting}


def _switched(b: Broken, field: Field, switch: Field) -> OperatorDesc:
    """The desc with the other truth value; other tensors with a rule on it have the sizes of the largest tensor."""
    abouts = {rule.about for rule in b.operator.rules if switch.python in rule.reads} - {field.python}
    given = [one for one in b.operator.fields if one.kind == "input" and getattr(b.desc, one.python) is not None]
    sizes = max(map(b.old, given), key=lambda tensor: tensor.element_count, default=b.old(field)).sizes
    others = {one.python: TensorDesc(b.old(one).dtype, sizes) for one in given if one.python in abouts}
    return b.changed({switch.python: not getattr(b.desc, switch.python), **others})


def _entries_against(b: Broken, rule: Rule, field: Field, value: tuple[object, ...]) -> list[tuple[object, ...]]:
    """Arrays that break a rule, of which one entry is another number, or one of the others."""
    numbers = [*(number for number in ENTRIES if field.minimum is None or number >= field.minimum), *value]
    found = [(*value[:at], number, *value[at + 1 :]) for at in range(len(value)) for number in numbers]
    values = Formulas(b.desc).rules
    return [entries for entries in found if _first_broken(b, field, values, {field.python: entries}) is rule] or found


def _settings_against(b: Broken, rule: Rule, field: Field) -> list[dict[str, object]]:
    """The changes that break a rule: data types and members, with a number for the field if that is an attribute."""
    choices: dict[str, Sequence[object]] = {field.python: _numbers(field)} if field.kind == "attribute" else {}
    for other in b.operator.fields:
        if f"{other.python}.dtype" in rule.reads and getattr(b.desc, other.python) is not None:
            choices[other.python] = [TensorDataType[name] for name in dtypes_at(other, b.level)]
        elif other.python in rule.reads and (members := _members(b, other)):
            choices[other.python] = members
    values = Formulas(b.desc).rules
    settings = (dict(zip(choices, setting, strict=True)) for setting in product(*choices.values()))
    return [setting for setting in settings if _first_broken(b, field, values, setting) is rule]


def _members(b: Broken, field: Field) -> list[object]:
    """The members that an enum has at the level."""
    info = type_of(field.type).info
    if info is None:
        return []
    return [info.cls[name] for name, (_, since) in info.members.items() if LEVEL_INDEX[since] <= b.level]


def _numbers(field: Field) -> list[float]:
    """The numbers that a field takes, whatever a rule says: another one would break its range or its type."""
    kind = type_of(field.type)
    if isinstance(kind, Integers):
        low, high = kind.range_of(field)
        return [*{number: None for number in (*NUMBERS, high) if type(number) is int and low <= number <= high}]
    return [number for number in NUMBERS if field.infinite or math.isfinite(number)]


def _first_broken(b: Broken, field: Field, values: Rules, setting: Mapping[str, object]) -> Rule | None:
    """The rule on a field that is reported for these values and data types; the others are those of the desc."""
    for name, value in setting.items():
        if type(value) is TensorDataType:
            getattr(values, name).dtype = value
        else:
            setattr(values, name, value)
    rules = (rule for rule in b.operator.rules if rule.about == field.python and _holds_at(rule, b.level))
    return next((rule for rule in rules if not _holds(rule, values)), None)


def _holds(rule: Rule, values: Rules) -> bool:
    """Whether a rule holds; it does where it reads a tensor or an axis that is not there."""
    try:
        indices: list[tuple[int, ...]] = (
            [()] if rule.domain is None else [(index,) for index in range(rule.domain(values))]
        )
        return all(rule.holds(values, *index) for index in indices)
    except (AttributeError, IndexError):
        return True


def _tensors(b: Broken, setting: Mapping[str, object]) -> dict[str, object]:
    """The setting with tensor descs in place of data types, for all tensors that share them."""
    fields = {field.python: field for field in b.operator.fields}
    changed = dict(setting)
    for name, dtype in setting.items():
        if type(dtype) is TensorDataType:
            root = fields[name].same_dtype_as or name
            for field in fields.values():
                given = field.kind == "input" or b.operator.is_open(field)
                old = getattr(b.desc, field.python)
                if root in (field.python, field.same_dtype_as) and given and old is not None:
                    several = [TensorDesc(dtype, one.sizes, one.strides) for one in tensors_of(old)]
                    changed[field.python] = tuple(several) if isinstance(old, tuple) else several[0]
    return changed
