"""``dmlcy graph MODEL.onnx`` for a device, and ``dmlcy compare MODEL.onnx``: a wrong node is found and named."""

from __future__ import annotations

import base64
import io
import json
import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import seeds_of
from random_nodes import Nodes
from small_models import Node, compare, small

import dmlcy as dml
import dmlcy.onnx
from dmlcy._cli import compare_dumps, main
from dmlcy._frontends.onnx.inputs import arrays_for
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.reader import decode
from dmlcy._judge.models.compare import compared
from dmlcy._judge.models.values import read_values

DIGITS = Path(__file__).parents[2] / "examples" / "onnx" / "digits.onnx"
IMAGE = np.random.default_rng(3).standard_normal((2, 1, 8, 8)).astype(np.float32)


@pytest.fixture
def exposed(tmp_path: Path) -> Path:
    """A folder for a device."""
    np.save(tmp_path / "image.npy", IMAGE)
    folder = tmp_path / "exposed"
    assert (
        main(["graph", str(DIGITS), "--input", f"image={tmp_path / 'image.npy'}", "--expose-edges", str(folder)]) == 0
    )
    return folder


def right() -> dict[str, Any]:
    """All values of a right device."""
    model = dmlcy.onnx.load(DIGITS)
    return model.run({"image": IMAGE}, [name for name in model.names if name not in model._model.graph.initializers])


def status_of(values: dict[str, Any], folder: Path, *options: str) -> int:
    np.savez(folder / "device.npz", **values)
    return main(["compare", str(DIGITS), str(folder / "device.npz"), *options])


def test_the_model_for_a_device_has_every_value(exposed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script runs it; here, ONNX Runtime has the provider of the CPU only."""
    pytest.importorskip("onnxruntime", reason="needs onnxruntime, which is the device")
    monkeypatch.chdir(exposed)
    with warnings.catch_warnings(action="ignore"):
        runpy.run_path("run.py")
    found = read_values(exposed / "values.npz")
    assert {*found} == {*right()} and np.array_equal(found["image"], IMAGE)
    assert (exposed / "run.py").read_text().count("\n") <= 13
    assert main(["compare", "model.onnx", "values.npz", "--strict", "--validate"]) == 0
    assert main(["compare", str(DIGITS), "values.npz"]) == 0


@pytest.mark.parametrize("wrong", ["conv", "relu", "pool", "shape", "flat", "dense", "shares"])
def test_a_wrong_node_is_named(wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The nodes behind it are right: they are judged with what the device has."""
    values = right()
    values[wrong] = values[wrong].copy()
    values[wrong].reshape(-1)[1] += 1
    assert status_of(values, tmp_path) == 1
    (node,) = (one for one in dmlcy.onnx.report(DIGITS).nodes if one.place.split('"')[1].lower().endswith(_name(wrong)))
    assert f"the first wrong node is {node.place}" in capsys.readouterr().out


def _name(value: str) -> str:
    return {"flat": "/reshape", "dense": "/gemm", "shares": "/softmax", "pool": "/maxpool"}.get(value, f"/{value}")


def test_a_value_that_the_device_does_not_have_is_computed_with_its_error(tmp_path: Path) -> None:
    values = right()
    model = dmlcy.onnx.load(DIGITS)
    for hidden in (("conv",), ("conv", "relu", "pool", "flat"), tuple(name for name in values if name != "shares")):
        kept = {name: one for name, one in values.items() if name not in hidden}
        report = compare(model, {"image": IMAGE}, kept, tmp_path)
        assert report.status == 0 and [one.value for one in report.nodes] == [
            name for name in values if name in kept and name != "image"
        ]
        worst = {**kept, "shares": kept["shares"] + np.float32(1e-3)}
        found = compare(model, {"image": IMAGE}, worst, tmp_path).first_wrong
        assert found is not None and found.value == "shares"


def test_a_node_behind_hidden_values_is_not_named_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report says which input the file lacks, and which values to add."""
    values = right()
    wrong = values["shares"] + np.float32(0.1)
    assert status_of({"image": IMAGE, "relu": values["relu"], "shares": wrong}, tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert '"relu": passed; with the nodes before it ' in lines[0]
    assert lines[-2:] == [
        'the first wrong node is node 9 "/Softmax" (Softmax), or a node before it: "device.npz" does not have its '
        'input "dense"',
        'to find out which node, add these values to "device.npz": "dense", "flat", "pool"',
    ]  # fmt: skip
    status_of({"image": IMAGE, "shares": wrong}, tmp_path, "--json")
    (output,) = json.loads(capsys.readouterr().out)["outputs"]
    assert output["unseen"] == ["dense", "flat", "pool", "relu", "conv"]
    assert status_of({**values, "shares": wrong}, tmp_path) == 1
    assert capsys.readouterr().out.endswith('the first wrong node is node 9 "/Softmax" (Softmax)\n')


def test_an_input_that_nobody_gave_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = right()
    del values["image"]
    assert status_of(values, tmp_path, "--shape", "batch=2") == 1
    said = capsys.readouterr().err
    assert said.startswith("warning: ") and 'has no input "image": small integers take its place.' in said
    np.save(tmp_path / "image.npy", IMAGE)
    assert status_of(values, tmp_path, "--input", f"image={tmp_path / 'image.npy'}") == 0
    assert capsys.readouterr().err == ""


def test_errors_that_a_correct_device_may_make_pass_behind_hidden_values(tmp_path: Path) -> None:
    """The values of the hidden node are off by its whole bound, in any direction."""
    nodes = [Node("Exp", "x", "h"), Node("MatMul", "h w", "y")]
    random = np.random.default_rng(0)
    w = random.standard_normal((64, 3)).astype(np.float32)
    data = small(nodes, {"x": ("FLOAT", (5, 64))}, {"w": w}, outputs={"y": ("FLOAT", (5, 3))})
    model = CompiledModel(decode("m.onnx", data, None), {})
    x = random.standard_normal((5, 64)).astype(np.float32)
    for draw in range(20):
        steps = np.random.default_rng(draw).choice([-4, 4], x.shape)
        h = np.exp(x) * (1 + steps * np.float32(2**-24))
        y = (h.astype(np.float64) @ w).astype(np.float32)
        assert compare(model, {"x": x}, {"y": y}, tmp_path).status == 0
        far = y + np.float32(1e-3)
        assert compare(model, {"x": x}, {"y": far}, tmp_path).status == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one[:1], "it has the sizes (1, 4, 8, 8), and must have (2, 4, 8, 8)"),
        (lambda one: one.astype(np.float64), "it is float64, and must be float32"),
    ],
)
def test_a_value_that_does_not_fit_is_wrong(
    change: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = right()
    assert status_of(values | {"conv": change(values["conv"])}, tmp_path) == 1
    assert f'the first wrong node is node 0 "/conv/Conv" (Conv): {said}' in capsys.readouterr().out


def test_inputs_that_the_device_did_not_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = right()
    values["image"] = np.where(IMAGE.max() == IMAGE, np.float32("nan"), IMAGE)  # equal to itself, though a NaN is not
    for name, image in (("other", IMAGE + 1), ("same", values["image"])):
        np.save(tmp_path / f"{name}.npy", image)
    status_of(values, tmp_path, "--input", f"image={tmp_path / 'other.npy'}")
    assert 'warning: the given input "image" differs from the input in ' in capsys.readouterr().err
    status_of(values, tmp_path, "--input", f"image={tmp_path / 'same.npy'}")
    assert capsys.readouterr().err == ""


def test_the_model_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "values.npz", str(DIGITS)]) == 2
    said = capsys.readouterr().err
    assert f"is an ONNX model, which comes first: {DIGITS} values.npz" in said


def test_an_output_that_is_not_there_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = right()
    del values["shares"]
    assert status_of(values, tmp_path) == 1
    assert 'the first node without a value is node 9 "/Softmax"' in capsys.readouterr().out


def test_names_that_a_terminal_would_obey_are_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b[31mred\u202e"
    like = ("FLOAT", (2,))
    (tmp_path / "model.onnx").write_bytes(small([Node("Relu", "x", name)], {"x": like}, outputs={name: like}))
    np.savez(tmp_path / "device.npz", x=np.ones(2, np.float32))
    status = main(["compare", str(tmp_path / "model.onnx"), str(tmp_path / "device.npz")])
    said = capsys.readouterr().out
    assert status == 1 and "the device has no value" in said and not {"\x1b", "\u202e"} & {*said}


def test_numbers_for_each_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = right()
    values["relu"] = values["relu"].copy()
    values["relu"][0, 1, 2, 3] = np.nan
    assert status_of(values, tmp_path, "--summary", "--validate") == 1
    out = capsys.readouterr().out
    assert (
        '"relu": 0, 0, 1, [0, 1, 2, 3]' in out and '"relu": 1 NaN, 0 infinite' in out and 'the first is "relu"' in out
    )
    status_of(values, tmp_path, "--json")
    document = json.loads(capsys.readouterr().out)
    found = {one["value"]: one["summary"] for one in document["outputs"]}
    assert document["format"] == "dmlcy-onnx-comparison" and found["relu"]["strange"] and not found["conv"]["strange"]


def test_values_of_polygraphy(tmp_path: Path) -> None:
    """As polygraphy 0.53 writes ``--save-outputs`` and ``--save-inputs``."""

    def encoded(array: Any) -> dict[str, str]:
        stream = io.BytesIO()
        np.save(stream, array)
        return {"array": base64.b64encode(stream.getvalue()).decode(), "polygraphy_class": "ndarray"}

    values = right()
    image = values.pop("image")
    outputs = {name: {"values": encoded(one), "polygraphy_class": "LazyArray"} for name, one in values.items()}
    result = {"outputs": outputs, "runtime": 0.1, "runner_name": "onnxrt", "polygraphy_class": "IterationResult"}
    document = {"lst": [["onnxrt", [result]]], "polygraphy_class": "RunResults"}
    (tmp_path / "outputs.json").write_text(json.dumps(document))
    (tmp_path / "inputs.json").write_text(json.dumps([{"image": encoded(image)}]))
    files = [str(tmp_path / "outputs.json"), "--inputs", str(tmp_path / "inputs.json")]
    assert main(["compare", str(DIGITS), *files]) == 0
    outputs["conv"]["values"] = encoded(values["conv"] + np.float32(0.1))
    (tmp_path / "outputs.json").write_text(json.dumps(document))
    assert main(["compare", str(DIGITS), *files]) == 1


def test_a_folder_of_files(tmp_path: Path) -> None:
    for name, one in right().items():
        np.save(tmp_path / f"{name}.npy", one)
    assert main(["compare", str(DIGITS), str(tmp_path)]) == 0


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b'{"outputs": 3}', b"{", b"text"])
def test_files_without_values(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "values.npz"
    path.write_bytes(content)
    assert main(["compare", str(DIGITS), str(path)]) == 2
    assert "DML-MODEL-actual" in capsys.readouterr().err


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "values.npz", conv=np.array([print], object))
    with pytest.raises(dml.ModelError, match="DML-MODEL-actual"):
        read_values(tmp_path / "values.npz")


def test_nodes_on_the_cpu_are_compared_too(tmp_path: Path) -> None:
    nodes = [Node("Relu", "x", "r"), Node("NonZero", "r", "places"), Node("Cast", "places", "y", {"to": 1})]
    data = small(nodes, {"x": ("FLOAT", (40, 40))}, outputs={"y": ("FLOAT", (2, "n"))})
    model = CompiledModel(decode("m.onnx", data, None), {})
    x = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    values = model.run({"x": x}, ["r", "places", "y"])
    assert compare(model, {"x": x}, values, tmp_path).passed
    for name in values:
        wrong = values | {name: values[name] + np.ones((), values[name].dtype)}
        found = compare(model, {"x": x}, wrong, tmp_path).first_wrong
        assert found is not None and found.value == name


def test_a_node_that_nothing_here_computes_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [Node("Relu", "x", "r"), Node("Det", "r", "d"), Node("Add", "r d", "y")]
    path = tmp_path / "m.onnx"
    path.write_bytes(small(nodes, {"x": ("FLOAT", (3, 3))}, outputs={"y": ("FLOAT", (3, 3))}))
    x = np.random.default_rng(0).standard_normal((3, 3)).astype(np.float32)
    r = np.maximum(x, 0)
    values: dict[str, Any] = {"x": x, "r": r, "d": np.array(7, np.float32), "y": r + 7}
    assert main(["graph", str(path), "--expose-edges", str(tmp_path / "exposed")]) == 0
    exposed = decode("m.onnx", (tmp_path / "exposed" / "model.onnx").read_bytes(), None)
    assert {one.name for one in exposed.graph.outputs} == {"r", "d", "y"}
    np.savez(tmp_path / "right.npz", **values)
    assert main(["compare", str(path), str(tmp_path / "right.npz")]) == 0
    out, err = capsys.readouterr()
    assert "2 outputs of nodes" in out and "node 1 (Det): warning: " in err and "DML-ONNX-run-unjudged" in err
    np.savez(tmp_path / "wrong.npz", **{**values, "y": r + 8})
    assert main(["compare", str(path), str(tmp_path / "wrong.npz")]) == 1
    assert "the first wrong node is node 2 (Add)" in capsys.readouterr().out
    np.savez(tmp_path / "less.npz", x=x, y=r)
    assert main(["compare", str(path), str(tmp_path / "less.npz")]) == 1
    assert "DML-ONNX-run-unknown" in capsys.readouterr().err


def spoilt(array: Any, random: np.random.Generator) -> Any:
    """An array of another data type, of other sizes, or with elements that no device should give."""
    match random.integers(4):
        case 0:
            return array.astype(np.float64)
        case 1:
            return array[..., np.newaxis]
        case 2:
            return np.full_like(array, np.nan if array.dtype.kind == "f" else 1)
        case _:
            return np.full_like(array, np.inf if array.dtype.kind == "f" else 0)


@seeds_of(10)
def test_random_nodes_are_right_beside_themselves(seeds: range, tmp_path: Path) -> None:
    """Also what a device should never give is compared, and has a report."""
    right_ones = 0
    for seed in seeds:
        nodes, random = Nodes(2000 + seed), np.random.default_rng(seed)
        for number in range(250):
            try:
                model = CompiledModel(nodes.model(), {}, at_once=False)
                inputs = arrays_for(model, {}, seed)
                values = model.run(inputs)
            except dml.DmlError:
                continue
            report, _ = compared(model, inputs, values, tmp_path)
            assert report.status == 0, (seed, number, [one.label for one in report.nodes])
            right_ones += len(report.nodes)
            others = {name: one if one.dtype == object else spoilt(one, random) for name, one in values.items()}
            report, beside = compared(model, inputs, others, tmp_path)
            assert [*compare_dumps.text(report)] and len(beside) <= len(values)
    assert right_ones > 20 * len(seeds)


# Files ---------------------------------------------------------------------------------------------------------------


def test_the_graphs_of_a_model(tmp_path: Path) -> None:
    assert main(["graph", str(DIGITS), "--shape", "batch=2", "--save", str(tmp_path)]) == 0
    graph = dml.graph.load(tmp_path / "graph.json")
    partition = dml.graph.load(tmp_path / "Partition_0" / "Partition_0.bin")
    assert [node.name for node in partition.nodes if node.name.startswith("#")] == [
        "#0 '/conv/Conv'_dmlEp_0", "#1 '/relu/Relu'_dmlEp_0", "#2 '/pool/MaxPool'_dmlEp_0", "#8 '/dense/Gemm'_dmlEp_0",
        "#9 '/Softmax'_dmlEp_0",
    ]  # fmt: skip
    expected = dmlcy.onnx.load(DIGITS)(IMAGE)
    for one in (graph, partition):
        assert [end.name for end in one.inputs] == ["image"]
        assert np.array_equal(dml.compile(one)(IMAGE).reshape(2, 10), expected)


def test_a_partition_ends_at_a_node_of_the_cpu(tmp_path: Path) -> None:
    """The kernels of Conv and MaxPool end at an older opset, so each partition has inputs of its own."""
    digits22 = DIGITS.with_name("digits22.onnx")
    assert main(["graph", str(digits22), "--shape", "batch=2", "--save", str(tmp_path)]) == 0
    names = [path.name for path in sorted(tmp_path.glob("Partition_*/Partition_*.bin"))]
    first, second = (dml.graph.load(tmp_path / name.removesuffix(".bin") / name) for name in names)
    assert ([one.name for one in first.inputs], [one.name for one in second.inputs]) == (["conv"], ["pool"])
    values = dmlcy.onnx.load(digits22).run({"image": IMAGE}, ["conv", "relu", "pool", "shares"])
    assert np.array_equal(dml.compile(first)(values["conv"]), values["relu"])
    assert np.array_equal(dml.compile(second)(values["pool"].reshape(1, 1, 2, 64)).reshape(2, 10), values["shares"])


@pytest.mark.parametrize("node", ["8", "/dense/Gemm", "dense"])
def test_one_node_with_its_inputs(node: str, tmp_path: Path) -> None:
    np.save(tmp_path / "image.npy", IMAGE)
    folder = tmp_path / "alone"
    given = ["--input", f"image={tmp_path / 'image.npy'}"]
    assert main(["graph", str(DIGITS), *given, "--extract", node, str(folder)]) == 0
    model = dmlcy.onnx.load(folder / "model.onnx")
    assert [one.name for one in model.inputs] == ["flat"] and len(model._model.graph.nodes) == 1
    expected = dmlcy.onnx.load(DIGITS).run({"image": IMAGE}, ["dense"])["dense"]
    assert np.array_equal(model.run(read_values(folder / "inputs.npz"))["dense"], expected)


def test_a_node_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(DIGITS), "--shape", "batch=1", "--extract", "none", str(tmp_path)]) == 1
    assert 'No node has the number, the name or the output "none"' in capsys.readouterr().err


def test_the_models_that_are_written_are_valid(exposed: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="needs onnx, which checks the models")
    onnx.checker.check_model(onnx.load(exposed / "model.onnx"), full_check=True)
    assert main(["graph", str(DIGITS), "--shape", "batch=1", "--extract", "0", str(tmp_path / "alone")]) == 0
    onnx.checker.check_model(onnx.load(tmp_path / "alone" / "model.onnx"), full_check=True)


def test_the_graph_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(DIGITS), "--shape", "batch=2"]) == 0
    assert '(CONVOLUTION, from Conv "/conv/Conv"' in capsys.readouterr().out
