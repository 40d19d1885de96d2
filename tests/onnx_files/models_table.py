"""A table of models: where their nodes go, the level that they need, agreement with ONNX Runtime, and speed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from shipped_models import SIZES, drawn, shipped

import dmlcy as dml
import dmlcy.onnx

ROUNDS = 7


def rows() -> Iterator[str]:
    """A line for each model that a package ships, by one thread; ``speed``: the time of ONNX Runtime over that here."""
    counts = f"{'nodes':>7}{'DML':>6}{'view':>6}{'folded':>8}{'CPU':>5}"
    yield f"{'model':36}{counts}  {'level':6}{'apart':>9}{'ms':>9}{'speed':>7}"
    dml.set_num_threads(1)
    for path in shipped():
        yield _row(path)


def _row(path: Path) -> str:
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    inputs = {one.name: drawn(one, SIZES.get(path.name, {}), random) for one in session.get_inputs()}
    report = dmlcy.onnx.report(path, shapes={name: array.shape for name, array in inputs.items()})
    model, expected = dmlcy.onnx.load(path), session.run(None, inputs)
    difference = max(map(apart, model.run(inputs).values(), expected))
    own, other = _best(lambda: model.run(inputs)), _best(lambda: session.run(None, inputs))
    counts = [report.count("dml"), report.count("view"), report.count("folded"), report.count("cpu")]
    numbers = "".join(f"{one:>{width}}" for one, width in zip(counts, (6, 6, 8, 5), strict=True))
    level = report.needs or "-"
    return f"{path.name:36}{len(report.nodes):>7}{numbers}  {level:6}{difference:>9.1e}{own:>9.2f}{other / own:>7.2f}"


def apart(found: Any, expected: Any) -> float:
    """The largest difference, over the largest result."""
    largest = float(np.abs(expected).max(initial=0)) or 1.0
    return float(np.abs(found.astype(np.float64) - expected).max(initial=0)) / largest


def _best(call: Callable[[], object]) -> float:
    """The least time of a call in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)
