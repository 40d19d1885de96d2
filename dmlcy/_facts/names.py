"""Operators by name, in every spelling that DirectML and Python have for it, and the one refusal of what is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NoReturn, cast

from dmlcy._errors import Violation, raise_violations
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import CATALOGUE, ERRORS, NAMES, OPERATORS
from dmlcy._facts.words import operators_called, page_of, versions
from dmlcy._words.alike import did_you_mean
from dmlcy._words.values import is_a, plain, show

__all__ = [
    "PREFIX",
    "catalogue_name",
    "in_another_version",
    "known_operator",
    "known_operator_name",
    "must_run",
    "not_runnable",
    "refuse",
    "refuse_name",
    "refuse_to_run",
]

PREFIX: Final = "DML_OPERATOR_"
ONLY_LISTED: Final = "It is only listed: no spec describes it."
NOT_RUNNABLE: Final = "Its desc can be checked (dmlcy.check, dmlcy lint), explained and exported."
LONGEST: Final = 100
"""Characters of a name that are looked at."""


def known_operator(name: object) -> Operator:
    """The operator of that name: PADDING1, DML_OPERATOR_PADDING1, padding1 or Padding1.

    Raises
    ------
    ModelError
        No operator has that name.
    OperatorNotRunnableError
        No spec describes the operator.
    """
    return OPERATORS[known_operator_name(name)]


def known_operator_name(name: object) -> str:
    """DirectML's name of the operator of that name, as ``known_operator`` takes it; the same errors."""
    known = catalogue_name(name)
    if known is None or known not in OPERATORS:
        refuse_name(name, known)
    return known


def catalogue_name(name: object) -> str | None:
    """DirectML's name of the operator, of any state, that one of its spellings gives; None where there is none."""
    return _SPELLINGS.get(_text(name).lower())


def refuse_name(name: object, known: str | None) -> NoReturn:
    """Raises OperatorNotRunnableError if the operator ``known`` is only listed, ModelError if nothing has that name."""
    if known in CATALOGUE:
        refuse("not-runnable", known, ONLY_LISTED, operator=known)
    text = _text(name)
    called = operators_called(text.removeprefix(PREFIX))
    hint = f"DirectML calls it {' or '.join(called)}." if called else page_of(text) or _alike(text)
    refuse("unknown", str(plain(text.removeprefix(PREFIX))), hint, actual=show(name))


def _alike(text: str) -> str:
    name, known = text.upper().removeprefix(PREFIX), list(CATALOGUE)
    if not text:
        return ""
    return did_you_mean(name, known) or did_you_mean(re.sub("^DML_[A-Z]+_", "", name), known)  # DML_OPERTOR_PADDING1


def in_another_version(operator: Operator, member: str) -> str:
    """The hint that other versions of the operator have a member which this one has not; nothing where none has."""
    others = [OPERATORS[name] for name in versions(operator.name)]
    owners = [f"{PREFIX}{other.name}" for other in others if member in (field.name for field in other.fields)]
    return f"{' and '.join(owners)} {'has' if len(owners) == 1 else 'have'} it." if owners else ""


def not_runnable(name: str) -> Violation:
    """The violation of a call of an operator that is described only."""
    return _violation("not-runnable", name, NOT_RUNNABLE, operator=name)


def refuse_to_run(name: str) -> NoReturn:
    """Raises OperatorNotRunnableError: the operator is described only."""
    raise_violations([not_runnable(name)])


def must_run(operator: Operator) -> None:
    """Raises OperatorNotRunnableError if the operator is described only."""
    if not operator.runs:
        refuse_to_run(operator.name)


def refuse(what: str, name: str, hint: str = "", /, **words: str) -> NoReturn:
    """Raises the error DML-MODEL-operator-<what>, with the words put into its message."""
    raise_violations([_violation(what, name, hint, **words)])


def refuse_model(identifier: str, **words: str) -> NoReturn:
    """Raises an error about model files, or about what they cannot hold."""
    raise_violations([_by_id(identifier, "", "", **words)])


def _violation(what: str, name: str, hint: str, /, **words: str) -> Violation:
    return _by_id(f"DML-MODEL-operator-{what}", name, hint, **words)


def _by_id(identifier: str, name: str, hint: str, /, **words: str) -> Violation:
    text = ERRORS[identifier]
    return Violation(
        id=text.id,
        operator=name,
        field=None,
        member=None,
        index=None,
        message=text.message.format(**words),
        rule=None,
        values=dict(words),
        hint=hint,
        fix=None,
        level=None,
        provenance="documented",
        error=text.error,
    )


def _text(name: object) -> str:
    """The name, cut; nothing for what is no text."""
    return str.__getitem__(cast(str, name), slice(0, LONGEST)) if is_a(name, str) else ""


def _spellings() -> Iterator[tuple[str, str]]:
    for name in CATALOGUE:
        for spelling in (name, name.replace("_", ""), f"{PREFIX}{name}", f"DML_{name}_OPERATOR_DESC"):
            yield spelling.lower(), name
    for name, python in NAMES.items():
        yield python.lower(), name


_SPELLINGS: Final = dict(_spellings())
