"""Replays the files that the fuzzers keep. The fuzzers themselves are run by hand: ``python -m tests.fuzz TARGET``."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from depth import deep, draws_of
from each import each

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "operators")]

import calls_target  # noqa: E402
import graph_target  # noqa: E402
import model_target  # noqa: E402
import numpy as np  # noqa: E402
import onnx_target  # noqa: E402
import serialized_target  # noqa: E402
from by_nodes import evaluated  # noqa: E402
from serialized_graphs import refusal  # noqa: E402

import dmlcy as dml  # noqa: E402
from dmlcy._facts.tables import RUNNABLE  # noqa: E402
from dmlcy._frontends.dxdispatch.json import Document, decode  # noqa: E402
from dmlcy._frontends.dxdispatch.problems import at_byte  # noqa: E402
from dmlcy._frontends.graphs.lint import lint  # noqa: E402

TARGETS = {
    "model": model_target, "calls": calls_target, "serialized": serialized_target, "graph": graph_target,
    "onnx": onnx_target,
}  # fmt: skip
CASES = [
    (target, path)
    for name, target in TARGETS.items()
    for path in [*target.SEEDS, *sorted((HERE / "corpus" / name).iterdir())]
]
CORPUS = [path.read_bytes() for path in (HERE / "corpus" / "serialized").iterdir()]
ONNX = [path.read_bytes() for path in (HERE / "corpus" / "onnx").iterdir()]


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=deep)])
def test_replay(every: int) -> None:
    """One file in two by default."""
    each(CASES[::every], lambda case: case[0].one(case[1].read_bytes()), lambda case: str(case[1]))


@draws_of(2, 4)
def test_every_operator_is_called(draws: int) -> None:
    """Two bytes choose an operator; each is called a few times, and often enough as it may be."""
    first: dict[str, bytes] = {}
    for number in range(1 << 16):
        data = number.to_bytes(2, "big")
        first.setdefault(calls_target.operator_of(data).name, data)
        if len(first) == len(RUNNABLE):
            break
    assert first.keys() == RUNNABLE.keys()
    for data in first.values():
        for seed in range(draws):
            calls_target.one(data + random.Random(seed).randbytes(60))


def test_a_wrong_verdict_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target fails where the reader takes what is no JSON, refuses what is, or gives another place."""
    text = b'{"resources": {}, "dispatchables": {},\n "commands": [1]}'
    model_target.one(text)
    with monkeypatch.context() as patch:
        patch.setattr(Document, "position", lambda document, at: (1, at + 1))
        with pytest.raises(AssertionError):
            model_target.one(text)
    with monkeypatch.context() as patch:
        patch.setattr("dmlcy._frontends.dxdispatch.json.MAX_DEPTH", 1)
        with pytest.raises(AssertionError, match="it is JSON"):
            model_target.one(text)


def test_a_wrong_record_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target fails where what is written is not what was read, or where a file is refused without a byte of it."""
    readable = [data for data in CORPUS if refusal(data) is None]
    whole, small, broken = max(readable, key=len), min(readable, key=len), b"\xff" * 64
    for data in (small, broken):
        serialized_target.one(data)
    with monkeypatch.context() as patch:
        patch.setattr(serialized_target, "write", lambda record: whole)
        with pytest.raises(AssertionError):
            serialized_target.one(small)
    with monkeypatch.context() as patch:
        patch.setattr(serialized_target, "refusal", lambda data: ("offset", len(data)))
        with pytest.raises(AssertionError):
            serialized_target.one(broken)


def test_a_wrong_onnx_model_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target fails where a node is lost, and where a place is not in the file."""
    whole = max((data for data in ONNX if onnx_target.refusal(data) is None), key=len)
    onnx_target.one(whole)
    with monkeypatch.context() as patch:
        patch.setattr(onnx_target, "ordered", lambda graph: graph.nodes[1:])
        with pytest.raises(AssertionError):
            onnx_target.one(whole)
    with monkeypatch.context() as patch:
        patch.setattr("dmlcy._frontends.onnx.wire.at_byte", lambda file, byte: at_byte(file, len(whole)))
        with pytest.raises(AssertionError):
            onnx_target.one(whole[:-1])


def test_a_wrong_graph_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target fails where a result is not that of the nodes, and where lint and compile do not say the same."""
    chain, cycle = ((HERE / "corpus" / "graph" / name).read_bytes() for name in ("chain", "cycle"))
    with monkeypatch.context() as patch:
        patch.setattr(graph_target, "evaluated", lambda *given: [one + 1 for one in evaluated(*given)])
        with pytest.raises(AssertionError):
            graph_target.one(chain)
    for whole in (chain, cycle):
        with monkeypatch.context() as patch:
            other = lint(decode("g", cycle if whole == chain else chain), "6_4")
            patch.setattr(graph_target, "lint", lambda *given, other=other: other)
            with pytest.raises(AssertionError):
                graph_target.one(whole)


@pytest.mark.parametrize("what", ["other bits", "written", "taken", "refused"])
def test_a_wrong_call_is_noticed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The target fails where a result is not that of the definition, or a verdict not that of the exact checks."""

    def wrong(call: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any, out: Any = None, **attributes: Any) -> Any:
            try:
                result = call(*arguments, **attributes, **({} if out is None else {"out": out}))
            except dml.DmlError:
                if what == "written" and type(out) is np.ndarray and out.flags.writeable:
                    out.view("u1")[...] ^= 1
                if what == "taken" and out is None:
                    return np.zeros(1)
                raise
            if what == "other bits":
                for one in result if isinstance(result, tuple) else (result,):
                    one.view(f"u{one.itemsize}")[...] ^= 1 << (8 * one.itemsize - 2)
            if what == "refused":
                dml.padding1(None, start_padding=0, end_padding=0)  # type: ignore[call-overload]  # no array
            return result

        return changed

    for operator in RUNNABLE.values():
        monkeypatch.setattr(dml, operator.python, wrong(getattr(dml, operator.python)))
    with pytest.raises((AssertionError, dml.DmlError)):
        for seed in range(1000):
            calls_target.one(random.Random(seed).randbytes(300))
