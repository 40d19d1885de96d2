"""The README and the guides say what happens."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from bare import commands, run_screen
from depth import deep
from shown_pages import DOCS, blocks, run_commands, run_page

import dmlcy as dml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_screen_of_usage_runs() -> None:
    block = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    names: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), names)
    shapes = re.findall(r"^ *(\w+) = .*# (\([\d, ]+\))$", block, re.MULTILINE)
    assert len(shapes) > 3
    for name, shape in shapes:
        assert str(np.shape(names[name])) == shape


def test_the_first_screen_has_commands_for_a_model() -> None:
    """``.ci/run`` runs them with the wheel alone: ``python -m tests.bare``."""
    assert {"lint", "run", "compare", "cpp-header"} <= {words[1] for words in commands()}
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "python3 -m tests.bare " in gate


@deep
def test_the_first_screen_runs(tmp_path: Path) -> None:
    run_screen(Path(sys.executable), tmp_path)


def test_the_first_run_is_the_one_shown() -> None:
    (shown,) = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    run_commands(shown, ROOT)


def test_the_first_violation_is_the_one_shown() -> None:
    check, shown = re.findall(r">>> print\(\*(.*?)\)\n(.*?)\n```", README, re.DOTALL)[0]
    assert " ".join(map(str, eval(check, {"dml": dml}))).split() == shown.split()


def test_the_first_error_is_the_one_shown() -> None:
    call, shown = re.findall(r">>> ([^\n]*)\ndmlcy\.InvalidDescError: (.*?)\n```", README, re.DOTALL)[0]
    with pytest.raises(dml.InvalidDescError) as caught:
        eval(call, {"dml": dml, "np": np})
    assert str(caught.value).split() == shown.split()


@pytest.mark.parametrize("page", ["command-line", "directml", "e-invalidarg", "exchange", "index", "testing"])
def test_the_python_of_a_guide_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(DOCS / f"{page}.md", tmp_path, ("python", "pycon"))


@pytest.mark.parametrize(("page", "needs"), [("dask", ["dask"]), ("xarray", ["xarray", "dask"])])
def test_the_python_of_a_guide_to_another_library_runs(
    page: str, needs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in needs:
        pytest.importorskip(name, reason=f"{name} is not installed: it does not run docs/{page}.md")
    shutil.copy(DOCS.parent / "examples" / "onnx" / "digits.onnx", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run_page(DOCS / f"{page}.md", tmp_path, ("python", "pycon"))


@pytest.mark.parametrize(
    "page",
    [
        "bindings", "conformance", "from-numpy", "graphs", "install", "models", "profiling", "questions", "specs",
        "tutorial/arrays", "tutorial/models",
    ],
)  # fmt: skip
def test_everything_on_a_page_happens(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = DOCS / f"{page}.md"
    assert run_page(file, tmp_path) == sum(language not in ("cpp", "sh") for language, _, _ in blocks(file))


@pytest.mark.parametrize("page", ["index", "install"])
def test_a_page_installs_as_the_readme_does(page: str) -> None:
    lines = [
        line for language, code, _ in blocks(DOCS / f"{page}.md") if language == "sh" for line in code.splitlines()
    ]
    assert lines and [line for line in lines if line.partition(" #")[0] not in README] == []


def test_readme_and_contributing_set_up_a_checkout_with_the_same_commands() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (commands,) = re.findall(r"```sh\n(python3 -m venv.*?)```", contributing, re.DOTALL)
    assert commands in README and "--no-build-isolation -e" in commands


def report() -> str:
    """The report of lint on the broken example."""
    return (ROOT / "examples" / "broken" / "report" / "lint.txt").read_text(encoding="utf-8")


def test_the_lint_shown_is_in_the_report() -> None:
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    (shown,) = re.findall(
        r"^\$ dmlcy lint examples/broken/mistakes.json\n\.\.\.\n(.*?)\.\.\.\n```", text, re.DOTALL | re.MULTILINE
    )
    assert shown in report()


def test_the_picture_of_an_error_shows_the_report() -> None:
    picture = ElementTree.parse(DOCS / "explained-error.svg").getroot()
    lines = [text.text or "" for text in picture.iter() if text.get("class") == "line"]
    assert len(lines) > 5 and " ".join(" ".join(lines).split()) in " ".join(report().split())


def test_the_comparison_shown_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One element of what the model wrote is made wrong, as on a device."""
    monkeypatch.chdir(tmp_path)
    page = DOCS / "exchange.md"
    run_page(page, tmp_path, ("python",))
    run, compare = [code for language, code, _ in blocks(page) if language == "console"]
    run_commands(run, tmp_path)
    (output,) = Path("here").glob("*.npy")
    values = np.load(output)
    values.flat[5] += 1
    Path("actual").mkdir()
    np.save(Path("actual") / output.name, values)
    run_commands(compare, tmp_path)


def test_the_models_of_the_first_screen_are_in_the_checkout() -> None:
    """All but ``model.onnx``, which is the reader's."""
    assert "`model.onnx` is your model" in README
    models = {word for words in commands() for word in words if word.endswith(".onnx")} - {"model.onnx"}
    assert models and all((ROOT / model).is_file() for model in models)
