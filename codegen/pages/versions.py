"""Which versions of an operator give the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..model import Operator
from ..plan.data import Newer
from .markdown import code, level_link, page_link
from .values import literal


def versions(operator: Operator, newer: Iterable[Newer]) -> Iterator[str]:
    """A sentence for each older version, and for each newer one."""
    for same in operator.same:
        result = f"the result equals the result of {page_link(same.older)}{_with(same.theirs, ' with ')}, bit for bit."
        yield _of(same.given, result)
    for version in newer:
        same, level = version.same, level_link(version.since)
        this = _with(same.theirs, " as this operator with ")
        result = f"{page_link(version.name)}, from level {level} on, gives the same result{this}, bit for bit."
        yield _of(same.given, result)


def _with(given: Mapping[str, object], before: str) -> str:
    """The values of attributes; nothing if there are none."""
    values = ", ".join(code(f"{name}={literal(value)}") for name, value in given.items())
    return before + values if values else ""


def _of(given: Mapping[str, object], said: str) -> str:
    """The remark on the results where the attributes have these values."""
    return f"{_with(given, 'With ')}, {said}" if given else said[0].upper() + said[1:]
