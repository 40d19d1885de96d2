"""The families: a folder for each, found by its name, with its reference and how dask may cut its axes."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from dmlcy._facts.rows import Operator
from dmlcy._families.base import Family
from dmlcy._families.windows import WindowRoles

__all__ = ["Family", "family_of", "window_of"]


@cache
def _family(name: str) -> Family:
    family: Family = import_module(f"{__name__}.{name}.family").FAMILY
    return family


def family_of(operator: Operator) -> Family:
    """The family of an operator; its module is imported on first use."""
    return _family(operator.family)


def window_of(operator: Operator) -> WindowRoles | None:
    """The names that say how a window slides over the input of an operator that runs; None if no window does."""
    return family_of(operator).window(operator) if operator.runs else None
