"""Which lines of the Cython files run under the tests, kernels without the GIL included.

``python -m tests.reliability.lines [ARGUMENT ...]`` builds the changed files into a folder of its own, and runs
``python -m pytest`` on it. The default tests are those of families, operators, package and runtime, deep ones included.
The command prints a table: per file the lines that have code, the part that ran, and the lines that did not run. GCC
only: gcov counts lines of C, and Cython's comments lead back to the .pyx.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "build" / "lines"
MARKER: Final = re.compile(r'\s*/\* "(dmlcy/[^"]+)":(\d+)$')
TESTS: Final = ("-m", "not slow", "tests/families", "tests/operators", "tests/package", "tests/runtime")


def build() -> None:
    """Build what changed, and forget the counts of earlier runs."""
    command = [sys.executable, "setup.py", "-q", "build", f"--build-base={FOLDER}", f"--build-lib={FOLDER / 'lib'}"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "DMLCY_LINES": "1"}, check=True)
    for counts in FOLDER.rglob("*.gcda"):
        counts.unlink()


def run(arguments: list[str]) -> int:
    """Run the tests on the build."""
    paths = os.pathsep.join([str(FOLDER / "lib"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def counted() -> dict[str, Counter[int]]:
    """How often each line of each Cython file ran."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for notes in sorted(FOLDER.rglob("*.gcno")):
        command = ["gcov", "--json-format", "--stdout", str(notes)]
        report = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
        for file in report["files"]:
            if file["file"].endswith(".c"):
                counts = {line["line_number"]: line["count"] for line in file["lines"]}
                for path, line, count in led_back((ROOT / file["file"]).read_text(), counts):
                    found[path][line] += count
    return found


def led_back(text: str, counts: dict[int, int]) -> Iterator[tuple[str, int, int]]:
    """The counts of generated C by the lines that it was generated from: what follows a marker is the line's own."""
    path, number = "", 0
    for at, line in enumerate(text.splitlines(), 1):
        marker = MARKER.match(line)
        if marker:
            path, number = marker[1], int(marker[2])
        elif path and at in counts:
            yield path, number, counts[at]
            path = ""


def spans(lines: list[int]) -> str:
    """Numbers, with a - between the first and the last of each row of neighbours."""
    ends = [0, *(at for at, (a, b) in enumerate(pairwise(lines), 1) if b != a + 1), len(lines)]
    rows = [lines[start:end] for start, end in pairwise(ends) if start < end]
    return ", ".join(str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}" for row in rows)


def main(arguments: list[str]) -> int:
    """Build, run, print."""
    if shutil.which("gcov") is None:
        raise SystemExit("gcov is not here: it comes with GCC")
    build()
    status = run(arguments or list(TESTS))
    print(f"{'file':<42}{'lines':>7}{'ran':>8}  did not")
    for file, counts in sorted(counted().items()):
        missed = sorted(line for line, count in counts.items() if count == 0)
        ran = 100 * (len(counts) - len(missed)) / len(counts)
        print(f"{file:<42}{len(counts):>7}{ran:>7.1f}%  {spans(missed)}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
