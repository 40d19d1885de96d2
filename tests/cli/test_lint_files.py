"""``dmlcy lint`` of what is no model: binary files, graph files, JSON schemas, files that are not there."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from linting import findings, lint

import dmlcy as dml

GRAPH = struct.pack("<IHHHHHHi", 16, 10, 16, 4, 8, 12, 0, 12) + bytes(64)
"""A table of three members, as the root of a serialized graph is."""


def test_a_file_that_begins_as_a_graph_is_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "graph.bin"
    path.write_bytes(GRAPH)
    status, text = lint(path)
    assert status == 2
    assert text.startswith(f"{path}: error: Byte 20: the offset to nodes of DmlGraphDesc is 0, ")
    with pytest.raises(
        dml.ModelError, match=r"It may be a serialized DirectML graph, .* which dmlcy\.graph\.load reads"
    ):
        dml.graph.from_json(GRAPH)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be", "latin-1"])
def test_text_in_another_encoding_is_not_binary(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes('{"ü": 1}'.encode(encoding))
    (found,) = findings(path)
    assert "binary" not in found["message"]


@pytest.mark.parametrize("name", ["nofile.json", "folder"])
def test_a_file_that_cannot_be_read_has_no_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    assert lint(path)[1].startswith(f"{path}: error: The model file cannot be read: ")
    assert lint(path, "--format", "github")[1].startswith(
        f"::error file={path},title=DML-MODEL-file::The model file cannot be read: "
    )
    (found,) = findings(path)
    assert (found["line"], found["column"], found["end_column"], found["path"]) == (None, None, None, "$")
    (result,) = json.loads(lint(path, "--format", "sarif")[1])["runs"][0]["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_a_json_schema_is_not_called_a_desc(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"$schema": "https://json-schema.org/x", "type": "object", "properties": {"a": {}}}))
    assert {found["hint"] for found in findings(path)} == {""}
    path.write_text(json.dumps({"type": "DML_OPERATOR_FOLD", "desc": {}}))
    found = findings(path)
    assert all(re.fullmatch(r"DML-FOLD-\w+-required", one["id"]) and one["path"] == "$.desc" for one in found)
    assert {one["field"] for one in found} >= {"input", "window_sizes", "output"}


def test_a_folder_without_models_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    assert lint(tmp_path)[1].startswith(
        f"{tmp_path}: error: The model file cannot be read: it is a folder without .json and .onnx files. "
    )
