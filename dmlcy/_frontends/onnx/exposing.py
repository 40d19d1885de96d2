"""A model for a device: every value of a node as an output, inputs, and a script that runs it; or one node alone."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Final
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from dmlcy._errors import DmlError
from dmlcy._frontends.dxdispatch.files import Content, Contents, target_parts
from dmlcy._frontends.dxdispatch.problems import make, refuse, whole
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.model import ELEMENTS, Model
from dmlcy._frontends.onnx.stages import Stage
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._frontends.onnx.writing import Described, names_read, part, source_of, with_outputs
from dmlcy._types import Array

MODEL: Final = "model.onnx"
INPUTS: Final = "inputs.npz"
VALUES: Final = "values.npz"
SCRIPT: Final = "run.py"
RUN: Final = f'''"""Runs {MODEL} on DirectML, with onnxruntime-directml, and writes inputs and outputs to {VALUES}."""
import numpy as np
import onnxruntime

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # the nodes as in the file
options.enable_mem_pattern = False  # as DirectML needs it
session = onnxruntime.InferenceSession("{MODEL}", options, providers=["DmlExecutionProvider", "CPUExecutionProvider"])
inputs = dict(np.load("{INPUTS}"))
names = [one.name for one in session.get_outputs()]
np.savez("{VALUES}", **inputs, **dict(zip(names, session.run(names, inputs))))
'''


def exposed(model: CompiledModel, arrays: Mapping[str, Array]) -> Contents:
    """The files of a folder for a device."""
    file = model._model
    source = source_of(file.file)
    outputs = {one.name for one in file.graph.outputs}
    values = _described(model, arrays)
    more = [
        values[name] for node in file.graph.nodes for name in node.outputs if name in values and name not in outputs
    ]
    found: Contents = {(MODEL,): _pieces([*with_outputs(source, more)])}
    for location in source.locations():
        parts = target_parts(location)
        if parts is not None:
            found[parts] = _copier(file, location)
    return found | {(INPUTS,): archive(arrays), (SCRIPT,): _pieces([RUN.encode()])}


def extracted(model: CompiledModel, arrays: Mapping[str, Array], node: str) -> Contents:
    """The files of a model of one node, by its number or its name, with the inputs that it has in a run."""
    file = model._model
    number = _find(file, node)
    one = file.graph.nodes[number]
    names = sorted(names_read(file, number) - {*file.graph.initializers})
    found = model.run(arrays, names)
    stage, _ = model.stage(arrays, names)
    inputs = [
        Described(name, _element(stage, name), found[name].shape)
        for name in names
        if not stage.walk.scope[name].is_constant
    ]
    constants = {name: (found[name], _element(stage, name)) for name in names if stage.walk.scope[name].is_constant}
    values = _described(model, arrays)
    outputs = [values.get(name, Described(name)) for name in one.outputs if name]
    data = part(source_of(file.file), file, [number], inputs=inputs, outputs=outputs, constants=constants)
    given = {described.name: found[described.name] for described in inputs}
    return {(MODEL,): _pieces([data]), (INPUTS,): archive(given), (SCRIPT,): _pieces([RUN.encode()])}


def archive(arrays: Mapping[str, Array]) -> Content:
    """Writes arrays by their names, as numpy.savez does."""

    def write(stream: IO[bytes]) -> None:
        with ZipFile(stream, "w", ZIP_STORED) as file:
            for name, array in arrays.items():
                data = BytesIO()
                np.save(data, array, allow_pickle=False)
                with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                    member.write(data.getbuffer())

    return write


def _pieces(several: list[bytes]) -> Content:
    def write(stream: IO[bytes]) -> None:
        for one in several:
            stream.write(one)

    return write


def _copier(model: Model, location: str) -> Content:
    def write(stream: IO[bytes]) -> None:
        with (Path(model.file).parent / location).open("rb") as other:
            copyfileobj(other, stream)

    return write


def _described(model: CompiledModel, arrays: Mapping[str, Array]) -> dict[str, Described]:
    """The values that an output may be, with what is known of data types and the number of axes.

    Values of an unknown operator are tensors, too; values of ONNX's operators without a data type are not.
    """
    walk = _walk(model, arrays)
    found: dict[str, Described] = {}
    for visit in walk.visits:
        for name, known in zip(visit.node.outputs, visit.outputs, strict=True):
            has_type = known.element is not None and ELEMENTS[known.element].directml is not None
            if name and (has_type or (known.element is None and visit.row is None)):
                axes = None if known.sizes is None else (None,) * len(known.sizes)
                found[name] = Described(name, known.element, axes)
    return found


def _walk(model: CompiledModel, arrays: Mapping[str, Array]) -> Walk:
    """The facts of the values in a run, which takes a branch of an If; else the facts without a run."""
    try:
        return model.stage(arrays, [one.name for one in model.outputs])[0].walk
    except DmlError:
        return Walk(model._model, {name: array.shape for name, array in arrays.items()})


def _element(stage: Stage, name: str) -> str:
    value = stage.walk.scope[name].value
    assert value is not None
    return value.element


def _find(model: Model, node: str) -> int:
    """The number of the node of this number or name."""
    nodes = model.graph.nodes
    if node.isdecimal() and int(node) < len(nodes):
        return int(node)
    found = [one.number for one in nodes if one.name == node] or [
        one.number for one in nodes if node and node in one.outputs
    ]
    if len(found) != 1:
        count = f"{len(found)} nodes have" if found else "No node has"
        refuse([make("DML-ONNX-run-node", whole(model.file), {"name": node, "count": count})])
    return found[0]
