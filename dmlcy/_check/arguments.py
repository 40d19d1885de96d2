"""The messages on arguments that the function of an operator does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dmlcy._facts.tables import NAMES, OPERATORS
from dmlcy._facts.words import versions
from dmlcy._field_types import type_of
from dmlcy._words.alike import closest, having

_ELSEWHERE: Final = {
    "axis": ("axes",),
    "dim": ("axis", "axes"),
    "kernel_size": ("window_size", "window_sizes"),
    "groups": ("group_count",),
    "ceil_mode": ("output_sizes",),
}
"""Keywords of NumPy and PyTorch whose names here are other words, or words that only look alike."""


def unexpected(function: str, name: str, names: tuple[str, ...]) -> str:
    """The message of Python about an unknown keyword, with the names that were meant, or the functions that have it."""
    message = f"{function}() got an unexpected keyword argument {name!r}"
    wanted = _ELSEWHERE.get(name, ())
    meant = [one for one in wanted if one in names]
    meant = meant or having(name, names)
    if not meant and not wanted:
        meant = [close for close in (closest(name, names),) if close is not None]
    if meant:
        listed = f"{', '.join(meant[:-1])} or {meant[-1]}" if len(meant) > 1 else meant[0]
        return f"{message}: did you mean {listed}?"
    others = versions(_operator_of(function))[::-1]
    for word in (name, *wanted):
        owners = [other for other in others if word in {field.python for field in OPERATORS[other].fields}]
        if owners:
            listed = " and ".join(f"{OPERATORS[one].python}()" for one in owners)
            return f"{message}: {listed} {'has' if len(owners) == 1 else 'have'} {'it' if word == name else word}"
    return message


def too_many(function: str, count: int, rest: str = ", ...") -> str | None:
    """The message about more inputs than there are, where one of them is an array of tensors; None for others.

    ``rest``: what the example of a call has behind the inputs.
    """
    inputs = [field for field in OPERATORS[_operator_of(function)].fields if field.kind == "input"]
    arrays = [field.python for field in inputs if type_of(field.type).tensors]
    if not arrays:
        return None
    written = ", ".join("[a, b]" if field.python in arrays else field.python for field in inputs)
    return (
        f"{function}() takes {' and '.join(arrays)} as one sequence, and got {count} positional arguments: "
        f"write {function}({written}{rest})"
    )


def completed(function: str, message: str, positional: Sequence[str], given: int, lacking: Sequence[str]) -> str:
    """The message of Python about too many inputs or missing keywords, with what to write.

    ``positional``: the inputs; ``given``: how many arguments were given by position; ``lacking``: missing keywords.
    """
    operator = OPERATORS[_operator_of(function)]
    fields = (*operator.fields, *operator.chosen)
    if given > len(positional):
        attributes = [field.python for field in fields if field.kind in ("attribute", "chosen") and field.value is None]
        needed = [name for name in lacking if name in attributes] or attributes[:1]
        sized = [field.sized_by for field in fields if field.sized_by and type_of(field.type).tensors]
        written = ", ".join((*positional, *(f"{name}=..." for name in (*needed, *sized))))
        return f"{message}: attributes have names, write {function}({written})" if needed else message
    docs = [f"{name}: {operator.docs[name]}" for name in lacking if name in operator.docs]
    return ". ".join((message, " ".join(docs))) if docs else message


def _operator_of(function: str) -> str:
    return next(name for name, python in NAMES.items() if python == function)
