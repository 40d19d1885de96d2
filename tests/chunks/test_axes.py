"""Each axis that a spec declares independent is cut where the chunks are, and no piece runs by the reference."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from call_arguments import attributes
from depth import deep, of_each_family
from enlarged import Use, by_paths, uses
from example_descs import arrays_of, desc_of_example, joined

import dmlcy as dml
from dmlcy._desc.formulas import Formulas
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import IN_CHUNKS, NAMES, OPERATORS, RUNNABLE
from dmlcy._families.slices import Slices
from dmlcy._field_types.tensor_array import by_path
from dmlcy._reference import call as reference
from dmlcy._reference.expected import outputs_of

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")
dml_dask: Any = pytest.importorskip("dmlcy.dask", reason="dask is not installed")

GROUPS = 3
"""Pieces of each use."""
DRAWN = ("DEQUANTIZE", "DIAGONAL_MATRIX1", "QUANTIZE")
"""Operators whose examples lack such an axis: to draw one takes seconds."""
NAMED = [
    *of_each_family(name for name in IN_CHUNKS if name not in DRAWN),
    *(pytest.param(name, marks=deep) for name in DRAWN),
]


def of_examples(operator: Operator, number: int) -> Iterator[Use]:
    """The examples for which a declaration holds, even if an example has a single slice along the axis."""
    declared = operator.independent[number]
    for example in operator.examples:
        desc, arrays = desc_of_example(operator, example), by_paths(arrays_of(example.inputs))
        rules = Formulas(desc).rules
        tensors = [path for kind in ("input", "output") for path, _ in by_path(operator.fields, kind, desc._values())]
        for index in [()] if declared.domain is None else [(d,) for d in range(declared.domain(rules))]:
            if declared.when is not None and not declared.when(rules, *index):
                continue
            named = {name: int(axis(rules, *index)) for name, axis in declared.axes.items()}
            axes = {path: named[name] for path in tensors if (name := path.partition("[")[0]) in named}
            takes, gives = declared.takes(rules, *index), declared.gives(rules, *index)
            sized = {name: int(entry(rules, *index)) for name, entry in declared.sized.items()}
            slices = {arrays[path].shape[axis] // takes for path, axis in axes.items() if path in arrays}
            if len(slices) == 1 and any(path in axes for path in outputs_of(desc)):
                yield Use(desc, arrays, Slices(axes, takes, gives, sized), slices.pop(), number)


class Call(NamedTuple):
    """A call along an axis that a spec declares, with the results for NumPy arrays."""

    use: Use
    given: dict[str, Any]
    arrays: dict[str, Any]
    results: tuple[Any, ...]


def calls(operator: Operator, number: int) -> Iterator[Call]:
    """The valid calls along an axis that a spec declares: of examples, then of what is drawn."""
    drawn = (use for seed in range(30) for use in uses(operator, 4, 100, seed) if use.declared == number)
    absent = {field.python: None for field in operator.fields if field.kind == "input"}
    for use in itertools.chain(of_examples(operator, number), drawn):
        arrays = use.large(GROUPS * use.groups)
        given = absent | attributes(use.resized(GROUPS * use.groups))
        with contextlib.suppress(dml.DmlError):  # an axis that the operator must not have so long
            yield Call(use, given, arrays, several(getattr(dml, operator.python)(**(given | joined(arrays)))))


@pytest.mark.parametrize("name", NAMED)
def test_each_declared_axis_is_cut_into_pieces_that_loops_compute(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(operator: str, *_: Any) -> Any:
        raise AssertionError(f"the reference computes {operator}")

    monkeypatch.setattr(reference, "use_of_values", refuse)
    operator = OPERATORS[name]
    for number in range(len(operator.independent)):
        call = next(calls(operator, number))
        chunks = {path: in_chunks(array, call.use.along.axes.get(path)) for path, array in call.arrays.items()}
        found = several(getattr(dml_dask, operator.python)(**(call.given | joined(chunks))))
        assert {one.npartitions for one in found} == {GROUPS}, call.use.along
        for one, whole in zip(dask.compute(*found, scheduler="synchronous"), call.results, strict=True):
            np.testing.assert_allclose(one, whole, rtol=1e-3, atol=1e-3)


def in_chunks(array: Any, axis: int | None) -> Any:
    """A dask array with a chunk for each piece."""
    cut = {} if axis is None else {axis: array.shape[axis] // GROUPS}
    return da.from_array(array, chunks=tuple(cut.get(place, -1) for place in range(array.ndim)))


def several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def test_every_operator_that_declares_an_axis_has_a_function() -> None:
    declares = [name for name in RUNNABLE if OPERATORS[name].independent]
    assert [*IN_CHUNKS] == declares and {NAMES[name] for name in declares} <= {*dir(dml_dask)}
