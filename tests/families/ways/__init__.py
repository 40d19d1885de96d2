"""Uses that take the kernels of a family each of their ways: rows, lanes, blocks, patches, slabs, threads.

A family has a module of its name, with ``ways`` of an operator, ``kinds`` of data for it, its ``DTYPES``, and ``same``,
which compares a result with the reference. The cases that ``dmlcy.testing`` draws are too small for most of these ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from family_files import WAYS, having
from strategies import Array

from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import FAST
from dmlcy._field_types import type_of

Kind = Callable[[int, tuple[int, ...], str], Array]
NAMES = having(WAYS)
"""The operators with loops whose family has a module."""
FAMILIES = sorted({FAST[name].family for name in NAMES})


@dataclass(frozen=True)
class Way:
    """The sizes of the input, and what a call is given besides its tensors.

    ``large``: its reference takes too long for a default run. ``others``: more inputs, of the data type, or the others
    of an array of tensors.
    """

    sizes: tuple[int, ...]
    given: dict[str, Any]
    large: bool = False
    others: Callable[[str], tuple[Array, ...]] = lambda dtype: ()

    def __str__(self) -> str:
        return f"{self.sizes} {self.given}"


@dataclass(frozen=True)
class Use:
    """One way with data of one type and kind."""

    operator: Operator
    way: Way
    dtype: str
    kind: int
    seed: int

    def arrays(self, kind: int) -> list[Array]:
        """The inputs; of operators without any, none."""
        if first_tensor(self.operator).kind == "output":
            return []
        made = kinds_of(self.operator)[kind % len(kinds_of(self.operator))]
        return [made(self.seed, self.way.sizes, self.dtype), *self.way.others(self.dtype)]

    def __str__(self) -> str:
        return f"{self.operator.python} {self.way} {self.dtype} {self.kind}"


def inputs_of(operator: Operator, arrays: Sequence[Array]) -> tuple[Any, ...]:
    """The inputs of a call: an array of tensors has all the arrays."""
    return (tuple(arrays),) if type_of(first_tensor(operator).type).tensors else tuple(arrays)


def first_tensor(operator: Operator) -> Field:
    return next(field for field in operator.fields if field.kind in ("input", "output"))


def family(operator: Operator) -> Any:
    return import_module(f"{__name__}.{operator.family}")


def kinds_of(operator: Operator) -> list[Kind]:
    """Kinds of data: the last one is that with which layouts are compared."""
    kinds: list[Kind] = family(operator).kinds(operator)
    return kinds


def dtypes_of(operator: Operator) -> list[str]:
    """Data types of the first tensor; those of one size that are only moved are moved alike."""
    rows = {name.lower() for row in first_tensor(operator).dtypes for name in row.dtypes}
    named: tuple[str, ...] = family(operator).DTYPES
    return [dtype for dtype in named if dtype in rows]


def every_use(operator: Operator) -> list[Use]:
    """Each way with each data type, the kinds of data in turn."""
    return [
        Use(operator, way, dtype, (number + turn) % len(kinds_of(operator)), number)
        for number, way in enumerate(family(operator).ways(operator))
        for turn, dtype in enumerate(dtypes_of(operator))
    ]


def some_uses(operator: Operator) -> list[Use]:
    """The ways of the family dealt to its operators, each with one data type and kind of data."""
    mates = [one for one in FAST.values() if one.family == operator.family]
    dtypes, kinds = dtypes_of(operator), len(kinds_of(operator))
    return [
        Use(operator, way, dtypes[number % len(dtypes)], number % kinds, number)
        for number, way in enumerate(family(operator).ways(operator))
        if not way.large and number % len(mates) == mates.index(operator)
    ]
