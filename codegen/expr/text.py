"""Nodes to text for people: the formula in the docs, and the sentence of a message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .nodes import (
    Arith,
    Call,
    Choice,
    Compare,
    Each,
    Index,
    Logic,
    Member,
    Name,
    Negate,
    Node,
    Not,
    Number,
    Sizes,
    Splat,
    Text,
    Within,
    substitute,
)
from .types import Kind, Scope

BINDING = {"or": 2, "and": 3, "+": 6, "-": 6, "*": 7, "//": 7, "%": 7, "/": 7}


def alternatives(names: Sequence[str]) -> str:
    """``A, B or C``."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def formula(node: Node) -> str:
    """``node`` in the language itself, with as few parentheses as it needs."""
    return _render(node)[0]


def spoken(node: Node, scope: Scope, says: Mapping[str, str]) -> str:
    """``node`` as a message says it: lets in words, from ``says`` if it has them, since users know only fields."""
    if isinstance(node, Call) and node.function == "sizes":
        return f"the sizes of {formula(node.args[0])}"
    if (counted := _counted(node)) is not None:
        return f"the number of elements of {formula(counted)}"
    lets = {part.id for part in node.walk() if isinstance(part, Name) and _is_let(part, scope)}
    for name in lets:
        node = substitute(node, name, Name(says.get(name) or name.replace("_", " ")))
    return formula(node)


def _counted(node: Node) -> Node | None:
    """The tensor of which this is the product of the sizes."""
    sizes = node.args[0] if isinstance(node, Call) and node.function == "prod" else None
    return sizes.args[0] if isinstance(sizes, Call) and sizes.function == "sizes" else None


def _is_let(name: Name, scope: Scope) -> bool:
    return name.id in scope and scope[name.id].role == "let"


def _operand(node: Node, binding: int) -> str:
    text, own = _render(node)
    return text if own >= binding else f"({text})"


def _render(node: Node) -> tuple[str, int]:
    match node:
        case Number(value=value):
            return repr(value), 9
        case Text(value=value):
            return f"'{value}'", 9
        case Name(id=name):
            return name, 9
        case Negate(operand=operand):
            return f"-{_operand(operand, 8)}", 8
        case Not(operand=operand):
            return f"not {_operand(operand, 4)}", 4
        case Arith(op=op, left=left, right=right):
            own = BINDING[op]
            return f"{_operand(left, own)} {op} {_operand(right, own + 1)}", own
        case Compare(op=op, left=left, right=right):
            return f"{_operand(left, 6)} {op} {_operand(right, 6)}", 5
        case Logic(op=op, items=items):
            return f" {op} ".join(_operand(item, BINDING[op] + 1) for item in items), BINDING[op]
        case Within(item=item, choices=choices):
            listed = ", ".join(_render(choice)[0] for choice in choices)
            return f"{_operand(item, 6)} in ({listed}{',' if len(choices) == 1 else ''})", 5
        case Choice(test=test, then=then, other=other):
            return f"{_operand(then, 2)} if {_operand(test, 2)} else {_operand(other, 1)}", 1
        case Index(base=base, indices=indices):
            return f"{_render(base)[0]}[{', '.join(_render(index)[0] for index in indices)}]", 9
        case Member(base=base, name=name):
            return f"{_render(base)[0]}.{name}", 9
        case Call(function=function, args=args):
            return f"{function}({', '.join(_render(arg)[0] for arg in args)})", 9
        case Each(function=function, body=body, variable=variable, count=count):
            return f"{function}({_render(body)[0]} for {variable} in {_operand(count, 2)})", 9
        case Splat(operand=operand):
            return f"*{_operand(operand, 6)}", 9
        case Sizes(items=items):
            return f"[{', '.join(_render(item)[0] for item in items)}]", 9
    raise TypeError(node)


@dataclass(frozen=True, slots=True)
class Sentence:
    """How a broken condition is said: ``shown`` holds {0}, {1} … for the terms, each with its label, words and node."""

    shown: str
    terms: tuple[tuple[str, str, Node], ...]


def sentence(
    node: Node, scope: Scope, index: str | None, about: str | None = None, says: Mapping[str, str] | None = None
) -> Sentence:
    """The message of a condition: each side of a comparison with its value, and the names inside a longer side.

    Any other condition gives only its names with their values: the rule says what is wrong, and its formula is long.
    A size along a computed axis is not among them: the message has all sizes of the tensor anyway. Nor is it said
    which tensors there are: the rule does that.
    Of alternatives it says the ones about the subject ``about`` of the condition: the others only say when it holds
    anyway.
    """
    node = _alternatives(node, about)
    terms: dict[str, Node] = {}

    def place(part: Node) -> str:
        if isinstance(part, Number | Text):
            return _render(part)[0].replace("{", "{{").replace("}", "}}")
        label = _label(part, index)
        terms.setdefault(label, part)
        return f"{{{list(terms).index(label)}}}"

    if isinstance(node, Compare) and not (_is_presence(node.left) and _is_presence(node.right)):
        must = "must be" if node.op == "==" else f"must be {node.op}"
        shown = f"{place(node.left)} {must} {place(node.right)}"
        sides = [side for side in (node.left, node.right) if not _atomic(side)]
    else:
        shown, sides = "", [node]
    atoms = [part for side in sides for part in _atoms(side, scope)]
    told = [part for part in atoms if not _is_presence(part)]
    inner = [place(part) for part in told if shown or not _computed(part)]
    inner = list(dict.fromkeys(inner))
    said = tuple((label, _indexed(spoken(part, scope, says or {}), index), part) for label, part in terms.items())
    if not inner:
        return Sentence(shown or ("" if atoms else f"{_label(node, index)} must hold"), said)
    return Sentence(f"{shown}, where {', '.join(inner)}" if shown else ", ".join(inner), said)


def _alternatives(node: Node, about: str | None) -> Node:
    if not (isinstance(node, Logic) and node.op == "or"):
        return node
    items = [item for item in node.items if about is not None and _reads(item, about)]
    return node if not items else items[0] if len(items) == 1 else Logic("or", tuple(items))


def inside(node: Node, scope: Scope, says: Mapping[str, str]) -> tuple[tuple[str, str, Node], ...]:
    """The parts of the longer items of some sizes, as label, words and node: their values explain the items."""
    items = node.items if isinstance(node, Sizes) else (node,)
    longer = [item for item in items if not _atomic(item.operand if isinstance(item, Splat) else item)]
    parts = {formula(part): part for item in longer for part in _atoms(item, scope)}
    return tuple((label, spoken(part, scope, says), part) for label, part in parts.items())


def _label(node: Node, index: str | None) -> str:
    return _indexed(formula(node), index)


def _indexed(text: str, index: str | None) -> str:
    """The text of a node as a template, which the value of an index is put into."""
    text = text.replace("{", "{{").replace("}", "}}")
    return text if index is None else re.sub(rf"\b{index}\b", f"{{{index}}}", text)


def _atomic(node: Node) -> bool:
    return (
        isinstance(node, Name | Number | Text | Member)
        or (isinstance(node, Index) and isinstance(node.base, Name | Call))
        or (isinstance(node, Call) and node.function in ("rank", "dtype", "sizes", "present", "count"))
        or _counted(node) is not None
    )


def _is_presence(node: Node) -> bool:
    """Whether this says if there is a tensor."""
    return isinstance(node, Call) and node.function == "present"


def _computed(node: Node) -> bool:
    """Whether this is a size along an axis that is counted from the end: the sizes of the tensor say it better."""
    if not isinstance(node, Index) or not isinstance(node.base, Call):
        return False
    return any(isinstance(index, Call) for index in node.indices)


def _reads(node: Node, name: str) -> bool:
    return any(isinstance(part, Name) and part.id == name for part in node.walk())


def _whole(node: Node, variable: str) -> Node:
    """The vector, in place of its entry at a variable."""
    return node.base if isinstance(node, Index) and _reads(node, variable) else node


def _atoms(node: Node, scope: Scope) -> list[Node]:
    """The smallest parts that have a value of their own; those under a ``… for …`` with a constant count are spread.

    A vector with another count gives the entries that do not change; an entry that changes gives all of the vector.
    """
    if isinstance(node, Number | Text):
        return []
    if isinstance(node, Each):
        if not isinstance(node.count, Number):
            atoms = [_whole(atom, node.variable) for atom in _atoms(node.body, scope)]
            return [atom for atom in atoms if not _reads(atom, node.variable)]
        bodies = [substitute(node.body, node.variable, Number(value)) for value in range(int(node.count.value))]
        return [atom for body in bodies for atom in _atoms(body, scope)]
    if isinstance(node, Name) and node.id in scope and scope[node.id].kind is Kind.TENSOR:
        return []
    if _atomic(node):
        return [] if isinstance(node, Name) and node.id in scope and scope[node.id].role == "index" else [node]
    return [atom for child in node.children() for atom in _atoms(child, scope)]
