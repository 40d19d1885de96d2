"""Where the package meets what is generated; other private modules import it from here only.

The tables of an operator are imported when they are asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeAlias

from dmlcy._facts.rows import Operator
from dmlcy._generated import index
from dmlcy._generated.enums import ENUMS, EnumInfo, FeatureLevel, TensorDataType, TensorFlags
from dmlcy._generated.facts import CATALOGUE, DTYPES, ERRORS, LEVELS, NO_DTYPE

__all__ = [
    "CATALOGUE", "DTYPES", "ENUMS", "ERRORS", "FAST", "IN_CHUNKS", "LEVELS", "LEVEL_INDEX", "NAMES", "NO_DTYPE",
    "OPERATORS", "RUNNABLE", "STATES",
    "EnumInfo", "FeatureLevel", "FeatureLevelName", "TensorDataType", "TensorFlags",
    "names_elsewhere", "onnx_names", "state_of",
]  # fmt: skip

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _FeatureLevelName as FeatureLevelName
else:
    FeatureLevelName: TypeAlias = str

LEVEL_INDEX: Final[dict[str, int]] = {level.name: index for index, level in enumerate(LEVELS)}
NAMES: Final = {name: python for name, (python, *_) in index.OPERATORS.items()}
"""The operators that have a spec, and their names in Python: to ask for these loads no table."""


class _Operators(Mapping[str, Operator]):
    """Operators of some states, by name; the module of an operator is loaded when it is first asked for."""

    def __init__(self, *states: str) -> None:
        self.states = states

    def __getitem__(self, name: str) -> Operator:
        if index.OPERATORS[name][4] not in self.states:
            raise KeyError(name)
        module = f"dmlcy._generated.operators.{name.lower()}"
        known = getattr(sys.modules.get(module), "OPERATOR", None)  # in a tenth of the time of import_module
        operator: Operator = known or import_module(module).OPERATOR
        return operator

    def __contains__(self, name: object) -> bool:
        return name in index.OPERATORS and index.OPERATORS[name][4] in self.states

    def __iter__(self) -> Iterator[str]:
        return (name for name, (*_, state) in index.OPERATORS.items() if state in self.states)

    def __len__(self) -> int:
        return sum(1 for _ in self)


STATES: Final = index.STATES
"""How far dmlcy has an operator, from the least on, and what it can do then."""

OPERATORS: Final[Mapping[str, Operator]] = _Operators("described", "reference", "fast")
"""The operators that have a spec: their descs are checked, explained and exported."""

RUNNABLE: Final[Mapping[str, Operator]] = _Operators("reference", "fast")
"""The operators that run."""

FAST: Final[Mapping[str, Operator]] = _Operators("fast")
"""The operators that loops compute; the reference computes the others."""


IN_CHUNKS: Final = index.IN_CHUNKS
"""The operators that have a function for dask arrays."""


def state_of(name: str) -> str:
    """The state of an operator of the catalogue: one of STATES."""
    return index.OPERATORS[name][4] if name in index.OPERATORS else next(iter(STATES))


def onnx_names() -> ModuleType:
    """The module of ONNX's operators by the operators that they become, imported when it is needed."""
    return import_module("dmlcy._generated.onnx_names")


def names_elsewhere() -> ModuleType:
    """The module of the names that other libraries and everyday language have for operators."""
    return import_module("dmlcy._generated.words")
