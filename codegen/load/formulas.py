"""The formulas of an operator: their syntax, their types, and the quantities that its spec names."""

from __future__ import annotations

from collections.abc import Callable

from ..diagnostics import Diagnostics, Span
from ..expr.nodes import Call, ExprError, Name, Node
from ..expr.parse import COMPOSED, REFERENCE, parse
from ..expr.types import MAX_RANK, Kind, Scope, Symbol, interval_of, kind_of, within
from ..model import Formula, Let, let_symbol
from ..source import Table
from .reading import word


def in_rules(node: Node) -> Node:
    """The expression itself; ExprError if it calls what only ``[kernel]`` has."""
    for part in in_conditions(node).walk():
        if isinstance(part, Call) and part.function in REFERENCE:
            raise ExprError(f"{part.function} is a function for [kernel] and not_judged only", part.at, part.length)
    return node


def in_conditions(node: Node) -> Node:
    """The same of a condition on elements."""
    for part in node.walk():
        if isinstance(part, Call) and part.function in COMPOSED:
            raise ExprError(f"{part.function} is a function for [kernel] only", part.at, part.length)
    return node


class Formulas:
    """Reads the formulas of one operator; ``scope`` has the names that are known so far."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self.scope: dict[str, Symbol] = {}
        self.broken: set[str] = set()  # lets that are wrong: what uses them is not looked at

    def formula(self, row: Table, key: str, demands: Callable[[Node], Node] = in_rules) -> Formula:
        """The expression at ``key``, parsed; its names are looked up later. ``demands`` raises ExprError."""
        text, span = row.str(key), row.span(key)
        if not text and (not row.has(key) or row.any(key) != ""):  # reported already
            return Formula(text, parse("0"), None)
        try:
            return Formula(text, demands(parse(text)), span)
        except ExprError as error:
            self.report(span, text, error)
            return Formula(text, parse("0"), None)

    def report(self, span: Span | None, text: str, error: ExprError) -> None:
        """An error of an expression, at its place inside the string."""
        if span is not None:
            span = span.inside(text, error.at, error.length)
            self.diagnostics.error(span, error.message, error.hint)

    def typed(self, formula: Formula, scope: Scope, *kinds: Kind) -> Kind | None:
        """Checks a formula; None where it is wrong (and reported)."""
        names = {node.id for node in formula.node.walk() if isinstance(node, Name)}
        if formula.span is None or names & self.broken:
            return None
        try:
            kind = kind_of(formula.node, scope)
            if kinds and kind not in kinds:
                raise ExprError(f"expected {kinds[0].value}, found {kind.value}", 0, len(formula.text))
            return kind
        except ExprError as error:
            self.report(formula.span, formula.text, error)
            return None

    def loop(self, row: Table) -> tuple[str | None, Formula | None]:
        """``for = "d in spatial"`` as the index and its count; an index without count is wrong, and reported."""
        if not row.has("for"):
            return None, None
        text, span = row.str("for"), row.span("for")
        index, word, count = text.partition(" in ")
        if not word or not index.isidentifier():
            self.report(span, text, ExprError("write it as: d in count", 0, len(text)))
            return "", None
        try:
            return index, Formula(count, in_rules(parse(count)), span)
        except ExprError as error:
            self.report(span, text, ExprError(error.message, error.at + len(index) + 4, error.length, error.hint))
            return "", None

    def inner(self, index: str | None, count: Formula | None) -> Scope | None:
        """The scope inside a ``for``; None where the ``for`` is wrong."""
        if index is None:
            return self.scope
        if count is None or self.typed(count, self.scope, Kind.INT) is None:
            return None
        try:
            return within(self.scope, index, count.node)
        except ExprError as error:
            self.report(count.span, count.text, error)
            return None

    def short(self, count: Formula) -> bool:
        """Refuses more entries than a vector has room for."""
        if self.typed(count, self.scope, Kind.INT) is None:
            return False
        high = interval_of(count.node, self.scope).hi
        if high is None or high > MAX_RANK:
            problem = f"a vector has at most {MAX_RANK} entries: this may be more"
            self.report(count.span, count.text, ExprError(problem, 0, len(count.text)))
        return high is not None and high <= MAX_RANK

    def least(self, formula: Formula, scope: Scope, bound: int) -> int | None:
        """Refuses what is no integer, or may be less than the bound; gives the least value of what is neither."""
        if self.typed(formula, scope, Kind.INT) is None:
            return None
        low = interval_of(formula.node, scope).lo
        if low is not None and low >= bound:
            return low
        self.report(formula.span, formula.text, ExprError(f"this may be less than {bound}", 0, len(formula.text)))
        return None

    def lets(self, tables: list[Table]) -> tuple[Let, ...]:
        """The lets, each after the lets that it uses."""
        read: dict[str, Let] = {}
        for row in (row for table in tables for row in table.tables("let")):
            index, count = self.loop(row)
            name, value, doc = row.str("name"), self.formula(row, "value"), row.str("doc")
            word(row, "name", name)
            if name in read or name in self.scope:
                row.error("name", f"{name} is already the name of something")
                row.finish()
                continue
            read[name] = Let(name, index, count, value, doc, row.span("name"), row.str("each", ""), row.str("says", ""))
            row.finish()
        ordered: list[Let] = []
        state: dict[str, str] = {}

        def visit(let: Let) -> None:
            state[let.name] = "open"
            for formula in (let.count, let.value):
                for node in () if formula is None else formula.node.walk():
                    used = read.get(getattr(node, "id", ""))
                    if used is None or state.get(used.name) == "done":
                        continue
                    if state.get(used.name) == "open":
                        self.report(
                            let.value.span,
                            let.value.text,
                            ExprError(f"{let.name} depends on itself through {used.name}", node.at, node.length),
                        )
                        self.broken |= {let.name, used.name}
                        continue
                    visit(used)
            state[let.name] = "done"
            scope = self.inner(let.index, let.count)
            if let.count is not None and not self.short(let.count):
                scope = None
            kind = None if scope is None else self.typed(let.value, scope, Kind.INT, Kind.FLOAT)
            if kind is None or scope is None:
                self.broken.add(let.name)
            else:
                interval = interval_of(let.value.node, scope)
                self.scope[let.name] = let_symbol(let, kind, interval)
                ordered.append(let)

        for let in read.values():
            if let.name not in state:
                visit(let)
        return tuple(ordered)
