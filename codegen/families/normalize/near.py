"""The loops of operators of normalize whose results are made of sums over neighbors."""

from __future__ import annotations

from collections.abc import Mapping

from ...expr.nodes import Call, Name, Node, NotCompiled, filled, rebuilt
from ..base import KernelTable, attribute_locals
from .lines import Line, Made, names_in

AROUND, FROM, VALUE = "around", "from", "value"
POWER = "power"
MOST_INPUTS = 2  # of norms.h


class Near(Made):
    """The expressions of three steps that the templates read of an operator; the second may be missing."""

    def __init__(self, kernel: KernelTable) -> None:
        self.steps: tuple[tuple[str, bool], ...] = ()  # the expression, and whether it reads the power
        self.base = self.exponent = "0"
        self.locals: tuple[str, ...] = ()
        self.members: tuple[tuple[str, str, str], ...] = ()
        super().__init__(kernel)

    def lack(self) -> str | None:
        """The reason why loops cannot compute the operator; None: no reason is known."""
        kinds = [one.partition(":")[2] for one in self.kernel.definition.words["passes"].split()]
        others = {*kinds} - {AROUND, FROM, VALUE}
        if others or kinds.count(AROUND) != 1 or len(self.operator.inputs) > MOST_INPUTS or self.operator.outputs[1:]:
            return "no loops have other sums than one around each element, and one from it"
        return None

    def make(self) -> None:
        """The texts of all steps."""
        nodes, sums = self.nodes()
        powers = {part for node in nodes.values() for part in node.walk() if is_power(part)}
        if len(powers) != 1:
            raise NotCompiled("no loops of sums over neighbors have other than one power")
        (power,) = powers
        assert isinstance(power, Call)
        base, exponent = power.args
        plain = {
            kind: rebuilt(node, lambda part: Name(POWER) if part == power else part) for kind, node in nodes.items()
        }
        inputs = {
            "x" if len(self.operator.inputs) == 1 else field.python: t for t, field in enumerate(self.operator.inputs)
        }
        attributes = [name for _, name in attribute_locals(self.operator)]
        names = {name: f"x{t}" for name, t in inputs.items()} | {name: f"v_{name}" for name in attributes}
        names |= {name: kind for name, kind in sums.items()} | {POWER: POWER}
        line = Line(names, "double", {}, elements=(*inputs, *sums, POWER), single={}, tops=())
        self.base, self.exponent = line.expression(base), line.expression(exponent)
        self.steps = tuple(
            (line.expression(plain[kind]) if kind in plain else "0", kind in plain and POWER in names_in(plain[kind]))
            for kind in (AROUND, FROM, VALUE)
        )
        words = " ".join([self.base, self.exponent, *(text for text, _ in self.steps), *line.hoisted])
        read = [name for name in attributes if f"v_{name}" in words]
        self.members = tuple(("double", name, f"a.{name}") for name in read)
        struct = f"((const {self.operator.desc}Attributes *)rows->attributes)"
        found = [f"const double v_{name} = {struct}->{name};" for name in read]
        found += [f"const {kind} {name} = {text};" for text, (kind, name) in line.hoisted.items()]
        found += [f"(void)v_{name};" for name in read] + [f"(void){name};" for _, name in line.hoisted.values()]
        self.locals = tuple(found)

    def nodes(self) -> tuple[dict[str, Node], Mapping[str, str]]:
        """The expressions of the sums, by their kinds, and of the result; and what kind a sum is, by its name."""
        formulas = self.kernel.definition.formulas
        kinds = dict(one.split(":") for one in self.kernel.definition.words["passes"].split())
        values: dict[str, Node] = {}
        sums: dict[str, Node] = {}
        for name, kind in kinds.items():
            node = filled(formulas[f"pass.{name}.{kind}"].loops, values)
            (values if kind == VALUE else sums)[name] = node
        result = filled(formulas["result"].loops, values)
        found = {VALUE: result}
        ahead = [name for name in names_in(result) if name in sums]
        while ahead:
            name = ahead.pop()
            if kinds[name] in found and found[kinds[name]] != sums[name]:
                raise NotCompiled("no loops have other sums than one around each element, and one from it")
            found[kinds[name]] = sums[name]
            ahead += [other for other in names_in(sums[name]) if other in sums]
        return found, {name: kind for name, kind in kinds.items() if kind != VALUE}


def is_power(node: Node) -> bool:
    """Whether a node is a power."""
    return isinstance(node, Call) and node.function == "pow"
