"""The text that ``dmlcy run`` prints: of outputs with many elements, and how long runs take."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dmlcy as dml
from dmlcy._frontends.dxdispatch.show import MOST, output
from dmlcy._runtime.four_bits import marked
from dmlcy._types import Array

Command = Callable[..., tuple[int, str, str]]
EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS, GRAPH = EXAMPLES / "onnx" / "digits.onnx", EXAMPLES / "graphs" / "directions.json"
HEAD = f"Output 'y', FLOAT32 {MOST + 1}: "
CUT = f"{HEAD}-0, -1, -2, ..., -{MOST - 2}, -{MOST - 1}, -{MOST} (of {MOST + 1} elements; --all prints each)"


def graph_of(size: int, folder: Path) -> tuple[str, str]:
    """A graph that negates so many numbers, and the option with them."""
    g = dml.Graph()
    dml.graph.save(g.build(y=g.element_wise_negate(g.input(dml.TensorDesc("FLOAT32", (size,)), name="x"))), folder)
    np.save(folder / "x.npy", np.arange(size, dtype=np.float32))
    return str(folder / "graph.json"), f"x={folder / 'x.npy'}"


def test_an_output_with_many_elements_is_cut(command: Command, tmp_path: Path) -> None:
    graph, given = graph_of(MOST + 1, tmp_path)
    status, out, err = command("run", graph, "--input", given, "--dump", str(tmp_path / "values"))
    assert (status, err) == (0, "") and CUT in out.splitlines()
    assert sum(path.stat().st_size >= 4 * (MOST + 1) for path in (tmp_path / "values").rglob("*")) >= 2
    status, out, _ = command("run", graph, "--input", given, "--all")
    (line,) = (line for line in out.splitlines() if line.startswith(HEAD))
    assert status == 0 and [float(one) for one in line.partition(": ")[2].split(", ")] == [*range(0, -MOST - 1, -1)]


def test_an_output_with_fewer_elements_is_printed_whole(command: Command, tmp_path: Path) -> None:
    graph, given = graph_of(MOST, tmp_path)
    assert command("run", graph, "--input", given)[1].partition(": ")[2].count(", ") >= MOST - 1


def test_an_output_of_an_onnx_model_is_cut(command: Command) -> None:
    many = ("run", str(DIGITS), "--shape", "batch=8", "--output", "relu")
    (cut,) = (line for line in command(*many)[1].splitlines() if line.startswith("Output 'relu'"))
    assert re.search(r": \S+, \S+, \S+, \.\.\., \S+, \S+, \S+ \(of 2048 elements; --all prints each\)$", cut)
    (whole,) = (line for line in command(*many, "--all")[1].splitlines() if line.startswith("Output 'relu'"))
    assert whole.startswith("Output 'relu', FLOAT32 8x4x8x8: ") and whole.partition(": ")[2].count(", ") == 2047


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (np.array([[1, 2.5]], np.float16), "Output 'y', FLOAT16 1x2: 1, 2.5\n"),
        (np.array([True, False]), "Output 'y', BOOL 2: 1, 0\n"),
        (np.array(7, np.uint8), "Output 'y', UINT8 (): 7\n"),
        (marked(np.array([[-8], [7]], np.int8), "INT4"), "Output 'y', INT4 2x1: -8, 7\n"),
    ],
)
def test_an_output_is_printed_with_its_data_type_and_sizes(result: Array, shown: str) -> None:
    assert "".join(output("y", result, every=False)) == shown


@pytest.mark.parametrize(("times", "said"), [("1", r"1 iteration, \S+ ms"), ("3", r"3 iterations, \S+ ms median")])
def test_the_compilation_of_an_onnx_model_is_apart(command: Command, times: str, said: str) -> None:
    status, out, _ = command("run", str(DIGITS), "--shape", "batch=1", "--iterations", times)
    assert status == 0
    assert re.fullmatch(rf"Model 'digits': {said} \(CPU\), after \d+\.\d{{4}} ms of compilation", out.splitlines()[0])


def test_a_value_inside_a_fused_node_is_named_with_this_node(command: Command) -> None:
    wanted = ("run", str(DIGITS), "--shape", "batch=1", "--optimize", "extended", "--output", "conv")
    status, _, err = command(*wanted)
    said = 'node 1 "/relu/Relu" (Relu) a part of node 0 "/conv/Conv" (DmlFusedConv), which gives "relu".'
    assert status == 1 and said in err


def test_a_folder_in_place_of_a_file_is_called_a_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("one.npy")
    folder.mkdir()
    given = ("run", str(DIGITS), "--shape", "batch=1")
    status, _, err = command(*given, "--input", f"image={folder}")
    assert status == 2 and f"'{folder}' is a folder: it needs --output NAME=FOLDER" in err
    status, out, err = command(*given, "--output", f"shares={folder}")
    assert (status, out) == (2, "") and f'"{folder}" cannot be written: it is a folder.' in err


@pytest.mark.parametrize("model", [DIGITS, GRAPH])
def test_an_archive_in_place_of_an_array_is_called_an_archive(command: Command, model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "inputs.npz", image=np.ones(3))
    status, _, err = command("run", str(model), "--input", f"image={tmp_path / 'inputs.npz'}")
    assert status == 2 and "it is an .npz archive, and one array is needed. Save the array with numpy.save." in err
    assert "--inputs of dmlcy compare" in err
