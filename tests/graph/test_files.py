"""Graphs in JSON: what is read and written, where mistakes are, and files that are no graphs."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import chain, network, operator, tensor, valid

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._frontends.graphs.to_records import to_records
from dmlcy._frontends.serialized.writer import write

TENSOR = {"DataType": "FLOAT32", "Sizes": [3]}


def lint(tmp_path: Path, content: Any, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    """The status and the text of ``dmlcy lint``, of which nothing goes to standard error."""
    file = tmp_path / "g.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    status = main(["lint", str(file), *options])
    said = capsys.readouterr()
    assert said.err == ""
    return status, said.out


def findings(tmp_path: Path, content: Any, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, str]:
    """The places of findings by their ids."""
    _, said = lint(tmp_path, content, capsys, "--json", *options)
    return {one["id"]: one["path"] for one in json.loads(said)["files"][0]["findings"]}


def graphs() -> list[dml.graph.GraphDesc]:
    g = dml.Graph()
    x = g.input(tensor(2, 3, dtype="FLOAT16"), name="x")
    y = g.reinterpret(g.element_wise_identity(x, name="same"), tensor(3, 2, strides=(1, 3), dtype="FLOAT16"))
    half = g.constant(np.array([[np.nan, np.inf], [0.1, -0.0], [1, 2]], np.float16), name="half")
    odd = g.build(sum=g.element_wise_add(y, half), same=x and y)
    return [network()[0], chain(5), dml.graph.from_json(valid()), odd]


@pytest.mark.parametrize("number", range(4))
def test_what_is_written_is_read_again(number: int, tmp_path: Path) -> None:
    graph = graphs()[number]
    path = dml.graph.save(graph, tmp_path)
    for again in (
        dml.graph.from_json(json.dumps(dml.graph.to_json(graph))),
        dml.graph.from_json(path.read_bytes(), folder=tmp_path),
    ):
        assert again.nodes == graph.nodes
        assert again.inputs == graph.inputs and again.outputs == graph.outputs
        assert {*again.edges} == {*graph.edges} and {*again.names} >= {*graph.names}
        assert dml.check(again) == []
    assert {one.name for one in tmp_path.iterdir()} >= {"graph.json"}


def test_lint_says_the_level_of_a_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = lint(tmp_path, valid(), capsys)
    assert status == 0
    assert '"g" (graph, 4 nodes) needs feature level 6_2 (DirectML 1.13.0), for constant 2 "weights"' in said
    status, said = lint(tmp_path, valid(), capsys, "--feature-level", "5_0")
    assert status == 1 and "DML-GRAPH-constant-level" in said and "needs feature level 6_2" in said


@pytest.mark.parametrize(
    ("steps", "value", "id_", "path"),
    [
        ("Nodes.1.Desc.Operator.desc.OutputTensor.Sizes", [4], "DML-ELEMENT_WISE_ADD-output-sizes",
         "$.Nodes[1].Desc.Operator.desc.OutputTensor.Sizes[0]"),
        ("Nodes.0.Desc.Operator.type", "DML_OPERATOR_ACTIVATION_RELUU", "DML-MODEL-operator-unknown",
         "$.Nodes[0].Desc.Operator.type"),
        ("Nodes.0.Type", "OPERATORS", "DML-MODEL-choice", "$.Nodes[0].Type"),
        ("Nodes.0.Desc", 3, "DML-MODEL-type", "$.Nodes[0].Desc"),
        ("Nodes.0.Desc.Operator.desc", 3, "DML-MODEL-type", "$.Nodes[0].Desc.Operator.desc"),
        ("Nodes.0", None, "DML-MODEL-type", "$.Nodes[0]"),
        ("Nodes", {}, "DML-MODEL-type", "$.Nodes"),
        ("InputEdges.0.ToNodeIndex", -1, "DML-MODEL-range", "$.InputEdges[0].ToNodeIndex"),
        ("InputEdges.0.ToNodeIndex", 1.5, "DML-MODEL-integer", "$.InputEdges[0].ToNodeIndex"),
        ("InputEdges.0.ToNodeIndex", 7, "DML-GRAPH-node-missing", "$.InputEdges[0].ToNodeIndex"),
        ("IntermediateEdges.0.ToNodeInputIndex", 9, "DML-GRAPH-tensor-missing",
         "$.IntermediateEdges[0].ToNodeInputIndex"),
        ("OutputEdges.1.GraphOutputIndex", 5, "DML-GRAPH-output-missing", "$.OutputEdges[1].GraphOutputIndex"),
        ("Inputs.0.Desc", {"DataType": "FLOAT32"}, "DML-MODEL-missing", "$.Inputs[0].Desc"),
        ("Inputs.0.Desc", {"DataType": "FLOAT23", "Sizes": [3]}, "DML-MODEL-data-type", "$.Inputs[0].Desc.DataType"),
        ("Inputs.0.Name", "b", "DML-GRAPH-name-twice", "$.Inputs[1]"),
        ("Nodes.2.Desc.Data", {}, "DML-MODEL-missing", "$.Nodes[2].Desc.Data"),
        ("Nodes.2.Desc.DataSize", 5, "DML-GRAPH-count", "$.Nodes[2].Desc"),
        ("bogus", 1, "DML-MODEL-unknown", "$.bogus"),
    ],
)  # fmt: skip
def test_a_mistake_has_its_place(
    steps: str, value: Any, id_: str, path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = copy.deepcopy(valid())
    owner: Any = whole
    *before, last = steps.split(".")
    for step in before:
        owner = owner[int(step) if isinstance(owner, list) else step]
    owner[int(last) if isinstance(owner, list) else last] = value
    assert findings(tmp_path, whole, capsys)[id_] == path


def test_a_constant_in_a_file_is_read_when_the_graph_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = valid()
    whole["Nodes"][2]["Desc"]["Data"] = {"initialValues": {"sourcePath": "weights.npy"}}
    assert lint(tmp_path, whole, capsys)[0] == 0  # which opens no file
    assert main(["run", str(tmp_path / "g.json")]) == 2
    assert "DML-MODEL-source" in capsys.readouterr().err
    np.save(tmp_path / "weights.npy", np.array([4, 5, 6], np.float32))
    assert main(["run", str(tmp_path / "g.json")]) == 0
    assert "Output 'w', FLOAT32 3: 4, 5, 6\n" in capsys.readouterr().out
    np.save(tmp_path / "weights.npy", np.array([4, 5], np.float32))
    assert main(["run", str(tmp_path / "g.json")]) == 1
    assert "DML-GRAPH-constant-size" in capsys.readouterr().err


def test_inputs_may_be_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "g.json").write_text(json.dumps(valid()))
    np.save(tmp_path / "x.npy", np.array([-1, 0, 1], np.float32))
    np.save(tmp_path / "b.npy", np.array([0.5, 0.5, 0.5], np.float32))
    given = [f"--input={name}={tmp_path / name}.npy" for name in ("x", "b")]
    assert main(["run", str(tmp_path / "g.json"), *given]) == 0
    assert "Output 'y', FLOAT32 3: 0.5, 0.5, 1.5\n" in capsys.readouterr().out
    for wrong, hint in (
        (["--input=z=z.npy"], 'The graph has the inputs "x", "b".'),
        ([given[0], given[0]], "Give --input once"),
    ):
        assert main(["run", str(tmp_path / "g.json"), *wrong]) == 1
        told = capsys.readouterr().err
        assert "DML-MODEL-reference" in told and hint in told
    np.save(tmp_path / "x.npy", np.array([[1, 2]], np.float32))
    assert main(["run", str(tmp_path / "g.json"), *given]) == 1
    assert "DML-GRAPH-array-sizes" in capsys.readouterr().err


def nested(depth: int) -> dict[str, Any]:
    """A fused activation that holds a fused activation, and so on."""
    inner: dict[str, Any] = {"Type": "DML_OPERATOR_ACTIVATION_RELU"}
    for _ in range(depth):
        inner = {"Type": "DML_OPERATOR_ACTIVATION_RELU", "FusedActivation": inner}
    whole = valid()
    whole["Nodes"][1] = operator(
        "add", "ELEMENT_WISE_ADD1", ATensor=TENSOR, BTensor=TENSOR, OutputTensor=TENSOR, FusedActivation=inner
    )
    return whole


@pytest.mark.parametrize("depth", [1, 50, 150])
def test_recursion_in_fused_descs_is_refused(depth: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = lint(tmp_path, nested(depth), capsys)
    assert status in (0, 1) and "FusedActivation" in said and "DML-" in said


@pytest.mark.parametrize("command", ["lint", "run", "graph"])
@pytest.mark.parametrize(
    "text",
    [
        '{"Nodes": []}', '{"Nodes": 3}', '{"Nodes": [[[]]], "InputEdges": [[]]}', '{"InputEdges": {}}',
        '{"Nodes": [], "InputCount": 1e9, "OutputCount": 99999999999}',
        '{"Nodes": [{"Type": "CONSTANT", "Desc": {"Data": {"initialValuesDataType": "FLOAT32", "initialValues": '
        '{"value": 0, "valueCount": 4294967295}}}}], "InputCount": 0, "OutputCount": 0}',
        json.dumps(valid())[:-200],
    ],
)  # fmt: skip
def test_what_is_no_graph_is_refused(
    command: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "g.json").write_text(text)
    status = main([command, str(tmp_path / "g.json")])
    said = capsys.readouterr()
    assert status in (1, 2) and "DML-" in said.out + said.err and "Traceback" not in said.err


def test_from_json_raises_what_is_wrong_with_the_form() -> None:
    with pytest.raises(dml.ModelError, match=r"\$\.Nodes\[0\]"):
        dml.graph.from_json('{"Nodes": [3], "InputCount": 0, "OutputCount": 0}')
    with pytest.raises(dml.ModelError):
        dml.graph.from_json(b"\xff")
    with pytest.raises(dml.ModelError, match="DML-GRAPH-limit"):
        dml.graph.from_json(valid(), limit=3)


def test_the_limit_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = lint(tmp_path, valid(), capsys, "--limit", "3")
    assert status == 1 and "DML-GRAPH-limit" in said
    assert lint(tmp_path, valid(), capsys, "--limit", "200000")[0] == 0


def test_a_random_change_is_refused_or_makes_another_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Letters and digits of the file changed at random: no command ends in a traceback."""
    random, text = np.random.default_rng(5), json.dumps(valid())
    for _ in range(150):
        changed = list(text)
        for at in random.integers(0, len(text), random.integers(1, 4)):
            changed[at] = str(random.choice(list('{}[]",:0123456789xN-')))
        (tmp_path / "g.json").write_text("".join(changed))
        assert main(["lint", str(tmp_path / "g.json")]) in (0, 1, 2)
        assert "Traceback" not in capsys.readouterr().err


def test_what_is_no_graph_is_not_taken(tmp_path: Path) -> None:
    g = dml.Graph()
    no_graphs: tuple[Any, ...] = (None, 3, g, {})
    for wrong in no_graphs:
        for use in (dml.graph.to_json, dml.graph.to_bytes, lambda one: dml.graph.save(one, tmp_path)):
            with pytest.raises(TypeError, match=r"\(\) takes a dmlcy.graph.GraphDesc, not") as caught:
                use(wrong)
            assert ("build(...)" in str(caught.value)) == (wrong is g)
        with pytest.raises(TypeError, match="or a graph, not") as caught:
            dml.compile(wrong)
        assert ("build(...)" in str(caught.value)) == (wrong is g)
    no_bytes: tuple[Any, ...] = (None, 10**12, "text")
    for wrong in no_bytes:
        with pytest.raises(TypeError, match="takes the bytes of a serialized graph"):
            dml.graph.from_bytes(wrong)
    with pytest.raises(TypeError, match="takes JSON text, or the dict"):
        dml.graph.from_json([])  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]


def test_json_that_cannot_be_written_is_refused() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    itself: dict[str, Any] = {}
    itself["Nodes"] = itself
    for wrong in ({"Nodes": deep}, itself, "\ud800"):
        with pytest.raises(dml.ModelError) as caught:
            dml.graph.from_json(wrong)
        assert caught.value.id == "DML-MODEL-json"


def test_an_edge_that_json_does_not_have_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From a graph input to a graph output, and a name that nothing has; serialized graphs can say both."""
    record = to_records(network()[0])
    for name, id_ in ((record.input_names[0], "DML-GRAPH-passed-through"), ("nothing", "DML-GRAPH-name-unbound")):
        data = write(replace(record, output_names=(*record.output_names, name)))
        with pytest.raises(dml.InvalidDescError) as caught:
            dml.graph.to_json(dml.graph.from_bytes(data))
        assert [one.id for one in caught.value.violations] == [id_]
        (tmp_path / "graph.bin").write_bytes(data)
        assert main(["graph", str(tmp_path / "graph.bin"), "--format", "json"]) == 1
        said = capsys.readouterr()
        assert said.out == "" and id_ in said.err


def test_a_graph_of_the_most_nodes_has_room_for_its_values(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The limit of values of JSON is no smaller limit of nodes."""
    monkeypatch.setattr("dmlcy._frontends.dxdispatch.json.MAX_VALUES", 100)
    monkeypatch.setattr("dmlcy._frontends.graphs.reader.MOST", 50)
    text = json.dumps(dml.graph.to_json(chain(50)))
    assert dml.check(dml.graph.from_json(text, limit=50)) == []
    (tmp_path / "graph.json").write_text(json.dumps(dml.graph.to_json(chain(51))))
    with pytest.raises(dml.ModelError) as caught:
        dml.graph.load(tmp_path / "graph.json", limit=50)
    assert caught.value.id == "DML-GRAPH-limit"


@pytest.mark.parametrize("read", [dml.graph.from_json, dml.graph.from_bytes, dml.graph.load])
def test_a_refused_file_raises_the_public_class(read: Any) -> None:
    with pytest.raises(dml.ModelError) as caught:
        read(b"{" if read is not dml.graph.load else "nowhere.json")
    assert type(caught.value) is dml.ModelError and caught.value.violations


NANS = {
    "FLOAT16": (0x7E01, 0xFE00, 0x7C01, 0xFD55, 0x7E00),
    "FLOAT32": (0x7FC00001, 0xFFC12345, 0x7F800001, 0xFF812345, 0x7FC00000),
    "FLOAT64": (0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFF0000012345678, 0x7FF8000000000000),
}
"""With a payload, with a sign, signalling, signalling with a sign, and the plain one."""


@pytest.mark.parametrize("count", [1, 100], ids=["small", "large"])
@pytest.mark.parametrize("dtype", NANS)
def test_the_bits_of_a_nan_are_kept(dtype: str, count: int, tmp_path: Path) -> None:
    """Operators on bits read them, and a copy of them is exact."""
    kind = np.dtype(dtype.lower())
    bits = np.tile(np.array(NANS[dtype], f"u{kind.itemsize}"), count)
    values = np.concatenate([bits.view(kind), np.array([1.5, -0.0, np.inf], kind)])
    g = dml.Graph()
    whole = g.build(y=g.element_wise_identity(g.constant(values, name="nans")))
    wanted = values.tobytes()
    for again in (
        dml.graph.from_json(dml.graph.to_json(whole)),
        dml.graph.from_json(json.dumps(dml.graph.to_json(whole), allow_nan=False)),
        dml.graph.load(dml.graph.save(whole, tmp_path / "saved")),
        dml.graph.from_bytes(dml.graph.to_bytes(whole)),
    ):
        constant = next(one for one in again.nodes if isinstance(one, dml.graph.Constant))
        assert constant.data is not None and constant.data.tobytes() == wanted
        assert dml.check(again) == []
    for command in (["run", "--dump"], ["graph", "--expose-edges"]):
        folder = tmp_path / command[0]
        assert main([command[0], str(tmp_path / "saved" / "graph.json"), command[1], str(folder)]) == 0
        assert np.load(folder / "nans.npy").tobytes() == wanted
        again = dml.graph.load(folder / "graph" / "graph.json")
        data = next(one for one in again.nodes if isinstance(one, dml.graph.Constant)).data
        assert data is not None and data.tobytes() == wanted


@pytest.mark.parametrize("name", ["a\ud800", "\udfff"])
@pytest.mark.parametrize("place", ["input", "output", "node", "constant", "value"])
def test_half_of_a_surrogate_pair_is_refused(place: str, name: str, tmp_path: Path) -> None:
    """No file can have such a name, and nothing is written."""
    given = {one: name if one == place else one for one in ("input", "output", "node", "constant")}
    g = dml.Graph()
    x, k = g.input(tensor(2), name=given["input"]), g.constant(np.ones(2, np.float32), name=given["constant"])
    whole = g.build(**{given["output"]: g.element_wise_add(x, k, name=given["node"])})
    if place == "value":
        whole = replace(whole, names=((dml.graph.Port(0, 0), name),))
    for form in (dml.graph.to_json, lambda graph: dml.graph.save(graph, tmp_path / "saved")):
        with pytest.raises(dml.ModelError) as caught:
            form(whole)
        assert [one.id for one in caught.value.violations] == ["DML-GRAPH-file-value"]
    with pytest.raises(dml.InvalidDescError, match="DML-GRAPH-name-text"):
        dml.graph.to_bytes(whole)
    assert not (tmp_path / "saved").exists()


def test_no_node_is_described_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that are alike have one desc, which is made once: where they are built, and where a file of them is run."""
    graph = chain(50)
    assert len({id(node.desc) for node in graph.nodes if isinstance(node, dml.graph.Node)}) == 2
    file = dml.graph.save(graph, tmp_path)
    (tmp_path / "graph.bin").write_bytes(dml.graph.to_bytes(graph))
    made: list[object] = []
    describe = OperatorDesc.from_dict

    def counted(desc: Any, **options: Any) -> OperatorDesc:
        made.append(desc)
        return describe(desc, **options)

    monkeypatch.setattr(OperatorDesc, "from_dict", counted)
    for one in (file, tmp_path / "graph.bin"):
        made.clear()
        assert main(["run", str(one)]) == 0
        assert len(made) == 2 + (one == file)  # JSON's last node has another text behind it
