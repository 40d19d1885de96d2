"""ONNX files are read as the onnx package reads them. test_node_tests.py reads its node tests."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx, which reads the same files")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from proto_peers import agree  # noqa: E402
from written import block, number, varint  # noqa: E402

from dmlcy._frontends.onnx import messages  # noqa: E402
from dmlcy._frontends.onnx.model import ELEMENTS, Model  # noqa: E402
from dmlcy._frontends.onnx.reader import NEWEST, decode, read  # noqa: E402
from dmlcy._frontends.onnx.structure import ordered  # noqa: E402
from dmlcy._frontends.onnx.wire import Message  # noqa: E402

PACKAGE = Path(onnx.__file__).parent


def of(proto: Any) -> Model:
    """The model, read from its bytes."""
    return decode("model.onnx", proto.SerializeToString(), None)


def made(nodes: list[Any], inputs: str = "x", outputs: str = "y", **more: Any) -> Any:
    """A model of these nodes."""
    functions = more.pop("functions", [])
    said = [[helper.make_tensor_value_info(name, 1, [2]) for name in names.split()] for names in (inputs, outputs)]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    graph = helper.make_graph(nodes, "g", *said, **more)
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10)


# The format ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("message", [one for one in vars(messages).values() if isinstance(one, Message)])
def test_fields_are_those_of_onnx(message: Message) -> None:
    owner, _, inner = message.name.partition(".")
    descriptor = getattr(onnx, owner).DESCRIPTOR
    descriptor = descriptor.nested_types_by_name[inner] if inner else descriptor
    wires = {3: 0, 5: 0, 14: 0, 4: 0, 2: 5, 1: 1, 9: 2, 12: 2, 11: 2}  # of descriptor.TYPE_INT64 and the others
    for number_, name in message.names.items():
        field = descriptor.fields_by_number[number_]
        assert field.name in (name, f"{name}_type", f"{name}_tensor_type")
        assert message.tags[number_ << 3 | wires[field.type]].name == name
        packed = number_ << 3 | 2 in message.tags and field.type not in (9, 11, 12)
        assert packed == (field.is_repeated and field.type not in (9, 11, 12))


def test_data_types_are_those_of_onnx() -> None:
    known = {name: number for name, number in TensorProto.DataType.items() if number}
    assert known.items() <= {one.name: one.number for one in ELEMENTS.values()}.items()
    assert onnx.IR_VERSION <= NEWEST


def test_messages_are_merged() -> None:
    """Parts of the model in several places, scalars twice, fields that are not read, packed and unpacked numbers."""
    unpacked = b"".join(number(8, size) for size in (3, 4))
    packed = block(8, varint(5) + varint(-6))
    attribute = block(5, block(1, "axes") + number(20, 7) + unpacked + packed + block(13, "doc"))
    node = block(1, block(4, "Relu") + attribute + block(1, "x") + block(4, "Squeeze") + block(2, "y"))
    names = block(11, block(1, "x")) + block(12, block(1, "y"))
    unread = block(999, b"?") + varint(1000 << 3 | 5) + bytes(4) + varint(1001 << 3 | 1) + bytes(8)
    data = number(1, 3) + block(7, node) + unread + block(8, number(2, 21)) + block(7, names + unread) + number(1, 9)
    proto = onnx.ModelProto.FromString(data)
    model = decode("m", data, None)
    agree(model, proto)
    assert model.ir_version == 9 and model.graph.nodes[0].attributes["axes"].value == (3, 4, 5, -6)


def test_the_last_member_of_a_dimension_counts() -> None:
    dimensions = block(1, number(1, 3) + block(2, "N")) + block(1, block(2, "N") + number(1, 3)) + block(1, b"")
    info = block(13, block(1, "v") + block(2, block(1, number(1, 1) + block(2, dimensions))))
    proto = made([helper.make_node("Relu", ["x"], ["y"])])
    data = proto.SerializeToString() + block(7, info)
    agree(decode("m", data, None), onnx.ModelProto.FromString(data))
    assert decode("m", data, None).graph.infos["v"].sizes == ("N", 3, None)


# Models --------------------------------------------------------------------------------------------------------------


def test_models_of_the_package_are_read() -> None:
    paths = [*PACKAGE.glob("backend/test/data/**/*.onnx")]
    assert len(paths) > 50
    for path in paths:
        agree(read(path), onnx.load(path, load_external_data=False), str(path.parent))


def test_inner_graphs_and_functions_are_read() -> None:
    branch = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["r"])], "b", [], [helper.make_tensor_value_info("r", 1, None)]
    )
    call = helper.make_node("Twice", ["c"], ["y"], domain="own", name="call", alpha=2.0)
    choice = helper.make_node("If", ["x"], ["c"], then_branch=branch, else_branch=branch)
    inner = helper.make_node("LeakyRelu", ["a"], ["b"])
    inner.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="alpha")
    opsets = [helper.make_opsetid("", 21)]
    twice = helper.make_function(
        "own", "Twice", ["a"], ["b"], [inner], opsets, ["alpha"], [helper.make_attribute("k", 3)]
    )
    proto = made([choice, call], functions=[twice])
    model = of(proto)
    agree(model, proto)
    assert model.graph.nodes[0].attributes["then_branch"].value.nodes[0].operator == "Relu"
    assert model.functions["own", "Twice", ""].nodes[0].attributes["alpha"].reference == "alpha"


def test_attributes_of_each_kind_are_read() -> None:
    one = helper.make_tensor("v", 1, [1], [1]), helper.make_tensor("i", 7, [1], [0])
    values = {
        "f": -1.5, "i": -(2**62), "s": "\N{GREEK SMALL LETTER ALPHA}", "raw": b"\xff\0", "none": "",
        "floats": [1.5, float("inf"), -0.0], "ints": [2**40, -1, 0, 255], "strings": ["a", ""],
        "t": helper.make_tensor("t", 1, [2], [1, 2]), "ts": [helper.make_tensor("", 7, [], [-7])] * 2,
        "sparse": helper.make_sparse_tensor(*one, [2]),
        "type": helper.make_tensor_type_proto(1, [2]),
    }  # fmt: skip
    node = helper.make_node("Own", ["x"], ["y"], domain="own")
    node.attribute.extend(helper.make_attribute(name, value) for name, value in values.items() if name != "raw")
    node.attribute.append(helper.make_attribute("empty", [], attr_type=onnx.AttributeProto.INTS))
    proto = made([node])
    agree(of(proto), proto)
    node.attribute.append(helper.make_attribute("raw", values["raw"]))
    assert of(made([node])).graph.nodes[0].attributes["raw"].value == values["raw"]


def test_values_that_are_left_out_are_zero() -> None:
    node = helper.make_node("Own", ["x"], ["y"], domain="own", i=1, f=1.0)
    for attribute in node.attribute:
        attribute.ClearField("i")
        attribute.ClearField("f")
    found = of(made([node])).graph.nodes[0].attributes
    assert (found["i"].value, found["f"].value) == (0, 0.0)


def test_a_kind_that_is_left_out_follows_from_the_value() -> None:
    node = helper.make_node("Own", ["x"], ["y"], domain="own", axes=[1, 2])
    node.attribute[0].ClearField("type")
    found = of(made([node])).graph.nodes[0].attributes["axes"]
    assert (found.kind, found.value) == ("INTS", (1, 2))


def test_an_old_model_is_of_opset_1() -> None:
    proto = made([helper.make_node("Relu", ["x"], ["y"])])
    proto.ir_version = 2
    del proto.opset_import[:]
    assert of(proto).opsets == {"ai.onnx": 1}


def test_the_highest_version_of_a_domain_counts() -> None:
    proto = made([helper.make_node("Relu", ["x"], ["y"])])
    proto.opset_import.extend([helper.make_opsetid("ai.onnx", 22), helper.make_opsetid("", 3)])
    assert of(proto).opsets == {"ai.onnx": 22, "own": 1}


def test_an_initializer_may_be_an_input() -> None:
    weight = numpy_helper.from_array(np.ones(2, np.float32), "w")
    found = of(made([helper.make_node("Add", ["x", "w"], ["y"])], inputs="x w", initializer=[weight]))
    assert [*found.graph.initializers] == ["w"] and [one.name for one in found.graph.inputs] == ["x", "w"]


def test_models_of_torch_are_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs torch, which writes the file")
    layers = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten()
    network = torch.nn.Sequential(*layers, torch.nn.Linear(8 * 64, 5)).eval()
    names = {"input_names": ["image"], "dynamic_axes": {"image": {0: "batch"}}, "opset_version": 17}
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(network, (torch.zeros(1, 3, 8, 8),), str(tmp_path / "whole.onnx"), dynamo=False, **names)
    proto = onnx.load(tmp_path / "whole.onnx")
    model = read(tmp_path / "whole.onnx")
    agree(model, proto)
    assert model.opsets == {"ai.onnx": 17} and model.graph.inputs[0].sizes == ("batch", 3, 8, 8)
    onnx.save(proto, tmp_path / "parts.onnx", save_as_external_data=True, location="parts.bin", size_threshold=64)
    parts = read(tmp_path / "parts.onnx")
    agree(parts, onnx.load(tmp_path / "parts.onnx", load_external_data=False), str(tmp_path))
    for name, tensor in model.graph.initializers.items():
        assert (parts.graph.initializers[name].array() == tensor.array()).all()


# Order ---------------------------------------------------------------------------------------------------------------


def test_nodes_are_put_in_order() -> None:
    """As much in the order of the file as they can be; a node waits for what its inner graphs read."""
    branch = helper.make_graph(
        [helper.make_node("Relu", ["b"], ["r"])], "b", [], [helper.make_tensor_value_info("r", 1, None)]
    )
    nodes = [
        helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch),
        helper.make_node("Neg", ["x"], ["a"]),
        helper.make_node("Exp", ["a"], ["b"]),
        helper.make_node("Abs", ["x"], ["c"]),
    ]
    graph = of(made(nodes)).graph
    assert [node.operator for node in ordered(graph)] == ["Neg", "Exp", "If", "Abs"]
    first = of(made(nodes[1:], outputs="b")).graph
    assert ordered(first) is first.nodes


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_a_file_is_put_right(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = ["x", *map(str, range(40))]
    nodes = [
        helper.make_node("Sum", [str(rng.choice(names[: place + 1])) for _ in range(3)], [str(place)])
        for place in range(40)
    ]
    found = ordered(of(made([nodes[place] for place in rng.permutation(40)], outputs="39")).graph)
    seen = {"x"}
    for node in found:
        assert {*node.inputs} <= seen
        seen.update(node.outputs)
    assert len(found) == 40
