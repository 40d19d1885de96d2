"""One operator, and the whole set of them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..diagnostics import Span
from ..expr.nodes import Call, Index, Name, Node, Splat
from ..expr.present import guards
from ..expr.types import INT64_MAX, INT64_MIN, Interval, Kind, Scope, Symbol
from ..source import Document, Table
from .examples import Equivalent, Example
from .facts import Dtype, Facts, camel
from .fields import Accuracy, Device, DtypeRow, Field, Independent, Interpretation, Let, RankRow, Rule, Same
from .onnx import Onnx

FACETS = ("rank", "sizes", "dtype", "present", "count")
NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator, its groups included."""

    name: str
    python: str
    family: str
    since: str
    struct: str
    value: int
    summary: str
    source: str
    include: tuple[str, ...]
    also: tuple[str, ...]  # what NumPy, PyTorch and everyday language call it
    also_after: tuple[str, ...]  # the operators that are meant first by a name that they have too
    types: Mapping[str, tuple[DtypeRow, ...]]
    ranks: Mapping[str, tuple[RankRow, ...]]
    fields: tuple[Field, ...]
    lets: tuple[Let, ...]
    rules: tuple[Rule, ...]
    chosen: tuple[Field, ...]
    independent: tuple[Independent, ...]
    same: tuple[Same, ...]
    interpretations: tuple[Interpretation, ...]
    examples: tuple[Example, ...]
    equivalents: tuple[Equivalent, ...]
    accuracy: tuple[Accuracy, ...]
    device: Device | None
    kernel: Table | None
    scope: Scope
    file: str
    family_span: Span

    @property
    def desc(self) -> str:
        """Name of its desc class."""
        return camel(self.name)

    def field(self, python: str) -> Field:
        """The field of that Python name; of ``inputs[2]``, the array of tensors."""
        return next(field for field in self.fields if field.python == python.partition("[")[0])

    @property
    def tensors(self) -> tuple[Field, ...]:
        """Inputs and outputs, in the order of the struct."""
        return tuple(field for field in self.fields if field.is_tensor)

    @property
    def inputs(self) -> tuple[Field, ...]:
        """Input tensors."""
        return tuple(field for field in self.fields if field.kind == "input")

    @property
    def outputs(self) -> tuple[Field, ...]:
        """Output tensors."""
        return tuple(field for field in self.fields if field.kind == "output")

    def is_omissible(self, given: Field) -> bool:
        """Whether a call may omit an input; None stands for an optional one before one that must be given."""
        return all(one.optional for one in self.inputs[self.inputs.index(given) :])

    @property
    def attributes(self) -> tuple[Field, ...]:
        """Attributes that a caller gives: those whose value does not follow from other fields."""
        return tuple(field for field in self.fields if field.kind == "attribute" and field.value is None)

    def of_chosen(self, field: Field) -> tuple[Field, int, int]:
        """The output whose sizes contain the caller's choice, and the numbers of sizes before and after the choice."""
        output = next(output for output in self.outputs if field.python in output.splats)
        before = next(number for number, item in enumerate(output.items) if isinstance(item, Splat))
        return output, before, len(output.items) - before - 1

    def is_chosen(self, output: Field) -> bool:
        """Whether sizes of an output are the caller's choice."""
        return any(field.python in output.splats for field in self.chosen)

    def has_type(self, output: Field) -> bool:
        """Whether the data type of an output follows: from a tensor before it, or because there is only one."""
        before = self.tensors[: self.tensors.index(output)]
        dtypes = {dtype for row in self.types[output.types or ""] for dtype in row.dtypes}
        return len(dtypes) == 1 or any(other.types == output.types and not other.optional for other in before)

    def has_limits(self, output: Field) -> bool:
        """Whether rules limit the data types of an output: a call cannot have all of them."""
        wanted = f"{output.python}.dtype"
        return any(rule.about == output.python and wanted in self.reads(rule.that.node) for rule in self.rules)

    def has_rules_on_type(self, output: Field) -> bool:
        """Whether a rule reads the data type of an output."""
        return any(f"{output.python}.dtype" in self.reads(rule.that.node) for rule in self.rules)

    def is_asked(self, output: Field) -> bool:
        """Whether a call has a keyword about an output: it is optional, or no input fixes its data type."""
        return output.optional or not self.has_type(output)

    def sized_by(self, output: Field) -> str | None:
        """The keyword by which a call may say the sizes of an output.

        None: they follow from the other fields, or the spec says what part of them is chosen.
        """
        own = {f"{output.python}.sizes", f"{output.python}.rank"}
        if output.sizes is not None and own.isdisjoint(self.reads(output.sizes.node)):
            return None
        several = self.scope[output.python].kind is Kind.TENSORS
        return f"{output.python.removesuffix('s') if several else output.python}_sizes"

    def is_open(self, output: Field) -> bool:
        """Whether a desc must be given an output: its sizes or its data type do not follow from other fields."""
        open_sizes = self.is_chosen(output) or output.sizes is None
        return not output.optional and (open_sizes or not self.has_type(output))

    def default_row(self, field: Field) -> DtypeRow:
        """The row of the data types of a tensor whose first one a call gives that chooses none."""
        rows = self.types[field.types or ""]
        return next((row for row in rows if row.default), rows[0])

    def first_of_type(self, field: Field) -> Field | None:
        """The tensor whose data type this tensor shares; None for the first of its type variable."""
        first = next(other for other in self.tensors if other.types == field.types)
        return None if first is field else first

    def reads(self, *nodes: Node) -> frozenset[str]:
        """The facets that expressions read, through lets too: ``input.sizes``, ``input.rank``, ``strides``."""
        return frozenset(facet for facet, _ in self._read(nodes))

    def guarded(self, *nodes: Node) -> frozenset[str]:
        """The tensors that expressions read only where they are known to be present."""
        read = self._named(nodes)
        return frozenset(name for name, known in read if known and (name, False) not in read)

    def unguarded(self, *nodes: Node) -> frozenset[str]:
        """The names that expressions read in a place where nothing says that they are present."""
        return frozenset(name for name, known in self._named(nodes) if not known)

    def _named(self, nodes: Iterable[Node]) -> set[tuple[str, bool]]:
        """The names of which expressions read facets, each with whether it is known to be present there."""
        facets = ((facet, known) for facet, known in self._read(nodes) if not facet.endswith(".present"))
        return {(facet.partition(".")[0], known) for facet, known in facets}

    def _read(self, nodes: Iterable[Node]) -> set[tuple[str, bool]]:
        """Facets, each with whether it is read only where its tensor is known to be present."""
        found: set[tuple[str, bool]] = set()
        lets = {let.name: let for let in self.lets}
        done: set[tuple[str, frozenset[str]]] = set()
        for node in nodes:
            self._find(node, NOTHING, lets, done, found)
        return found

    def _find(
        self,
        node: Node,
        present: frozenset[str],
        lets: Mapping[str, Let],
        done: set[tuple[str, frozenset[str]]],
        found: set[tuple[str, bool]],
    ) -> None:
        """Adds the facets that a node reads, where the tensors ``present`` are known to be there.

        ``done``: lets whose facets were added; lets read other lets, some of them many times.
        """
        if isinstance(node, Call) and node.function in FACETS:
            tensor = node.args[0]
            for index in tensor.indices if isinstance(tensor, Index) else ():
                self._find(index, present, lets, done, found)
            tensor = tensor.base if isinstance(tensor, Index) else tensor
            if isinstance(tensor, Name):
                found.add((f"{tensor.id}.{node.function}", tensor.id in present))
                return
        if isinstance(node, Index) and isinstance(node.base, Name) and self._is_tensor(node.base.id):
            found |= {(f"{node.base.id}.{facet}", node.base.id in present) for facet in ("sizes", "dtype")}
        elif isinstance(node, Name) and node.id in lets:
            if (node.id, present) not in done:
                done.add((node.id, present))
                let = lets[node.id]
                for formula in (let.value, let.count):
                    if formula is not None:
                        self._find(formula.node, present, lets, done, found)
            return
        elif isinstance(node, Name) and node.id in self.scope and not self._is_tensor(node.id):
            found.add((node.id, False))
        for child, known in guards(node):
            self._find(child, present | known, lets, done, found)

    def _is_tensor(self, name: str) -> bool:
        symbol = self.scope.get(name)
        return symbol is not None and symbol.kind in (Kind.TENSOR, Kind.TENSORS)


@dataclass(frozen=True, slots=True)
class Specs:
    """All facts and all operators, by name."""

    facts: Facts
    operators: Mapping[str, Operator]
    documents: Mapping[str, Document]  # the files that were read, by path
    onnx: Onnx


ELEMENT = "v"
"""The name of an element in a rule on each element of a tensor."""


def element(dtypes: Iterable[Dtype]) -> Symbol:
    """The meaning of an element's name, of a tensor that may have these data types."""
    known = list(dtypes)
    if any(dtype.name.startswith("FLOAT") for dtype in known):
        return Symbol(Kind.FLOAT, "element")
    ranges = [
        Interval(0, 2**dtype.bits - 1)
        if dtype.name.startswith("U")
        else Interval(-(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1)
        for dtype in known
    ]
    if not ranges:
        return Symbol(Kind.INT, "element")
    return Symbol(Kind.INT, "element", functools.reduce(Interval.joined, ranges))


def let_symbol(let: Let, kind: Kind, interval: Interval) -> Symbol:
    """The meaning of a let's name. Its interval is cut to int64: a check refuses values beyond it."""
    low = INT64_MIN if interval.lo is None else min(max(interval.lo, INT64_MIN), INT64_MAX)
    high = INT64_MAX if interval.hi is None else max(min(interval.hi, INT64_MAX), INT64_MIN)
    cut = Interval(low, high) if kind is Kind.INT else Interval()
    if let.index is None:
        return Symbol(kind, "let", cut)
    return Symbol(Kind.VECTOR, "let", cut, count=None if let.count is None else let.count.node)
