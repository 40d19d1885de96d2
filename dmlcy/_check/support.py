"""The data types and ranks of the operators at each feature level: CheckFeatureSupport, without a device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, SupportsIndex, cast

from dmlcy._facts.levels import LEVEL, level_index
from dmlcy._facts.names import catalogue_name, known_operator
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import CATALOGUE, DTYPES, LEVEL_INDEX, LEVELS, OPERATORS, FeatureLevelName
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._field_types.values import Refused, as_dtype, as_int
from dmlcy._words.alike import did_you_mean
from dmlcy._words.notebook import Shown
from dmlcy._words.values import is_a, listing, show

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _DataType, _FeatureLevel

__all__ = ["SupportRow", "support_table", "supports"]

PREFIX: Final = "DML_TENSOR_DATA_TYPE_"


@dataclass(frozen=True, slots=True, order=True)
class SupportRow(Shown):
    """A tensor of an operator can have this data type and this many dimensions from a feature level on.

    Attributes
    ----------
    operator, tensor
        DirectML's name of the operator, Python name of the field.
    dtype, rank
        DirectML's short name of the data type, number of dimensions.
    since
        The first feature level that has it; all later ones do.
    """

    operator: str
    tensor: str
    dtype: str
    rank: int
    since: FeatureLevelName


class SupportTable(Shown, tuple[SupportRow, ...]):
    """The table, which a notebook shows with few rows."""

    __slots__ = ()


def support_table() -> tuple[SupportRow, ...]:
    """Every data type and number of dimensions of every tensor of every operator that has a spec, with its first level.

    A tensor can have them when the operator's other tensors have what theirs need: `supports` and this table know the
    tensors one by one, `check` knows a desc.

    Returns
    -------
    tuple of SupportRow
    """
    return _table()


@cache
def _table() -> tuple[SupportRow, ...]:
    return SupportTable(
        row for operator in OPERATORS.values() for field in _tensors(operator) for row in _rows(operator, field)
    )


def _rows(operator: Operator, field: Field) -> list[SupportRow]:
    first: dict[tuple[str, int], FeatureLevelName] = {}
    for level in range(LEVEL_INDEX[operator.since], len(LEVELS)):
        for dtype in dtypes_at(field, level):
            for rank in ranks_at(field, level):
                first.setdefault((dtype, rank), LEVELS[level].name)
    return [SupportRow(operator.name, field.python, dtype, rank, since) for (dtype, rank), since in first.items()]


def supports(
    operator: str,
    *,
    dtype: _DataType | None = None,
    rank: SupportsIndex | None = None,
    level: _FeatureLevel | None = None,
    tensor: str | None = None,
) -> bool:
    """Whether a feature level has an operator, with a data type and a number of dimensions.

    Parameters
    ----------
    operator
        PADDING1, DML_OPERATOR_PADDING1, padding1 or Padding1. Of an operator without a spec only the level that
        brought it is known.
    dtype
        TensorDataType, its short or full DirectML spelling, or a NumPy data type; None: any.
    rank
        Number of dimensions; None: any.
    level
        Such as ``"3_0"``; None: the level in force.
    tensor
        The field that ``dtype`` and ``rank`` are about, by its Python or DirectML name; None: the first tensor of the
        desc, which is the input of most operators.

    Returns
    -------
    bool

    Raises
    ------
    ModelError
        No operator has that name, or it has no spec and ``dtype``, ``rank`` or ``tensor`` is given.
    ValueError
        There is no such feature level, data type or tensor.
    TypeError
        The rank is no int.

    Examples
    --------
    >>> import dmlcy as dml
    >>> dml.supports("PADDING1", dtype="INT8", rank=5, level="5_0")
    True
    >>> dml.supports("PADDING1", level="4_1")
    False
    """
    at = LEVEL.get() if level is None else level_index(level)
    name = catalogue_name(operator)
    if name in CATALOGUE and name not in OPERATORS and dtype is None and rank is None and tensor is None:
        return LEVEL_INDEX[CATALOGUE[name].since] <= at
    known = known_operator(operator)
    field = _field(known, tensor)
    wanted = None if dtype is None else _dtype(dtype)
    dimensions = None if rank is None else _rank(rank)
    return (
        LEVEL_INDEX[known.since] <= at
        and (wanted is None or wanted in dtypes_at(field, at))
        and (dimensions is None or dimensions in ranks_at(field, at))
    )


def _tensors(operator: Operator) -> list[Field]:
    return [field for field in operator.fields if field.kind != "attribute"]


def _field(operator: Operator, name: object) -> Field:
    tensors = _tensors(operator)
    if name is None:
        return tensors[0]
    known = {spelling: field for field in tensors for spelling in (field.python, field.name)}
    if is_a(name, str) and name in known:
        return known[name]
    raise ValueError(
        f"{operator.name} has no tensor {show(name)}. It has {listing([field.python for field in tensors])}."
    )


def _dtype(dtype: object) -> str:
    known = as_dtype(dtype)
    if known is not None:
        return known.name
    name = str.__str__(cast(str, dtype)).removeprefix(PREFIX) if is_a(dtype, str) else ""
    raise ValueError(f"unknown data type {show(dtype)}. {did_you_mean(name, list(DTYPES))}".rstrip())


def _rank(rank: object) -> int:
    try:
        return as_int(rank)
    except Refused:
        raise TypeError(f"a rank must be an int, not {show(rank)}") from None
