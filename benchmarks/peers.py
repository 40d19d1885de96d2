"""The other libraries: whether they are here, how many threads they use, and ONNX Runtime sessions without spinning."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.util
from typing import Any

import numpy as np

from benchmarks.calls import Call, Forms, Peer
from benchmarks.cells import Array

NAMES = {"numpy": "NumPy", "torch": "PyTorch", "onnxruntime": "ONNX Runtime"}
NEEDS = {"numpy": ("numpy",), "torch": ("torch",), "onnxruntime": ("onnxruntime", "onnx")}
OPSET = 21
_threads = 1


@functools.cache
def absent(*packages: str) -> str:
    """Which of these packages are not installed, as a reason; empty if all are here."""
    found = [package for package in packages if importlib.util.find_spec(package) is None]
    return f"{' and '.join(found)} not installed" if found else ""


def missing(peer: str) -> str:
    """Why this peer is not here; empty if it is."""
    return absent(*NEEDS[peer])


def versions() -> dict[str, str]:
    """The version of each peer that is installed."""
    return {peer: importlib.metadata.version(peer) for peer in NAMES if not missing(peer)}


def set_num_threads(threads: int) -> None:
    """Make all peers use so many threads; NumPy uses one, except for products of matrices."""
    global _threads
    _threads = threads
    if not missing("torch"):
        library("torch").set_num_threads(threads)
    if not absent("threadpoolctl"):
        library("threadpoolctl").threadpool_limits(threads, user_api="blas")


def blas() -> list[str]:
    """The libraries that NumPy multiplies matrices with, and the kernels that they have chosen."""
    if reason := absent("threadpoolctl"):
        return [f"NumPy multiplies matrices with as many threads as it likes: {reason}"]
    found = library("threadpoolctl").threadpool_info()
    keys = ("internal_api", "version", "architecture")
    return [" ".join(str(one.get(key)) for key in keys) for one in found if one["user_api"] == "blas"]


def threads() -> int:
    """How many threads the peers use."""
    return _threads


def library(name: str) -> Any:
    """The module, untyped."""
    return importlib.import_module(name)


def as_array(result: Any) -> Array:
    """The result of a call of any peer, as NumPy's array."""
    if isinstance(result, list):
        (result,) = result
    return result if isinstance(result, np.ndarray) else np.asarray(result.numpy())


def onnx_forms(
    op_type: str, inputs: dict[str, Array], out: Array | tuple[Array, ...], constants: dict[str, Array], **given: Any
) -> Peer:
    """One operator of ONNX: run() with the result allocated, and with input and output bound to arrays.

    An input that is not contiguous has to be copied before; that is part of the work.
    """
    plain = {name: np.ascontiguousarray(x) for name, x in inputs.items()}
    several = isinstance(out, tuple)
    targets = {f"output{at}": np.zeros(x.shape, x.dtype) for at, x in enumerate(out if several else (out,))}
    session = _session(op_type, plain, targets, constants, given)
    if all(np.shares_memory(plain[name], x) for name, x in inputs.items()):
        allocating = "run(None, feeds)"
    else:
        allocating = "run(None, {name: contiguous(x) for name, x in inputs.items()})"
    names: dict[str, Any] = {"run": session.run, "feeds": plain, "inputs": inputs, "contiguous": np.ascontiguousarray}
    binding = session.io_binding()
    for name, x in plain.items():
        binding.bind_input(name, "cpu", 0, x.dtype, x.shape, x.ctypes.data)
    for name, x in targets.items():
        binding.bind_output(name, "cpu", 0, x.dtype, x.shape, x.ctypes.data)
    changed = [(plain[name], x) for name, x in inputs.items() if not np.shares_memory(plain[name], x)]

    def bound() -> Any:
        for to, x in changed:
            np.copyto(to, x)
        session.run_with_iobinding(binding)
        return tuple(targets.values()) if several else targets["output0"]

    return Forms(Call(allocating, names), Call("bound()", {"bound": bound}))


def _session(
    op_type: str, inputs: dict[str, Array], outputs: dict[str, Array], constants: dict[str, Array], given: Any
) -> Any:
    onnx, runtime = library("onnx"), library("onnxruntime")
    helper = onnx.helper

    def info(name: str, x: Array) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)

    graph = helper.make_graph(
        [helper.make_node(op_type, [*inputs, *constants], list(outputs), **given)],
        "graph",
        [info(name, x) for name, x in inputs.items()],
        [info(name, x) for name, x in outputs.items()],
        [onnx.numpy_helper.from_array(x, name) for name, x in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = _threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
