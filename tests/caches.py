"""The caches of the package's tables, for tests that replace the operators."""

from __future__ import annotations

import functools
import sys

KEEPING = type(functools.cache(lambda: None))


def clear() -> None:
    """Forgets what the modules of the package found in the tables and keep (functools.cache)."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "dmlcy":
            for value in list(vars(module).values()):
                if isinstance(value, KEEPING):
                    value.cache_clear()
