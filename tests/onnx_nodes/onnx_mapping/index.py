"""Operators of ONNX that choose elements by indices or by their values."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from onnx_mapping.node import Array, Node, NotExpressible, converts, dml, scalar, with_rank

SIDES: Final = ("height", "width")


@converts("Gather")
def gather(node: Node) -> Array:
    x, indices = node[0], node[1]
    rank = max(x.ndim, indices.ndim, x.ndim + indices.ndim - 1)
    axis = node.axis(0)
    found = dml.gather(
        with_rank(x, rank),
        with_rank(indices, rank),
        axis=axis + rank - x.ndim,
        index_dimensions=indices.ndim,
    )
    return found.reshape(x.shape[:axis] + indices.shape + x.shape[axis + 1 :])


@converts("GatherElements")
def gather_elements(node: Node) -> Array:
    return dml.gather_elements(node[0], node[1], axis=node.axis(0))


@converts("GatherND")
def gather_nd(node: Node) -> Array:
    x, indices = node[0], node[1]
    batches, depth = node.attribute("batch_dims", 0), indices.shape[-1]
    sizes = indices.shape[:-1] + x.shape[batches + depth :]
    rank = max(x.ndim, indices.ndim, len(sizes))
    found = dml.gather_nd1(
        with_rank(x, rank),
        with_rank(indices, rank),
        input_dimension_count=x.ndim,
        indices_dimension_count=indices.ndim,
        batch_dimension_count=batches,
    )
    return found.reshape(sizes)


@converts("Scatter", "ScatterElements")
def scatter(node: Node) -> Array:
    if node.attribute("reduction", b"none") != b"none":
        raise NotExpressible("SCATTER writes over elements, and does not combine them")
    return dml.scatter(node[0], node[1], node[2], axis=node.axis(0))


@converts("ScatterND")
def scatter_nd(node: Node) -> Array:
    if node.attribute("reduction", b"none") != b"none":
        raise NotExpressible("SCATTER_ND writes over elements, and does not combine them")
    x, indices, updates = node[0], node[1], node[2]
    rank = max(x.ndim, indices.ndim, updates.ndim)
    found = dml.scatter_nd(
        with_rank(x, rank),
        with_rank(indices, rank),
        with_rank(updates, rank),
        input_dimension_count=x.ndim,
        indices_dimension_count=indices.ndim,
    )
    return found.reshape(x.shape)


@converts("ReverseSequence")
def reverse(node: Node) -> Array:
    x, batch, time = node[0], node.attribute("batch_axis", 1), node.attribute("time_axis", 0)
    lengths = node[1].astype(np.uint32).reshape([-1 if place == batch else 1 for place in range(x.ndim)])
    wanted = [1 if place == time else size for place, size in enumerate(x.shape)]
    return dml.reverse_subsequences(x, np.broadcast_to(lengths, wanted), axis=time)


@converts("OneHot")
def one_hot(node: Node) -> Array:
    indices, depth, values = node[0], int(scalar(node[1])), node[2]
    if indices.dtype.kind == "f":
        raise NotExpressible("ONE_HOT does not take this data type")
    rank = indices.ndim + 1
    axis = node.attribute("axis", -1) % rank
    places = np.expand_dims(indices, axis)
    sizes = [depth if place == axis else size for place, size in enumerate(places.shape)]
    return dml.one_hot(places, with_rank(values, rank), axis=axis, output_sizes=sizes)


@converts("NonZero")
def nonzero(node: Node) -> Array:
    count, places = dml.nonzero_coordinates(node[0])
    return places[: int(scalar(count))].T.astype(np.int64)


@converts("RoiAlign")
def roi_align(node: Node) -> Array:
    halves = node.attribute("coordinate_transformation_mode", b"half_pixel") == b"half_pixel"
    if node.attribute("mode", b"avg") == b"max":
        raise NotExpressible("its maximum is of elements times their weights, and not of the means of them")
    samples, scale = node.attribute("sampling_ratio", 0), node.attribute("spatial_scale", 1.0)
    return dml.roi_align1(
        node[0],
        node[1],
        node[2].astype(np.uint32),
        output_sizes=[node.attribute(f"output_{one}", 1) for one in SIDES],
        reduction_function="AVERAGE",
        interpolation_mode="LINEAR",
        maximum_samples_per_output=samples or 2**32 - 1,
        minimum_samples_per_output=samples or 1,
        spatial_scale_x=scale,
        spatial_scale_y=scale,
        input_pixel_offset=0.5 if halves else 0.0,
    )


@converts("TopK")
def top_k(node: Node) -> Any:
    direction = "DECREASING" if node.attribute("largest", 1) else "INCREASING"
    values, places = dml.top_k1(
        node[0],
        axis=node.axis(-1),
        k=int(scalar(node[1])),
        axis_direction=direction,
        output_index_dtype=np.uint64,
    )
    return values, places.view(np.int64)
