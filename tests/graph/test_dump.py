"""Dumps of the values of graphs, their comparison, and models for a device."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import network, tensor, valid

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._judge.dumps import dump
from dmlcy._judge.passes import judged


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """The network of graphs.py, and its input, as files."""
    whole, x = network()
    np.save(tmp_path / "x.npy", x)
    return dml.graph.save(whole, tmp_path / "graph")


def run(*arguments: object) -> None:
    assert main([str(one) for one in arguments]) == 0


def outputs(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any]:
    """The status and the JSON of a comparison."""
    capsys.readouterr()
    status = main(["compare", "--json", *map(str, arguments)])
    return status, json.loads(capsys.readouterr().out)


def test_a_dump_has_every_value_and_the_graph(graph: Path, tmp_path: Path) -> None:
    run("run", graph, f"--input=x={tmp_path / 'x.npy'}", "--dump", tmp_path / "dump")
    manifest = json.loads((tmp_path / "dump" / "manifest.json").read_text())
    assert [one["name"] for one in manifest["values"]] == [
        "x", "kernel", "matrix", "convolution", "pool", "double", "elu", "product", "softmax"
    ]  # fmt: skip
    values = {one["name"]: np.load(tmp_path / "dump" / one["file"]) for one in manifest["values"]}
    assert values["double"].tolist() == (2 * values["pool"]).tolist()
    again = dml.graph.from_json(
        (tmp_path / "dump" / manifest["graph"]).read_bytes(), folder=tmp_path / "dump" / "graph"
    )
    assert dml.compile(again)(np.load(tmp_path / "x.npy")).tobytes() == values["softmax"].tobytes()


def test_a_dump_of_a_serialized_graph_is_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A constant of such a graph has no desc; in the dump it has that of its reader."""
    (tmp_path / "graph.bin").write_bytes(dml.graph.to_bytes(network()[0]))
    run("run", tmp_path / "graph.bin", "--dump", tmp_path / "dump")
    status, report = outputs(capsys, tmp_path / "dump", tmp_path / "dump")
    assert status == 0 and report["first_wrong"] is None
    again = dml.graph.load(dml.graph.save(dml.graph.load(tmp_path / "graph.bin"), tmp_path / "saved"))
    assert dml.check(again) == [] and {one.name for one in (tmp_path / "saved").iterdir()} >= {"kernel.npy"}


def test_a_constant_is_compared_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of its four bytes, its first reader sees one, and the second one all."""
    one, four = tensor(1, dtype="UINT8"), tensor(4, dtype="UINT8")
    nodes = [dml.graph.Node(dml.desc.ElementWiseBitNot(input=desc), name) for name, desc in (("y", one), ("z", four))]
    constant = dml.graph.Constant(np.arange(4, dtype=np.uint8))
    edges = [((2, 0), (0, 0)), ((2, 0), (1, 0)), ((0, 0), (None, 0)), ((1, 0), (None, 1))]
    graph = dml.graph.GraphDesc(
        (*nodes, constant), (), (dml.graph.End("y"), dml.graph.End("z")),
        tuple(dml.graph.Edge(dml.graph.Port(*begin), dml.graph.Port(*end)) for begin, end in edges),
    )  # fmt: skip
    run("run", dml.graph.save(graph, tmp_path / "graph"), "--dump", tmp_path / "dump")
    assert np.load(tmp_path / "dump" / "z.npy").tolist() == [255, 254, 253, 252]
    assert outputs(capsys, tmp_path / "dump", tmp_path / "dump")[1]["first_wrong"] is None


def test_the_first_wrong_node_is_named_though_everything_after_it_differs(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other side: the same graph whose pooling adds a little, computed on from there."""
    run("run", graph, f"--input=x={tmp_path / 'x.npy'}", "--dump", tmp_path / "dump")
    other = shutil.copytree(tmp_path / "dump", tmp_path / "other")
    pool = np.load(other / "pool.npy") + np.float32(0.25)
    double = dml.element_wise_add(pool, pool)
    elu = dml.activation_elu(double)
    product = dml.gemm(elu.reshape(1, 1, 1, -1), np.load(other / "matrix.npy"))
    changed = {"pool": pool, "double": double, "elu": elu, "product": product}
    for name, value in (changed | {"softmax": dml.activation_softmax(product)}).items():
        np.save(other / f"{name}.npy", value)
    status, found = outputs(capsys, tmp_path / "dump", other)
    verdicts = {one["value"]: one["verdict"] for one in found["outputs"]}
    assert status == 1 and not found["passed"]
    assert [name for name, verdict in verdicts.items() if verdict == "failed"] == ["pool"]
    assert found["first_wrong"] == next(one["node"] for one in found["outputs"] if one["value"] == "pool")
    accumulated = {one["value"]: one["accumulated"]["different"] for one in found["outputs"]}
    assert accumulated["convolution"] == 0
    assert all(accumulated[name] > 0 for name in ("pool", "double", "elu", "product"))
    assert main(["compare", str(tmp_path / "dump"), str(other)]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith('the first wrong node is node 2 "pool" (MAX_POOLING)')


def changed(graph: Path, tmp_path: Path, value: str, change: Any) -> tuple[Path, Path]:
    """A dump of a graph, and the same one with another value."""
    run("run", graph, f"--input=x={tmp_path / 'x.npy'}", "--dump", tmp_path / "dump")
    other = shutil.copytree(tmp_path / "dump", tmp_path / "other")
    np.save(other / f"{value}.npy", change(np.load(other / f"{value}.npy")))
    return tmp_path / "dump", other


def test_a_rounding_difference_is_one_that_a_device_may_have(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = changed(graph, tmp_path, "product", lambda values: values * np.float32(1 + 2**-22))
    status, found = outputs(capsys, *pair)
    assert status == 0 and found["passed"] and found["first_wrong"] is None
    assert found["outputs"][-2]["alone"]["different"] == 10
    assert main(["compare", *map(str, pair)]) == 0
    assert capsys.readouterr().out.endswith("\n6 outputs of nodes: every node is right for the inputs that it had\n")


def typical_and_allowed(folder: Path) -> tuple[Any, Any]:
    """Of the product: the differences beyond which an element is suspect, and beyond which it is wrong."""
    node = next(one for one in network()[0].nodes if one.name == "product")
    a, b = (np.load(folder / f"{name}.npy") for name in ("elu", "matrix"))
    assert isinstance(node.desc, dml.desc.OperatorDesc)
    _, passes = judged(node.desc, {"a": a.reshape(1, 1, 1, -1), "b": b}, "output")
    return passes.typical, passes.allowed


def test_a_suspect_node_is_named(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A suspect node fails only where the user asks for strictness."""
    pair = changed(graph, tmp_path, "product", lambda values: values)
    typical, allowed = typical_and_allowed(pair[0])
    assert (2 * typical < allowed).all()
    values, at = np.load(pair[1] / "product.npy"), (0, 0, 0, 3)
    values[at] += np.float32(1.5 * typical[at])
    np.save(pair[1] / "product.npy", values)
    status, found = outputs(capsys, *pair)
    assert (status, found["passed"], found["first_wrong"]) == (0, False, None)
    node = next(one for one in found["outputs"] if one["verdict"] == "suspect")
    assert (node["value"], node["node"]) == ("product", found["first_suspect"])
    assert (node["alone"]["suspect"], node["alone"]["first_suspect"]) == (1, [[*at]])
    assert main(["compare", *map(str, pair)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if '"product": suspect; ' in line]
    assert ", 1 of 10 elements suspect, the first at [0, 0, 0, 3]; accumulated " in line
    assert lines[-2:] == [
        "6 outputs of nodes: 5 passed, 1 suspect", 'the first suspect node is node 6 "product" (GEMM)'
    ]  # fmt: skip
    assert main(["compare", *map(str, pair), "--strict"]) == 1
    for options, verdict in (["--rtol", "1"], "passed"), (["--ulp", "0"], "failed"):
        status, found = outputs(capsys, *pair, *options)
        verdicts = {one["value"]: one["verdict"] for one in found["outputs"]}
        assert (status, verdicts["product"]) == (int(verdict == "failed"), verdict)


def test_elements_that_nobody_promises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such elements are counted by id. A node without a judged element neither passes nor fails."""
    g = dml.Graph()
    integers = tensor(3, dtype="INT32")
    a, b = g.input(integers, name="a"), g.input(integers, name="b")
    some, none = (
        g.element_wise_divide(a, b, name="some"),
        g.element_wise_divide(a, g.element_wise_subtract(b, b), name="none"),
    )
    whole = g.build(y=some, z=none)
    np.save(tmp_path / "a.npy", np.array([6, 1, 5], "i4"))
    np.save(tmp_path / "b.npy", np.array([2, 0, 5], "i4"))
    inputs = [f"--input={name}={tmp_path / name}.npy" for name in "ab"]
    run("run", dml.graph.save(whole, tmp_path / "graph"), *inputs, "--dump", tmp_path / "dump")
    other = shutil.copytree(tmp_path / "dump", tmp_path / "other")
    np.save(other / "some.npy", np.array([3, 99, 1], "i4"))
    status, found = outputs(capsys, tmp_path / "dump", other)
    assert (status, found["passed"]) == (0, False)
    verdicts = {one["value"]: (one["verdict"], one["alone"]["not_judged_by"]) for one in found["outputs"]}
    assert verdicts["some"] == ("passed", {"ELEMENT_WISE_DIVIDE-division-by-zero": 1}), verdicts
    assert verdicts["none"] == ("not judged", {"ELEMENT_WISE_DIVIDE-division-by-zero": 3})
    for options in ([], ["--strict"]):
        assert main(["compare", str(tmp_path / "dump"), str(other), *options]) == len(options)
        out = capsys.readouterr().out
        assert "1 of 3 elements not judged, ELEMENT_WISE_DIVIDE-" in out
        assert out.splitlines()[-1] == "3 outputs of nodes: 2 passed, 1 not judged; 4 elements not judged"
    np.save(other / "some.npy", np.array([4, 99, 1], "i4"))
    assert main(["compare", str(tmp_path / "dump"), str(other)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "3 outputs of nodes: 1 passed, 1 failed, 1 not judged; 4 elements not judged"


def test_a_missing_file_is_said(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The value is not wrong, but missing, and counted apart. Nodes that read it are judged by the expected value."""
    run("run", graph, "--dump", tmp_path / "dump")
    other = shutil.copytree(tmp_path / "dump", tmp_path / "other")
    (other / "double.npy").unlink()
    status, found = outputs(capsys, tmp_path / "dump", other)
    assert (status, found["passed"], found["first_wrong"]) == (1, False, None)
    verdicts = {one["value"]: one["verdict"] for one in found["outputs"]}
    assert verdicts.pop("double") == "missing" and {*verdicts.values()} == {"passed"}
    assert found["first_missing"] == next(one["node"] for one in found["outputs"] if one["value"] == "double")
    np.save(other / "softmax.npy", np.load(other / "softmax.npy") + 1)
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "dump"), str(other)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "6 outputs of nodes: 4 passed, 1 failed, 1 missing" in lines
    assert 'the first node without a value is node 3 "double" (ELEMENT_WISE_ADD): there is no "double.npy"' in lines
    assert lines[-1].startswith('the first wrong node is node 7 "softmax"')
    (other / "product.npy").unlink()
    assert main(["compare", str(tmp_path / "dump"), str(other)]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        'the first wrong node is node 7 "softmax" (ACTIVATION_SOFTMAX), or a node before it: "other" does not have its '
        'input "product"',
        'to find out which node, add these values to "other": "product"',
    ]  # fmt: skip


def test_constants_are_compared_with_the_graph(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A device with other weights computes every node right, and the wrong constant is named first."""
    run("run", graph, "--dump", tmp_path / "dump")
    other = shutil.copytree(tmp_path / "dump", tmp_path / "other")
    status, found = outputs(capsys, tmp_path / "dump", other)
    assert status == 0
    assert [(one["kind"], one["value"], one["verdict"]) for one in found["given"]] == [
        ("constant", "kernel", "passed"), ("constant", "matrix", "passed"), ("input", "x", "passed")
    ]  # fmt: skip
    whole = network()[0]
    changed = replace(whole, nodes=tuple(_seven(node) for node in whole.nodes))
    run("run", dml.graph.save(changed, tmp_path / "seven"), "--dump", tmp_path / "wrong")
    status, found = outputs(capsys, tmp_path / "dump", tmp_path / "wrong")
    assert (status, found["passed"], found["first_wrong"]) == (1, False, None)
    kernel, matrix, x = found["given"]
    assert [one["verdict"] for one in (kernel, matrix, x)] == ["failed", "passed", "passed"]
    assert found["first_wrong_constant"] == kernel["node"] and kernel["different"] == kernel["elements"]
    assert (kernel["first"]["at"], kernel["first"]["actual"]) == ([0, 0, 0, 0], "7.0")
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "dump"), str(tmp_path / "wrong")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{kernel['label']}: failed; {kernel['elements']} of {kernel['elements']} elements")
    assert lines[-1] == f"the first wrong constant is {kernel['label']}"
    (tmp_path / "wrong" / "kernel.npy").unlink()  # a device need not write its constants
    status, found = outputs(capsys, tmp_path / "dump", tmp_path / "wrong")
    assert [one["value"] for one in found["given"]] == ["matrix", "x"] and found["first_wrong_constant"] is None


def _seven(node: Any) -> Any:
    """The constant "kernel" filled with another number; any other node as it is."""
    if node.name != "kernel":
        return node
    return replace(node, data=np.full(node.data.size // 4, 7, np.float32).view(np.uint8))


def test_a_constant_is_compared_bit_for_bit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another NaN, and another zero, is another constant: operators on bits read them."""
    g = dml.Graph()
    constant = g.constant(np.array([np.nan, 0, 1], np.float32), name="k")
    whole = g.build(y=g.element_wise_bit_not(g.reinterpret(constant, tensor(3, dtype="FLOAT32"))))
    run("run", dml.graph.save(whole, tmp_path / "graph"), "--dump", tmp_path / "dump")
    other = shutil.copytree(tmp_path / "dump", tmp_path / "other")
    bits = np.load(other / "k.npy").view(np.uint32)
    np.save(other / "k.npy", (bits ^ np.array([1, 2**31, 0], np.uint32)).view(np.float32))
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "dump"), str(other)]) == 1
    line = capsys.readouterr().out.splitlines()[0]
    assert "2 of 3 elements differ from those of the graph, the first at [0]: 0x7FC00001 in place of 0x7FC00000" in line


def test_other_inputs_are_said_and_are_not_wrong(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("run", graph, "--dump", tmp_path / "dump")
    run("run", graph, "--dump", tmp_path / "other", "--seed", 1)
    status, found = outputs(capsys, tmp_path / "dump", tmp_path / "other")
    assert (status, found["passed"], found["first_wrong_constant"]) == (0, True, None)
    assert [one["verdict"] for one in found["given"]] == ["passed", "passed", "differs"]
    assert {one["verdict"] for one in found["outputs"]} == {"passed"}
    assert main(["compare", str(tmp_path / "dump"), str(tmp_path / "other")]) == 0
    line = capsys.readouterr().out.splitlines()[0]
    assert line.startswith('graph input 0 "x": differs in ')
    assert line.endswith("; the nodes are judged with the input of the device")


@pytest.mark.parametrize("value", ["x", "kernel", "pool", "softmax"])
@pytest.mark.parametrize("both", [False, True])
def test_a_dump_without_a_file_that_it_lists_is_refused(
    value: str, both: bool, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("run", graph, "--dump", tmp_path / "dump")
    other = shutil.copytree(tmp_path / "dump", tmp_path / "other")
    for folder in (tmp_path / "dump", other)[: 1 + both]:
        (folder / f"{value}.npy").unlink()
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "dump"), str(other)]) == 2
    told = capsys.readouterr()
    assert not told.out and f'"{value}.npy"' in told.err and "[DML-MODEL-manifest-file]" in told.err


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "manifest.json").write_text('{"format": "dmlcy-dump", "version": 1}'),
        lambda folder: shutil.rmtree(folder / "graph"),
        lambda folder: (folder / "manifest.json").write_text(
            (folder / "manifest.json").read_text().replace('"pool.npy"', '"../pool.npy"')
        ),
        lambda folder: (folder / "manifest.json").write_text(
            (folder / "manifest.json").read_text().replace('"node": 2', '"node": [2]')
        ),
        lambda folder: (folder / "manifest.json").write_text(
            (folder / "manifest.json").read_text().replace('"feature_level": "6_4"', '"feature_level": {"6_4": []}')
        ),
    ],
)
def test_a_broken_dump_is_refused(change: Any, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("run", graph, "--dump", tmp_path / "dump")
    change(tmp_path / "dump")
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "dump"), str(tmp_path / "dump")]) == 2
    assert "DML-GRAPH-dump" in capsys.readouterr().err


def test_a_dump_of_another_version(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer one is refused, an old one judged, with a line that says so."""
    folder, versions = tmp_path / "dump", dump.VERSIONS
    run("run", graph, "--dump", folder)
    monkeypatch.setattr(dump, "VERSIONS", replace(versions, newest=versions.newest + 1))
    status, found = outputs(capsys, folder, folder)
    assert status == 0 and [one["id"] for one in found["warnings"]] == ["DML-MODEL-version-old"]
    monkeypatch.undo()
    text = (folder / "manifest.json").read_text()
    for version, id_ in ((99, "DML-MODEL-version"), (0, "DML-MODEL-version"), (None, "DML-MODEL-type")):
        whole = json.loads(text) | {"version": version}
        (folder / "manifest.json").write_text(json.dumps(whole))
        capsys.readouterr()
        assert main(["compare", str(folder), str(folder)]) == 2
        assert f"[{id_}]" in capsys.readouterr().err


def test_broken_values_are_refused(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("run", graph, "--dump", tmp_path / "dump")
    other = shutil.copytree(tmp_path / "dump", tmp_path / "other")
    for content, id_ in ((b"abc", "DML-MODEL-npy"), (None, "DML-MODEL-npy-type"), (3, "DML-MODEL-npy-sizes")):
        if isinstance(content, bytes):
            (other / "pool.npy").write_bytes(content)
        else:
            np.save(other / "pool.npy", np.zeros(3, np.float32 if content else np.int8))
        capsys.readouterr()
        assert main(["compare", str(tmp_path / "dump"), str(other)]) == 2
        assert f"[{id_}]" in capsys.readouterr().err


def test_values_are_read_from_a_folder(graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("run", graph, "--dump", tmp_path / "dump")
    capsys.readouterr()
    for actual, why in (("nothing", "there is no such folder"), ("dump/manifest.json", "it is not a folder")):
        assert main(["compare", str(tmp_path / "dump"), str(tmp_path / actual)]) == 2
        told = capsys.readouterr()
        assert not told.out and why in told.err and "DML-MODEL-actual" in told.err


def test_a_folder_with_other_files_is_left_alone(
    graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(graph), "--dump", str(tmp_path)]) == 2
    assert "DML-MODEL-write" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "x.npy"]


@pytest.mark.parametrize("command", ["dump", "expose"])
@pytest.mark.parametrize("content", ['{"name": "app", "icons": []}', '{"format": "dmlcy-expected"}', "x", "[1]"])
def test_a_foreign_manifest_is_left_alone(
    command: str, content: str, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "manifest.json").write_text(content)
    options = {"dump": ["run", graph, "--dump", folder], "expose": ["graph", graph, "--expose-edges", folder]}
    assert main([str(one) for one in options[command]]) == 2
    assert "[DML-MODEL-write]" in capsys.readouterr().err
    assert [(one.name, one.read_text()) for one in folder.iterdir()] == [("manifest.json", content)]
    (folder / "manifest.json").unlink()
    for _ in range(2):  # into an empty folder, and over a dump
        run(*options[command])


def test_a_dump_is_for_one_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "g.json").write_text(json.dumps(valid()))
    (tmp_path / "m.json").write_text('{"resources": {}, "dispatchables": {}, "commands": []}')
    for files in (["g.json", "g.json"], ["m.json"]):
        assert main(["run", *(str(tmp_path / file) for file in files), "--dump", str(tmp_path / "d")]) == 2
    assert main(["run", str(tmp_path / "g.json"), "--expect", str(tmp_path / "d")]) == 2
    assert not (tmp_path / "d").exists() and capsys.readouterr().err.count("dmlcy run:") == 3


def strided() -> dml.graph.GraphDesc:
    """Values with strides, an array of tensors, a flag and an optional tensor that is left out."""
    g = dml.Graph()
    x = g.input(tensor(2, 3, strides=(1, 2)), name="x")
    w = g.input(tensor(1, 1, 3, 3, flags="OWNED_BY_DML"), name="w")
    y = g.element_wise_identity(x)
    pieces = g.split(y, axis=1, output_sizes=[(2, 1), (2, 2)], name="pieces")
    joined = g.join(pieces[::-1], axis=1, name="joined")
    return g.build(product=g.gemm(g.reinterpret(joined, tensor(1, 1, 2, 3)), w, name="product"))


@pytest.mark.parametrize("which", ["network", "strided"])
def test_the_model_of_a_graph_writes_what_a_dump_has(
    which: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = network()[0] if which == "network" else strided()
    file, exposed, device = dml.graph.save(whole, tmp_path / "graph"), tmp_path / "exposed", tmp_path / "device"
    run("graph", file, "--expose-edges", exposed)
    run("lint", exposed / "model.json", exposed / "graph.json", *sorted((exposed / "nodes").iterdir()))
    run("run", exposed / "model.json", "--output-path", device)
    status, found = outputs(capsys, exposed, device)
    assert status == 0 and all(one["verdict"] == "passed" for one in found["outputs"])
    assert all(one["accumulated"]["different"] == 0 for one in found["outputs"])
    alone = tmp_path / "alone"
    for model in sorted((exposed / "nodes").iterdir()):
        run("run", model, "--output-path", alone)
    status, found = outputs(capsys, exposed, alone)
    assert status == 0 and len(found["outputs"]) == len([*alone.iterdir()])
    every = dml.graph.from_json((exposed / "graph.json").read_bytes(), folder=exposed)
    assert len(every.outputs) == len(found["outputs"])


def test_a_constant_with_strides_is_exported(tmp_path: Path) -> None:
    """Its elements are at its strides: turned, and repeated."""
    g = dml.Graph()
    turned = g.reinterpret(g.constant(np.arange(6, dtype=np.float32)), tensor(2, 3, strides=(1, 2)))
    row = g.reinterpret(g.constant(np.arange(3, dtype=np.float32)), tensor(2, 3, strides=(0, 1)))
    whole = g.build(y=g.element_wise_add(turned, row, name="y"))
    bare = replace(
        whole,
        nodes=tuple(
            replace(one, desc=desc) if isinstance(one, dml.graph.Constant) else one
            for one, desc in zip(whole.nodes, (turned.desc, row.desc, None), strict=True)
        ),
    )
    for number, graph in enumerate((whole, bare)):
        folder = tmp_path / str(number)
        run("export", dml.graph.save(graph, folder / "graph"), "--output", folder / "model")
        run("run", folder / "model" / "model.json", "--output-path", folder / "out")
        assert np.load(folder / "out" / "y.npy").tolist() == [[0, 3, 6], [1, 4, 7]]


def test_export_writes_a_model_of_a_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, x = network()
    file = dml.graph.save(whole, tmp_path / "graph")
    np.save(tmp_path / "x.npy", x)
    run("export", file, "--output", tmp_path / "model", f"--input=x={tmp_path / 'x.npy'}")
    run("run", tmp_path / "model" / "model.json", "--output-path", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["softmax.npy"]
    assert np.load(tmp_path / "out" / "softmax.npy").tobytes() == dml.compile(whole)(x).tobytes()
