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


@converts("Resize", "Upsample")
def resize(node: Node) -> Array:
    """Whole multiples along the last two axes."""
    x, given = node[0], node.get(1) if node.kind == "Upsample" else node.get(2)
    sizes = node.get(3)
    if node.attribute("axes") is not None or node.attribute("keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise NotExpressible("UPSAMPLE_2D has no axes of the caller's choice")
    scales = np.asarray(given if sizes is None else np.asarray(sizes) / x.shape, np.float64)
    if x.ndim != 4 or (scales[:2] != 1).any() or (scales % 1 != 0).any():
        raise NotExpressible("UPSAMPLE_2D multiplies height and width by whole numbers")
    mode, place = node.attribute("mode", b"nearest"), node.attribute("coordinate_transformation_mode", b"half_pixel")
    rounding = node.attribute("nearest_mode", b"round_prefer_floor")
    halves = place == b"half_pixel" and rounding == b"round_prefer_floor"
    floors = (place, rounding) == (b"asymmetric", b"floor")
    nearest = mode == b"nearest" and (node.kind == "Upsample" or halves or floors)
    if not nearest and not (mode == b"linear" and place == b"half_pixel"):
        raise NotExpressible("UPSAMPLE_2D has no such coordinates, or no such interpolation")
    height, width = int(scales[2]), int(scales[3])
    return dml.upsample_2d(
        x, scale_size=(height, width), interpolation_mode="NEAREST_NEIGHBOR" if nearest else "LINEAR"
    )


def _bits(result: Array, like: Array) -> Array:
    """Truth as truth again."""
    return result.view(bool) if like.dtype == bool else result
