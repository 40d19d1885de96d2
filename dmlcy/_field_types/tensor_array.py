"""Several tensors. The pass over a desc takes each of them as it takes a tensor, under its path: inputs[2]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import numpy as np

from dmlcy._facts.rows import Field
from dmlcy._field_types.base import Broken
from dmlcy._field_types.cpp import Source, array
from dmlcy._field_types.tensor import Tensor
from dmlcy._field_types.tensor_desc import TensorDesc, in_words
from dmlcy._field_types.values import Refused, as_entries, wrong_type
from dmlcy._words.values import is_a, show

T = TypeVar("T")

EXPECTED: Final = "a sequence of TensorDescs"
ARRAYS: Final = "a sequence of arrays"
MOST: Final = 2**20
"""Tensors of an array that are looked at; no operator takes as many."""


def as_tensors(value: object, literal: bool, call: bool = False) -> tuple[object, ...]:
    """The entries of a sequence of tensor descs, or in a call of arrays; each is looked at later."""
    expected = ARRAYS if call else EXPECTED
    if is_a(value, np.ndarray if call else TensorDesc):
        raise wrong_type(value, expected, "Put it into brackets: [{...}]." if literal else "Pass a tuple of it.")
    if is_a(value, np.ndarray, Mapping, TensorDesc) or (call and not is_a(value, Sequence)):
        raise wrong_type(value, expected)
    try:
        return as_entries(value, expected, longest=MOST)
    except Refused as refused:
        if refused.words.get("expected") == expected:
            raise
        raise wrong_type(value, f"at most {MOST} tensors") from refused.__cause__


def given_tensors(value: object) -> tuple[object, ...] | None:
    """The tensors that a call gives for an array; None for an object that is no sequence."""
    try:
        return as_tensors(value, literal=False, call=True)
    except Refused:
        return None


def as_sizes_of_each(value: object) -> tuple[object, ...]:
    """The sizes that a call gives for the outputs of an array; each is looked at later."""
    return as_entries(value, "a sequence of sizes", longest=MOST)


def given_sizes(value: object) -> tuple[object, ...] | None:
    """The same; None for what is no sequence."""
    try:
        return as_sizes_of_each(value)
    except Refused:
        return None


def by_path(fields: Iterable[Field], kind: str, values: Mapping[str, object]) -> Iterator[tuple[str, TensorDesc]]:
    """The tensors of a desc of one kind that there are, each of an array by its path."""
    for field in fields:
        value = values[field.python] if field.kind == kind else None
        if type(value) is TensorDesc:
            yield field.python, value
        elif type(value) is tuple:
            yield from ((f"{field.python}[{place}]", one) for place, one in enumerate(value))


def arrays_by_path(values: Mapping[str, T | tuple[T, ...]]) -> dict[str, T]:
    """Arrays by the Python name of the field, those of an array of tensors by their paths: inputs[0], inputs[1]."""
    found: dict[str, T] = {}
    for name, value in values.items():
        found |= {f"{name}[{k}]": one for k, one in enumerate(value)} if isinstance(value, tuple) else {name: value}
    return found


def by_field(fields: Iterable[Field], kind: str, arrays: Mapping[str, object]) -> list[object]:
    """The arguments of a call for the tensors of one kind, each an array, a tuple of arrays by their paths, or None."""
    given: list[object] = []
    for field in fields:
        if field.kind == kind:
            parts = [array for path, array in arrays.items() if path.partition("[")[0] == field.python]
            given.append(parts[0] if field.python in arrays else tuple(parts) or None)
    return given


class TensorArray(Tensor):
    """const DML_TENSOR_DESC*, with a count beside it."""

    directml = "tensors"
    tensors = True

    def words(self, role: str, length: str | None) -> str:
        return f"array of {role} {self.directml}"

    def shown(self, value: object) -> str | None:
        if type(value) is not tuple:
            return None
        more = [f"... {len(value)} in all"] if len(value) > 16 else []
        return "\n".join([*(in_words(one) if isinstance(one, TensorDesc) else show(one) for one in value[:16]), *more])

    def from_json(self, field: Field, value: object, ignore_unknown: bool) -> object:
        if type(value) is not list:
            return super().from_json(field, value, ignore_unknown)
        return [super(TensorArray, self).from_json(field, entry, ignore_unknown) for entry in value]

    def to_json(self, value: object) -> object:
        if type(value) is TensorDesc:
            return value.to_dict()
        if type(value) not in (tuple, list):
            return super().to_json(value)
        entries = cast("tuple[object, ...] | list[object]", value)
        return [entry.to_dict() if type(entry) is TensorDesc else entry for entry in entries]

    def in_json(self, expected: str) -> str:
        return "a list of tensor descs" if expected == EXPECTED else super().in_json(expected)

    def cpp(self, name: str, value: Any, dtype: str | None, source: Source) -> str:
        entries = [self.cpp_tensor(f"{name}{place}", one, source) for place, one in enumerate(value)]
        source.lines.append(array("DML_TENSOR_DESC", name, entries))
        return name

    def directmlx(self, name: str, value: object, source: Source) -> str:
        if isinstance(value, list):
            source.lines.append(array("dml::Expression", name, [f"{name}{place}" for place in range(len(value))]))
        return super().directmlx(name, value, source)

    def mistyped(self, b: Broken, field: Field, other: object) -> object:
        if b.of(False, True):
            return super().mistyped(b, field, other)
        tensors = getattr(b.desc, field.python)
        return b.with_(field, b.of(tensors[0], (*tensors, other), (*tensors[1:], 0.5), {"a": tensors[0]}))


TYPE = TensorArray
