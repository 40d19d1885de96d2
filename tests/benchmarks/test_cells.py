"""Every cell of the benchmark is valid, and every peer that is here computes what dmlcy does."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from each import each, each_of
from family_files import BENCHMARK, having

import dmlcy as dml
from benchmarks import peers
from benchmarks.calls import Forms, Peer, call
from benchmarks.cells import LAYOUTS, SIZES, Cell, dtype_of, placed
from benchmarks.families import OPERATORS, all_cells
from benchmarks.families.base import Operator
from benchmarks.figures import Figure, figures
from benchmarks.groups import committed_cells
from benchmarks.groups.ours import expression_of
from benchmarks.run import OURS, OURS_OUT, Differs, our_call, prepare
from benchmarks.sweep import sweep_cells
from dmlcy._facts.tables import FAST as SPECS

CELLS = all_cells()
FIGURES = list(figures())
MEGABYTES = {"tiny": (0, 0.02), "small": (0.7, 2), "medium": (20, 55), "target": (15, 20), "large": (350, 450)}


def described(cell: Cell) -> Any:
    """The desc of this cell's work."""
    tensors = {"input": dml.TensorDesc(cell.dtype, cell.sizes)}
    if cell.operator == "roi_pooling":
        tensors["roi"] = dml.TensorDesc(cell.dtype, (1, 1, int(cell.variant.split("-")[0]), 5))
    (spec,) = (spec for spec in SPECS.values() if spec.python == cell.operator)
    optional = {field.python for field in spec.fields if field.optional}
    chosen = {field.python for field in spec.chosen}
    given = {name: value for name, value in cell.attributes.items() if name not in optional | chosen}
    if chosen:
        result = getattr(dml, cell.operator)(np.zeros(cell.sizes, cell.dtype.lower()), **cell.attributes)
        tensors["output"] = dml.TensorDesc(cell.dtype, result.shape)
    desc = getattr(dml.desc, spec.desc)(**tensors, **given)
    asked = {name: dml.TensorDesc(cell.attributes[name], desc.output.sizes) for name in optional & {*cell.attributes}}
    return type(desc)(**tensors, **given, **asked)


def test_the_grid_has_some_cells_of_each_operator_with_names_of_their_own() -> None:
    assert [name for name, count in Counter(cell.name for cell in CELLS).items() if count > 1] == []
    assert all(8 <= len(operator.cells) <= 90 for operator in OPERATORS.values())
    assert {cell.size for cell in CELLS} == set(SIZES)


def test_every_operator_with_loops_is_measured() -> None:
    """By the file of its family or by the committed cells; families/test_files.py names the files that are missing."""
    assert set(OPERATORS) <= {spec.python for spec in SPECS.values()}
    committed = {expression_of(cell).function for cell in committed_cells() if not cell.network}
    assert {SPECS[name].python for name in having(BENCHMARK)} <= set(OPERATORS) | committed


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda operator: operator.name)
def test_a_cell_is_valid_and_as_large_as_its_name_says(operator: Operator) -> None:
    each(operator.cells, is_valid_and_as_large_as_its_name_says, lambda cell: cell.name)


def is_valid_and_as_large_as_its_name_says(cell: Cell) -> None:
    desc = described(cell)
    assert dml.check(desc) == []
    tensors = [tensor for name in ("input", "roi", "output") if (tensor := getattr(desc, name, None)) is not None]
    moved = sum(math.prod(tensor.sizes) for tensor in tensors) * dtype_of(cell).itemsize / 1e6
    least, most = MEGABYTES[cell.size]  # of FLOAT32, and other data types of the same sizes
    assert least <= moved * 4 / dtype_of(cell).itemsize <= most


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: f"{figure.work}, {figure.peer}")
def test_a_figure_to_reach_speaks_of_cells_that_exist(figure: Figure) -> None:
    assert any(figure.covers(cell) for cell in CELLS)


@each_of("cell", [cell for cell in CELLS if cell.size in ("tiny", "small")])
def test_results_agree_with_the_peers_that_are_here(cell: Cell) -> None:
    calls, absent, _ = prepare(cell, OPERATORS[cell.operator].inputs(cell))  # raises if a result differs
    assert {OURS, OURS_OUT} <= set(calls)
    for name in peers.NAMES:
        assert (name in calls) != (name in absent)
        if reason := peers.missing(name):
            assert absent[name] == reason


LACKING = {("unfold", "onnxruntime"), ("lp_pooling1", "torch")}


@pytest.mark.parametrize("name", peers.NAMES)
def test_a_peer_does_the_work_of_some_cells(name: str) -> None:
    if reason := peers.missing(name):
        pytest.skip(reason)
    for operator in OPERATORS.values():
        found = [peer_of(name, cell) for cell in operator.cells if cell.size == "tiny"]
        assert any(isinstance(peer, Forms) for peer in found) == ((operator.name, name) not in LACKING)


def peer_of(name: str, cell: Cell) -> Peer:
    inputs = OPERATORS[cell.operator].inputs(cell)
    out = our_call(cell, inputs, None).once()
    return OPERATORS[cell.operator].peer(name, cell, inputs, out)


def test_a_result_that_differs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = next(cell for cell in CELLS if cell.size == "tiny")
    wrong = dataclasses.replace(
        OPERATORS[cell.operator], numpy=lambda cell, inputs, out: Forms(call(lambda: np.zeros_like(out)))
    )
    monkeypatch.setitem(OPERATORS, cell.operator, wrong)
    with pytest.raises(Differs, match="result of numpy differs"):
        prepare(cell, wrong.inputs(cell))


def test_peers_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "onnxruntime"):
        monkeypatch.setitem(peers.NEEDS, name, (f"no_such_{name}",))
    cell = next(cell for cell in CELLS if cell.operator == "average_pooling" and cell.size == "tiny")
    calls, absent, _ = prepare(cell, OPERATORS[cell.operator].inputs(cell))
    assert set(calls) >= {"numpy", "numpy out"}
    assert absent == {name: f"no_such_{name} not installed" for name in ("torch", "onnxruntime")}


@pytest.mark.parametrize("megabytes", [1, 1024])
def test_cost_against_size_is_measured_at_the_sizes_it_says(megabytes: int) -> None:
    for cell in sweep_cells(megabytes):
        desc = described(cell)
        moved = sum(math.prod(tensor.sizes) for tensor in (desc.input, desc.output)) * 4
        assert moved == pytest.approx(megabytes * 1e6, rel=0.1)


def test_layouts_are_what_they_are_called() -> None:
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    for layout in LAYOUTS:
        y = placed(x, layout)
        assert np.array_equal(y, x) and y.flags.c_contiguous == (layout == "contiguous")
    assert placed(x, "channels_last").transpose(0, 2, 3, 1).flags.c_contiguous
