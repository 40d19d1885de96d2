"""Descs of operators as Python objects, and DirectML's JSON spelling of them: the base of the generated classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NoReturn, Self, cast

from dmlcy._check.checker import Check
from dmlcy._errors import Violation
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.names import PREFIX, refuse, refuse_name
from dmlcy._facts.rows import MISSING, Field, Operator
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.scale_bias import ScaleBias
from dmlcy._field_types.size_2d import Size2D
from dmlcy._field_types.tensor_desc import TensorDesc, spelled
from dmlcy._field_types.values import DEEPEST, STRUCTS, Nested, key
from dmlcy._words.notebook import Shown
from dmlcy._words.values import is_a, printable, show

__all__ = ["OperatorDesc", "ScaleBias", "Size2D"]


class OperatorDesc(Shown, Nested):
    """One use of an operator: its tensors' descs and its attributes. Immutable.

    The constructor takes anything: what it understands it normalises, what follows from other fields it fills in, and
    the rest it keeps as it is, for ``check`` to report.
    """

    operator: ClassVar[Operator]

    _names: tuple[str, ...]
    _missing: frozenset[str]  # fields that a JSON object lacks
    _unknown: dict[str, object]  # members of a JSON object that are none
    _literal: bool  # from JSON, where an int does not fill an array
    _given: frozenset[str]  # fields whose values do not follow from others
    _valid_levels: set[int]

    def __init__(self, **values: object) -> None:
        self._set(values)

    def _set(
        self,
        values: Mapping[str, object],
        *,
        missing: Iterable[str] = (),
        unknown: Mapping[str, object] | None = None,
        literal: bool = False,
    ) -> None:
        state = self.__dict__
        state["_names"] = tuple(field.python for field in self.operator.fields)
        state["_missing"] = frozenset(missing)
        state["_unknown"] = dict(unknown or {})
        state["_literal"] = literal
        chosen = (field.python for field in self.operator.fields if field.kind == "attribute" and field.value is None)
        state["_given"] = frozenset((*chosen, *(name for name in self._names if values.get(name) is not None)))
        found = self._check({name: values[name] for name in self._names if name in values}, NEWEST)
        state["_valid_levels"] = set() if found.violations else {NEWEST}
        inner = [one for value in found.resolved.values() for one in (value if type(value) is tuple else (value,))]
        state["_nesting"] = 1 + max((one._nesting for one in inner if is_a(one, OperatorDesc)), default=0)
        state.update({name: None if value is MISSING else value for name, value in found.resolved.items()})

    def _check(self, values: dict[str, object], level: int) -> Check:
        given = values | dict.fromkeys(self._missing, MISSING)
        filled = frozenset(self._names) - self._given
        return Check(
            self.operator, given, level, call=False, literal=self._literal, unknown=self._unknown, filled=filled
        )

    def _violations(self, level: int) -> list[Violation]:
        """The violations that ``check`` returns. A valid desc holds immutable values only, so that it stays valid."""
        if level in self._valid_levels:
            return []
        found = self._check(self._values(), level).violations
        if not found:
            self._valid_levels.add(level)
        return found

    def _violations_inside(self, path: str, level: int) -> list[Violation]:
        return Check(
            self.operator,
            self._values() | dict.fromkeys(self._missing, MISSING),
            level,
            call=False,
            literal=self._literal,
            unknown=self._unknown,
            path=path,
        ).violations

    def _given_tensors(self) -> list[str]:
        fields = (field.python for field in self.operator.fields if field.kind != "attribute")
        return [name for name in fields if self.__dict__[name] is not None]

    def _warnings(self, level: int) -> list[Violation]:
        """The warnings that ``check`` returns beside errors, where it is asked to."""
        observed = any(rule.severity == "warning" for rule in self.operator.rules)
        return self._check(self._values(), level).warnings if observed else []

    def _values(self) -> dict[str, object]:
        """Values by the Python name of the field."""
        return {name: self.__dict__[name] for name in self._names}

    @classmethod
    def from_dict(cls, desc: Mapping[str, object], *, ignore_unknown: bool = False) -> Self:
        """The desc from ``{"type": "DML_OPERATOR_...", "desc": {...}}``, as to_dict writes it.

        Parameters
        ----------
        desc
            Every field of the struct must be there; a missing one, or a member that the struct has not, is kept for
            ``check`` to report. A scalar union is a number. As DxDispatch reads it (observed), it may be an object of
            the one member that fits the data type, ``{"Int32": 7}``. For FLOAT16, ``{"UInt16": 15360}`` holds the bits.
            to_dict writes a number.
        ignore_unknown
            Drop members that the struct has not, as DxDispatch does.

        Raises
        ------
        ModelError
            The operator is not known.
        """
        name = _operator_name(desc)
        if not is_a(desc.get("desc"), dict):
            refuse("form", name, expected="an object with the members type and desc", actual=show(desc.get("desc")))
        members = cast(dict[str, object], desc["desc"])
        owner = getattr(cls, "operator", None)
        if owner is not None and owner.name != name:
            refuse("form", name, expected=f"one of {owner.name}", actual=f"one of {name}")
        return cast(Self, cls._class_of(name)._of_members(members, ignore_unknown, tensors=True))

    @classmethod
    def _of_members(cls, members: Mapping[str, object], ignore_unknown: bool, *, tensors: bool) -> Self:
        """The desc from the members of its struct; ``tensors``: those may not be left out."""
        result = object.__new__(cls)
        fields = cls.operator.fields
        known = {field.name for field in fields}
        unknown = {str(member): value for member, value in members.items() if member not in known}
        needed = [field for field in fields if not field.optional and (tensors or field.kind == "attribute")]
        given = [field for field in fields if field.name in members]
        result._set(
            {f.python: type_of(f.type).from_json(f, members[f.name], ignore_unknown) for f in given},
            missing=[field.python for field in needed if members.get(field.name) is None],
            unknown={} if ignore_unknown else unknown,
            literal=True,
        )
        return result

    def to_dict(self) -> dict[str, Any]:
        """DirectML's JSON spelling, every field of the struct in order."""
        members = {
            field.name: _to_json(field, self.__dict__[field.python])
            for field in self.operator.fields
            if field.python not in self._missing
        }
        return {"type": f"{PREFIX}{self.operator.name}", "desc": members | self._unknown}

    def _key(self) -> object:
        if self._nesting > DEEPEST:
            return (type(self), id(self))
        values = {**self._values(), **self._unknown}
        return (type(self), self._missing, tuple((name, key(value)) for name, value in values.items()))

    def __eq__(self, other: object) -> bool:
        if not is_a(other, OperatorDesc):
            return NotImplemented
        return self._key() == cast(OperatorDesc, other)._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a desc cannot be changed: {type(self).__name__}.{name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a desc cannot be changed: {type(self).__name__}.{name}")

    def __repr__(self) -> str:
        if self._nesting > DEEPEST:
            return f"{type(self).__name__}(...)"
        given = [f"{name}={_repr(self.__dict__[name])}" for name in self._names if name not in self._missing]
        return f"{type(self).__name__}({', '.join(given)})"


def _repr(value: object) -> str:
    if is_a(value, TensorDesc, OperatorDesc):
        return repr(value)
    if type(value) is tuple and value and all(is_a(entry, TensorDesc, OperatorDesc) for entry in value):
        return f"({', '.join(map(repr, value))}{',' if len(value) == 1 else ''})"
    if type(value) is tuple or type(value) in STRUCTS:
        entries = cast(tuple[object, ...], value)
        return repr(tuple(entries)) if all(map(printable, entries)) else spelled(value)
    return spelled(value)


def _operator_name(desc: object) -> str:
    """The name of an operator that has a spec; ModelError for everything else."""
    expected = "an object with the members type and desc"
    if not is_a(desc, dict):
        refuse("form", "", expected=expected, actual=show(desc))
    if "type" not in cast(dict[str, object], desc):
        refuse("form", "", expected=expected, actual="an object without type")
    kind = cast(dict[str, object], desc).get("type")
    if not is_a(kind, str):
        refuse("form", "", expected=expected, actual=f"one of type {show(kind)}")
    name = cast(str, kind).removeprefix(PREFIX)
    if name in OPERATORS:
        return name
    refuse_name(kind, name)


def _to_json(field: Field, value: object) -> object:
    return value.to_dict() if type(value) is TensorDesc else type_of(field.type).to_json(value)
