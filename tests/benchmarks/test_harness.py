"""The harness itself: what is planned, timed, copied, summed up and written; nothing here depends on how fast it is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from benchmarks import machine, peers
from benchmarks.cells import Cell
from benchmarks.checks import run_checks
from benchmarks.families import OPERATORS, all_cells
from benchmarks.figures import Figure, Judged, judge, judge_figure, linear, two_threads
from benchmarks.main import chosen, main, parse, plan
from benchmarks.memcpy import Memcpy, chunk_of, pieces
from benchmarks.memory import peak
from benchmarks.ratios import best_peer, geometric_mean, grid, memcpy_ratio, peer_ratio, rated, ratios
from benchmarks.report import duration, line, markdown, spread
from benchmarks.results import Results
from benchmarks.run import COMPILED, LIMIT, OURS, OURS_OUT, YARDSTICK, Differs, Row, run_cell
from benchmarks.timing import Times, measure, rest
from dmlcy._facts.tables import FAST as SPECS

CELLS = {cell.name: cell for cell in all_cells()}
TINY = CELLS["padding1/CONSTANT-by-3/tiny/FLOAT32/contiguous"]


def times(median: float) -> Times:
    return Times(median, median * 0.9, median * 1.2, 5, 10)


def row(name: str, threads: int = 2, peak: int | None = 0, **medians: float) -> Row:
    """A made-up row; a contender's name is written with `_` for a space."""
    found = {name.replace("_", " "): times(median) for name, median in medians.items()}
    return Row(CELLS[name], threads, 2000, found, {}, peak)


# Planned measurements


def names(*arguments: str) -> list[str]:
    return [cell.name for cell in chosen(parse(arguments))]


def test_a_full_run_has_every_cell() -> None:
    assert names() == list(CELLS)


def test_a_quick_run_has_nothing_large_and_only_contiguous_single_precision() -> None:
    found = [CELLS[name] for name in names("--quick")]
    assert {(cell.dtype, cell.layout) for cell in found} == {("FLOAT32", "contiguous")}
    assert {cell.size for cell in found} == {"tiny", "small", "medium", "target"}
    assert {cell.operator for cell in found} == set(OPERATORS)


def test_parts_of_names_choose_cells() -> None:
    found = names("--only", "unfold/large", "roi_pooling/tiny/FLOAT16")
    assert found == [
        "unfold/3x3-s1-p1/large/FLOAT32/contiguous",
        "roi_pooling/1-region-2x2/tiny/FLOAT16/contiguous",
    ]


def test_a_quick_run_takes_other_cells_only_if_they_are_named() -> None:
    plain = {(cell.dtype, cell.layout) for cell in map(CELLS.get, names("--quick", "--only", "unfold")) if cell}
    assert plain == {("FLOAT32", "contiguous")}
    assert "unfold/3x3-s1-p1/large/FLOAT32/contiguous" not in names("--quick", "--only", "unfold")
    for name in "unfold/3x3-s1-p1/large/FLOAT32/contiguous", "unfold/2x2-s2/small/FLOAT32/channels_last":
        assert names("--quick", "--only", name) == [name]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--only", "unfold", "unfodl/tiny"], "no cell has the parts 'unfodl/tiny'"),
        (["--sweep", "--only", "unfold"], "--sweep takes no cells"),
        (["--targets", "--only", "channels_last"], "these options leave no cell"),
        (["--render", "no-such.json"], "'no-such.json' has no results of a run"),
        (["--render", "pyproject.toml"], "'pyproject.toml' has no results of a run"),
    ],
)
def test_a_command_that_cannot_be_followed_says_why(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(machine.ROOT)
    status: object
    try:
        status = main(arguments)
    except SystemExit as leaving:
        status = leaving.code
    assert status == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("rest", ["", ', "seconds": 1, "checks": {}, "rows": [], "sweep": []'])
def test_results_of_another_version_are_refused(rest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results.json").write_text(f'{{"machine": {{}}{rest}}}', encoding="utf-8")
    assert main(["--render", str(tmp_path / "results.json")]) == 2
    assert "has no results of a run" in capsys.readouterr().err


def test_only_a_full_run_writes_without_being_told() -> None:
    assert parse([]).out == machine.ROOT / "docs" / "benchmarks"
    for part in ["--quick"], ["--targets"], ["--sweep"], ["--only", "tiny"], ["--threads", "1"]:
        assert parse(part).out is None


def test_targets_are_a_part_of_the_grid() -> None:
    found = names("--targets")
    assert "unfold/3x3-s1-p1/target/FLOAT32/contiguous" in found
    assert "unfold/3x3-s1-p1/small/FLOAT32/contiguous" not in found


def test_tiny_calls_have_one_thread_and_single_precision_has_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.main.default_threads", lambda: 2)
    counts: dict[str, list[int]] = {}
    for cell, threads in plan(parse([])):
        counts.setdefault(cell.name, []).append(threads)
    assert counts[TINY.name] == [1]
    assert counts["unfold/3x3-s1-p1/target/FLOAT32/contiguous"] == [1, 2]
    assert counts["unfold/3x3-s1-p1/medium/UINT8/contiguous"] == [2]
    assert {threads for _, threads in plan(parse(["--threads", "1"]))} == {1}


# Timing and copies


def test_contenders_take_turns_and_the_median_is_per_call() -> None:
    log: list[str] = []

    def block(name: str, seconds: float):  # type: ignore[no-untyped-def]
        def run(calls: int) -> float:
            log.append(name)
            return calls * seconds

        return run

    found = measure({"a": block("a", 1e-3), "b": block("b", 0.1)}, 0.2)
    assert found["a"].median == pytest.approx(1e-3) and found["a"].calls == 15
    assert found["b"].median == pytest.approx(0.1) and found["b"].calls == 1
    assert found["a"].low == pytest.approx(found["a"].high)
    assert measure({"long": block("long", 2.0)}, 0.2)["long"].blocks == 2
    turns = [name for before, name in zip([None, *log], log, strict=False) if name != before]
    assert turns[:8] == ["a", "b"] * 4


def test_a_block_waits_until_no_thread_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([0.0, 0.002, 0.002, 0.003, 0.003, 0.003, 0.5])
    monkeypatch.setattr(time, "process_time", lambda: next(taken))
    rest()
    assert next(taken) == 0.5


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("read", "written"), [(10, 10), (1 << 22, 1 << 20), (5_000_001, 45_000_007), (300_000, 4)])
def test_memcpy_passes_over_the_larger_side_once(read: int, written: int, threads: int) -> None:
    chunk = chunk_of(read, written, threads)
    most, least = max(read, written), max(min(read, written), chunk * threads)
    sides = (most, least) if read > written else (least, most)
    place = 1 if read > written else 0
    end = 0
    for copies in pieces(*sides, threads, chunk):
        for copy in copies:
            assert copy[place] == end
            assert 0 <= copy[1 - place] <= least - copy[2]
            end += copy[2]
    assert end == most


def test_memcpy_copies() -> None:
    copy = Memcpy(100_000, 1_000_000, 2)
    copy.source[:], copy.target[:] = 7, 0
    assert copy(2) > 0
    assert (copy.target == 7).all()


def test_the_facts_have_the_version_of_the_package() -> None:
    assert machine.facts()["versions"]["dmlcy"] == dml.__version__


def test_peak_memory_is_what_a_call_allocates() -> None:
    if peak(lambda: None) is None:
        pytest.skip("/proc/self/clear_refs is not there or not writable")
    large, none = peak(lambda: np.ones(40_000_000, np.uint8)), peak(lambda: None)
    assert large is not None and 39e6 <= large <= 44e6
    assert none is not None and none <= 4e6


def test_a_cell_runs_with_all_its_contenders() -> None:
    found = run_cell(TINY, 1, 0.01)
    assert {OURS, OURS_OUT, COMPILED, YARDSTICK, "numpy", "numpy out"} <= set(found.times)
    assert TINY.name in line(found)
    medium = run_cell(CELLS["unfold/2x2-s2/small/FLOAT32/channels_last"], 2, 0.01)
    assert {OURS, OURS_OUT, LIMIT, "numpy", "numpy out"} <= set(medium.times)
    assert medium.moved == 2 * 4 * 32 * 64 * 64


# Figures made of the times


def test_ratios_compare_like_with_like() -> None:
    one = row(TINY.name, dmlcy=3.0, dmlcy_out=2.0, numpy=12.0, numpy_out=9.0, torch=6.0, torch_out=4.0, memcpy=1.0)
    assert peer_ratio(one) == 2.0  # with a tensor given, against the best form of all
    assert peer_ratio(one, OURS) == 2.0  # allocating, against allocating
    assert ratios(one) == {"numpy": 4.5, "torch": 2.0}
    assert memcpy_ratio(one) == 0.5
    assert peer_ratio(row(TINY.name, dmlcy_out=1.0)) is None
    assert best_peer(one) == "PyTorch"


def test_the_mean_is_geometric_and_the_worst_comes_first() -> None:
    assert geometric_mean([1, 10, 100]) == pytest.approx(10)
    rows = [row(name, dmlcy_out=1.0, numpy=float(n)) for n, name in zip((5, 2, 9), CELLS, strict=False)]
    assert [value for value, _ in rated(rows)] == [2, 5, 9]


def test_the_grid_counts_a_cell_once_with_the_most_threads() -> None:
    name = "unfold/3x3-s1-p1/target/FLOAT32/contiguous"
    assert [one.threads for one in grid([row(name, 1), row(name, 2)])] == [2]


POOLED = CELLS["average_pooling/7x7-s1-p3/medium/FLOAT32/contiguous"].name
CONSTANT, EDGE = (CELLS[f"padding1/{mode}-by-3/medium/FLOAT32/contiguous"].name for mode in ("CONSTANT", "EDGE"))


def test_the_worst_cell_decides_a_figure() -> None:
    rows = [row(CONSTANT, dmlcy_out=1.0, memcpy=0.7), row(EDGE, dmlcy_out=1.0, memcpy=0.5)]
    figure = Figure("padding", "memcpy", (LIMIT,), 0.6, ("padding1/medium",))
    judged = Judged("padding", "memcpy", "≥ 0.6×", "0.50× (1 of 2 miss it)", False, EDGE)
    assert judge_figure(figure, rows) == judged
    assert judge_figure(figure, rows[:1]) == Judged("padding", "memcpy", "≥ 0.6×", "0.70×", True, CONSTANT)
    assert judge_figure(figure, []).reached is None


def test_a_figure_can_be_a_limit_to_our_time() -> None:
    figure = Figure("tiny", "add", (YARDSTICK,), 2.5, ("tiny",), OURS, at_most=True)
    tiny: dict[str, Any] = {OURS: 1.0, YARDSTICK: 0.5}
    edge: dict[str, Any] = {OURS: 1.0, YARDSTICK: 0.1}
    rows = [row(TINY.name, 1, **tiny), row(EDGE, **edge)]
    assert judge_figure(figure, rows) == Judged("tiny", "add", "≤ 2.5×", "2.00×", True, TINY.name)


def test_a_figure_tells_of_a_peers_faster_form() -> None:
    figure = Figure("edge", "torch", ("torch",), 1.2, (EDGE,))
    assert (
        judge_figure(figure, [row(EDGE, dmlcy_out=1.0, torch=1.5, torch_out=0.8)]).measured
        == "1.50×; 0.80× its form with `out=`"
    )
    assert judge_figure(figure, [row(EDGE, dmlcy_out=1.0, torch=1.5, torch_out=1.8)]).measured == "1.50×"


def test_the_figures_of_a_whole_run() -> None:
    pooling = "average_pooling/7x7-s1-p3/medium"
    rows = [
        row(f"{pooling}/FLOAT32/contiguous", 1, dmlcy_out=3.0, numpy=9.0),
        row(f"{pooling}/FLOAT32/contiguous", 2, dmlcy_out=2.0, numpy=8.0),
        row(f"{pooling}/FLOAT16/contiguous", 2, peak=3_000_000, dmlcy_out=2.5, numpy=2.5),
    ]
    found = {one.work: (one.measured, one.reached) for one in judge(rows, [])}
    part = f"2 of {len(CELLS)} cells"  # the grid is not all there
    assert found[f"{part}, geometric mean"] == ("2.00×", False)
    assert found[f"{part}, the worst"] == ("1.00×", True)
    every = [row(name, dmlcy_out=1.0, numpy=4.0) for name in CELLS]
    assert Judged("all cells, geometric mean", "best peer", "≥ 3×", "4.00×", True) in judge(every, [])
    assert found["FLOAT16 pooling"] == ("1.25×", True)
    assert found["two threads, compute-bound cells"] == ("1.50×", False)
    assert found["peak memory above input and output"] == ("3.00 MB (1 of 2 miss it)", False)
    assert found["cost per byte of 1 GB"] == ("not measured", None)
    assert two_threads(rows[:1]).reached is None


def test_cost_is_linear_if_a_byte_costs_what_it_costs_at_64_megabytes() -> None:
    def swept(megabytes: int, seconds: float) -> Row:
        cell = Cell("unfold", "3x3-s1-p1", f"{megabytes} MB", "FLOAT32", "contiguous", (1, 1, 1, 1), {})
        return Row(cell, 2, megabytes * 10**6, {OURS_OUT: times(seconds), LIMIT: times(seconds)}, {}, 0)

    assert linear([swept(1, 0.001), swept(64, 0.064), swept(1024, 1.024)]).measured == "1.00×"
    assert linear([swept(64, 0.064), swept(256, 0.3), swept(1024, 2.048)]).reached is False
    assert linear([swept(64, 0.064), swept(256, 0.3)]).measured == "not measured"


def test_numbers_are_short() -> None:
    assert [duration(seconds) for seconds in (1.5, 0.01234, 99.96e-6, 4.2e-7)] == [
        "1.5 s",
        "12.3 ms",
        "100 µs",
        "420 ns",
    ]
    assert spread(Times(2.0, 1.9, 2.2, 5, 10)) == "2 s −5 +10 %"


# Written files


@pytest.fixture
def results() -> Results:
    """A few rows that were run, and the rest made up."""
    padding = row(CONSTANT, dmlcy=1.1e-3, dmlcy_out=1e-3, numpy=2e-3, memcpy=9e-4)
    cell = Cell("padding1", "CONSTANT-by-3", "64 MB", "FLOAT32", "contiguous", (1, 1, 2, 2), {})
    swept = Row(cell, 2, 64_000_000, {OURS_OUT: times(0.01), LIMIT: times(0.008)}, {}, None)
    return Results(machine.facts(), [run_cell(TINY, 1, 0.01), padding], [swept], run_checks(0.01), 90.0)


def test_what_is_saved_is_read_again_and_gives_the_same_page(results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    results.save(path)
    first = Results.load(path)
    first.save(path)
    again = Results.load(path)
    assert markdown(again, []) == markdown(first, [])
    assert [one.cell.name for one in again.rows] == [TINY.name, CONSTANT]
    for row, kept in zip([*results.rows, *results.sweep], [*again.rows, *again.sweep], strict=True):
        same = ("threads", "moved", "peak", "absent")
        assert [getattr(kept, name) for name in same] == [getattr(row, name) for name in same]
        assert {*kept.times} == {*row.times}
        for name, found in row.times.items():
            assert kept.times[name].median == pytest.approx(found.median, rel=1e-3)
            if name in (OURS, OURS_OUT, COMPILED, YARDSTICK):
                assert kept.times[name].low == pytest.approx(found.low, rel=0.01)
                assert kept.times[name].high == pytest.approx(found.high, rel=0.01)
    page = markdown(again, ["a-plot.svg"])
    for text in ("## The grid", "## padding1", "![a plot](a-plot.svg)", "| CONSTANT-by-3 medium | 2 | 1 ms"):
        assert text in page


def test_what_was_not_measured_has_no_table(results: Results) -> None:
    page = markdown(Results(results.machine, sweep=results.sweep), [])
    assert "per kilobyte that is read or written" in page and "## The grid" not in page
    assert "of data movement" not in markdown(Results(results.machine, [row(POOLED, dmlcy_out=1.0, numpy=2.0)]), [])


def test_a_run_of_the_figures_prints_them(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(cell: Cell, threads: int, seconds: float) -> Row:
        return row(cell.name, threads, dmlcy=1.0, dmlcy_out=1.0, numpy=3.0)

    monkeypatch.setattr("benchmarks.main.run_cell", run)
    assert main(["--targets", "--only", "unfold/target"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert any(text.startswith("yes  unfold 4×32×56×56") and "≥ 2.5×  3.00×" in text for text in printed)
    assert any(text.startswith(f"yes  1 of {len(CELLS)} cells, the worst") for text in printed)


def test_a_run_of_sizes_measures_each_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.main.MEGABYTES", (1,))
    monkeypatch.setattr("benchmarks.main.SECONDS", {"small": 0.01})
    assert main(["--sweep", "--out", str(tmp_path)]) == 0
    found = Results.load(tmp_path / "results.json")
    assert (found.rows, found.checks) == ([], {})
    families = {spec.python: spec.family for spec in SPECS.values()}
    assert {families[one.cell.operator] for one in found.sweep} == {families[name] for name in OPERATORS}
    assert all(set(one.times) == {OURS_OUT, LIMIT} for one in found.sweep)


def test_every_line_of_a_table_has_as_many_columns(results: Results) -> None:
    columns = 0
    for text in markdown(results, []).splitlines():
        if text.startswith("|"):
            assert columns in (0, text.count("|"))
            columns = text.count("|")
        else:
            columns = 0


def test_a_run_made_before_is_rendered_again(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results.save(tmp_path / "results.json")
    assert main(["--render", str(tmp_path / "results.json")]) == 0
    assert (tmp_path / "moving.md").read_text(encoding="utf-8").startswith("# Operators that move")
    if reason := peers.absent("matplotlib"):
        assert f"no plots: {reason}" in capsys.readouterr().out
        pytest.skip(reason)
    plots = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert plots == ["moving-beside-the-best-peer.svg", "part-of-memcpy.svg", "time-against-size.svg"]


def test_a_legend_covers_no_point_and_each_operator_has_a_colour() -> None:
    if reason := peers.absent("matplotlib"):
        pytest.skip(reason)
    import matplotlib

    matplotlib.use("svg")
    from benchmarks.plots import drawings_of

    drawings = drawings_of(Results.load(Path(__file__).parents[2] / "docs" / "benchmarks" / "results.json"))
    assert len(drawings) == 3
    for draw in drawings.values():
        figure = draw()
        figure.canvas.draw()
        (axes,), (legend,) = figure.axes, figure.legends
        assert axes.get_legend() is None
        assert not legend.get_window_extent().overlaps(axes.get_window_extent())
        points = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata())]
        operators = {line.get_ydata()[0] if line.get_linestyle() == "None" else line.get_label() for line in points}
        assert len(operators) > 1
        assert len({tuple(line.get_color()) for line in points}) == len(operators)


def test_no_path_of_the_machine_is_written(results: Results, tmp_path: Path) -> None:
    results.save(tmp_path / "results.json")
    assert str(Path(dml.__file__).parent) not in (tmp_path / "results.json").read_text(encoding="utf-8")


def test_a_result_that_differs_leaves_its_row_out_and_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def differs(cell: Cell, threads: int, seconds: float) -> Row:
        if cell == TINY:
            raise Differs(f"{cell.name}: the result of numpy differs from dmlcy's")
        return row(cell.name, threads, dmlcy=1.0, dmlcy_out=1.0)

    monkeypatch.setattr("benchmarks.main.run_cell", differs)
    monkeypatch.setattr("benchmarks.peers.absent", lambda *packages: "not installed")
    assert main(["--only", "padding1/tiny/CONSTANT-by-3", "--out", str(tmp_path)]) == 1
    assert len(Results.load(tmp_path / "results.json").rows) == 3
    assert f"{TINY.name}: the result of numpy differs" in capsys.readouterr().out.splitlines()[-1]


def test_a_short_run_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.main.SECONDS", {"tiny": 0.01})
    monkeypatch.setattr("benchmarks.peers.absent", lambda *packages: "" if packages == ("numpy",) else "not installed")
    assert main(["--only", "padding1/tiny/CONSTANT-by-3/FLOAT32", "--out", str(tmp_path / "new")]) == 0
    found = Results.load(tmp_path / "new" / "results.json")
    assert [one.cell.name for one in found.rows] == [TINY.name]
    assert "PyTorch: not installed" in (tmp_path / "new" / "moving.md").read_text(encoding="utf-8")
