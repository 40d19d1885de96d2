"""The steps of a call before its kernel runs: lets, rules and sizes, each after the names that it reads."""

from __future__ import annotations

from dataclasses import replace

from ..expr.cython import Cython
from ..expr.nodes import Arith, Choice, Compare, Each, Index, Logic, Name, Node, Not, Number, Sizes, Splat
from ..expr.types import Kind, Scope, Symbol, within
from ..field_types import type_of
from ..model import DTYPE_ENUM, ELEMENT, Facts, Field, Formula, Operator, Rule
from ..names import constant, level
from .levels import LevelTables
from .step import CheckStep, LetStep, Search, SizesStep, Step, TypeStep

COUNTED = "number"
"""The index of the elements of a tensor."""


def place(tensor: Field) -> str:
    """Where a tensor is, or the first one of an array, in Cython."""
    name = f"a.{tensor.python}"
    return f"tensor_at(&{name}.several, 0)" if type_of(tensor).several else name


def ends_of(rule: Rule, operator: Operator) -> tuple[Node | None, Node | None] | None:
    """The ends in ``low <= v < high``, the condition of a rule on each element; None: it is another one.

    Elements that may be negative have a lower end. ``v <= most`` has the end ``most + 1``.
    """
    assert rule.each is not None
    node = rule.that.node
    low = high = None
    for item in node.items if isinstance(node, Logic) and node.op == "and" else (node,):
        match item:
            case Compare(op="<=", left=end, right=Name(id=name)) if name == ELEMENT and low is None:
                low = end
            case Compare(op="<", left=Name(id=name), right=end) if name == ELEMENT and high is None:
                high = end
            case Compare(op="<=", left=Name(id=name), right=end) if name == ELEMENT and high is None:
                high = Arith("+", end, Number(1))
            case _:
                return None
    types = operator.types[operator.field(rule.each).types or ""]
    unsigned = all(name.startswith("UINT") for row in types for name in row.dtypes)
    return None if low is None and not unsigned else (low, high)


def looks_at_each(rule: Rule, operator: Operator) -> bool:
    """Whether a call can check a rule on each element of a tensor one by one: double has all values of them."""
    assert rule.each is not None
    types = operator.types[operator.field(rule.each).types or ""]
    return rule.index is None and not {name for row in types for name in row.dtypes} & {"INT64", "UINT64"}


class Steps:
    """Renders the formulas of one operator. ``reading`` is the one being rendered, for the place of an error."""

    def __init__(self, operator: Operator, facts: Facts, levels: LevelTables) -> None:
        self.operator = operator
        self.facts = facts
        self.levels = levels
        self.scope = operator.scope
        self.cython = Cython(self.scope, constants=self.constants(), data=self.data)
        self.reading: Formula | None = None
        self.elements: dict[str, None] = {}  # of tensors, as Cython, that were rendered since it was cleared
        self.searches: list[Search] = []  # that expressions need which were rendered since it was cleared
        self.done: set[str] = set()  # lets and sizes already computed

    def constants(self) -> dict[str, str]:
        """The Cython constants of what an expression may compare with: data types, and members of enums."""
        known = {dtype.name: dtype.name for dtype in self.facts.dtypes}
        for field in self.operator.attributes:
            if field.enum is not None and field.enum != DTYPE_ENUM:
                enum = self.facts.enums[field.enum]
                known.update({member.name: constant(enum, member.name) for member in enum.members})
        return known

    def data(self, node: Index) -> str:
        """How an element of a tensor is read."""
        assert isinstance(node.base, Name)
        indices = ", ".join(self.cython.expression(i) if not isinstance(i, Name) else i.id for i in node.indices)
        text = f"element{len(node.indices)}(&a.{node.base.id}, {indices})"
        self.elements[text] = None
        return text

    def require(self, node: Node, steps: list[Step]) -> None:
        """Adds the steps that compute what ``node`` reads and is not computed yet."""
        lets = {let.name: let for let in self.operator.lets}
        for part in node.walk():
            if isinstance(part, Name) and part.id in self.scope:
                count = self.scope[part.id].count
                if count is not None and part.id not in lets:
                    self.require(count, steps)
            if not isinstance(part, Name):
                continue
            if part.id in lets and part.id not in self.done:
                let = lets[part.id]
                scope = self.scope
                if let.count is not None and let.index is not None:
                    self.require(let.count.node, steps)
                    scope = within(self.scope, let.index, let.count.node)
                self.require(let.value.node, steps)
                self.done.add(let.name)
                self.reading = let.count
                count_text = None if let.count is None else self.cython.expression(let.count.node)
                self.reading = let.value
                self.searches.clear()
                value = self.render(let.value.node, scope)
                present = self.present(let.value.node, *([] if let.count is None else [let.count.node]))
                steps.append(LetStep(let.name, let.index, count_text, value, tuple(self.searches), present))
            elif part.id in {field.python for field in self.operator.outputs} and part.id not in self.done:
                self.output(self.operator.field(part.id), steps)

    def present(self, *nodes: Node) -> tuple[str, ...]:
        """The tensors that may be left out, and are read where nothing says that they are there."""
        optional = [field.python for field in self.operator.tensors if field.optional]
        if not optional:
            return ()
        read = self.operator.unguarded(*nodes)
        return tuple(name for name in optional if name in read)

    def search(self, node: Each, scope: Scope) -> str:
        """The variable that tells whether a condition holds for any value of an index or for all, or has a sum."""
        name = f"{'total' if node.function == 'sum' else 'found'}{len(self.searches)}"
        inner = within(scope, node.variable, node.count)
        body = self.render(node.body, inner)
        self.searches.append(Search(name, node.function, node.variable, self.render(node.count, scope), body))
        return name

    def render(self, node: Node, scope: Scope) -> str:
        inner = Cython(scope, constants=self.cython.constants, data=self.data, search=self.search)
        text = inner.expression(node)
        self.cython.overflows = self.cython.overflows or inner.overflows
        return text

    def output(self, field: Field, steps: list[Step]) -> None:
        """The sizes of a tensor from its formula."""
        self.done.add(field.python)
        if field.sizes is None:  # the caller says them
            steps.append(SizesStep(self.levels.tensor(field), self.tie(field), (), asked=True))
            return
        node = field.sizes.node
        self.require(node, steps)
        self.reading = field.sizes
        items: list[tuple[str, str | None]] = []
        for item in node.items if isinstance(node, Sizes) else (Splat(node),):
            if isinstance(item, Splat):
                items.append(self.cython.vector(item.operand))
            else:
                items.append((self.render(item, self.scope), None))
        asked = field.kind == "output" and self.operator.sized_by(field) is not None
        present = self.present(node) + ((field.python,) if field.optional and field.kind == "input" else ())
        steps.append(SizesStep(self.levels.tensor(field), self.tie(field), tuple(items), asked, present))

    def tie(self, field: Field) -> str | None:
        """The tensor that has the data type too which a call says of an output."""
        if field.kind != "output" or not self.operator.is_asked(field):
            return None
        return next((one.python for one in self.same_type(field)), None)

    def same_type(self, output: Field) -> list[Field]:
        """The tensors before an output that share its data type."""
        before = self.operator.tensors[: self.operator.tensors.index(output)]
        return [one for one in before if one.types == output.types]

    def follow(self, output: Field) -> TypeStep:
        """The data type of an output of which a call does not say it."""
        return TypeStep(output.python, self.type_before(output, self.operator.types[output.types or ""][0].dtypes[0]))

    def type_before(self, output: Field, default: str = "0") -> str:
        """The data type of the first tensor that is there, of those before an output that share its data type."""
        same = self.same_type(output)
        sure = next((one for one in same if not one.optional), None)
        names = [f"{place(one)}.dtype" for one in (same if sure is None else [sure])]
        if sure is not None:
            return names[0]
        return "".join(f"{name} if {name} else " for name in names) + default

    def checks(self) -> list[Step]:
        """Rules, in declared order, and the sizes of the tensors that they do not read."""
        steps: list[Step] = []
        for rule in self.operator.rules:
            if not rule.data and not rule.warns:
                self.require(rule.that.node, steps)
                if rule.count is not None:
                    self.require(rule.count.node, steps)
                steps.append(self.check(rule))
        for field in self.operator.tensors:
            if (field.sizes is not None or field.kind == "output") and field.python not in self.done:
                self.output(field, steps)
        return steps

    def check(self, rule: Rule) -> CheckStep:
        scope, node = self.scope, rule.that.node
        loops: list[tuple[str, str]] = []
        if rule.index is not None and rule.count is not None:
            self.reading = rule.count
            scope = self.loop(rule.index, rule.count.node, scope, loops)
        self.reading = rule.that
        if isinstance(node, Not) and isinstance(node.operand, Each) and node.operand.function == "any":
            each = node.operand
            node = replace(each, function="all", body=Not(each.body, at=node.at, length=node.length))
        while isinstance(node, Each) and node.function == "all":
            scope = self.loop(node.variable, node.count, scope, loops)
            node = node.body
        items = node.items if isinstance(node, Logic) and node.op == "and" else (node,)
        self.elements.clear()
        self.searches.clear()
        if rule.each is not None and ends_of(rule, self.operator) is None:
            return self.each(rule)
        if rule.each is not None:
            there = (rule.each,) if self.operator.field(rule.each).optional else ()
            return CheckStep(rule.id, tuple(loops), (self.inside(rule, scope),), present=self.present(node) + there)
        conditions = [self.render(item, scope) for item in items[:1]]
        always = () if any(isinstance(part, Logic | Choice) for part in items[0].walk()) else tuple(self.elements)
        conditions += [self.render(item, scope) for item in items[1:]]
        elements: list[tuple[str, str]] = []
        for text in always:  # the first condition reads them whatever their values are
            if sum(condition.count(text) for condition in conditions) > 1:
                name = f"value{len(elements)}"
                elements.append((name, text))
                conditions = [condition.replace(text, name) for condition in conditions]
        if rule.since is not None:
            conditions = [f"level < {level(rule.since)} or ({text})" for text in conditions]
        if rule.until is not None:
            conditions = [f"level >= {level(rule.until)} or ({text})" for text in conditions]
        present = self.present(rule.that.node, *([] if rule.count is None else [rule.count.node]))
        return CheckStep(rule.id, tuple(loops), tuple(conditions), tuple(elements), tuple(self.searches), present)

    def each(self, rule: Rule) -> CheckStep:
        """A rule on each element of a tensor, one by one."""
        tensor = f"&a.{rule.each}"
        scope = {**self.scope, ELEMENT: Symbol(Kind.FLOAT, "element")}
        return CheckStep(
            rule.id,
            ((COUNTED, f"elements_of({tensor})"),),
            (self.render(rule.that.node, scope),),
            ((ELEMENT, f"element_in_order({tensor}, {COUNTED})"),),
            present=tuple(one.python for one in self.operator.tensors if one.optional and one.python == rule.each),
            counts=False,
        )

    def inside(self, rule: Rule, scope: Scope) -> str:
        """Whether all elements of a tensor, or those of one place of its last axis, are between two ends."""
        ends = ends_of(rule, self.operator)
        assert ends is not None
        low, high = (None if end is None else self.render(end, scope) for end in ends)
        at, count = (
            ("0", "1")
            if rule.index is None or rule.count is None
            else (rule.index, self.render(rule.count.node, self.scope))
        )
        return f"elements_inside(&a.{rule.each}, {low or 0}, {high or 'INT64_MAX'}, {at}, {count})"

    def loop(self, index: str, count: Node, scope: Scope, loops: list[tuple[str, str]]) -> Scope:
        """Adds a loop; the scope inside it."""
        loops.append((index, self.render(count, scope)))
        return within(scope, index, count)
