"""The parts that the types share that hold descs of other operators, without tensors: fused activations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from dmlcy._facts.names import PREFIX
from dmlcy._facts.rows import MISSING, Field, Operator
from dmlcy._facts.tables import LEVEL_INDEX, OPERATORS
from dmlcy._field_types.base import Break, Broken, Draws, FieldType, Pass
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._field_types.values import DEEPEST, Nested, Refused, wrong_type
from dmlcy._words.alike import closest, did_you_mean
from dmlcy._words.values import is_a, listing, show

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

TYPE_KEYS: Final = ("Type", "type")
DESC_KEYS: Final = ("Desc", "desc")
EXPECTED: Final = "the desc of an operator"
OBJECT: Final = 'an object with the members "Type" and "Desc"'


class Spelled(TypedDict):
    """The desc of an operator in DirectML's JSON."""

    Type: str
    Desc: dict[str, Any]


def named(value: Mapping[object, object]) -> str | None:
    """The operator that an object of JSON names; None where it names none."""
    kind = next((value[key] for key in TYPE_KEYS if key in value), None)
    return str.__str__(cast(str, kind)).removeprefix(PREFIX) if is_a(kind, str) else None


def members_of(value: Mapping[object, object]) -> dict[str, object]:
    """The members of the struct: in an object of their own, or beside the type, as DxDispatch has them."""
    inner = next((one for key in DESC_KEYS if type(one := value.get(key)) is dict), None)
    members = {key: one for key, one in value.items() if key not in TYPE_KEYS} if inner is None else inner
    return {str(key): one for key, one in members.items()}


class Descs(FieldType):
    """A type whose values are descs of operators of a list, without tensors."""

    holds_operators = True

    def read(self, field: Field, value: object, ignore_unknown: bool) -> object:
        """The desc that an object of JSON says, where it names an operator of the list; anything else as it is."""
        if type(value) is not dict:
            return value
        name = named(value)
        if name is None or name not in dict(field.among) or name not in OPERATORS:
            return value
        return Nested._class_of(name)._of_members(members_of(value), ignore_unknown, tensors=False)

    def take(self, field: Field, value: object, check: Pass) -> object:
        """Looks at one desc, and gives what the desc of the host holds; ``field`` has its path as the name."""
        value = self.read(field, value, False)
        if not is_a(value, Nested):
            check.fail(field.python)
            check.refused(field, self._none(field, value, check.literal))
            return value
        desc = cast(Nested, value)
        name, among = desc.operator.name, dict(field.among)
        if name not in among:
            check.fail(field.python)
            check.refused(field, _not_among(field, name))
            return desc
        if LEVEL_INDEX[among[name]] > check.level:
            check.fail(field.python)
            known = [one for one, since in field.among if LEVEL_INDEX[since] <= check.level]
            check.too_new(
                field, f"{field.python} {name}", LEVEL_INDEX[among[name]], f"That level allows {listing(known)}."
            )
        for tensor in desc._given_tensors()[:1]:  # the others may follow from it
            words = {"holder": field.python}
            check.refused(field, Refused("tensors", part=f".{tensor}", words=words))
        for found in desc._violations_inside(field.python, check.level):
            check.fail(field.python)
            check.inner(field, field.python, found)
        return desc

    def _none(self, field: Field, value: object, literal: bool) -> Refused:
        """The refusal of what is no desc of the list."""
        name = named(value) if type(value) is dict else None
        if name is not None:
            return _not_among(field, name)
        expected = OBJECT if literal else EXPECTED
        return wrong_type(value, expected, f"For example, pass dmlcy.desc.{_example(field)}." if not literal else "")

    def json_of(self, value: object) -> object:
        """The JSON spelling of one desc."""
        if not is_a(value, Nested):
            return super().to_json(value)
        spelled = cast(Nested, value)
        if spelled._nesting > DEEPEST:
            return show(value)
        whole = spelled.to_dict()
        return {"Type": whole["type"], "Desc": whole["desc"]}

    def unknown_in_json(self, name: str) -> object:
        return self.in_place({"Type": name})

    def tensors_in_json(self, field: Field) -> object:
        tensor = {"DataType": "FLOAT32", "Sizes": [1]}
        name = next((name for name, _ in field.among if name in OPERATORS), "")
        return self.in_place({"Type": name, "InputTensor": tensor})

    def later_in_json(self, field: Field) -> Iterator[tuple[object, int]]:
        for name, since in field.among:
            if LEVEL_INDEX[since] > 0:
                yield self.in_place({"Type": name}), LEVEL_INDEX[since] - 1

    def in_place(self, desc: object) -> object:
        """The value in JSON that holds this desc."""
        return desc

    def one(self, field: Field, draws: Draws) -> SearchStrategy[Nested]:
        """Valid descs of the operators of the list that the level has."""
        from hypothesis import strategies as st

        known = [name for name, since in field.among if LEVEL_INDEX[since] <= draws.level and name in OPERATORS]
        if not known:
            return st.nothing()
        return st.sampled_from(known).flatmap(lambda name: _descs_of(OPERATORS[name], draws))

    def some(self, b: Broken, field: Field) -> Nested | None:
        known = [name for name, since in field.among if LEVEL_INDEX[since] <= b.level and name in OPERATORS]
        return b.draw(_descs_of(OPERATORS[b.of(*known)], None)) if known else None

    def wrong(self, b: Broken, field: Field) -> Iterator[tuple[str, object]]:
        """Values that have one error, by its slug."""
        among = dict(field.among)
        others = [name for name in OPERATORS if name not in among]
        yield "member", b.of({"Type": "DML_OPERATOR_BOGUS"}, {"Type": b.of(*others)} if others else {"Type": "BOGUS"})
        late = [name for name, since in among.items() if LEVEL_INDEX[since] > b.level and name in OPERATORS]
        if late:
            yield "level", b.draw(_descs_of(OPERATORS[b.of(*late)], None))
        desc = self.some(b, field)
        if desc is not None:
            kind = b.of("input", "output")
            tensor = next(one.python for one in desc.operator.fields if one.kind == kind)
            given = {one.python: getattr(desc, one.python) for one in desc.operator.fields if one.value is None}
            yield "tensors", type(desc)(**{**given, tensor: TensorDesc("FLOAT32", (1, 1, 1, 1))})

    def broken(self, b: Broken, field: Field, slug: str) -> object:
        """A value that has the error."""
        from hypothesis import assume

        found = dict(self.wrong(b, field))
        assume(slug in found)
        return found[slug]

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        yield "member", lambda b, field: b.with_(field, self.put(b, field, self.broken(b, field, "member")))
        if any(name in OPERATORS and LEVEL_INDEX[since] > level for name, since in field.among):
            yield "level", lambda b, field: b.with_(field, self.put(b, field, self.broken(b, field, "level")))
        if any(name in OPERATORS and LEVEL_INDEX[since] <= level for name, since in field.among):
            yield "tensors", lambda b, field: b.with_(field, self.put(b, field, self.broken(b, field, "tensors")))

    def put(self, b: Broken, field: Field, desc: object) -> object:
        """The value of the field with this desc in it."""
        return desc


def _not_among(field: Field, name: str) -> Refused:
    """The refusal of an operator that the field does not hold at any level."""
    known = [one for one, _ in field.among]
    hint = did_you_mean(name, known)
    if name in known:
        hint = f"This version of dmlcy does not describe {name}."
    return Refused(
        "member",
        values={"actual": name},
        words={"allowed": listing(known)},
        hint=hint,
        fix=closest(name, known) if name not in known else None,
    )


def _example(field: Field) -> str:
    """How the desc of an operator that the field holds is made: of one without attributes, where there is one."""
    known = [OPERATORS[name] for name, _ in field.among if name in OPERATORS]
    bare = next((one for one in known if not _asks(one)), None)
    return f"{bare.desc}()" if bare is not None else f"{known[0].desc}(...)" if known else "Bogus()"


def _asks(operator: Operator) -> bool:
    """Whether a desc without tensors must be given something."""
    return any(field.kind == "attribute" and field.default is MISSING for field in operator.fields)


def _descs_of(operator: Operator, draws: Draws | None) -> SearchStrategy[Nested]:
    """Valid descs of an operator without tensors: those of its examples, and with ``draws`` random ones too."""
    from hypothesis import strategies as st

    from dmlcy._field_types import type_of

    made = Nested._class_of(operator.name)
    fields = [field for field in operator.fields if field.kind == "attribute" and field.value is None]
    defaults = {field.python: field.default for field in fields if field.default is not MISSING}
    examples = [made(**{**defaults, **example.attributes}) for example in operator.examples]
    known = st.sampled_from([desc for desc in examples if not desc._violations_inside("", len(LEVEL_INDEX) - 1)])
    if draws is None or not fields:
        return known
    values = {}
    for field in fields:
        kind = type_of(field.type)
        entry = kind.random(field, draws)
        values[field.python] = st.lists(entry, max_size=3).map(tuple) if kind.array else entry
    random = st.fixed_dictionaries(values).map(lambda given: made(**given))
    level = draws.level
    return known | random.filter(lambda desc: not desc._violations_inside("", level))


def shown_in_words(value: object) -> str:
    """A desc as it is written in Python; anything else as messages say it."""
    return repr(value) if is_a(value, Nested) else show(value)


def under(field: Field, place: int) -> Field:
    """An entry of an array as a field."""
    return replace(field, python=f"{field.python}[{place}]")
