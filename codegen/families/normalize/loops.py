"""The loops of operators of normalize: sweeps over the elements of a line, and then the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...expr.nodes import Arith, Call, Choice, Index, Name, Node, NotCompiled, Number, filled, rebuilt
from ..base import KernelTable, attribute_locals
from .lines import RANGE, Line, Made, names_in
from .quick import Quick, plain

MOST_SWEEPS, MOST_TENSORS = 3, 8  # of norms.h
JOINED = {"mean": "sum"}
EXTREMES = {"greatest": "max", "least": "min"}
VALUE = "value"


@dataclass(frozen=True, slots=True)
class Reduced:
    """A pass that makes one number of a line.

    ``rest``: it is what rounding took from that mean. ``bound``: a function, and a bound, which is joined last.
    """

    kind: str
    node: Node
    level: int
    rest: str | None = None
    bound: tuple[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one loop: the tensors whose elements it reads, the attributes that it declares, the numbers of a line
    as (C type, name, expression), and its expressions."""

    rows: tuple[tuple[str, ...], ...]
    reads: tuple[int, ...]
    attributes: tuple[str, ...]
    lines: tuple[tuple[str, str, str], ...]
    made: tuple[tuple[str, ...], ...]
    finish: tuple[str, ...] = ()
    saves: bool = False
    exps: bool = False
    quick: Quick | None = None

    @property
    def parts(self) -> bool:
        """Whether some sums are added in FLOAT32 first."""
        return any("parts" in one for one in self.made)

    @property
    def numbers(self) -> tuple[tuple[str, str, str], ...]:
        """The numbers of a line in FLOAT32."""
        return tuple(("float", *one) for one in self.quick.made.items()) if self.quick is not None else ()

    @property
    def checks(self) -> str:
        """The condition on the lines for which they are used."""
        return " & ".join(self.quick.checks) if self.quick is not None and self.quick.checks else "1"


@dataclass(frozen=True, slots=True)
class Absent:
    """A tensor that may be left out, and the number that is there then."""

    name: str
    number: str


class Loops(Made):
    """The parts of an operator that the templates read.

    ``tensors``: the inputs, then the outputs; ``single``: the numbers of those with one element for a line.
    """

    def __init__(self, kernel: KernelTable) -> None:
        self.definition = kernel.definition
        self.sweeps: tuple[Text, ...] = ()
        self.results = self.ends = Text((), (), (), (), ())
        self.saved: str | None = None
        self.quick = False
        self.largest: int | None = None  # the number of the state with the largest bits of elements
        self.states = 1
        self.read: set[str] = set()
        super().__init__(kernel)

    def lack(self) -> str | None:
        """The reason why loops cannot compute the operator; None: no reason is known."""
        if len(self.fields) > MOST_TENSORS:
            return f"no loops take more than {MOST_TENSORS} tensors"
        return None

    @property
    def single(self) -> tuple[int, ...]:
        """The tensors with one element for a line: those with the sizes of the let ``over``."""
        over = self.definition.roles["over"]
        value = next(let.value.node for let in self.operator.lets if let.name == over)
        holder = None
        match value:
            case Index(base=Call(function="sizes", args=(Name(id=name),)), indices=(Name(),)):
                holder = name
        found = []
        for number, field in enumerate(self.fields):
            sizes = None if field.sizes is None else field.sizes.node
            if field.python == holder or sizes in (Name(over), Call("sizes", (Name(holder or ""),))):
                found.append(number)
        return tuple(found)

    @property
    def single_bits(self) -> str:
        """A bit for each of these."""
        return bits(self.single)

    @property
    def absent(self) -> tuple[Absent, ...]:
        """The tensors that may be left out."""
        formulas = self.definition.formulas
        found = ((name.partition(".")[2], formula) for name, formula in formulas.items() if name.startswith("absent."))
        return tuple(Absent(name, formula.text) for name, formula in found)

    @property
    def integers(self) -> str | None:
        """The first output that has integers, if there is one."""
        for field in self.operator.outputs:
            if not any(
                dtype.startswith("FLOAT") for row in self.operator.types[field.types or ""] for dtype in row.dtypes
            ):
                return field.python
        return None

    @property
    def members(self) -> tuple[tuple[str, str, str], ...]:
        """The values that the loops read of the operator, as (C type, name, value in Cython)."""
        found = [
            ("double" if ctype == "float" else "int64_t", name, f"a.{name}")
            for ctype, name in attribute_locals(self.operator)
        ]
        if self.integers is not None:
            low, high = (f"integers_{end}(a.{self.integers}.dtype)" for end in ("least", "most"))
            found += [("double", RANGE[0], low), ("double", RANGE[1], high)]
        found += [("int64_t", f"dtype_of_{name}", f"a.{name}.dtype") for name in self.tensors]
        return tuple(one for one in found if one[1] in self.read)

    # ---- the passes ----

    def passes(self, values: Mapping[str, Node]) -> dict[str, Reduced]:
        """The passes that make numbers of a line, in their order."""
        found: dict[str, Reduced] = {}
        for one in self.definition.words["passes"].split():
            name, _, kind = one.partition(":")
            if kind == VALUE:
                continue
            node = filled(self.definition.formulas[f"pass.{name}.{kind}"].loops, values)
            read = [found[other].level for other in names_in(node) if other in found]
            level = 1 + max(read, default=-1)
            rest = None
            match node:
                case Arith(op="-", left=left, right=Name(id=mean)) if (
                    kind == "mean" and mean in found and found[mean].kind == "mean" and found[mean].node == left
                ):
                    rest, level = mean, found[mean].level
            bound = None
            match node:
                case Call(function=function, args=(Name() as x, Number(value=value))) if EXTREMES.get(kind) == function:
                    node, bound = x, (function, float(value))
            found[name] = Reduced(kind, node, level, rest, bound)
        return found

    def values(self) -> dict[str, Node]:
        """The passes that are expressions, over the others."""
        found: dict[str, Node] = {}
        for one in self.definition.words["passes"].split():
            name, _, kind = one.partition(":")
            if kind == VALUE:
                found[name] = filled(self.definition.formulas[f"pass.{name}.{VALUE}"].loops, found)
        return found

    def nodes(self, values: Mapping[str, Node]) -> dict[int, Node]:
        """The result of each output, by its number."""
        found = {}
        for number, field in enumerate(self.fields):
            if field in self.operator.outputs:
                one = f"result.{field.python}"
                formula = self.definition.formulas.get(one) or self.definition.formulas["result"]
                found[number] = filled(formula.loops, values)
        return found

    def needed(self, passes: Mapping[str, Reduced], nodes: Sequence[Node]) -> dict[str, Reduced]:
        """The passes that results read, also through others."""
        found: set[str] = set()
        ahead = [name for node in nodes for name in names_in(node) if name in passes]
        while ahead:
            name = ahead.pop()
            if name not in found:
                found.add(name)
                ahead += [other for other in names_in(passes[name].node) if other in passes]
        return {name: one for name, one in passes.items() if name in found}

    # ---- the texts ----

    def make(self) -> None:
        """All texts."""
        values = self.values()
        elements = {"x", "position", *(field.python for n, field in enumerate(self.fields) if n not in self.single)}
        nodes = {number: plain(node, elements) for number, node in self.nodes(values).items()}
        passes = self.needed(self.passes(values), [*nodes.values()])
        passes = {name: replace(one, node=plain(one.node, elements)) for name, one in passes.items()}
        count = 1 + max((one.level for one in passes.values()), default=-1)
        if count > MOST_SWEEPS:
            raise NotCompiled(f"no loops sweep more than {MOST_SWEEPS} times over a line")
        names = Names(self, passes)
        for level in range(count):
            for name, one in passes.items():
                if one.level == level and one.rest is None:
                    names.accumulate(name, one)
        for name, one in passes.items():
            names.keep(name, one)
        self.largest = names.measure([*(one.node for one in passes.values()), *nodes.values()])
        self.states = max(names.states, 1)
        single = {number for number in nodes if number in self.single}
        results = {number: node for number, node in nodes.items() if number not in single}
        saved, sweep = names.saved([*results.values()])
        self.saved = None if saved is None else names.line(None).difference(saved)
        self.sweeps = tuple(names.sweep(level, saved if level == sweep else None) for level in range(count))
        self.results = names.text(results, saved)
        self.ends = names.text({number: nodes[number] for number in sorted(single)}, None)
        self.quick = self.results.quick is not None and bool(results)

    @property
    def reads(self) -> tuple[str, ...]:
        """The tensors that each sweep reads, and then the results: a bit for each."""
        return tuple(bits(text.reads) for text in (*self.sweeps, self.results))

    @property
    def saved_row(self) -> int:
        """The output that has what a sweep saves."""
        return len(self.operator.inputs)


class Names:
    """The names of expressions in C."""

    def __init__(self, loops: Loops, passes: Mapping[str, Reduced]) -> None:
        self.loops, self.passes = loops, passes
        inputs = loops.operator.inputs
        self.numbers = {"x" if len(inputs) == 1 else field.python: t for t, field in enumerate(inputs)}
        self.elements = {name: t for name, t in self.numbers.items() if t not in loops.single}
        self.attributes = {name: ctype for ctype, name, _ in self.known()}
        self.accs: dict[tuple[str, Node], tuple[int, int, str]] = {}  # the number, the sweep and the type
        self.kept: dict[str, int] = {}  # the number of the state that a pass is
        self.states = 0

    def known(self) -> list[tuple[str, str, str]]:
        """All attributes that expressions may read."""
        return [("float", name, name) for ctype, name in attribute_locals(self.loops.operator)]

    # ---- states ----

    def accumulate(self, name: str, one: Reduced) -> None:
        """A number that elements are joined to; passes of the same elements share it."""
        join = JOINED.get(one.kind, one.kind)
        if (join, one.node) not in self.accs:
            kind = "float" if is_whole(one.node) or (join != "sum" and self.is_float(one.node)) else "double"
            self.accs[join, one.node] = (self.states, one.level, kind)
            self.states += 1

    def is_float(self, node: Node) -> bool:
        """Whether the elements of a pass are floats, or bounds of them."""
        bounded = (part for part in node.walk() if not isinstance(part, Name | Number))
        return all(isinstance(part, Call) and part.function in ("min", "max") for part in bounded) and (
            names_in(node) <= {*self.elements}
        )

    def keep(self, name: str, one: Reduced) -> None:
        """Gives a pass its place in the state."""
        if one.kind in JOINED:
            self.kept[name] = self.states
            self.states += 1
        else:
            self.kept[name] = self.accs[one.kind, one.node][0]

    def measure(self, nodes: Sequence[Node]) -> int | None:
        """The number of the state with the largest bits of an element, where there are exponentials of it."""
        for part in (part for node in nodes for part in node.walk() if is_exp(part)):
            match part:
                case Call(args=(Arith(left=Name(id=x)),)) if x in self.elements:
                    self.accs["bits", Name(x)] = (self.states, 0, "int32_t")
                    self.states += 1
                    return self.states - 1
        return None

    def acc_of(self, name: str) -> int:
        """The number of what the elements of a mean are joined to."""
        one = self.passes[self.passes[name].rest or name]
        return self.accs[JOINED.get(one.kind, one.kind), one.node][0]

    @property
    def tops(self) -> set[str]:
        """The passes that are floats."""
        return {
            name for name, one in self.passes.items()
            if one.kind not in JOINED and self.accs[one.kind, one.node][2] == "float"
        }  # fmt: skip

    # ---- texts ----

    def line(self, saved: Node | None) -> Line:
        """A renderer."""
        names = {name: f"x{t}" for name, t in self.numbers.items()}
        names |= {name: f"v_{name}" for name in (*self.attributes, *self.passes)}
        names |= {"count": "count", "position": "at"}
        return Line(
            names, "double", {}, elements=(*self.elements, "position"), tops=self.tops, saved=saved,
            single={name: f"f{t}" for name, t in self.elements.items()},
        )  # fmt: skip

    def saved(self, results: Sequence[Node]) -> tuple[Node | None, int]:
        """An exponential that a sweep joins and that is all which the results read of elements; and the sweep."""
        for (_, node), (_, level, _) in self.accs.items():
            for part in node.walk():
                if is_exp(part):
                    rest = [filled_with(result, part) for result in results]
                    if all(rest[n] != results[n] for n in range(len(results))) and not any(
                        names_in(one) & {*self.elements} for one in rest
                    ):
                        return part, level
        return None, -1

    def sweep(self, level: int, saved: Node | None) -> Text:
        """The text of a sweep."""
        line = self.line(saved)
        quick = Quick(line)
        made = [
            (str(number), kind, *self.joined(join, node, line, quick))
            for (join, node), (number, own, kind) in self.accs.items() if own == level
        ]  # fmt: skip
        nodes = [node for (_, node), (_, own, _) in self.accs.items() if own == level]
        finish = []
        for name, one in self.passes.items():
            if one.level == level and one.kind in JOINED:
                sum_ = f"DMLCY_S({self.acc_of(name)})"
                value = f"dmlcy_mean_rest({sum_}, count)" if one.rest else f"{sum_} / count"
                finish.append(f"DMLCY_S({self.kept[name]}) = {value};")
            if one.level == level and one.bound is not None:
                state = f"DMLCY_S({self.kept[name]})"
                joined = "most" if one.bound[0] == "max" else "least"
                finish.append(f"{state} = dmlcy_{joined}_double({state}, {one.bound[1]!r});")
        return self.made(nodes, line, tuple(made), tuple(finish), saved is not None, quick)

    def joined(self, join: str, node: Node, line: Line, quick: Quick) -> tuple[str, str, str]:
        """How elements are joined, and what: in double or as it is, and in FLOAT32. Sums of elements are not, so that
        means do not lose digits."""
        text = self.bits_of(node) if join == "bits" else line.expression(node)
        if join == "sum" and is_whole(node):
            return "whole", text, "0"
        if join == "sum" and not isinstance(node, Name):
            try:
                return "parts", text, quick.expression(node)
            except NotCompiled:
                pass
        return join, text, "0"

    def bits_of(self, node: Node) -> str:
        """The bits of an element, without its sign."""
        assert isinstance(node, Name)
        return f"dmlcy_bits_of(f{self.elements[node.id]}) & ~DMLCY_SIGN"

    def text(self, nodes: Mapping[int, Node], saved: Node | None) -> Text:
        """The text of results."""
        line = self.line(saved)
        quick: Quick | None = Quick(line) if saved is None else None
        texts = {number: line.expression(node) for number, node in nodes.items()}
        quicks = dict.fromkeys(nodes, "0")
        try:
            quicks = {number: quick.expression(node) for number, node in nodes.items()} if quick is not None else quicks
        except NotCompiled:
            quick = None
        if quick is not None:  # where one is not finite, the accuracy is that of the result alone
            read = {name for node in nodes.values() for name in names_in(node)}
            quick.checks.update({f"dmlcy_is_not_huge(v_{name})": None for name in self.kept if name in read})
        made = tuple((str(number), texts[number], quicks[number]) for number in nodes)
        return self.made([*nodes.values()], line, made, (), False, quick)

    def made(
        self, nodes: Sequence[Node], line: Line, made: tuple[tuple[str, ...], ...], finish: tuple[str, ...],
        saves: bool, quick: Quick | None,
    ) -> Text:  # fmt: skip
        """A text, with what it declares."""
        read = {name for node in nodes for name in names_in(node)}
        exps = any(is_exp(part) for node in nodes for part in node.walk())
        lines = [*self.of_line(read, exps), *((kind, name, text) for text, (kind, name) in line.hoisted.items())]
        words = " ".join([*(text for one in made for text in one), *line.hoisted])
        attributes = []
        for name in (*RANGE, *(f"dtype_of_{one}" for one in self.loops.tensors)):
            if name in words:
                ctype = "double" if name in RANGE else "int64_t"
                attributes.append(f"const {ctype} {name} = {self.member(name)};")
                self.loops.read.add(name)
        for name in self.attributes:
            if name in read:
                attributes.append(f"const double v_{name} = (double){self.member(name)}; (void)v_{name};")
                self.loops.read.add(name)
        rows = tuple((str(t),) for name, t in self.elements.items() if name in read)
        reads = tuple(t for name, t in self.numbers.items() if name in read)
        return Text(rows, reads, tuple(attributes), tuple(lines), made, finish, saves, exps, quick)

    def member(self, name: str) -> str:
        """An attribute, where the loops have it."""
        return f"((const {self.loops.operator.desc}Attributes *)rows->attributes)->{name}"

    def of_line(self, read: set[str], exps: bool) -> Iterator[tuple[str, str, str]]:
        """The numbers of a line that are not computed."""
        for name, number in self.kept.items():
            if name in read:
                yield "double", f"v_{name}", f"DMLCY_S({number})"
                if name in self.tops:
                    yield "float", f"v_{name}_float", f"(float)v_{name}"
                    if exps:
                        for part in ("whole", "rest"):
                            yield "float", f"v_{name}_float_{part}", f"dmlcy_exp_less_{part}(v_{name}_float)"
        for name, t in self.numbers.items():
            if name in read and name not in self.elements:
                yield "double", f"x{t}", f"DMLCY_ONE({t})"


def is_whole(node: Node) -> bool:
    """Whether sums of so many elements as a chunk has are exact in FLOAT32, as each element is 0 or 1."""
    return isinstance(node, Choice) and all(one in (Number(0.0), Number(1.0)) for one in (node.then, node.other))


def is_exp(node: Node) -> bool:
    """Whether a node is an exponential."""
    return isinstance(node, Call) and node.function == "exp"


def bits(numbers: Iterable[int]) -> str:
    """A bit for each number."""
    return hex(sum(1 << number for number in numbers))


def filled_with(node: Node, part: Node) -> Node:
    """The expression with a number in place of a part."""
    return rebuilt(node, lambda one: Number(0) if one == part else one)
