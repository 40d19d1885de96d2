"""The input of the templates: every name, table and line that they lay out.

A plan is plain data: text that is ready for Cython, Python or Markdown. Templates do no arithmetic and know no
operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..families import Family
from ..families.base import Definition
from ..field_types import FieldType, type_of
from ..model import Enum, Example, Facts, Field, Onnx, Operator, Rule, Same, Specs
from .step import CheckStep, LetStep, Step
from .taken import AttributePlan, TensorPlan

STATES = {
    "listed": "The operator is in the catalogue, with the fields of its struct.",
    "described": "Descs of the operator are checked, linted, explained and exported. The operator does not run yet.",
    "reference": "The operator runs, by the reference in Python and NumPy.",
    "fast": "The operator runs, by compiled loops.",
}
"""How far dmlcy has an operator, from the least on, and what it can do then."""


@dataclass(frozen=True, slots=True)
class LevelTable:
    """A C table with one set of values (bit n: value n) per feature level."""

    name: str
    sets: tuple[int, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The sets in hexadecimal, as lines of C."""
        texts = [f"0x{value:x}" for value in self.sets]
        return tuple(", ".join(texts[start : start + 8]) for start in range(0, len(texts), 8))


@dataclass(frozen=True, slots=True)
class RulePlan:
    """A rule as the tables of the package hold it."""

    rule: Rule
    id: str
    text: str
    domain_text: str | None
    shown: str
    terms: tuple[tuple[str, str, str], ...]  # label, words, Python
    reads: tuple[str, ...]
    method: str
    holds: str  # Python
    domain: str | None
    fix: str | None
    guarded: tuple[str, ...]  # tensors that it reads only where they are present
    of_all: str | None  # the condition on all elements of a tensor at once: Python over an arithmetic


@dataclass(frozen=True, slots=True)
class IndependentPlan:
    """An independent axis as the tables of the package hold it: its expressions as Python."""

    doc: str
    index: str | None
    loop: str | None  # d in axes
    domain: str | None
    axes: tuple[tuple[str, str], ...]
    sized: tuple[tuple[str, str], ...]
    takes: str
    gives: str
    when: tuple[str, str] | None  # text, Python


@dataclass(frozen=True, slots=True)
class LetPlan:
    """A let as the tables of the package hold it."""

    name: str
    index: str | None
    loop: str | None  # d in spatial
    text: str
    doc: str
    each: str
    python: str


@dataclass(frozen=True, slots=True)
class FormulaPlan:
    """A formula of a field as the tables of the package hold it."""

    text: str
    reads: tuple[str, ...]
    python: str
    terms: tuple[tuple[str, str, str], ...] = ()  # what a message shows the values of: label, words, Python
    guarded: tuple[str, ...] = ()  # tensors that it reads only where they are present
    said: str = ""  # as a message says it, where that differs


@dataclass(frozen=True, slots=True)
class UnjudgedPlan:
    """A condition on elements of outputs that are not judged, as the tables of the package hold it."""

    id: str
    outputs: tuple[str, ...]
    when: FormulaPlan | None
    condition: FormulaPlan  # Python over an arithmetic
    meanings: tuple[tuple[str, str], ...]  # of the names that only conditions on elements have


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """A field as the tables of the package and the docs show it."""

    field: Field
    default: str
    sizes: FormulaPlan | None
    length: FormulaPlan | None
    max_length: FormulaPlan | None
    value: FormulaPlan | None
    hint_when: FormulaPlan | None
    axis_of: FormulaPlan | None  # of an axis, or of several: the sizes of the tensor that has them
    same_as: str | None
    annotation: str  # in the desc class
    accepted: str  # by the constructor of the desc class, in a few words
    ids: tuple[tuple[str, str, str], ...]  # (id, error class, about) of its implicit errors
    open: bool  # an output that a desc must be given
    among: tuple[tuple[str, str], ...]  # the operators that it can hold, each with the first level
    is_fused: bool  # a desc of the operator may have no tensors, where a field of another operator holds it
    part: tuple[str, int, int] | None  # of a choice: the output, and how many of its sizes are before and after it

    @property
    def type(self) -> FieldType:
        """The type as codegen knows it."""
        return type_of(self.field)

    @property
    def required(self) -> bool:
        """Whether a desc must be given it: it has no default and does not follow from other fields."""
        inferred = self.field.value is not None or (
            self.field.kind == "output" and self.sizes is not None and not self.open
        )
        fused = self.is_fused and self.field.is_tensor
        return self.field.default is None and not inferred and not self.field.optional and not fused


@dataclass(frozen=True, slots=True)
class CompiledPlan:
    """The steps of a compiled call."""

    let_declarations: tuple[str, ...]
    take: tuple[Step, ...]
    take_overflows: bool
    checks: tuple[Step, ...]
    overflows: bool
    data_overflows: bool
    data_checks: tuple[CheckStep, ...]

    @property
    def element_names(self) -> tuple[str, ...]:
        """The variables of the data checks."""
        return tuple(dict.fromkeys(name for step in self.data_checks for name, _ in step.elements))


@dataclass(frozen=True, slots=True)
class OperatorPlan:
    """Everything the templates need of one operator."""

    operator: Operator
    name: str
    python: str
    desc: str
    since: int
    level_tables: tuple[LevelTable, ...]
    tensors: tuple[TensorPlan, ...]
    attributes: tuple[AttributePlan, ...]
    requests: tuple[AttributePlan, ...]  # for optional outputs
    chosen: tuple[AttributePlan, ...]
    fields: tuple[FieldPlan, ...]
    choices: tuple[FieldPlan, ...]
    rules: tuple[RulePlan, ...]
    independent: tuple[IndependentPlan, ...]
    lets: tuple[LetPlan, ...]
    accuracy: tuple[tuple[str, FormulaPlan, str], ...]  # data type, ULP, of what
    pieces: str | None  # along which other axes than the independent ones a call can be cut
    kernel: Any  # what its family says of it, and its run template is given; None: described, so that it does not run
    compiled: CompiledPlan | None  # None: described, so that no call takes it
    no_loops: str | None  # why no loops compute it, in a clause; None: they do
    unjudged: tuple[UnjudgedPlan, ...]
    in_place: tuple[str, ...]  # the inputs whose memory an output may share
    prepared: tuple[str, ...]  # the inputs of which the loops can make something once, for many calls
    ids: tuple[tuple[str, str], ...]  # (id, what it means), sorted

    @property
    def given(self) -> str:
        """The bytes of the struct in front of the lets, as Cython."""
        assert self.compiled is not None
        first = next(iter(self.compiled.let_declarations), None)
        if first is None:
            return f"sizeof({self.desc})"
        return f"<size_t>&(<{self.desc}*>NULL).{first.split()[-1].partition('[')[0]}"

    @property
    def held(self) -> str:
        """Where the struct owns a desc, or a tuple of them; 0: nowhere. As Cython."""
        names = [attribute.python for attribute in self.attributes if attribute.field.among]
        assert len(names) <= 1, "a call owns one desc, or one tuple of them"
        return f"<size_t>&(<{self.desc}*>NULL).{names[0]}" if names else "0"

    @property
    def fused(self) -> str:
        """Where the struct has the loops of the descs that it owns; 0: nowhere. As Cython."""
        names = [attribute.python for attribute in self.attributes if attribute.field.among]
        return f"<size_t>&(<{self.desc}*>NULL).{names[0]}_loops" if names else "0"

    @property
    def open_type(self) -> tuple[int, int]:
        """The place of the only output and that of the keyword that says its data type, where rules read it; or -1."""
        for place, keyword in enumerate(self.keywords):
            output = keyword.field
            if keyword.takes_type and len(self.outputs) == 1 and self.operator.has_rules_on_type(output):
                return self.place_of(output.python), place
        return -1, -1

    @property
    def has_data_rules(self) -> bool:
        """Whether values of tensors are checked."""
        return any(rule.data and not rule.warns for rule in self.operator.rules)

    @property
    def state(self) -> str:
        """How far dmlcy has it: one of STATES."""
        return "described" if self.kernel is None else "fast" if self.is_fast else "reference"

    @property
    def runs(self) -> bool:
        """Whether it can be called."""
        return self.kernel is not None

    @property
    def is_fast(self) -> bool:
        """Whether loops compute it."""
        return self.no_loops is None

    @property
    def takes_chunks(self) -> bool:
        """Whether it has a function for dask arrays: there are axes along which they can be cut."""
        return self.runs and (bool(self.independent) or self.pieces is not None)

    @property
    def asked_of_chunks(self) -> tuple[AttributePlan, ...]:
        """The outputs that the function takes: pieces make an optional output that has every axis which is cut."""
        cut_everywhere = [{name for name, _ in one.axes} for one in self.independent]
        return tuple(
            one
            for one in self.requests
            if not one.field.optional
            or (self.pieces is None and all(one.field.python in names for names in cut_everywhere))
        )

    @property
    def gives_tuples_of_chunks(self) -> bool:
        """Whether that function may give several dask arrays."""
        asked = [one.python for one in self.asked_of_chunks]
        given = [one for one in self.outputs if not one.optional or one.python in asked]
        return len(given) > 1 or any(map(self.is_array, given))

    def is_array(self, tensor: TensorPlan) -> bool:
        """Whether a tensor is an array of them."""
        return type_of(self.operator.field(tensor.python)).several

    @property
    def definition(self) -> Definition | None:
        """The content of ``[kernel]``."""
        return None if self.kernel is None else self.kernel.definition

    @property
    def file_name(self) -> str:
        """How its own modules are called."""
        return self.name.lower()

    def chosen_in(self, example: Example) -> dict[str, tuple[int, ...]]:
        """The sizes that the caller of an example chose."""
        found = {}
        for item in self.choices:
            assert item.part is not None
            output, before, after = item.part
            sizes = example.outputs[output].sizes
            found[item.field.python] = sizes[before : len(sizes) - after]
        return found

    @property
    def drawn(self) -> bool:
        """Whether it has a figure."""
        return any(example.figure is not None for example in self.operator.examples)

    def place_of(self, tensor: str | None) -> int:
        """The position of a tensor among the tensors of the operator; -1: there is none."""
        return -1 if tensor is None else [one.python for one in self.tensors].index(tensor)

    def indices(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """The loop indices of some steps."""
        names: dict[str, None] = {}
        for step in steps:
            if isinstance(step, LetStep) and step.index is not None:
                names[step.index] = None
            elif isinstance(step, CheckStep):
                names.update(dict.fromkeys(index for index, _ in step.loops))
            if isinstance(step, LetStep | CheckStep):
                names.update(dict.fromkeys(search.index for search in step.searches))
        return tuple(names)

    def searches(self, steps: Sequence[Step]) -> tuple[str, ...]:
        """The declarations of the variables that hold what searches of some steps find."""
        found = (
            search.declaration for step in steps if isinstance(step, LetStep | CheckStep) for search in step.searches
        )
        return tuple(dict.fromkeys(found))

    @property
    def inputs(self) -> tuple[TensorPlan, ...]:
        """The input tensors."""
        return tuple(tensor for tensor in self.tensors if tensor.kind == "input")

    @property
    def outputs(self) -> tuple[TensorPlan, ...]:
        """The output tensors."""
        return tuple(tensor for tensor in self.tensors if tensor.kind == "output")

    @property
    def output(self) -> TensorPlan:
        """The output tensor."""
        return self.outputs[0]

    @property
    def enums(self) -> tuple[str, ...]:
        """DirectML names of the enums that its attributes take."""
        names = (attribute.field.enum for attribute in self.attributes)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def taken(self) -> tuple[AttributePlan, ...]:
        """The arguments beside tensors, in the order in which a call takes them."""
        return (*self.chosen, *self.attributes)

    @property
    def parameters(self) -> tuple[AttributePlan, ...]:
        """The same in the order of a signature: first what has no default."""
        return tuple(sorted(self.taken, key=lambda attribute: attribute.default is not None))

    @property
    def keywords(self) -> tuple[AttributePlan, ...]:
        """The keywords of a call, in the order of a signature."""
        return (*self.parameters, *self.requests)


@dataclass(frozen=True, slots=True)
class FamilyPlan:
    """The operators of a family that have compiled calls, and what its kernel template is given.

    ``kernels`` is None where no operator has loops.
    """

    family: Family
    operators: tuple[OperatorPlan, ...]
    kernels: Mapping[str, Any] | None

    @property
    def fast(self) -> tuple[OperatorPlan, ...]:
        """The operators that have loops."""
        return tuple(operator for operator in self.operators if operator.is_fast)

    @property
    def enums(self) -> tuple[str, ...]:
        """DirectML names of the enums that the module reads."""
        return tuple(dict.fromkeys(name for operator in self.operators for name in operator.enums))


@dataclass(frozen=True, slots=True)
class Newer:
    """A newer version of an operator, which gives the same with the values of ``same``."""

    name: str
    since: str
    same: Same
    drawn: bool  # it has a figure


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything that the files of one operator may show beside the operator itself."""

    facts: Facts
    enums: tuple[Enum, ...]
    names: tuple[str, ...]  # of all operators, sorted
    newer: Mapping[str, tuple[Newer, ...]]  # the newer versions of an operator, by its name

    def enum(self, name: str) -> Enum:
        """The enum of that DirectML name."""
        return next(enum for enum in self.enums if enum.name == name)


@dataclass(frozen=True, slots=True)
class Plan(Surroundings):
    """Everything that is generated."""

    specs: Specs
    operators: tuple[OperatorPlan, ...]
    families: tuple[FamilyPlan, ...]
    ids: tuple[tuple[str, str], ...]  # (id, what it means), sorted
    onnx: Onnx

    @property
    def provisional(self) -> frozenset[str]:
        """The ids of the operators that do not run: they may change."""
        return frozenset(id_ for operator in self.operators if not operator.runs for id_, _ in operator.ids)

    def state(self, name: str) -> str:
        """How far dmlcy has an operator of the catalogue: one of STATES."""
        return next((operator.state for operator in self.operators if operator.name == name), next(iter(STATES)))
