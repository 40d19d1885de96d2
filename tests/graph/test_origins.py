"""The node of a foreign file for which a node was made: everything that speaks of the node names it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from foreign_model import FILE, WRONG, built
from graphs import network, tensor

import dmlcy as dml
from dmlcy._cli import main
from dmlcy.graph import Origin

ORIGIN = Origin(FILE, "/conv1/Conv", "Conv")
SAID = 'from Conv "/conv1/Conv" in "model.onnx"'


def graph() -> dml.graph.GraphDesc:
    """Two nodes and a constant that are made for one foreign node, and one that is made for none."""
    g = dml.Graph()
    x = g.input(tensor(1, 1, 4, 4), name="x")
    with g.origin(ORIGIN.file, ORIGIN.name, ORIGIN.operator):
        weights = g.constant(np.ones((1, 1, 3, 3), np.float32), name="weights")
        y = g.activation_relu(g.convolution(x, weights, name="conv"), name="relu")
    return g.build(y=g.activation_elu(y, name="elu"))


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    capsys.readouterr()
    status = main([str(one) for one in arguments])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_nodes_have_the_origin_of_the_context_in_which_they_are_made() -> None:
    assert [node.origin for node in graph().nodes] == [ORIGIN, ORIGIN, ORIGIN, None]
    g = dml.Graph()
    x = g.input(tensor(3))
    with g.origin(name="outer"):
        with pytest.raises(dml.DmlError), g.origin(name="inner"):
            g.average_pooling(x, window_size=1)
        y = g.activation_relu(x)
    assert [node.origin for node in g.build(g.activation_relu(y)).nodes] == [Origin(name="outer"), None]
    with pytest.raises(TypeError, match="takes a str"), g.origin(name=3):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        (ORIGIN, 'Conv "/conv1/Conv" in "model.onnx"'),
        (Origin(operator="Conv"), "Conv"),
        (Origin(name="a\x1b[31m"), '"a\\x1b[31m"'),
        (Origin("f.onnx"), 'in "f.onnx"'),
    ],
)
def test_an_origin_in_words(origin: Origin, said: str) -> None:
    assert str(origin) == said


def test_files_keep_origins(tmp_path: Path) -> None:
    whole = graph()
    assert dml.graph.load(dml.graph.save(whole, tmp_path / "saved")).nodes == whole.nodes
    written = dml.graph.to_json(whole)
    assert written["Nodes"][1]["Origin"] == {"File": FILE, "Name": "/conv1/Conv", "Operator": "Conv"}
    assert "Origin" not in written["Nodes"][3]
    with pytest.raises(dml.ModelError, match="DML-MODEL-type"):
        dml.graph.from_json({**written, "Nodes": [{**written["Nodes"][1], "Origin": "conv"}]})
    half = dml.graph.GraphDesc(
        (dml.graph.Node(dml.desc.ActivationRelu(input=tensor(3)), "", Origin("\ud800")),), (), (), ()
    )
    with pytest.raises(dml.ModelError, match="DML-GRAPH-file-value"):
        dml.graph.to_json(half)


def test_the_plan_names_origins() -> None:
    plan = graph().plan()
    assert [step.origin for step in plan.steps] == [ORIGIN, ORIGIN, None]
    first, second = str(plan).splitlines()[:2]
    assert first.endswith("from") and second.endswith('Conv "/conv1/Conv" in "model.onnx"')
    for shown in (plan._repr_html_(), graph()._repr_html_()):
        assert ">From<" in shown and "Conv &quot;/conv1/Conv&quot;" in shown
    assert ">From<" not in network()[0].plan()._repr_html_() + network()[0]._repr_html_()


def test_lint_names_origins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dml.graph.save(built(1000), tmp_path / "saved")
    status, said = command(capsys, "lint", path)
    assert status == 1 and "3 errors, no warnings" in said
    for number, (method, _, id_) in WRONG.items():
        (line,) = [line for line in said.splitlines() if id_ in line]
        assert f'from {method.title()} "/layer/{number}" in "model.onnx"' in line
    _, text = command(capsys, "lint", path, "--format", "json")
    origins = [one["origin"]["name"] for one in json.loads(text)["files"][0]["findings"]]
    assert origins == [f"/layer/{number}" for number in WRONG]


def test_what_shows_a_graph_names_origins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dml.graph.save(graph(), tmp_path / "saved")
    _, text = command(capsys, "graph", path)
    assert f'node 1 "conv" (CONVOLUTION, {SAID})' in text and f'constant 0 "weights" ({SAID})' in text
    _, dot = command(capsys, "graph", path, "--format", "dot")
    assert dot.count(SAID.replace('"', '\\"')) == 3
    _, svg = command(capsys, "graph", path, "--format", "svg")
    titles = [one.text or "" for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]
    assert sum(SAID in title for title in titles) == 3
    (tmp_path / "drawn.svg").write_text(svg)
    assert "<text" in svg and "from Conv" in svg


def test_dump_and_compare_name_origins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dml.graph.save(graph(), tmp_path / "saved")
    for folder in ("ours", "theirs"):
        assert command(capsys, "run", path, "--dump", tmp_path / folder)[0] == 0
    manifest = json.loads((tmp_path / "ours" / "manifest.json").read_text())
    origins = [one["origin"]["name"] for one in manifest["values"] if "origin" in one]
    assert origins == ["/conv1/Conv"] * 3
    np.save(tmp_path / "theirs" / "conv.npy", np.full((1, 1, 2, 2), 99, np.float32))
    status, text = command(capsys, "compare", tmp_path / "ours", tmp_path / "theirs")
    assert status == 1 and f'the first wrong node is node 1 "conv" (CONVOLUTION, {SAID})' in text
    _, report = command(capsys, "compare", "--json", tmp_path / "ours", tmp_path / "theirs")
    assert [one.get("origin", {}).get("operator") for one in json.loads(report)["outputs"]] == ["Conv", "Conv", None]


def test_errors_of_a_run_name_origins() -> None:
    g = dml.Graph()
    x, roi = g.input(tensor(1, 1, 4, 4), name="x"), g.input(tensor(1, 1, 1, 5), name="roi")
    with g.origin(FILE, "roi", "RoiAlign"):
        y = g.roi_pooling(x, roi, spatial_scale=1, pooled_size=(1, 1))
    op = dml.compile(g.build(y))
    with pytest.raises(dml.InvalidDataError) as caught:
        op(np.ones((1, 1, 4, 4), np.float32), np.full((1, 1, 1, 5), 7, np.float32))
    assert 'from RoiAlign "roi" in "model.onnx"' in str(caught.value)
