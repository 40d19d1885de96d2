"""The committed cells: none is lost, each is valid, peers agree with dmlcy; the command sums up what it measured."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import in_turn
from each import each, each_of
from saturation import saturates

import dmlcy as dml
from benchmarks import peers
from benchmarks.families import OPERATORS as FAMILIES
from benchmarks.groups import all_groups, committed_cells, lock, table
from benchmarks.groups.command import main
from benchmarks.groups.compared import Differs, compare, errors, same
from benchmarks.groups.contenders import contenders_of
from benchmarks.groups.inputs import inputs_of
from benchmarks.groups.measure import Row
from benchmarks.groups.model import ADD, COMPILED, DIRECT, Cell, Copy, Figure, Group, Work
from benchmarks.groups.networks import graph_of
from benchmarks.groups.ours import expression_of
from benchmarks.groups.read import read
from benchmarks.groups.table import summary
from benchmarks.timing import Times
from dmlcy._facts.tables import NAMES

CELLS = {cell.name: cell for cell in committed_cells()}
OPERATORS = [cell for cell in CELLS.values() if not cell.network]
FIRST = {cell.work: (group, cell) for group in all_groups().values() for cell in reversed(group.cells)}
QUICK = (
    "tiny/activation_relu", "tiny_peers/gemm4", "arithmetic/if", "half/add", "functions/exp", "activations/gelu",
    "layouts/channel", "integers/cast_float32_uint8", "moves/split_rows", "indices/gather_rows", "reductions/l2_last",
    "reductions_strided/argmax_last_sliced", "normalizations/layer_normalization", "selection/with_nan",
    "pooling/average_3d_2x2-s2", "sampling/linear_2x", "gradients/max_pooling_grad_2x2-s2",
    "beside_forward/resample_grad_linear", "products/square_64", "convolutions/mobilenetv3_1x1_72to24_1",
    "convolutions_depthwise/depthwise_3x3_200_14", "products_integer/matrix_uint8int8_128x128x128", "recurrent/gru",
    "attention/masked",
)  # fmt: skip


# The cells


def test_no_committed_cell_is_taken_out_or_changed() -> None:
    new, wrong = lock.compare(CELLS.values())
    assert wrong == []
    assert new == {}, "python -m benchmarks figures --lock lists them"


def test_the_list_refuses_less_work(tmp_path: Path) -> None:
    path = tmp_path / "cells.lock"
    some = [CELLS[name] for name in ("arithmetic/add/1MB/float32", "arithmetic/add/64MB/float32")]
    assert lock.write(some[:1], path) == []
    assert lock.write(some, path) == []  # one is added
    written = path.read_text(encoding="utf-8")
    first, second = some
    other = {
        "is taken out": [first],
        "has another call or other inputs": [first, dataclasses.replace(second, sizes=(1, 1, 128, 128))],
        "has lost a peer: nto were listed": [
            first,
            dataclasses.replace(second, works={"numpy": second.works["numpy"]}),
        ],
    }
    for reason, cells in other.items():
        assert lock.write(cells, path) == [f"{second.name} {reason}"]
    slower = dataclasses.replace(second, dtype="float16")
    assert lock.write([first, slower], path) == [f"{second.name} has another call or other inputs"]
    assert path.read_text(encoding="utf-8") == written


def test_cells_have_names_of_their_own_and_all_operators_are_measured() -> None:
    assert len(CELLS) == len(committed_cells())
    assert {expression_of(cell).function for cell in OPERATORS} | set(FAMILIES) == set(NAMES.values())


@each_of("cell", OPERATORS)
def test_the_call_of_a_cell_is_valid(cell: Cell) -> None:
    graph = expression_of(cell).graph(inputs_of(cell, real=False))  # raises if it is not
    assert len(graph.inputs) == sum(map(expression_of(cell).reads, cell.inputs))


@pytest.mark.parametrize("group", all_groups().values(), ids=lambda group: group.name)
def test_a_group_has_a_figure_and_contenders_to_compare_with(group: Group) -> None:
    assert group.figures and group.cells
    assert {figure.form for figure in group.figures} <= {DIRECT, COMPILED}
    if ADD not in group.against and not any(cell.network for cell in group.cells):
        assert any(set(cell.works) & set(group.against) for cell in group.cells)


@each_of("name", QUICK)
def test_results_agree_with_the_peers(name: str) -> None:
    if "uint8int8" in name and not peers.missing("onnxruntime") and saturates():
        name = name.replace("uint8int8", "uint8uint8")
    agrees(*FIRST[name])


@pytest.mark.deep
@in_turn
@pytest.mark.parametrize("group", all_groups().values(), ids=lambda group: group.name)
def test_results_of_each_work_agree_with_the_peers(group: Group) -> None:
    if any(cell.network for cell in group.cells) and (reason := peers.missing("onnxruntime")):
        pytest.skip(reason)
    works = [cell for owner, cell in FIRST.values() if owner is group]
    each(works, lambda cell: agrees(group, cell), lambda cell: cell.name)


def agrees(group: Group, cell: Cell) -> None:
    """Each contender that is here gives our result."""
    calls, absent, _ = contenders_of(group, cell)
    compare(cell, {name: call for name, call in calls.items() if name != ADD})  # raises if a result differs
    for name in peers.NAMES:
        assert (name in calls) != (name in absent)


def test_a_network_is_a_graph_without_inputs_for_its_weights() -> None:
    if reason := peers.absent("onnx"):
        pytest.skip(reason)
    graph = graph_of("super_resolution")
    assert len(graph.inputs) == 1 and dml.check(graph) == []


# How they are compared


def test_a_result_that_differs_is_refused() -> None:
    group, cell = FIRST["arithmetic/add"]
    wrong = dataclasses.replace(cell, works={"numpy": Work("np.subtract(a, b, out=out)")})
    calls, _, _ = contenders_of(group, wrong)
    with pytest.raises(Differs, match="result of numpy differs"):
        compare(wrong, calls)


def test_results_are_as_near_as_they_must_be() -> None:
    x = np.array([1, 2, np.nan, np.inf], np.float32)
    assert same(x, x.copy(), None)
    assert same(x * np.float32(1.00001), x, None) and not same(x * np.float32(1.01), x, None)
    assert not same(x * np.float32(1.00001), x, 0.0)
    assert same(np.array([True]), np.array([1], np.uint8), None) and not same(np.array([2]), np.array([1]), None)


def test_errors_are_counted_in_units_of_the_last_place() -> None:
    if reason := peers.missing("torch"):
        pytest.skip(reason)
    cell = dataclasses.replace(
        FIRST["functions/exp"][1],
        works={"torch": Work("torch.exp(x, out=out)"), "numpy": Work("np.exp(x) * np.float32(1.001)")},
    )
    calls, _, inputs = contenders_of(FIRST["functions/exp"][0], cell)
    found = errors(cell, inputs, calls)
    assert found[DIRECT] <= 2 and found["torch"] <= 4 and 5_000 < found["numpy"] < 20_000


# The command


def row(name: str, threads: int = 1, errors: dict[str, float] | None = None, **medians: float) -> Row:
    times = {name.replace("_", " "): Times(median, median, median, 3, 1) for name, median in medians.items()}
    return Row(CELLS[name], threads, times, {}, errors or {})


ADDED, DIVIDED = "arithmetic/add/1MB/float32", "arithmetic/divide/1MB/float32"


def group(figure: Figure, **others: Any) -> Group:
    return Group("arithmetic", "some work", 1, others.pop("against", peers.NAMES), [figure], [CELLS[ADDED]], **others)


def test_a_group_is_summed_up_with_its_worst_cells() -> None:
    rows = [row(ADDED, dmlcy=1.0, numpy=3.0, torch=2.0), row(DIVIDED, dmlcy=2.0, numpy=1.0)]
    found = [*summary(group(Figure(DIRECT, mean=1.0, each=0.6)), rows)]
    assert found == [
        "arithmetic: some work",
        "  1t  dmlcy, speed beside the best of numpy, torch, onnxruntime: mean 1.00, median 1.25, 2 cells; "
        "mean ≥ 1: yes; each ≥ 0.6: 1 of 2 miss it",
        f"      0.50  {DIVIDED}  (numpy)",
        f"      2.00  {ADDED}  (torch)",
    ]
    assert [*summary(group(Figure(DIRECT)), rows, below=1.0)][2:] == [f"      0.50  {DIVIDED}  (numpy)"]


def test_networks_say_what_compile_did_to_them() -> None:
    cell = dataclasses.replace(CELLS[ADDED], network="lstm_tagger")
    times = {COMPILED: Times(1, 1, 1, 3, 1)}
    rows = [Row(cell, threads, times, {}, {}, "epilogues 1 of 2 nodes") for threads in (1, 2)]
    found = [*summary(group(Figure(COMPILED)), rows)]
    assert found[3:] == ["  lstm_tagger: epilogues 1 of 2 nodes"]


def test_a_figure_can_be_a_limit_to_our_time_and_about_operators_with_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = "tiny/max_pooling/tiny/float32"
    added: dict[str, Any] = {ADD: 2.0}
    rows = [row(fast, dmlcy=1.0, **added), row("recurrent/lstm/b1/float32", dmlcy=8.0, **added)]
    monkeypatch.setattr(table, "has_loops", lambda one: one is rows[0])
    limit = group(Figure(DIRECT, mean=0.8, at_most=True), against=(ADD,), loops=True)
    assert [*summary(limit, rows)][1:] == [
        "  1t  dmlcy, time in units of numpy.add: mean 0.50, median 0.50, 1 cells; mean ≤ 0.8: yes",
        f"      0.50  {fast}  (numpy.add)",
        "  1t  the same of operators without loops: mean 4.00, median 4.00, 1 cells",
    ]


def test_the_part_of_memcpy_is_of_one_size() -> None:
    large = "arithmetic/add/64MB/float32"
    rows = [row(name, dmlcy=2.0, numpy=1.0, memcpy=share) for name, share in ((ADDED, 0.2), (large, 1.0))]
    found = [*summary(group(Figure(DIRECT), memcpy=Copy("64MB", each=0.85)), rows)]
    assert found[-2:] == [
        "  1t  part of memcpy, 64MB: mean 0.50, median 0.50, 1 cells; each ≥ 0.85: 1 of 1 miss it",
        f"      0.50  {large}",
    ]


def test_a_cell_can_have_a_limit_of_its_own() -> None:
    rows = [row(f"windows/window_{window}/small/float32", dmlcy=1.5, beside=1.0) for window in (8, 16)]
    found = [*summary(group(Figure(DIRECT, at_most=True), against=("beside",)), rows)]
    assert found[1].endswith("; each ≤ 1.2, 1.8: 1 of 2 miss it")


def test_a_figure_can_be_a_time() -> None:
    rows = [row(ADDED, dmlcy=0.002, numpy=0.001), row(DIVIDED, dmlcy=0.004, numpy=0.001)]
    found = [*summary(group(Figure(DIRECT, seconds=0.003)), rows)]
    assert found[2] == "    4 ms in place of 3 ms at most: NO"


def test_a_peer_that_is_not_exact_enough_does_not_count() -> None:
    figure = Figure(DIRECT)
    one = row(ADDED, errors={"numpy": 5.0, "torch": 1.0}, dmlcy=1.0, numpy=1.0, torch=2.0)
    assert one.ratio(group(figure, most_ulp=4), figure) == 2.0
    assert one.ratio(group(figure, most_ulp=math.inf), figure) == 1.0
    assert row(ADDED, dmlcy=1.0).ratio(group(figure), figure) is None


def test_a_quick_run_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures.json"
    arguments = ["--group", "tiny", "arithmetic", "--only", "element_wise_add", "add", "--threads", "1", "--quick"]
    assert main([*arguments, "--cells", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "tiny: tiny calls with all checks" in printed and "1t  dmlcy, speed beside the best of" in printed
    assert "2 rows in" in printed.splitlines()[-1]
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [one["cell"] for one in found["rows"]] == ["tiny/element_wise_add/tiny/float32", ADDED]
    assert {DIRECT, COMPILED, ADD} <= set(found["rows"][0]["times"])


@pytest.mark.deep
def test_the_memory_of_a_process_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    if reason := peers.missing("onnxruntime"):
        pytest.skip(reason)
    if not Path("/proc/self/status").exists():
        pytest.skip("/proc/self/status is not there")
    assert main(["--resident", "--only", "lstm_tagger"]) == 0
    ratio, name, *_ = capsys.readouterr().out.split()
    assert 0.1 < float(ratio) < 10 and name == "lstm_tagger"


def test_cells_are_listed_and_options_without_a_cell_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--group", "nodes"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["  nodes/tanh_chain/whole/float32", "1 cells in 1 groups"]
    assert main(["--only", "no-such-cell"]) == 2
    assert "these options leave no cell" in capsys.readouterr().err


def test_a_file_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "group.toml"
    path.write_text('title = "t"\npage = 1\nfigures = 2\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"group\.toml: unknown keys figures"):
        read(path)
