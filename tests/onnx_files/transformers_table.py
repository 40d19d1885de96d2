"""A table of transformers: where nodes go, the level, agreement with ONNX Runtime, time and memory.

Each model is written to a file. Processes of their own load it with dmlcy and with ONNX Runtime, and say how much
memory that took; then both run in turn in this process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from forms import FORMS, LEVELS, form, optimised
from models_table import apart
from transformer_models import USED

import dmlcy as dml
import dmlcy.onnx

SECONDS = 2.0
"""How long each of the two runs."""
MEMORY = """
import sys
import numpy as np
import dmlcy, dmlcy.onnx, onnxruntime as ort
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 1e6
own, path, inputs = sys.argv[1] == "own", sys.argv[2], dict(np.load(sys.argv[3]))
options = ort.SessionOptions()
options.log_severity_level, options.intra_op_num_threads = 4, 1
dmlcy.set_num_threads(1)
before = resident()
if own:
    dmlcy.onnx.load(path).run(inputs)
else:
    ort.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, inputs)
print(resident() - before)
"""


def rows(names: str = "", forms: str = "float", levels: str = "written", threads: int = 1) -> Iterator[str]:
    """A line for each model whose name has these letters, for forms and levels of ONNX Runtime's optimisers.

    ``speed``: the time of ONNX Runtime over that here; ``memory``: what loading and a run take, ours and that of ONNX
    Runtime, in MB; ``apart``: the largest difference from ONNX Runtime without its optimisers, over the largest value.
    """
    counts = f"{'nodes':>6}{'DML':>5}{'view':>5}{'folded':>7}{'CPU':>4}"
    yield f"{'model':32}{'form':10}{'level':9}{counts}  {'needs':6}{'apart':>8}{'ms':>9}{'speed':>6}{'memory':>12}"
    dml.set_num_threads(threads)
    chosen = [one for one in FORMS if one in forms.split(",") or forms == "all"]
    for name, make in USED.items():
        if names.lower() not in name.lower():
            continue
        data, inputs = make()
        for kind in chosen:
            for level in (one for one in LEVELS if one in levels.split(",") or levels == "all"):
                try:
                    yield f"{name:32}{kind:10}{level:9}" + _row(
                        optimised(form(data, kind, inputs), level), inputs, threads
                    )
                except Exception as error:  # what does not run is a line, too
                    yield f"{name:32}{kind:10}{level:9}{str(error).splitlines()[0][:90]}"


def _row(data: bytes, inputs: Mapping[str, Any], threads: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path, given = Path(folder, "model.onnx"), Path(folder, "inputs.npz")
        path.write_bytes(data)
        np.savez(given, **inputs)
        report = dmlcy.onnx.report(path, shapes={name: np.shape(array) for name, array in inputs.items()})
        model, session = dmlcy.onnx.load(path), _session(path, threads)
        found = list(model.run(inputs).values())
        difference = max(map(apart, found, _session(path, threads, plain=True).run(None, inputs)))
        own, other = _times(lambda: model.run(inputs), lambda: session.run(None, inputs))
        memory = [_memory(whose, path, given) for whose in ("own", "other")]
    counts = [report.count("dml"), report.count("view"), report.count("folded"), report.count("cpu")]
    numbers = "".join(f"{one:>{width}}" for one, width in zip(counts, (5, 5, 7, 4), strict=True))
    speed = f"{difference:>8.0e}{own:>9.2f}{other / own:>6.2f}"
    return f"{len(report.nodes):>6}{numbers}  {report.needs or '-':6}{speed}{memory[0]:>6.0f}{memory[1]:>6.0f}"


def _session(path: Path, threads: int, *, plain: bool = False) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, threads
    if plain:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _memory(whose: str, path: Path, inputs: Path) -> float:
    """Megabytes that loading a model and running it once add to a process."""
    command = [sys.executable, "-W", "ignore", "-c", MEMORY, whose, str(path), str(inputs)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _times(*calls: Callable[[], object]) -> list[float]:
    """The least time of each call in milliseconds, of runs in turn."""
    found: list[list[float]] = [[] for _ in calls]
    begin = time.perf_counter()
    while time.perf_counter() - begin < SECONDS * len(calls) or len(found[0]) < 3:
        for call, times in zip(calls, found, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return [1000 * min(times) for times in found]
