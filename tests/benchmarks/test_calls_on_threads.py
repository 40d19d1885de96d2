"""The command that measures calls on more threads: its works are valid, and it says which ones gain too little."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import threads
from benchmarks.groups.inputs import inputs_of
from benchmarks.groups.ours import expression_of
from benchmarks.groups.read import read

LOOPS = {path.stem for path in (Path(__file__).parents[2] / "dmlcy" / "_runtime").glob("*.pyx")}
OTHER = {"convolutions": "products"}
"""Loops that are in the module of others."""


def test_each_work_is_valid_and_names_a_module_of_loops() -> None:
    cells = read(threads.WORKS).cells
    assert set(threads.APART) <= {threads.name_of(cell) for cell in cells}
    for cell in cells:
        words = threads.name_of(cell).split("_")
        module = next(("_".join(words[:n]) for n in range(len(words), 0, -1) if "_".join(words[:n]) in LOOPS), words[0])
        assert OTHER.get(module, module) in LOOPS, cell.name
        expression = expression_of(cell)
        graph = expression.graph(inputs_of(cell, real=False), cell.constants)
        assert type(graph.nodes[-1].desc).__name__.lower() == expression.function.replace("_", ""), cell.name


def test_a_run_and_its_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert threads.main(["--counts", "2"]) == 2
    assert "the counts need 1" in capsys.readouterr().err
    assert threads.main(["--only", "no_such"]) == 2
    assert "leave no work" in capsys.readouterr().err
    assert (
        threads.main(["--only", "folds", "--counts", "1", "2", "--seconds", "0.001", "--out", str(tmp_path / "o")]) == 0
    )
    printed = capsys.readouterr().out
    assert "| loops | one thread, ms | 2 threads |\n|---|---|---|\n| folds_log_sum_exp | " in printed
    assert "2 threads: " in printed and '"folds_log_sum_exp": {' in (tmp_path / "o").read_text()


def test_what_gains_too_little() -> None:
    found = {"a": {1: 1.0, 8: 6.5, 16: 9.0}, "b": {1: 1.0, 8: 6.3, 16: 12.0}}
    eight, sixteen = threads.summary(found, (1, 8, 16))
    assert eight == "8 threads: 6.40 times faster in the mean; below 6.4: b 6.30"
    assert sixteen == "16 threads: 10.39 times faster in the mean; below 10: a 9.00"


def test_calls_beside_each_other_begin_together() -> None:
    begun: list[int] = []
    assert threads.together([lambda: begun.append(1)] * 3) < 10
    assert begun == [1, 1, 1]
