"""Products of matrices, convolutions, and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnx_mapping.node import Array, Node, NotExpressible, along, converts, dml


@converts("Gemm")
def gemm(node: Node) -> Array:
    a, b, c = node[0], node[1], node.get(2)
    turned = [node.attribute(name, 0) for name in ("transA", "transB")]
    rows, columns = a.shape[1 if turned[0] else 0], b.shape[0 if turned[1] else 1]
    return dml.gemm(
        a,
        b,
        None if c is None else np.broadcast_to(c, (rows, columns)),
        trans_a="TRANSPOSE" if turned[0] else "NONE",
        trans_b="TRANSPOSE" if turned[1] else "NONE",
        alpha=node.attribute("alpha", 1.0),
        beta=node.attribute("beta", 1.0),
    )


def matrices(a: Array, b: Array) -> tuple[Array, Array, list[int]]:
    """The operands with equal leading axes, at most two of them, and the sizes of the product in ONNX."""
    left = a[np.newaxis] if a.ndim == 1 else a
    right = b[:, np.newaxis] if b.ndim == 1 else b
    lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    sizes = [*lead, *left.shape[-2:-1], *right.shape[-1:]]
    if a.ndim == 1:
        del sizes[-2]
    if b.ndim == 1:
        del sizes[-1]
    if len(lead) > 2:
        raise NotExpressible("GEMM has at most two axes of batches")
    return np.broadcast_to(left, lead + left.shape[-2:]), np.broadcast_to(right, lead + right.shape[-2:]), sizes


@converts("MatMul")
def matmul(node: Node) -> Array:
    a, b, sizes = matrices(node[0], node[1])
    return dml.gemm(a, b).reshape(sizes)


@converts("MatMulInteger")
def matmul_integer(node: Node) -> Array:
    a, b, sizes = matrices(node[0], node[1])
    zeros = [None if zero is None else zero.reshape((1,) * a.ndim) for zero in (node.get(2), node.get(3))]
    return dml.matrix_multiply_integer(a, zeros[0], b, zeros[1]).reshape(sizes)


@converts("QLinearMatMul")
def quantized_matmul(node: Node) -> Array:
    a, b, sizes = matrices(node[0], node[3])
    factors = [node[place].reshape((1,) * a.ndim) for place in (1, 2, 4, 5, 6, 7)]
    return dml.quantized_linear_matrix_multiply(a, *factors[:2], b, *factors[2:]).reshape(sizes)


class Windows:
    """The attributes of windows, with one spatial axis as two of which the first has the size 1."""

    def __init__(self, node: Node, x: Array, kernel: Sequence[int]) -> None:
        self.rank = len(kernel)
        self.narrow = self.rank == 1
        self.strides = list(node.attribute("strides", [1] * self.rank))
        self.dilations = list(node.attribute("dilations", [1] * self.rank))
        self.kernel = list(kernel)
        pads = list(node.attribute("pads", [0] * 2 * self.rank))
        self.start, self.end = pads[: self.rank], pads[self.rank :]
        self.spatial = list(x.shape[2:])
        auto = node.attribute("auto_pad", b"NOTSET")
        if auto in (b"SAME_UPPER", b"SAME_LOWER"):
            self.pad_to([-(-n // stride) for n, stride in zip(self.spatial, self.strides, strict=True)], auto)

    def spans(self) -> list[int]:
        """How many elements a window covers along each axis."""
        return [(size - 1) * step + 1 for size, step in zip(self.kernel, self.dilations, strict=True)]

    def pad_to(self, output: Sequence[int], auto: bytes) -> None:
        """Pad until there are so many windows; an odd element comes last, or first where ``auto`` says so."""
        zipped = zip(output, self.strides, self.spans(), self.spatial, strict=True)
        totals = [max(0, (count - 1) * stride + span - n) for count, stride, span, n in zipped]
        halves = [total // 2 for total in totals], [total - total // 2 for total in totals]
        self.start, self.end = reversed(halves) if auto == b"SAME_LOWER" else halves

    def round_up(self) -> None:
        """Pad the end so that the last window is whole, where it begins in the input or the padding before it."""
        for axis, (n, span, stride) in enumerate(zip(self.spatial, self.spans(), self.strides, strict=True)):
            free = n + self.start[axis] + self.end[axis] - span
            count = -(-free // stride)
            if count * stride >= n + self.start[axis]:
                count -= 1
            self.end[axis] += max(0, count * stride - free)

    def wide(self, x: Array) -> Array:
        """A tensor with another axis, where there is only one."""
        return x[:, :, np.newaxis] if self.narrow else x

    def attributes(self, **more: Any) -> dict[str, Any]:
        """The attributes that convolutions and pooling share."""
        first = {"strides": 1, "dilations": 1, "start_padding": 0, "end_padding": 0}
        found = {
            "strides": self.strides, "dilations": self.dilations, "start_padding": self.start, "end_padding": self.end,
        }  # fmt: skip
        if self.narrow:
            found = {name: [first[name], *value] for name, value in found.items()}
        return {**found, **more}

    def window(self) -> list[int]:
        """The sizes of a window."""
        return [1, *self.kernel] if self.narrow else self.kernel


@converts("Conv")
def conv(node: Node) -> Array:
    x, filters, bias = node[0], node[1], node.get(2)
    windows = Windows(node, x, filters.shape[2:])
    shaped = None if bias is None else along(bias, 1, windows.wide(x).ndim)
    attributes = windows.attributes(group_count=node.attribute("group", 1))
    return _narrow(windows, dml.convolution(windows.wide(x), windows.wide(filters), shaped, **attributes))


@converts("ConvInteger")
def conv_integer(node: Node) -> Array:
    x, filters = node[0], node[1]
    windows = Windows(node, x, filters.shape[2:])
    zeros = [None if zero is None else along(zero.reshape(-1), 1, x.ndim) for zero in (node.get(2), node.get(3))]
    attributes = windows.attributes(group_count=node.attribute("group", 1))
    return dml.convolution_integer(x, zeros[0], filters, zeros[1], **attributes)


@converts("QLinearConv")
def quantized_conv(node: Node) -> Array:
    x, filters, bias = node[0], node[3], node.get(8)
    windows = Windows(node, x, filters.shape[2:])
    ones = (1,) * x.ndim
    scales = [node[1].reshape(ones), node[2].reshape(ones), filters, along(node[4].reshape(-1), 1, 4)]
    scales += [along(node[5].reshape(-1), 1, 4), None if bias is None else along(bias, 1, 4)]
    outputs = [node[6].reshape(ones), node[7].reshape(ones)]
    attributes = windows.attributes(group_count=node.attribute("group", 1))
    return dml.quantized_linear_convolution(x, *scales, *outputs, **attributes)


@converts("ConvTranspose")
def conv_transpose(node: Node) -> Array:
    x, filters, bias = node[0], node[1], node.get(2)
    windows = Windows(node, x, filters.shape[2:])
    groups, added = node.attribute("group", 1), list(node.attribute("output_padding", [0] * windows.rank))
    wanted, auto = node.attribute("output_shape"), node.attribute("auto_pad", b"NOTSET")
    if wanted is None and auto.startswith(b"SAME"):
        wanted = [n * stride for n, stride in zip(windows.spatial, windows.strides, strict=True)]
    if wanted is not None:
        zipped = zip(windows.spatial, windows.strides, windows.spans(), added, wanted, strict=True)
        totals = [max(0, (n - 1) * stride + span + more - size) for n, stride, span, more, size in zipped]
        halves = [total // 2 for total in totals], [total - total // 2 for total in totals]
        windows.start, windows.end = halves if auto == b"SAME_UPPER" else reversed(halves)
        zipped = zip(windows.spatial, windows.strides, windows.spans(), wanted, totals, strict=True)
        added = [size + total - (n - 1) * stride - span for n, stride, span, size, total in zipped]
    wide = windows.wide(x)
    attributes = windows.attributes(group_count=groups, direction="BACKWARD")
    attributes["output_padding"] = [0, *added] if windows.narrow else added
    shaped = None if bias is None else along(bias, 1, wide.ndim)
    return _narrow(windows, dml.convolution(wide, windows.wide(filters), shaped, **attributes))


@converts("MaxPool", "AveragePool", "LpPool")
def pool(node: Node) -> Any:
    x = node[0]
    windows = Windows(node, x, node.attribute("kernel_shape"))
    if node.attribute("storage_order", 0):
        raise NotExpressible("MAX_POOLING2 counts indices in row-major order only")
    counted = bool(node.attribute("count_include_pad", 0))
    if node.attribute("ceil_mode", 0):
        before = list(windows.end)
        windows.round_up()
        if counted and windows.end != before:
            raise NotExpressible("what is beyond the padding would count as padding")
    attributes = windows.attributes(window_size=windows.window())
    if node.kind == "AveragePool":
        return _narrow(windows, dml.average_pooling1(windows.wide(x), include_padding=counted, **attributes))
    if node.kind == "LpPool":
        return _narrow(windows, dml.lp_pooling1(windows.wide(x), p=node.attribute("p", 2), **attributes))
    if node.outputs == 1:
        return _narrow(windows, dml.max_pooling2(windows.wide(x), **attributes))
    largest, places = dml.max_pooling2(windows.wide(x), output_indices=np.uint64, **attributes)
    return _narrow(windows, largest), _narrow(windows, places).view(np.int64)


@converts("GlobalMaxPool", "GlobalAveragePool")
def global_pool(node: Node) -> Array:
    function = dml.max_pooling if node.kind == "GlobalMaxPool" else dml.average_pooling
    return function(node[0], window_size=node[0].shape[2:])


@converts("MaxUnpool")
def unpool(node: Node) -> Array:
    given = node.get(2)
    kernel, strides = node.attribute("kernel_shape"), node.attribute("strides")
    sizes = [(n - 1) * stride + size for n, stride, size in zip(node[0].shape[2:], strides, kernel, strict=True)]
    whole = [*node[0].shape[:2], *sizes]
    if given is not None and [int(size) for size in given] != whole:
        raise NotExpressible("the indices count the elements of another tensor than the output")
    return dml.max_unpooling(node[0], node[1].view(np.uint64), output_sizes=whole)


def _narrow(windows: Windows, result: Array) -> Array:
    return result[:, :, 0] if windows.narrow else result
