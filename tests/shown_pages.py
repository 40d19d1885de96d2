"""Runs the code of a page in its order, and holds what it shows against what happens.

`python` runs, `pycon` is a doctest, and a command of `console` is after a `$ `, with its output below it, `...` for any
text. A block after "… as `FILE`:" is saved in that file. `sh` is compared with README by a test of its own, and `cpp`
with the Python beside it. Any other block is an error: nobody would notice when it is wrong.
"""

import doctest
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<code>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)
SAVED = re.compile(r"\bas `([^`]+)`:\s*\Z")
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def blocks(page: Path) -> Iterator[tuple[str, str, str | None]]:
    """Language and code of each block, and the file to save it in."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        saved = SAVED.search(text[: block.start()])
        yield block["language"], textwrap.dedent(block["code"]), saved and saved[1]


def run_page(page: Path, folder: Path, languages: tuple[str, ...] = ("python", "pycon", "console")) -> int:
    """Runs a page in `folder`, which must be the current one if it has Python; returns how many blocks it had."""
    names: dict[str, object] = {}
    count = 0
    for language, code, file in blocks(page):
        if file:
            (folder / file).write_text(code, encoding="utf-8")
        elif language not in languages:
            assert language in ("console", "cpp", "sh"), (
                f"{page.name}: nothing tests a block of {language or 'no language'}"
            )
            continue
        elif language == "python":
            exec(compile(code, page.name, "exec"), names)
        elif language == "pycon":
            run_session(code, page.name, names)
        else:
            run_commands(code, folder)
        count += 1
    return count


def run_session(code: str, name: str, names: dict[str, object]) -> None:
    """Runs an interactive session; what it defines stays in `names`."""
    test = doctest.DocTestParser().get_doctest(code, names, name, name, 0)
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
    assert not failed, "".join(report)
    names.update(test.globs)


def run_commands(code: str, folder: Path) -> None:
    """Runs commands with the environment of this Python first on the PATH; one that shows nothing must succeed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    commands = COMMAND.findall(code)
    assert commands, code
    for command, shown in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        if shown:
            same = doctest.OutputChecker().check_output(shown, done.stdout, doctest.ELLIPSIS)
            assert same, f"$ {command}\n{done.stdout}\nis not\n{shown}"
        else:
            assert done.returncode == 0, f"$ {command}\n{done.stdout}"
