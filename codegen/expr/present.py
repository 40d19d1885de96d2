"""Which tensors are known to be present where a part of an expression is evaluated: ``present(t) and rank(t) == 4``."""

from __future__ import annotations

from collections.abc import Iterator

from .nodes import Call, Choice, Logic, Name, Node, Not

Names = frozenset[str]
NONE: Names = frozenset()


def guards(node: Node) -> Iterator[tuple[Node, Names]]:
    """The nodes directly below this one, each with the tensors that are present wherever it is evaluated."""
    if isinstance(node, Logic):
        known = NONE
        for item in node.items:
            yield item, known
            known |= _known(item, node.op == "and")
    elif isinstance(node, Choice):
        yield node.test, NONE
        yield node.then, _known(node.test, True)
        yield node.other, _known(node.test, False)
    else:
        for child in node.children():
            yield child, NONE


def _known(test: Node, truth: bool) -> Names:
    """The tensors that are present if the test is ``truth``."""
    match test:
        case Call(function="present", args=(Name(id=name),)):
            return frozenset({name}) if truth else NONE
        case Not(operand=operand):
            return _known(operand, not truth)
        case Logic(op=op, items=items):
            each = [_known(item, truth) for item in items]
            return frozenset().union(*each) if (op == "and") is truth else each[0].intersection(*each[1:])
    return NONE
