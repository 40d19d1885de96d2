"""A problem of a serialized graph: one violation, with its byte."""

from __future__ import annotations

from typing import NoReturn

from dmlcy._errors import Violation, raise_violations
from dmlcy._facts.tables import ERRORS
from dmlcy._words.values import plain


def refuse(slug: str, byte: int | None, **words: object) -> NoReturn:
    """Raises DML-GRAPH-file-<slug>; ``byte``: where in the file, None where there is no file yet."""
    text = ERRORS[f"DML-GRAPH-file-{slug}"]
    at = {} if byte is None else {"byte": byte}
    violation = Violation(
        id=text.id,
        operator="GRAPH",
        field=None,
        member=None,
        index=None,
        message=text.message.format(**at, **words),
        rule=None,
        values={name: plain(value) for name, value in {**at, **words}.items()},
        hint="",
        fix=None,
        level=None,
        provenance="documented",
        error=text.error,
    )
    raise_violations([violation])
