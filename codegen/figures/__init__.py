"""Plan to the figures of the reference: for each operator an SVG of its examples that shows what moves where.

The family says which elements each element of the output is made of. Here they are drawn: tensors as grids of cells,
and in one colour what belongs together. A figure has a light background: an image does not see that of its page.
"""

from __future__ import annotations

from collections.abc import Iterator

import jinja2

from ..plan import OperatorPlan, Plan
from .panels import figure, sentences
from .shown import examples
from .tiles import xml

FOLDER = "docs/reference/figures"

__all__ = ["alt", "figures", "xml"]


def figures(env: jinja2.Environment, plan: Plan) -> Iterator[tuple[str, str]]:
    """The committed figures: path relative to the checkout, and text."""
    for op in plan.operators:
        if op.operator.examples:
            yield f"{FOLDER}/{op.python}.svg", env.get_template("docs/figure.svg.j2").render(figure=figure(op))


def alt(op: OperatorPlan) -> str:
    """What stands in place of a figure where it cannot be seen."""
    return " ".join(["The input and the output of an example, cell by cell.", *sentences(examples(op))])
