"""How many operations a call takes, as docs/profiling.md counts them: by hand for some descs, in kind for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from each import each_of
from example_descs import desc_of

import dmlcy as dml
from dmlcy._arithmetic.counted import COUNTING, element, operations
from dmlcy._facts.tables import OPERATORS
from dmlcy._families import family_of

MOVES = {"index", "pad", "rearrange", "views", "window_gather"}
"""Families whose operators only move elements."""
MOVE = {
    "ACTIVATION_IDENTITY", "CAST", "DIAGONAL_MATRIX", "DIAGONAL_MATRIX1", "FILL_VALUE_CONSTANT", "ONE_HOT", "RESAMPLE1",
    "RESAMPLE2", "UPSAMPLE_2D",
}  # fmt: skip
"""Operators of other families, whose first example only moves elements or fills with them."""


def tensor(*sizes: int, dtype: str = "FLOAT32") -> dml.TensorDesc:
    return dml.TensorDesc(dtype, sizes)


def counted(kind: str, *sizes: tuple[int, ...] | None, dtype: str = "FLOAT32", **attributes: Any) -> int | None:
    """The operations of the only node of a graph, whose inputs have these sizes."""
    g = dml.Graph()
    inputs = [None if one is None else g.input(tensor(*one, dtype=dtype)) for one in sizes]
    found = getattr(g, kind)(*inputs, **attributes)
    outputs = found if isinstance(found, tuple) else (found,)
    node = g.build(*outputs).nodes[0]
    assert isinstance(node, dml.graph.Node)
    return family_of(node.desc.operator).operations(node.desc)


RELU = dml.desc.ActivationRelu()
TWICE = {"scales": (1, 1, 2, 2), "output_sizes": (1, 1, 4, 6)}
A, B, C = (1, 1, 3, 4), (1, 1, 4, 5), (1, 1, 3, 5)
CASES = [
    # two for each product, whatever is transposed; the summand, factors that are not 1, and the activation
    (2 * 3 * 4 * 5, "gemm", (A, B), {}),
    (2 * 3 * 4 * 5, "gemm", (A, (1, 1, 5, 4)), {"trans_b": "TRANSPOSE"}),
    (120 + 15, "gemm", (A, B, C), {}),
    (120 + 3 * 15, "gemm", (A, B, C), {"alpha": 0.5, "beta": 2.0}),
    (120 + 15 + 15, "gemm", (A, B, C), {"fused_activation": RELU}),
    (120 + 5 * 15, "gemm", (A, B), {"fused_activation": dml.desc.ActivationSoftmax()}),
    # 64 places, 6 channels, 3 * 9 products each; then a bias; two groups; backwards for each element of the input
    (2 * 64 * 6 * 27, "convolution", ((1, 3, 8, 8), (6, 3, 3, 3)), {"start_padding": 1, "end_padding": 1}),
    (2 * 36 * 6 * 27 + 36 * 6, "convolution", ((1, 3, 8, 8), (6, 3, 3, 3), (1, 6, 1, 1)), {}),
    (2 * 36 * 6 * 9, "convolution", ((1, 6, 8, 8), (6, 1, 3, 3)), {"group_count": 6}),
    (2 * 4 * 25 * 2 * 9, "convolution", ((1, 4, 5, 5), (4, 2, 3, 3)), {"direction": "BACKWARD", "strides": 2}),
    # expressions: what is in common counts once, a choice counts nothing
    (24, "element_wise_add", ((2, 3, 4), (2, 3, 4)), {}),
    (24, "activation_relu", ((2, 3, 4),), {}),
    (24 * 3, "element_wise_clip", ((2, 3, 4),), {"min": 0.0, "max": 6.0}),
    (24 * 5, "element_wise_clip", ((2, 3, 4),), {"min": 0.0, "max": 6.0, "scale_bias": (2.0, 1.0)}),
    (24 * 4, "activation_hard_sigmoid", ((2, 3, 4),), {}),
    (24 * 2, "element_wise_difference_square", ((2, 3, 4), (2, 3, 4)), {}),
    # channels: sqrt(variance + epsilon), scale divided by it; elements: the mean, the scale and the bias
    (3 * 3 + 24 * 3, "batch_normalization", ((2, 3, 2, 2), *[(1, 3, 1, 1)] * 4), {"epsilon": 1e-5, "spatial": True}),
    # greatest, difference, exponential, sum, quotient
    (6 * 5, "activation_softmax1", ((2, 3),), {"axes": (1,)}),
    (24, "reduce", ((2, 3, 4),), {"function": "SUM", "axes": (1,)}),
    (24 * 2 + 8, "reduce", ((2, 3, 4),), {"function": "L2", "axes": (1,)}),
    (24, "argmax", ((2, 3, 4),), {"axes": (2,)}),
    (24, "cumulative_summation", ((2, 3, 4),), {"axis": 1}),
    # windows: one for each of 4 elements; the divisor
    (9 * 4, "max_pooling", ((1, 1, 4, 4),), {"window_size": 2}),
    (9 * 4 + 9, "average_pooling", ((1, 1, 4, 4),), {"window_size": 2}),
    # along each axis in turn, of 4 x 3 and then 4 x 6 elements, two neighbors each
    (2 * 2 * (12 + 24), "resample", ((1, 1, 2, 3),), {"interpolation_mode": "LINEAR", **TWICE}),
    (0, "resample", ((1, 1, 2, 3),), {"interpolation_mode": "NEAREST_NEIGHBOR", **TWICE}),
    (0, "slice", ((1, 1, 4, 4),), {"offsets": (0, 0, 1, 1), "sizes": (1, 1, 2, 2), "strides": 1}),
    # 2 heads of 4: 3 queries and 5 keys; products of scores and values, 5 of the softmax; the quotient
    (2 * 3 * 5 * (2 * 8 + 5) + 2 * 3 * 4, "multihead_attention", ((1, 3, 8), (1, 5, 8), (1, 5, 8)),
     {"scale": 0.5, "head_count": 2}),
]  # fmt: skip


@each_of("expected, kind, sizes, attributes", CASES)
def test_by_hand(expected: int, kind: str, sizes: tuple[Any, ...], attributes: dict[str, Any]) -> None:
    assert counted(kind, *sizes, **attributes) == expected


def test_recurrent_layers() -> None:
    """Of 7 steps, 2 sequences, 3 inputs and 5 units: two for each product, the rest by the equations."""
    sizes = (1, 7, 2, 3)
    tanh, sigmoid = dml.desc.ActivationTanh(), dml.desc.ActivationSigmoid()  # of one operation, and of four
    rnn = counted("rnn", sizes, (1, 1, 5, 3), (1, 1, 5, 5), activation_descs=[tanh], output_single=True)
    assert rnn == 7 * 2 * 5 * (2 * 8 + 1 + 1)
    gates = [sigmoid, tanh, tanh]
    lstm = counted("lstm", sizes, (1, 1, 20, 3), (1, 1, 20, 5), activation_descs=gates, output_single=True)
    assert lstm == 7 * 2 * 5 * (4 * (2 * 8 + 1) + 4 + 3 * 4 + 1 + 1)
    both = counted("lstm", sizes, (1, 2, 20, 3), (1, 2, 20, 5), (1, 1, 2, 40), activation_descs=gates * 2,
                   direction="BIDIRECTIONAL", output_single=True)  # fmt: skip
    assert both == 2 * (lstm + 7 * 2 * 5 * 8)


def test_every_operator_that_computes_has_operations() -> None:
    none = {"ROI_ALIGN", "ROI_ALIGN1", "ROI_ALIGN_GRAD", "ROI_POOLING"}
    for operator in OPERATORS.values():
        if not operator.runs:
            continue
        desc = desc_of(operator)
        found = family_of(operator).operations(desc)
        assert (found is None) == (operator.name in none), operator.name
        assert (found == 0) == (operator.family in MOVES or operator.name in MOVE), operator.name


def test_known_conditions_choose_and_constants_cost_nothing() -> None:
    m: Any = COUNTING
    x = element("x", (2, 3))
    assert operations([m.where(m.less(1, 2), m.multiply(x, x), m.divide(x, x))]) == 6
    assert operations([m.where(m.less(x, 2), m.multiply(x, x), m.divide(x, x))]) == 18
    assert operations([m.add(x, m.function("sqrt", m.multiply(2.0, 3.0)))]) == 6
    assert operations([m.sum(m.add(x, x), (0,))]) == 12
    assert operations([m.matmul(element("a", (2, 3, 4)), element("b", (4, 5)))]) == 2 * 2 * 3 * 4 * 5
    assert operations([1.0, np.float32(2)]) == 0
