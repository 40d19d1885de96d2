"""Tests of codegen.writer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codegen.writer import Writer


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_writes_utf8_with_line_feeds(tmp_path: Path) -> None:
    writer = Writer(tmp_path, check=False)
    writer.write("b/deep/two.md", "é\n", committed=True)
    writer.write("a.txt", "one\ntwo\n")
    assert files(tmp_path) == {}
    assert writer.finish([]) == ["a.txt", "b/deep/two.md"]
    assert files(tmp_path) == {"a.txt": b"one\ntwo\n", "b/deep/two.md": b"\xc3\xa9\n"}
    assert writer.diffs() == ""


def test_leaves_unchanged_files_alone(tmp_path: Path) -> None:
    for text, changed in (("x\n", ["a", "b"]), ("y\n", ["b"])):
        writer = Writer(tmp_path, check=False)
        writer.write("a", "same\n")
        writer.write("b", text)
        assert writer.finish([]) == changed
        os.utime(tmp_path / "a", ns=(1, 1))
    assert (tmp_path / "a").stat().st_mtime_ns == 1
    assert (tmp_path / "b").read_text() == "y\n"


def test_line_ends_are_a_change(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\r\n")
    writer = Writer(tmp_path, check=False)
    writer.write("a", "x\n")
    assert writer.finish([]) == ["a"]
    assert files(tmp_path) == {"a": b"x\n"}


def test_removes_stale_files_of_owned_patterns_only(tmp_path: Path) -> None:
    for name in ("gen/old.pyx", "gen/old.c", "gen/sub/old.pyx", "docs/a/b/old.md", "docs/old.md", "docs/keep.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("old")
    (tmp_path / "gen" / "directory.pyx").mkdir()
    writer = Writer(tmp_path, check=False)
    writer.write("gen/new.pyx", "new")
    assert writer.finish(["gen/*.pyx", "docs/**/*.md"]) == [
        "docs/a/b/old.md",
        "docs/old.md",
        "gen/new.pyx",
        "gen/old.pyx",
    ]
    assert sorted(files(tmp_path)) == ["docs/keep.txt", "gen/new.pyx", "gen/old.c", "gen/sub/old.pyx"]


def test_a_failed_replacement_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    writer = Writer(tmp_path, check=False)
    writer.write("a", "new")

    def fail(source: object, target: object) -> None:
        raise OSError("disk")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk"):
        writer.finish(["*"])
    assert files(tmp_path) == {"a": b"old"}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    writer = Writer(tmp_path, check=False)
    writer.write("a", "")
    writer.finish([])
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_check_touches_nothing_and_shows_diffs(tmp_path: Path) -> None:
    before = {"doc/changed.md": b"one\ntwo\n", "doc/stale.md": b"gone", "gen/stale.pyx": b"x", "gen/changed.pyx": b"x"}
    for name, content in before.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    writer = Writer(tmp_path, check=True)
    writer.write("doc/changed.md", "one\n2\n", committed=True)
    writer.write("doc/missing.md", "new\n", committed=True)
    writer.write("doc/empty.md", "", committed=True)
    writer.write("gen/changed.pyx", "y")
    writer.write("gen/missing.pyx", "y")
    changed = writer.finish(["doc/*.md", "gen/*.pyx"])
    assert changed == ["doc/changed.md", "doc/empty.md", "doc/missing.md", "doc/stale.md"]
    assert files(tmp_path) == before
    assert writer.diffs() == (
        "--- a/doc/changed.md\n+++ b/doc/changed.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        "--- /dev/null\n+++ b/doc/empty.md\n"
        "--- /dev/null\n+++ b/doc/missing.md\n@@ -0,0 +1 @@\n+new\n"
        "--- a/doc/stale.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\\ No newline at end of file\n"
    )
    assert [*writer.counts().items()] == [*zip(changed, [(1, 1), (0, 0), (1, 0), (0, 1)], strict=True)]


def test_check_finds_the_last_stale_file_of_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("x\n")
    assert Writer(tmp_path, check=True).finish(["*.md"]) == ["old.md"]


def test_check_of_an_up_to_date_tree(tmp_path: Path) -> None:
    for check in (False, True):
        writer = Writer(tmp_path, check)
        writer.write("a.md", "x\n", committed=True)
        changed = writer.finish(["*.md"])
    assert changed == []
    assert writer.diffs() == ""


@pytest.mark.parametrize("pattern", ["gen/*", "gen/**/*", "**/*", "gen/?.p*"])
def test_a_pattern_covers_one_kind_of_file(tmp_path: Path, pattern: str) -> None:
    writer = Writer(tmp_path, check=False)
    writer.write("gen/a.pyx", "")
    writer.write("gen/b.pyi", "", committed=True)
    with pytest.raises(ValueError, match="committed files and others"):
        writer.finish([pattern])
    assert files(tmp_path) == {}
    assert writer.finish(["gen/*.pyx", "gen/*.pyi"]) == ["gen/a.pyx", "gen/b.pyi"]


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "a\\b", "", ".", "a//b", "./a", "a/"])
def test_stays_below_root(tmp_path: Path, name: str) -> None:
    writer = Writer(tmp_path, check=False)
    with pytest.raises(ValueError, match="plain path"):
        writer.write(name, "")
    with pytest.raises(ValueError, match="plain path"):
        writer.finish([name])


def test_refuses_the_same_file_twice(tmp_path: Path) -> None:
    writer = Writer(tmp_path, check=False)
    writer.write("a", "")
    with pytest.raises(ValueError, match="twice"):
        writer.write("a", "")
