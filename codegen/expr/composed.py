"""Functions that are formulas of others: the reference evaluates the formula, and loops compute one function.

A loop in FLOAT32 that computed the formula would lose digits, or all of them where a part is too large or too small.
"""

from __future__ import annotations

from collections.abc import Mapping

from .nodes import Call, Node, filled, rebuilt
from .parse import COMPOSED, parse

FORMULAS: Mapping[str, tuple[str, str]] = {
    "sigmoid": ("x", "1 / (1 + exp(-x))"),
    "sigmoid_times": ("c a b", "c / (1 + exp(-a * b))"),
    "tanh_times": ("c a b", "c * tanh(a * b)"),
    "softplus_times": ("c a b", "c * ((a * b if a * b > 0 else 0.0) + log1p(exp(-abs(a * b))))"),
    "softplus_over": ("a b", "((a * b if a * b > 0 else 0.0) + log1p(exp(-abs(a * b)))) / a"),
    "scaled_expm1": ("a b", "a * expm1(b / a)"),
    "gelu": ("x", "x * erfc(-x / sqrt(2.0)) / 2"),
}
"""Of each function of ``COMPOSED`` the names of its arguments, and the formula."""


def written_out(node: Node) -> Node:
    """``node`` with the formulas of such functions in their place."""
    return rebuilt(node, _formula)


def _formula(node: Node) -> Node:
    if not isinstance(node, Call) or node.function not in COMPOSED:
        return node
    names, text = FORMULAS[node.function]
    return filled(parse(text), dict(zip(names.split(), node.args, strict=True)))
