"""Profiles of compiled graphs: what their rows count, as text, as JSON and as a trace."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import network, tensor

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._graph.model import Port
from dmlcy._graph.timing import profiled

IMAGE = np.random.default_rng(1).normal(size=(1, 3, 8, 8)).astype(np.float32)


def network_of_all_kinds() -> dml.graph.GraphDesc:
    """A folded node, two that run, and a JOIN that has nothing to do."""
    g = dml.Graph()
    x = g.input(tensor(1, 3, 8, 8), name="x")
    weights = g.activation_relu(g.constant(np.ones((6, 3, 3, 3), np.float32)), name="folded")
    y = g.convolution(x, weights, start_padding=1, end_padding=1, name="conv")
    parts = [g.activation_relu(y, name="relu"), g.activation_tanh(y, name="tanh")]
    return g.build(y=g.join(parts, axis=1, name="join"))


def test_rows_are_steps_with_their_bytes_and_operations() -> None:
    op = dml.compile(network_of_all_kinds())
    found = op.profile(IMAGE, runs=3)
    assert [step.names for step in found.steps] == [("conv",), ("relu",), ("tanh",)]
    assert [step.operations for step in found.steps] == [2 * 64 * 6 * 27, 64 * 6, 64 * 6]
    of_image, of_filter, of_values = 4 * 3 * 64, 4 * 6 * 27, 4 * 6 * 64
    assert [step.bytes for step in found.steps] == [of_image + of_filter + of_values, 2 * of_values, 2 * of_values]
    assert sum(step.share for step in found.steps) == pytest.approx(1)
    assert all(0 < step.seconds < found.seconds for step in found.steps)
    assert all(one.end == other.start for one, other in pairwise(found.steps))
    assert [(one.name, one.operator, one.why) for one in found.left_out] == [
        ("folded", "ACTIVATION_RELU", "folded"), ("join", "JOIN", "adjacent"),
    ]  # fmt: skip
    assert (found.runs, found.threads) == (3, dml.get_num_threads())
    assert found.steps[0].rate == found.steps[0].operations / found.steps[0].seconds  # type: ignore[operator]


def test_operators_are_sums_of_their_steps() -> None:
    graph, x = network()
    found = dml.compile(graph).profile(x)
    assert sum(one.share for one in found.operators) == pytest.approx(1)
    assert sum(one.steps for one in found.operators) == len(found.steps)
    assert [one.seconds for one in found.operators] == sorted((one.seconds for one in found.operators), reverse=True)
    for one in found.operators:
        steps = [step for step in found.steps if step.operators == (one.operator,)]
        assert one.bytes == sum(step.bytes for step in steps)
        assert one.operations == sum(step.operations or 0 for step in steps)


def test_a_row_may_have_several_nodes() -> None:
    """Values that its nodes read of each other are no part of its bytes; values that others read are."""
    g = dml.Graph()
    x, b = (g.input(tensor(2, 5), name=name) for name in "xb")
    inner = g.activation_relu(x, name="relu")
    outer = g.element_wise_add(inner, b, name="add")
    op = dml.compile(g.build(y=outer))
    alone, both = [op._actions[:1], op._actions[1:]], [op._actions]

    def run(stamps: Any) -> None:
        if stamps is not None:
            stamps[:] = np.arange(len(stamps)) * 1000

    (row,) = profiled(op.graph, both, frozenset(), run, 1).steps
    assert (row.nodes, row.names, row.operator) == ((0, 1), ("relu", "add"), "ACTIVATION_RELU + ELEMENT_WISE_ADD")
    assert (row.bytes, row.operations, row.share) == (3 * 40, 20, 1) and row.seconds == pytest.approx(1e-6)
    assert row.label == '0 "relu" + 1 "add"'
    assert [one.bytes for one in profiled(op.graph, alone, frozenset(), run, 1).steps] == [2 * 40, 3 * 40]
    also = g.build(y=outer, z=inner)
    assert profiled(also, both, frozenset(), run, 1).steps[0].bytes == 4 * 40


def test_the_result_is_the_same_and_each_path_has_stamps() -> None:
    graph, x = network()
    for op in (dml.compile(graph), dml.compile(graph, path="reference")):
        count = op._program.count
        stamps = np.zeros(count + 1, np.int64)
        assert op.run((x,), {}, stamps=stamps).tobytes() == op(x).tobytes()
        assert (np.diff(stamps) >= 0).all() and stamps[0] > 0
        again = np.zeros(count + 1, np.int64)
        with dml.record():
            op.run((x,), {}, stamps=again)
        seen: list[Port] = []
        op.run((x,), {}, seen=lambda port, array, seen=seen: seen.append(port), stamps=stamps)  # type: ignore[misc]
        assert seen and (np.diff(again) >= 0).all() and stamps[0] >= again[-1] > 0


def test_stamps_that_do_not_fit_are_refused() -> None:
    graph, x = network()
    op = dml.compile(graph)
    count = op._program.count + 1
    fixed = np.zeros(count, np.int64)
    fixed.flags.writeable = False
    stamps: list[Any] = [np.zeros(count - 1, np.int64), np.zeros(count), np.zeros(2 * count, np.int64)[::2], fixed]
    for wrong in stamps:
        with pytest.raises(ValueError, match="a stamp for its start"):
            op.run((x,), {}, stamps=wrong)


def test_errors() -> None:
    graph, x = network()
    op = dml.compile(graph)
    with pytest.raises(ValueError, match="1 run or more, not 0"):
        op.profile(x, runs=0)
    for huge in (2**40, 2**70):
        with pytest.raises(MemoryError, match="the times"):
            op.profile(x, runs=huge)
    with pytest.raises(TypeError):
        op.profile(x, runs=1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing"):
        op.profile()
    with pytest.raises(dml.DmlError):
        op.profile(x[:, :, 1:])


def checked(trace: Any) -> list[dict[str, Any]]:
    """The complete events of a trace; what is not as the format's document says fails.

    "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU: the object form; of
    a complete event (X) ``ts`` and ``dur`` are microseconds, a metadata event (M) names a process or a thread.
    """
    assert {*trace} <= {"traceEvents", "displayTimeUnit", "otherData", "systemTraceEvents", "stackFrames", "samples"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    for event in trace["traceEvents"]:
        assert type(event["name"]) is str and type(event["pid"]) is type(event["tid"]) is int
        assert event["ph"] in ("X", "M") and type(event["args"]) is dict
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name") and type(event["args"]["name"]) is str
        else:
            assert type(event["cat"]) is str
            assert all(type(event[name]) in (int, float) and event[name] >= 0 for name in ("ts", "dur"))
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def test_a_trace_has_an_event_for_each_step() -> None:
    graph, x = network()
    found = dml.compile(graph).profile(x)
    events = checked(json.loads(json.dumps(found.to_trace())))
    assert [event["args"]["nodes"] for event in events] == [[*step.nodes] for step in found.steps]
    for event, later in pairwise(events):
        assert event["ts"] + event["dur"] <= later["ts"] + 1e-6
    assert events[0]["ts"] == 0


def file_of(tmp_path: Path) -> str:
    return str(dml.graph.save(network_of_all_kinds(), tmp_path))


def test_the_command_prints_each_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(tmp_path)
    assert main(["run", file, "--profile", "--iterations", "2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("3 steps, together ") and "(medians of 2 runs" in said
    assert 'CONVOLUTION      2 "conv"' in said and "folded, and so in no step: 1 ACTIVATION_RELU" in said
    assert main(["run", file, "--profile", "--json", "--input", "x=x.npy"]) == 2
    np.save(tmp_path / "x.npy", IMAGE)
    capsys.readouterr()
    assert main(["run", file, "--profile", "--json", "--input", f"x={tmp_path / 'x.npy'}"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"] == 10 and [step["nodes"] for step in found["steps"]] == [[2], [3], [4]]
    assert {"runs", "threads", "seconds", "steps", "operators", "left_out"} <= {*found}
    assert main(["run", file, "--profile", "--format", "trace"]) == 0
    assert len(checked(json.loads(capsys.readouterr().out))) == 3


def test_what_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, model = file_of(tmp_path), str(tmp_path / "model.json")
    assert main(["example", "activation_relu"]) == 0
    Path(model).write_text(capsys.readouterr().out)
    for words, said in (
        ([model, "--profile"], "--profile is for graphs"),
        ([file, file, "--profile"], "--profile takes one graph"),
        ([file, "--profile", "--dump", str(tmp_path / "values")], "--profile takes one graph"),
        ([file, "--format", "json"], "--format json needs --profile"),
    ):
        assert main(["run", *words]) == 2
        assert said in capsys.readouterr().err
