"""The table of tuned constants: it has every number of the runtime, its cells exist, and its page is up to date."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import constants, neighbours
from benchmarks.beside import OURS
from benchmarks.constants import (
    PAGE,
    Constant,
    Entry,
    Record,
    edited,
    in_cython,
    in_header,
    page,
    sources,
    table,
    tuned,
)
from benchmarks.families import all_cells
from benchmarks.groups import committed_cells

CYTHON = """\
cdef extern from "some.h":
    enum:
        OTHER

cdef enum:
    ONE = 16                        # floats of a line
    # lines of a tile,
    # at most
    TWO = 4 * ONE

    THREE = 3
    LAST

cdef enum Way:
    FAR = 7

def f():
    FOUR = 5
"""
HEADER = """\
#define FIRST 32 /* elements of a block, the
                  * last of which is short */
#define ALIAS FIRST
enum {
    SECOND = 8,    /* rows */
    THIRD
};
#define PARAMETER 1
#include "text.h"
"""


def test_numbers_are_found_in_cython() -> None:
    found = [(one.name, one.value, one.meaning) for one in in_cython("a.pyx", CYTHON)]
    assert found == [
        ("ONE", "16", "floats of a line"),
        ("TWO", "4 * ONE", "lines of a tile, at most"),
        ("THREE", "3", ""),
        ("FAR", "7", ""),
    ]


def test_numbers_are_found_in_headers_without_the_parameters_of_texts() -> None:
    found = constants.constants({"a.h": HEADER, "text.h": "#undef PARAMETER\n"})
    assert [(one.name, one.value, one.meaning) for one in found] == [
        ("FIRST", "32", "elements of a block, the last of which is short"),
        ("SECOND", "8", "rows"),
    ]


@pytest.mark.parametrize(("read", "text", "name"), [(in_cython, CYTHON, "TWO"), (in_header, HEADER, "SECOND")])
def test_a_neighbour_differs_in_the_value_only(read: Callable[..., list[Constant]], text: str, name: str) -> None:
    one = next(one for one in read("a", text) if one.name == name)
    other = edited(text, one, "99")
    assert [now.value for now in read("a", other) if now.name == name] == ["99"]
    assert other.replace("99", one.value, 1) == text


def test_each_number_is_in_the_table_and_the_table_has_no_other() -> None:
    """A new constant of the runtime is tuned, and names its cells, or is not tuned."""
    there: dict[str, set[str]] = {}
    for one in constants.constants(sources()):
        there.setdefault(one.path, set()).add(one.name)
    listed = {path: {*entry.tuned, *entry.fixed} for path, entry in table().items()}
    assert listed == there
    for entry in table().values():
        assert len(entry.tuned) + len(entry.fixed) == len(listed[entry.path])
        assert {*entry.bits, *entry.bound, *entry.measured} <= {*entry.tuned}, entry.path


def test_each_tuned_constant_has_a_meaning_and_cells_that_exist() -> None:
    cells = {cell.name for cell in committed_cells()} | {cell.name for cell in all_cells()}
    assert len(tuned()) > 200
    for key, (one, entry) in tuned().items():
        assert one.meaning, key
        assert entry.cells and {*entry.cells} <= cells, key


def test_each_tuned_constant_is_used() -> None:
    """A name that several files define is used in its own module, or in a file that names the module."""
    comment = re.compile(r"#(?! *(?:define|if|include)).*$|/\*.*?\*/", re.M)
    words = {path: Counter(re.findall(r"\w+", comment.sub("", text))) for path, text in sources().items()}
    files = Counter(one.name for one, _ in tuned().values())
    for key, (one, _) in tuned().items():
        stem = one.path.rpartition("/")[2].partition(".")[0]
        near = [
            said
            for path, said in words.items()
            if files[one.name] == 1 or stem in path.replace(".", "/").split("/") or any(stem in word for word in said)
        ]
        assert sum(said[one.name] for said in near) >= 2, key


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m benchmarks constants --write"


def test_neighbours_are_half_and_twice_the_value() -> None:
    made = Constant("a.pyx", "A", "4 * SERIAL_BYTES", "", 0, 0)
    assert neighbours.neighbours(made) == ["4194304", "16777216"]
    assert neighbours.neighbours(Constant("a.pyx", "A", "1", "", 0, 0)) == ["0", "2"]


def test_the_command_lists_constants(capsys: pytest.CaptureFixture[str]) -> None:
    assert neighbours.main([]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(tuned())
    assert any(re.match(r"products\.pyx:WIDE = \d+  ", line) for line in said)


@pytest.mark.parametrize(("name", "said"), [("NONE", "is no tuned constant"), ("NEAR_BYTES", "is one of gather.pyx")])
def test_a_name_that_is_not_one_constant_is_refused(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert neighbours.main([name]) == 2
    assert said in capsys.readouterr().err


CELL = "tiny/element_wise_add/tiny/float32"


CONSTANT = Constant("a.pyx", "A", "1", "", 0, 0)


def test_a_build_beside_itself_has_the_same_bits(capfd: pytest.CaptureFixture[str]) -> None:
    compared = neighbours.compare(CONSTANT, {"2": OURS}, (CELL,), 1, 0.1)
    assert compared.differ == frozenset() and compared.cells == 1
    assert 0.2 < compared.ratios["2"] < 5
    assert re.search(rf"^2: \d\.\d\d  \(.*\)  {CELL}$", capfd.readouterr().out, re.M)


class Other:
    """A process whose results are those of its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Other:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def ask(self, *_: object) -> dict[str, object]:
        return {"bits": str(self.folder), "forms": ["dmlcy"]}

    def block(self, _: str) -> Callable[[int], float]:
        return lambda calls: 1e-6 * calls


@pytest.mark.parametrize(("bits", "status"), [((), 1), (("A",), 0)])
def test_other_bits_are_told(
    bits: tuple[str, ...], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(neighbours, "Checkout", Other)
    monkeypatch.setattr(neighbours, "build", lambda folder, constant, value: folder / value)
    entry = Entry("a.pyx", (CELL,), ("A",), (), bits, (), {})
    options = neighbours.parse(["A", "--values", "2", "--seconds", "0.001"])
    assert neighbours.one_constant(CONSTANT, entry, options) == status
    said = capsys.readouterr().out
    assert f"{CELL} with 2: the results have other bits" in said and "times the time with 1, in the mean of 1" in said


def test_a_record_is_written_in_place_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "constants.json"
    assert constants.records(path) == {}
    for ratio in (1.5, 1.04):
        constants.record("b.pyx:B", Record("4", {"2": ratio, "8": 1.0}, "a processor", 1), path)
    constants.record("a.pyx:A", Record("1", {"2": 0.99}, "a processor", 2), path)
    assert list(found := constants.records(path)) == ["a.pyx:A", "b.pyx:B"]
    assert str(found["b.pyx:B"]) == "2: 1.04, 8: 1.00" and found["a.pyx:A"].threads == 2


def test_each_record_is_of_a_constant_and_its_value_of_today() -> None:
    """After another value is chosen: python -m benchmarks constants NAME --record."""
    found = tuned()
    assert {key: one.value for key, one in constants.records().items() if found[key][0].value != one.value} == {}
