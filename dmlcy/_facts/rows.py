"""The classes that the generated tables are made of: a spec as plain data. ``codegen/plan/rows.py`` has them too.

The expressions of a spec arrive twice: as text, for people, and as functions of a :class:`Rules` object, which holds
the values of one desc. The text that documents an operator is read from its shipped spec when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from dmlcy._facts import shipped
from dmlcy._generated.index import OPERATORS
from dmlcy._words.records import Row, record

if TYPE_CHECKING:
    from dmlcy._generated.arguments import _FeatureLevelName
    from dmlcy._types import Operation

T = TypeVar("T")
Given: TypeAlias = tuple[str, tuple[int, ...], object]
"""A tensor of an example: (dtype, sizes, nested data)."""
MISSING: Final[Any] = type("Missing", (), {"__repr__": lambda self: "MISSING"})()


class Rules:
    """Values of one desc, by the Python name of the field: the generated subclass of an operator adds its lets."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.__dict__.update(values)


@record(frozen=True, slots=True, eq=False, repr=False)
class DtypeRow(Row):
    """Data types that a feature level brought."""

    since: str
    dtypes: tuple[str, ...]
    default: bool = False  # a call that chooses none gives the first of these


@record(frozen=True, slots=True, eq=False, repr=False)
class RankRow(Row):
    """Ranks that a feature level brought."""

    since: str
    min: int
    max: int


@record(frozen=True, slots=True, eq=False, repr=False)
class Term(Row):
    """A name in a formula whose value a message shows. ``label`` and ``said`` hold an index as ``{d}``, if any."""

    label: str
    function: Callable[..., object]
    said: str = ""  # what a message calls it, where that is not the label

    @property
    def words(self) -> str:
        """The name in a message."""
        return self.said or self.label


@record(frozen=True, slots=True, eq=False, repr=False)
class Formula(Row):
    """An expression: its text, the facets it reads (``input.sizes``, ``input.rank``, ``strides``), its function."""

    text: str
    reads: frozenset[str]
    function: Callable[..., Any]
    terms: tuple[Term, ...] = ()  # of sizes
    guarded: frozenset[str] = frozenset()  # tensors that it reads only where they are present
    said: str = ""  # how a message says it, where that is not the text

    @property
    def words(self) -> str:
        """The formula as a message says it."""
        return self.said or self.text


@record(frozen=True, slots=True, eq=False, repr=False)
class Part(Row):
    """Sizes of a tensor: those between the first ``before`` and the last ``after``."""

    tensor: str
    before: int
    after: int

    def of(self, sizes: tuple[T, ...]) -> tuple[T, ...]:
        """These of the sizes of the tensor."""
        return sizes[self.before : len(sizes) - self.after]


@record(frozen=True, slots=True, eq=False, repr=False)
class Field(Row):
    """A member of a desc, or sizes of its output, which a call is given beside attributes."""

    name: str  # InputTensor
    python: str  # input
    kind: str  # input, output, attribute; chosen: no member of the desc
    type: str  # as in specs/catalogue.toml: tensor, uint_array, enum:DML_PADDING_MODE
    optional: bool
    default: Any = MISSING  # MISSING: the caller gives it
    dtypes: tuple[DtypeRow, ...] = ()  # of a tensor
    ranks: tuple[RankRow, ...] = ()  # of a tensor
    same_dtype_as: str | None = None  # the tensor whose data type this one shares
    sizes: Formula | None = None  # of a tensor whose sizes follow from other fields
    leading_ones: str | None = None  # "call": a call may leave leading ones out; "desc", "both": who may add them
    length: Formula | None = None  # of an array
    max_length: Formula | None = None  # of an array that is as long as it is given
    minimum: int | None = None  # of a uint, or of each entry of an array
    maximum: int | None = None
    value: Formula | None = None  # of a field that follows from the others: a count, a data type
    infinite: bool = False  # of a float: it may be infinite, or not a number
    scalar_type: str | None = None  # of a scalar union: the field that holds its type
    provenance: str = "documented"  # of the range
    hint: str = ""  # of a tensor whose sizes follow from other fields, or of an array that one number does not fill
    hint_when: Formula | None = None  # the condition on the desc that the hint is for; None: it is for all
    axes: tuple[str, ...] = ()  # of a tensor: the names of its axes, for each number of them: N, C, S...
    part: Part | None = None  # of what is chosen: where a desc has it
    among: tuple[tuple[str, str], ...] = ()  # of a field that holds operators: their names and first levels
    mixed: bool = False  # of an array of tensors: they may have different data types
    unsaid: bool = False  # of a data type that follows from the others: UNKNOWN is taken for it
    fills: bool = True  # of an array: one number fills it; else one number is one entry
    owned: bool = True  # of an input: it may have the flag OWNED_BY_DML
    sized_by: str | None = None  # of an output: the keyword by which a call may say its sizes
    axis_of: Formula | None = None  # of an axis, or of several: the sizes of the tensor that has them

    @property
    def default_dtype(self) -> str:
        """The data type of a tensor of which a call does not choose one."""
        return next((row for row in self.dtypes if row.default), self.dtypes[0]).dtypes[0]

    @property
    def only_dtype(self) -> str | None:
        """The data type of a tensor that can have no other one."""
        names = {name for row in self.dtypes for name in row.dtypes}
        return names.pop() if len(names) == 1 else None


@record(frozen=True, slots=True, eq=False, repr=False)
class Rule(Row):
    """A condition on fields. With ``domain``, one per index 0 … domain - 1."""

    id: str  # DML-AVERAGE_POOLING-window_size-fits
    about: str
    says: str  # does not fit
    text: str  # extent[d] <= padded[d]
    shown: str  # {0} must be <= {1}, over terms
    index: str | None  # the name of the index in text: d
    reads: frozenset[str]
    domain: Callable[..., int] | None
    holds: Callable[..., bool]
    terms: tuple[Term, ...]
    hint: str
    fix: Formula | None
    provenance: str  # documented, header, observed, inferred
    since: str
    until: str | None  # the first level at which it no longer holds
    data: bool  # on the values of a tensor: checked when the operator runs
    loop: str | None = None  # d in spatial, where there is an index; v of indices, where there is `each`
    each: str | None = None  # the tensor whose elements the functions take, one by one, after an index of its last axis
    guarded: frozenset[str] = frozenset()  # tensors that it reads only where they are present
    of_all: Operation | None = None  # of such a rule: over an arithmetic, of the numbers of all elements
    accepts: str = ""  # the evidence that DirectML takes what breaks it

    @property
    def severity(self) -> str:
        """The severity of a broken rule: an error, or a warning if the rule was only observed, or DirectML takes it."""
        return "warning" if self.provenance == "observed" or self.accepts else "error"


@record(frozen=True, slots=True, eq=False, repr=False)
class Independent(Row):
    """An axis along which the operator can be cut: it gives for slices of its inputs the slices of its output.

    ``axes``: of each tensor that has it, the axis. A slice is of a multiple of ``takes`` elements of an input, each of
    which give ``gives`` elements of the output. ``sized``: of attributes, the entry that is the size of such a slice.
    ``domain``: one axis per index below it, which the other functions take; ``when``: only then.
    """

    domain: Callable[..., int] | None
    axes: dict[str, Callable[..., int]]
    takes: Callable[..., int]
    gives: Callable[..., int]
    when: Callable[..., bool] | None
    sized: dict[str, Callable[..., int]]


@record(frozen=True, slots=True, eq=False, repr=False)
class Let(Row):
    """A named quantity that rules, sizes and kernels share."""

    name: str
    index: str | None
    loop: str | None  # d in spatial
    text: str
    each: str = ""  # of a count: what there is one of, in the singular: axis of input


@record(frozen=True, slots=True, eq=False, repr=False)
class Accuracy(Row):
    """The largest error of a data type, in units in the last place of ``of``.

    ``of``: "result", or "magnitudes": what the operator gives for the absolute values of its inputs.
    """

    ulp: Formula
    of: str


@record(frozen=True, slots=True, eq=False, repr=False)
class Unjudged(Row):
    """The condition of an interpretation: the elements of outputs for which it holds have a value that is not promised.

    ``outputs`` are Python names, () all outputs. ``when`` is a formula of the desc: the condition counts if it holds.
    ``condition`` is a function of an arithmetic and of the values, which the family tells of each element.
    """

    id: str
    outputs: tuple[str, ...]
    when: Formula | None
    condition: Formula


@record(frozen=True, slots=True, eq=False, repr=False)
class Definition(Row):
    """The definition of an operator for the reference and the loops; docs/families.md explains the keys.

    ``roles``: fields and lets. ``words``: texts that are no expression (patterns, data types). ``formulas``:
    expressions over fields and the names that the family reserves, as functions of an arithmetic and of the values.
    The keys are those of ``[kernel]``, dotted.
    """

    roles: dict[str, str]
    words: dict[str, str]
    formulas: dict[str, Formula]


@record(frozen=True, slots=True, eq=False, repr=False)
class Interpretation(Row):
    """A decision where the documentation is silent or contradicts itself.

    ``not_judged``, ``when`` and ``outputs`` are those of its condition (see Unjudged), as they are written; "" and ()
    without one.
    """

    id: str
    question: str
    choice: str
    evidence: str
    not_judged: str = ""
    when: str = ""
    outputs: tuple[str, ...] = ()


@record(frozen=True, slots=True, eq=False, repr=False)
class Example(Row):
    """A worked example: its tensors and, by Python name, its attributes.

    The tensors of an array have their paths as names: inputs[0], inputs[1].
    """

    title: str
    source: str | None  # None: derived
    calculation: str | None  # of a derived one
    inputs: dict[str, Given]
    attributes: dict[str, object]
    outputs: dict[str, Given]
    contradicts: str | None = None  # of a documented one that its page contradicts: what it prints, and what is right
    sized: bool = False  # the caller says the sizes of the outputs, though a formula gives some


@record(frozen=True, slots=True, eq=False, repr=False)
class Operator(Row):
    """Everything that is known of an operator."""

    name: str  # PADDING1
    python: str  # padding1
    desc: str  # Padding1
    struct: str  # DML_PADDING1_OPERATOR_DESC
    family: str
    since: str
    source: str
    fields: tuple[Field, ...]  # in the order of the struct
    chosen: tuple[Field, ...]  # sizes of outputs that the caller chooses: a call is given them as attributes
    lets: tuple[Let, ...]
    rules: tuple[Rule, ...]  # in declared order, data rules last
    independent: tuple[Independent, ...]
    rules_class: type[Rules]
    accuracy: dict[str, Accuracy]  # by data type; of the others the result is exact
    flushes: bool | None  # whether a device may flush operands to 0; None: as the family says
    absolute: float  # what results of a device may be off besides
    kernel: Definition | None  # None: it does not run
    unjudged: tuple[Unjudged, ...] = ()
    in_place: tuple[str, ...] = ()  # the inputs that an output may be written over

    def __repr__(self) -> str:
        """The name only: the rest is pages long, and is printed in reports of failed tests."""
        return f"<operator {self.name}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The same in Hypothesis and IPython, which print the fields of a dataclass otherwise."""
        printer.text(repr(self))

    @property
    def summary(self) -> str:
        """The summary of the operator, in a sentence."""
        return OPERATORS[self.name][3]

    @property
    def state(self) -> str:
        """How far dmlcy has it: described, reference or fast."""
        return OPERATORS[self.name][4]

    @property
    def runs(self) -> bool:
        """Whether it can be called."""
        return self.kernel is not None

    @property
    def definition(self) -> Definition:
        """The table ``[kernel]`` of an operator that runs."""
        assert self.kernel is not None, f"{self.name} does not run"
        return self.kernel

    @property
    def docs(self) -> dict[str, str]:
        """The texts on the fields, the sizes that a caller chooses and the lets, by their names in formulas."""
        return _docs(self.name)

    @property
    def interpretations(self) -> tuple[Interpretation, ...]:
        """The decisions where the documentation is silent or contradicts itself."""
        return _interpretations(self.name)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The worked examples."""
        return _examples(self.name)

    @property
    def parameters(self) -> tuple[Field, ...]:
        """The arguments of a call beside tensors."""
        given = (field for field in self.fields if field.kind == "attribute" and field.value is None)
        return (*self.chosen, *given)

    def arguments(self, desc: object) -> dict[str, object]:
        """The arguments of a call beside tensors that compute the result of a desc."""
        given = {field.python: _value(field, desc) for field in self.parameters}
        return given | {field.sized_by: _sizes(getattr(desc, field.python)) for field in self.fields if field.sized_by}

    def example_arguments(self, example: Example) -> dict[str, object]:
        """The arguments of a call beside tensors that compute an example; fields with their default are left out."""
        sizes = {name: sizes for name, (_, sizes, _) in example.outputs.items()}
        parts = ((field.python, field.part) for field in self.chosen if field.part)
        chosen: dict[str, object] = {name: part.of(sizes[part.tensor]) for name, part in parts}
        for field in self.fields:
            paths = [path for path in sizes if path.partition("[")[0] == field.python]
            if field.sized_by is not None and (field.sizes is None or example.sized) and paths:
                several = tuple(sizes[path] for path in paths)
                chosen[field.sized_by] = several[0] if paths == [field.python] else several
        return {**chosen, **example.attributes}

    def example_tensors(self, example: Example) -> dict[str, Given]:
        """The tensors of an example that a desc must be given."""
        given = {field.python for field in self.fields if field.kind == "input" or self.is_open(field)}
        given |= {field.python for field in self.fields if example.sized and field.kind == "output"}
        tensors = {**example.inputs, **example.outputs}
        return {path: one for path, one in tensors.items() if path.partition("[")[0] in given}

    def field(self, python: str) -> Field:
        """The field of that Python name, or of that of a tensor of an array: inputs[2]."""
        return next(field for field in self.fields if field.python == python.partition("[")[0])

    def is_open(self, output: Field) -> bool:
        """Whether a desc must be given an output: its sizes or its data type do not follow from other fields."""
        return _is_open(self, output.python.partition("[")[0])

    def has_open_sizes(self, output: Field) -> bool:
        """Whether sizes of an output do not follow from other fields, so that a desc has them there alone."""
        return output.kind == "output" and (
            output.sizes is None
            or any(field.part is not None and field.part.tensor == output.python for field in self.chosen)
        )

    def has_chosen_sizes(self, field: Field) -> bool:
        """Whether all sizes of a tensor are what a call chooses, so that any are right in a desc."""
        read = frozenset() if field.sizes is None else field.sizes.reads
        return bool(read) and read <= {one.python for one in self.chosen}

    def has_type(self, output: Field) -> bool:
        """Whether the data type of an output follows: from a tensor before it, or because there is only one."""
        root = output.same_dtype_as
        before = takewhile(lambda one: one is not output, self.fields)
        return output.only_dtype is not None or (
            root is not None and any(root in (one.python, one.same_dtype_as) and not one.optional for one in before)
        )


@cache
def _is_open(operator: Operator, name: str) -> bool:
    output = operator.field(name)
    asked = output.kind == "output" and not output.optional
    return asked and (operator.has_open_sizes(output) or not operator.has_type(output))


@cache
def _docs(operator: str) -> dict[str, str]:
    spec = shipped.operator(operator)
    return {
        row.get("python", row["name"]): row["doc"] for key in ("field", "chosen", "let") for row in spec.get(key, ())
    }


@cache
def _interpretations(operator: str) -> tuple[Interpretation, ...]:
    rows = shipped.operator(operator).get("interpretation", ())
    return tuple(Interpretation(**{**row, "outputs": tuple(row.get("outputs", ()))}) for row in rows)


@cache
def _examples(operator: str) -> tuple[Example, ...]:
    return tuple(
        Example(
            row["title"],
            row.get("source"),
            row.get("calculation"),
            _tensors(row["inputs"]),
            row["attributes"],
            _tensors(row["outputs"]),
            row.get("contradicts"),
            row.get("sized", False),
        )
        for row in shipped.operator(operator).get("example", ())
    )


def _tensors(given: Mapping[str, Any]) -> dict[str, Given]:
    single = {name: one for name, one in given.items() if not isinstance(one, list)}
    arrays = {name: several for name, several in given.items() if isinstance(several, list)}
    single |= {f"{name}[{k}]": one for name, several in arrays.items() for k, one in enumerate(several)}
    return {path: (one["dtype"], tuple(one["sizes"]), one["data"]) for path, one in single.items()}


def _sizes(tensor: Any) -> object:
    """The sizes of a tensor of a desc, or of each of several."""
    return None if tensor is None else tuple(map(_sizes, tensor)) if isinstance(tensor, tuple) else tensor.sizes


def _value(field: Field, desc: object) -> object:
    """The value of a parameter of a call."""
    if field.part is None:
        return getattr(desc, field.python)
    return field.part.of(getattr(desc, field.part.tensor).sizes)


@record(frozen=True, slots=True, eq=False, repr=False)
class CatalogueEntry(Row):
    """An operator of DirectML's catalogue, whatever its state."""

    name: str
    value: int  # DML_OPERATOR_TYPE
    since: str
    in_place: tuple[str, ...]  # the inputs whose memory an output may share


@record(frozen=True, slots=True, eq=False, repr=False)
class Level(Row):
    """A feature level."""

    name: _FeatureLevelName  # 5_0
    value: int  # 0x5000
    directml: str  # the DirectML version that brought it
    max_rank: int  # of any tensor
    dxdispatch: bool  # whether the newest DxDispatch knows what it brought


@record(frozen=True, slots=True, eq=False, repr=False)
class Dtype(Row):
    """A tensor data type."""

    name: str  # FLOAT32
    value: int  # of DML_TENSOR_DATA_TYPE
    bits: int
    since: str
    numpy: str | None  # float32; None where NumPy has none


@record(frozen=True, slots=True, eq=False, repr=False)
class ErrorText(Row):
    """How an implicit error, or an error of a model file, is said."""

    id: str  # the slug of an implicit error (dtype), or DML-MODEL-json
    error: str  # class of dmlcy's errors
    message: str  # str.format template
    about: str  # when it occurs, for the error catalogue
