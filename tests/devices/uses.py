"""Uses of the operators that round, at ordinary sizes: the table ``uses.toml``, and inputs that are drawn for them."""

from __future__ import annotations

import math
import os
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import depth
import numpy as np

from dmlcy._arithmetic import Array
from dmlcy._desc.classes import desc_class
from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import is_float, numpy_dtype
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types.tensor_array import by_path
from dmlcy._field_types.tensor_desc import TensorDesc

Arrays = dict[str, Any]
"""By the Python names of inputs; an array of tensors is a tuple."""

TABLE: Final = Path(__file__).with_name("uses.toml")
ELEMENTS: Final = (1, 4, 16, 32)
"""Sizes of an input where the table gives none."""
DTYPES: Final = ("FLOAT32", "FLOAT16")
KINDS: Final = ("uniform", "normal")
DENORMAL: Final = "denormal"
"""A normal draw, in which a fifth of the numbers are below the normal ones of FLOAT32."""
EQUAL: Final = "equal"
ONE: Final = "one"
ALIKE: Final = "alike"
"""Each input has the same normal draws."""
LARGE: Final = "large"
"""Normal draws, times 3: exponentials of their products are far apart."""
SEARCHED: Final = (EQUAL, "growing", "large first", "large channel", "whole", "in the middle", ALIKE, LARGE)
"""Inputs of which devices lose more than of draws."""
MOST: Final = 40
"""The largest of whole numbers, where a use has no range: FLOAT16 has their cubes."""
SEED: Final = int(os.environ.get("DMLCY_SEED", "1"))
"""Of the draws of the tests."""
OTHER: Final = SEED + 1 + depth.SEED
"""Of those of deep tests."""
DEVIATIONS: Final = 3.0
"""A normal draw for a range has its ends so many deviations from the mean, and is cut there."""
SMALLEST: Final = float(np.finfo(np.float32).smallest_normal)
CORNERS: Final = "corners"
OF_INPUT: Final[dict[Any, Any]] = {"mean": np.mean, "variance": np.var}


@dataclass(frozen=True, eq=False)
class Use:
    """A use of an operator for one data type: a row of the table."""

    operator: Operator
    name: str
    dtype: str
    deep: bool
    sizes: Mapping[str, Sequence[int]]
    dtypes: Mapping[str, str]
    values: Mapping[str, Any]
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.operator.name}, {self.name}, {self.dtype}"

    @cached_property
    def desc(self) -> OperatorDesc:
        """The desc."""
        fields = {field.python: field for field in self.operator.fields}
        given = {name: _attribute(fields[name], value) for name, value in self.attributes.items()}
        paths = [*self.sizes, *(name for name in self.dtypes if name not in self.sizes)]
        absent = [
            field.python
            for field in fields.values()
            if field.kind == "input" and not field.optional and not _has(paths, field.python)
        ]
        for path in [*absent, *paths]:
            tensor = TensorDesc(self.dtypes.get(path, self.dtype), self.sizes.get(path, ELEMENTS))
            name, entry, _ = path.partition("[")
            given[name] = (*given.get(name, ()), tensor) if entry else tensor
        for field in fields.values():  # outputs whose data type is in the table follow in their sizes
            if field.kind == "output" and field.python in self.dtypes and field.python not in self.sizes:
                sizes = (1,) * len(given["input"].sizes) if field.sizes and field.sizes.text == "ones" else None
                given[field.python] = TensorDesc(self.dtypes[field.python], sizes or given["input"].sizes)
        found: OperatorDesc = desc_class(self.operator.name)(**given)
        return found

    def arrays(self, kind: str, seed: int, only: str | None = None) -> Arrays:
        """Inputs that are drawn. ``only``: the path of the one that is of this kind; the others are 1, or at the end of
        their range."""
        random = np.random.default_rng([seed, zlib.crc32(f"{self}, {kind}, {only}".encode())])
        found: Arrays = {}
        for path, tensor in by_path(self.operator.fields, "input", self.desc._values()):
            name, entry, _ = path.partition("[")
            values = self.values.get(path)
            if isinstance(values, str) and values in OF_INPUT:
                array = _of_input(values, found["input"], tensor)
            else:
                random = np.random.default_rng(seed) if kind == ALIKE else random
                array = drawn(random, kind if only in (None, path) else ONE, tensor, values)
            found[name] = (*found.get(name, ()), array) if entry else array
        return found

    @property
    def inputs(self) -> list[str]:
        """The paths of the inputs whose elements are floats."""
        found = by_path(self.operator.fields, "input", self.desc._values())
        return [path for path, tensor in found if is_float(dtype_of(tensor))]


def _has(paths: Iterable[str], name: str) -> bool:
    return any(path.partition("[")[0] == name for path in paths)


def _attribute(field: Field, value: Any) -> Any:
    """The value of an attribute in a desc. Activations are given by their names."""
    if field.type == "operator_desc_array":
        return [desc_class(f"ACTIVATION_{name}")() for name in value]
    return value


def _of_input(name: str, array: Array, tensor: TensorDesc) -> Array:
    """The mean or the variance of an input along the axes that a tensor does not have."""
    axes = tuple(d for d, size in enumerate(tensor.sizes) if size == 1 != array.shape[d])
    found: Array = OF_INPUT[name](array.astype(np.float64), axes).reshape(tensor.sizes).astype(array.dtype)
    return found


def drawn(random: np.random.Generator, kind: str, tensor: TensorDesc, values: Any) -> Array:
    """Numbers in the data type of a tensor."""
    dtype = numpy_dtype(dtype_of(tensor))
    if values == CORNERS:
        start = random.uniform(0, 16, (tensor.sizes[0], 2))
        return np.concatenate([start, start + random.uniform(4, 15, start.shape)], 1).astype(dtype)
    if dtype.kind != "f":
        whole: Array = random.integers(values[0], values[1], tensor.sizes, endpoint=True)
        return whole.astype(dtype)
    if kind == "whole":
        low, high = values or (-MOST, MOST)
        first, last = math.ceil(low), max(math.ceil(low), math.floor(high))
        return (first + np.arange(math.prod(tensor.sizes)).reshape(tensor.sizes) % (last - first + 1)).astype(dtype)
    if kind == ALIKE:
        return drawn(random, KINDS[-1], tensor, values)
    if kind == LARGE:
        low, high = values or (-np.inf, np.inf)
        clipped: Array = np.clip(3 * drawn(random, KINDS[-1], tensor, values), low, high)
        return clipped.astype(dtype)
    if kind in SEARCHED or kind == ONE:
        low, high = values or (0, 1)
        return (low + (high - low) * _line(random, kind, tensor.sizes)).astype(dtype)
    if kind == DENORMAL:
        found = drawn(random, KINDS[-1], tensor, values)
        small = (random.random(tensor.sizes) < 0.2) & (values is None or values[0] <= 0 <= values[1])
        return np.where(small, random.uniform(-1, 1, tensor.sizes) * SMALLEST, found).astype(dtype)
    if values is None:
        found = random.random(tensor.sizes) if kind == "uniform" else random.standard_normal(tensor.sizes)
        return found.astype(dtype)
    low, high = values
    if kind == "uniform":
        return random.uniform(low, high, tensor.sizes).astype(dtype)
    middle, deviation = (low + high) / 2, (high - low) / 2 / DEVIATIONS
    return np.clip(random.normal(middle, deviation, tensor.sizes), low, high).astype(dtype)


def _line(random: np.random.Generator, kind: str, sizes: Sequence[int]) -> Array:
    """Numbers from 0 to 1 of which sums lose much, along the last axis or along the channels; or near the middle."""
    if kind == "in the middle":
        return random.uniform(0.5, 0.52, sizes)
    if kind in (EQUAL, ONE):
        return np.full(sizes, 1.0 if kind == ONE else random.random())
    axis = min(1, len(sizes) - 1) if kind == "large channel" else len(sizes) - 1
    count = sizes[axis]
    line = np.arange(1, count + 1) / count
    if kind != "growing":
        line = np.where(np.arange(count) == 0, 1.0, random.uniform(0.9, 0.99) * 2.0**-23)
    return np.broadcast_to(line.reshape([-1 if d == axis else 1 for d in range(len(sizes))]), sizes)


def table() -> Iterator[Use]:
    """All uses, each in both data types."""
    for row in tomllib.loads(TABLE.read_text("utf-8"))["use"]:
        for name in row["operators"]:
            for dtype in DTYPES:
                if dtype == DTYPES[0] or row.get("half", True):
                    yield Use(
                        OPERATORS[name], row.get("name", "elements"), dtype, dtype in row.get("deep", ()),
                        row.get("sizes", {}), row.get("dtypes", {}), row.get("values", {}), row.get("attributes", {}),
                    )  # fmt: skip


USES: Final = tuple(table())


def rounds(operator: Operator) -> bool:
    """Whether results of an operator are rounded."""
    return bool(operator.accuracy)


def one_each() -> list[Use]:
    """A use of each operator: of one data type for every other operator, and of the other one for the rest."""
    found: dict[str, list[Use]] = {}
    for use in uses():
        found.setdefault(use.operator.name, []).append(use)
    return [of_one[number % min(len(of_one), len(DTYPES))] for number, of_one in enumerate(found.values())]


def uses(deep: bool = False) -> list[Use]:
    """The uses that run by default, or all."""
    return [use for use in USES if deep or not use.deep]
