"""The classes of the descs, each of which is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dmlcy._generated.index import OPERATORS


def desc_class(name: str) -> Any:
    """The class of the descs of an operator."""
    _, desc, *_ = OPERATORS[name]
    return getattr(import_module(f"dmlcy._generated.descs.{name.lower()}"), desc)
