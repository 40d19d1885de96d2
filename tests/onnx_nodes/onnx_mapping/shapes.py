"""Operators of ONNX that move elements: views, pieces, padding, and those that make tensors of a rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_mapping.node import Array, Node, NotExpressible, alike, converts, dml, normalised, scalar


@converts("Reshape", "Flatten", "Squeeze", "Unsqueeze")
def reshape(node: Node) -> Array:
    """The same elements in other sizes, which ONNX Runtime's provider copies with IDENTITY, too."""
    x = node[0]
    if node.kind == "Flatten":
        axis = node.attribute("axis", 1)
        axis += x.ndim if axis < 0 else 0
        sizes = [int(np.prod(x.shape[:axis])), -1]
    elif node.kind == "Reshape":
        wanted = node.given("shape", 1)
        kept = wanted if node.attribute("allowzero", 0) else [n or x.shape[place] for place, n in enumerate(wanted)]
        sizes = kept
    else:
        axes = node.given("axes", 1)
        rank = x.ndim + (len(axes) if node.kind == "Unsqueeze" else 0)
        moved = np.expand_dims(x, tuple(normalised(axes, rank))) if node.kind == "Unsqueeze" else None
        sizes = list((moved if moved is not None else np.squeeze(x, tuple(normalised(axes, rank)))).shape)
    return _bits(dml.element_wise_identity(x), x).reshape(sizes)


@converts("Transpose")
def transpose(node: Node) -> Array:
    order = node.attribute("perm", list(reversed(range(node[0].ndim))))
    return dml.element_wise_identity(node[0].transpose(order))


@converts("Expand")
def expand(node: Node) -> Array:
    x, _ = alike(node[0], np.empty([int(size) for size in node[1]], np.int8))
    return dml.element_wise_identity(x)


@converts("Concat")
def concat(node: Node) -> Array:
    return dml.join(node.inputs, axis=node.axis(0))


@converts("Split")
def split(node: Node) -> Any:
    axis = node.axis(0)
    length = node[0].shape[axis]
    parts = node.given("split", 1)
    if parts is None:
        count = node.attribute("num_outputs", node.outputs)
        piece = -(-length // count)
        parts = [piece] * (count - 1) + [length - piece * (count - 1)]
    sizes = [[part if place == axis else n for place, n in enumerate(node[0].shape)] for part in parts]
    return tuple(dml.split(node[0], axis=axis, output_sizes=sizes))


@converts("Slice")
def slice_(node: Node) -> Array:
    x = node[0]
    starts, ends = node.given("starts", 1), node.given("ends", 2)
    axes = node.given("axes", 3) or list(range(len(starts)))
    steps = node.given("steps", 4) or [1] * len(starts)
    windows = [(0, n, 1) for n in x.shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        taken = range(*slice(start, end, step).indices(x.shape[axis]))
        if not taken:
            raise NotExpressible("a size is 0, and those of DirectML are at least 1")
        low, high = min(taken[0], taken[-1]), max(taken[0], taken[-1])
        windows[axis % x.ndim] = (low, high - low + 1, step)
    offsets, sizes, strides = (list(column) for column in zip(*windows, strict=True))
    return dml.slice1(
        x,
        input_window_offsets=offsets,
        input_window_sizes=sizes,
        input_window_strides=strides,
        output_sizes=[-(-size // abs(stride)) for size, stride in zip(sizes, strides, strict=True)],
    )


@converts("Tile")
def tile(node: Node) -> Array:
    return dml.tile(node[0], repeats=[int(count) for count in node[1]])


@converts("Pad")
def pad(node: Node) -> Array:
    x, pads = node[0], node.given("pads", 1)
    axes = node.given("axes", 3)
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    amounts = np.zeros((2, x.ndim), int)
    for place, axis in enumerate(axes):
        amounts[:, axis] = pads[place], pads[place + len(axes)]
    if (amounts < 0).any():
        raise NotExpressible("a negative padding is a slice")
    modes = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "wrap": "WRAP"}
    value = node.get(2)
    start, end = amounts.tolist()
    mode = modes[node.attribute("mode", b"constant").decode()]
    number = 0 if value is None else scalar(value)
    return dml.padding1(x, start_padding=start, end_padding=end, padding_mode=mode, padding_value=number)


@converts("DepthToSpace", "SpaceToDepth")
def blocks(node: Node) -> Array:
    orders = {b"DCR": "DEPTH_COLUMN_ROW", b"CRD": "COLUMN_ROW_DEPTH"}
    function = dml.depth_to_space1 if node.kind == "DepthToSpace" else dml.space_to_depth1
    return function(node[0], block_size=node.attribute("blocksize"), order=orders[node.attribute("mode", b"DCR")])


@converts("Col2Im")
def fold(node: Node) -> Array:
    image, window = [int(n) for n in node[1]], [int(n) for n in node[2]]
    rank = len(image)
    pads = node.attribute("pads", [0] * 2 * rank)
    return dml.fold(
        node[0],
        output_sizes=image,
        window_sizes=window,
        strides=node.attribute("strides", [1] * rank),
        dilations=node.attribute("dilations", [1] * rank),
        start_padding=pads[:rank],
        end_padding=pads[rank:],
    )


@converts("CenterCropPad")
def center_crop_pad(node: Node) -> Array:
    """A slice, then a padding."""
    x = node[0]
    wanted = dict(zip(node.attribute("axes", range(x.ndim)), node[1], strict=True))
    sizes = list(x.shape)
    for axis, size in wanted.items():
        sizes[axis] = int(size)
    offsets = [max(0, (n - size) // 2) for n, size in zip(x.shape, sizes, strict=True)]
    kept = [min(n, size) for n, size in zip(x.shape, sizes, strict=True)]
    inner = dml.slice1(x, input_window_offsets=offsets, input_window_sizes=kept)
    before = [(size - n) // 2 for n, size in zip(kept, sizes, strict=True)]
    after = [size - n - first for n, size, first in zip(kept, sizes, before, strict=True)]
    return dml.padding1(inner, start_padding=before, end_padding=after)


@converts("Range")
def sequence(node: Node) -> Array:
    start, limit, delta = (np.asarray(node[place]) for place in range(3))
    count = max(0, int(np.ceil((limit - start) / delta)))
    return dml.fill_value_sequence(
        output_sizes=count, value_start=scalar(start), value_delta=scalar(delta), output_dtype=start.dtype
    )


@converts("ConstantOfShape")
def constant(node: Node) -> Array:
    from onnx import numpy_helper

    value = numpy_helper.to_array(node.attribute("value"))
    sizes = [int(size) for size in node[0]]
    return dml.fill_value_constant(output_sizes=sizes or [1], value=scalar(value), output_dtype=value.dtype)


@converts("Constant")
def literal(node: Node) -> Array:
    from onnx import numpy_helper

    return dml.element_wise_identity(numpy_helper.to_array(node.attribute("value")))


@converts("EyeLike")
def eye(node: Node) -> Array:
    from onnx import helper

    given = node.attribute("dtype")
    dtype = node[0].dtype if given is None else helper.tensor_dtype_to_np_dtype(given)
    return dml.diagonal_matrix(output_sizes=node[0].shape, offset=node.attribute("k", 0), output_dtype=dtype)


@converts("Trilu")
def triangle(node: Node) -> Array:
    """What is beyond the diagonal becomes 0: DIAGONAL_MATRIX1 keeps the other elements of its input."""
    x, place = node[0], node.get(1)
    k = 0 if place is None else int(scalar(place))
    rows, columns = x.shape[-2:]
    begin, end = (-rows, k) if node.attribute("upper", 1) else (k + 1, columns)
    clamped = (max(-rows, min(columns, begin)), max(-rows, min(columns, end)))
    return dml.diagonal_matrix1(
        x, output_sizes=x.shape, value=0, diagonal_fill_begin=clamped[0], diagonal_fill_end=max(clamped)
    )


ROUNDINGS = {
    "round_prefer_floor": ("INCREASING", 0.5),
    "round_prefer_ceil": ("DECREASING", -0.5),
    "floor": ("DECREASING", 0.0),
    "ceil": ("INCREASING", 0.0),
}
"""For each way to choose the nearest element: a direction, and what is added to the offsets in the input."""
FURTHEST = float(np.finfo(np.float32).max)
"""A scale with which all places are those of the first element."""


@converts("Resize", "Upsample")
def resize(node: Node) -> Array:
    """The coordinates of ONNX as offsets and scales of each axis."""
    x, mode = node[0], node.attribute("mode", b"nearest").decode()
    old = node.kind == "Upsample"
    if mode == "cubic":
        raise NotExpressible("DirectML has no cubic interpolation")
    scales, sizes = _scales(node, node.get(1) if old else node.get(2), None if old else node.get(3))
    smooth = bool(node.attribute("antialias", 0)) and mode == "linear"
    if smooth and any(0.5 <= scale < 1 for scale in scales):
        raise NotExpressible("RESAMPLE3 widens the filter of scales of less than a half only")
    if node.attribute("exclude_outside", 0):
        raise NotExpressible("RESAMPLE3 repeats the elements at the ends")
    coordinates = "asymmetric" if old else node.attribute("coordinate_transformation_mode", b"half_pixel").decode()
    axes = [_axis(coordinates, *one) for one in zip(x.shape, sizes, scales, strict=True)]
    nearest = "floor" if old else node.attribute("nearest_mode", b"round_prefer_floor").decode()
    direction, moved = ROUNDINGS[nearest]
    factors, before, after = (list(column) for column in zip(*axes, strict=True))
    if mode == "nearest":
        before = [one + moved for one in before]
    return dml.resample3(
        x,
        output_sizes=sizes,
        interpolation_mode="LINEAR" if mode == "linear" else "NEAREST_NEIGHBOR",
        rounding_direction=direction,
        scales=factors,
        input_pixel_offsets=before,
        output_pixel_offsets=after,
        antialiased=smooth,
    )


def _scales(node: Node, scales: Any, sizes: Any) -> tuple[list[float], list[int]]:
    """The scale and the size of each axis."""
    x = node[0]
    axes = node.attribute("axes")
    axes = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    factors, counts = [1.0] * x.ndim, list(x.shape)
    policy = node.attribute("keep_aspect_ratio_policy", b"stretch").decode()
    if scales is not None and scales.size:
        for axis, scale in zip(axes, scales.tolist(), strict=True):
            factors[axis], counts[axis] = scale, int(np.floor(x.shape[axis] * scale))
        return factors, counts
    wanted = [int(size) for size in sizes]
    ratios = [size / x.shape[axis] for axis, size in zip(axes, wanted, strict=True)]
    if policy != "stretch":
        ratios = [min(ratios) if policy == "not_larger" else max(ratios)] * len(axes)
        wanted = [int(np.floor(x.shape[axis] * ratio + 0.5)) for axis, ratio in zip(axes, ratios, strict=True)]
    for axis, size, ratio in zip(axes, wanted, ratios, strict=True):
        factors[axis], counts[axis] = ratio, size
    return factors, counts


def _axis(coordinates: str, size: int, count: int, scale: float) -> tuple[float, float, float]:
    """The scale of an axis, and the offsets in the input and in the output."""
    if coordinates == "half_pixel" or (coordinates == "pytorch_half_pixel" and count > 1):
        return scale, 0.5, -0.5
    if coordinates == "half_pixel_symmetric":
        return scale, 0.5 - size / 2 * (1 - count / (scale * size)), -0.5
    if coordinates == "align_corners" and count > 1 and size > 1:
        return (scale * size - 1) / (size - 1), 0.0, 0.0
    if coordinates in ("align_corners", "pytorch_half_pixel"):
        return FURTHEST, 0.0, 0.0
    if coordinates == "asymmetric":
        return scale, 0.0, 0.0
    if coordinates == "tf_half_pixel_for_nn":
        return scale, 0.0, -0.5
    raise NotExpressible("DirectML has no value beyond the ends of the input")


def _bits(result: Array, like: Array) -> Array:
    """Truth as truth again."""
    return result.view(bool) if like.dtype == bool else result
