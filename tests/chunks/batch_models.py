"""ONNX models of a few nodes, whose items stay apart or do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(3)
SIZES: Final = (6, 8)
"""The sizes of an item."""


def saved(
    path: Path, nodes: Sequence[Any], outputs: Sequence[str], constants: Mapping[str, Any], weights: str = ""
) -> Path:
    """The file of a model with the input ``x``; ``weights``: a file for the elements of constants."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *SIZES])], ends,
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path, save_as_external_data=bool(weights), location=weights or None, size_threshold=0)
    return path


def N(operator: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    """A node; ``-`` is an input that is left out."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(operator, names, outputs.split(), **attributes)


def _floats(*sizes: int) -> Any:
    return RNG.standard_normal(sizes).astype(np.float32)


LSTM = {"w": _floats(1, 16, 8), "r": _floats(1, 16, 4)}
APART: Final[dict[str, tuple[list[Any], list[str], dict[str, Any]]]] = {
    "product": ([N("MatMul", "x w", "y")], ["y"], {"w": _floats(8, 8)}),
    "mean of a row": ([N("ReduceMean", "x", "m", axes=[-1]), N("Sub", "x m", "y")], ["y"], {}),
    "heads": ([N("Reshape", "x s", "r"), N("Transpose", "r", "t", perm=[0, 2, 1, 3]), N("Softmax", "t", "y", axis=-1)],
              ["y"], {"s": [0, 6, 2, 4]}),
    "rows of all items": ([N("Reshape", "x s", "r"), N("MatMul", "r w", "y")], ["y"],
                          {"s": [-1, 8], "w": _floats(8, 8)}),
    "attention": ([N("Transpose", "x", "k", perm=[0, 2, 1]), N("MatMul", "x k", "a"), N("Softmax", "a", "p", axis=-1),
                   N("MatMul", "p x", "y")], ["y"], {}),
    "the same for each": ([N("Shape", "x", "s"), N("Expand", "w s", "e"), N("Concat", "x e", "y", axis=1)], ["y"],
                          {"w": _floats(6, 8)}),
    "items of axis 1": ([N("Transpose", "x", "t", perm=[1, 0, 2]), N("LSTM", "t w r", "y h", hidden_size=4)],
                        ["y", "h"], LSTM),
    "rows in turn": ([N("Transpose", "x", "t", perm=[1, 0, 2]), N("Reshape", "t s", "r"), N("MatMul", "r w", "p"),
                      N("Reshape", "p u", "q"), N("Transpose", "q", "y", perm=[1, 0, 2])], ["y"],
                     {"s": [-1, 8], "w": _floats(8, 8), "u": [6, -1, 8]}),
    "padding": ([N("Pad", "x p", "y")], ["y"], {"p": [0, 1, 1, 0, 0, 2]}),
    "resampling": ([N("Unsqueeze", "x a", "u"), N("Resize", "u - z", "y", mode="linear")], ["y"],
                   {"a": [1], "z": np.array([1, 1, 2, 2], np.float32)}),
    "several": ([N("Split", "x", "a b", axis=1), N("CumSum", "a o", "c")], ["b", "c"], {"o": 1}),
}  # fmt: skip
MIXED: Final[dict[str, tuple[list[Any], dict[str, Any], str]]] = {
    "mean of the batch": ([N("ReduceMean", "x", "m", axes=[0], name="mean"), N("Sub", "x m", "y")], {},
                          "DML-GRAPH-batch-mixed (REDUCE, from ReduceMean"),
    "attention over the batch": ([N("Transpose", "x", "k", perm=[1, 2, 0]), N("Transpose", "x", "q", perm=[1, 0, 2]),
                                  N("MatMul", "q k", "y")], {}, "DML-GRAPH-batch-mixed (GEMM"),
    "other order": ([N("Slice", "x a b c d", "y")], {"a": [-1], "b": [-1000], "c": [0], "d": [-1]},
                    "DML-GRAPH-batch-mixed (SLICE"),
    "sums": ([N("CumSum", "x o", "y")], {"o": 0}, "DML-GRAPH-batch-mixed (CUMULATIVE_SUMMATION"),
    "sums in turn": ([N("Transpose", "x", "t", perm=[1, 0, 2]), N("Reshape", "t s", "r"), N("CumSum", "r o", "y")],
                     {"s": [-1, 8], "o": 0}, "DML-GRAPH-batch-mixed (CUMULATIVE_SUMMATION"),
    "left in turn": ([N("Transpose", "x", "t", perm=[1, 0, 2]), N("Reshape", "t s", "r"), N("Relu", "r", "y")],
                     {"s": [-1, 8]}, "DML-GRAPH-batch-mixed no axis of the output"),
    "the first item": ([N("Gather", "x i", "f", axis=0), N("Add", "x f", "y")], {"i": [0]},
                       "DML-GRAPH-batch-mixed (GATHER"),
    "padded batch": ([N("Pad", "x p", "y")], {"p": [1, 0, 0, 0, 0, 0]}, "DML-GRAPH-batch-mixed (PADDING"),
    "number": ([N("Shape", "x", "s"), N("Gather", "s i", "n"), N("Cast", "n", "f", to=1), N("Div", "x f", "y")],
               {"i": 0}, "DML-GRAPH-batch-number (ELEMENT_WISE_DIVIDE"),
    "sizes": ([N("Shape", "x", "y")], {}, 'DML-GRAPH-batch-number the output "y"'),
    "four by four": ([N("Reshape", "x s", "r"), N("Softmax", "r", "p", axis=1), N("Reshape", "p t", "y")],
                     {"s": [-1, 24, 8], "t": [-1, 6, 8]}, "DML-GRAPH-batch-unknown for 2 items"),
    "nonzero": ([N("NonZero", "x", "z"), N("Cast", "z", "y", to=1)], {}, 'DML-GRAPH-batch-unknown "NonZero"'),
}  # fmt: skip
