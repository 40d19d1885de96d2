"""What is said of arguments that the function of an operator does not have."""

from __future__ import annotations

from string import digits

from dmlcy._facts.tables import NAMES, OPERATORS
from dmlcy._field_types import type_of
from dmlcy._words.alike import closest, having


def unexpected(function: str, name: str, names: tuple[str, ...]) -> str:
    """The message of Python about an unknown keyword, with the names that were meant, or the functions that have it."""
    message = f"{function}() got an unexpected keyword argument {name!r}"
    meant = having(name, names) or [close for close in (closest(name, names),) if close is not None]
    if meant:
        listed = f"{', '.join(meant[:-1])} or {meant[-1]}" if len(meant) > 1 else meant[0]
        return f"{message}: did you mean {listed}?"
    owners = [other for other in _versions(function) if name in {field.python for field in OPERATORS[other].fields}]
    have = "has" if len(owners) == 1 else "have"
    return f"{message}: {' and '.join(f'{OPERATORS[one].python}()' for one in owners)} {have} it" if owners else message


def too_many(function: str, count: int) -> str | None:
    """The message about more inputs than there are, where one of them is an array of tensors; None for others."""
    inputs = [field for field in OPERATORS[_operator_of(function)].fields if field.kind == "input"]
    arrays = [field.python for field in inputs if type_of(field.type).tensors]
    if not arrays:
        return None
    written = ", ".join("[a, b]" if field.python in arrays else field.python for field in inputs)
    return (
        f"{function}() takes {' and '.join(arrays)} as one sequence, and got {count} positional arguments: "
        f"write {function}({written}, ...)"
    )


def _operator_of(function: str) -> str:
    return next(name for name, python in NAMES.items() if python == function)


def _versions(function: str) -> list[str]:
    """The other versions of the operator of a function, the newest first."""
    own = _operator_of(function)
    stem = own.rstrip(digits)
    return sorted((name for name in OPERATORS if name.rstrip(digits) == stem and name != own), reverse=True)
