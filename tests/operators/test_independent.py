"""The specs are right about independent axes: slices of the inputs give the slices of the outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, assert_same_values
from depth import SEED, deep, in_turn, of_each_family
from drawing import Facts, draw_all, draw_until
from example_descs import arrays_of, desc_of_example
from few import few_of_each_family

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc.formulas import Formulas
from dmlcy._facts.rows import Independent, Operator
from dmlcy._facts.tables import FAST, OPERATORS
from dmlcy._families.slices import Slices, replaced, sizes_of, slices
from dmlcy._field_types.tensor_array import by_path

CUT = {name: operator for name, operator in OPERATORS.items() if operator.runs and operator.independent}
FEW = few_of_each_family(CUT, 4)
"""The operators of a default run: the others of a large family have the same loops, and mostly the same axes."""


def keywords(desc: Any, outputs: Container[str]) -> dict[str, Any]:
    """The arguments beside tensors of a call that computes these outputs of a desc."""
    operator, values = desc.operator, desc._values()
    found = operator.arguments(desc)
    for field in operator.fields:
        tensor = values[field.python] if field.kind == "output" else None
        if tensor is not None and field.optional and field.python in outputs:
            found[field.python] = tensor.dtype
        if tensor is not None and not field.optional and not operator.has_type(field):
            found[f"{field.python}_dtype"] = tensor.dtype
    result: dict[str, Any] = found
    return result


def call(desc: Any, arrays: dict[str, Any], arguments: dict[str, Any], paths: list[str]) -> dict[str, Any]:
    """The outputs, by their paths."""
    given = {field.python: arrays.get(field.python) for field in desc.operator.fields if field.kind == "input"}
    result = getattr(dml, desc.operator.python)(**given, **arguments)
    return dict(zip(paths, result if isinstance(result, tuple) else (result,), strict=True))


def sliced(arrays: dict[str, Any], axes: dict[str, int], begin: int, end: int, whole: int) -> dict[str, Any]:
    """The arrays of which those in ``axes`` are cut: elements ``begin`` to ``end`` of ``whole``, or the same part."""

    def one(path: str, array: Any) -> Any:
        if isinstance(array, tuple):
            return tuple(one(f"{path}[{place}]", entry) for place, entry in enumerate(array))
        if path not in axes:
            return array
        size = array.shape[axes[path]]
        part = slice(begin * size // whole, end * size // whole)
        return array[(slice(None),) * axes[path] + (part,)]

    return {path: one(path, array) for path, array in arrays.items()}


def size_of(desc: Any, path: str, axis: int) -> int:
    tensors = dict(by_path(desc.operator.fields, "input", desc._values()))
    return int(tensors[path].sizes[axis])


def cuts(desc: Any, one: Independent) -> list[Slices]:
    """Each axis of the declaration along which there is something to cut."""
    found = slices(desc.operator, Formulas(desc).rules, desc._values(), one)
    return [along for along in found if size_of(desc, *next(iter(along.axes.items()))) > along.takes]


def compare(desc: Any, arrays: dict[str, Any], along: Slices, where: int) -> None:
    """AssertionError, or a refusal of slices, where the results of two slices are not the slices of the result."""
    operator, size = desc.operator, size_of(desc, *next(iter(along.axes.items())))
    paths = [path for path, _ in by_path(operator.fields, "output", desc._values()) if path in along.axes]
    arguments = keywords(desc, along.axes)
    whole, parts = call(desc, arrays, arguments, paths), []
    for begin, end in ((0, where), (where, size)):
        gives, said = (end - begin) // along.takes * along.gives, dict(arguments)
        for keyword, place in sizes_of(operator, arguments, along.axes, along.sized):
            said[keyword] = replaced(said[keyword], place, gives)
        parts.append(call(desc, sliced(arrays, along.axes, begin, end, size), said, paths))
        assert all(parts[-1][path].shape[along.axes[path]] == gives for path in paths)
    for path, expected in whole.items():
        together = np.concatenate([part[path] for part in parts], along.axes[path])
        same = assert_same_values if expected.dtype.kind == "f" else assert_same_bits
        try:
            same(together, expected)
        except AssertionError:  # NumPy adds in an order that depends on the sizes
            if operator.name in FAST:
                raise
            found = testing.expected(desc, arrays, path)
            assert not (found.errors(together) > found.ulp).any()


def look(operator: Operator, declared: Sequence[Independent], draws: int, rounds: int = 60) -> None:
    """Looks at each declaration, on the examples of the spec and on what is drawn until each has been met."""
    met: Facts = Counter()
    left_out: set[tuple[str, Any]] = set()
    rng = np.random.default_rng(7)

    def cut(case: Any) -> None:
        desc, arrays = case
        for number, one in enumerate(declared):
            for along in () if ("declaration", number) in left_out else cuts(desc, one):
                met["declaration", number] += 1
                size = size_of(desc, *next(iter(along.axes.items())))
                compare(desc, arrays, along, along.takes * int(rng.integers(1, (size - 1) // along.takes + 1)))

    for example in operator.examples:
        cut((desc_of_example(operator, example), arrays_of(example.inputs)))
    strategy = testing.cases(operator.name, most_elements=300 if operator.name in FAST else 60)
    draw_all(strategy, draws, cut, SEED)
    wanted = {("declaration", number) for number in range(len(declared))}

    def draw(number: int) -> None:
        left_out.update(met)  # what is rare is waited for, and nothing else
        draw_all(strategy, 4 * draws, cut, number + 1)

    draw_until(met, wanted, rounds, draw)


@in_turn
@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in FEW else deep) for name in CUT])
@pytest.mark.parametrize("draws", [2, pytest.param(40, marks=deep)])
def test_slices_give_slices(name: str, draws: int) -> None:
    look(CUT[name], CUT[name].independent, draws)


@pytest.mark.parametrize(("name", "wrong"), [
    ("AVERAGE_POOLING", {"axes": {"input": lambda self: 2, "output": lambda self: 2}}),
    ("UNFOLD", {"gives": lambda self: 1}),
    ("DEPTH_TO_SPACE1", {"axes": {"input": lambda self: 1, "output": lambda self: 1}}),
    ("PADDING1", {"when": None}),
    ("ROI_POOLING", {"axes": {"input": lambda self: 0, "output": lambda self: 0}}),
    ("GEMM", {"axes": {"a": lambda self, d: d, "output": lambda self, d: d}}),
    ("QUANTIZE", {"axes": {"input": lambda self, d: d, "output": lambda self, d: d}}),
    ("UPSAMPLE_2D", {"gives": lambda self, d: 1}),
])  # fmt: skip
def test_what_is_not_independent_is_found_out(name: str, wrong: dict[str, Any]) -> None:
    operator = CUT[name]
    one = operator.independent[1 if name == "UNFOLD" else 0]
    with pytest.raises((AssertionError, dml.DmlError, ValueError)):
        look(operator, [replace(one, **wrong)], 25)


CONDITIONAL = [name for name, operator in CUT.items() if any(one.when for one in operator.independent)]


@in_turn
@pytest.mark.parametrize("name", of_each_family(CONDITIONAL))
def test_what_holds_only_under_a_condition_is_found_out_without_it(name: str) -> None:
    for one in CUT[name].independent:
        if one.when is not None:
            with pytest.raises((AssertionError, dml.DmlError, ValueError)):
                look(CUT[name], [replace(one, when=None)], 25)
