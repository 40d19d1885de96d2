"""A valid use of every operator that runs, the first example of its spec, and the facts of the specs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from example_descs import joined
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from planned import planned

import dmlcy as dml
from codegen.model import Example, Field, Operator
from dmlcy._check.checker import Check

PLAN = planned()
FACTS = PLAN.facts
OPERATORS = {planned.name: planned.operator for planned in PLAN.operators}
RUNNABLE = {planned.name: planned.operator for planned in PLAN.operators if planned.runs}
FAST = {planned.name: planned.operator for planned in PLAN.operators if planned.is_fast}
LEVELS: list[Any] = [level.name for level in FACTS.levels]
NEWEST = LEVELS[-1]
NUMPY = {dtype.name: np.dtype(dtype.numpy) for dtype in FACTS.dtypes if dtype.numpy is not None}
UINT_MAX = 2**32 - 1
Array = np.ndarray[Any, Any]


def searched(examples: int) -> settings:
    """Hypothesis without clock, and without chance where the gate runs."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=os.environ.get("CI") == "true",
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def search(test: Callable[[st.DataObject], None], examples: int, name: str) -> None:
    """Searches for an example that fails; where the gate runs, those of an operator are the same each time."""
    found = searched(examples)(given(st.data())(lambda data: test(data)))
    (seed(name)(found) if os.environ.get("CI") == "true" else found)()


def rows_of_type(operator: Operator, field: Field, level: int) -> list[str]:
    """Data types that the rows of the spec give a tensor at a level."""
    rows = operator.types[field.types or ""]
    return [name for row in rows if FACTS.level_index(row.since) <= level for name in row.dtypes]


def rows_of_rank(operator: Operator, field: Field, level: int) -> list[int]:
    """Ranks that the rows of the spec give a tensor at a level."""
    rows = [row for row in operator.ranks[field.ranks or ""] if FACTS.level_index(row.since) <= level]
    most = FACTS.levels[level].max_rank
    return sorted({rank for row in rows for rank in range(row.min, row.max + 1) if rank <= most})


def first_level(operator: Operator) -> int:
    """The first level at which every tensor has data types and ranks: the header may have the operator before."""
    level = FACTS.level_index(operator.since)
    while not all(rows(operator, one, level) for one in operator.tensors for rows in (rows_of_type, rows_of_rank)):
        level += 1
    return level


class Use:
    """One valid use of an operator."""

    def __init__(self, operator: Operator, example: Example) -> None:
        self.operator = operator
        self.arrays: dict[str, Array] = {
            name: np.array(tensor.data, NUMPY[tensor.dtype]).reshape(tensor.sizes)
            for name, tensor in (*example.inputs.items(), *example.outputs.items())
        }
        self.chosen = {field.python: chosen(operator, field, example) for field in operator.chosen}
        self.attributes: dict[str, Any] = self.chosen | {
            field.python: example.attributes.get(field.python, field.default) for field in operator.attributes
        }
        self.requests = {  # for optional outputs
            field.python: example.outputs[field.python].dtype
            for field in operator.outputs
            if field.optional and field.python in example.outputs
        } | {
            f"{field.python}_dtype": example.outputs[field.python].dtype
            for field in operator.outputs
            if not field.optional and operator.is_asked(field)
        }
        self.requests |= sizes_asked(operator, example)
        self.desc = self.make(self.values())

    def values(self) -> dict[str, Any]:
        """The arguments of the desc class, and the chosen values."""
        found: dict[str, Any] = {}
        for path in self.arrays:  # those of an array of tensors are inputs[0], inputs[1]
            name, entry, _ = path.partition("[")
            found[name] = (*found.get(name, ()), self.tensor(path)) if entry else self.tensor(path)
        return found | self.attributes

    def entries(self, field: Field) -> tuple[int, ...]:
        """The entries of an array."""
        return tuple(self.chosen[field.python] if field.kind == "chosen" else getattr(self.desc, field.python))

    def path(self, field: Field) -> str:
        """The path of a tensor of the field: of an array, that of the first one."""
        return field.python if field.python in self.arrays else f"{field.python}[0]"

    def has(self, field: Field) -> bool:
        """Whether it has a tensor of the field."""
        return self.path(field) in self.arrays

    def tensor(self, name: str, **changes: Any) -> dml.TensorDesc:
        """The desc of one of its tensors."""
        array = self.arrays[name]
        return dml.TensorDesc(**({"dtype": array.dtype, "sizes": array.shape} | changes))

    def make(self, values: Mapping[str, Any]) -> Any:
        """The desc of its operator with these values; what is chosen it has in its outputs."""
        given = {name: value for name, value in placed(values).items() if name not in self.chosen}
        return getattr(dml.desc, self.operator.desc)(**given)

    def arguments(self, changes: Mapping[str, Any], attributes: Mapping[str, Any], compiled: bool) -> dict[str, Any]:
        """The arguments of a call by their names, with changes: of the function, or of the compiled operator."""
        outputs = [field.python for field in self.operator.outputs]
        arrays = {name: blank(one) if name.partition("[")[0] in outputs else one for name, one in self.arrays.items()}
        given: dict[str, Any] = placed({**joined(arrays), **attributes, **changes})
        inputs = {field.python: given.pop(field.python, None) for field in self.operator.inputs}
        absent = [one.python for one in self.operator.outputs if one.optional and given.get(one.python, self) is None]
        outs = tuple(given.pop(name) for name in outputs if name in given and name not in absent)
        given = {name: value for name, value in given.items() if name not in absent}
        if not compiled:
            changed = {name.partition("[")[0] for name in changes}
            moved = [field for field in self.operator.outputs if field.python in changed]
            said = {name for field in moved for name in (self.operator.sized_by(field), f"{field.python}_dtype")}
            given |= {name: value for name, value in self.requests.items() if name not in said}
            given |= {one.python: True for one in moved if one.optional and one.python not in self.requests}
            given |= dict.fromkeys(absent)
        out = outs if len(outs) != 1 else outs[0]
        return {**inputs, **given, "out": None if all(one is None for one in outs) else out}

    def call(self, function: Any, changes: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
        """Calls the function, or the compiled operator, with the arrays and changes; a refusal writes nothing."""
        given = self.arguments(changes, attributes, function is not getattr(dml, self.operator.python))
        inputs = [given.pop(field.python) for field in self.operator.inputs]
        outs = given["out"] if isinstance(given["out"], tuple) else (given["out"],)
        before = [*map(memory, parts(outs))]
        try:
            return function(*inputs, **given)
        except dml.DmlError:
            assert [*map(memory, parts(outs))] == before, "out was written"
            raise


def sizes_asked(operator: Operator, example: Example) -> dict[str, Any]:
    """The arguments of an example's call for the sizes of outputs that no formula gives."""
    found = joined({path: tensor.sizes for path, tensor in example.outputs.items()})
    return {
        str(operator.sized_by(field)): found[field.python]
        for field in operator.outputs
        if (field.sizes is None or example.sized) and field.python in found
    }


def has_all(operator: Operator, example: Example) -> bool:
    """Whether an example has all inputs, also the optional ones."""
    return all(example.tensors_of(field.python) for field in operator.inputs)


def placed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of which some are for a tensor of an array, inputs[0], with these in the arrays."""
    found = {name: value for name, value in values.items() if "[" not in name}
    for path, value in values.items():
        name, entry, place = path.removesuffix("]").partition("[")
        if entry:
            found[name] = (*found[name][: int(place)], value, *found[name][int(place) + 1 :])
    return found


def blank(value: Any) -> Any:
    """Arrays of 77, in place of arrays."""
    return tuple(map(blank, value)) if isinstance(value, tuple) else np.full_like(value, 77)


def parts(outs: tuple[Any, ...]) -> list[Any]:
    """The arrays of outputs, of arrays of tensors each."""
    return [one for out in outs for one in (out if isinstance(out, tuple | list) else (out,))]


def chosen(operator: Operator, field: Field, example: Example) -> tuple[int, ...]:
    """The sizes that the caller of an example chose."""
    output, before, after = operator.of_chosen(field)
    sizes = example.outputs[output.python].sizes
    return sizes[before : len(sizes) - after]


def following(check: Check) -> dict[str, tuple[int, ...]]:
    """The tensors whose sizes must be others, as they follow from other fields, and those sizes."""
    wrong = [one for one in check.violations if one.id.endswith(f"-{one.field}-sizes") and one.fix is not None]
    values: dict[str, Any] = {str(one.field): one.values["expected"] for one in wrong}
    return values


def memory(value: object) -> bytes:
    """The bytes of an array, each element that lies in the same place once."""
    if not isinstance(value, np.ndarray) or value.dtype.hasobject:
        return b""
    return value[tuple(slice(None if stride else 1) for stride in value.strides)].tobytes()


def uses(operator: Operator) -> list[Use]:
    """The uses that examples are, those with all inputs first."""
    return [Use(operator, one) for one in sorted(operator.examples, key=lambda one: not has_all(operator, one))]


def early(operator: Operator) -> Use:
    """The first use that is valid at the level that brought the operator."""
    found = ALL[operator.name]
    return next((use for use in found if not dml.check(use.desc, operator.since)), found[0])  # type: ignore[call-overload]


ALL = {name: uses(operator) for name, operator in RUNNABLE.items()}
USES = {name: found[0] for name, found in ALL.items()}
EARLY = {name: early(operator) for name, operator in RUNNABLE.items()}
"""Uses that are valid at each level of their operators."""
