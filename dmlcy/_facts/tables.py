"""Where the package meets what is generated; other private modules import it from here only.

The tables, the function, the desc class and the compiled class of an operator are imported when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dmlcy._facts.rows import Operator
from dmlcy._generated import index
from dmlcy._generated.enums import ENUMS, EnumInfo, FeatureLevel, TensorDataType, TensorFlags
from dmlcy._generated.facts import CATALOGUE, DTYPES, ERRORS, LEVELS

__all__ = [
    "CATALOGUE", "DTYPES", "ENUMS", "ERRORS", "LEVELS", "LEVEL_INDEX", "NAMES", "OPERATORS", "RUNNABLE",
    "EnumInfo", "FeatureLevel", "FeatureLevelName", "TensorDataType", "TensorFlags",
    "compiled_class", "desc_class", "function",
]  # fmt: skip

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _FeatureLevelName as FeatureLevelName
else:
    FeatureLevelName: TypeAlias = str

LEVEL_INDEX: Final[dict[str, int]] = {level.name: index for index, level in enumerate(LEVELS)}
NAMES: Final = {name: python for name, (python, *_) in index.OPERATORS.items()}
"""The operators that are described, and their names in Python: to ask for these loads no table."""


class _Operators(Mapping[str, Operator]):
    """The operators that are described, by name; the module of an operator is loaded when it is first asked for."""

    def __getitem__(self, name: str) -> Operator:
        if name not in index.OPERATORS:
            raise KeyError(name)
        operator: Operator = import_module(f"dmlcy._generated.operators.{name.lower()}").OPERATOR
        return operator

    def __contains__(self, name: object) -> bool:
        return name in index.OPERATORS

    def __iter__(self) -> Iterator[str]:
        return iter(index.OPERATORS)

    def __len__(self) -> int:
        return len(index.OPERATORS)


OPERATORS: Final[Mapping[str, Operator]] = _Operators()
RUNNABLE: Final = tuple(name for name, (*_, state) in index.OPERATORS.items() if state != "described")
"""The operators that can be called; of the others there are descs only."""


def function(name: str) -> Any:
    """The function of an operator."""
    python, *_ = index.OPERATORS[name]
    return getattr(import_module(f"dmlcy._generated.functions.{name.lower()}"), python)


def compiled_class(name: str) -> Any:
    """The class of the compiled operators of that name."""
    _, desc, family, *_ = index.OPERATORS[name]
    return getattr(import_module(f"dmlcy._generated.{family}"), f"{desc}Operator")


def desc_class(name: str) -> Any:
    """The class of the descs of an operator."""
    _, desc, *_ = index.OPERATORS[name]
    return getattr(import_module(f"dmlcy._generated.descs.{name.lower()}"), desc)
