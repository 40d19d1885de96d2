"""Plan to the figures of the reference: an SVG of the examples that a spec marks shows what moves where.

The family says which elements each element of the output is made of. Here they are drawn: tensors as grids of cells,
and in one colour what belongs together. A figure has a light background: an image does not see that of its page.
"""

from __future__ import annotations

import jinja2

from ..plan import OperatorPlan
from .panels import figure, sentences
from .shown import examples
from .tiles import xml

__all__ = ["alt", "figure_page", "xml"]


def figure_page(env: jinja2.Environment, op: OperatorPlan) -> str | None:
    """The figure of an operator, None where the spec marks no example."""
    return env.get_template("docs/figure.svg.j2").render(figure=figure(op)) if op.drawn else None


def alt(op: OperatorPlan) -> str:
    """The text in place of a figure for readers who cannot see it."""
    return " ".join(["The input and the output of an example, cell by cell.", *sentences(examples(op))])
