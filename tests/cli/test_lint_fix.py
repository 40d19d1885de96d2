"""``dmlcy lint``: repairs in the report, and ``--fix``, which writes them."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from linting import Input, findings, lint, model, of, pool, written

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._errors import SEARCHED


def tensor(*sizes: int, **members: Any) -> dict[str, Any]:
    return {"DataType": "FLOAT32", "Sizes": [*sizes], **members}


def convolution(**changes: Any) -> dict[str, Any]:
    """A depthwise convolution whose GroupCount was left at 1."""
    desc = {
        "InputTensor": tensor(1, 8, 5, 5),
        "FilterTensor": tensor(8, 1, 3, 3),
        "BiasTensor": None,
        "OutputTensor": tensor(1, 8, 3, 3),
        "Mode": "DML_CONVOLUTION_MODE_CROSS_CORRELATION",
        "Direction": "DML_CONVOLUTION_DIRECTION_FORWARD",
        "DimensionCount": 2,
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "OutputPadding": [0, 0],
        "GroupCount": 1,
        "FusedActivation": None,
    }
    return {"type": "DML_OPERATOR_CONVOLUTION", "desc": desc | changes}


def add(b: dict[str, Any]) -> dict[str, Any]:
    """A sum whose second tensor is to be repeated."""
    desc = {"ATensor": tensor(2, 4, 3, 3), "BTensor": b, "OutputTensor": tensor(2, 4, 3, 3)}
    return {"type": "DML_OPERATOR_ELEMENT_WISE_ADD", "desc": desc}


def gemm(**changes: Any) -> dict[str, Any]:
    """A product with the weights of nn.Linear, which two changes make valid."""
    desc = {
        "ATensor": tensor(1, 1, 2, 3),
        "BTensor": tensor(1, 1, 4, 3),
        "CTensor": None,
        "OutputTensor": tensor(1, 1, 2, 4),
        "TransA": "DML_MATRIX_TRANSFORM_NONE",
        "TransB": "DML_MATRIX_TRANSFORM_NONE",
        "Alpha": 1.0,
        "Beta": 0.0,
        "FusedActivation": None,
    }
    return {"type": "DML_OPERATOR_GEMM", "desc": desc | changes}


def fix(*arguments: object) -> tuple[int, str, str]:
    """The exit status of ``lint --fix``, its report, and what it says beside it."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["lint", "--fix", *map(str, arguments)])
    return status, out.getvalue(), err.getvalue()


def test_the_report_has_repairs_in_the_spelling_of_the_file(tmp_path: Path) -> None:
    target = written(tmp_path, model(g=gemm()))
    status, text = lint(target)
    assert status == 1
    line = '= repair: Each of these makes this desc valid: "TransB": "DML_MATRIX_TRANSFORM_TRANSPOSE"; '
    assert line + '"BTensor": {"Sizes": [1, 1, 3, 4]}.' in text
    (found,) = findings(target)
    assert [(one["field"], one["text"]) for one in found["repairs"]] == [
        ("trans_b", '"TransB": "DML_MATRIX_TRANSFORM_TRANSPOSE"'),
        ("b", '"BTensor": {"Sizes": [1, 1, 3, 4]}'),
    ]
    assert found["repairs"][0]["value"] == "DML_MATRIX_TRANSFORM_TRANSPOSE"


def test_a_desc_with_several_violations_names_its_repairs_once(tmp_path: Path) -> None:
    wrong = convolution(BiasTensor=tensor(8, 1, 1, 1), FilterTensor=tensor(8, 8, 3, 3))
    wrong["desc"]["OutputTensor"] = tensor(1, 4, 3, 3)
    target = written(tmp_path, model(c=convolution(), d=convolution()))
    assert lint(target)[1].count("= repair: ") == 2
    both = findings(written(tmp_path, model(p=pool(WindowSize=[3, 9], InputTensor=tensor(1, 1, 7, 6)))))
    assert len({json.dumps(one["repairs"]) for one in both}) == 1


def test_sarif_has_each_repair_as_a_fix_of_the_file(tmp_path: Path) -> None:
    content = json.dumps(model(c=convolution(), g=gemm()), indent=1)
    target = written(tmp_path, content)
    (run,) = json.loads(lint("--format", "sarif", target)[1])["runs"]
    for result in run["results"]:
        assert len(result["fixes"]) == len(result["properties"]["repairs"])
        for one in result["fixes"]:
            (change,) = one["artifactChanges"]
            lines = content.split("\n")
            for replacement in reversed(change["replacements"]):
                region = replacement["deletedRegion"]
                assert region["startLine"] == region["endLine"]
                line = lines[region["startLine"] - 1]
                start, end = region["startColumn"] - 1, region["endColumn"] - 1
                lines[region["startLine"] - 1] = line[:start] + replacement["insertedContent"]["text"] + line[end:]
            left = {finding["path"] for finding in of(tmp_path, "\n".join(lines))}
            assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] not in left


def test_repairs_are_searched_for_the_first_violations_of_a_file(tmp_path: Path) -> None:
    target = written(tmp_path, model(**{f"c{number}": convolution() for number in range(SEARCHED + 3)}))
    found = findings(target)
    assert [len(one["repairs"]) for one in found] == [1] * SEARCHED + [0] * 3
    _, text = lint(target)
    assert text.count("= repair: ") == SEARCHED
    assert f"note: dmlcy searched for repairs of the first {SEARCHED} violations only, not of 3 more violations" in text
    assert json.loads(lint("--format", "json", target)[1])["files"][0]["unsearched"] == 3
    with pytest.raises(dml.ModelError) as caught:
        raise dml.ModelError([dml.check(dml.desc.OperatorDesc.from_dict(convolution()))[0] for _ in found])
    assert str(caught.value).count("makes this desc valid") == SEARCHED
    assert str(caught.value).endswith(f"dmlcy searched for repairs of the first {SEARCHED} descs only.")


TEXT = """\ufeff{ // a model
\t"resources": {}, "commands": [],\r
  "dispatchables": {
    "über": {"type": "DML_OPERATOR_CONVOLUTION", "desc": DESC },\r
    "add": ADD
  }
} after
"""


def test_fix_keeps_every_other_byte(tmp_path: Path) -> None:
    desc = json.dumps(convolution()["desc"]).replace('"GroupCount": 1', '"GroupCount" : /* groups */ 1 /* of 8 */')
    sum_ = json.dumps(add(tensor(1, 4, 1, 1))).replace("[1, 4, 1, 1]", "[1 ,4,\n 1,  1 , ]")
    before = TEXT.replace("DESC", desc).replace("ADD", sum_)
    target = written(tmp_path, before.encode())
    status, report, said = fix(target)
    after = before.replace("/* groups */ 1 /*", "/* groups */ 8 /*")
    after = after.replace('"Sizes": [1 ,4,\n 1,  1 , ]', '"Strides": [0, 1, 0, 0], "Sizes": [2 ,4,\n 3,  3 , ]')
    assert target.read_bytes() == after.encode()
    assert status == 0 and "no errors" in report
    places = [before[: before.index(one)].count("\n") + 1 for one in ("/* groups */", "[1 ,4,")]
    assert places[0] != places[1] and said.splitlines() == [
        f'{target}:{places[0]}: written: "GroupCount": 8',
        f'{target}:{places[1]}: written: "BTensor": {{"Sizes": [2, 4, 3, 3], "Strides": [0, 1, 0, 0]}}',
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def test_fix_writes_all_members_of_a_tensor_that_the_repair_changes(tmp_path: Path) -> None:
    b = tensor(4, 1, 1, DimensionCount=3, Strides=[1, 1, 1], TotalTensorSizeInBytes=16)
    target = written(tmp_path, model(add=add(b)))
    assert fix(target)[0] == 0
    changed = json.loads(target.read_text())["dispatchables"]["add"]["desc"]["BTensor"]
    expected = {"Sizes": [2, 4, 3, 3], "Strides": [0, 1, 0, 0], "DimensionCount": 4, "TotalTensorSizeInBytes": 16}
    assert changed == {"DataType": "FLOAT32", **expected}


def test_fix_leaves_what_has_a_choice_or_no_repair(tmp_path: Path) -> None:
    two = "nothing is written: 2 errors are not mended: 2 with other errors in the same desc and no repair"
    cases: list[tuple[dict[str, Any], str]] = [
        (model(g=gemm()), "nothing is written: 1 error is not mended: 1 with several repairs"),
        (model(p=pool(WindowSize=[9, 9])), two),
        (model(p=pool()), ""),
        ({"resources": {}}, "nothing is written: 2 errors are not mended: 2 outside of descs"),
    ]
    for content, expected in cases:
        target = written(tmp_path, content)
        before = target.read_bytes(), target.stat().st_mtime_ns
        status, _, said = fix(target)
        assert (target.read_bytes(), target.stat().st_mtime_ns) == before
        assert status == lint(target)[0]
        assert said == (f"{target}: {expected}\n" if expected else ""), findings(target)
    target = written(tmp_path, model(g=gemm(), c=convolution()))
    assert fix(target)[0] == 1
    assert [one["id"] for one in findings(target)] == ["DML-GEMM-b-rows"]


def renamed(dispatchable: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {**dispatchable, "desc": {new if name == old else name: one for name, one in dispatchable["desc"].items()}}


def test_fix_says_how_many_errors_it_leaves_and_why(tmp_path: Path) -> None:
    wrong = {"n": renamed(pool(), "WindowSize", "WindowSizes"), "w": pool(WindowSize=[9, 9]), "g": gemm()}
    target = written(tmp_path, model(c=convolution(), o={"type": "DML_OPERATOR_POOL", "desc": {}}, **wrong))
    status, report, said = fix(target)
    assert (status, said.splitlines()) == (1, [
        f'{target}:1: written: "GroupCount": 8',
        f"{target}: 5 errors are not mended: 2 with other errors in the same desc and no repair, 1 outside of descs, "
        "1 with a name that is unknown or missing (--fix changes values only), 1 with several repairs",
    ])  # fmt: skip
    assert report.count(": error: ") == 5
    target = written(tmp_path, model(**{f"c{number}": convolution() for number in range(SEARCHED + 3)}))
    assert fix(target)[2].endswith(f": 3 errors are not mended: 3 after the first {SEARCHED} (run --fix again)\n")
    assert fix(target)[2].count("\n") == 3 and findings(target) == []


def test_fix_says_that_it_leaves_onnx_models(tmp_path: Path) -> None:
    digits = tmp_path / "digits.onnx"
    digits.write_bytes((Path(__file__).parents[2] / "examples" / "onnx" / digits.name).read_bytes())
    assert fix(tmp_path)[::2] == (0, f"{digits}: nothing is written: --fix writes JSON files only\n")


def test_the_nearest_valid_value_of_the_only_error_is_written(tmp_path: Path) -> None:
    output = {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 6]}
    target = written(tmp_path, model(p=pool(OutputTensor=output), w=pool(WindowSize=[9, 9]), c=convolution()))
    status, _, said = fix(target)
    assert f"{target}:1: written: $.dispatchables.p.desc.OutputTensor.Sizes[3] = 5\n" in said
    assert '"GroupCount": 8' in said and status == 1
    assert json.loads(target.read_text())["dispatchables"]["p"] == pool()
    assert {one["path"].split(".")[2] for one in findings(target)} == {"w"}  # two errors


def test_fix_writes_nodes_of_graphs_and_nested_descs(tmp_path: Path) -> None:
    softmax = {"Type": "ACTIVATION_SOFTMAX1", "Desc": {"AxisCount": 1, "Axes": [-1]}}
    fused = gemm(BTensor=tensor(1, 1, 3, 4), FusedActivation=softmax)
    nodes = [{"Type": "OPERATOR", "Desc": {"Operator": one}} for one in (convolution(), fused)]
    ends = {"InputCount": 4, "OutputCount": 2}
    edges = {
        "InputEdges": [
            {"GraphInputIndex": 2 * node + place, "ToNodeIndex": node, "ToNodeInputIndex": place}
            for node in (0, 1)
            for place in (0, 1)
        ],
        "OutputEdges": [{"FromNodeIndex": node, "FromNodeOutputIndex": 0, "GraphOutputIndex": node} for node in (0, 1)],
    }
    target = written(tmp_path, {"Nodes": nodes, **ends, **edges})
    assert len(findings(target)) == 2
    status, report, said = fix(target)
    assert (status, said.count("written: ")) == (0, 2), report
    node = json.loads(target.read_text())["Nodes"][1]["Desc"]["Operator"]["desc"]
    assert node["FusedActivation"]["Desc"]["Axes"] == [3]


def copying(source: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    desc = {"InputTensor": source, "OutputTensor": target, "ScaleBias": None}
    return {"Type": "OPERATOR", "Desc": {"Operator": {"type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY", "desc": desc}}}


def test_nothing_is_written_where_the_repair_of_a_node_does_not_fit_another_node(tmp_path: Path) -> None:
    """The packed output has more bytes than the next node reads."""
    packed, strided = tensor(1, 1, 3, 2), tensor(1, 1, 3, 2, Strides=[6, 6, 1, 2])
    content: dict[str, Any] = {
        "Nodes": [copying(packed, strided), copying(strided, packed)],
        "InputCount": 1,
        "OutputCount": 1,
        "InputEdges": [{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0}],
        "IntermediateEdges": [{"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0}],
        "OutputEdges": [{"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0}],
    }
    target = written(tmp_path, content)
    before = target.read_bytes()
    (found,) = findings(target)
    assert [one["text"] for one in found["repairs"]] == ['"OutputTensor": {"Strides": null}']
    status, _, said = fix(target)
    assert (status, target.read_bytes()) == (2, before)
    assert "is not written: after all of its repairs, this is wrong at $.IntermediateEdges[0]: " in said
    assert "[DML-GRAPH-edge-size]" in said
    content["Nodes"][1] = copying(packed, packed)
    target = written(tmp_path, content)
    assert {one["id"] for one in findings(target)} == {
        "DML-ELEMENT_WISE_IDENTITY-output-overlap",
        "DML-GRAPH-edge-size",
    }
    assert fix(target)[0] == 0
    assert findings(target) == []


def test_nothing_is_written_where_the_repairs_together_bring_another_error(tmp_path: Path) -> None:
    """The buffer of a tensor is looked at when its desc is valid."""
    small, whole = (
        {"initialValuesDataType": "FLOAT32", "initialValues": {"value": 0, "valueCount": count}} for count in (4, 200)
    )
    bindings = {"InputTensor": "x", "FilterTensor": "small", "OutputTensor": "y"}
    content = {
        "resources": {"x": whole, "small": small, "y": whole},
        "dispatchables": {"c": convolution(), "d": convolution()},
        "commands": [{"type": "dispatch", "dispatchable": "c", "bindings": bindings}],
    }
    target = written(tmp_path, content)
    before, found = target.read_bytes(), findings(target)
    status, _, said = fix(target)
    assert target.read_bytes() == before and status == 1 + 1
    assert "is not written: after all of its repairs, this is wrong at $" in said, (found, said)


def test_what_cannot_be_written_is_refused_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = written(tmp_path, model(c=convolution()))
    target.chmod(0o444)
    before = target.read_bytes()
    status, report, said = fix(target)
    assert (status, said) == (2, f"{target} cannot be written: it is read-only.\n")
    assert target.read_bytes() == before and "= repair: " in report
    monkeypatch.setattr(sys, "stdin", Input(before))
    status, report, said = fix("-")
    assert (status, said) == (2, "<stdin> is standard input: --fix writes files only.\n")
    assert '= repair: "GroupCount": 8 makes this desc valid.' in report
    assert fix(tmp_path / "missing.json")[::2] == (2, "")
    graph = dml.Graph()
    serialized = tmp_path / "graph.bin"
    value = graph.input(dml.TensorDesc("FLOAT32", (1, 1, 2, 2)), name="x")
    serialized.write_bytes(dml.graph.to_bytes(graph.build(graph.activation_relu(value))))
    data = serialized.read_bytes()
    status, _, said = fix(serialized)
    assert (status, said) == (2, f"{serialized} is a serialized graph: --fix writes JSON files only.\n")
    assert serialized.read_bytes() == data


def test_fix_keeps_permissions_and_links(tmp_path: Path) -> None:
    target = written(tmp_path, model(c=convolution()))
    target.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(target.name)
    assert fix(link)[0] == 0
    assert link.is_symlink() and not target.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert findings(target) == []
    assert sorted(os.listdir(tmp_path)) == ["link.json", "model.json"]


def test_of_two_members_of_one_name_the_one_that_counts_is_written(tmp_path: Path) -> None:
    text = json.dumps(model(c=convolution())).replace('"GroupCount": 1', '"GroupCount": 8, "GroupCount": 1')
    target = written(tmp_path, text)
    assert fix(target)[0] == 0
    assert target.read_text() == text.replace('"GroupCount": 1', '"GroupCount": 8')
