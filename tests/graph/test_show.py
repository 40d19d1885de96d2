"""Graphs as text, for Graphviz and as pictures; what is wrong is marked."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from graphs import chain, network, valid

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._show.graphs import svg
from dmlcy._show.graphs.parts import boxes
from dmlcy._show.graphs.parts import lines as edges_of

SVG = "{http://www.w3.org/2000/svg}"


def shown(file: Path, form: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = main(["graph", str(file), "--format", form])
    return status, capsys.readouterr().out


def broken(tmp_path: Path) -> Path:
    """A graph of five mistakes."""
    whole = valid()
    whole["Nodes"][1]["Desc"]["Operator"]["desc"]["OutputTensor"]["Sizes"] = [4]
    whole["Nodes"][3]["Desc"]["Operator"]["desc"]["InputTensor"]["DataType"] = "FLOAT16"
    whole["Nodes"][3]["Desc"]["Operator"]["desc"]["OutputTensor"]["DataType"] = "FLOAT16"
    whole["InputEdges"][1]["GraphInputIndex"] = 4
    whole["Inputs"][1]["Name"] = "x"
    whole["OutputEdges"][1]["GraphOutputIndex"] = 0
    (tmp_path / "<wrong> & co.json").write_text(json.dumps(whole))
    return tmp_path / "<wrong> & co.json"


def test_text_has_a_line_for_each_part_and_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = shown(broken(tmp_path), "text", capsys)
    assert status == 1
    assert 'node 0 "relu" (ACTIVATION_RELU): input "x" -> output FLOAT32 3' in said
    for id_ in ("name-twice", "input-missing", "two-edges", "constant-size"):
        assert f"DML-GRAPH-{id_}" in said
    assert "DML-ELEMENT_WISE_ADD-output-sizes" in said


@pytest.mark.parametrize("form", ["text", "dot", "svg"])
@pytest.mark.parametrize("sizes", [None, 3, [], [None], [-1], ["3"], [2**70]])
def test_a_tensor_without_sizes_is_shown(
    sizes: object, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = valid()
    whole["Nodes"][1]["Desc"]["Operator"]["desc"]["OutputTensor"]["Sizes"] = sizes
    (tmp_path / "graph.json").write_text(json.dumps(whole))
    status, said = shown(tmp_path / "graph.json", form, capsys)
    assert status == 1 and "ELEMENT_WISE_ADD" in said


def test_json_is_the_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = dml.graph.save(network()[0], tmp_path)
    status, said = shown(file, "json", capsys)
    assert status == 0 and dml.graph.from_json(said).nodes == network()[0].nodes


def test_dot_marks_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = shown(broken(tmp_path), "dot", capsys)
    assert status == 1 and said.startswith("digraph {") and said.endswith("}\n")
    red = [line for line in said.splitlines() if "color=red" in line]
    assert any("ELEMENT_WISE_ADD" in line for line in red)
    assert any("DML-GRAPH-constant-size" in line and "n2 -> n3" in line for line in red)
    assert all(re.fullmatch(r"  (\w+( -> \w+)?) \[.*\]|digraph \{|\}|  node.*", line) for line in said.splitlines())


def test_a_picture_is_xml_and_marks_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = shown(broken(tmp_path), "svg", capsys)
    root = ElementTree.fromstring(said)
    wrong = [group for group in root.iter(f"{SVG}g") if "wrong" in group.get("class", "")]
    assert status == 1 and any("ELEMENT_WISE_ADD" in (one.findtext(f"{SVG}title") or "") for one in wrong)
    assert len([one for one in root.iter(f"{SVG}path") if one.get("class") == "bad"]) >= 1


def test_every_mistake_has_a_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also an edge that cannot be drawn: the end that it has is marked. A cross tells without colour."""
    _, said = shown(broken(tmp_path), "svg", capsys)
    root = ElementTree.fromstring(said)
    wrong = [group for group in root.iter(f"{SVG}g") if "wrong" in group.get("class", "")]
    marked = " ".join(text.text or "" for group in wrong for text in group.iter(f"{SVG}text"))
    titles = " ".join(title.text or "" for title in root.iter(f"{SVG}title"))
    for id_ in ("name-twice", "input-missing", "constant-size"):
        assert f"DML-GRAPH-{id_}" in marked
    assert "DML-ELEMENT_WISE_ADD-output-sizes" in marked and "DML-GRAPH-two-edges" in titles
    assert all([one.get("class") for one in group.iter(f"{SVG}path")] == ["x"] for group in wrong)


def branches() -> dml.graph.GraphDesc:
    """Ten rows of operators of one input, of which five are read again at the end: 193 boxes."""
    g = dml.Graph()
    x = g.input(dml.TensorDesc("FLOAT32", (1, 1, 2, 2)), name="x")
    ends, first = [], []
    for _ in range(10):
        y = g.activation_relu(x)
        first.append(y)
        for _ in range(18):
            y = g.activation_elu(y)
        ends.append(y)
    return g.build(joined=g.join([*ends, *first[:5]], axis=1))


def test_a_picture_of_200_nodes_has_no_box_over_another_and_no_edge_over_a_box() -> None:
    graph = branches()
    parts, edges = boxes(graph, []), [*edges_of(graph, [])]
    assert len(parts) == 193
    layout = svg.layout_of(parts, edges)
    rows: dict[int, list[tuple[float, float]]] = {}
    for key, row in layout.rows.items():
        half = layout.width(key) / 2
        rows.setdefault(row, []).append((layout.middles[key] - half, layout.middles[key] + half))
    for row_ in rows.values():
        row_.sort()
        assert all(right < left for (_, right), (left, _) in pairwise(row_))
    for line in edges:  # from row to row, past each at a point of its own
        begin = layout.before(line.begin, line.end)
        assert layout.rows[begin] + 1 == layout.rows[line.end]
        assert [layout.rows[one] for one in layout.points(line.begin)] == [
            layout.rows[line.begin] + 1 + step for step in range(len(layout.points(line.begin)))
        ]
    assert len(layout.chains) == 5
    assert all(bottom < top for bottom, top in zip(layout.bottoms, layout.tops[1:], strict=False))


def test_the_longest_edges_of_a_large_graph_take_no_points() -> None:
    """Each of many values is read at the end: points for all rows would be as many as the square of the nodes."""
    g = dml.Graph()
    y = g.input(dml.TensorDesc("FLOAT32", (1, 1, 2, 2)))
    values = []
    for _ in range(400):
        y = g.activation_relu(y)
        values.append(y)
    graph = g.build(g.join(values, axis=1))
    layout = svg.layout_of(boxes(graph, []), [*edges_of(graph, [])])
    assert len(layout.rows) < 402 * 9 and layout.chains
    assert len([*svg.lines(graph, [])]) > 402


def test_texts_are_cut_where_the_box_ends() -> None:
    short, long = svg._fitted("block1/relu", 9, 8), svg._fitted("m" * 50, 9, 8)
    assert short == "block1/relu" and long.endswith("…") and 15 < len(long) < 25
    assert svg._fitted("DML-ELEMENT_WISE_ADD-output-sizes", 9, 8) == "DML-ELEMENT_WISE_ADD-output-sizes"
    assert svg._fitted("<&>", 9, 8) == "&lt;&amp;&gt;"


def test_hostile_names_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = valid()
    hostile = '"]; <script>alert(1)</script>\x1b[31m\u202e\n'
    for owner in (whole["Inputs"][0], whole["Nodes"][0]["Desc"], whole["Nodes"][2]["Desc"]):
        owner["Name"] = hostile + str(len(owner))
    (tmp_path / "g.json").write_text(json.dumps(whole))
    for form in ("text", "dot", "svg"):
        _, said = shown(tmp_path / "g.json", form, capsys)
        assert "\x1b" not in said and "\u202e" not in said
        assert form != "svg" or "<script>" not in said
    ElementTree.fromstring(shown(tmp_path / "g.json", "svg", capsys)[1])


def test_names_are_as_they_are_in_dot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = valid()
    whole["Nodes"][0]["Desc"]["Name"] = 'a\\"漢\u0041\\N'
    whole["Nodes"][1]["Desc"]["Name"] = "x" * 1000
    (tmp_path / "g.json").write_text(json.dumps(whole))
    _, said = shown(tmp_path / "g.json", "dot", capsys)
    assert r'n0 [shape=box label="0 ACTIVATION_RELU\na\\\"漢A\\N"]' in said
    assert f'ADD\\n{"x" * 99}…"]' in said


def test_a_notebook_shows_graphs_and_plans() -> None:
    graph = chain(4)
    assert "ELEMENT_WISE_ADD" in graph._repr_html_() and "workspace" in graph.plan()._repr_html_().lower()


def test_a_model_is_no_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.json").write_text('{"resources": {}, "dispatchables": {}, "commands": []}')
    assert main(["graph", str(tmp_path / "m.json")]) == 1
    assert "takes a graph" in capsys.readouterr().err
