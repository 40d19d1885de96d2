"""The classes of the descs, each of which is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from dmlcy._generated.index import OPERATORS

if TYPE_CHECKING:
    from dmlcy._desc.operator_desc import OperatorDesc


def desc_class(name: str) -> type[OperatorDesc]:
    """The class of the descs of an operator."""
    _, desc, *_ = OPERATORS[name]
    return cast("type[OperatorDesc]", getattr(import_module(f"dmlcy._generated.descs.{name.lower()}"), desc))
