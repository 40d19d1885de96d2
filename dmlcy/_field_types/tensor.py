"""A tensor: an input or an output. The pass over a desc takes its tensors together, in dmlcy._check.tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from dmlcy._facts.rows import DtypeRow, Field, Operator, RankRow
from dmlcy._facts.tables import DTYPES, ENUMS, LEVEL_INDEX, LEVELS
from dmlcy._field_types.base import Break, Broken, FieldType
from dmlcy._field_types.cpp import MARGIN, Source, array
from dmlcy._field_types.enum import in_json
from dmlcy._field_types.integers import OUTSIDE, UINT_MAX
from dmlcy._field_types.tensor_desc import MEMBERS, TensorDesc

EXPECTED: Final = "a TensorDesc"


def dtypes_at(field: Field, level: int) -> list[str]:
    """The data types that a tensor can have at the level of that position."""
    return list(_dtypes(field.dtypes, level))


def has_dtype(field: Field, name: str, level: int) -> bool:
    """Whether a tensor can have a data type at the level of that position."""
    return name in _dtypes(field.dtypes, level)


@cache
def _dtypes(rows: tuple[DtypeRow, ...], level: int) -> tuple[str, ...]:
    names = [name for row in rows if LEVEL_INDEX[row.since] <= level for name in row.dtypes] if rows else list(DTYPES)
    return tuple(name for name in dict.fromkeys(names) if LEVEL_INDEX[DTYPES[name].since] <= level)


def ranks_at(field: Field, level: int) -> list[int]:
    """The numbers of dimensions that a tensor can have at the level of that position."""
    return list(_ranks(field.ranks, level))


def has_rank(field: Field, rank: int, level: int) -> bool:
    """Whether a tensor can have a number of dimensions at the level of that position."""
    return rank in _ranks(field.ranks, level)


@cache
def _ranks(rows: tuple[RankRow, ...], level: int) -> tuple[int, ...]:
    most = LEVELS[level].max_rank
    if not rows:
        return tuple(range(1, most + 1))
    rows = tuple(row for row in rows if LEVEL_INDEX[row.since] <= level)
    return tuple(sorted({rank for row in rows for rank in range(row.min, min(row.max, most) + 1)}))


class Tensor(FieldType):
    """DML_TENSOR_DESC."""

    directml = "tensor"
    members = tuple(MEMBERS)

    def words(self, role: str, length: str | None) -> str:
        return f"{role} {self.directml}"

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        return TensorDesc.from_dict(value, ignore_unknown=ignore_unknown) if type(value) is dict else value

    def in_json(self, expected: str) -> str:
        if expected == EXPECTED:
            return "an object with the members DataType and Sizes"
        return in_json(expected, ENUMS["DML_TENSOR_FLAGS"])

    def json_member(self, member: str) -> str | None:
        return "Type" if member == "type" else next((name for name in MEMBERS if MEMBERS[name] == member), None)

    def cpp(self, name: str, value: Mapping[str, Any], dtype: str | None, source: Source) -> str:
        source.lines.append(f"const DML_TENSOR_DESC {name} = {self.cpp_tensor(name, value, source)};")
        return f"&{name}"

    def cpp_tensor(self, name: str, value: Mapping[str, Any], source: Source) -> str:
        """A DML_TENSOR_DESC, from its members in JSON; the buffer that it points to is added."""
        pointers = []
        for member in ("Sizes", "Strides"):
            entries = value[member]
            if entries is not None:
                source.lines.append(array("UINT", f"{name}{member}", list(map(str, entries))))
            pointers.append("nullptr" if entries is None else f"{name}{member}")
        total = value["TotalTensorSizeInBytes"]
        numbers = [str(value["DimensionCount"]), *pointers, f"{total}u" if total >= 2**63 else str(total)]
        values = ", ".join([value["DataType"], value["Flags"], *numbers, str(value["GuaranteedBaseOffsetAlignment"])])
        source.lines += [f"const DML_BUFFER_TENSOR_DESC {name}Buffer = {{", f"{MARGIN}{values}}};"]
        return f"{{DML_TENSOR_TYPE_BUFFER, &{name}Buffer}}"

    def directmlx(self, name: str, value: object, source: Source) -> str:
        return super().directmlx(name, value, source) if value is None else name

    def mistyped(self, b: Broken, field: Field, other: object) -> object:
        return b.of(
            b.with_(field, other), b.tensor(field, sizes=0.5), b.tensor(field, strides=("x",)),
            b.tensor(field, guaranteed_base_offset_alignment=0.5), b.tensor(field, dimension_count="4"),
        )  # fmt: skip

    def breaks(self, operator: Operator, field: Field, level: int) -> Iterator[tuple[str, Break]]:
        yield "unknown", lambda b, field: b.json(field, "Bogus", 1)
        yield "dtype", lambda b, field: b.tensor(field, dtype=b.of(*_others(field), "BOGUS", bool, complex))
        yield "byteorder", lambda b, field: b.tensor(field, dtype=np.dtype(_numpy(b, field)).newbyteorder())
        yield "rank", lambda b, field: b.tensor(field, sizes=(1,) * b.of(*_other_ranks(field)))
        yield (
            "range",
            lambda b, field: b.of(
                b.tensor(field, sizes=_resized(b, field, b.of(0, *OUTSIDE))),
                b.tensor(field, total_tensor_size_in_bytes=-1),
            ),
        )
        yield "length", lambda b, field: b.tensor(field, dimension_count=b.of(0, 9, -1))
        yield "member", lambda b, field: b.tensor(field, flags=b.of("BOGUS", "", "OWNED"))
        yield "strides", lambda b, field: b.tensor(field, strides=b.of((*_strides(b, field), 1), _one(b, field)))
        yield "total-size", lambda b, field: b.tensor(field, total_tensor_size_in_bytes=_less(b, field))
        yield (
            "alignment",
            lambda b, field: b.tensor(field, guaranteed_base_offset_alignment=b.of(3, 48, -4, UINT_MAX + 1)),
        )
        if LEVEL_INDEX[operator.since] <= level < len(LEVELS) - 1:
            yield from _too_new(field, level)
        tied = (self.tensors and not field.mixed) or field.same_dtype_as is not None
        if tied and field.only_dtype is None:
            yield "same-dtype", lambda b, field: b.tensor(field, dtype=b.of(*dtypes_at(field, b.level)))
        if field.sizes is not None and not operator.has_chosen_sizes(field):
            yield "sizes", lambda b, field: b.tensor(field, sizes=_resized(b, field, b.of(1, 2, 3, 5, 7)))
        if not field.owned:
            yield "owned", lambda b, field: b.tensor(field, flags="OWNED_BY_DML")
        yield "elements", _too_many
        if field.kind == "output" and not _has_one_element(field):
            yield "overlap", lambda b, field: b.tensor(field, strides=(0,) * b.old(field).rank)


TYPE = Tensor


def _too_new(field: Field, level: int) -> Iterator[tuple[str, Break]]:
    newest = len(LEVELS) - 1
    later = [name for name in dtypes_at(field, newest) if name not in dtypes_at(field, level)]
    ranks = [rank for rank in ranks_at(field, newest) if rank not in ranks_at(field, level)]
    if later or ranks:
        yield (
            "level",
            lambda b, field: b.of(
                *(b.tensor(field, dtype=name) for name in later),
                *(b.tensor_alone(field, sizes=(1,) * rank) for rank in ranks),
            ),
        )


def _has_one_element(field: Field) -> bool:
    """Whether all sizes of a tensor are 1: they are where they follow from numbers of dimensions alone."""
    return field.sizes is not None and all(read.endswith(".rank") for read in field.sizes.reads)


def _numpy(b: Broken, field: Field) -> str:
    """The name in NumPy of the data type of a tensor; of one that NumPy has not, or of single bytes, of another one."""
    name = DTYPES[b.old(field).dtype.name].numpy
    return "uint16" if name is None or np.dtype(name).itemsize == 1 else name


def _others(field: Field) -> list[str]:
    """Data types that a tensor cannot have at any level."""
    return [name for name in DTYPES if name not in dtypes_at(field, len(LEVELS) - 1)]


def _other_ranks(field: Field) -> list[int]:
    return [rank for rank in range(12) if rank not in ranks_at(field, len(LEVELS) - 1)]


def _resized(b: Broken, field: Field, size: int) -> tuple[int, ...]:
    sizes = list(b.old(field).sizes)
    sizes[b.of(*range(len(sizes)))] = size
    return tuple(sizes)


def _strides(b: Broken, field: Field) -> tuple[int, ...]:
    sizes = b.old(field).sizes
    return tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


def _one(b: Broken, field: Field) -> tuple[int, ...]:
    """Strides of which one is out of range."""
    strides = list(_strides(b, field))
    strides[b.of(*range(len(strides)))] = b.of(*OUTSIDE)
    return tuple(strides)


def _less(b: Broken, field: Field) -> int:
    """Fewer bytes than the tensor has."""
    old = b.old(field)
    enough = TensorDesc(old.dtype, old.sizes, old.strides).total_tensor_size_in_bytes
    return b.of(0, enough - 4, enough - 1)


def _too_many(b: Broken, field: Field) -> object:
    """More than 2**32 - 1 elements: sizes that multiply to it, or of an output, attributes that make them so."""
    if field.kind == "input" or field.sizes is None or b.of(False, True):
        rank = max(b.old(field).rank, 2)  # one axis has no more elements than that
        return b.tensor(field, sizes=(b.of(2**16, 2**20, UINT_MAX),) * rank)
    return b.enlarged((2**16, 2**20, UINT_MAX))
