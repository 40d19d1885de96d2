"""ONNX Runtime's part of a cell: the nodes as ONNX's text, a session, and inputs and outputs that are bound."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.calls import Call
from benchmarks.cells import Array
from benchmarks.peers import library

OPSETS = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>'
NAMES = {"float32": "float", "float64": "double"}


def model_of(text: str, inputs: Mapping[str, Array], constants: Collection[str]) -> Any:
    """The model whose nodes are this text; ``y``, or ``y0`` and so on, are its outputs."""
    onnx = library("onnx")
    given = {name: x for name, x in inputs.items() if name not in constants}
    said = ", ".join(f"{NAMES.get(x.dtype.name, x.dtype.name)}{list(x.shape)} {name}" for name, x in given.items())
    outputs = ["y"] if "y0" not in text else [name for name in map("y{}".format, range(8)) if name in text]
    graph = f"g ({said}) => ({', '.join(f'float {name}' for name in outputs)}) {{ {text} }}"
    model = onnx.parser.parse_model(f"{OPSETS} {graph}")
    for output in model.graph.output:
        output.ClearField("type")  # it follows from the nodes
    for name in constants:
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ascontiguousarray(inputs[name]), name))
    return model


def session_of(model: Any, threads: int) -> Any:
    """A session with all optimisations, whose threads do not spin."""
    runtime = library("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def bound(model: Any, inputs: Mapping[str, Array]) -> Call:
    """A run of the model with its inputs and outputs bound to arrays. An array that is not contiguous is copied in each
    run."""
    session = session_of(model, peers.threads())
    plain = {one.name: np.ascontiguousarray(inputs[one.name]) for one in session.get_inputs()}
    results = session.run(None, plain)
    binding = session.io_binding()
    for name, x in plain.items():
        binding.bind_input(name, "cpu", 0, x.dtype, x.shape, x.ctypes.data)
    for output, x in zip(session.get_outputs(), results, strict=True):
        binding.bind_output(output.name, "cpu", 0, x.dtype, x.shape, x.ctypes.data)
    changed = [(x, inputs[name]) for name, x in plain.items() if not np.shares_memory(x, inputs[name])]

    def run() -> Any:
        for to, x in changed:
            np.copyto(to, x)
        session.run_with_iobinding(binding)
        return results

    return Call("run()", {"run": run, "bound": plain})  # the binding has addresses only
