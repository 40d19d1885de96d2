"""docs/onnx.md and onnx-run.md: what they show happens, options are those of ONNX Runtime, each reason is there."""

from __future__ import annotations

import importlib.util
import re
import shutil
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from shown_pages import DOCS, blocks, run_commands, run_session

from dmlcy._facts.tables import ERRORS

PAGE = DOCS / "onnx.md"
RUN_PAGE = DOCS / "onnx-run.md"
EXAMPLES = DOCS.parent / "examples" / "onnx"
OPTIONS = {
    ("ep.dml.enable_graph_serialization", "true"): ("add_session_config_entry", "AddConfigEntry"),
    ("batch", 1): ("add_free_dimension_override_by_name", "AddFreeDimensionOverrideByName"),
}
"""Arguments of the page's options, and the functions that take them in Python and in C++."""


def of(language: str, page: Path = PAGE) -> list[str]:
    """A page's blocks of a language."""
    return [code for found, code, _ in blocks(page) if found == language]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the models of the page."""
    for model in EXAMPLES.glob("*.onnx"):
        shutil.copy(model, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_the_page_shows_of_dmlcy_happens(folder: Path) -> None:
    assert {language for language, _, _ in blocks(PAGE)} == {"console", "pycon", "python", "cpp"}
    for code in of("console"):
        run_commands(code, folder)
    names: dict[str, object] = {}
    for code in of("pycon"):
        run_session(code, PAGE.name, names)


def test_what_the_page_on_running_shows_happens(folder: Path) -> None:
    assert {language for language, _, _ in blocks(RUN_PAGE)} == {"console", "pycon"}
    has_device = importlib.util.find_spec("onnxruntime") is not None  # for the script of the page
    for code in of("console", RUN_PAGE):
        if has_device or "run.py" not in code:
            run_commands(code, folder)
    names: dict[str, object] = {}
    for code in of("pycon", RUN_PAGE):
        run_session(code, RUN_PAGE.name, names)


def test_the_options_are_those_of_onnxruntime(folder: Path) -> None:
    pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose options the page sets")
    (code,) = of("python")
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Specified provider 'DmlExecutionProvider'")  # it exists on Windows only
        exec(compile(code, PAGE.name, "exec"), names)
    assert names["options"].get_session_config_entry("ep.dml.enable_graph_serialization") == "true"
    assert names["session"].get_inputs()[0].shape == [1, 1, 8, 8]


def test_python_and_cpp_set_the_same_options() -> None:
    (python,), (cpp,) = of("python"), of("cpp")
    for (name, value), (function, method) in OPTIONS.items():
        written = f'"{value}"' if isinstance(value, str) else str(value)
        assert f'.{function}("{name}", {written})' in python
        assert re.search(rf'\.{method}\((options, )?"{name}", {written}\)', cpp)
    assert "log_severity_level = 0" in python and "SetLogSeverityLevel(0)" in cpp


def test_the_page_says_of_each_reason_what_to_do() -> None:
    section = PAGE.read_text("utf-8").partition("## The reasons, and")[2].partition("\n## ")[0]
    named = re.findall(r"\[(DML-ONNX-[\w-]+)\]\(reference/onnx_errors\.md#(DML-ONNX-[\w-]+)\)", section)
    assert all(text == anchor for text, anchor in named)
    reasons = [name for name in ERRORS if re.match(r"DML-ONNX-(cpu-|alone-|model-|level$)", name)]
    assert sorted(text for text, _ in named) == sorted(reasons)


def test_the_script_writes_the_models() -> None:
    onnx = pytest.importorskip("onnx", reason="needs onnx, which writes the models")
    spec = importlib.util.spec_from_file_location("make_onnx", EXAMPLES / "make.py")
    assert spec is not None and spec.loader is not None
    make: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    models = make.models()
    assert set(models) == {file.name for file in EXAMPLES.glob("*.onnx")}
    for name, model in models.items():
        onnx.checker.check_model(model, full_check=True)
        assert onnx.load(EXAMPLES / name) == model, f"Run: python examples/onnx/make.py, which writes {name}"
