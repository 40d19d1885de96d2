"""Broken ONNX files: each is refused with its id and a place, at once, and with bounded memory."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest
from broken_models import EXTERNAL, broken
from each import each_of
from odd_files import a_pipe
from written import VALID, attribute, block, external, graph, model, nested, node, tensor, with_tensor

from dmlcy._frontends.dxdispatch.problems import UNREADABLE, Refusal
from dmlcy._frontends.onnx.graphs import DEEPEST, NODES
from dmlcy._frontends.onnx.reader import decode, read

SECONDS = 5
"""Of the processor, for one file."""
MEGABYTES = 256


def refused(data: bytes) -> Refusal:
    with pytest.raises(Refusal) as caught:
        decode("model.onnx", data, None)
    assert {one.id for one in caught.value.violations} <= UNREADABLE
    return caught.value


@each_of("slug, message, data", [*broken()])
def test_a_broken_model_is_refused(slug: str, message: str, data: bytes) -> None:
    start = time.process_time()
    error = refused(data)
    assert time.process_time() - start < SECONDS
    assert [one.id for one in error.violations] == [f"DML-ONNX-{slug}"]
    assert message in str(error), str(error)
    (problem,) = error.problems
    assert problem.place.file == "model.onnx" and -1 <= problem.place.byte < max(len(data), 1)
    assert "\n" not in problem.violation.message and problem.violation.message.isprintable()


@each_of("byte", range(len(VALID)))
def test_a_model_that_is_cut_off_is_refused(byte: int) -> None:
    (one,) = refused(VALID[:byte]).violations
    assert one.id.startswith("DML-ONNX-file-")


def test_problems_of_the_structure_are_reported_together() -> None:
    nodes = node("Relu", "q", "y"), node("Tanh", "r", "y"), node("Tanh", "rr", "z")
    error = refused(model(graph(*nodes, inputs="x rrr")))
    assert sorted(one.id for one in error.violations) == ["DML-ONNX-graph-twice", *["DML-ONNX-graph-undefined"] * 3]
    assert 'Did you mean "rrr"?' in str(error)


def test_no_more_than_a_hundred_problems_are_reported() -> None:
    error = refused(model(graph(*(node("Relu", f"q{i}", f"r{i}") for i in range(500)))))
    assert len(error.violations) == 100 and "Only 100 problems are listed." in str(error)


def test_names_are_shown_without_what_a_terminal_obeys() -> None:
    name = "\x1b[31m\x07\u202e"
    bad = node(name, name, "y", block(3, name))
    assert str(refused(model(graph(bad)))).isprintable()


@pytest.mark.parametrize("depth", [1, DEEPEST])
def test_graphs_may_be_nested(depth: int) -> None:
    assert decode("m", nested(depth), None).graph.nodes[: depth - 1] != () or depth == 1


def test_the_most_nodes_need_bounded_memory() -> None:
    """A twentieth of them needs a twentieth, in the wrong order, with a name of its own for each value and node."""
    most = NODES // 20
    nodes = (node("Relu", f"v{i}", f"v{i + 1}", block(3, f"n{i}")) for i in reversed(range(most)))
    data = model(graph(*nodes, inputs="v0", outputs=f"v{most}"))
    tracemalloc.start()
    try:
        found = decode("m", data, None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.graph.nodes) == most and peak < MEGABYTES * 2**20 / 20


def test_two_thousand_nodes_are_read_at_once() -> None:
    names = ("pads", "strides", "kernel_shape", "dilations")
    attributes = b"".join(attribute(name, 7, block(8, b"\1\1")) for name in names)
    nodes = (node("Conv", f"v{i} x", f"v{i + 1}", block(3, f"/n/{i}"), attributes) for i in range(2000))
    data = model(graph(*nodes, inputs="v0 x", outputs="v2000"))
    start = time.process_time()
    assert len(decode("m", data, None).graph.nodes) == 2000
    assert time.process_time() - start < 0.5


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a model, with what elements may and may not be in."""
    (tmp_path / "w.bin").write_bytes(bytes(8))
    inside = tmp_path / "model"
    (inside / "inner").mkdir(parents=True)
    for name in ("w.bin", "inner/w.bin"):
        (inside / name).write_bytes(bytes(8))
    (inside / "empty.bin").touch()
    (inside / "link.bin").symlink_to(tmp_path / "w.bin")
    (inside / "link").symlink_to(tmp_path)
    (inside / "circle").symlink_to(inside / "circle")
    a_pipe(inside / "pipe")
    return inside


@each_of("slug, location, entries", EXTERNAL)
def test_a_file_of_elements_is_refused(slug: str, location: str, entries: dict[str, int], folder: Path) -> None:
    file = folder / "model.onnx"
    file.write_bytes(with_tensor(tensor("w", 1, (2,), external(location=location, **entries))))
    one = read(file).graph.initializers["w"]
    with pytest.raises(Refusal) as caught:
        one.array()
    assert [violation.id for violation in caught.value.violations] == [f"DML-ONNX-{slug}"]
    assert str(caught.value).isprintable() and 'The tensor "w"' in str(caught.value)


def test_a_tensor_without_a_folder_is_refused() -> None:
    data = with_tensor(tensor("w", 1, (2,), external(location="w.bin")))
    with pytest.raises(Refusal, match="DML-ONNX-file-external-missing"):
        decode("m", data, None).graph.initializers["w"].array()


def test_texts_have_no_file_of_their_own(folder: Path) -> None:
    data = with_tensor(tensor("w", 8, (2,), external(location="w.bin")))
    with pytest.raises(Refusal, match="DML-ONNX-file-storage"):
        decode("m", data, folder).graph.initializers["w"].array()


@pytest.mark.parametrize("name", ["nothing.onnx", "inner", "pipe", "x" * 300, "a\0b"])
def test_what_is_no_file(name: str, folder: Path) -> None:
    with pytest.raises(Refusal, match="DML-MODEL-file"):
        read(folder / name)


def test_an_empty_file(folder: Path) -> None:
    with pytest.raises(Refusal, match=r"an empty file.*DML-ONNX-file-kind"):
        read(folder / "empty.bin")
