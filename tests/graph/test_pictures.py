"""Pictures of graphs: what edges and boxes say, shares of a profile as colours, the memory of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from each import each_of
from graphs import chain, network, tensor

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._graph.places import places_of
from dmlcy._graph.residents import residents
from dmlcy._show.graphs import memory, svg
from dmlcy._show.graphs.parts import boxes
from dmlcy._show.graphs.parts import lines as edges_of

SVG = "{http://www.w3.org/2000/svg}"


def turned() -> dml.graph.GraphDesc:
    """A product whose second input has other sizes, and a sum that reads its result turned, with other strides."""
    g = dml.Graph()
    x, w = g.input(tensor(1, 1, 2, 3), name="x"), g.input(tensor(12), name="w")
    product = g.gemm(
        x, g.reinterpret(w, tensor(1, 1, 3, 4)), fused_activation=dml.desc.ActivationRelu(), name="product"
    )
    across = g.transpose(product, (0, 1, 3, 2))
    bits = g.reinterpret(g.element_wise_identity(across), tensor(1, 1, 4, 2, dtype="UINT32"))
    values, places = g.top_k(bits, axis=3, k=1)
    return g.build(values=values, places=places)


def texts(root: ElementTree.Element, name: str) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}{name}")]


def test_an_edge_says_its_input_its_tensor_and_what_it_was() -> None:
    graph = turned()
    labels = [svg._said(line) for line in edges_of(graph, [])]
    assert labels == [
        "a FLOAT32 1x1x2x3",
        "b FLOAT32 1x1x3x4 (was 12)",
        "FLOAT32 1x1x4x2 (was 1x1x2x4)",
        "UINT32 1x1x4x2 (was FLOAT32 1x1x4x2)",
        "UINT32 1x1x4x1 from output_value",
        "UINT32 1x1x4x1 from output_index",
    ]
    square = dml.Graph()
    value = square.element_wise_identity(square.input(tensor(3, 3), name="x"))
    whole = square.build(square.element_wise_identity(square.transpose(value, (1, 0))))
    assert "FLOAT32 3x3 (in other strides)" in [svg._said(line) for line in edges_of(whole, [])]
    root = ElementTree.fromstring("\n".join(svg.lines(graph, [])))
    assert [one.get("class") for one in root.iter(f"{SVG}path")].count("turn") == 3
    assert "b FLOAT32 1x1x3x4 (was 12)" in texts(root, "text")
    ends = [float(one.get("x", 0)) + svg.length_of(one.text or "", 9) for one in root.iter(f"{SVG}text")]
    assert max(ends) < float(root.get("width", 0))


def test_a_box_says_what_is_fused() -> None:
    assert next(box.fused for box in boxes(turned(), []) if box.kind == "node") == "RELU"
    root = ElementTree.fromstring("\n".join(svg.lines(turned(), [])))
    assert "with RELU" in texts(root, "text") and any("with RELU" in title for title in texts(root, "title"))
    g = dml.Graph()
    activations = [dml.desc.ActivationSigmoid(), dml.desc.ActivationTanh(), dml.desc.ActivationTanh()]
    inputs = [g.input(tensor(*sizes)) for sizes in ((1, 1, 2, 3), (1, 1, 20, 3), (1, 1, 20, 5))]
    graph = g.build(g.lstm(*inputs, activation_descs=activations, output_single=True))
    assert "SIGMOID, TANH, TANH" in [box.fused for box in boxes(graph, [])]


def test_pictures_are_light_and_dark() -> None:
    for lines in (svg.lines(turned(), []), memory.lines(turned())):
        root = ElementTree.fromstring("\n".join(lines))
        (style,) = texts(root, "style")
        assert style.count("{") == style.count("}") and "prefers-color-scheme:dark" in style
        assert re.findall(r"rect\.bg\{fill:(#\w+)", style) == ["#fff", "#17191d"]


def profile_of(graph: dml.graph.GraphDesc, tmp_path: Path, change: Callable[[Any], object] = lambda made: None) -> str:
    """A file with a profile of the graph, in which each step takes twice as long as the one before."""
    op = dml.compile(graph)
    inputs = [np.ones(end.desc.sizes, np.float32) for end in graph.inputs if end.desc is not None]
    made = op.profile(*inputs, runs=1).to_dict()
    whole = 2 ** len(made["steps"]) - 1
    for number, step in enumerate(made["steps"]):
        step |= {"share": 2**number / whole, "seconds": 2**number * 1e-3, "operations": 10**6 * 2**number}
    change(made)
    (tmp_path / "profile.json").write_text(json.dumps(made))
    return str(tmp_path / "profile.json")


def drawn(graph: dml.graph.GraphDesc, tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The status of the command, its picture, and its errors."""
    file = str(dml.graph.save(graph, tmp_path))
    status = main(["graph", file, "--format", *words])
    done = capsys.readouterr()
    return status, ElementTree.fromstring(done.out) if done.out else None, done.err


def test_a_profile_colours_the_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, _ = network()
    status, root, _ = drawn(graph, tmp_path, capsys, "svg", "--profile", profile_of(graph, tmp_path))
    assert status == 0
    groups = [group.get("class", "") for group in root.iter(f"{SVG}g")]
    warmth = [int(found[1]) for found in (re.search(r" h(\d)$", one) for one in groups) if found]
    assert warmth == sorted(warmth) and warmth[-1] == 5 and len(warmth) == 6
    assert [one.get("class") for one in root.findall(f"{SVG}rect")][-6:] == [f"h{number}" for number in range(6)]
    said = texts(root, "text")
    assert "50.8 %, 32 ms, 1 GFLOP/s" in said and "to 50.8 %" in said
    plain = ElementTree.fromstring("\n".join(svg.lines(graph, [])))
    assert not [one for one in plain.iter(f"{SVG}g") if " h" in one.get("class", "")]


def test_nodes_of_one_step_and_of_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = chain(4)

    def joined(made: Any) -> None:
        first, second, third, fourth = made["steps"]
        first |= {"nodes": [0, 1], "operators": first["operators"] + second["operators"], "operations": None}
        made["steps"] = [first, third]
        made["left_out"] = [{"node": 3, "operator": fourth["operators"][0], "why": "adjacent"}]

    status, root, _ = drawn(graph, tmp_path, capsys, "svg", "--profile", profile_of(graph, tmp_path, joined))
    said = texts(root, "text")
    assert status == 0 and "6.7 %, 1 ms" in said and {"in a step with 1", "in a step with 0", "adjacent"} <= {*said}
    assert [one.get("class") for one in root.iter(f"{SVG}g")].count("node idle") == 1


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(made: Any) -> None:
        for key in path[:-1]:
            made = made[key]
        made[path[-1]] = value

    return change


WRONG = [
    ("missing", lambda made: made.pop("version")),
    ("version", put("version", value=2)),
    ("missing", lambda made: made.pop("steps")),
    ("type", put("steps", value={})),
    ("type", put("steps", 0, value=3)),
    ("missing", lambda made: made["steps"][1].pop("share")),
    ("type", put("steps", 0, "share", value="much")),
    ("range", put("steps", 0, "seconds", value=-1)),
    ("range", put("steps", 0, "nodes", value=[4])),
    ("integer", put("steps", 0, "nodes", value=[0.5])),
    ("type", put("steps", 0, "operators", value=[7])),
    ("choice", put("steps", 0, "operators", value=["JOIN"])),
    ("type", put("left_out", value=["folded"])),
    ("missing", put("left_out", value=[{"node": 1}])),
]


def test_a_wrong_profile_is_refused_at_its_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = chain(4)
    for slug, change in WRONG:
        status, root, said = drawn(graph, tmp_path, capsys, "svg", "--profile", profile_of(graph, tmp_path, change))
        assert status == 1 and root is None and f"[DML-MODEL-{slug}]" in said, (slug, said)
        assert re.search(r"profile\.json:\d+:\d+: \$", said), said
        assert '\\"' not in said


@each_of("text, slug, status", [("[]", "type", 1), ('{"steps"', "json", 2), ("", "json", 2)])
def test_a_file_that_is_no_profile(
    text: str, slug: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.json").write_text(text)
    found, root, said = drawn(chain(2), tmp_path, capsys, "svg", "--profile", str(tmp_path / "other.json"))
    assert (found, root) == (status, None) and f"DML-MODEL-{slug}" in said


def test_what_a_profile_is_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, said = drawn(chain(2), tmp_path, capsys, "text", "--profile", "profile.json")
    assert status == 2 and "--profile is for --format svg" in said
    status, _, said = drawn(chain(2), tmp_path, capsys, "svg", "--profile", str(tmp_path / "absent.json"))
    assert status == 2 and "DML-MODEL-file" in said


def pieces() -> dml.graph.GraphDesc:
    """Values of several sizes that live at different times, one over another, and parts of one."""
    g = dml.Graph()
    x = g.input(tensor(1, 8, 16, 16), name="x")
    a = g.activation_tanh(x, name="a")
    b = g.activation_relu(a, name="b")
    c = g.max_pooling(b, window_size=2, strides=2, name="c")
    d = g.join([g.activation_tanh(c, name="d1"), g.activation_sigmoid(c, name="d2")], axis=1, name="d")
    e = g.activation_relu(d, name="e")
    return g.build(y=g.max_pooling(e, window_size=2, strides=2, name="y"))


def test_values_that_are_there_at_a_time_meet_only_as_planned() -> None:
    """A value is written over another in the last step that reads it, or is a part of it."""
    for graph in (pieces(), network()[0], turned()):
        found, arena = residents(graph), places_of(graph).arena
        assert found and all(one.offset >= 0 and one.offset + one.bytes <= arena for one in found)
        for one in found:
            for other in found:
                apart = one.offset + one.bytes <= other.offset or other.offset + other.bytes <= one.offset
                if one.first < other.first <= one.last and not apart:
                    assert other.first == one.last
    steps = {one.name: (one.first, one.last, one.bytes) for one in residents(pieces())}
    assert steps["a"] == (0, 1, 8192) and steps["c"] == (2, 4, 2048) and steps["d"] == (5, 6, 4096)


def test_the_memory_of_a_run_is_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = pieces()
    status, root, _ = drawn(graph, tmp_path, capsys, "plan-svg")
    assert status == 0
    plan = graph.plan()
    assert any(f"arena {plan.arena:,} bytes" in one and f"{plan.peak:,}" in one for one in texts(root, "text"))
    rects = [group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g")]
    titles = [group.findtext(f"{SVG}title") or "" for group in root.iter(f"{SVG}g")]
    assert len(rects) == len(residents(graph))
    place = [title.startswith('"c" of node 2 MAX_POOLING: 2,048 bytes at ') for title in titles].index(True)
    one = rects[place]
    assert one is not None and titles[place].endswith("steps 2 to 4")
    height = memory.HIGH * 2048 / plan.arena
    assert float(one.get("height", 0)) == pytest.approx(height, abs=0.01)
    assert float(one.get("width", 0)) == pytest.approx(3 * memory.STEP[1], abs=0.1)
    highest = min(float(y) for y in re.findall(r"[V ](\d+\.\d)", root.findall(f"{SVG}path")[-1].get("d", "")))
    assert highest >= memory.TOP


def test_a_graph_without_an_arena_has_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, root, _ = drawn(chain(1), tmp_path, capsys, "plan-svg")
    assert status == 0 and not [*root.iter(f"{SVG}g")] and "arena 0 bytes" in " ".join(texts(root, "text"))


def test_a_wrong_graph_has_no_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = dml.graph.to_json(chain(2))
    whole["Nodes"][0]["Desc"]["Operator"]["desc"]["OutputTensor"]["Sizes"] = [5]
    (tmp_path / "wrong.json").write_text(json.dumps(whole))
    assert main(["graph", str(tmp_path / "wrong.json"), "--format", "plan-svg"]) == 1
    done = capsys.readouterr()
    assert not done.out and "DML-ACTIVATION_RELU-output-sizes" in done.err
