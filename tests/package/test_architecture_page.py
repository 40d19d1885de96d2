"""docs/architecture.md names files that exist, and functions that are defined in the files beside them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
SPAN = re.compile(r"`([^`\n]+)`")
CODE = (".py", ".pyx", ".pxd", ".pxi", ".h", ".j2")
SUFFIXES = (*CODE, ".toml", ".lock", ".json", ".md", ".yml", ".pyi", ".svg")
PATH = re.compile(r"[\w.-]+(/[\w.-]*)*")
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")
TABLE = re.compile(r"^\| step \| function \| file [^\n]*\n\|[-|]+\|\n((?:\|[^\n]*\n)+)", re.M)
MADE = "dmlcy/_generated"
"""By codegen: git tracks a part of it only."""
BUILT = {"build/codegen/"}


@cache
def index() -> dict[str, list[str]]:
    """The files of the checkout by each part of their paths: ``moves``, ``moves/plan.pxi``, ``_runtime/moves``."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    made = (path.relative_to(ROOT).as_posix() for path in (ROOT / MADE).rglob("*.py*") if path.is_file())
    parts: dict[str, list[str]] = {}
    for path in sorted({*tracked, *made}):
        names = path.split("/")
        for begin in range(len(names)):
            for end in range(begin, len(names)):
                parts.setdefault("/".join(names[begin : end + 1]), []).append(path)
    return parts


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def found(name: str, near: str = "") -> list[str]:
    """The files that a path of the page can be, or those below it; first those in the folder of the row's last file."""
    paths = index().get(name.rstrip("/"), [])
    return sorted(paths, key=lambda path: (path != f"{near}/{name}", path != f"dmlcy/{name}", path))


def defines(text: str, name: str) -> bool:
    """Whether a source defines a function, a class, or a method of a class or of one that derives: ``Family.parts``."""
    owner, _, last = name.rpartition(".")
    if last not in text or (owner and not re.search(rf"^(?:cdef )?class .*\b{owner}\b", text, re.M)):
        return False
    return any(
        re.search(pattern, line)
        for line in text.splitlines()
        if last in line
        for pattern in (
            rf"^\s*(?:def|cdef|cpdef|class)\b[^=#]*?\b{last}\b *[(:]",
            rf"^[A-Za-z][^;=#]*\b{last}\(",
            rf"^\s*#\s*define (?:\w+ )?{last}\b",
            rf"^{last}\b[^=]* = ",
        )
    )


def rows(page: str) -> Iterator[tuple[list[str], list[str]]]:
    """Of the tables with steps, the functions and the files of each row."""
    for table in TABLE.findall(page):
        for line in table.splitlines():
            cells = line.strip("|").split("|")
            yield SPAN.findall(cells[1]), [span for span in SPAN.findall(cells[2]) if not span.endswith("/")]


def wrong_rows(page: str) -> list[str]:
    """The functions that no file of their row defines, and the files that do not exist."""
    problems = []
    for functions, names in rows(page):
        texts, near = [], ""
        for name in names:
            paths = [path for path in found(name, near) if path.endswith(name)]
            if not paths:
                problems.append(f"there is no file {name}")
                continue
            near = paths[0].rpartition("/")[0]
            texts.append(text_of(paths[0]))
        lacking = [name for name in functions if not any(defines(text, name) for text in texts)]
        problems += [f"{name} is not in {', '.join(names)}" for name in lacking]
    return problems


def spans(page: str, form: re.Pattern[str]) -> set[str]:
    return {span for span in SPAN.findall(page) if form.fullmatch(span)}


def wrong_paths(page: str) -> set[str]:
    """The spans that are paths of nothing."""
    paths = {span for span in spans(page, PATH) if "/" in span or span.endswith(SUFFIXES)}
    return {span for span in paths - BUILT if not found(span)}


@cache
def words() -> frozenset[str]:
    """Of the sources of the package and the generator."""
    paths = [path for part in ("dmlcy", "codegen") for path in index()[part] if path.startswith(f"{part}/")]
    read = (text_of(path) for path in paths if path.endswith(CODE) and not path.startswith(MADE))
    return frozenset(word for text in read for word in re.findall(r"\w+", text))


def wrong_names(page: str) -> set[str]:
    """The names outside the tables that are in no source."""
    return {span for span in spans(TABLE.sub("", page), NAME) if not {*span.split(".")} <= words() and not found(span)}


def test_each_function_is_in_the_file_beside_it() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(list(rows(page))) > 20
    assert wrong_rows(page) == []


def test_each_file_exists() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(spans(page, PATH)) > 100
    assert wrong_paths(page) == set()


def test_each_name_is_in_the_sources() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(spans(page, NAME)) > 50
    assert wrong_names(page) == set()


def test_what_is_wrong_is_found() -> None:
    table = "| step | function | file in `dmlcy/` |\n|---|---|---|\n"
    assert wrong_rows(f"{table}| a | `Program`, `quick` | `_runtime/program.pyx` |\n") == []
    assert wrong_rows(f"{table}| a | `Program` | `_runtime/program/steps.pxi` |\n") == [
        "Program is not in _runtime/program/steps.pxi"
    ]
    assert wrong_rows(f"{table}| a | `quick` | `_runtime/nothing.pyx` |\n") == [
        "there is no file _runtime/nothing.pyx",
        "quick is not in _runtime/nothing.pyx",
    ]
    assert wrong_paths("`_graph/nothing.py` and `_graph/run.py`") == {"_graph/nothing.py"}
    assert wrong_names("`Given.nothing_like_this` and `Given.restored`") == {"Given.nothing_like_this"}
    assert found("chains.pxi", "dmlcy/_runtime/program")[0] == "dmlcy/_runtime/program/chains.pxi"
