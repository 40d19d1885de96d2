"""Which elements of results are not judged, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from ..expr.text import formula
from ..model import Interpretation, Operator
from .markdown import code


def left_out(operator: Operator, item: Interpretation) -> Iterator[str]:
    """The condition of an interpretation, if it has one."""
    if item.not_judged is None:
        return
    of = f" of {' and '.join(map(code, item.outputs))}" if item.outputs else ""
    when = f"if {code(formula(item.when.node))}, elements" if item.when is not None else "elements"
    text = f"{when}{of} where {code(formula(item.not_judged.node))} are not judged"
    yield f"{text[0].upper()}{text[1:]} ({code(f'{operator.name}-{item.id}')})."
