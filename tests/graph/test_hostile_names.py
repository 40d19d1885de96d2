"""Names that a terminal would obey, in every place of a graph and of its models: no command prints one as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from graphs import TENSOR, operator

import dmlcy as dml
from dmlcy._cli import main

HOSTILE = {
    "escape": "\x1b[31mred", "line": "a\nerror: b\rc", "bell": "a\x07\tb", "delete": "a\x7f", "C1": "\x9b31m",
    "direction": "a\u202eb", "line separator": "a\u2028b", "invisible": "a\u200bb", "NUL": "a\x00b",
}  # fmt: skip


def graph(name: str) -> dict[str, Any]:
    """A graph whose inputs, outputs, nodes, constants and values all have the name, each followed by a letter.

    Some values get their names from an edge, some from their node.
    """
    relu = operator(f"{name}a", "ACTIVATION_RELU", InputTensor=TENSOR, OutputTensor=TENSOR)
    add = operator(f"{name}b", "ELEMENT_WISE_ADD", ATensor=TENSOR, BTensor=TENSOR, OutputTensor=TENSOR)
    data = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3]}
    constant = {"Type": "CONSTANT", "Desc": {"Name": f"{name}c", "Data": data}}
    return {
        "Inputs": [{"Name": f"{name}d"}],
        "Outputs": [{"Name": f"{name}e"}, {"Name": f"{name}f"}],
        "Nodes": [relu, add, constant],
        "InputEdges": [{"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0, "Name": f"{name}g"}],
        "IntermediateEdges": [
            {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0, "Name": f"{name}h"},
            {"FromNodeIndex": 2, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 1},
        ],
        "OutputEdges": [
            {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0},
            {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "GraphOutputIndex": 1},
        ],
    }


def printed(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> str:
    """The output of a command, without characters that a terminal obeys."""
    capsys.readouterr()
    assert main([str(one) for one in arguments]) == status
    told = capsys.readouterr()
    safe(told.out + told.err)
    return told.out


def safe(text: str) -> None:
    wrong = [line for line in text.split("\n") if not line.isprintable()]
    assert wrong == [], [ascii(line) for line in wrong]


@pytest.mark.parametrize("kind", HOSTILE)
def test_graphs(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = HOSTILE[kind]
    (tmp_path / "g.json").write_text(json.dumps(graph(name)))
    whole = dml.graph.load(tmp_path / "g.json")
    (tmp_path / "g.bin").write_bytes(dml.graph.to_bytes(whole))
    for file in ("g.json", "g.bin"):
        for form in ("text", "json", "dot", "svg"):
            assert printed(capsys, "graph", tmp_path / file, "--format", form)
        for form in ("text", "json", "github", "sarif"):
            printed(capsys, "lint", tmp_path / file, "--format", form)
    assert ascii(name).strip("'\"") in printed(capsys, "graph", tmp_path / "g.json").splitlines()[-2]
    for text in (str(dml.compile(whole).plan()), repr(whole), str(dml.minimum_feature_level(whole))):
        safe(text)


@pytest.mark.parametrize("kind", HOSTILE)
def test_values(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs, dumps, their comparison with what is wrong or missing, and models."""
    (tmp_path / "g.json").write_text(json.dumps(graph(HOSTILE[kind])))
    exposed, device = tmp_path / "exposed", tmp_path / "device"
    printed(capsys, "run", tmp_path / "g.json", "--dump", device)
    printed(capsys, "graph", tmp_path / "g.json", "--expose-edges", exposed)
    files = {one["name"][-1]: one["file"] for one in json.loads((exposed / "manifest.json").read_text())["values"]}
    (device / files["b"]).unlink()
    for letter in "hcg":
        data = (device / files[letter]).read_bytes()
        (device / files[letter]).write_bytes(data[:-1] + bytes([data[-1] ^ 64]))
    for form in ("text", "json"):
        printed(capsys, "compare", exposed, device, "--format", form, status=1)
    for model in (exposed / "model.json", *(exposed / "nodes").iterdir()):
        printed(capsys, "run", model, "--output-path", tmp_path / "out")
        printed(capsys, "lint", model)
    expected, out = tmp_path / "expected", tmp_path / "out"
    printed(capsys, "run", exposed / "model.json", "--expect", expected, "--output-path", out)
    data = (out / files["h"]).read_bytes()
    (out / files["h"]).write_bytes(data[:-1] + bytes([data[-1] ^ 64]))
    for form in ("text", "json"):
        printed(capsys, "compare", expected, out, "--format", form, status=1)
    printed(capsys, "export", tmp_path / "g.json", "--output", tmp_path / "exported")


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_wrong(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Violations of graphs name nodes, values and ends."""
    name = HOSTILE[kind]
    whole = graph(name)
    whole["Nodes"][0]["Desc"]["Operator"]["desc"]["OutputTensor"] = TENSOR | {"Sizes": [4]}
    whole["Outputs"][1]["Name"] = whole["Outputs"][0]["Name"]
    whole["InputEdges"][0]["ToNodeIndex"] = 7
    whole["Nodes"][2]["Desc"][name] = 1
    (tmp_path / "g.json").write_text(json.dumps(whole))
    for form in ("text", "dot", "svg"):
        assert printed(capsys, "graph", tmp_path / "g.json", "--format", form, status=1)
    for form in ("text", "json", "github", "sarif"):
        assert printed(capsys, "lint", tmp_path / "g.json", "--format", form, status=1)
    printed(capsys, "run", tmp_path / "g.json", status=1)
    printed(capsys, "run", tmp_path / "g.json", f"--input={name.replace(chr(0), '')}=x.npy", status=1)
