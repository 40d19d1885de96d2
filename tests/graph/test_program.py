"""Compiled graphs as programs: which steps loops compute, memory, threads, processes and signals."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from graphs import chain, network, tensor

import dmlcy as dml
from dmlcy._graph.violations import GraphViolation

X = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2) - 1


def test_loops_compute_each_step_that_has_them() -> None:
    graph, x = network()
    op, other = dml.compile(graph), dml.compile(graph, path="reference")
    assert (op._program.loops, op._program.count, other._program.loops) == (6, 6, 0)
    assert op(x).shape == other(x).shape
    g = dml.Graph()
    parts = g.split(g.activation_relu(g.input(tensor(2, 3))), axis=1, output_sizes=[(2, 1), (2, 2)])
    joined = dml.compile(g.build(g.join([*reversed(parts)] * 5, axis=1)))
    assert joined._program.loops == joined._program.count == 3
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert joined(rows).tolist() == np.tile(rows[:, [1, 2, 0]], 5).tolist()


def strided() -> Any:
    """A node between two values with gaps, whose tensors are turned."""
    g = dml.Graph()
    turned = tensor(2, 3, strides=(1, 4), total_tensor_size_in_bytes=48)
    first = g.add(dml.desc.ActivationRelu(input=tensor(2, 3), output=turned), g.input(tensor(2, 3)))
    return g.build(g.add(dml.desc.ActivationIdentity(input=turned, output=tensor(2, 3)), first), first)


def test_results_need_not_be_the_memory_of_values() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
    op = dml.compile(strided())
    for found in (op(rows), op(rows)):
        assert found[0].tolist() == found[1].tolist() == np.maximum(rows, 0).tolist()
        found[0][:] = found[1][:] = 9


@pytest.mark.parametrize("how", ["offset", "turned", "0-d", "bool", "list"])
def test_arrays_may_lie_anyhow(how: str) -> None:
    graph, given = chain(3), X
    if how == "offset":
        given = np.zeros(X.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(X.shape)
        given[...] = X
        assert not given.flags.aligned
    elif how == "turned":
        given = np.asfortranarray(X)[:, :, ::-1]
    elif how in ("0-d", "bool"):
        g = dml.Graph()
        dtype = "UINT8" if how == "bool" else "FLOAT32"
        graph = g.build(g.element_wise_identity(g.input(tensor(1, dtype=dtype), name="x")))
        given = np.array([True]) if how == "bool" else np.array(3, np.float32)
    op = dml.compile(graph)
    if how == "list":
        with pytest.raises(dml.DmlError, match="graph input 0"):
            op(X.tolist())
        return
    desc = graph.inputs[0].desc
    assert desc is not None
    expected = op(given.astype(np.uint8 if how == "bool" else np.float32).reshape(desc.sizes).copy())
    assert op(given).tolist() == op(x=given).tolist() == expected.tolist()


def test_results_are_the_callers() -> None:
    op = dml.compile(chain(3))
    first, second = op(X), op(X)
    out = np.empty_like(X)
    assert op(X, out=out) is out and op(x=X, out=out) is out
    kept = first.copy()
    second[...] = 9
    assert first.tolist() == kept.tolist() == out.tolist() == op(X).tolist()


def test_a_value_that_was_seen_stays_while_others_run() -> None:
    op = dml.compile(chain(6))
    seen: list[Any] = []
    op.run((X,), {}, seen=lambda port, array: seen.append((array, array.copy())))
    for _ in range(3):
        op(X + 7)
    assert seen[0][0].tolist() == X.tolist() and len(seen) == 7
    assert seen[-1][0].tolist() == seen[-1][1].tolist() == op(X).tolist()


def test_threads_run_one_graph_at_a_time_each_with_its_memory() -> None:
    g = dml.Graph()
    x = y = g.input(tensor(1, 4, 64, 64), name="x")
    w = g.input(tensor(1, 4, 64, 64, flags="OWNED_BY_DML"), name="w")
    for _ in range(5):
        y = g.element_wise_add(g.activation_tanh(y), g.element_wise_multiply(x, w))
    op = dml.compile(g.build(y))
    weights = np.full((1, 4, 64, 64), 0.5, np.float32)
    op.initialize(weights)
    arrays = [np.full((1, 4, 64, 64), number, np.float32) for number in range(8)]
    expected = [op(array).tobytes() for array in arrays]

    def run(number: int) -> bool:
        if number % 8 == 0:
            op.initialize(weights)  # a run that has begun keeps what it began with
        return bool(op(arrays[number % 8]).tobytes() == expected[number % 8])

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(run, range(120)))


def test_an_error_in_the_middle_leaves_the_graph_as_it_was() -> None:
    g = dml.Graph()
    x, indices = g.input(tensor(1, 1, 2, 2)), g.input(tensor(1, 1, 1, 2, dtype="UINT32"))
    found = g.gather(g.activation_relu(x), indices, axis=3, index_dimensions=1, name="pick")
    op = dml.compile(g.build(g.activation_identity(found)))
    right, wrong = np.array([[[[1, 0]]]], np.uint32), np.array([[[[1, 2]]]], np.uint32)
    out = np.full_like(op(X, right), 5)
    for _ in range(3):
        expected = op(X, right).tolist()
        calls: tuple[Callable[[], object], ...] = (
            lambda: op(X, wrong), lambda: op(X, wrong, out=out), lambda: op.run((X, wrong), {}, seen=print),
        )  # fmt: skip
        for call in calls:
            with pytest.raises(dml.InvalidDataError, match='node 1 "pick"') as caught:
                call()
            (violation,) = caught.value.violations
            assert isinstance(violation, GraphViolation) and violation.node == 1
        assert op(X, right).tolist() == expected and (out == 5).all()


def test_an_input_that_is_resized_meanwhile_is_refused() -> None:
    g = dml.Graph()
    desc = tensor(100)
    op = dml.compile(g.build(g.element_wise_add(g.input(desc), g.input(desc))))
    first = np.ones(100, np.float32)

    class Second:
        def __array__(self, *args: Any, **named: Any) -> Any:
            first.resize(1, refcheck=False)
            return np.ones(100, np.float32)

    with pytest.raises(RuntimeError, match="changed during the call"):
        op(first[::1], Second())
    first.resize(100, refcheck=False)

    def stop(port: Any, array: Any) -> None:
        first.resize(1, refcheck=False)

    with pytest.raises(RuntimeError, match="changed during the call"):
        op.run((first[::1], np.ones(100, np.float32)), {}, seen=stop)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_process_runs_the_graph() -> None:
    program = """
        import os, sys
        import numpy as np
        import dmlcy as dml
        g = dml.Graph()
        x = y = g.input(dml.TensorDesc("FLOAT32", (1, 1, 512, 512)))
        for _ in range(4):
            y = g.element_wise_add(g.activation_tanh(y), x)
        op = dml.compile(g.build(y))
        array = np.ones((1, 1, 512, 512), np.float32)
        expected = op(array).tobytes()
        child = os.fork()
        if child == 0:
            os._exit(0 if op(array).tobytes() == expected else 1)
        print(os.waitpid(child, 0)[1], op(array).tobytes() == expected)
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.stdout, done.stderr) == ("0 True\n", "")


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_an_interrupt_ends_a_long_run() -> None:
    """The whole run would take minutes: each step alone is short."""
    program = f"""
        import os, signal, threading
        import numpy as np
        import dmlcy as dml
        signal.signal(signal.SIGINT, signal.default_int_handler)
        g = dml.Graph()
        y = g.input(dml.TensorDesc("FLOAT32", (8, 1024)))
        for _ in range(10_000):
            y = g.activation_tanh(y)
        op, array = dml.compile(g.build(y)), np.ones((8, 1024), np.float32)
        def many():
            for _ in range(100_000):
                op(array)
        try:
            threading.Timer(0.5, os.kill, (os.getpid(), {int(signal.SIGINT)})).start()
            many()
        except KeyboardInterrupt:
            print("interrupted")
        print(op(array).shape)
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.stdout, done.stderr) == ("interrupted\n(8, 1024)\n", "")


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_an_interrupt_ends_a_run_in_which_each_node_has_an_epilogue() -> None:
    """Every other step is left out; the last one, which writes the result, is not reached."""
    g = dml.Graph()
    y = g.input(dml.TensorDesc("FLOAT32", (1, 1, 256, 512)), name="x")
    weights = g.constant(np.full((1, 1, 512, 512), 1 / 512, np.float32))
    for _ in range(300):
        y = g.activation_relu(g.gemm(y, weights))
    op = dml.compile(g.build(y=y))
    x, out = np.ones((1, 1, 256, 512), np.float32), np.zeros((1, 1, 256, 512), np.float32)

    def handler(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            op(x, out=out)
        assert not out.any()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def folding() -> Any:
    """Constants through three nodes, the last of which takes much more memory, and an input."""
    g = dml.Graph()
    ones = g.constant(np.ones((1, 1, 64, 64), np.float32), name="ones")
    twice = g.element_wise_add(ones, ones, name="twice")
    four = g.element_wise_add(twice, twice, name="four")
    wide = g.tile(four, repeats=(1, 8, 2, 2), name="wide")
    x = g.input(tensor(1, 8, 128, 128), name="x")
    return g.build(y=g.element_wise_multiply(x, wide, name="product"), four=four)


def test_what_depends_on_constants_only_is_computed_once() -> None:
    graph = folding()
    op = dml.compile(graph)
    steps = {step.name or step.operator: step.folded for step in op.plan().steps}
    assert steps == {"twice": True, "four": True, "wide": False, "product": False}
    assert op.plan().constants == 3 * 64 * 64 * 4 and "folded" in str(op.plan())
    x = np.ones((1, 8, 128, 128), np.float32)
    for found in (op(x), op(x), pickle.loads(pickle.dumps(op))(x)):
        assert (found[0] == 4).all() and (found[1] == 4).all() and found[1].shape == (1, 1, 64, 64)
        found[1][...] = 9
    names = []
    op.run((x,), {}, seen=lambda port, array: names.append((graph.value_names[port], float(array.max()))))
    assert names == [("x", 1), ("ones", 1), ("twice", 2), ("four", 4), ("wide", 4), ("product", 4)]
    with dml.record() as outer:
        again = dml.compile(graph)  # records nothing
        assert not [*outer.calls]
        again(x)
    assert [call.desc.operator.name for call in outer.calls] == [
        "ELEMENT_WISE_ADD", "ELEMENT_WISE_ADD", "TILE", "ELEMENT_WISE_MULTIPLY"
    ]  # fmt: skip


def test_what_an_operator_refuses_of_constants_each_run_refuses() -> None:
    g = dml.Graph()
    x, indices = g.constant(X), g.constant(np.array([[[[1, 2]]]], np.uint32))
    picked = g.gather(x, indices, axis=3, index_dimensions=1, name="pick")
    op = dml.compile(g.build(g.element_wise_add(picked, g.input(tensor(1, 1, 2, 2)))))
    for _ in range(2):
        with pytest.raises(dml.InvalidDataError, match='node 2 "pick"'):
            op(X)


def test_memory_that_the_machine_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from dmlcy._runtime import memory

    op = dml.compile(chain(3))
    expected = op(X).tolist()
    monkeypatch.setattr(memory, "PHYSICAL", op.plan().peak - 1)
    with pytest.raises(MemoryError, match="the values takes"):
        op(X)
    monkeypatch.setattr(memory, "PHYSICAL", op.plan().peak)
    assert op(X).tolist() == expected


def test_a_program_is_made_once() -> None:
    op = dml.compile(chain(2))
    with pytest.raises(TypeError):
        op._program.__init__([], [], [], True, 0, [])
    with pytest.raises(TypeError):
        op._fixed.__init__(op._program, [])
