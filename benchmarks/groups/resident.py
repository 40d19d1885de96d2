"""The memory of a process that loads a network from a file and runs it once, beside ONNX Runtime."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.groups.networks import net_of
from benchmarks.machine import ROOT

PEAK: Final = """
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
LOAD: Final = {
    "dmlcy": """
import sys
from pathlib import Path
import numpy as np
import dmlcy as dml
from benchmarks.groups.networks import converted
model, *inputs = sys.argv[1:]
dml.compile(converted(model, Path(model).read_bytes()))(*map(np.load, inputs))
""",
    "onnxruntime": """
import sys
import numpy as np
import onnxruntime
model, *inputs = sys.argv[1:]
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
session.run(None, dict(zip((one.name for one in session.get_inputs()), map(np.load, inputs))))
""",
}


def resident(name: str) -> dict[str, int]:
    """The most bytes that were resident in a process of each library, less those of the model's file."""
    net = net_of(name)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.onnx"
        model.write_bytes(net.model().SerializeToString())
        inputs = [Path(folder) / f"{number}.npy" for number in range(len(net.inputs))]
        for path, x in zip(inputs, net.given().values(), strict=True):
            np.save(path, x)
        arguments = [str(path) for path in (model, *inputs)]
        size = model.stat().st_size
        return {
            library: peak_of([sys.executable, "-c", code + PEAK, *arguments]) - size for library, code in LOAD.items()
        }


def peak_of(command: list[str]) -> int:
    """The most bytes that were resident in a process, which prints its kilobytes."""
    printed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return int(printed) * 1024


def report(names: Iterable[str]) -> None:
    """Print a line for each network."""
    for name in names:
        found = resident(name)
        ratio = found["dmlcy"] / found["onnxruntime"]
        sizes = ", ".join(f"{library} {size / 1e6:.0f} MB" for library, size in found.items())
        print(f"{ratio:6.2f}  {name}  {sizes}", flush=True)
