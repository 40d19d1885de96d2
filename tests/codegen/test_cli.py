"""Tests of python -m codegen: its commands, and what generation does with hostile text."""

from __future__ import annotations

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from bad_specs import BASE, WIDEN
from depth import deep
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_files import a_folder, a_link_to_itself, a_link_to_nothing, a_pipe, zeros_without_end
from planned import specs

from codegen import __main__ as cli
from codegen import emit as emit_module
from codegen import ids, source
from codegen.__main__ import main
from codegen.diagnostics import Diagnostics, Span
from codegen.families import FAMILIES
from codegen.load import load
from codegen.pages.marked import BEGIN, END

ROOT = Path(__file__).parents[2]
ENVIRONMENT = functools.cache(emit_module.environment)  # compiles each template once


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of the small specs. check does not render it in a second process, which takes long."""
    monkeypatch.setattr(emit_module, "environment", ENVIRONMENT)
    monkeypatch.setattr(cli, "unstable", lambda root, digests: [])
    shutil.copytree(BASE, tmp_path / "checkout")
    return tmp_path / "checkout"


def edit(root: Path, old: str, new: str, file: str = WIDEN) -> None:
    text = (root / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (root / file).write_text(text.replace(old, new), encoding="utf-8")


def run(root: Path, *arguments: str) -> int:
    return main(["--root", str(root), *arguments])


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_gen_writes_what_changed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "gen") == 0
    written = capsys.readouterr().out.split()
    assert {"specs/ids.lock", "specs/schema.json", "dmlcy/_generated/calls/pad.pyx"} <= {*written}
    assert all((root / path).is_file() for path in written)
    assert run(root, "gen") == 0
    assert capsys.readouterr().out == ""
    edit(root, "Very.", "Very very.")
    assert run(root, "gen") == 0
    assert "dmlcy/_generated/calls/pad.pyx" not in capsys.readouterr().out
    assert run(root, "check") == 0
    assert run(root, "lint") == 0


def test_nothing_is_written_when_a_spec_is_wrong(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "gen") == 0
    edit(root, 'sizes = "padded"', 'sizes = "paded"')
    before = files(root)
    capsys.readouterr()
    for command in ("gen", "build", "check", "lint", "show"):
        assert run(root, command, *(["widen"] if command == "show" else [])) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("specs/operators/pad/widen.toml:17:10: unknown name paded")
        assert "did you mean 'padded'?" in said.err
    assert files(root) == before


def test_nothing_is_written_when_a_template_fails(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(root, "gen") == 0
    before = files(root)
    edit(root, "Very.", "Very very.")

    def fail(*given: object) -> str:
        raise RuntimeError("half way")

    monkeypatch.setattr(ids, "render", fail)  # the last file
    with pytest.raises(RuntimeError, match="half way"):
        run(root, "gen")
    assert {**files(root), WIDEN: b""} == {**before, WIDEN: b""}


def test_check_shows_stale_files(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "gen") == 0
    edit(root, '"DML-MODEL-file"', '"DML-MODEL-files"', "specs/model_errors.toml")
    before = files(root)
    capsys.readouterr()
    assert run(root, "check") == 1
    said = capsys.readouterr()
    assert "stale: specs/ids.lock +1 -0\n" in said.out
    assert all(re.fullmatch(r"stale: \S+ \+\d+ -\d+", line) for line in said.out.splitlines())
    assert f"{len(said.out.splitlines())} committed files are stale\n" in said.err and "check --diff" in said.err
    assert re.search(r"specs/ids.lock:\d+:1: no spec has DML-MODEL-file any more", said.err)
    assert "did you mean 'DML-MODEL-files'?" in said.err
    assert run(root, "check", "--diff") == 1
    said = capsys.readouterr()
    assert "--- a/specs/ids.lock\n+++ b/specs/ids.lock\n" in said.out
    assert "+DML-MODEL-files\n" in said.out
    assert "stale: " not in said.out and "--diff" not in said.err
    assert files(root) == before


def test_the_number_of_operators_on_a_page_stays_true(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = root / "README.md"
    page.write_text(f"# Title\n\n{BEGIN}\n**7 of 9**\n{END}\n\nText.\n", encoding="utf-8")
    assert run(root, "gen") == 0
    written = page.read_text(encoding="utf-8")
    total = len(load(root).facts.catalogue)
    assert written.startswith(f"# Title\n\n{BEGIN}\ndmlcy runs [2 of DirectML's {total} operators](")
    assert written.endswith(f"\n{END}\n\nText.\n")
    assert run(root, "check") == 0
    page.write_text(written.replace("[2 of", "[1 of"), encoding="utf-8")
    capsys.readouterr()
    assert run(root, "check") == 1
    assert capsys.readouterr().out == "stale: README.md +1 -1\n"


@pytest.mark.parametrize("parts", [0, 2])
def test_a_page_without_its_generated_part_is_an_error(
    root: Path, parts: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, "gen") == 0
    (root / "README.md").write_text(f"# Title\n{f'{BEGIN}{chr(10)}{END}{chr(10)}' * parts}", encoding="utf-8")
    before = files(root)
    for command in ("gen", "check"):
        assert run(root, command) == 1
        assert f"README.md has {parts} generated parts, and must have 1" in capsys.readouterr().err
    assert files(root) == before


def test_the_ids_of_an_operator_that_went_are_one_error() -> None:
    published = ("DML-A-x-y", "DML-A-x-z", "DML-B-x-y")
    spans = {name: Span(ids.PATH, line, 1, len(name), name) for line, name in enumerate(published, 1)}
    found = Diagnostics()
    ids.check(ids.Lock(ids=spans), ["DML-B-x-z"], found)
    assert [(one.message, one.span) for one in found.errors] == [
        ("no spec has DML-B-x-y any more", spans["DML-B-x-y"]),
        ("no spec has DML-A-x-y any more, nor any other of the 2 ids of A", spans["DML-A-x-y"]),
    ]


def test_ids_are_never_lost(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = root / "specs" / "ids.lock"
    assert run(root, "gen") == 0
    first = lock.read_text().split("\n")
    published = [line for line in first if line.startswith("DML-")]
    assert published == sorted(published)
    assert "DML-WIDEN-start_padding-even" in published
    edit(root, "start_padding-even", "start_padding-odd")
    assert run(root, "gen") == 0
    now = [line for line in lock.read_text().split("\n") if line.startswith("DML-")]
    assert now == sorted([*published, "DML-WIDEN-start_padding-odd"])
    assert run(root, "check") == 1
    assert "no spec has DML-WIDEN-start_padding-even any more" in capsys.readouterr().err
    id_ = "DML-WIDEN-start_padding-even"
    lock.write_text(lock.read_text().replace(f"{id_}\n", "") + f"{id_}  Why.\n")
    assert run(root, "gen") == 0
    assert run(root, "check") == 0
    assert lock.read_text().endswith("\nretired:\nDML-WIDEN-start_padding-even  Why.\n")
    edit(root, "start_padding-odd", "start_padding-even")
    capsys.readouterr()
    assert run(root, "gen") == 0
    assert run(root, "check") == 1
    assert "DML-WIDEN-start_padding-even is retired, and a spec has it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ("DML-X-y-z extra\n", "a line is one id, nothing else"),
        ("nonsense\n", "a line is one id, nothing else"),
        ("DML-WIDEN-start_padding-even\n", "DML-WIDEN-start_padding-even stands here a second time"),
        ("retired:\nDML-X-y-z\n", "a line is an id and why it stands here"),
    ],
)
def test_a_lock_that_is_none(root: Path, added: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "gen") == 0
    lock = root / "specs" / "ids.lock"
    lock.write_text(lock.read_text().replace("retired:\n", "") + added)
    assert run(root, "gen") == 1
    assert problem in capsys.readouterr().err


def test_check_reports_lint(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(root, 'hint   = "Add one."', 'hint   = "Add one"')
    assert run(root, "gen") == 0
    assert run(root, "check") == 1
    assert "hint does not end with a period" in capsys.readouterr().err


def test_check_compares_two_runs(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, "gen") == 0
    monkeypatch.undo()
    found = cli.digests(root)
    assert cli.unstable(root, {**found, "specs/schema.json": "other", "gone": "x"}) == ["gone", "specs/schema.json"]
    monkeypatch.setattr(cli, "unstable", lambda root, digests: ["specs/schema.json"])
    assert run(root, "check") == 1
    assert "specs/schema.json differs from one run to the next" in capsys.readouterr().err


@deep  # each run of .ci/run does the same
def test_the_checkout_is_clean() -> None:
    assert run(ROOT, "check") == 0


def test_show_merges_groups(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    assert run(root, "show", "widen") == 0
    shown = tomllib.loads(capsys.readouterr().out)
    assert shown["operator"]["since"] == "2_0"
    assert shown["ranks"] == {"R": [{"since": "1_0", "min": 1, "max": 8}]}
    assert [let["name"] for let in shown["let"]] == ["axes", "padded"]
    assert shown["rule"][0]["id"] == "DML-WIDEN-start_padding-even"
    assert shown["data_rule"][0]["id"] == "DML-WIDEN-input-finite"
    assert {field["name"]: field["type"] for field in shown["field"]}["PaddingValue"] == "scalar_union"
    assert shown["kernel"]["index"]["EDGE"] == "min(max(p, 0), n - 1)"


def test_every_operator_shows_as_toml(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = specs()
    monkeypatch.setattr(cli, "load", lambda root: found)
    for name in found.operators:
        assert run(ROOT, "show", name) == 0
        assert tomllib.loads(capsys.readouterr().out)["operator"]["name"] == name


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("show", "widdn"), "there is no operator 'widdn': did you mean 'WIDEN'?"),
        (("show", "widen1"), "WIDEN1 (level 3_0) is only listed, no spec describes it"),
        (("new", "widdn"), "there is no operator 'widdn': did you mean 'WIDEN'?"),
        ((), "required: COMMAND"),
        (("gen", "x"), "unrecognized arguments: x"),
        (("shwo",), "invalid choice: 'shwo'"),
        (("new", "widen1", "--family", "Pad/s"), "'Pad/s' is no name of a family"),
    ],
)
def test_wrong_usage(root: Path, arguments: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = run(root, *arguments)
    except SystemExit as stopped:
        status = int(stopped.code or 0)
    assert status == 2
    assert problem in capsys.readouterr().err


def test_new_writes_a_skeleton(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "new", "widen1") == 0  # another version is built: its family and its group
    path = root / "specs" / "operators" / "pad" / "widen1.toml"
    assert capsys.readouterr().out == "specs/operators/pad/widen1.toml\n"
    text = path.read_text()
    assert tomllib.loads(text)["operator"]["include"] == ["widen"]
    assert [field["name"] for field in tomllib.loads(text)["field"]] == ["OutputTensor"]
    assert "TODO" not in text
    assert run(root, "gen") == 1
    said = capsys.readouterr().err
    for problem in ("summary is empty", "doc is empty", "[types] T has no row",
                    "the output OutputTensor has no sizes"):  # fmt: skip
        assert problem in said
    assert run(root, "new", "widen1") == 1
    assert "WIDEN1 has a spec: specs/operators/pad/widen1.toml" in capsys.readouterr().err
    assert path.read_text() == text


def test_new_needs_a_family(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "specs" / "operators" / "window_reduce" / "squash.toml").unlink()
    assert run(root, "new", "squash") == 2
    assert "--family" in capsys.readouterr().err
    for family, runs in (("rearrange", True), ("squeeze", False)):
        path = root / "specs" / "operators" / family / "squash.toml"
        assert run(root, "new", "SQUASH", "--family", family) == 0
        assert ("kernel" in tomllib.loads(path.read_text())) == runs
        assert run(root, "gen") == 1
        said = capsys.readouterr().err
        assert "summary is empty" in said and "Traceback" not in said
        path.unlink()


def test_new_never_overwrites(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "specs" / "operators" / "rearrange").mkdir()
    other = root / "specs" / "operators" / "rearrange" / "widen1.toml"
    shutil.copy(root / "specs" / "operators" / "window_reduce" / "squash.toml", other)
    other.write_text(other.read_text().replace('"window_reduce"', '"rearrange"').replace("SQUASH", "SQUASH"))
    (root / "specs" / "operators" / "window_reduce" / "squash.toml").unlink()
    before = other.read_text()
    assert run(root, "new", "widen1", "--family", "rearrange") == 1
    assert "exists" in capsys.readouterr().err
    assert other.read_text() == before


def test_a_skeleton_of_every_operator_is_reported_not_fatal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = specs().facts
    root = tmp_path / "checkout"
    (root / "specs").mkdir(parents=True)
    for path in (ROOT / "specs").glob("*.toml"):
        shutil.copy(path, root / "specs")
    shutil.copytree(ROOT / "specs" / "onnx", root / "specs" / "onnx")
    for number, name in enumerate(sorted(facts.catalogue)[::45]):
        family = list(FAMILIES)[number % len(FAMILIES)]
        assert run(root, "new", name, "--family", family) == 0
        assert run(root, "gen") == 1
        assert f"specs/operators/{family}/{name.lower()}.toml:" in capsys.readouterr().err
        (root / "specs" / "operators" / family / f"{name.lower()}.toml").unlink()


HOSTILE = (
    'Say "x" or \'y\' {{ 7 * 7 }} {% raw %} {# no #} \\N{DASH} \\ """ \'\'\' \\""" # */ é\t\n\n  '
    'on a line; `a` | <b> ${c} %s, "end"'
)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def hostile(root: Path, said: str = HOSTILE) -> int:
    """Puts the text into every free text of the specs; returns how many there are."""
    keys = "summary|doc|hint|says|question|choice|evidence|title|calculation|note|windows|call|tested"
    count = 0
    for path in (root / "specs").rglob("*.toml"):
        text = path.read_text(encoding="utf-8")
        known = f"{keys}|about" if path.name.endswith("errors.toml") else keys
        pattern = re.compile(rf'^((?:{known})\s*= )".*"$', re.M)
        text, found = pattern.subn(lambda match: match[1] + quoted(said), text)
        path.write_text(text, encoding="utf-8")
        count += found
    return count


def assert_told_in_docstrings(root: Path, said: str) -> None:
    """The generated files are Python, and every class has the text in its docstring, except for spaces."""
    package = root / "dmlcy" / "_generated"
    for path in package.rglob("*.py"):
        compile(path.read_text(encoding="utf-8"), path.name, "exec")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in package.glob("descs/*.py")]
    docs = [ast.get_docstring(node) or "" for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    assert docs
    assert all(" ".join(said.split()) in " ".join(doc.split()) for doc in docs)


def test_texts_cannot_break_out(root: Path) -> None:
    member = 'name = "CONSTANT", value = 0, since = "1_0"'
    edit(root, member, f"{member}, doc = {quoted(HOSTILE)}", "specs/enums.toml")
    assert hostile(root) > 30
    assert run(root, "gen") == 0
    assert_told_in_docstrings(root, HOSTILE)


NASTY = (
    '"""', "'''", '"', "'", "\\", "\n", "\t", "{{", "}}", "{%", "%}", "{#", "#}", "*/", "/*", "<b>", "<!--", "](", "|",
    "`", "```", "~~~", "#", "\\N{DASH}", "\\u12", "\\x", "%s", "{0}", "${x}", "$", "&lt;", "-->", "---", "- ", "1. ",
    "> ", "x", " ", "\u00e9", "\u2028", "\ufeff",
)  # fmt: skip


@settings(max_examples=8, deadline=None, database=None, derandomize=True)
@given(st.lists(st.sampled_from(NASTY), min_size=1, max_size=30).map("".join))
def test_no_text_can_break_out(said: str) -> None:
    said = f"x{said}x"
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(emit_module, "environment", ENVIRONMENT)
        root = Path(folder) / "checkout"
        shutil.copytree(BASE, root)
        assert hostile(root, said) > 30
        assert run(root, "gen") == 0
        assert_told_in_docstrings(root, said)


def test_hostile_texts_stay_out_of_generated_cython(root: Path) -> None:
    pytest.importorskip("Cython")
    from Cython.Compiler.TreeFragment import parse_from_strings

    hostile(root)
    assert run(root, "gen") == 0
    text = (root / "dmlcy" / "_generated" / "calls" / "pad.pyx").read_text(encoding="utf-8")
    assert parse_from_strings("pad", text) and " ".join(HOSTILE.split()) not in " ".join(text.split())
    trees = [ast.parse(path.read_text("utf-8")) for path in (root / "dmlcy" / "_generated").glob("functions/*.py")]
    docs = [ast.get_docstring(node) or "" for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert docs and all(" ".join(HOSTILE.split()) in " ".join(doc.split()) for doc in docs)


def a_large_file(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(source.LARGEST + 1)


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff")


@pytest.mark.parametrize(
    "make", [a_folder, a_pipe, a_link_to_nothing, a_link_to_itself, zeros_without_end, a_large_file, no_text]
)
@pytest.mark.parametrize("file", [WIDEN, ids.PATH])
def test_a_spec_that_is_no_file(root: Path, file: str, make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Codegen refuses it at once, whatever is in place of the file."""
    (root / file).unlink(missing_ok=True)
    make(root / file)
    before = files(root)
    assert run(root, "gen") == 1
    said = capsys.readouterr().err
    assert f"cannot read {file}: " in said or f"{file}:1:1: not UTF-8" in said
    assert files(root) == before


def test_what_cannot_be_written_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "docs").write_text("in the way")
    assert run(root, "gen") == 1
    said = capsys.readouterr().err
    assert "docs" in said and "Traceback" not in said


def test_build_compiles_and_restores(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a setup.py that only notes what it is asked, and one that fails."""
    (root / "setup.py").write_text("import sys\nopen('asked', 'w').write(' '.join(sys.argv))\n")
    assert run(root, "build") == 0
    assert (root / "asked").read_text() == "setup.py -q build_ext --inplace"
    assert "wrote dmlcy/_generated/calls/pad.pyx\n" in capsys.readouterr().out
    (root / "asked").unlink()
    assert run(root, "build") == 0
    assert capsys.readouterr().out == "nothing to do\n" and not (root / "asked").exists()
    (root / "setup.py").write_text("open('asked', 'w').write('again'); print('compiled dmlcy.x (0.1 s)'); print('y')\n")
    assert run(root, "build") == 0
    assert capsys.readouterr().out == "compiled dmlcy.x (0.1 s)\n" and (root / "asked").exists()
    package = root / "dmlcy" / "_generated"
    (package / "gone.cpython-311-x86_64-linux-gnu.so").touch()
    (package / "kernels" / "gone.cpython-311-x86_64-linux-gnu.so").touch()
    (package / "kernels" / "pad.cpython-311-x86_64-linux-gnu.so").touch()
    assert run(root, "build") == 0
    assert [path.name for path in package.rglob("*.so")] == ["pad.cpython-311-x86_64-linux-gnu.so"]
    before = {path: path.read_bytes() for path in package.glob("*.py*")}
    (root / "setup.py").write_text("raise SystemExit('no compiler here')\n")
    edit(root, "start_padding[d] % 2 == 0", "start_padding[d] % 3 == 0")
    shutil.rmtree(root / "specs" / "operators" / "window_reduce")
    capsys.readouterr()
    assert run(root, "build") == 1
    assert "no compiler here" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in package.glob("*.py*")} == before


def test_the_command_needs_no_package_and_leaves_no_traceback(root: Path) -> None:
    edit(root, "[types]", "[types")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "codegen", "--root", str(root), "gen"]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("specs/operators/pad/widen.toml:7:7: ")
