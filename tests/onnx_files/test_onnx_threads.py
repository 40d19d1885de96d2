"""The answers of dmlcy to ten public questions about ONNX models: each answer helps."""

from __future__ import annotations

from pathlib import Path

import pytest
from each import each_of

pytest.importorskip("onnx", reason="needs onnx, which writes the models of these tests")

from threads import THREADS, Thread

from dmlcy._cli import main
from dmlcy._frontends.onnx.lint import lint
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.report import report_of

PAGE = (Path(__file__).parents[2] / "docs" / "onnx-threads.md").read_text(encoding="utf-8")


def ids_of(thread: Thread) -> dict[str, tuple[str, ...]]:
    """The ids of the answer by the place of the node."""
    model = decode("model.onnx", thread.model.SerializeToString(), None)
    level, shapes = thread.options.get("level", "6_4"), thread.options.get("shapes")
    if thread.command == "onnx":
        report = report_of(model, level=level, shapes=shapes)
        return {one.place: tuple(why.id for why in one.reasons) for one in report.nodes if one.reasons}
    found: dict[str, tuple[str, ...]] = {}
    for one in lint(model, level, shapes).findings:
        found[one.place.path] = (*found.get(one.place.path, ()), one.violation.id)
    return found


def mended(thread: Thread) -> Thread:
    """The thread after its answer is followed."""
    given = dict(thread.mended)
    model = {name: given.pop(name) for name in ("opsets", "text") if name in given}
    return thread._replace(options={**thread.options, **given}, **model)


@each_of("thread", THREADS)
def test_the_answer_names_the_node_and_the_cause(thread: Thread) -> None:
    assert ids_of(thread) == thread.ids


@each_of("thread", THREADS)
def test_nothing_is_left_once_the_answer_is_followed(thread: Thread) -> None:
    assert ids_of(mended(thread)) == {}


@each_of("thread", THREADS)
def test_the_command_prints_the_lines(
    thread: Thread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.onnx").write_bytes(thread.model.SerializeToString())
    monkeypatch.chdir(tmp_path)
    main(thread.asked.split()[1:])
    assert f"\n{thread.said}\n" in f"\n{capsys.readouterr().out}"


@each_of("thread", THREADS)
def test_the_page_has_the_thread_the_command_and_the_line(thread: Thread) -> None:
    assert thread.link in PAGE
    assert f"`{thread.asked}`" in PAGE
    assert all(f"`{line.strip()}`" in PAGE for line in thread.said.split("\n"))


def test_no_two_answers_are_the_same() -> None:
    assert len({thread.said for thread in THREADS}) == len({thread.link for thread in THREADS}) == 10


def test_sizes_that_onnx_runtime_corrects_are_no_error() -> None:
    """Where all inputs have sizes, ONNX Runtime drops what the model says of others when it loads the model."""
    thread = next(one for one in THREADS if one.link.endswith("/8118"))
    known = thread._replace(text=thread.text.replace("width", "80"), options={})
    assert ids_of(known) == {}
