"""Graphs with tensors of 4 bits: a product whose weights are UINT4 in blocks of 32, as language models have them."""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from four_bits import Array, numbers, packed, packed_bytes, with_and_without_ml_dtypes

import dmlcy as dml
from dmlcy._cli import main

ROWS, DEPTH, COLUMNS, BLOCK = 4, 96, 7, 32
BOTH: Any = {"quantization_type": "SCALE_ZERO_POINT"}


@pytest.fixture(params=["ml_dtypes", "none"])
def has_ml_dtypes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    return with_and_without_ml_dtypes(request, monkeypatch)


def product() -> tuple[Any, Array, Array]:
    """The graph, its input, and the product that NumPy gives. The zero points are an odd number of elements."""
    random = np.random.default_rng(3)
    weights = random.integers(0, 16, (1, 1, COLUMNS, DEPTH))
    zero = random.integers(0, 16, (1, 1, COLUMNS, DEPTH // BLOCK))
    scale = random.choice([0.25, 0.5, 1], zero.shape).astype(np.float32)
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, ROWS, DEPTH)), name="x")
    constants = {"w": packed(weights, "UINT4"), "s": scale, "z": packed(zero, "UINT4")}
    w, s, z = (g.constant(array, name=name) for name, array in constants.items())
    numbers_ = g.dequantize(w, [s, z], **BOTH, name="d")
    graph = g.build(y=g.gemm(x, numbers_, trans_b="TRANSPOSE", name="product"))
    given = random.integers(-9, 10, (1, 1, ROWS, DEPTH)).astype(np.float32)
    whole = (weights - zero.repeat(BLOCK, 3)) * scale.repeat(BLOCK, 3)
    return graph, given, given @ whole.swapaxes(2, 3)


def test_the_product_equals_numpy_and_survives_each_form(tmp_path: Path, has_ml_dtypes: bool) -> None:
    """All partial sums are exact, so that the elements are equal."""
    graph, x, expected = product()
    assert dml.check(graph) == [] and dml.minimum_feature_level(graph).level == "6_3"
    assert dml.compile(graph)(x).tolist() == expected.tolist()
    assert dml.compile(graph, path="reference")(x).tolist() == expected.tolist()
    text = json.dumps(dml.graph.to_json(graph))
    data = dml.graph.to_bytes(graph)
    forms = {
        "json": dml.graph.from_json(text),
        "serialized": dml.graph.from_bytes(data),
        "folder": dml.graph.load(dml.graph.save(graph, tmp_path)),
    }
    for form, again in forms.items():
        assert dml.check(again) == [], form
        assert pickle.loads(pickle.dumps(dml.compile(again)))(x).tolist() == expected.tolist(), form
    assert dml.graph.to_bytes(forms["serialized"]) == data
    constants = {node.name: node for node in graph.nodes if node.kind == "CONSTANT"}
    assert constants["w"].size == COLUMNS * DEPTH // 2 and constants["z"].size == 11
    assert np.load(tmp_path / "w.npy").tolist() == constants["w"].data.tolist()


def test_bytes_of_uint8_are_read_as_weights_of_4_bits() -> None:
    """As ONNX Runtime's provider binds the weights of MatMulNBits: an edge from UINT8 to UINT4."""
    weights = np.random.default_rng(4).integers(0, 16, (2, 64))
    scale, zero = np.full((2, 2), 0.5, np.float32), packed(np.full((2, 2), 8), "UINT4")
    bytes_ = (weights[:, ::2] | weights[:, 1::2] << 4).astype(np.uint8)
    for as_constant in (True, False):
        g = dml.Graph()
        held = g.constant(bytes_) if as_constant else g.input(dml.TensorDesc("UINT8", (2, 32)), name="w")
        halves = g.reinterpret(held, dml.TensorDesc("UINT4", (2, 64)))
        graph = g.build(y=g.dequantize(halves, [g.constant(scale), g.constant(zero)], **BOTH))
        assert dml.check(graph) == []
        assert [one.id for one in dml.check(graph, warnings=True)] == ["DML-GRAPH-edge-reinterprets"]
        given = [] if as_constant else [bytes_]
        assert dml.compile(graph)(*given).tolist() == ((weights - 8) * 0.5).tolist()
        again = dml.graph.from_bytes(dml.graph.to_bytes(graph))  # an input has the data type of what reads it
        given = [] if as_constant else [packed(weights, "UINT4")]
        assert dml.compile(again)(*given).tolist() == ((weights - 8) * 0.5).tolist()


def in_and_out() -> Any:
    """A graph whose input and first output have 4 bits."""
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (3, 5)), name="x")
    zero = g.input(dml.TensorDesc("INT4", (3, 5)), name="zero")
    scale = g.constant(np.full((3, 1), 0.5, np.float32), name="scale")
    quantized = g.quantize(x, [scale, zero], **BOTH, output_dtype="INT4", name="quantized")
    return g.build(q=quantized, again=g.dequantize(quantized, [scale, zero], **BOTH))


def values() -> tuple[Array, Array, Array]:
    random = np.random.default_rng(4)
    x = (random.standard_normal((3, 5)) * 3).astype(np.float32)
    zero = random.integers(-8, 8, (3, 5))
    return x, zero, np.clip(np.rint(x / np.float32(0.5)) + zero, -8, 7).astype(np.int64)


def test_inputs_and_outputs_of_a_graph(has_ml_dtypes: bool) -> None:
    x, zero, quantized = values()
    run: Any = dml.compile(in_and_out())
    found, again = run(x, packed(zero, "INT4"))
    assert isinstance(found, dml.Packed) is not has_ml_dtypes
    assert numbers(found).tolist() == quantized.tolist()
    assert again.tolist() == ((quantized - zero) * 0.5).tolist()
    out = dml.packed(np.full(8, 0xFF, np.uint8), "INT4", (3, 5)), np.zeros((3, 5), np.float32)
    twice = np.clip(np.rint(x / np.float32(0.5)) + quantized, -8, 7)
    assert numbers(run(x, found)[0]).tolist() == twice.tolist()
    assert run(x, packed(zero, "INT4"), out=out) is out
    assert out[0].data.tolist() == packed_bytes(quantized).tolist() and out[1].tolist() == again.tolist()
    seen: dict[str, Any] = {}
    run.run((x, packed(zero, "INT4")), {}, None, lambda port, value: seen.update({str(port): value}))
    assert any(isinstance(one, dml.Packed) for one in seen.values()) is not has_ml_dtypes


def test_a_graph_refuses_other_tensors_before_it_writes() -> None:
    x, zero, _ = values()
    run: Any = dml.compile(in_and_out())
    right = packed(zero, "INT4")
    out = dml.packed(np.zeros(8, np.uint8), "INT4", (3, 5)), np.zeros((3, 5), np.float32)
    for given, target, id_ in (
        (packed(zero, "UINT4"), out, "array-dtype"),
        (zero.astype(np.int8), out, "array-dtype"),
        (packed(zero.reshape(5, 3), "INT4"), out, "array-sizes"),
        (right, (packed(zero, "UINT4"), out[1]), "array-dtype"),
        (right, (right, out[1]), "out"),
        (right, (dml.packed(out[1].view(np.uint8).reshape(-1)[:8], "INT4", (3, 5)), out[1]), "out"),
    ):
        with pytest.raises(dml.DmlError) as caught:
            run(x, given, out=target)
        assert caught.value.id == f"DML-GRAPH-{id_}"
    assert not out[0].data.any() and not out[1].any()
    with pytest.raises(dml.DmlError, match="has data type UINT4, and must have INT4"):
        run(x, packed(zero, "UINT4"))


def test_strides_are_refused_when_the_graph_is_compiled() -> None:
    g = dml.Graph()
    weights = g.constant(packed(np.arange(8).reshape(1, 8), "UINT4"))
    rows = g.reinterpret(weights, dml.TensorDesc("UINT4", (4, 8), (0, 1)))
    graph = g.build(g.dequantize(rows, [g.constant(np.ones((1, 1), np.float32))], quantization_type="SCALE"))
    assert dml.check(graph) == []
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.compile(graph)
    assert caught.value.id == "DML-MODEL-packed-strides"


def test_runs_and_dumps_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], has_ml_dtypes: bool) -> None:
    """A ``.npy`` file has the bytes. A half that differs is found."""
    x, zero, quantized = values()
    path = dml.graph.save(in_and_out(), tmp_path / "graph")
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "zero.npy", packed_bytes(zero))
    given = ["--input", f"x={tmp_path / 'x.npy'}", "--input", f"zero={tmp_path / 'zero.npy'}"]
    for folder in ("ours", "theirs"):
        assert main(["run", str(path), *given, "--dump", str(tmp_path / folder)]) == 0
    assert f"Output 'q', INT4 3x5: {', '.join(map(str, quantized.reshape(-1)))}" in capsys.readouterr().out
    file = tmp_path / "theirs" / "quantized.npy"
    data = np.load(file)
    assert data.dtype == np.uint8 and data.tolist() == packed_bytes(quantized).tolist()
    compare = ["compare", str(tmp_path / "ours"), str(tmp_path / "theirs")]
    assert main(compare) == 0
    data[1] ^= 0x10
    np.save(file, data)
    assert main(compare) == 1
    said = capsys.readouterr().out
    assert 'the first wrong node is node 1 "quantized" (QUANTIZE)' in said, said
    assert "1 of 15 elements wrong, the first at [0, 3]" in said, said
    np.save(file, data[:-1])
    assert main(compare) == 2
    assert "DML-MODEL-npy-sizes" in capsys.readouterr().err
    np.save(tmp_path / "zero.npy", packed_bytes(zero)[:-1])
    assert main(["run", str(path), *given]) == 1
    assert "DML-MODEL-npy-sizes" in capsys.readouterr().err
    np.save(tmp_path / "zero.npy", zero.astype(np.int8))
    assert main(["run", str(path), *given]) == 1
    assert "DML-MODEL-npy-type" in capsys.readouterr().err
    os.remove(tmp_path / "zero.npy")
    assert main(["run", str(path)]) == 0  # made values


def test_a_graph_with_each_edge_as_an_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, _, _ = product()
    path = dml.graph.save(graph, tmp_path / "graph")
    exposed = tmp_path / "exposed"
    assert main(["graph", "--expose-edges", str(exposed), str(path)]) == 0
    assert main(["run", str(exposed / "model.json"), "--output-path", str(tmp_path / "run")]) == 0
    assert main(["compare", str(exposed), str(tmp_path / "run")]) == 0, capsys.readouterr()


def test_constants_become_inputs_and_constants_again(has_ml_dtypes: bool, tmp_path: Path) -> None:
    graph, x, expected = product()
    owned, arrays = graph.constants_as_inputs()
    assert numbers(arrays["w"]).shape == (1, 1, COLUMNS, DEPTH)
    op = dml.compile(owned)
    op.initialize(**arrays)
    again = owned.inputs_as_constants(arrays)
    read = dml.graph.load(dml.graph.save(graph, tmp_path, form="serialized"))
    assert (tmp_path / "w.bin").stat().st_size == COLUMNS * DEPTH // 2
    for found in (op(x), dml.compile(again)(x), dml.compile(read)(x)):
        assert found.tolist() == expected.tolist()


def test_a_node_that_cannot_run_is_named() -> None:
    g = dml.Graph()
    w = g.constant(packed(np.zeros((2, 5), int), "UINT4"))
    scale = g.constant(np.ones((1, 1), np.float32))
    with g.origin("model.onnx", "/w", "DequantizeLinear"):
        numbers_ = g.dequantize(g.transpose(w, (1, 0)), [scale], quantization_type="SCALE", name="d")
    with pytest.raises(dml.InvalidDescError, match=r'node 2 "d" .*"/w".*DML-MODEL-packed-strides') as caught:
        dml.compile(g.build(numbers_))
    assert isinstance(caught.value.violations[0], dml.graph.GraphViolation)
