"""The operators in PyTorch and ONNX Runtime: each function says why a use cannot be expressed there, or runs it.

A use is a desc of packed tensors with its arrays, as ``dmlcy.testing.cases`` draws it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from expressible import folds
from hypothesis.strategies import SearchStrategy
from strategies import Array

from dmlcy._desc.operator_desc import OperatorDesc

Arrays = dict[str, Array]
Use = tuple[OperatorDesc, Arrays]


@dataclass(frozen=True)
class Peer:
    """``refuses``: why a use cannot be expressed, or None. ``run``: the result. ``integers``: compared on small ones.

    Sums of small integers are exact in any order, and a maximum of numbers has one value. Where peers differ in the
    order of sums, or in the NaN that wins, the inputs are such numbers. ``uses``: draws what can be expressed, for a
    peer that takes too little of what ``dmlcy.testing`` draws.
    """

    refuses: Callable[[Any, Arrays], str | None]
    run: Callable[[Any, Arrays], Array]
    integers: bool = False
    uses: SearchStrategy[Use] | None = None


def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed")


def need(peer: str) -> None:
    """Skips a test before it draws anything, where the library is not installed."""
    for module in ("torch",) if peer == "PyTorch" else ("onnx", "onnxruntime"):
        pytest.importorskip(module, reason=f"{peer} needs {module}, which is not installed")


@cache
def session(
    op_type: str, opset: int, types: tuple[Any, ...], outputs: int, attributes: tuple[tuple[str, Any], ...]
) -> Any:
    """ONNX Runtime with a model of one operator, of any sizes; outputs behind the first one are of INT64."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    helper = onnx.helper
    names = [f"input{number}" for number in range(len(types))]
    kinds = [helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) for dtype, _ in types]
    results = {f"output{number}": onnx.TensorProto.INT64 if number else kinds[0] for number in range(outputs)}
    node = helper.make_node(op_type, names, list(results), **dict(attributes))
    graph = helper.make_graph(
        [node],
        "graph",
        [
            helper.make_tensor_value_info(name, kind, [None] * rank)
            for name, kind, (_, rank) in zip(names, kinds, types, strict=True)
        ],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in results.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def onnx(op_type: str, opset: int, arrays: list[Array], outputs: int = 1, **attributes: Any) -> Any:
    """The output of an operator; several are a list."""
    fixed = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in attributes.items())
    ready = session(op_type, opset, tuple((x.dtype.str, x.ndim) for x in arrays), outputs, fixed)
    results = ready.run(None, {f"input{number}": np.ascontiguousarray(x) for number, x in enumerate(arrays)})
    return results if outputs > 1 else np.asarray(results[0])


def contiguous(x: Array) -> Any:
    """A tensor of these elements; PyTorch takes no negative strides, not even of an axis of one element."""
    return torch().from_numpy(np.array(x, order="C"))


def as_signed(x: Array) -> Array:
    """The same bits as integers that PyTorch moves."""
    return np.ascontiguousarray(x).view(f"i{x.itemsize}")


# PADDING and PADDING1

MODES = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect", "SYMMETRIC": "symmetric", "WRAP": "wrap"}
SMALL = 2**31 - 1


def fill_of(desc: Any, x: Array) -> int | float:
    """The padding value as an element: the older version has a FLOAT, truncated for integers."""
    if desc.operator.name != "PADDING":
        return desc.padding_value  # type: ignore[no-any-return]
    value = float(np.float32(desc.padding_value))
    return value if x.dtype.kind == "f" else int(value)


def padding_torch_refuses(desc: Any, arrays: Arrays) -> str | None:
    mode, x = desc.padding_mode.name, arrays["input"]
    names = {"CONSTANT": "constant", "EDGE": "replicate", "REFLECTION": "reflect", "WRAP": "circular"}
    if mode not in names:
        return f"no mode {mode}"
    if mode == "CONSTANT":
        return "integers beyond int64" if x.dtype.kind == "u" and x.itemsize > 1 else None
    padded = [axis for axis in range(x.ndim) if desc.start_padding[axis] or desc.end_padding[axis]]
    if x.dtype.str[1:] not in ("f4", "f8"):
        return f"{mode} of {x.dtype}"
    if not 3 <= x.ndim <= 5 or any(axis < 2 for axis in padded):
        return "only the last axes of 3 to 5"
    limit = {"EDGE": SMALL, "REFLECTION": -1, "WRAP": 0}[mode]
    if any(max(desc.start_padding[a], desc.end_padding[a]) > x.shape[a] + limit for a in padded):
        return "a padding beyond the axis"
    return None


def padding_torch(desc: Any, arrays: Arrays) -> Array:
    name = {"CONSTANT": "constant", "EDGE": "replicate", "REFLECTION": "reflect", "WRAP": "circular"}
    x, mode = contiguous(arrays["input"]), desc.padding_mode.name
    axes = range(x.ndim) if mode == "CONSTANT" else range(2, x.ndim)
    widths = [width for axis in reversed(axes) for width in (desc.start_padding[axis], desc.end_padding[axis])]
    value = {"value": fill_of(desc, arrays["input"])} if mode == "CONSTANT" else {}
    result: Array = torch().nn.functional.pad(x, widths, name[mode], **value).numpy()
    return result


def padding_onnx_refuses(desc: Any, arrays: Arrays) -> str | None:
    mode, x = desc.padding_mode.name, arrays["input"]
    if mode == "SYMMETRIC":
        return "no mode SYMMETRIC"
    if x.dtype.str[1:] not in ("f4", "f8", "i4", "i8", "u4", "u8", "i1", "u1"):
        return f"no {x.dtype}"
    limit = {"CONSTANT": SMALL, "EDGE": SMALL, "REFLECTION": -1, "WRAP": 0}[mode]
    if any(max(pair) > n + limit for *pair, n in zip(desc.start_padding, desc.end_padding, x.shape, strict=True)):
        return "a padding beyond the axis"
    return None


def padding_onnx(desc: Any, arrays: Arrays) -> Array:
    x = arrays["input"]
    widths = np.array([*desc.start_padding, *desc.end_padding], np.int64)
    value = [np.array(fill_of(desc, x), x.dtype)] if desc.padding_mode.name == "CONSTANT" else []
    found: Array = onnx("Pad", 19, [x, widths, *value], mode=MODES[desc.padding_mode.name])
    return found


# DEPTH_TO_SPACE and SPACE_TO_DEPTH

ORDERS = {"DEPTH_COLUMN_ROW": "DCR", "COLUMN_ROW_DEPTH": "CRD"}


def onnx_order(desc: Any) -> str:
    """The older versions have no order to choose."""
    return ORDERS[desc.order.name] if hasattr(desc, "order") else "DCR"


def everything_is_expressed(desc: Any, arrays: Arrays) -> str | None:
    return None


def depth_first(x: Array, desc: Any, apart: tuple[int, int]) -> Array:
    """The channels in the other order, where it is not PyTorch's: of two parts, the inner one first."""
    if onnx_order(desc) == "CRD":
        return x
    n, _, height, width = x.shape
    return x.reshape(n, *apart, height, width).swapaxes(1, 2).reshape(x.shape)


def shuffle_torch(desc: Any, arrays: Arrays) -> Array:
    x, block = arrays["input"], desc.block_size**2
    sources = depth_first(as_signed(x), desc, (block, x.shape[1] // block))
    moved: Array = torch().nn.functional.pixel_shuffle(contiguous(sources), desc.block_size).numpy()
    return moved.view(x.dtype)


def unshuffle_torch(desc: Any, arrays: Arrays) -> Array:
    x = arrays["input"]
    moved = torch().nn.functional.pixel_unshuffle(contiguous(as_signed(x)), desc.block_size).numpy()
    return np.ascontiguousarray(depth_first(moved, desc, (x.shape[1], desc.block_size**2))).view(x.dtype)


def shuffle_onnx_refuses(desc: Any, arrays: Arrays) -> str | None:
    x = arrays["input"]
    return None if x.dtype.str[1:] in ("f4", "f8", "u1") else f"no {x.dtype}"


def shuffle_onnx(desc: Any, arrays: Arrays) -> Array:
    found: Array = onnx("DepthToSpace", 13, [arrays["input"]], blocksize=desc.block_size, mode=onnx_order(desc))
    return found


def unshuffle_onnx_refuses(desc: Any, arrays: Arrays) -> str | None:
    return shuffle_onnx_refuses(desc, arrays) if onnx_order(desc) == "DCR" else "no order COLUMN_ROW_DEPTH"


def unshuffle_onnx(desc: Any, arrays: Arrays) -> Array:
    found: Array = onnx("SpaceToDepth", 13, [arrays["input"]], blocksize=desc.block_size)
    return found


# UNFOLD


def unfold_torch_refuses(desc: Any, arrays: Arrays) -> str | None:
    x = arrays["input"]
    if x.ndim > 4:
        return "only two spatial axes"
    if x.itemsize == 1:
        return f"no {x.dtype}"
    if max(*desc.window_sizes, *desc.strides, *desc.dilations, *desc.start_padding, *desc.end_padding) > 2**20:
        return "attributes beyond what its arithmetic takes"
    return None


def unfold_torch(desc: Any, arrays: Arrays) -> Array:
    functional, x = torch().nn.functional, arrays["input"]
    one = x.ndim == 3  # an axis of one element, and a window of one on it
    image = np.array(x[:, :, None] if one else x, order="C").view(f"f{x.itemsize}")
    window, dilations, strides = ((1, *v) if one else v for v in (desc.window_sizes, desc.dilations, desc.strides))
    (top, left), (bottom, right) = ((0, *v) if one else v for v in (desc.start_padding, desc.end_padding))
    padded = functional.pad(contiguous(image), (left, right, top, bottom))
    result: Array = functional.unfold(padded, window, dilations, 0, strides).numpy()
    return result.view(x.dtype)


# FOLD


def fold_torch_refuses(desc: Any, arrays: Arrays) -> str | None:
    x = arrays["input"]
    if len(desc.window_sizes) > 2:
        return "only two spatial axes"
    if x.dtype.kind != "f":
        return f"no {x.dtype}"
    if desc.start_padding != desc.end_padding:
        return "another padding at the end"
    given = (*desc.window_sizes, *desc.strides, *desc.dilations, *desc.start_padding, *desc.output.sizes)
    return "attributes beyond what its arithmetic takes" if max(given) > 2**20 else None


def fold_torch(desc: Any, arrays: Arrays) -> Array:
    sizes, one = desc.output.sizes[2:], len(desc.window_sizes) == 1
    window, dilations, strides = ((1, *v) if one else v for v in (desc.window_sizes, desc.dilations, desc.strides))
    padding = (0, *desc.start_padding) if one else desc.start_padding
    folded = torch().nn.functional.fold(
        contiguous(arrays["input"]), (1, *sizes) if one else sizes, window, dilations, padding, strides
    )
    result: Array = folded.numpy()
    return result.reshape(desc.output.sizes)


def fold_onnx_refuses(desc: Any, arrays: Arrays) -> str | None:
    x = arrays["input"]
    given = (*desc.window_sizes, *desc.strides, *desc.dilations, *desc.start_padding, *desc.end_padding)
    if max(*given, *desc.output.sizes) > 2**20:
        return "attributes beyond what its arithmetic takes"
    if len(desc.window_sizes) != 2 and any(w > 1 < d for w, d in zip(desc.window_sizes, desc.dilations, strict=True)):
        return "it lays dilated windows right over two spatial axes only"
    return None if x.dtype == np.float32 else f"no {x.dtype}"


def fold_onnx(desc: Any, arrays: Arrays) -> Array:
    shapes = [np.array(sizes, np.int64) for sizes in (desc.output.sizes[2:], desc.window_sizes)]
    given = {"dilations": desc.dilations, "strides": desc.strides, "pads": [*desc.start_padding, *desc.end_padding]}
    found: Array = onnx("Col2Im", 18, [arrays["input"], *shapes], **given)
    return found


# AVERAGE_POOLING


def pooling_refuses(desc: Any, arrays: Arrays) -> str | None:
    if max(*desc.window_size, *desc.strides) > 2**20 or math.prod(desc.window_size) > 2**20:
        return "attributes beyond what its arithmetic takes"
    if desc != type(desc)(**(desc._values() | {"output": None})):
        return "sizes that are rounded up"
    axes = zip(desc.input.sizes[2:], desc.start_padding, desc.end_padding, strict=True)
    if math.prod(desc.input.sizes[:2]) * math.prod(sum(axis) for axis in axes) > 2**20:
        return "padding that would be held in memory"
    return None


def pooling_torch_refuses(desc: Any, arrays: Arrays) -> str | None:
    return pooling_refuses(desc, arrays) or (None if arrays["input"].dtype == np.float32 else "no sums of half")


def pooling_torch(desc: Any, arrays: Arrays) -> Array:
    functional, window = torch().nn.functional, desc.window_size
    pool = functional.avg_pool2d if len(window) == 2 else functional.avg_pool3d
    widths = [width for pair in zip(desc.start_padding[::-1], desc.end_padding[::-1], strict=True) for width in pair]

    def sums(x: Array) -> Array:
        result: Array = pool(functional.pad(contiguous(x), widths), window, desc.strides, divisor_override=1).numpy()
        return result

    x = arrays["input"]
    divisor = np.float32(math.prod(window)) if desc.include_padding else np.maximum(sums(np.ones_like(x)), 1)
    return (sums(x) / divisor).astype(np.float32)


def pooling_dilated_torch_refuses(desc: Any, arrays: Arrays) -> str | None:
    if max(desc.dilations) > 2**20:
        return "attributes beyond what its arithmetic takes"
    return pooling_torch_refuses(desc, arrays)


def pooling_dilated_torch(desc: Any, arrays: Arrays) -> Array:
    """A convolution with ones: PyTorch's pooling has no dilation."""
    functional, window, x = torch().nn.functional, desc.window_size, arrays["input"]
    convolve = functional.conv2d if len(window) == 2 else functional.conv3d
    widths = [width for pair in zip(desc.start_padding[::-1], desc.end_padding[::-1], strict=True) for width in pair]
    ones = contiguous(np.ones((1, 1, *window), np.float32))

    def sums(x: Array) -> Array:
        planes = functional.pad(contiguous(x.reshape(-1, 1, *x.shape[2:])), widths)
        result: Array = convolve(planes, ones, stride=desc.strides, dilation=desc.dilations).numpy()
        return result.reshape(*x.shape[:2], *result.shape[2:])

    divisor = np.float32(math.prod(window)) if desc.include_padding else np.maximum(sums(np.ones_like(x)), 1)
    return (sums(x) / divisor).astype(np.float32)


def pooling_onnx_refuses(desc: Any, arrays: Arrays) -> str | None:
    paddings = zip(desc.window_size, desc.start_padding, desc.end_padding, strict=True)
    if not desc.include_padding and any(max(start, end) >= window for window, start, end in paddings):
        return "a padding as large as the window that does not count"
    return pooling_refuses(desc, arrays) or (None if arrays["input"].dtype == np.float32 else "no half")


def pooling_onnx(desc: Any, arrays: Arrays) -> Array:
    x, pads = arrays["input"], (desc.start_padding, desc.end_padding)
    if desc.include_padding:  # zeros like any others, in any number
        x, pads = np.pad(x, [(0, 0), (0, 0), *zip(*pads, strict=True)]), ((0,) * len(pads[0]),) * 2
    window = {"kernel_shape": desc.window_size, "strides": desc.strides}
    found: Array = onnx("AveragePool", 11, [x], **window, pads=[*pads[0], *pads[1]])
    return found


def pooling_dilated_onnx_refuses(desc: Any, arrays: Arrays) -> str | None:
    if max(desc.dilations) > 2**20:
        return "attributes beyond what its arithmetic takes"
    return pooling_onnx_refuses(desc, arrays)


def pooling_dilated_onnx(desc: Any, arrays: Arrays) -> Array:
    x, pads = arrays["input"], (desc.start_padding, desc.end_padding)
    if desc.include_padding:
        x, pads = np.pad(x, [(0, 0), (0, 0), *zip(*pads, strict=True)]), ((0,) * len(pads[0]),) * 2
    window = {"kernel_shape": desc.window_size, "strides": desc.strides, "dilations": desc.dilations}
    found: Array = onnx("AveragePool", 19, [x], **window, pads=[*pads[0], *pads[1]])
    return found


# MAX_POOLING


def maximum_refuses(desc: Any, arrays: Arrays) -> str | None:
    paddings = zip(desc.window_size, desc.start_padding, desc.end_padding, strict=True)
    if any(max(start, end) > window // 2 for window, start, end in paddings):
        return "a padding of more than half of the window"
    return pooling_refuses(desc, arrays)


def maximum_torch_refuses(desc: Any, arrays: Arrays) -> str | None:
    x = arrays["input"]
    if desc.start_padding != desc.end_padding:
        return "another padding at the end"
    return f"no {x.dtype}" if x.dtype.kind == "u" and x.itemsize > 1 else maximum_refuses(desc, arrays)


def maximum_torch(desc: Any, arrays: Arrays) -> Array:
    functional = torch().nn.functional
    pool = functional.max_pool2d if len(desc.window_size) == 2 else functional.max_pool3d
    result: Array = pool(contiguous(arrays["input"]), desc.window_size, desc.strides, desc.start_padding).numpy()
    return result


def maximum_onnx_refuses(desc: Any, arrays: Arrays) -> str | None:
    x = arrays["input"]
    return maximum_refuses(desc, arrays) or (None if x.dtype.str[1:] in ("f4", "f2", "i1", "u1") else f"no {x.dtype}")


def maximum_onnx(desc: Any, arrays: Arrays) -> Array:
    window = {"kernel_shape": desc.window_size, "strides": desc.strides}
    found: Array = onnx("MaxPool", 12, [arrays["input"]], **window, pads=[*desc.start_padding, *desc.end_padding])
    return found


# MAX_POOLING1 and MAX_POOLING2


def indexed_refuses(desc: Any, arrays: Arrays) -> str | None:
    if max(*desc.window_size, *getattr(desc, "dilations", (1,))) > 2**20:
        return "attributes beyond what its arithmetic takes"
    return pooling_refuses(desc, arrays)


def indexed(desc: Any, x: Array, pool: Callable[[Array, dict[str, Any]], tuple[Array, Array]]) -> Any:
    """The results of a library for small integers, as INT8, where padding is elements that are less than all of them.

    ``pool`` gives indices into all of that; they become those of the input.
    """
    edges = [(0, 0), (0, 0), *zip(desc.start_padding, desc.end_padding, strict=True)]
    numbers = np.pad(np.arange(x.size).reshape(x.shape), edges, constant_values=2**32 - 1)
    dilations = getattr(desc, "dilations", (1,) * len(desc.window_size))
    window = {"window": desc.window_size, "strides": desc.strides, "dilations": dilations}
    values, places = pool(np.pad(x.astype("i1"), edges, constant_values=-128), window)
    indices = numbers.ravel()[places]
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    with np.errstate(over="ignore"):
        result = np.where(values == -128, np.array(least, x.dtype), values.astype(x.dtype))
    asked = desc.output_indices
    return result if asked is None else (result, indices.astype(asked.dtype.name.lower()))


def indexed_torch(desc: Any, arrays: Arrays) -> Any:
    """Its indices are those of one channel; the channels before are added."""
    functional = torch().nn.functional
    pool = functional.max_pool2d if len(desc.window_size) == 2 else functional.max_pool3d

    def run(x: Array, given: dict[str, Any]) -> tuple[Array, Array]:
        window = (given["window"], given["strides"], 0, given["dilations"])
        values, places = pool(contiguous(x), *window, return_indices=True)
        channels = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *[1] * len(desc.window_size))
        return values.numpy(), places.numpy() + channels * math.prod(x.shape[2:])

    return indexed(desc, arrays["input"], run)


def indexed_onnx(desc: Any, arrays: Arrays) -> Any:
    def run(x: Array, given: dict[str, Any]) -> tuple[Array, Array]:
        window = {"kernel_shape": given["window"], "strides": given["strides"], "dilations": given["dilations"]}
        values, places = onnx("MaxPool", 12, [x], 2, **window)
        return values, places

    return indexed(desc, arrays["input"], run)


# ROI_POOLING


def regions_onnx_refuses(desc: Any, arrays: Arrays) -> str | None:
    roi = arrays["roi"].reshape(-1, 5)[:, 1:]
    if roi.dtype != np.float32:
        return f"no {roi.dtype}"
    if np.abs(roi.astype(np.float64) * desc.spatial_scale).max() > 1000:
        return "regions beyond its integers"
    if any(size & (size - 1) for size in desc.pooled_size):
        return "bins that float32 does not divide exactly"
    return None


def regions_onnx(desc: Any, arrays: Arrays) -> Array:
    roi = np.ascontiguousarray(arrays["roi"]).reshape(-1, 5)
    found: Array = onnx(
        "MaxRoiPool", 1, [arrays["input"], roi], pooled_shape=list(desc.pooled_size), spatial_scale=desc.spatial_scale
    )
    return found


PEERS = {
    ("PADDING", "PyTorch"): Peer(padding_torch_refuses, padding_torch),
    ("PADDING", "ONNX Runtime"): Peer(padding_onnx_refuses, padding_onnx),
    ("PADDING1", "PyTorch"): Peer(padding_torch_refuses, padding_torch),
    ("PADDING1", "ONNX Runtime"): Peer(padding_onnx_refuses, padding_onnx),
    ("DEPTH_TO_SPACE", "PyTorch"): Peer(everything_is_expressed, shuffle_torch),
    ("DEPTH_TO_SPACE", "ONNX Runtime"): Peer(shuffle_onnx_refuses, shuffle_onnx),
    ("DEPTH_TO_SPACE1", "PyTorch"): Peer(everything_is_expressed, shuffle_torch),
    ("DEPTH_TO_SPACE1", "ONNX Runtime"): Peer(shuffle_onnx_refuses, shuffle_onnx),
    ("SPACE_TO_DEPTH", "PyTorch"): Peer(everything_is_expressed, unshuffle_torch),
    ("SPACE_TO_DEPTH", "ONNX Runtime"): Peer(unshuffle_onnx_refuses, unshuffle_onnx),
    ("SPACE_TO_DEPTH1", "PyTorch"): Peer(everything_is_expressed, unshuffle_torch),
    ("SPACE_TO_DEPTH1", "ONNX Runtime"): Peer(unshuffle_onnx_refuses, unshuffle_onnx),
    ("UNFOLD", "PyTorch"): Peer(unfold_torch_refuses, unfold_torch),
    ("FOLD", "PyTorch"): Peer(fold_torch_refuses, fold_torch, integers=True, uses=folds()),
    ("FOLD", "ONNX Runtime"): Peer(fold_onnx_refuses, fold_onnx, integers=True),
    ("AVERAGE_POOLING", "PyTorch"): Peer(pooling_torch_refuses, pooling_torch, integers=True),
    ("AVERAGE_POOLING", "ONNX Runtime"): Peer(pooling_onnx_refuses, pooling_onnx, integers=True),
    ("AVERAGE_POOLING1", "PyTorch"): Peer(pooling_dilated_torch_refuses, pooling_dilated_torch, integers=True),
    ("AVERAGE_POOLING1", "ONNX Runtime"): Peer(pooling_dilated_onnx_refuses, pooling_dilated_onnx, integers=True),
    ("MAX_POOLING", "PyTorch"): Peer(maximum_torch_refuses, maximum_torch, integers=True),
    ("MAX_POOLING", "ONNX Runtime"): Peer(maximum_onnx_refuses, maximum_onnx, integers=True),
    ("MAX_POOLING1", "PyTorch"): Peer(indexed_refuses, indexed_torch, integers=True),
    ("MAX_POOLING1", "ONNX Runtime"): Peer(indexed_refuses, indexed_onnx, integers=True),
    ("MAX_POOLING2", "PyTorch"): Peer(indexed_refuses, indexed_torch, integers=True),
    ("MAX_POOLING2", "ONNX Runtime"): Peer(indexed_refuses, indexed_onnx, integers=True),
    ("ROI_POOLING", "ONNX Runtime"): Peer(regions_onnx_refuses, regions_onnx, integers=True),
}
