"""The loop in docs/conformance.md, compiled, finds the elements that ``compare`` finds."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dmlcy._judge.differences import measure
from dmlcy._reference.accuracy import Bound

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
PROGRAM = """
#include <cmath>
#include <cstdio>
#include <vector>
int main(int, char** arguments) {
    std::FILE* file = std::fopen(arguments[1], "rb");
    size_t count; bool exact; double after;
    std::fread(&count, sizeof count, 1, file); std::fread(&exact, 1, 1, file); std::fread(&after, 8, 1, file);
    std::vector<float> expected(count), got(count);
    std::vector<double> allowed(count);
    std::fread(expected.data(), 4, count, file); std::fread(got.data(), 4, count, file);
    std::fread(allowed.data(), 8, count, file);
    auto fail = [](size_t i) { std::printf("%zu\\n", i); };
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
def test_the_loop_of_the_page_finds_what_compare_finds(exact: bool, loop: Path) -> None:
    grid = np.array(np.meshgrid(SPECIALS, SPECIALS, ALLOWED)).reshape(3, -1)
    expected, got, allowed = grid[0].astype("f4"), grid[1].astype("f4"), grid[2].copy()
    data = loop.parent / "data"
    head = np.uint64(expected.size).tobytes() + bytes([exact]) + np.float64(2.0**128).tobytes()
    data.write_bytes(head + expected.tobytes() + got.tobytes() + allowed.tobytes())
    said = subprocess.run([loop, data], check=True, capture_output=True, text=True, timeout=300).stdout
    failed = {int(line) for line in said.split()}
    bound = None if exact else Bound(1.0, "1", "result")
    for at in range(expected.size):
        one = slice(at, at + 1)
        found = measure(expected[one], got[one], bound, None if exact else allowed[one], sides=1)
        assert (at in failed) == (found.exceeding == 1), (expected[at], got[at], allowed[at])
    assert 0 < len(failed) < expected.size
