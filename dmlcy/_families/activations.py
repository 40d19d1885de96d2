"""Activations: operators that other operators apply to what they compute, as descs without tensors."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dmlcy._arithmetic import Arithmetic
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Rules
from dmlcy._families.given import Kernel


def activated(desc: OperatorDesc | None, values: Any, arithmetic: Arithmetic) -> Any:
    """An activation of numbers; without one the numbers themselves."""
    if desc is None:
        return values
    kernel = Kernel(desc.operator, Rules({}), arithmetic)
    family = import_module(f"dmlcy._families.{desc.operator.family}.family").FAMILY
    return family.applied(desc, kernel, values, arithmetic)
