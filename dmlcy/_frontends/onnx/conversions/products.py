"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.activations import activation, fused
from dmlcy._frontends.onnx.equations import Equation, Turns, recognised
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, packed, right_aligned
from dmlcy._graph.values import Value
from dmlcy._runtime import four_bits

MIDDLE: Final = (0, 2, 1, 3)
"""The order of four axes whose two in the middle change places."""


class Matrices(NamedTuple):
    """Sizes and strides under which an input is read; the last two axes are rows and columns."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]


def _matrices(use: Use, one: OnnxValue, *, is_left: bool) -> Matrices:
    """An operand as matrices: a vector is a row of the left matrices, or a column of the right ones."""
    if one.rank == 0:
        use.refuse("DML-ONNX-rank", name=one.name, rank=0, wanted="at least 1")
    sizes = one.sizes if one.rank > 1 else (1, *one.sizes) if is_left else (*one.sizes, 1)
    return Matrices(sizes, packed(sizes))


class Product:
    """The operands of a product with equal batches.

    Attributes
    ----------
    a, b
        The values.
    whole
        The sizes of the product of the matrices.
    sizes
        Its sizes in ONNX: without the axes that vectors do not have.
    """

    def __init__(self, use: Use, a: OnnxValue, b: OnnxValue, *turned: Matrices) -> None:
        left, right = turned or (_matrices(use, a, is_left=True), _matrices(use, b, is_left=False))
        batches = _together(use, left.sizes[:-2], right.sizes[:-2])
        self.a, self.b = _spread(use, a, left, batches), _spread(use, b, right, batches)
        ends = left.sizes[-2:-1], right.sizes[-1:]
        self.whole = (*batches, *ends[0], *ends[1])
        self.sizes = (*batches, *(ends[0] if a.rank > 1 else ()), *(ends[1] if b.rank > 1 else ()))


def _together(use: Use, left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    """The sizes of the batches."""
    try:
        return np.broadcast_shapes(tuple(left), tuple(right))
    except ValueError:
        use.refuse("DML-ONNX-broadcast", sizes=[*right], wanted=[*left])


def _spread(use: Use, one: OnnxValue, matrices: Matrices, batches: tuple[int, ...]) -> Value:
    """An operand, repeated by strides of 0, with axes of size 1 in front up to rank 4."""
    missing = len(batches) + 2 - len(matrices.sizes)
    sizes = (1,) * missing + matrices.sizes
    strides = [0] * missing + [*matrices.strides]
    for axis, batch in enumerate(batches):
        if sizes[axis] != batch:
            strides[axis] = 0
    wanted = right_aligned((*batches, *sizes[-2:]), RANK)
    whole = (0,) * (len(wanted) - len(strides)) + tuple(strides)
    own = packed(wanted)
    is_packed = all(size == 1 or mine == step for size, mine, step in zip(wanted, whole, own, strict=True))
    return use.view(one, wanted, None if is_packed else whole)


def gemm(use: Use) -> OnnxValue:
    a, b = (use.require_rank(2, 2, place) for place in (0, 1))
    turned = [bool(use.attribute(name)) for name in ("transA", "transB")]
    sizes = a.sizes[turned[0]], b.sizes[not turned[1]]
    modes = ["TRANSPOSE" if one else "NONE" for one in turned]
    value = use.make(
        use.right(0),
        use.right(1),
        use.spread(2, sizes) if use.has(2) else None,
        trans_a=modes[0],
        trans_b=modes[1],
        alpha=use.number("alpha"),
        beta=use.number("beta"),
        fused_activation=fused(use),
    )
    return use.out(value, sizes)


def matmul(use: Use) -> OnnxValue:
    product = Product(use, use[0], use[1])
    return use.out(use.make(product.a, product.b, beta=0.0, fused_activation=fused(use)), product.sizes)


def fused_matmul(use: Use) -> OnnxValue:
    """Transposed matrices and batches are strides."""
    a, b = (_transposed(use, place, letter) for place, letter in enumerate("AB"))
    product = Product(use, use[0], use[1], a, b)
    desc = _activation(use, len(product.whole))
    alpha = use.number("alpha")
    return use.out(use.make(product.a, product.b, alpha=alpha, beta=0.0, fused_activation=desc), product.sizes)


def _activation(use: Use, rank: int) -> OperatorDesc | None:
    """The activation of a node of the name FusedMatMulActivation; its axis is one of the product."""
    name = use.attribute("activation")
    if name is None:
        return None
    fields = {}
    if name == "Softmax":
        axis = use.attribute("activation_axis")
        (axis,) = use.axes([-1 if axis is None else axis], "activation_axis", rank)
        fields["axes"] = [axis + max(RANK - rank, 0)]
    return activation(use, "fused_activation", name, lambda number: use.attribute(f"activation_{number}"), **fields)


def _transposed(use: Use, place: int, letter: str) -> Matrices:
    """An operand: first the batches move behind the rows, then rows and columns change places."""
    one = use[place]
    sizes, strides = (([*numbers]) for numbers in _matrices(use, one, is_left=place == 0))
    if use.attribute(f"transBatch{letter}"):
        use.require_rank(3, place=place)
        for numbers in (sizes, strides):
            numbers.insert(-1, numbers.pop(0))
    if use.attribute(f"trans{letter}") and one.rank > 1:
        for numbers in (sizes, strides):
            numbers[-2:] = numbers[:-3:-1]
    return Matrices(tuple(sizes), tuple(strides))


def matmul_integer(use: Use) -> OnnxValue:
    product = Product(use, use[0], use[1])
    zeros = _rows(use, 2), _columns(use, 3)
    return use.out(use.make(product.a, zeros[0], product.b, zeros[1]), product.sizes)


def matmul_integer_to_float(use: Use) -> OnnxValue:
    product = Product(use, use[0], use[1])
    left, right = (_rows(use, 2), _rows(use, 4)), (_columns(use, 3), _columns(use, 5))
    bias = use.spread(6, product.whole) if use.has(6) else None
    return use.out(use.make(product.a, *left, product.b, *right, bias), product.sizes)


def qlinear_matmul(use: Use) -> OnnxValue:
    product = Product(use, use[0], use[3])
    left, right, output = (_rows(use, 1), _rows(use, 2)), (_columns(use, 4), _columns(use, 5)), (6, 7)
    value = use.make(product.a, *left, product.b, *right, *(_rows(use, place) for place in output))
    return use.out(value, product.sizes)


def _rows(use: Use, place: int) -> Value | None:
    """An input that has an element for each row, or one for all; None where it is left out."""
    if not use.has(place):
        return None
    sizes = use[place].sizes
    return use.view(place, right_aligned((*sizes, 1) if len(sizes) == 1 else sizes, RANK))


def _columns(use: Use, place: int) -> Value | None:
    """An input that has an element for each column, or one for all; None where it is left out."""
    return use.right(place) if use.has(place) else None


def dynamic_quantize_matmul(use: Use) -> OnnxValue:
    """The left matrices are quantized to the data type of the right ones."""
    quantize = use.method(use.row.becomes[0][0])
    whole, scale, zero = quantize(use.right(0), output_dtype=use[1].dtype)
    product = Product(use, OnnxValue(use[1].element, use[0].sizes, value=whole), use[1])
    right = _columns(use, 2), _columns(use, 3)
    bias = use.spread(4, product.whole) if use.has(4) else None
    return use.out(use.make(product.a, scale, zero, product.b, *right, bias), product.sizes)


def matmul_n_bits(use: Use) -> OnnxValue:
    """The weights are bytes in ONNX, and hold a matrix of N rows and K columns whose blocks share a scale.

    ONNX Runtime repeats the matrix for each batch, by strides of 0. Here all batches are one: the rows are the same.
    """
    for place, name in ((4, "g_idx"), (5, "bias")):
        if use.has(place):
            use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with {name}")
    if use.attribute("weight_prepacked"):
        use.refuse("DML-ONNX-unsupported", what=f"{use.row.name} with weights of another layout")
    bits, block = use.integer("bits"), use.integer("block_size")
    rows, columns = use.integer("N"), use.integer("K")
    a = use.require_rank(2)
    if bits not in (4, 8):
        use.refuse("DML-ONNX-attribute-value", name="bits", value=bits, known=[4, 8])
    if block < 1 or columns % block:
        use.refuse("DML-ONNX-unsupported", what=f"{columns} columns in blocks of {block}")
    ones, blocks = (1,) * (a.rank - 2), columns // block
    for place, wanted in ((1, (rows, blocks, -(-block * bits // 8))), (2, (rows, blocks))):
        if prod(use[place].sizes) != prod(wanted) or rows < 1:
            use.refuse("DML-ONNX-sizes", name=use[place].name, sizes=use[place].sizes, wanted=wanted)
    factors = [use.view(2, (*ones, rows, blocks))]
    if use.has(3):
        factors.append(_zero_points(use, (*ones, rows, blocks), bits))
    dequantize = use.method(use.row.becomes[0][0])
    weights = use.view(1, (*ones, rows, columns), dtype=f"UINT{bits}")
    kind = "SCALE_ZERO_POINT" if use.has(3) else "SCALE"  # whose zero point is the middle of the integers, too
    whole = dequantize(weights, factors, quantization_type=kind, output_dtype=a.dtype)
    left = use.view(0, (*ones, prod(a.sizes[:-1]), a.sizes[-1]))
    return use.out(use.make(left, whole, trans_b="TRANSPOSE", beta=0.0), (*a.sizes[:-1], rows))


def _zero_points(use: Use, sizes: tuple[int, ...], bits: int) -> Value:
    """A zero point for each block.

    The rows of ONNX begin with a byte: constants of 4 bits are moved together, and others have strides.
    """
    dtype, (rows, blocks), given = f"UINT{bits}", sizes[-2:], use[3]
    if given.element != "UINT8":
        use.refuse("DML-ONNX-input-type", element=given.element, name=given.name, wanted="UINT8")
    step = -(-blocks * bits // 8)
    if prod(given.sizes) != rows * step:
        use.refuse("DML-ONNX-sizes", name=given.name, sizes=given.sizes, wanted=(rows, step))
    if step * 8 == blocks * bits:
        return use.view(given, sizes, dtype=dtype)
    if given.read is None:
        return use.view(given, sizes, (*(0,) * (len(sizes) - 2), step * 8 // bits, 1), dtype)
    bytes_ = given.read().reshape(rows, step)
    halves = np.stack([bytes_ & 15, bytes_ >> 4], -1).reshape(rows, -1)[:, :blocks]
    packed_ = four_bits.in_bytes(four_bits.marked(halves, dtype))
    return use.view(_constant(packed_, f"{given.name}_together"), sizes, dtype=dtype)


def _constant(bytes_: NDArray[np.uint8], name: str) -> OnnxValue:
    """Bytes that are no value of the model."""
    return OnnxValue("UINT8", bytes_.shape, read=lambda: bytes_, name=name)


def einsum(use: Use) -> OnnxValue:
    """The ways of the tables: a product of matrices, a product of elements, a sum, a copy."""
    text = use.text("equation")
    equation = recognised(text)
    if equation is None or len(equation.inputs) != len(use.inputs):
        use.refuse("DML-ONNX-unsupported", what=f"the equation {text}")
    known = _labels(use, equation)
    sizes = tuple(known[one] for one in equation.output)
    if equation.is_identity:
        return use.out(use.way(3)(use.right(0)), sizes)
    if equation.is_transpose:
        order = [equation.inputs[0].index(one) for one in equation.output]
        return use.out(use.way(3)(_reordered(use, 0, order)), sizes)
    if equation.is_multiply:
        return use.out(use.way(1)(use.right(0), use.right(1)), sizes)
    if equation.is_sum:
        added = [axis for axis, one in enumerate(equation.inputs[0]) if one not in equation.output]
        return use.out(use.way(2)(use.view(0, use[0].sizes), function="SUM", axes=added), sizes)
    turns = equation.product or Turns()
    fields: dict[str, object] = {"trans_a": turns.a, "trans_b": turns.b, "beta": 0.0}
    if not turns.swapped:
        left = use.view(0, (1, 1, *sizes[:1], 1)) if turns.is_column else use.right(0)
        return use.out(use.make(left, use.right(1), **fields), sizes)
    operands = [_reordered(use, place, MIDDLE) for place in (0, 1)]
    strides = packed(sizes)
    desc = TensorDesc(use.dtype(), [sizes[axis] for axis in MIDDLE], [strides[axis] for axis in MIDDLE])
    value = use.make(*operands, outputs=desc, **fields)
    return use.out(use.g.reinterpret(value, TensorDesc(use.dtype(), sizes)), sizes)


def _labels(use: Use, equation: Equation) -> dict[str, int]:
    """The size of each label."""
    known: dict[str, int] = {}
    for place, labels in enumerate(equation.inputs):
        one = use.require_rank(len(labels), len(labels), place)
        for label, size in zip(labels, one.sizes, strict=True):
            if known.setdefault(label, size) != size:
                wanted = [known.get(other, length) for other, length in zip(labels, one.sizes, strict=True)]
                use.refuse("DML-ONNX-broadcast", sizes=[*one.sizes], wanted=wanted)
    return known


def _reordered(use: Use, place: int, order: Sequence[int]) -> Value:
    """An input with its axes in another order, by strides."""
    sizes = use[place].sizes
    strides = packed(sizes)
    return use.view(place, [sizes[axis] for axis in order], [strides[axis] for axis in order])
