"""``dmlcy run MODEL --input NAME=FOLDER``: each file a run of its own, and what is wrong with one."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy as dml
import dmlcy.onnx
from dmlcy._show import terminal

DIGITS = Path(__file__).parents[2] / "examples" / "onnx" / "digits.onnx"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A folder with four files, and one that is none."""
    random, folder = np.random.default_rng(1), tmp_path / "images"
    folder.mkdir()
    for name, number in (("a", 1), ("b", 2), ("c", 1)):
        np.save(folder / f"{name}.npy", random.random((number, 1, 8, 8), np.float32))
    np.savez(folder / "d.npz", image=random.random((3, 1, 8, 8), np.float32), label=np.ones(3))
    (folder / "notes.txt").write_text("four files")
    return folder


def test_each_file_has_a_result(command: Command, images: Path, tmp_path: Path) -> None:
    results, relus = tmp_path / "results", tmp_path / "relus"
    given = ("--input", f"image={images}", "--output", f"shares={results}", "--output", f"relu={relus}")
    status, out, err = command("run", str(DIGITS), *given)
    assert (status, err) == (0, "")
    assert out.splitlines()[0].startswith("Model 'digits': 4 of 4 files, ")
    assert f"Output 'shares' written to '{results}'" in out
    model = dml.onnx.load(DIGITS)
    for name in "abcd":
        image = np.load(images / f"{name}.np{'z' if name == 'd' else 'y'}")
        want = model.run({"image": image["image"] if name == "d" else image}, ["shares", "relu"])
        np.testing.assert_array_equal(np.load(results / f"{name}.npy"), want["shares"])
        np.testing.assert_array_equal(np.load(relus / f"{name}.npy"), want["relu"])
    assert sorted(path.name for path in results.iterdir()) == ["a.npy", "b.npy", "c.npy", "d.npy"]


def test_a_model_is_compiled_once_for_files_of_the_same_sizes(
    command: Command, images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dmlcy._frontends.onnx import loading
    from dmlcy._frontends.onnx.stages import Stage

    made = []

    def stage(*given: Any) -> Stage:
        made.append(given[1]["image"])
        return Stage(*given)

    monkeypatch.setattr(loading, "Stage", stage)
    assert command("run", str(DIGITS), "--input", f"image={images}", "--output", f"shares={tmp_path / 'r'}")[0] == 0
    assert sorted(made) == [(1, 1, 8, 8), (2, 1, 8, 8), (3, 1, 8, 8)]


def test_a_graph_with_inputs_of_two_folders_and_of_a_file(command: Command, tmp_path: Path) -> None:
    g = dml.Graph()
    x, y, z = (g.input(dml.TensorDesc("FLOAT32", (2, 3)), name=name) for name in "xyz")
    dml.graph.save(g.build(sum=g.element_wise_add(g.element_wise_add(x, y), z)), tmp_path / "g")
    for name in "xy":
        (tmp_path / name).mkdir()
        for k in range(3):
            np.save(tmp_path / name / f"{k}.npy", np.full(6, k + 10 * (name == "y"), np.float32))
    np.save(tmp_path / "z.npy", np.full((2, 3), 100, np.float32))
    (tmp_path / "y" / "1.npy").rename(tmp_path / "y" / "other.npy")
    given = [part for name in "xy" for part in ("--input", f"{name}={tmp_path / name}")]
    given += ["--input", f"z={tmp_path / 'z.npy'}", "--output", f"sum={tmp_path / 'sums'}"]
    status, out, err = command("run", str(tmp_path / "g" / "graph.json"), *given)
    assert status == 1 and "2 of 4 files" in out
    assert [line.partition(":")[0] for line in err.splitlines()] == ["1", "other"]
    assert err.count("there is no such file") == 2
    for k in (0, 2):
        assert np.load(tmp_path / "sums" / f"{k}.npy").tolist() == [[110 + 2 * k] * 3] * 2


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "no array": (lambda path: path.write_text("none"), "DML-MODEL-npy"),
    "sizes": (lambda path: np.save(path, np.zeros((1, 1, 8, 9), np.float32)), "DML-ONNX-shape-sizes"),
    "data type": (lambda path: np.save(path, np.zeros((1, 1, 8, 8))), "DML-ONNX-run-type"),
    "names": (lambda path: np.savez(path.with_suffix(".npz"), a=np.ones(1), b=np.ones(1)), 'no array "image", but "a"'),
    "twice": (lambda path: np.save(path.with_name("d.npy"), np.zeros(3)), "there are files with both suffixes"),
}  # fmt: skip


@each_of("name", BAD)
def test_the_others_run_where_a_file_is_bad(name: str, command: Command, images: Path, tmp_path: Path) -> None:
    spoil, message = BAD[name]
    for path in images.glob("bad.*"):
        path.unlink()
    spoil(images / "bad.npy")
    given = ("run", str(DIGITS), "--input", f"image={images}", "--output", f"shares={tmp_path / 'results'}")
    status, out, err = command(*given)
    (images / "d.npy").unlink(missing_ok=True)
    good = 3 if name == "twice" else 4
    assert status == 1 and f"{good} of {4 if name == 'twice' else 5} files" in out
    assert err.startswith("d: " if name == "twice" else "bad: ") and message in err and err.count("\n") == 1
    first = command(*given, "--fail-fast")
    assert first[0] == (0 if name == "twice" else 1) and ("2 of 5 files" in first[1]) == (name != "twice")


USAGE = {
    "no folder of results": ([], 2, "needs --output NAME=FOLDER"),
    "a name alone": (["--output", "shares"], 2, "Write --output NAME=FOLDER"),
    "another name": (["--output", "share=results"], 1, "DML-MODEL-reference"),
    "the folder of inputs": (["--output", "shares=images"], 2, "DML-MODEL-write"),
    "one folder for both": (["--output", "shares=r", "--output", "relu=r"], 2, "another output goes there"),
    "profile": (["--output", "shares=r", "--profile"], 2, "does not go with --profile"),
    "two models": (["--output", "shares=r"], 2, "takes one model"),
}


@each_of("name", USAGE)
def test_what_does_not_go_with_a_folder(
    name: str, command: Command, images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(images.parent)
    options, status, message = USAGE[name]
    models = [str(DIGITS)] * (2 if name == "two models" else 1)
    found = command("run", *models, "--input", "image=images", *options)
    assert found[0] == status and message in found[2] and not Path("results").exists()
    Path("empty").mkdir(exist_ok=True)
    assert "no .npy or .npz file in 'empty'" in command(
        "run", str(DIGITS), "--input", "image=empty", "--output", "shares=r"
    )[2]  # fmt: skip


def test_memory_does_not_grow_with_the_files(command: Command, tmp_path: Path) -> None:
    folder, peaks = tmp_path / "images", []
    folder.mkdir()
    for count in (3, 3, 24):  # the first run imports modules
        for k in range(count):
            np.save(folder / f"{k}.npy", np.full((1000, 1, 8, 8), k, np.float32))
        tracemalloc.start()
        assert command("run", str(DIGITS), "--input", f"image={folder}", "--output", f"shares={tmp_path / 'r'}")[0] == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1] < 24 * 256_000


def test_a_terminal_shows_how_far_it_is(command: Command, images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached = []
    monkeypatch.setattr(terminal.Progress, "reached", lambda _, *words: reached.append(words))
    command("run", str(DIGITS), "--input", f"image={images}", "--output", f"shares={images.parent / 'results'}")
    assert reached == [("digits", k, 4) for k in range(4)]
