"""The warning about a part of the package that goes in a later version."""

from __future__ import annotations

import warnings


def warn_deprecated(part: str, since: str, until: str, instead: str) -> None:
    """Warns the caller of the function that calls this one; docs/versions.md has the rules.

    Parameters
    ----------
    part
        The deprecated thing, as its users call it.
    since, until
        The version that deprecates the part, and the one that lacks it.
    instead
        A sentence that says what to use.
    """
    text = f"{part} is deprecated since dmlcy {since}, and goes in dmlcy {until}. {instead}"
    warnings.warn(text, DeprecationWarning, stacklevel=3)
