"""Properties that the results of a family's operators must have: a file for each family, found by its name.

A file has ``properties(operator)``, the properties that ``operators/test_properties.py`` looks at on any use that
``dmlcy.testing.cases`` draws. ``NEVER_LARGEST`` names the fields whose largest value no desc can have. Where a family
with loops has no file, ``test_files.py`` says so.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from family_files import PROPERTIES, has

from dmlcy._facts.rows import Operator

sys.path.insert(0, str(Path(__file__).parents[1] / "operators"))  # the helpers of the tests of operators

from .common import ALWAYS, Property


def _of(operator: Operator) -> Any:
    return import_module(f"{__name__}.{operator.family}")


def properties_of(operator: Operator) -> list[Property]:
    """The properties of every operator, then those of its family."""
    own: list[Property] = _of(operator).properties(operator)
    assert own, f"{operator.family} has no properties"
    return [*ALWAYS, *own]


def never_largest(operator: Operator) -> tuple[str, ...]:
    """The fields whose largest value no desc can have."""
    if not has(PROPERTIES, operator.family):
        return ()
    names: tuple[str, ...] = getattr(_of(operator), "NEVER_LARGEST", ())
    return names
