"""Serialized graphs as graphs: every operator's examples through bytes, files that are run, damaged values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged_records import attribute, damaged, gemm, lazy
from each import each_of
from example_descs import desc_of_example
from graphs import chain, network, tensor

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._facts.tables import OPERATORS
from dmlcy._frontends.graphs.serialized import from_records
from dmlcy._frontends.graphs.to_records import to_records
from dmlcy._frontends.serialized.reader import read
from dmlcy._frontends.serialized.records import (
    ConstantNode,
    GraphRecord,
    OperatorNode,
    Scalar,
)
from dmlcy._frontends.serialized.writer import write
from dmlcy._graph.model import inputs_of, outputs_of


def of_desc(desc: Any) -> dml.graph.GraphDesc:
    """A graph of one node, whose inputs and outputs are those of the graph."""
    g = dml.Graph()
    node = dml.graph.Node(desc)
    inputs = [None if one is None else g.input(one, name=path) for path, one in inputs_of(node)]
    values = g.add(desc, *inputs, name="node")
    there = [path for path, one in outputs_of(node) if one is not None]
    return g.build(**dict(zip(there, values if isinstance(values, tuple) else (values,), strict=True)))


@each_of("name", OPERATORS)
def test_every_example_goes_through_bytes(name: str) -> None:
    operator = OPERATORS[name]
    for example in operator.examples:
        desc = desc_of_example(operator, example)
        graph = of_desc(desc)
        data = dml.graph.to_bytes(graph)
        found = dml.graph.from_bytes(data)
        assert found.nodes == graph.nodes and dml.check(found) == []
        assert [one.name for one in (*found.inputs, *found.outputs)] == [
            one.name for one in (*graph.inputs, *graph.outputs)
        ]
        assert {(one.source, one.target) for one in found.edges} == {(one.source, one.target) for one in graph.edges}
        assert dml.graph.to_bytes(found) == data


X = np.array([[[[1, -2], [3, 4]]]], np.float32)


def saved(tmp_path: Path, record: GraphRecord) -> str:
    (tmp_path / "Partition_0.bin").write_bytes(write(record))
    return str(tmp_path / "Partition_0.bin")


def test_a_graph_from_bytes_computes_the_same() -> None:
    graph = lazy()
    found = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    for one, other in zip(dml.compile(graph)(X), dml.compile(found)(X), strict=True):
        np.testing.assert_array_equal(one, other)
    whole, array = network()
    again = dml.graph.from_bytes(dml.graph.to_bytes(whole))
    np.testing.assert_array_equal(dml.compile(whole)(array), dml.compile(again)(array))


def test_nodes_are_written_in_an_order_in_which_they_run() -> None:
    graph = lazy()
    turn = {number: len(graph.nodes) - 1 - number for number in range(len(graph.nodes))}

    def port(one: Any) -> Any:
        return one if one is None or one.node is None else one._replace(node=turn[one.node])

    turned = dml.graph.GraphDesc(
        graph.nodes[::-1], graph.inputs, graph.outputs,
        tuple(replace(edge, source=port(edge.source), target=port(edge.target)) for edge in graph.edges),
    )  # fmt: skip
    record = to_records(turned)
    assert [node.name for node in record.nodes] == ["weights", "product", "join"]
    np.testing.assert_array_equal(dml.compile(from_records(record, Path()))(X)[1], dml.compile(graph)(X)[1])


def test_names_are_made_for_what_has_none() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2))
    record = to_records(g.build(g.activation_relu(g.activation_relu(x))))
    assert record.input_names == ("input0",)
    assert [node.name for node in record.nodes] == ["activation_relu0", "activation_relu1"]
    assert record.nodes[1].input_names == record.nodes[0].output_names != record.output_names
    assert dml.check(from_records(record, Path())) == []


def refused(graph: dml.graph.GraphDesc, message: str) -> None:
    with pytest.raises(dml.ModelError, match=message) as caught:
        dml.graph.to_bytes(graph)
    assert caught.value.id == "DML-GRAPH-file-value"


def test_what_the_format_does_not_hold_is_not_written() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 2, guaranteed_base_offset_alignment=16), name="x")
    refused(g.build(y=g.activation_relu(x)), "guaranteed_base_offset_alignment of input .* is 16, and must be 0")
    g = dml.Graph()
    y = g.activation_relu(g.input(tensor(1, 1, 2, 2), name="x"))
    refused(g.build(y=y, z=y), 'graph output 1 "z" is output of node 0')
    refused(g.build(y, z=y), 'graph output 1 "z" is output of node 0')  # the first one has no name
    g = dml.Graph()
    y = g.activation_relu(g.input(tensor(1, 1, 2, 2), name="x"))
    refused(g.build(x=y), 'the name of graph output 0 "x" is "x", and must be no name of a graph input')


def test_a_graph_that_is_wrong_is_not_written() -> None:
    g = dml.Graph()
    x = g.input(tensor(1, 1, 2, 3), name="x")
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.graph.to_bytes(g.build(y=g.activation_relu(g.reinterpret(x, tensor(1, 1, 2, 2)))))
    assert caught.value.id == "DML-GRAPH-edge-size"


def test_constants_are_read_from_their_files_last(tmp_path: Path) -> None:
    record = to_records(lazy())
    constant = record.nodes[0]
    assert isinstance(constant, ConstantNode) and isinstance(constant.data, bytes)
    apart = replace(record, nodes=(replace(constant, data="inner/w"), *record.nodes[1:]))
    file = saved(tmp_path, apart)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "w.bin").write_bytes(constant.data)
    graph = dml.graph.load(file)
    assert dml.check(graph) == []
    np.testing.assert_array_equal(dml.compile(graph)(X)[0], dml.compile(lazy())(X)[0])
    (tmp_path / "inner" / "w.bin").write_bytes(constant.data[:8])
    assert [one.id for one in dml.check(dml.graph.load(file))] == ["DML-GRAPH-constant-size"]


def test_a_constant_without_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = to_records(lazy())
    constant: Any = record.nodes[0]
    file = saved(tmp_path, replace(record, nodes=(replace(constant, data="w"), *record.nodes[1:])))
    with pytest.raises(dml.ModelError, match=r'The file "w.bin" of constant 0 "weights" cannot be read') as caught:
        dml.graph.load(file)
    assert caught.value.id == "DML-GRAPH-file-constant"
    assert main(["run", file]) == 2
    assert "DML-GRAPH-file-constant" in capsys.readouterr().err
    assert main(["lint", file]) == 0, "lint opens no file of a constant"


@pytest.mark.parametrize("name", ["../w", "/etc/w", "a/../../w", "", "C:w", "a\0b"])
def test_no_file_outside_of_the_folder_is_read(name: str, tmp_path: Path) -> None:
    record = to_records(lazy())
    constant: Any = record.nodes[0]
    data = write(replace(record, nodes=(replace(constant, data=name), *record.nodes[1:])))
    (tmp_path / "w.bin").write_bytes(bytes(16))
    (tmp_path / "in").mkdir()
    with pytest.raises(dml.ModelError) as caught:
        dml.graph.from_bytes(data, folder=tmp_path / "in")
    assert [one.id for one in caught.value.violations] == ["DML-GRAPH-file-constant-name"]


@pytest.mark.parametrize("id_, message, record", [*damaged()])
def test_damaged_values(
    id_: str, message: str, record: GraphRecord, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path, record)
    with pytest.raises(dml.ModelError) as caught:
        dml.graph.load(file)
    assert [one.id for one in caught.value.violations] == [id_]
    assert message in str(caught.value) and "Partition_0.bin: byte " in str(caught.value)
    assert main(["lint", file]) == 1
    assert f"[{id_}]" in capsys.readouterr().out
    for command in (["run", file], ["graph", file], ["export", file, "--output", str(tmp_path / "out")]):
        assert main(command) == 1
        assert id_ in capsys.readouterr().err or command[0] == "graph"
    assert not (tmp_path / "out").exists()


def wrong_values() -> Iterator[tuple[str, str, GraphRecord]]:
    """The same of values that a desc holds, with the part of the node that they are in."""
    whole = to_records(lazy())
    node = whole.nodes[1]
    assert isinstance(node, OperatorNode)
    yield "DML-GEMM-trans_a-type", "attributes.0", attribute(whole, 0, value=7)
    yield "DML-GEMM-alpha-finite", "attributes.2", attribute(whole, 2, value=float("inf"))
    yield "DML-GEMM-a-type", "inputs.0", gemm(
        whole, inputs=(replace(node.inputs[0], data_type="DML_TENSOR_DATA_TYPE_FLOAT33"), node.inputs[1])
    )  # fmt: skip
    yield "DML-GEMM-output-sizes", "outputs.0", gemm(
        whole, outputs=(replace(node.outputs[0], sizes=(1, 1, 2, 3), total_size_in_bytes=24),)
    )  # fmt: skip


@pytest.mark.parametrize("id_, part, record", [*wrong_values()])
def test_the_place_of_a_wrong_value_is_its_byte(
    id_: str, part: str, record: GraphRecord, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path, record)
    found = read(Path(file).read_bytes()).nodes[1]
    name, _, place = part.partition(".")
    byte = getattr(found, name)[int(place)].at
    assert main(["lint", file]) == 1
    said = capsys.readouterr().out
    assert f"{file}: byte {byte}: error: node 1" in said and id_.rpartition("-")[0] in said, said


def test_derived_counts_are_compared(tmp_path: Path) -> None:
    desc = desc_of_example(OPERATORS["AVERAGE_POOLING"], OPERATORS["AVERAGE_POOLING"].examples[0])
    record = to_records(of_desc(desc))
    node = record.nodes[0]
    assert isinstance(node, OperatorNode) and node.attributes[0].name == "DimensionCount"
    changed = replace(node, attributes=(replace(node.attributes[0], value=7), *node.attributes[1:]))
    found = dml.check(from_records(replace(record, nodes=(changed,)), tmp_path))
    assert [one.field for one in found] == ["dimension_count"]


def test_a_scalar_of_another_form_than_bytes() -> None:
    desc = desc_of_example(OPERATORS["FILL_VALUE_CONSTANT"], OPERATORS["FILL_VALUE_CONSTANT"].examples[0])
    record = to_records(of_desc(desc))
    node = record.nodes[0]
    assert isinstance(node, OperatorNode)
    values = tuple(
        replace(one, value=Scalar("Float32", 1.0)) if one.kind == "ScalarUnionData" else one for one in node.attributes
    )
    with pytest.raises(dml.ModelError, match="ScalarUnionData of Float32, and must be") as caught:
        from_records(replace(record, nodes=(replace(node, attributes=values),)), Path())
    assert caught.value.id == "DML-GRAPH-file-attribute-kind"


@pytest.mark.parametrize("dtype", ["INT8", "UINT16", "INT64", "UINT64", "FLOAT16", "FLOAT64"])
def test_scalars_are_read_as_their_data_type_says(dtype: str) -> None:
    value: Any = {"INT8": -3, "UINT16": 65535, "INT64": -(2**62), "UINT64": 2**64 - 1, "FLOAT16": 0.1, "FLOAT64": 1e300}
    desc = dml.desc.FillValueConstant(output=tensor(1, 1, 1, 4, dtype=dtype), value=value[dtype])
    assert dml.check(desc) == []
    found = dml.graph.from_bytes(dml.graph.to_bytes(of_desc(desc))).nodes[0]
    assert isinstance(found, dml.graph.Node)
    held: Any = found.desc
    assert np.array(held.value, dtype.lower()) == np.array(value[dtype], dtype.lower())


def as_onnx_runtime_casts_to_bool() -> dml.graph.GraphDesc:
    """CAST to UINT8, and CLIP1 without a MinMaxDataType."""
    g = dml.Graph()
    number = g.cast(g.input(tensor(1, 1, 1, 4), name="x"), output_dtype="UINT8", name="cast")
    bytes_ = tensor(1, 1, 1, 4, dtype="UINT8")
    unknown: Any = "UNKNOWN"  # the runtime takes it; no program should write it
    clip = dml.desc.ElementWiseClip1(input=bytes_, output=bytes_, min_max_data_type=unknown, min=0, max=1)
    return g.build(y=g.add(clip, number, name="clip"))


def test_bounds_without_a_data_type_are_those_of_the_tensors(tmp_path: Path) -> None:
    graph = as_onnx_runtime_casts_to_bool()
    record = to_records(graph)
    node = record.nodes[1]
    assert isinstance(node, OperatorNode)
    values = {one.name: one.value for one in node.attributes}
    assert values["MinMaxDataType"] == 0
    assert [values[name] for name in ("Min", "Max")] == [Scalar("ByteArray", bytes((n, *bytes(7)))) for n in (0, 1)]
    found = dml.graph.from_bytes(dml.graph.to_bytes(graph))
    for one in (found, dml.graph.load(dml.graph.save(graph, tmp_path / "saved"))):
        assert one.nodes == graph.nodes and dml.check(one) == []
        assert [violation.id for violation in dml.check(one, warnings=True)] == [
            "DML-ELEMENT_WISE_CLIP1-min_max_data_type-said"
        ]
    (y,) = dml.compile(found)(np.array([[[[0, 0.5, 1, 200]]]], np.float32))
    assert y.tolist() == [[[0, 0, 1, 1]]]


def test_only_clip_takes_a_data_type_that_is_not_said() -> None:
    tensors = {name: tensor(4, dtype="INT16") for name in ("input", "input_gradient", "output_gradient")}
    names: list[Any] = ["UNKNOWN", "DML_TENSOR_DATA_TYPE_UNKNOWN"]
    for unknown in names:
        clip = dml.desc.ElementWiseClipGrad1(**tensors, min_max_data_type=unknown, min=-300, max=300)
        assert dml.check(clip) == [] and len(dml.check(clip, warnings=True)) == 1
        too_large = dml.desc.ElementWiseClipGrad1(**tensors, min_max_data_type=unknown, min=-300, max=40000)
        assert [one.id for one in dml.check(too_large)] == ["DML-ELEMENT_WISE_CLIP_GRAD1-max-value"]
        other = dml.desc.FillValueConstant(output=tensor(4), value_data_type=unknown, value=0)
        assert [one.id for one in dml.check(other)] == ["DML-FILL_VALUE_CONSTANT-value_data_type-member"]


def test_every_command_takes_a_serialized_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved(tmp_path, to_records(lazy()))
    np.save(tmp_path / "x.npy", X)
    assert main(["lint", file]) == 0
    assert '"Partition_0" (graph, 3 nodes) needs feature level 6_2' in capsys.readouterr().out
    assert main(["run", file, "--input", f"x={tmp_path / 'x.npy'}", "--dump", str(tmp_path / "dump")]) == 0
    printed = capsys.readouterr().out
    assert "Output 'product', " in printed and (tmp_path / "dump" / "product.npy").is_file()
    for form, start in (("text", "3 nodes"), ("json", "{"), ("dot", "digraph {"), ("svg", "<svg")):
        assert main(["graph", file, "--format", form]) == 0
        assert capsys.readouterr().out.startswith(start)
    assert main(["graph", file, "--expose-edges", str(tmp_path / "exposed")]) == 0
    assert main(["export", file, "--output", str(tmp_path / "model")]) == 0
    assert main(["run", str(tmp_path / "model" / "model.json"), "--output-path", str(tmp_path / "ran")]) == 0
    np.testing.assert_array_equal(
        np.load(tmp_path / "dump" / "product.npy").shape, np.load(tmp_path / "ran" / "product.npy").shape
    )


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_reports_say_the_byte(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved(tmp_path, gemm(to_records(lazy()), type="DML_OPERATOR_GEMMM"))
    byte = read(Path(file).read_bytes()).nodes[1].at
    assert main(["lint", "--format", form, file]) == 1
    said = capsys.readouterr().out
    assert {"json": f'"byte": {byte}', "github": f"::byte {byte}: ", "sarif": f'"byteOffset": {byte}'}[form] in said


def test_a_damaged_file_is_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(saved(tmp_path, to_records(lazy())))
    file.write_bytes(file.read_bytes()[:200])
    for command in (["lint"], ["run"], ["graph"]):
        assert main([*command, str(file)]) == 2
        said = capsys.readouterr()
        assert "DML-GRAPH-file-" in said.out + said.err


def test_more_nodes_than_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved(tmp_path, to_records(chain(30)))
    assert main(["lint", "--limit", "29", file]) == 1
    assert "DML-GRAPH-limit" in capsys.readouterr().out
    assert main(["lint", "--limit", "30", file]) == 0


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(dml.ModelError) as caught:
        dml.graph.load(tmp_path / "none.bin")
    assert caught.value.id == "DML-MODEL-file"


def test_load_reads_json_too(tmp_path: Path) -> None:
    assert dml.graph.load(dml.graph.save(lazy(), tmp_path)).nodes == lazy().nodes
