"""Each optimization of a compiled graph can be left out, is counted, and changes no bit."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from graphs import tensor

import dmlcy as dml
from dmlcy._cli import main


def whole() -> Any:
    """A graph with something for each optimization."""
    g = dml.Graph()
    x = g.input(tensor(1, 8, 4, 4), name="x")
    weights = g.activation_tanh(g.constant(np.linspace(-1, 1, 8 * 8 * 9, dtype=np.float32).reshape(8, 8, 3, 3)))
    y = g.convolution(x, weights, start_padding=1, end_padding=1)
    y = g.activation_relu(g.element_wise_add(y, x))
    y = g.join([g.activation_tanh(y), g.activation_elu(y)], axis=1)
    y = g.max_pooling(y, window_size=2)
    return g.build(g.element_wise_sqrt(g.element_wise_abs(g.element_wise_negate(y))))


def given() -> Any:
    return np.random.default_rng(0).normal(size=(1, 8, 4, 4)).astype(np.float32)


@pytest.mark.parametrize("name", get_args(dml.graph.Optimization))
def test_one_is_left_out(name: Any) -> None:
    graph = whole()
    every, some = dml.compile(graph), dml.compile(graph, without=[name])
    assert some.optimizations.counts[name] == 0
    assert every(given()).tobytes() == some(given()).tobytes()
    again = pickle.loads(pickle.dumps(some))
    assert again.optimizations == some.optimizations and again(given()).tobytes() == some(given()).tobytes()
    assert str(some.plan()) == str(again.plan())


def test_what_is_counted() -> None:
    op = dml.compile(whole())
    counts = op.optimizations.counts
    assert counts["folded"] == 1 and counts["adjacent"] == 1 and counts["in_place"] > 1
    assert "folded 1" in str(op.optimizations)
    none: Any = get_args(dml.graph.Optimization)
    assert str(dml.compile(whole(), without=none).optimizations) == "none"
    assert "adjacent" in str(op.plan()) and "adjacent" not in str(dml.compile(whole(), without=none).plan())


def test_names_that_no_optimization_has() -> None:
    wrong: Any = ("chain",)
    with pytest.raises(ValueError, match='no optimization "chain" to leave out: it has "adjacent", "chains"'):
        dml.compile(whole(), without=wrong)
    for value in ("chains", 3):
        given: Any = value
        with pytest.raises(TypeError, match="takes a tuple of names as without"):
            dml.compile(whole(), without=given)
    desc: Any = dml.desc.ActivationRelu(input=tensor(1))
    left_out: Any = ("chains",)
    with pytest.raises(ValueError, match="for graphs"):
        dml.compile(desc, without=left_out)


def test_the_commands_print_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dml.graph.save(whole(), tmp_path)
    said = f"ptimizations: {dml.compile(whole()).optimizations}\n"
    for command in ("graph", "run"):
        assert main([command, str(path)]) == 0
        assert said in capsys.readouterr().out
