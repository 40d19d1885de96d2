"""``dmlcy lint``: what is found, and which level it needs."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from linting import EXAMPLES, ROOT, UNREADABLE, Input, findings, lint, model, of, pool, tensor, written

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._cli.lint import FORMATS

# Sound models


def test_sound_models() -> None:
    status, text = lint(*EXAMPLES)
    assert status == 0
    notes = [line for line in text.splitlines() if ": note: " in line]
    assert len(notes) == len(EXAMPLES)
    assert text.endswith(f"{len(EXAMPLES)} files with 5 dispatchables at feature level 6_4: no errors, no warnings\n")


@pytest.mark.parametrize("name", UNREADABLE)
def test_text_that_is_not_json(name: str, tmp_path: Path) -> None:
    content, line, column = UNREADABLE[name]
    target = written(tmp_path, content)
    (found,) = findings(target)
    assert (found["id"], found["line"], found["column"]) == ("DML-MODEL-json", line, column)
    status, text = lint(target)
    assert status == 2
    assert text.startswith(f"{str(target)[:240]}")
    assert f":{line}:{column}: error: The text is not JSON: " in text
    assert max(map(len, text.splitlines())) < 400


def test_files_that_are_none(tmp_path: Path) -> None:
    names = [tmp_path, tmp_path / "missing.json", "nul\0byte.json", "x" * 5000]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        names.append(tmp_path / "pipe")
    for name in names:
        status, text = lint(name)
        assert status == 2
        assert "[DML-MODEL-file]" in text
        assert "Traceback" not in text
        for form in FORMATS:
            assert lint("--format", form, name)[0] == 2


def test_all_files_are_linted_and_the_worst_status_wins(tmp_path: Path) -> None:
    sound, wrong = EXAMPLES[0], written(tmp_path, model(p=pool(WindowSize=[3, 9])))
    assert lint(sound)[0] == 0
    assert lint(sound, wrong)[0] == 1
    status, text = lint(tmp_path / "missing.json", wrong, sound)
    assert status == 2
    assert "[DML-MODEL-file]" in text
    assert "[DML-AVERAGE_POOLING-window_size-fits]" in text
    assert f"{sound}:7:5: note: " in text


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Input(json.dumps(model(p=pool())).encode()))
    status, text = lint("-")
    assert status == 0
    assert text.startswith('<stdin>:1:37: note: "p" (AVERAGE_POOLING) needs feature level 1_0 (DirectML 1.0.0)\n')
    monkeypatch.setattr(sys, "stdin", Input(b"{"))
    assert lint("-")[0] == 2
    monkeypatch.setattr(sys, "stdin", None)
    assert "it is closed" in lint("-")[1]


def test_usage() -> None:
    for arguments in ([], ["--format", "xml", "x"], ["--feature-level", "9_9", "x"], ["--format"]):
        with pytest.raises(SystemExit) as caught, redirect_stderr(io.StringIO()):
            main(["lint", *arguments])
        assert caught.value.code == 2


def test_as_a_process(tmp_path: Path) -> None:
    target = written(tmp_path, model(p=pool(WindowSize=[3, 9])))
    command = [sys.executable, "-m", "dmlcy", "lint", str(target)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    assert done.returncode == 1
    assert done.stdout.decode() == lint(target)[1]
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("content", "identifier", "path"),
    [
        ([], "DML-MODEL-type", "$"),
        (1, "DML-MODEL-type", "$"),
        ({}, "DML-MODEL-missing", "$"),
        ({**model(), "dispatchables": [pool()]}, "DML-MODEL-type", "$.dispatchables"),
        ({**model(), "commands": {}}, "DML-MODEL-type", "$.commands"),
        ({**model(), "resources": {"x": 1}}, "DML-MODEL-type", "$.resources.x"),
        (
            {**model(), "commands": [{"type": "print", "resource": "x"}]},
            "DML-MODEL-reference",
            "$.commands[0].resource",
        ),
        (model(p=[]), "DML-MODEL-type", "$.dispatchables.p"),
        (model(p={"desc": {}}), "DML-MODEL-missing", "$.dispatchables.p"),
        (model(p={"type": "AVG", "desc": {}}), "DML-MODEL-operator-unknown", "$.dispatchables.p.type"),
        (model(p={"type": "hlsl"}), "DML-MODEL-dispatchable", "$.dispatchables.p.type"),
        (model(p={**pool(), "desc": []}), "DML-MODEL-type", "$.dispatchables.p.desc"),
        (model(p={**pool(), "dmlCompileType": "x"}), "DML-MODEL-choice", "$.dispatchables.p.dmlCompileType"),
    ],
)
def test_models(content: Any, identifier: str, path: str, tmp_path: Path) -> None:
    found = [(one["id"], one["path"]) for one in of(tmp_path, content)]
    assert (identifier, path) in found
    assert lint(tmp_path / "model.json")[0] == 1


def test_buffers_that_are_too_small(tmp_path: Path) -> None:
    floats = {"initialValuesDataType": "FLOAT32"}
    resources = {
        "fits": {**floats, "initialValues": {"valueCount": 42, "value": 0}},
        "small": {**floats, "initialValues": {"valueCount": 41, "value": 0}},
        "sized": {**floats, "initialValues": [1], "sizeInBytes": 168},
        "file": {"initialValues": {"sourcePath": "missing.npy"}},
        "short file": {"initialValues": {"sourcePath": "missing.npy"}, "sizeInBytes": 164},
        "untyped": {"initialValues": [{"type": "FLOAT32", "value": 1}] * 42},
        "out": {**floats, "initialValues": {"valueCount": 42, "value": 0}},
    }
    out = {"OutputTensor": "out"}
    commands: list[dict[str, Any]] = [
        {"type": "dispatch", "dispatchable": "p", "bindings": {"InputTensor": name, **out}}
        for name in resources
        if name != "out"
    ]
    shifted = {"name": "fits", "elementOffset": 1}
    commands += [
        {"type": "dispatch", "dispatchable": "p", "bindings": {"InputTensor": shifted, **out}},
        {"type": "dispatch", "dispatchable": "p", "bindings": {"InputTensor": {**shifted, "name": "file"}, **out}},
        {"type": "print", "resource": "untyped"},
        {"type": "writeFile", "resource": "untyped", "targetPath": "x.bin"},
        {"type": "writeFile", "resource": "small", "targetPath": "x.npy", "dimensions": [6, 7]},
        {"type": "writeFile", "resource": "fits", "targetPath": "x.npy", "dimensions": [6, 7]},
    ]
    found = of(tmp_path, {"resources": resources, "dispatchables": {"p": pool()}, "commands": commands})
    assert [(one["id"], one["path"]) for one in found] == [
        ("DML-MODEL-buffer-size", "$.commands[1].bindings.InputTensor"),
        ("DML-MODEL-buffer-size", "$.commands[4].bindings.InputTensor"),
        ("DML-MODEL-buffer-size", "$.commands[6].bindings.InputTensor"),
        ("DML-MODEL-untyped", "$.commands[8]"),
        ("DML-MODEL-dimensions", "$.commands[10].dimensions"),
    ]
    bound = {**pool(InputTensor=tensor(Flags="OWNED_BY_DML")), "bindings": {"InputTensor": "small"}}
    found = of(tmp_path, {"resources": resources, "dispatchables": {"p": bound}, "commands": []})
    assert [one["path"] for one in found] == ["$.dispatchables.p.bindings.InputTensor"]


def test_tensors_that_share_a_buffer(tmp_path: Path) -> None:
    """A tensor that is written must not overlap any other tensor that the dispatch binds."""
    floats = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 100, "value": 0}}
    commands = [
        {"type": "dispatch", "dispatchable": "p", "bindings": {"InputTensor": "long", "OutputTensor": output}}
        for output in ({"name": "long", "elementOffset": offset} for offset in (0, 1, 41, 42, 58))
    ]
    whole = {"resources": {"long": floats}, "dispatchables": {"p": pool()}, "commands": commands}
    found = of(tmp_path, whole)
    assert [(one["id"], one["path"]) for one in found] == [
        ("DML-MODEL-shared", f"$.commands[{number}].bindings.OutputTensor") for number in range(3)
    ]
    assert "OutputTensor and InputTensor both lie in bytes 164 to 167 of the buffer" in found[2]["message"]


def test_a_struct_without_any_of_its_members(tmp_path: Path) -> None:
    """The message names what is there: only the warnings say that those members are unknown."""
    same = {name: {"DataType": "FLOAT32", "Sizes": [8]} for name in ("InputTensor", "OutputTensor")}
    found = of(tmp_path, model(p={"type": "ELEMENT_WISE_ABS", "desc": {**same, "ScaleBias": {"Foo": 1}}}))
    assert [one["severity"] for one in found] == ["error", "warning"]
    assert found[0]["message"].endswith('not an object of "Foo".')


def test_an_output_in_place_of_an_input(tmp_path: Path) -> None:
    """DirectML executes some operators in place: the output is then exactly the input, not a part of it."""
    floats = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 0}}
    same = {name: {"DataType": "FLOAT32", "Sizes": [8]} for name in ("InputTensor", "OutputTensor")}
    clip = {"type": "DML_OPERATOR_ELEMENT_WISE_CLIP", "desc": {**same, "ScaleBias": None, "Min": 0, "Max": 1}}
    commands = [
        {"type": "dispatch", "dispatchable": "p", "bindings": {"InputTensor": "long", "OutputTensor": output}}
        for output in ({"name": "long", "elementOffset": offset} for offset in (0, 4, 8))
    ]
    found = of(tmp_path, {"resources": {"long": floats}, "dispatchables": {"p": clip}, "commands": commands})
    assert [(one["id"], one["path"]) for one in found] == [("DML-MODEL-shared", "$.commands[1].bindings.OutputTensor")]


def test_two_outputs_in_one_buffer(tmp_path: Path) -> None:
    shown = io.StringIO()
    with redirect_stdout(shown):
        assert main(["example", "max_pooling1"]) == 0
    whole = json.loads(shown.getvalue())
    assert not of(tmp_path, whole)
    whole["commands"][0]["bindings"]["OutputIndicesTensor"] = "output"
    found = of(tmp_path, whole)
    assert {one["path"] for one in found} == {"$.commands[0].bindings.OutputIndicesTensor"}
    assert {one["id"].removeprefix("DML-MODEL-") for one in found} == {"shared", "type-differs"}


def test_values_of_another_data_type_than_the_tensor(tmp_path: Path) -> None:
    """DxDispatch binds them all the same, so that this is a warning."""
    shown = io.StringIO()
    with redirect_stdout(shown):
        assert main(["example", "gather"]) == 0
    whole = json.loads(shown.getvalue())
    indices, bindings = whole["resources"]["indices"], whole["commands"][0]["bindings"]
    indices["initialValuesDataType"] = "FLOAT32"
    (found,) = of(tmp_path, whole)
    assert (found["severity"], found["id"]) == ("warning", "DML-MODEL-type-differs")
    assert found["path"] == "$.commands[0].bindings.IndicesTensor"
    assert "IndicesTensor has the data type UINT32" in found["message"] and '"indices" have FLOAT32' in found["message"]
    assert '"initialValuesDataType": "UINT32"' in found["hint"]
    bindings["IndicesTensor"] = {"name": "indices", "elementSizeInBytes": 4}
    assert not of(tmp_path, whole)
    bindings["IndicesTensor"] = "indices"
    whole["resources"]["indices"] = {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": "indices.bin"}}
    assert not of(tmp_path, whole)


def test_a_warning_does_not_contradict_an_error(tmp_path: Path) -> None:
    """The warning of windows that reach past the padding is for sizes that are taken."""
    for size, severity in ((4, "error"), (3, "warning")):
        output = {"DataType": "FLOAT32", "Sizes": [1, 1, size, 2]}
        sizes = {"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 5]}, "OutputTensor": output}
        (found,) = of(tmp_path, model(p=pool(Strides=[2, 2], **sizes)))
        assert found["severity"] == severity


def test_warnings_do_not_count(tmp_path: Path) -> None:
    text = json.dumps(model(p={**pool(Unread=1), "note": 2}))
    text = text.replace("{", "{ // a comment\n", 1).replace('"commands": []', '"commands": [], "commands": [],')
    target = written(tmp_path, f"{text} tail")
    found = findings(target)
    assert {one["severity"] for one in found} == {"warning"}
    assert {one["id"].removeprefix("DML-MODEL-") for one in found} == {
        "comment", "trailing-comma", "after-root", "duplicate", "unknown",
    }  # fmt: skip
    status, shown = lint(target)
    assert status == 0
    assert shown.endswith("1 file with 1 dispatchable at feature level 6_4: no errors, 6 warnings\n")
    positions = [(one["line"], one["column"]) for one in found]
    assert positions == sorted(positions)


@pytest.mark.parametrize("inline", [False, True])
def test_a_misspelt_member_is_one_error(inline: bool, tmp_path: Path) -> None:
    dispatchable = pool(StartPadding=None, StartPading=[0, 0])
    if inline:
        dispatchable = {"type": dispatchable["type"], **dispatchable["desc"]}
    (found,) = of(tmp_path, model(p=dispatchable))
    body = "$.dispatchables.p" if inline else "$.dispatchables.p.desc"
    assert (found["severity"], found["id"]) == ("error", "DML-AVERAGE_POOLING-start_padding-required")
    assert (found["path"], found["hint"]) == (f"{body}.StartPading", 'Rename "StartPading" to "StartPadding".')
    text = written(tmp_path, model(p=dispatchable)).read_text()
    assert text[found["column"] - 1 :].startswith('"StartPading"')


def test_misspelt_members_of_structs(tmp_path: Path) -> None:
    sizes = {"DataType": "FLOAT32", "sizes": [1, 1, 6, 7]}
    for desc in (sizes, {"Desc": sizes}):
        (found,) = of(tmp_path, model(p=pool(InputTensor=desc)))
        assert found["id"] == "DML-AVERAGE_POOLING-input-required"
        assert found["hint"] == 'Rename "sizes" to "Sizes".'
        assert found["path"].endswith(".sizes")
    roi = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 8, 8]},
        "ROITensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 5]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
        "SpatialScale": 1,
        "PooledSize": {"Width": 2, "height": 2},
    }
    (found,) = of(tmp_path, model(p={"type": "ROI_POOLING", "desc": roi}))
    assert found["path"] == "$.dispatchables.p.desc.PooledSize.height"
    assert found["hint"] == 'Rename "height" to "Height".'
    assert 'not an object of "Width", "height"' in found["message"]


def test_members_of_a_size_that_nobody_reads(tmp_path: Path) -> None:
    """A warning names each such member, and it is dropped, as by ``OperatorDesc.from_dict`` with ``ignore_unknown``."""
    roi = dml.desc.RoiPooling(
        input=dml.TensorDesc("FLOAT32", (1, 1, 8, 8)),
        roi=dml.TensorDesc("FLOAT32", (1, 1, 1, 5)),
        spatial_scale=1,
        pooled_size=(2, 2),
    ).to_dict()
    roi["desc"]["PooledSize"]["Extra"] = 0
    (found,) = of(tmp_path, model(p=roi))
    assert found["path"] == "$.dispatchables.p.desc.PooledSize.Extra"
    assert dml.check(dml.desc.OperatorDesc.from_dict(roi, ignore_unknown=True)) == []


def test_misspelt_members_each_go_with_one(tmp_path: Path) -> None:
    found = of(tmp_path, model(p=pool(StartPadding=None, EndPadding=None, start_padding=[0, 0], EndPads=[0, 0], X=1)))
    assert [one["hint"] for one in found] == [
        'Rename "start_padding" to "StartPadding".',
        'Rename "EndPads" to "EndPadding".',
        "",
    ]
    assert found[2]["id"] == "DML-MODEL-unknown"


def test_misspelt_members_of_the_model(tmp_path: Path) -> None:
    (found,) = of(tmp_path, {"resources": {}, "Dispatchables": {}, "commands": []})
    assert (found["id"], found["path"]) == ("DML-MODEL-missing", "$.Dispatchables")
    assert found["hint"] == 'Rename "Dispatchables" to "dispatchables".'
    command = {"type": "dispatch", "dispatchable": "p", "bindings": {"InputTensr": "x", "OutputTensor": "x"}}
    resources = {"x": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 64, "value": 0}}}
    (found,) = of(tmp_path, {**model(p=pool()), "resources": resources, "commands": [command]})
    assert (found["id"], found["path"]) == ("DML-MODEL-unbound", "$.commands[0].bindings.InputTensr")
    assert found["hint"] == 'Rename "InputTensr" to "InputTensor".'


def test_one_desc_in_place_of_a_model(tmp_path: Path) -> None:
    """The desc alone has the findings that it has in a model."""
    for desc in (pool(), pool(WindowSize=[9, 9]), pool(Strides=[0, 1]), {"type": "PADDING1", "Desc": {}}):
        inside = of(tmp_path, model(p=desc))
        assert [(one["id"], one["path"].replace(".dispatchables.p", "")) for one in inside] == [
            (one["id"], one["path"]) for one in of(tmp_path, desc)
        ]
    for desc, path in (({"type": "FOLD"}, "$"), ({"type": 1, "desc": {}}, "$.type"), (pool() | {"more": 1}, "$.more")):
        (found,) = of(tmp_path, desc)
        assert (found["id"].startswith("DML-MODEL-"), found["path"]) == (True, path)
    (found,) = of(tmp_path, {"Type": "FOLD", "Desc": {}})
    assert (found["path"], found["hint"]) == ("$.Type", 'Rename "Type" to "type".')
    status, text = lint(written(tmp_path, {"type": "DML_OPERATOR_BOGUS", "desc": {}}))
    assert status == 1 and "[DML-MODEL-operator-unknown]" in text
    status, text = lint(written(tmp_path, pool()))
    assert status == 0 and "needs feature level 1_0" in text
    assert len(of(tmp_path, {"type": "model", "resources": {}})) == 3  # two that are missing, one that is unknown


def test_members_of_other_versions(tmp_path: Path) -> None:
    indices = {"DataType": "UINT32", "Sizes": [1, 1, 4, 5]}
    members = pool(IncludePadding=None, OutputIndicesTensor=indices, Stridess=[1, 1])["desc"]
    old = {"type": "MAX_POOLING", "desc": members}
    found = of(tmp_path, model(p=old))
    hint = "DML_OPERATOR_MAX_POOLING1 and DML_OPERATOR_MAX_POOLING2 have it."
    assert [one["hint"] for one in found] == [hint, ""]  # of "Stridess": "Strides" is there
    newer = {"type": "MAX_POOLING1", "desc": {**members, "Dilations": [2, 2]}}
    assert [one["hint"] for one in of(tmp_path, model(p=newer))] == ["", "DML_OPERATOR_MAX_POOLING2 has it."]
    desc = dml.desc.OperatorDesc.from_dict({**newer, "type": "DML_OPERATOR_MAX_POOLING1"})
    unknown = [one for one in dml.check(desc) if one.id.endswith("-unknown")]
    assert [(one.hint, one.fix) for one in unknown] == [("", None), ("DML_OPERATOR_MAX_POOLING2 has it.", None)]


def nested(**changes: Any) -> dict[str, Any]:
    """Dispatchables with fields at another depth; each has one other mistake, in EndPadding."""
    whole = pool(EndPadding=[0, -1], **changes)
    kind, desc = whole["type"], whole["desc"]
    inner = {name: desc[name] for name in ("StartPadding", "EndPadding")}
    rest = {name: value for name, value in desc.items() if name not in inner}
    return {
        "desc.desc": {"type": kind, "desc": {"desc": desc}},
        "type and desc": {"type": kind, "desc": {"type": kind, "desc": desc}},
        "no type": {"desc": {"type": kind, "desc": desc}},
        "no type, fields beside it": {"desc": {"type": kind, **desc}},
        "beside": {"type": kind, "desc": rest, **inner},
        "within": {"type": kind, "desc": {**rest, "Padding": inner}},
        "within, inline": {"type": kind, **rest, "Padding": inner},
    }


@pytest.mark.parametrize("name", nested())
def test_fields_at_the_wrong_depth(name: str, tmp_path: Path) -> None:
    nesting, other = sorted(of(tmp_path, model(p=nested()[name])), key=lambda one: str(one["id"]), reverse=True)
    assert nesting["id"] == "DML-MODEL-nesting"
    assert nesting["path"].startswith("$.dispatchables.p.")
    assert other["id"] == "DML-AVERAGE_POOLING-end_padding-range"
    if name == "within":
        assert nesting["path"] == "$.dispatchables.p.desc.Padding"
        assert nesting["message"] == (
            '"StartPadding", "EndPadding" at the wrong depth: found in $.dispatchables.p.desc.Padding, '
            "expected in $.dispatchables.p.desc."
        )


def test_ten_independent_mistakes_are_ten(tmp_path: Path) -> None:
    ten = pool(
        InputTensor=tensor(
            DataType="FLOAT3", Sizes=[1, 1, 6, 0], Strides=[42, 7, 1], Flags="x", GuaranteedBaseOffsetAlignment=3
        ),
        OutputTensor={"Type": "x", "DataType": "FLOAT32", "Sizes": [1, 1, 4, -5]},
        DimensionCount="2",
        WindowSize=[3, 3.0],
        IncludePadding=0,
    )
    described = dml.desc.OperatorDesc.from_dict(ten)
    checked = dml.check(described)
    assert len(checked) == 10, checked
    found = of(tmp_path, model(p=ten))
    assert sorted(one["id"] for one in found) == sorted(one.id for one in checked)
    assert len({one["path"] for one in found}) == 10
    assert len({(one["line"], one["column"]) for one in found}) == 10


def test_every_dispatchable_is_looked_at(tmp_path: Path) -> None:
    broken = pool(Strides=[1, 0])
    found = of(tmp_path, model(**{f"p{index}": broken for index in range(1500)}))
    assert [one["path"].split(".")[2] for one in found] == [f"p{index}" for index in range(1500)]


def test_minimum_levels(tmp_path: Path) -> None:
    status, text = lint("--format", "json", *sorted((ROOT / "examples" / "levels").glob("*.json")))
    assert status == 0
    files = {Path(file["file"]).stem: file["dispatchables"] for file in json.loads(text)["files"]}
    assert [len(found) for found in files.values()] == [6, 6]
    levels = {one["name"]: one["minimum"] for found in files.values() for one in found}
    assert {name: minimum["feature_level"] for name, minimum in levels.items()} == {
        "FLOAT32": "2_1", "FLOAT16": "2_1", "UINT8": "2_1", "INT64": "5_0", "UINT64": "5_0", "FLOAT64": "5_0",
        "CONSTANT": "5_0", "EDGE": "5_0", "WRAP": "6_4", "1 dimension": "5_0", "8 dimensions": "5_0",
    }  # fmt: skip
    assert levels["WRAP"] == {
        "feature_level": "6_4",
        "directml": "1.15.0",
        "dxdispatch": False,
        "forced_by": [{"field": "padding_mode", "subject": "padding_mode WRAP"}],
    }
    assert levels["UINT64"]["forced_by"] == [{"field": "input", "subject": "input of data type UINT64"}]
    assert levels["CONSTANT"]["dxdispatch"] is True


def test_the_level_decides(tmp_path: Path) -> None:
    (path,) = (ROOT / "examples" / "levels").glob("padding1.json")
    assert lint(path)[0] == 0
    status, text = lint("--feature-level", "DML_FEATURE_LEVEL_5_0", path)
    assert status == 1
    assert "padding_mode WRAP needs feature level 6_4 (DirectML 1.15.0), and the level is 5_0." in text
    assert "at feature level 5_0: 1 error, no warnings" in text
    assert len(findings("--feature-level", "4_1", path)) == 7  # the operator six times, and the mode


def test_dispatchables_that_need_what_no_level_has(tmp_path: Path) -> None:
    target = written(tmp_path, model(p=pool(WindowSize=[3, 9]), q={"type": "AVG"}, r=[], s=pool()))
    document = json.loads(lint("--format", "json", target)[1])
    found = [(one["name"], one["operator"], one["minimum"] is None) for one in document["files"][0]["dispatchables"]]
    assert found == [
        ("p", "AVERAGE_POOLING", True),
        ("q", None, True),
        ("r", None, True),
        ("s", "AVERAGE_POOLING", False),
    ]
    notes = [line for line in lint(target)[1].splitlines() if ": note: " in line]
    assert len(notes) == 1
    assert '"s" (AVERAGE_POOLING)' in notes[0]
