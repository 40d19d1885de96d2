"""The warnings of ``dmlcy run``."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from dmlcy._frontends.dxdispatch.problems import Problem

QUIET = frozenset({"DML-MODEL-comment", "DML-MODEL-trailing-comma", "DML-MODEL-after-root"})


def warn(warnings: Iterable[Problem]) -> None:
    """Print the warnings about a file, but not that it is no strict JSON."""
    for warning in warnings:
        if warning.violation.id not in QUIET:
            print(warning, file=sys.stderr)
