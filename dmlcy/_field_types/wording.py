"""The words of messages for counts, sizes and data types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dmlcy._facts.rows import Field, Formula, Operator
from dmlcy._facts.tables import DTYPES, TensorDataType
from dmlcy._words.values import show


def entries(count: int) -> str:
    """A number of entries."""
    return f"{count} entr{'y' if count == 1 else 'ies'}"


def of_each(operator: Operator, formula: Formula, terms: Mapping[str, object]) -> str:
    """The things that a count counts: one for each axis of input. ``terms``: parts of the formula with their values."""
    each = next((let.each for let in operator.lets if let.name == formula.text), "")
    where = ", ".join(f"{name} = {show(value)}" for name, value in terms.items())
    return f"one for each {each}" if each else f"which is {formula.words}{where and f', where {where}'}"


def axis_hint(number: int, sizes: tuple[object, ...]) -> str:
    """A sentence about a number that is no axis of a tensor of these sizes."""
    rank, last = len(sizes), show(sizes)
    if -rank <= number < 0:
        return f"Axes count from 0: axis {number} of {last} is {number + rank}."
    return f"Axes count from 0: the last axis of {last} is {rank - 1}."


def read_as(fields: Mapping[str, Field], sizes: Mapping[str, tuple[int, ...]]) -> str:
    """The sizes of inputs, as sentences, with the names of their axes."""
    return " ".join(
        f"{name} is {show(tuple(found))}{_axes(fields[name], len(found))}." for name, found in sizes.items()
    )


def _axes(field: Field, rank: int) -> str:
    """The names that fit so many axes."""
    fitting = [names for names in field.axes if names.endswith("...") or names.count(",") + 1 == rank]
    return f", read as {{{fitting[0]}}}" if fitting else ""


def axes_of(field: Field) -> str:
    """A sentence with the names of the axes of a tensor, where the spec gives them."""
    names = " or ".join(f"{{{names}}}" for names in field.axes)
    return f"The axes of {field.python} are {names}." if names else ""


def without_ones(formula: str, count: int) -> str:
    """The text of a formula of sizes without so many ones in front."""
    return "[" + formula.removeprefix("[").removeprefix("1, " * count)


def after_ones(formula: str, count: int) -> str:
    """The text of a formula of sizes with so many ones in front."""
    return "[" + "1, " * count + formula.removeprefix("[") if formula.startswith("[") else formula


def nearest_dtype(dtype: object, allowed: Sequence[str]) -> str | None:
    """NumPy's name of the allowed data type that is nearest to another, of its own kind if there is one; None: there
    is none that holds such values."""
    if isinstance(dtype, TensorDataType):
        known = DTYPES[dtype.name].numpy
        dtype = None if known is None else np.dtype(known)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
        return None
    others = [np.dtype(name) for name in (DTYPES[one].numpy for one in allowed) if name is not None]
    holding = [other for other in others if np.can_cast(dtype, other, "safe")]
    near = holding or [other for other in others if np.can_cast(dtype, other, "same_kind")]
    largest = max((other.itemsize for other in near), default=0)
    best = [other for other in near if holding or other.itemsize == largest]
    best.sort(key=lambda other: (other.kind == "f") != (dtype.kind == "f"))
    return best[0].name if best else None
