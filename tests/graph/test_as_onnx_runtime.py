"""A graph as ONNX Runtime's DirectML provider writes it: sizes rounded up, indices read as INT64, a cast to bool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from dmlcy._cli import main

X = np.random.default_rng(5).standard_normal((1, 1, 7, 7)).astype(np.float32)
WARNINGS = [
    "DML-MAX_POOLING-output-whole-windows",
    "DML-MAX_POOLING-output-whole-windows",
    "DML-ELEMENT_WISE_CLIP1-min_max_data_type-said",
    "DML-GRAPH-edge-reinterprets",
]


def written() -> dml.graph.GraphDesc:
    """MaxPool with ceil_mode, TopK whose indices Gather reads as INT64, and Cast to bool."""
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", X.shape), name="x")
    pooled = g.max_pooling(x, window_size=2, strides=2, output_sizes=(1, 1, 4, 4))
    row = g.reshape(pooled, (1, 1, 1, 16))
    values, indices = g.top_k1(row, k=3, axis=3, axis_direction="DECREASING", output_index_dtype="UINT64")
    signed = g.reinterpret(indices, dml.TensorDesc("INT64", (1, 1, 1, 3)))
    gathered = g.gather(row, signed, axis=3, index_dimensions=1)
    as_integer = g.cast(values, output_dtype="UINT8")
    byte = dml.TensorDesc("UINT8", (1, 1, 1, 3))
    unknown: Any = "UNKNOWN"
    clip = dml.desc.ElementWiseClip1(input=byte, min_max_data_type=unknown, min=0, max=1)
    return g.build(gathered=gathered, truth=g.add(clip, as_integer))


def test_it_is_linted_without_an_error_and_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = written()
    path = tmp_path / "Partition_0.bin"
    path.write_bytes(dml.graph.to_bytes(graph))
    assert main(["lint", str(path), "--format", "json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert {one["severity"] for one in file["findings"]} == {"warning"}
    assert sorted(one["id"] for one in file["findings"]) == sorted(WARNINGS)
    gathered, truth = dml.compile(dml.graph.from_bytes(path.read_bytes()))(X)
    padded = np.pad(X, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-np.inf)
    rows = padded.reshape(1, 1, 4, 2, 4, 2).max((3, 5)).reshape(-1)
    highest = np.sort(rows)[::-1][:3]
    assert (gathered.reshape(-1) == highest).all()
    assert (truth.reshape(-1) == np.trunc(highest).astype(bool)).all()
