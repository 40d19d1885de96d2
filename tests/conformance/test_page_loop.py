"""The loop in docs/conformance.md, compiled, finds the elements that ``compare`` finds."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dmlcy._judge.differences import measure
from dmlcy._judge.passes import Passes

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
PROGRAM = """
#include <cmath>
#include <cstdio>
#include <vector>
template <typename T> std::vector<T> read(std::FILE* file, size_t count) {
    std::vector<T> found(count);
    std::fread(found.data(), sizeof(T), count, file);
    return found;
}
int main(int, char** arguments) {
    std::FILE* file = std::fopen(arguments[1], "rb");
    size_t count = read<size_t>(file, 1)[0];
    bool has_flushed = read<char>(file, 1)[0];
    double after = read<double>(file, 1)[0];
    auto expected = read<float>(file, count), got = read<float>(file, count), flushed = read<float>(file, count);
    auto allowed = read<double>(file, count), typical = read<double>(file, count);
    auto flushed_allowed = read<double>(file, count);
    auto not_judged = read<char>(file, count);
    auto wrong = [](size_t i) { std::printf("wrong %zu\\n", i); };
    auto suspect = [](size_t i) { std::printf("suspect %zu\\n", i); };
LOOP
}
"""
SPECIALS = [0.0, -0.0, 1.0, 1.0000001, -1.0, 2.5, 1e-45, 3.4028235e38, 3.4028233e38, np.inf, -np.inf, np.nan]
ALLOWED = [0.0, 1e-7, 1.0, 2.0**104, 2.0**105, np.nan]


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no compiler of C++")
    (text,) = re.findall(r"```cpp\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    folder = tmp_path_factory.mktemp("loop")
    (folder / "loop.cpp").write_text(PROGRAM.replace("LOOP", text))
    subprocess.run([compiler, "-std=c++17", "-w", "-o", folder / "loop", folder / "loop.cpp"], check=True, timeout=300)
    return folder / "loop"


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("flushes", [False, True])
def test_the_loop_of_the_page_finds_what_compare_finds(exact: bool, flushes: bool, loop: Path) -> None:
    rng = np.random.default_rng(1)
    grid = np.array(np.meshgrid(SPECIALS, SPECIALS, ALLOWED)).reshape(3, -1)
    expected, got, allowed = grid[0].astype("f4"), grid[1].astype("f4"), grid[2] * (not exact)
    allowed[np.isnan(grid[2])] = 0.0 if exact else np.nan
    typical = np.where(
        np.isnan(allowed), rng.choice(ALLOWED, allowed.size), allowed * rng.choice([0.5, 2], allowed.size)
    )
    flushed, limits = rng.choice(got, got.size), rng.choice(ALLOWED, got.size)
    marks = rng.random(got.size) < 0.1
    data = loop.parent / "data"
    head = np.uint64(expected.size).tobytes() + bytes([flushes]) + np.float64(2.0**128).tobytes()
    data.write_bytes(head + b"".join(x.tobytes() for x in (expected, got, flushed, allowed, typical, limits, marks)))
    lines = subprocess.run([loop, data], check=True, capture_output=True, text=True, timeout=300).stdout.splitlines()
    for at in range(expected.size):
        one = slice(at, at + 1)
        passes = Passes(
            None if exact else allowed[one],
            None if exact else typical[one],
            (flushed[one], limits[one]) if flushes else None,
            (("ID", marks[one]),),
        )
        found = measure(expected[one], got[one], passes)
        said = f"wrong {at}" in lines, f"suspect {at}" in lines
        assert said == (found.failing.count == 1, found.suspect.count == 1), (expected[at], got[at], allowed[at])
    assert 0 < sum("wrong" in line for line in lines) < expected.size
    assert exact or 0 < sum("suspect" in line for line in lines) < expected.size
