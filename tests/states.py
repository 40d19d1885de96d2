"""Operators that do not run, for the tests of what is said of them: no operator is named."""

from __future__ import annotations

from dmlcy._facts.tables import OPERATORS, RUNNABLE

DESCRIBED = [name for name in OPERATORS if name not in RUNNABLE]
"""They have a spec and no kernel."""
