"""Each permanent error id of specs/ids.lock is triggered by a test, or excused in tests/excused_ids.toml."""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NotRequired, TypedDict

from codegen import ids
from codegen.diagnostics import Diagnostics

ROOT = Path(__file__).resolve().parents[1]
for folder in ("operators", "model", "graph", "frontends", "onnx_files"):
    sys.path.insert(0, str(ROOT / "tests" / folder))

from breaking import cases_of  # noqa: E402
from broken import BROKEN  # noqa: E402
from broken_models import EXTERNAL, broken  # noqa: E402
from damaged_records import damaged  # noqa: E402
from small_models import CASES, RUNS  # noqa: E402
from test_graph_ids import BREAKABLE as GRAPHS  # noqa: E402
from test_model_ids import BREAKABLE  # noqa: E402
from uses import RUNNABLE  # noqa: E402

EXCUSED = ROOT / "tests" / "excused_ids.toml"


class Excuse(TypedDict):
    """A table of tests/excused_ids.toml."""

    reason: str
    test: NotRequired[str]  # the file that names the ids: only what no test can trigger has none
    ids: list[str]


def excuses() -> list[Excuse]:
    tables: list[Excuse] = tomllib.loads(EXCUSED.read_text(encoding="utf-8"))["excused"]
    return tables


def problems(permanent: Iterable[str], triggered: Iterable[str], excused: Iterable[str]) -> list[str]:
    """The problems: each permanent id must be triggered or excused, once, and no other id may be."""
    listed = Counter(excused)
    found = [f"{id_} is excused twice" for id_, count in listed.items() if count > 1]
    found += [f"{id_} is excused, and a test triggers it" for id_ in {*triggered} & {*listed}]
    found += [f"{id_} is not a permanent id of {ids.PATH}" for id_ in {*triggered, *listed} - {*permanent}]
    hint = f"give its rule `breaks`, or excuse it in {EXCUSED.relative_to(ROOT).as_posix()}"
    found += [f"no test triggers {id_}: {hint}" for id_ in {*permanent} - {*triggered, *listed}]
    return sorted(found)


def test_each_permanent_id_is_triggered_or_excused() -> None:
    diagnostics = Diagnostics()
    published = ids.read(ROOT, diagnostics)
    diagnostics.raise_if_any()
    triggered = {case.id for name in RUNNABLE for case in cases_of(name)}
    triggered |= {error.id for error in (*BREAKABLE, *GRAPHS)}
    triggered |= {f"DML-GRAPH-file-{slug}" for slug in (*BROKEN, "value")}
    triggered |= {id_ for id_, _message, _record in damaged() if id_.startswith("DML-GRAPH-")}
    triggered |= {f"DML-ONNX-{slug}" for slug, *_ in (*broken(), *EXTERNAL, *CASES, *RUNS)}
    assert len(triggered) > 10_000
    assert problems(published.ids, triggered, [id_ for one in excuses() for id_ in one["ids"]]) == []


def test_each_excuse_names_a_file_that_names_the_ids() -> None:
    """A tensor of bytes has no order of bytes: there is nothing to name."""
    for one in excuses():
        text = (ROOT / one["test"]).read_text(encoding="utf-8") if "test" in one else ""
        assert one["reason"].endswith(".")
        for id_ in one["ids"]:
            assert id_ in text if "test" in one else id_.endswith("-byteorder"), id_


def test_what_is_wrong_is_found() -> None:
    wrong = problems(["DML-A", "DML-B", "DML-C"], ["DML-A", "DML-P"], ["DML-A", "DML-B", "DML-B", "DML-Q"])
    assert wrong == [
        "DML-A is excused, and a test triggers it",
        "DML-B is excused twice",
        "DML-P is not a permanent id of specs/ids.lock",
        "DML-Q is not a permanent id of specs/ids.lock",
        "no test triggers DML-C: give its rule `breaks`, or excuse it in tests/excused_ids.toml",
    ]
