"""Models as typed data: what is wrong with them, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import execute, model, padding, parse, refused

from dmlcy._errors import ModelError
from dmlcy._facts.tables import ERRORS
from dmlcy._frontends.dxdispatch.model import Dispatch, Print, WriteFile
from dmlcy._frontends.dxdispatch.reader import Reader

BOUND = {"InputTensor": "in", "OutputTensor": "out"}


def dispatch(**bindings: Any) -> dict[str, Any]:
    return {"type": "dispatch", "dispatchable": "pad", "bindings": {**BOUND, **bindings}}


def test_a_model() -> None:
    found = parse(model())
    assert not found.problems
    assert not found.warnings
    assert list(found.resources) == ["in", "out"]
    assert found.dispatchables["pad"].desc.operator.name == "PADDING1"
    run, show = found.commands
    assert isinstance(run, Dispatch)
    assert {name: binding.resource for name, binding in run.bindings.items()} == BOUND
    assert isinstance(show, Print)
    assert not show.verbose


def test_spellings() -> None:
    long = {
        "Type": "DML_TENSOR_TYPE_BUFFER",
        "Desc": {
            "DataType": "DML_TENSOR_DATA_TYPE_FLOAT32",
            "Flags": ["DML_TENSOR_FLAG_NONE"],
            "DimensionCount": 1,
            "Sizes": [3],
            "Strides": [1],
            "TotalTensorSizeInBytes": 12,
            "GuaranteedBaseOffsetAlignment": 0,
        },
    }
    pad = padding(InputTensor=long, PaddingMode="DML_PADDING_MODE_CONSTANT")
    inline = {"type": "PADDING1", **pad["desc"]}
    for one in (pad, {"type": "PADDING1", "Desc": pad["desc"]}, inline):
        found = parse(
            model(
                dispatchables={"pad": one},
                commands=[
                    {"type": "DISPATCH", "dispatchable": "pad", "bindings": {**BOUND, "OutputTensor": ["out"]}},
                    {"type": "writefile", "resource": "out", "targetPath": "a\\./b.npy", "dimensions": [5, 1]},
                ],
            )
        )
        assert not found.problems, found.problems
        assert not found.warnings
        write = found.commands[1]
        assert isinstance(write, WriteFile)
        assert (write.target, write.dimensions) == (("a", "b.npy"), (5, 1))


def test_unknown_members_are_warnings() -> None:
    pad = padding(PadingMode="EDGE", InputTensor={"DataType": "FLOAT32", "Sizes": [3], "sizes": [3]})
    buffer = {
        "initialValuesDataType": "FLOAT32",
        "initialValues": {"valueCount": 5, "value": 0, "x": 1},
        "sizeinBytes": 1,
    }
    found = parse(
        model(
            **{"$schema": "x", "Commands": []},
            dispatchables={"pad": {**pad, "Type": 1}},
            resources={**model()["resources"], "out": buffer},
            commands=[{**dispatch(Other="in"), "x\x1b": 1}, {"type": "print", "resource": "out", "Verbose": True}],
        )
    )
    assert not found.problems
    assert {w.place.path for w in found.warnings if w.violation.id == "DML-MODEL-unknown"} == {
        "$.Commands",
        "$.resources.out.sizeinBytes",
        "$.resources.out.initialValues.x",
        "$.dispatchables.pad.Type",
        "$.dispatchables.pad.desc.PadingMode",
        "$.dispatchables.pad.desc.InputTensor.sizes",
        '$.commands[0]["x\\x1b"]',
        "$.commands[0].bindings.Other",
        "$.commands[1].Verbose",
    }
    hints = {w.violation.values["name"]: w.violation.hint for w in found.warnings}
    assert hints["sizeinBytes"] == 'Did you mean "sizeInBytes"?'
    assert not hints["PadingMode"] and not hints["Commands"]  # what is meant is there already


@pytest.mark.parametrize("indices", [{}, {"OutputIndicesTensor": None}])
def test_what_is_bound_to_a_tensor_that_a_desc_leaves_out_is_a_warning(indices: dict[str, None]) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 3]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor, **indices, "DimensionCount": 2, "Strides": [1, 1]}
    desc |= {"WindowSize": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    found = parse(
        model(
            dispatchables={"pad": {"type": "MAX_POOLING1", "desc": desc}},
            commands=[dispatch(OutputIndicesTensor="out")],
        )
    )
    assert not found.problems
    (warning,) = found.warnings
    assert warning.place.path == "$.commands[0].bindings.OutputIndicesTensor"
    assert "The desc has no OutputIndicesTensor: nothing is read or written." in str(warning)


@pytest.mark.parametrize(
    ("identifier", "path", "changes"),
    [
        ("DML-MODEL-missing", "$", {"resources": None}),
        ("DML-MODEL-type", "$.resources", {"resources": []}),
        ("DML-MODEL-type", "$.resources.in", {"resources": {"in": [], "out": []}}),
        ("DML-MODEL-type", "$.commands", {"commands": {}}),
        ("DML-MODEL-type", "$.commands[0]", {"commands": [1]}),
        ("DML-MODEL-type", "$.dispatchables.pad", {"dispatchables": {"pad": None}}),
        ("DML-MODEL-missing", "$.dispatchables.pad", {"dispatchables": {"pad": {}}}),
        ("DML-MODEL-dispatchable", "$.dispatchables.pad.type", {"dispatchables": {"pad": {"type": "hlsl"}}}),
        ("DML-MODEL-dispatchable", "$.dispatchables.pad.type", {"dispatchables": {"pad": {"type": "Onnx"}}}),
        ("DML-MODEL-missing", "$.dispatchables.pad", {"dispatchables": {"pad": {"type": "dmlSerializedGraph"}}}),
        (
            "DML-MODEL-operator-unknown",
            "$.dispatchables.pad.type",
            {"dispatchables": {"pad": {"type": "PADING1", "desc": {}}}},
        ),
        ("DML-MODEL-type", "$.dispatchables.pad.desc", {"dispatchables": {"pad": {"type": "PADDING1", "desc": 1}}}),
        (
            "DML-MODEL-choice",
            "$.dispatchables.pad.dmlCompileType",
            {"dispatchables": {"pad": {**padding(), "dmlCompileType": "x"}}},
        ),
        (
            "DML-MODEL-reference",
            "$.dispatchables.pad.bindings.InputTensor",
            {"dispatchables": {"pad": {**padding(), "bindings": {"InputTensor": "inn"}}}},
        ),
        ("DML-MODEL-missing", "$.commands[0]", {"commands": [{}]}),
        ("DML-MODEL-type", "$.commands[0].type", {"commands": [{"type": 1}]}),
        ("DML-MODEL-command", "$.commands[0].type", {"commands": [{"type": "prnt"}]}),
        ("DML-MODEL-missing", "$.commands[0]", {"commands": [{"type": "dispatch"}]}),
        ("DML-MODEL-reference", "$.commands[0].dispatchable", {"commands": [{**dispatch(), "dispatchable": "pod"}]}),
        ("DML-MODEL-reference", "$.commands[0].bindings.InputTensor", {"commands": [dispatch(InputTensor="inn")]}),
        (
            "DML-MODEL-reference",
            "$.commands[0].bindings.InputTensor.name",
            {"commands": [dispatch(InputTensor={"name": "inn"})]},
        ),
        ("DML-MODEL-missing", "$.commands[0].bindings.InputTensor", {"commands": [dispatch(InputTensor={})]}),
        ("DML-MODEL-type", "$.commands[0].bindings.InputTensor", {"commands": [dispatch(InputTensor=1)]}),
        (
            "DML-MODEL-integer",
            "$.commands[0].bindings.InputTensor.elementOffset",
            {"commands": [dispatch(InputTensor={"name": "in", "elementOffset": 0.5})]},
        ),
        (
            "DML-MODEL-bind-count",
            "$.commands[0].bindings.InputTensor",
            {"commands": [dispatch(InputTensor=["in", "in"])]},
        ),
        (
            "DML-MODEL-unbound",
            "$.commands[0].bindings",
            {"commands": [{"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "in"}}]},
        ),
        ("DML-MODEL-reference", "$.commands[0].resource", {"commands": [{"type": "print", "resource": "o"}]}),
        ("DML-MODEL-type", "$.commands[0].verbose", {"commands": [{"type": "print", "resource": "out", "verbose": 1}]}),
        ("DML-MODEL-missing", "$.commands[0]", {"commands": [{"type": "writeFile", "resource": "out"}]}),
        (
            "DML-MODEL-image",
            "$.commands[0].targetPath",
            {"commands": [{"type": "writeFile", "resource": "out", "targetPath": "a.jpeg"}]},
        ),
        (
            "DML-MODEL-range",
            "$.commands[0].dimensions[1]",
            {"commands": [{"type": "writeFile", "resource": "out", "targetPath": "a.npy", "dimensions": [5, 0]}]},
        ),
        *(
            (
                "DML-MODEL-target",
                "$.commands[0].targetPath",
                {"commands": [{"type": "writeFile", "resource": "out", "targetPath": path}]},
            )
            for path in ("../a.npy", "a/../../b", "/etc/x", "..", "", ".", "a//b", "C:\\x", "..\\x", "a/", "a\0b")
        ),
    ],
)
def test_refused(identifier: str, path: str, changes: dict[str, Any]) -> None:
    whole = {name: part for name, part in model(**changes).items() if part is not None}
    refused(identifier, path, execute, whole)


def test_the_root_is_an_object() -> None:
    refused("DML-MODEL-type", "$", execute, [])


@pytest.mark.parametrize(
    ("slug", "path", "changes"),
    [
        ("required", "", {"StartPadding": ...}),
        ("required", "", {"DimensionCount": ...}),
        ("required", ".InputTensor", {"InputTensor": {"Sizes": [3]}}),
        ("type", ".StartPadding", {"StartPadding": "1"}),
        ("range", ".StartPadding[0]", {"StartPadding": [2**32]}),
        ("length", ".EndPadding", {"EndPadding": [1, 1]}),
        ("member", ".PaddingMode", {"PaddingMode": "EGDE"}),
        ("sizes", ".OutputTensor.Sizes[0]", {"OutputTensor": {"DataType": "FLOAT32", "Sizes": [6]}}),
        (
            "sizes",
            ".OutputTensor.Desc.Sizes[0]",
            {"OutputTensor": {"Type": "BUFFER", "Desc": {"DataType": "FLOAT32", "Sizes": [6]}}},
        ),
        ("same-dtype", ".OutputTensor.DataType", {"OutputTensor": {"DataType": "FLOAT64", "Sizes": [5]}}),
    ],
)
def test_violations_of_a_desc_stand_at_its_members(slug: str, path: str, changes: dict[str, Any]) -> None:
    pad = padding(**changes)
    pad["desc"] = {name: value for name, value in pad["desc"].items() if value is not ...}
    found = parse(model(dispatchables={"pad": pad}))
    problems = found.dispatchables["pad"].desc.problems(Reader(found.document), None)
    assert any(
        p.violation.id.endswith(f"-{slug}") and p.place.path == f"$.dispatchables.pad.desc{path}" for p in problems
    ), problems
    refused(problems[0].violation.id, problems[0].place.path, execute, model(dispatchables={"pad": pad}))


def test_everything_is_reported_at_once_in_the_order_of_the_file() -> None:
    pad = padding(StartPadding="x", PaddingMode="y")
    whole = model(
        dispatchables={"pad": pad}, resources={"in": {}, "out": {"initialValuesDataType": "x"}}, commands=[{}]
    )
    with pytest.raises(ModelError) as caught:
        execute(json.dumps(whole, indent=1))
    ids = [violation.id for violation in caught.value.violations]
    assert ids == [
        "DML-MODEL-missing",
        "DML-MODEL-data-type",
        "DML-PADDING1-padding_mode-member",
        "DML-PADDING1-start_padding-type",
        "DML-MODEL-missing",
    ]


def test_feature_level() -> None:
    refused("DML-PADDING1-operator-level", "$.dispatchables.pad.type", execute, model(), level="3_0")
    assert execute(model(), level="5_0")


def test_names_are_not_echoed_raw() -> None:
    with pytest.raises(ModelError) as caught:
        execute(model(commands=[{"type": "print", "resource": "\x1b[31m\u202e"}], resources={"\x07": 1}))
    assert "\x1b" not in str(caught.value)
    assert "\u202e" not in str(caught.value)
    assert "\x07" not in str(caught.value)


def test_every_truncation_is_refused() -> None:
    text = json.dumps(model())
    for end in range(len(text)):
        with pytest.raises(ModelError):
            parse(text[:end])


def test_every_id_has_a_test() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    missing = {i for i in ERRORS if i.startswith("DML-MODEL-") and i not in tests}
    assert not missing


def test_a_misspelt_type_of_a_graph_has_a_proposal() -> None:
    text = json.dumps({"resources": {}, "commands": [], "dispatchables": {"g": {"type": "dmlSerialisedGraph"}}})
    (problem,) = parse(text).problems
    assert problem.violation.id == "DML-MODEL-operator-unknown"
    assert problem.violation.text.endswith(
        '"dmlSerialisedGraph" is not an operator of DirectML. Did you mean "dmlSerializedGraph"?'
    )
