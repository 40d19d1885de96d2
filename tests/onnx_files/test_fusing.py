"""The effect of an optimiser on models: the operators that are left, the same results, and where each node went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each_of

pytest.importorskip("onnxruntime", reason="needs onnxruntime, whose results and passes are expected")
pytest.importorskip("onnx", reason="needs onnx, which makes the models")

import onnxruntime
from patterns import BATCH, GELU, LINE, PATTERNS, PLANES, ROWS, Pattern, X
from shipped_models import SIZES, drawn, shipped

import dmlcy.onnx
from dmlcy._cli import main
from dmlcy._frontends.onnx.fusing import LEVELS, optimized
from dmlcy._frontends.onnx.reader import decode
from dmlcy._frontends.onnx.walk import Walk

DESC = Path(__file__).parents[2] / "examples" / "average_pooling.json"
SHORT = {"com.microsoft": "M", "com.microsoft.dml": "D"}
ACTIVATIONS = ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "Elu", "Selu", "Softplus", "Softsign")
HOSTS = {
    "Conv": PLANES + "{ a = Conv(x,k,v4) y = %s(a) }",
    "ConvTranspose": "g (float[1,4,4,4] x) => (float[1,3,6,6] y) { a = ConvTranspose(x,k) y = %s(a) }",
    "Gemm": ROWS + "{ a = Gemm(x,m8,v8) y = %s(a) }",
    "MatMul": BATCH + "{ a = MatMul(x,z) y = %s(a) }",
    "InstanceNormalization": X.replace("3,", "4,") + "{ a = InstanceNormalization(x,v4,n4) y = %s(a) }",
    "BatchNormalization": X.replace("3,", "4,") + "{ a = BatchNormalization(x,v4,n4,n4,v4) y = %s(a) }",
    "Add": X + "{ a = Add(x,v8) y = %s(a) }",
    "Sum": X + "{ a = Sum(x,v8) y = %s(a) }",
}  # fmt: skip


def left_of(model: Any, level: str) -> list[str]:
    """The operators of a model behind our passes, those apart that are folded."""
    walk = Walk(optimized(decode("m.onnx", model.SerializeToString(), None), level).model)
    nodes = [one.node for one in walk.visits if one.fate != "folded" or one.node.operator == "DequantizeLinear"]
    return sorted(SHORT.get(node.domain, "") + node.operator for node in nodes)


def on_the_cpu(model: Any, inputs: dict[str, Any]) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found: list[Any] = session.run(None, inputs)
    return found


def must_give(path: Path, model: Any, inputs: dict[str, Any], level: str) -> None:
    """The results are those of ONNX Runtime without an optimiser; quantized ones may be off by one step."""
    step = 0.05 if any(node.op_type == "QuantizeLinear" for node in model.graph.node) else 0
    path.write_bytes(model.SerializeToString())
    results = dmlcy.onnx.load(path, optimize=level).run(inputs)  # type: ignore[arg-type]
    for found, wanted in zip(results.values(), on_the_cpu(model, inputs), strict=True):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        error = np.abs(found - wanted)
        assert error.max() <= 2e-5 * max(1, np.abs(wanted).max()) + step, level
        assert (error > step / 2).mean() <= (0.05 if step else 1), level


@each_of("pattern", PATTERNS)
def test_patterns(pattern: Pattern, tmp_path: Path) -> None:
    model, inputs = pattern.model(), pattern.inputs()
    for level in ("basic", "extended"):
        assert left_of(model, level) == pattern.left(level), level
        must_give(tmp_path / "m.onnx", model, inputs, level)
    assert left_of(model, "none") == sorted(node.op_type for node in model.graph.node)


@pytest.mark.deep
@each_of("pattern", PATTERNS)
def test_onnx_runtime_leaves_the_same(pattern: Pattern, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    for level in ("basic", "extended"):
        options = onnxruntime.SessionOptions()
        known = onnxruntime.GraphOptimizationLevel
        options.graph_optimization_level = getattr(known, f"ORT_ENABLE_{level.upper()}")
        options.optimized_model_filepath = str(tmp_path / f"{level}.onnx")
        onnxruntime.InferenceSession(pattern.model().SerializeToString(), options, providers=["CPUExecutionProvider"])
        nodes = onnx.load(tmp_path / f"{level}.onnx").graph.node
        apart = " ".join(pattern.left(level)).replace("MFusedMatMulActivation", "MFusedMatMul Softmax")
        assert sorted(SHORT.get(one.domain, "") + one.op_type for one in nodes) == sorted(apart.split()), level


@pytest.mark.deep
@pytest.mark.parametrize("path", [*shipped()], ids=lambda path: path.stem)
def test_models_of_packages(path: Path, tmp_path: Path) -> None:
    """The node that gives a value may be another one, and the results are the same."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    inputs = {one.name: drawn(one, SIZES.get(path.name, {}), random) for one in session.get_inputs()}
    sizes = {name: array.shape for name, array in inputs.items()}
    for level in ("basic", "extended"):
        found = dmlcy.onnx.load(path, shapes=sizes, optimize=level).run(inputs)
        for one, wanted in zip(found.values(), session.run(None, inputs), strict=True):
            assert np.abs(one - wanted).max() <= 1e-3 * np.abs(wanted).max()


@each_of("host, activation", [(host, activation) for host in HOSTS for activation in ACTIVATIONS])
def test_activations(host: str, activation: str, tmp_path: Path) -> None:
    pattern = Pattern(HOSTS[host] % activation)
    takes = activation in ("Relu", "LeakyRelu") or host not in ("Add", "Sum")
    assert left_of(pattern.model(), "extended") == ([f"DDmlFused{host}"] if takes else sorted((activation, host)))
    assert left_of(pattern.model(), "basic") == sorted((activation, host))
    must_give(tmp_path / "m.onnx", pattern.model(), pattern.inputs(), "extended")


def test_the_numbers_of_an_activation_stay(tmp_path: Path) -> None:
    pattern = Pattern(PLANES + "{ a = Conv(x,k) y = LeakyRelu<alpha=0.5>(a) }")
    must_give(tmp_path / "m.onnx", pattern.model(), pattern.inputs(), "extended")


def test_only_nodes_of_directml_take_activations() -> None:
    """From opset 22 on, Conv is a node of the CPU."""
    pattern = Pattern(PLANES + "{ a = Conv(x,k) y = Relu(a) }", opset=22)
    assert left_of(pattern.model(), "extended") == ["Conv", "Relu"]


def test_what_is_read_inside_a_graph_stays() -> None:
    """A value that a branch reads has another reader, and keeps its name."""
    text = LINE.replace("x)", "x, bool c)") + (
        "{ a = Identity(x) b = Relu(a) y = If(c) <then_branch = t () => (float[4] o) { o = Neg(b) }, "
        "else_branch = e () => (float[4] o) { o = Add(a, b) }> }"
    )
    assert left_of(Pattern(text).model(), "extended") == ["Identity", "If", "Relu"]


def test_the_report_says_where_each_node_went(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pattern = Pattern(
        PLANES + "{ a = Conv(x,k) b = BatchNormalization(a,v4,n4,n4,v4) c = Identity(b) y = Relu(c) }"
    )  # fmt: skip
    model = pattern.model()
    for node in model.graph.node:
        node.name = f"/{node.op_type}"
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    report = dmlcy.onnx.report(path, optimize="extended")
    assert [(one.name, one.where) for one in report.nodes] == [
        ("/Conv", "dml"), ("/BatchNormalization", "fused"), ("/Relu", "fused"), ("/Identity", "removed"),
    ]  # fmt: skip
    assert report.nodes[0].operator == "com.microsoft.dml.DmlFusedConv" and report.nodes[0].directml == ("CONVOLUTION",)
    assert [why.id for one in report.nodes for why in one.reasons] == ["DML-ONNX-fused"] * 2
    document = dmlcy.onnx.to_json(report)
    assert document["optimize"] == "extended" and document["counts"]["fused"] == 2
    assert main(["onnx", str(path), "--optimize", "extended"]) == 0
    said = capsys.readouterr().out
    assert "optimised: extended" in said and "2 joined with another node by the optimiser" in said
    assert (
        'node 3 "/Relu" (Relu): The optimiser joins this node with node 0 "/Conv" (DmlFusedConv): activation.' in said
    )
    assert {why["severity"] for one in document["nodes"] for why in one["reasons"]} == {"note"}
    assert main(["onnx", str(path), "--optimize", "extended", "--strict", "--format", "github"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["onnx", str(path)]) == 0
    assert "optimised" not in capsys.readouterr().out


def test_a_run_and_a_graph_of_an_optimised_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(Pattern(X + GELU).model().SerializeToString())
    assert main(["run", str(path), "--optimize", "extended"]) == 0
    assert main(["graph", str(path), "--optimize", "extended"]) == 0
    said = capsys.readouterr().out
    assert "ACTIVATION_GELU" in said and "ELEMENT_WISE_ERF" not in said
    assert main(["graph", str(path), "--optimize", "basic", "--extract", "0", str(tmp_path / "n")]) == 2
    for command in ("run", "graph"):
        assert main([command, str(DESC), "--optimize", "basic"]) == 2
        assert f"dmlcy {command}: --optimize is for ONNX models." in capsys.readouterr().err
    with pytest.raises(dmlcy.ModelError, match="DML-ONNX-run-value"):
        dmlcy.onnx.load(path, optimize="extended").run(Pattern(X + GELU).inputs(), outputs=["b"])
    for call in (dmlcy.onnx.load, dmlcy.onnx.report):
        with pytest.raises(ValueError, match="optimize is one of none, basic, extended"):
            call(path, optimize="all")  # type: ignore[arg-type]
    assert LEVELS == ("none", "basic", "extended")
