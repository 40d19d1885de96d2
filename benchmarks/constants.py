"""The tuned constants of the loops: values and meanings from ``dmlcy/_runtime``, the cells that show them from a table.

``constants.toml`` says of each file which of its constants were chosen by measuring, and which were not. The value and
the meaning of a constant are in its file only. ``python -m benchmarks constants`` measures the neighbours of a value.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from benchmarks.machine import ROOT

RUNTIME: Final = Path("dmlcy") / "_runtime"
TABLE: Final = ROOT / "benchmarks" / "constants.toml"
RECORDS: Final = ROOT / "benchmarks" / "constants.json"
PAGE: Final = ROOT / "docs" / "constants.md"
KEYS: Final = {"path", "cells", "tuned", "fixed", "bits", "bound", "measured"}

_ENUM: Final = re.compile(r"(?:cdef |ctypedef )?enum\b.*:")
_MEMBER: Final = re.compile(r"    ([A-Z]\w*) = ([^#\n]*\d[^#\n]*?) *(?:# (.*))?$")
_DEFINE: Final = re.compile(r"^[ \t]*#[ \t]*define (\w+) (\(?-?\d[^/\n]*?)[ \t]*(?:/\*(.*?)\*/)?[ \t]*$", re.M | re.S)
_BODY: Final = re.compile(r"\benum\b[^{;]*\{(.*?)\}", re.S)
_ENTRY: Final = re.compile(r"(\w+) = (\d+),?[ \t]*(?:/\*(.*?)\*/)?", re.S)
_INCLUDE: Final = re.compile(r'#[ \t]*include "([\w/]+\.h)"')
_UNDEF: Final = re.compile(r"#[ \t]*undef (\w+)")


@dataclass(frozen=True, slots=True)
class Constant:
    """A name for a number in a file of the runtime. The meaning is the comment behind it, or the lines above it."""

    path: str
    name: str
    value: str
    meaning: str
    start: int  # of the value in the file
    end: int

    @property
    def key(self) -> str:
        """The name for the command: products.pyx:WIDE."""
        return f"{self.path}:{self.name}"


@dataclass(frozen=True, slots=True)
class Entry:
    """The names of a file in the table."""

    path: str
    cells: tuple[str, ...]
    tuned: tuple[str, ...]
    fixed: tuple[str, ...]
    bits: tuple[str, ...]
    bound: tuple[str, ...]
    measured: Mapping[str, str]


def in_cython(path: str, text: str) -> Iterator[Constant]:
    """The members of enums that have a number, without those of headers."""
    place, inside, above = 0, False, ""
    for line in text.splitlines(keepends=True):
        if _ENUM.match(line):
            inside = True
        elif line.strip() and not line.startswith("    "):
            inside = False
        elif inside and (found := _MEMBER.match(line.rstrip("\n"))):
            yield _constant(path, found, place, above)
        above = above + line[5:] if line.startswith("    # ") else ""
        place += len(line)


def in_header(path: str, text: str) -> Iterator[Constant]:
    """The macros that are a number, and the members of enums that have one."""
    for found in _DEFINE.finditer(text):
        yield _constant(path, found, 0)
    for body in _BODY.finditer(text):
        for found in _ENTRY.finditer(body[1]):
            yield _constant(path, found, body.start(1))


def _constant(path: str, found: re.Match[str], place: int, above: str = "") -> Constant:
    meaning = re.sub(r"\s*\n[\s*]*", " ", found[3] or above).strip()
    return Constant(path, found[1], found[2], meaning, place + found.start(2), place + found.end(2))


def sources(root: Path = ROOT) -> dict[str, str]:
    """The texts of the runtime by path."""
    folder = root / RUNTIME
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".pxd", ".pxi", ".pyx")]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def constants(texts: Mapping[str, str]) -> list[Constant]:
    """All constants, without the parameters of texts that are included: those are forgotten behind them."""
    found = []
    for path, text in texts.items():
        forgotten = {name for one in _included(path, texts) for name in _UNDEF.findall(texts[one])}
        all_here = in_header(path, text) if path.endswith(".h") else in_cython(path, text)
        found += [one for one in all_here if one.name not in forgotten]
    return found


def _included(path: str, texts: Mapping[str, str]) -> set[str]:
    """The file, and the files that it includes."""
    found, waiting = set(), [path]
    while waiting:
        one = waiting.pop()
        if one in texts and one not in found:
            found.add(one)
            waiting += _INCLUDE.findall(texts[one])
    return found


@cache
def table() -> dict[str, Entry]:
    """The tables of constants.toml, by path."""
    return {entry.path: entry for entry in map(_entry, tomllib.loads(TABLE.read_text(encoding="utf-8"))["file"])}


def _entry(row: Mapping[str, Any]) -> Entry:
    if others := set(row) - KEYS:
        raise ValueError(f"constants.toml, {row.get('path')}: unknown keys {', '.join(sorted(others))}")
    names = {key: tuple(row.get(key, ())) for key in ("cells", "tuned", "fixed", "bits", "bound")}
    return Entry(row["path"], **names, measured=row.get("measured", {}))


def tuned() -> dict[str, tuple[Constant, Entry]]:
    """The tuned constants by key, in the order of the table."""
    by_path: dict[str, list[Constant]] = {}
    for one in constants(sources()):
        by_path.setdefault(one.path, []).append(one)
    return {
        one.key: (one, entry)
        for path, entry in table().items()
        for one in by_path.get(path, ())
        if one.name in entry.tuned
    }


@dataclass(frozen=True, slots=True)
class Record:
    """A measurement of the neighbours of a value: the time with each, in units of the time with the value of then."""

    value: str
    ratios: Mapping[str, float]
    processor: str
    threads: int

    def __str__(self) -> str:
        """The text of the last column: 512: 1.07, 2048: 1.00."""
        return ", ".join(f"{value}: {ratio:.2f}" for value, ratio in self.ratios.items())


def records(path: Path = RECORDS) -> dict[str, Record]:
    """The recorded measurements, by the key of a constant."""
    if not path.exists():
        return {}
    return {key: Record(**row) for key, row in json.loads(path.read_text(encoding="utf-8")).items()}


def record(key: str, measured: Record, path: Path = RECORDS) -> None:
    """Write a measurement in place of the one before, in the order of the keys."""
    rows = {name: asdict(one) for name, one in sorted({**records(path), key: measured}.items())}
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def edited(text: str, constant: Constant, value: str) -> str:
    """A file with another value of a constant."""
    return text[: constant.start] + value + text[constant.end :]


HEAD: Final = """\
# Tuned constants

<!-- python -m benchmarks constants --write makes this page from benchmarks/constants.toml and dmlcy/_runtime. -->

The loops of dmlcy have {count} numbers that were chosen by measuring. Examples are the size of a block, the least work
that is worth another thread, and the distance of a prefetch. The tables below say what each number means. Before you
choose another value, measure it in a checkout that is built in place:

```sh
python -m benchmarks constants products.pyx:WIDE
```

The command builds the package twice more: with half of the value, and with twice the value. A build takes a minute. The
command then times calls of operators that use the constant, which are [cells](glossary.md#cell) of the benchmark. The
line above each table lists these cells. The three builds compute a cell in turns. For each cell, the command prints the
time with each new value, divided by the time with the present value. If the ratio is above 1, the new value is slower.
Use an idle machine only. The option `--values 1024 2048` measures other values, and `--threads 2` uses more threads.

Some constants have a mark:

| mark | meaning |
|---|---|
| *bits* | the order of additions depends on the constant: another value changes the last bits of some results |
| *bound* | the code takes no larger value: with twice the value, results were wrong |

Without the mark *bits*, another value must not change a bit of a result. The command compares the results, and its exit
status is 1 if such a constant changes them. Half of the value and twice the value of each constant were tried in this
way. The meaning of a constant may say that the value is a multiple of another number. With a value that is no multiple,
results may be wrong, or the process may end.

The last column has the times with other values, as the command prints them: `512: 1.07` says that calls took 1.07 times
as long with the value 512, in the mean of the cells. The processor was {processors}. Eight constants were measured at
the same time, each on two processors of its own, so the ratios scatter. For some constants, both half of the value and
twice the value seem to take 0.9 of the time. So a ratio from 0.9 to 1.1 is no reason to change a value: measure it
alone on an idle machine first. Behind the times, some rows say what else a value comes from. `--record` writes the
times to `benchmarks/constants.json`. The constants are in the files of `dmlcy/_runtime/` that the headings name.
The file `benchmarks/constants.toml` lists the cells and the marks.

The meanings use these words:

| word | meaning |
|---|---|
| line | elements along an axis, or along several axes, that are taken together, such as the terms of a sum |
| tile, block, band, box, slab, strip | a part of a tensor that is taken at once, to keep its numbers in the cache |
| tap | an element of a window or of a filter |
| place | a position of a window or of a filter, which becomes an element of the output |
| pack | copy elements to a buffer, in the order in which a loop reads them |
| stream | write to memory without a copy in the cache |
| worth another thread | with less work, waking up the thread takes longer than the work |
"""


def page() -> str:
    """The page of all tuned constants."""
    found, measured = tuned(), records()
    processors = " or ".join(sorted({one.processor for one in measured.values()}))
    lines = [HEAD.format(count=len(found), processors=processors)]
    for path, entry in table().items():
        if not entry.tuned:
            continue
        lines.append(f"## {path}\n")
        lines.append("Cells: " + ", ".join(f"`{name}`" for name in entry.cells) + ".\n")
        lines += ["| constant | value | meaning | measured |", "|---|---|---|---|"]
        for one, _ in (pair for pair in found.values() if pair[0].path == path):
            mark = "".join(f" *{key}*" for key in ("bits", "bound") if one.name in getattr(entry, key))
            said = [str(measured[one.key])] if one.key in measured and measured[one.key].value == one.value else []
            said += [entry.measured[one.name]] if one.name in entry.measured else []
            lines.append(
                f"| `{one.name}`{mark} | {one.value} | {one.meaning.replace('|', '&#124;')} | {'; '.join(said)} |"
            )
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"
