"""The README and the guides say what happens."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import dmlcy as dml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_screen_of_usage_runs() -> None:
    block = "\n".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    for line in block.splitlines():
        shape = re.fullmatch(r"(\w+) .*# (\([\d, ]+\))", line)
        if shape:
            assert str(np.shape(names[shape[1]])) == shape[2]


def test_the_first_error_is_the_one_shown() -> None:
    call, shown = re.findall(r">>> (.*)\ndmlcy\.InvalidDescError: (.*?)\n```", README, re.DOTALL)[0]
    with pytest.raises(dml.InvalidDescError) as caught:
        eval(call, {"dml": dml, "np": np})
    assert str(caught.value).split() == shown.split()


@pytest.mark.parametrize("page", ["command-line", "exchange", "testing"])
def test_the_python_of_a_guide_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^( *)```python\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    names: dict[str, object] = {}
    for _, block in blocks:
        exec(compile(textwrap.dedent(block), page, "exec"), names)


@pytest.mark.parametrize("page", ["README.md", "docs/command-line.md"])
def test_the_lint_shown_is_in_the_report(page: str) -> None:
    report = (ROOT / "examples" / "broken" / "report" / "lint.txt").read_text(encoding="utf-8")
    text = (ROOT / page).read_text(encoding="utf-8")
    (shown,) = re.findall(
        r"^\$ dmlcy lint examples/broken/mistakes.json\n\.\.\.\n(.*?)```", text, re.DOTALL | re.MULTILINE
    )
    assert shown in report
