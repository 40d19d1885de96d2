"""Two checkouts beside each other: what is printed, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.beside import HERE, OURS, THERE, line, summary
from benchmarks.main import main
from benchmarks.timing import Times

CELL = "padding1/tiny/CONSTANT-by-3/FLOAT32"


def test_a_checkout_beside_itself_has_the_same_bits(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--beside", str(OURS), "--only", CELL, "--quick"]) == 0
    out = capfd.readouterr().out
    assert "3 calls in" in out and "the results of 0 cells differ" in out
    assert out.count("padding1/CONSTANT-by-3/tiny/FLOAT32/contiguous 1t dmlcy") >= 3


@pytest.mark.parametrize("build", ["", "import nothing_like_this"])
def test_a_folder_without_a_package_is_refused(build: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if build:
        (tmp_path / "dmlcy").mkdir()
        (tmp_path / "dmlcy" / "__init__.py").write_text(build)
    assert main(["--beside", str(tmp_path), "--only", CELL]) == 2
    assert f"{str(tmp_path)!r} has no package that is built in place" in capfd.readouterr().err


def test_a_line_has_the_ratio_of_the_medians() -> None:
    times = {HERE: Times(3e-6, 2e-6, 4e-6, 5, 10), THERE: Times(2e-6, 1e-6, 3e-6, 5, 10)}
    assert line("a cell", times).split() == ["1.50", "3.00", "µs", "2.00", "µs", "a", "cell"]


def test_the_summary_names_the_slower_calls_only() -> None:
    text = summary({"slow": 2.0, "fast": 0.5, "same": 1.0})
    assert "1.000 (geometric mean)" in text and "1 of 3 calls take more than 1.05" in text
    assert text.splitlines()[-1].split() == ["2.00", "slow"]
    assert "0 of 1 calls take more than 1.05." in summary({"same": 1.0})
