"""Where the package meets what is generated; other private modules import it from here only."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dmlcy._generated.enums import ENUMS, EnumInfo, FeatureLevel, TensorDataType, TensorFlags
from dmlcy._generated.operators import CATALOGUE, DTYPES, ERRORS, LEVELS, OPERATORS

__all__ = [
    "CATALOGUE", "DTYPES", "ENUMS", "ERRORS", "LEVELS", "LEVEL_INDEX", "OPERATORS",
    "EnumInfo", "FeatureLevel", "FeatureLevelName", "TensorDataType", "TensorFlags",
    "compiled", "load_descs",
]  # fmt: skip

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _FeatureLevelName as FeatureLevelName
else:
    FeatureLevelName: TypeAlias = str

LEVEL_INDEX: Final[dict[str, int]] = {level.name: index for index, level in enumerate(LEVELS)}


def compiled() -> dict[str, Any]:
    """The classes of compiled operators, by operator name."""
    table: dict[str, Any] = import_module("dmlcy._generated.api").COMPILED
    return table


def load_descs() -> ModuleType:
    """The module of the generated desc classes, which register themselves."""
    return import_module("dmlcy._generated.desc")
