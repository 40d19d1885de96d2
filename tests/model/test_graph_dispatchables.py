"""Models with dispatchables of the type dmlSerializedGraph."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from dmlcy._cli import main

TENSOR = dml.TensorDesc("FLOAT32", (1, 1, 2, 2))


def model(tmp_path: Path, **changes: Any) -> str:
    """A model that doubles four numbers with a graph, in two nodes; ``changes`` are of its members, by path."""
    g = dml.Graph()
    x = g.input(TENSOR, name="x")
    two = g.constant(np.full((1, 1, 2, 2), 2, np.float32), name="two")
    data = dml.graph.to_bytes(g.build(y=g.activation_identity(g.element_wise_multiply(x, two, name="double"))))
    (tmp_path / "graphs").mkdir(exist_ok=True)
    (tmp_path / "graphs" / "Partition_0.bin").write_bytes(data)
    values = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]}
    whole: dict[str, Any] = {
        "resources": {"in": values, "out": {**values, "initialValues": {"valueCount": 4, "value": 0}}},
        "dispatchables": {"g": {"type": "dmlSerializedGraph", "sourcePath": "graphs/Partition_0.bin"}},
        "commands": [
            {"type": "dispatch", "dispatchable": "g", "bindings": {"x": "in", "y": ["out"]}},
            {"type": "print", "resource": "out"},
        ],
    }
    for path, value in changes.items():
        owner: Any = whole
        *steps, last = path.split("__")
        for step in steps:
            owner = owner[int(step) if isinstance(owner, list) else step]
        owner[last] = value
    (tmp_path / "model.json").write_text(json.dumps(whole, indent=1))
    return str(tmp_path / "model.json")


def test_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--iterations", "3", model(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "Dispatch 'g': 3 iterations" in said and "Resource 'out': 2, 4, 6, 8\n" in said


def test_it_is_linted_with_the_level_that_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = model(tmp_path)
    assert main(["lint", file]) == 0
    assert 'note: "g" (graph, 3 nodes) needs feature level 6_2' in capsys.readouterr().out
    assert main(["lint", "--feature-level", "6_0", file]) == 1
    said = capsys.readouterr().out
    assert "DML-GRAPH-constant-level" in said and "Partition_0.bin: byte " in said and "model.json:" in said
    assert 'note: "g" (graph, 3 nodes) needs feature level 6_2' in said


def test_a_buffer_that_is_used_from_an_offset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}}
    bound = {"x": "in", "y": {"name": "out", "elementOffset": 2}}
    assert main(["run", model(tmp_path, resources__out=out, commands__0__bindings=bound)]) == 0
    assert "Resource 'out': 0, 0, 2, 4, 6, 8\n" in capsys.readouterr().out


WRONG: list[tuple[str, int, dict[str, Any]]] = [
    ("DML-MODEL-unbound", 1, {"commands__0__bindings": {"x": "in"}}),
    ("DML-MODEL-unbound", 1, {"commands__0__bindings": {"y": "out"}}),
    ("DML-MODEL-bind-count", 1, {"commands__0__bindings": {"x": ["in", "in"], "y": "out"}}),
    ("DML-MODEL-reference", 1, {"commands__0__bindings": {"x": "inn", "y": "out"}}),
    ("DML-MODEL-shared", 1, {"commands__0__bindings": {"x": "out", "y": "out"}}),
    ("DML-MODEL-buffer-size", 1, {"resources__out__initialValues": {"valueCount": 3, "value": 0}}),
    ("DML-MODEL-missing", 1, {"dispatchables__g": {"type": "dmlSerializedGraph"}}),
    ("DML-MODEL-type", 1, {"dispatchables__g__sourcePath": 3}),
    ("DML-MODEL-source", 2, {"dispatchables__g__sourcePath": "none.bin"}),
    ("DML-MODEL-source", 2, {"dispatchables__g__sourcePath": "model.json"}),
    ("DML-MODEL-source", 2, {"dispatchables__g__sourcePath": "a\0b"}),
]


@pytest.mark.parametrize("id_, status, changes", WRONG)
def test_what_is_wrong(
    id_: str, status: int, changes: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = model(tmp_path, **changes)
    assert main(["lint", file]) == status
    assert id_ in capsys.readouterr().out
    assert main(["run", file]) == status
    said = capsys.readouterr()
    assert id_ in said.err and "Dispatch" not in said.out


def test_a_name_that_the_graph_does_not_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = model(tmp_path, commands__0__bindings={"x": "in", "y": "out", "z": "in"})
    assert main(["lint", file]) == 0
    assert "warning: " in capsys.readouterr().out
    assert main(["run", file]) == 0


def test_a_file_that_is_damaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, graph = model(tmp_path), tmp_path / "graphs" / "Partition_0.bin"
    graph.write_bytes(graph.read_bytes()[:200])
    for command in ("lint", "run"):
        assert main([command, file]) == 2
        said = capsys.readouterr()
        assert "DML-GRAPH-file-" in said.out + said.err and "Partition_0.bin" in said.out + said.err


def test_expected_values_of_a_graph_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--expect", str(tmp_path / "expected"), model(tmp_path)]) == 1
    assert "DML-GRAPH-file-expect" in capsys.readouterr().err
    assert not (tmp_path / "expected").exists()


def test_the_example_of_dxdispatch(capsys: pytest.CaptureFixture[str]) -> None:
    folder = os.environ.get("DMLCY_DXDISPATCH_MODELS")
    if not folder:
        pytest.skip("DMLCY_DXDISPATCH_MODELS does not name the folder DxDispatch/models of a checkout of DirectML")
    file = Path(folder) / "dmlSerializedGraph_matmul_add.json"
    assert main(["lint", str(file)]) == 0
    assert main(["run", str(file)]) == 0
    assert "Resource 'model_output': 12.25, 12.25, 12.25, 12.25, 12.25\n" in capsys.readouterr().out
    part = Path(folder) / "matmul_add" / "Partition_0.bin"
    graph = dml.graph.load(part)
    assert dml.check(graph) == []
    array: Any = dml.compile(graph)(np.full((1, 1, 1, 5), 1.5, np.float32))
    np.testing.assert_array_equal(array, np.full((1, 1, 1, 5), 12.25, np.float32))
    again = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    assert again.nodes == graph.nodes and again.edges == graph.edges
