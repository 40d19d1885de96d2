"""``dmlcy run MODEL --input NAME=FOLDER``: a graph or an ONNX model over the files of a folder, one after the other.

The model is compiled once for files of the same sizes, and no more than the arrays of one file are in memory.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from dmlcy._compile import compile as compile_desc
from dmlcy._dask.models import Model, OfGraph, OfModel
from dmlcy._errors import DmlError
from dmlcy._frontends.dxdispatch.given import error_of
from dmlcy._frontends.dxdispatch.given import of_file as of_graph
from dmlcy._frontends.dxdispatch.npy import writer
from dmlcy._frontends.dxdispatch.problems import make, printable, refuse, whole
from dmlcy._frontends.dxdispatch.show import median_of
from dmlcy._frontends.graphs import run as graphs
from dmlcy._frontends.graphs.found import Read
from dmlcy._frontends.graphs.writer import write
from dmlcy._frontends.onnx.inputs import named
from dmlcy._frontends.onnx.inputs import of_file as of_model
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._graph.model import Port
from dmlcy._graph.wiring import wiring_of
from dmlcy._judge.models.values import read_values
from dmlcy._runtime.four_bits import values_of
from dmlcy._runtime.tensor import to_array
from dmlcy._show.terminal import Progress
from dmlcy._words.values import listing, quote

SUFFIXES: Final = (".npy", ".npz")


class Runs(NamedTuple):
    """A model that runs for each file: its name, its file, the arrays of all runs, a reader of other arrays."""

    model: Model
    name: str
    file: str
    values: tuple[str, ...]
    given: Mapping[str, object]
    read: Callable[[str, str], object]


def folders_of(given: Iterable[tuple[str, str]]) -> dict[str, Path]:
    """The folders among the files of inputs."""
    return {name: Path(file) for name, file in given if Path(file).is_dir()}


def of_onnx(model: CompiledModel, options: argparse.Namespace) -> Runs:
    """An ONNX model; the inputs with a file of their own are the same in all runs."""
    files, folders = named(model, options.input), folders_of(options.input)
    inputs = {one.name: one for one in model.inputs}
    given = {name: of_model(file, inputs[name]) for name, file in files.items() if name not in folders}
    return Runs(
        OfModel(model), Path(model.file).stem, model.file, model.names, given,
        lambda name, file: of_model(file, inputs[name]),
    )  # fmt: skip


def of_graph_file(found: Read, files: Mapping[str, str], options: argparse.Namespace, name: str) -> Runs:
    """A graph; the inputs without a folder are the same in all runs. ``files``: by the names of inputs."""
    folders = folders_of(files.items())
    own = {one: file for one, file in files.items() if one not in folders}
    graph = graphs.valid(found, options.feature_level)
    operator = compile_desc(graph, options.feature_level)
    given = graphs.inputs(graph, graphs.Options(inputs=own, seed=options.seed))
    operator.initialize(**{one: given[one] for one in operator.owned})
    fixed = {one: given[one] for one in operator.called if one not in folders}
    model, wiring = OfGraph(operator), wiring_of(graph)

    def read(one: str, file: str) -> object:
        desc = wiring.desc_of(Port(None, model.inputs[one]))
        assert desc is not None
        return of_graph(file, desc)

    return Runs(model, "stdin" if name == "-" else Path(name).stem, name, model.outputs, fixed, read)


def run_folder(runs: Runs, options: argparse.Namespace) -> int:
    """Run each file, and write the outputs; the exit status."""
    wrong = _unfit(options)
    if wrong:
        print(f"dmlcy run: {wrong}", file=sys.stderr)
        return 2
    asked = _outputs(runs, options)
    folders = folders_of(options.input)
    stems = sorted({path.stem for folder in folders.values() for path in folder.iterdir() if _is_array(path)})
    times, done, progress = list[float](), 0, Progress()
    for number, stem in enumerate(stems):
        progress.reached(runs.name, number, len(stems))
        try:
            times.append(_run(runs, stem, folders, asked))
            done += 1
        except DmlError as error:
            progress.clear()
            print(f"{printable(stem)}: {error}", file=sys.stderr)
            if options.fail_fast or error.id == "DML-MODEL-write":
                break
    progress.clear()
    median = f", {median_of(times)} (CPU)" if times else ""
    print(f"Model '{printable(runs.name)}': {done} of {len(stems)} files{median}")
    for one, folder in asked.items() if done else ():
        print(f"Output '{printable(one)}' written to '{printable(str(folder))}'")
    return 0 if done == len(stems) else 1


def _unfit(options: argparse.Namespace) -> str:
    """Says which option does not go with a folder."""
    unfit = [f"--{name}" for name in ("all", "dump", "expect", "iterations", "profile") if getattr(options, name)]
    if len(options.models) > 1:
        return "a folder as an input takes one model."
    if unfit:
        return f"a folder as an input does not go with {listing(unfit)}."
    if not options.output:
        (folder, *_) = folders_of(options.input).values()
        return (
            f"'{printable(str(folder))}' is a folder: it needs --output NAME=FOLDER, where the results of its files go."
        )
    for folder in folders_of(options.input).values():
        if not any(map(_is_array, folder.iterdir())):
            return f"there is no .npy or .npz file in '{printable(str(folder))}'."
    return ""


def _is_array(path: Path) -> bool:
    return path.suffix in SUFFIXES


def _outputs(runs: Runs, options: argparse.Namespace) -> dict[str, Path]:
    """The folder of each output; ModelError for a name that the model has not, or without a folder."""
    found = dict[str, Path]()
    sources = {folder.resolve() for folder in folders_of(options.input).values()}
    for before, file in options.output:
        name, equals, folder = (f"{before}={file}" if file else before).rpartition("=")
        if not equals:
            name = folder
        if name not in runs.values:
            has = f"Its outputs: {listing([quote(one) for one in runs.model.outputs])}."
            refuse([make("DML-MODEL-reference", whole(runs.file), {"what": "output", "name": name}, hint=has)])
        if not equals or Path(folder).resolve() in sources or Path(folder) in found.values():
            why = "it has the inputs" if equals else "there is no folder. Write --output NAME=FOLDER"
            why = "another output goes there" if equals and Path(folder) in found.values() else why
            refuse([make("DML-MODEL-write", whole(runs.file), {"path": folder if equals else name, "why": why})])
        found[name] = Path(folder)
    return found


def _run(runs: Runs, stem: str, folders: Mapping[str, Path], asked: Mapping[str, Path]) -> float:
    """Run the files of a name, and write the outputs; how many milliseconds the run took."""
    arrays = {**runs.given, **{name: _array(runs, name, folder, stem) for name, folder in folders.items()}}
    start = time.perf_counter()
    results = runs.model.run(arrays, [*asked])
    took = (time.perf_counter() - start) * 1000
    for folder, result in zip(asked.values(), results, strict=True):
        array = values_of(np.asarray(result if isinstance(result, np.ndarray) else to_array(result)))
        write(folder, {(f"{stem}.npy",): writer(np.ascontiguousarray(array).reshape(array.shape))})
    return took


def _array(runs: Runs, name: str, folder: Path, stem: str) -> object:
    """The array of an input in the file of a name: the only one of an archive, or that of the name of the input."""
    paths = [path for suffix in SUFFIXES if (path := folder / f"{stem}{suffix}").exists()]
    if len(paths) != 1:
        why = "there are files with both suffixes" if paths else "there is no such file"
        raise error_of("DML-MODEL-source", str(folder / f"{stem}.npy"), why=why)
    if paths[0].suffix == ".npy":
        return runs.read(name, str(paths[0]))
    found = read_values(paths[0])
    if name not in found and len(found) != 1:
        why = f"it has no array {quote(name)}, but {listing([*map(quote, found)]) if found else 'none'}"
        raise error_of("DML-MODEL-source", str(paths[0]), why=why)
    return found.get(name, next(iter(found.values())))
