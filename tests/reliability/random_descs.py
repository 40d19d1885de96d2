"""Valid descs of an operator, each a change of the last one: the domain of ``dmlcy.testing`` by the thousand."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from few import has_input

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import has_four_bits
from dmlcy._facts.levels import feature_level
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import ENUMS, FAST, LEVEL_INDEX, LEVELS
from dmlcy._field_types import type_of
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._testing import descs, walk
from dmlcy._testing.starts import Values, starts, tensors_of

SIZES: Final = ((30, 300), (40, 3000), (27, 30_000), (3, 500_000))
"""How often, and how many elements the tensors of a desc have at most."""


def walks(operator: Operator) -> bool:
    """Whether descs are changed step by step: loops compute them, each has an input, and no field several tensors."""
    several = any(type_of(field.type).tensors for field in operator.fields)
    return operator.name in FAST and has_input(operator) and not several


def level_of(chance: random.Random, operator: Operator) -> int:
    """The position of a level that has a valid desc: often the newest."""
    newest = len(LEVELS) - 1
    level = chance.choice([newest, newest, chance.randint(LEVEL_INDEX[operator.since], newest)])
    try:
        starts(operator.name, level)
    except ValueError:  # the operator came before the data types of its tensors, or with no example that is so old
        return newest
    return level


class Walk(walk.Walk):
    """From desc to desc of one operator, at one feature level."""

    def __init__(self, chance: random.Random, operator: Operator) -> None:
        most = chance.choices([most for _, most in SIZES], [often for often, _ in SIZES])[0]
        level = level_of(chance, operator)
        start = chance.choice(starts(operator.name, level))
        super().__init__(None, operator, level, most, start)  # type: ignore[arg-type]
        self.chance = chance
        self.fields = [field for field in operator.fields if field.python in self.given]
        self.tensors_given = [field for field in self.fields if field.kind != "attribute"]
        for field in self.shaped:
            self.new_dtype(field)
            self.new_rank(field)
            if chance.random() < 0.5:
                self.new_plane(field)
        for _ in range(2 * len(self.fields)):
            self.step()

    @property
    def shaped(self) -> list[Field]:
        """The tensors that the desc at hand has."""
        return [field for field in self.tensors_given if not self.lacks(field)]

    def take(self, changes: Values) -> bool:
        """Goes on to the desc with these changes, if it is valid. Elements of 4 bits are in no plain array."""
        check = self.changed(changes)
        dtypes: set[Any] = {
            tensor.dtype for field in self.tensors_given for tensor in tensors_of(check.resolved.get(field.python))
        }
        return not any(map(has_four_bits, dtypes)) and super().take(changes)

    def desc(self) -> OperatorDesc:
        """The desc at hand."""
        with feature_level(LEVELS[self.level].name):
            return descs.class_of(self.operator)(**self.values)

    def step(self) -> None:
        """Another value of some field, where one is found soon that makes a valid desc."""
        for _ in range(3):
            before, field = self.values, self.chance.choice(self.fields)
            if field.kind == "attribute":
                self.new_attribute(field)
            elif field.optional and (self.lacks(field) or self.chance.random() < 0.1):
                self.other_presence(field)
            elif self.chance.random() < 0.8:
                self.new_sizes(field)
            else:
                self.chance.choice([self.new_dtype, self.new_rank])(field)
            if self.values is not before:
                return

    def sizes(self, field: Field) -> tuple[int, ...]:
        """The sizes of the tensor of a field."""
        return self.tensors(field)[0].sizes

    def resize(self, field: Field, sizes: Sequence[int]) -> None:
        """Other sizes of the tensor of a field."""
        self.take({field.python: self.resized(field, lambda old: sizes)})

    def new_dtype(self, field: Field) -> None:
        if field.same_dtype_as is None:
            dtype = self.chance.choice(dtypes_at(field, self.level))
            shared = [one for one in self.shaped if field.python in (one.python, one.same_dtype_as)]
            self.take({one.python: TensorDesc(dtype, self.sizes(one)) for one in shared})

    def other_presence(self, field: Field) -> None:
        """An optional tensor is left out, or given."""
        if not self.lacks(field):
            self.take({field.python: None})
            return
        dtype = self.chance.choice(dtypes_at(field, self.level))
        any(self.take({field.python: desc}) for desc in self.made(field, dtype))

    def meet(self, name: str, dtype: str) -> None:
        """A data type of the tensor of a field, and of all that can have it where these go together."""
        able = [field for field in self.shaped if dtype in dtypes_at(field, self.level)]
        for fields in ([field for field in able if name in (field.python, field.same_dtype_as)], able):
            if self.take({field.python: TensorDesc(dtype, self.sizes(field)) for field in fields}):
                return

    def new_rank(self, field: Field) -> None:
        rank = self.chance.choice(ranks_at(field, self.level))
        self.resize(field, (*self.sizes(field), *[1] * 8)[:rank])

    def new_sizes(self, field: Field) -> None:
        sizes = list(self.sizes(field))
        sizes[self.chance.randrange(len(sizes))] = self.count()
        self.resize(field, sizes)

    def new_plane(self, field: Field) -> None:
        """Sizes of the last two axes that are worth wide instructions."""
        sizes = list(self.sizes(field))
        sizes[-2:] = [self.chance.choice([16, 17, 31, 32, 48, 64]) for _ in sizes[-2:]]
        self.resize(field, sizes)

    def new_attribute(self, field: Field) -> None:
        value = self.values[field.python]
        if field.type == "uint_array":
            self.take({field.python: self.entries_of(value)})
        else:
            self.take({field.python: self.value_of(field)})

    def entries_of(self, value: tuple[int, ...]) -> tuple[int, ...]:
        """Another array: one entry is new, or all are the same, or they are those of another array."""
        chance = self.chance.random()
        if chance < 0.2:
            return (self.near(),) * len(value)
        if chance < 0.4:
            arrays = [self.values[field.python] for field in self.fields if field.type == "uint_array"]
            return self.chance.choice([array for array in arrays if len(array) == len(value)])
        entries = list(value)
        entries[self.chance.randrange(len(entries))] = self.near()
        return tuple(entries)

    def count(self) -> int:
        """A size: mostly small, now and then as large as the tensors may be."""
        small, large = self.chance.randint(1, 12), self.chance.randint(1, max(self.most // 100, 12))
        return self.chance.choice([self.chance.randint(1, 4), small, 16, 17, 31, 48, 64, large])

    def near(self) -> int:
        """A count such as windows and paddings are: small, about a size, or at the end of the range."""
        size, chance = self._largest(), self.chance.random()
        if chance < 0.6:
            return self.chance.randint(0, 4)
        if chance < 0.75:
            return self.chance.randint(3, 12)
        if chance < 0.95:
            return self.chance.choice([size - 1, size, size + 1, 2 * size - 1, 2 * size, 2 * size + 1, 3 * size + 2])
        return self.chance.choice([UINT_MAX, UINT_MAX - 1, 2**31, 2**31 - 1, 2**16])

    def value_of(self, field: Field) -> Any:
        """A value of an attribute, mostly a valid one."""
        if field.type.startswith("enum:"):
            return self.chance.choice(list(ENUMS[field.type.removeprefix("enum:")].cls))
        if field.type == "bool":
            return self.chance.random() < 0.5
        if field.type == "float":
            return self.chance.choice([1.0, 0.5, 0.0625, 2.0, self.real("f")])
        if field.type == "size_2d":
            return self.near(), self.near()
        if field.type == "scalar_union":
            dtype = np.dtype(self.values[field.scalar_type or ""].name.lower())
            if dtype.kind == "f":
                return self.real(dtype.char)
            return self.chance.randint(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        return self.near()

    def real(self, code: str) -> float:
        """A number of any bits."""
        number: float = struct.unpack(code, self.chance.randbytes(struct.calcsize(code)))[0]
        return number
