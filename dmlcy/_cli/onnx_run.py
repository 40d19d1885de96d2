"""``dmlcy run MODEL.onnx``: an ONNX model with given or made inputs; values of it are printed or saved."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from dmlcy._frontends.dxdispatch import show
from dmlcy._frontends.dxdispatch.npy import writer
from dmlcy._frontends.dxdispatch.problems import make, printable, refuse, whole
from dmlcy._frontends.graphs.writer import write
from dmlcy._frontends.onnx.fusing import optimized
from dmlcy._frontends.onnx.inputs import arrays_for, named
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.reader import read


def compiled(name: str, options: argparse.Namespace) -> CompiledModel:
    """The model in a file, with the sizes of the options; it is compiled when it runs."""
    sizes = dict(options.shape)
    model, gone = optimized(read(name), getattr(options, "optimize", "none"), sizes)
    return CompiledModel(model, sizes, level=options.feature_level, limit=options.limit, at_once=False, gone=gone)


def run(name: str, options: argparse.Namespace) -> None:
    """Run the model, and print its outputs, or write them to files."""
    model = compiled(name, options)
    arrays = arrays_for(model, named(model, options.input), options.seed)
    if options.profile:
        from dmlcy._cli.options import MEASURED
        from dmlcy._cli.run_graph import shown

        profile = model.profile(arrays, options.iterations or MEASURED)
        sys.stdout.write("All values are constants: there is nothing to measure.\n" if profile is None else
                         shown(profile, options.format))  # fmt: skip
        return
    asked = dict(options.output) or {one.name: "" for one in model.outputs}
    folders = [file for file in asked.values() if file and Path(file).is_dir()]
    if folders:
        problems = [make("DML-MODEL-write", whole(file), {"path": file, "why": "it is a folder"}) for file in folders]
        refuse(problems)
    start = time.perf_counter()
    model.stage(arrays, [*asked])
    compiling = (time.perf_counter() - start) * 1000
    times = []
    for _ in range(options.iterations or 1):
        start = time.perf_counter()
        results = model.run(arrays, [*asked])
        times.append((time.perf_counter() - start) * 1000)
    sys.stdout.write(show.timing("Model", printable(Path(name).stem), times, compiling))
    for one, result in results.items():
        if asked[one]:
            path = Path(asked[one])
            write(path.parent, {(path.name,): writer(np.ascontiguousarray(result).reshape(result.shape))})
            print(f"Output '{printable(one)}' written to '{printable(asked[one])}'")
            continue
        sys.stdout.writelines(show.output(one, result, every=options.all))
