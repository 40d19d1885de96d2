"""Activations."""

from __future__ import annotations

from math import pi, prod, sqrt
from typing import Final

import numpy as np

from dmlcy._desc.classes import desc_class
from dmlcy._frontends.onnx.conversions.elementwise import unary as unary
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.use import RANK, Use
from dmlcy._frontends.onnx.values import OnnxValue, right_aligned

CUBE: Final = 0.044715
"""The factor of the cube in the approximation of GELU."""


def parameterized_relu(use: Use) -> OnnxValue:
    """Before opset 7, a vector of slopes has one for each channel."""
    sizes = use[0].sizes
    is_vector = use.version.since < 7 and use[1].rank == 1 and prod(use[1].sizes) > 1
    slope = use.along(1, 1, sizes) if is_vector else use.spread(1, sizes)
    return use.out(use.make(use.right(0), slope), sizes)


def soft(use: Use) -> OnnxValue:
    """Before opset 13, all axes from the given one on are one."""
    axis = use.axis()
    last = axis + 1 if use.version.since >= 13 else max(use[0].rank, 1)
    return use.out(use.make(use.right(0), axes=use.promoted(range(axis, last))), use[0].sizes)


def shrink(use: Use) -> OnnxValue:
    """The threshold is called lambd in ONNX."""
    return use.out(use.make(use.right(0), bias=use.number("bias"), threshold=use.number("lambd")), use[0].sizes)


def dropout(use: Use) -> tuple[OnnxValue, OnnxValue | None]:
    """A model that is not trained drops nothing."""
    is_trained = "is_test" in use.version.attributes and not use.integer("is_test")
    if is_trained or (use.has(2) and use.constant(2).any()):
        use.refuse("DML-ONNX-unsupported", what="dropping elements at random")
    mask = None
    if use.wants(1):
        ones = np.broadcast_to(np.ones((), ELEMENTS[use.element(1)].numpy), use[0].sizes)
        mask = OnnxValue(use.element(1), use[0].sizes, read=lambda: ones)
    return use.out(use.make(use.right(0)), use[0].sizes), mask


def biased_gelu(use: Use) -> OnnxValue:
    """The activation is fused with the addition of the bias, where there is one."""
    sizes = use[0].sizes
    if not use.has(1):
        return use.out(use.way(1)(use.right(0)), sizes)
    gelu = desc_class(use.row.becomes[1][-1])()
    return use.out(use.make(use.right(0), use.spread(1, sizes), fused_activation=gelu), sizes)


def gelu(use: Use) -> OnnxValue:
    """The CPU computes it on a device. The approximation by tanh is the element times a sigmoid."""
    x, kind = use.right(0), use.text("approximate")
    if kind == "none":
        return use.out(use.g.activation_gelu(x), use[0].sizes)
    if kind != "tanh":
        use.refuse("DML-ONNX-attribute-value", name="approximate", value=kind, known=["none", "tanh"])
    slope = 2 * sqrt(2 / pi)
    square = use.g.element_wise_multiply(x, x)
    steep = use.g.element_wise_multiply(x, use.g.element_wise_identity(square, scale_bias=(CUBE * slope, slope)))
    return use.out(use.g.element_wise_multiply(x, use.g.activation_sigmoid(steep)), use[0].sizes)


def quick_gelu(use: Use) -> OnnxValue:
    """The element times the sigmoid of a multiple of it."""
    x, alpha = use.right(0), use.number("alpha")
    scaled = x if alpha == 1 else use.g.element_wise_identity(x, scale_bias=(alpha, 0))
    return use.out(use.g.element_wise_multiply(x, use.g.activation_sigmoid(scaled)), use[0].sizes)


def split_gelu(use: Use) -> OnnxValue:
    """The first half of the last axis times the activation of the second half."""
    use.require_rank(1)
    *lead, length = use[0].sizes
    if length % 2:
        use.refuse("DML-ONNX-unsupported", what=f"an axis of {length} elements in two halves")
    sizes = (*lead, length // 2)
    total = use.g.element_wise_add(use.right(0), use.spread(1, use[0].sizes))
    half = right_aligned(sizes, RANK)
    first, second = use.g.split(total, axis=len(half) - 1, output_sizes=[half, half])
    return use.out(use.g.element_wise_multiply(first, use.g.activation_gelu(second)), sizes)
