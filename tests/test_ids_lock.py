"""tests/ids.lock lists exactly the permanent ids that the tests trigger; ``python -m codegen check`` reads it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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


def test_the_list_is_what_the_tests_trigger() -> None:
    diagnostics = Diagnostics()
    listed = ids.read_triggered(ROOT, diagnostics)
    diagnostics.raise_if_any()
    triggered = {case.id for name in RUNNABLE for case in cases_of(name)}
    triggered |= {error.id for error in (*BREAKABLE, *GRAPHS)}
    triggered |= {f"DML-GRAPH-file-{slug}" for slug in (*BROKEN, "value")}
    triggered |= {id_ for id_, _message, _record in damaged() if id_.startswith("DML-GRAPH-")}
    triggered |= {f"DML-ONNX-{slug}" for slug, *_ in (*broken(), *EXTERNAL, *CASES, *RUNS)}
    text = ids.render_triggered(listed, triggered)
    path = ROOT / ids.TRIGGERED_PATH
    if os.environ.get("CODEGEN_REWRITE"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "CODEGEN_REWRITE=1 pytest tests/test_ids_lock.py writes it"


def test_what_is_triggered_needs_no_excuse() -> None:
    listed = ids.read_triggered(ROOT, Diagnostics())
    assert not {*listed.ids} & {*listed.retired}
