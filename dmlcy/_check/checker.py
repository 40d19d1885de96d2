"""The pass over a desc or over the arguments of a call that finds every violation, with exact ints.

The order: the operator, members that it has not, then the fields in the order of the struct, but inputs before
attributes before outputs; rules in declared order, those on data last. What reads a field that has failed is skipped,
so that a consequence is never reported beside its cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum, IntFlag
from typing import Any, Final, NoReturn, cast

import numpy as np

from dmlcy._check.foreign import MASKED, complaint, is_foreign
from dmlcy._check.support import dtypes_at, ranks_at
from dmlcy._errors import Violation
from dmlcy._facts.names import in_another_version
from dmlcy._facts.rows import MISSING, Field, Formula, Operator, Part, Rule, Rules, Term
from dmlcy._facts.tables import ENUMS, ERRORS, LEVEL_INDEX, LEVELS, TensorDataType
from dmlcy._field_types.tensor_desc import UINT_MAX, TensorDesc, entry_count, layout, structure
from dmlcy._field_types.values import (
    NUMPY,
    Refused,
    Size2D,
    as_bool,
    as_dtype,
    as_enum,
    as_float,
    as_int,
    as_ints,
    as_scalar,
    as_size,
    from_union,
    single,
    wrong_type,
)
from dmlcy._field_types.wording import axes_of, nearest_dtype, of_each, read_as, without_ones
from dmlcy._field_types.wording import entries as entry_text
from dmlcy._runtime.tensor import may_overlap, self_overlaps
from dmlcy._words.alike import closest, did_you_mean
from dmlcy._words.values import in_json, is_a, listing, plain, show

REPORTED: Final = 10
"""Entries of one field, or indices of one rule, that are reported."""
OUT: Final = "out"
"""The name of the outputs in a call."""
LOOKED_AT: Final = 10_000
"""Indices of one rule that are looked at, from the first one that is broken."""
WHOLE: Final = -1
"""In place of an index: all of a field."""
IN_JSON: Final = {
    "True or False": "true or false",
    "a TensorDesc": "an object with the members DataType and Sizes",
    **{f"a {info.cls.__name__} or its name": f"the name of a member of {name}" for name, info in ENUMS.items()},
}
"""What a value must be, in the words of JSON."""


class Unreadable(ArithmeticError):
    """A formula read an entry that has been refused."""


class Bad:
    """In place of an entry that has been refused, so that formulas can read the others."""

    def _refuse(self, *_: object) -> NoReturn:
        raise Unreadable

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _refuse
    __mod__ = __rmod__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse
    __bool__ = __int__ = __index__ = __float__ = __hash__ = _refuse


BAD: Final[Any] = Bad()


class Tensor:
    """A tensor as formulas see it."""

    __slots__ = ("dtype", "sizes")

    def __init__(self) -> None:
        self.dtype: TensorDataType | None = None
        self.sizes: tuple[int, ...] = ()


class Data:
    """The values of a tensor as rules see them: exact Python numbers, with leading ones up to the rank of the desc."""

    __slots__ = ("_array",)

    def __init__(self, array: np.ndarray[Any, Any], rank: int) -> None:
        self._array = array[(None,) * (rank - array.ndim)]

    def __getitem__(self, index: int | tuple[int, ...]) -> object:
        return self._array.item(*index) if isinstance(index, tuple) else self._array.item(index)


class Check:
    """One pass over the values of one desc. ``resolved`` holds them normalised, with what follows from them filled in.

    ``call``: the values are those of a function call; ``asked``: what it says of each optional output, and
    ``labels``: the names in it of the outputs that are given. ``literal``: they come from JSON, which has no short
    forms; ``unknown``: its members that the operator has not. Not ``limited``: tensors may have any number of elements,
    for only parts of them are given to a kernel.
    """

    def __init__(
        self,
        operator: Operator,
        values: Mapping[str, object],
        level: int,
        *,
        call: bool,
        asked: Mapping[str, object] | None = None,
        labels: Mapping[str, str] | None = None,
        literal: bool = False,
        limited: bool = True,
        unknown: Iterable[str] = (),
    ) -> None:
        self.operator = operator
        self.values = values
        self.level = max(level, LEVEL_INDEX[operator.since])
        self.asked_level = level
        self.call = call
        self.asked = asked or {}
        self.labels = dict(labels or {})
        self.chosen: dict[str, TensorDataType] = {}  # of optional outputs, by a call
        self.literal = literal
        self.limited = limited
        self.fields = {field.python: field for field in (*operator.fields, *(operator.chosen if call else ()))}
        self.resolved: dict[str, object] = {}
        self.rules: Rules = operator.rules_class({})
        self.tensors: dict[str, Tensor] = {}
        self.bad: set[str] = set()
        self.broken: dict[str, set[int]] = {}
        self.inferred: set[str] = set()
        self.cause: BaseException | None = None
        self.first: list[Violation] = []
        self.found: dict[str, list[Violation]] = {name: [] for name in self.fields}
        self.late: list[Violation] = []
        self._operator([*(name for name in values if name not in self.fields), *unknown])
        self._run()

    @property
    def violations(self) -> list[Violation]:
        """All of them, in order."""
        kinds = ("input", "chosen", "attribute", "output")
        order = sorted(self.fields.values(), key=lambda field: kinds.index(field.kind))
        return [*self.first, *(one for field in order for one in self.found[field.python]), *self.late]

    def _run(self) -> None:
        tensors = [field for field in self.operator.fields if field.kind != "attribute"]
        attributes = [field for field in self.operator.fields if field.kind == "attribute"]
        for field in tensors:
            self._tensor(field)
        for field in tensors:
            self._dtype(field)
            self._layout(field)
        inputs = [field for field in tensors if field.kind == "input"]
        late = {field.python for field in self.operator.fields if field.kind == "attribute"}
        late |= {field.python for field in self.operator.chosen}
        early = [field for field in inputs if field.sizes is not None and late.isdisjoint(field.sizes.reads)]
        for field in early:
            self._sizes(field)
        for field in self.operator.chosen:
            self._chosen(field)
        for field in attributes:
            if field.value is not None:
                self._derived(field)
        for field in attributes:
            if field.value is None:
                self._attribute(field)
        for rule in self.operator.rules:
            if not rule.data:
                self._infer(rule.reads)
                self._rule(rule)
        for field in inputs:
            if field not in early:
                self._sizes(field)
        for field in tensors:
            if field.kind == "output":
                self._infer({f"{field.python}.sizes"})
                self._sizes(field)

    def add(
        self,
        field: Field | None,
        slug: str,
        *,
        part: str = "",
        member: str | None = None,
        index: int | None = None,
        at: int | None = None,
        values: Mapping[str, object] | None = None,
        words: Mapping[str, str] | None = None,
        terms: Mapping[str, object] | None = None,
        note: str = "",
        hint: str = "",
        fix: object = None,
        level: str | None = None,
    ) -> None:
        """Notes an error of a field itself. ``part`` and ``index`` go into the sentence, ``member`` and ``at`` not.

        ``terms``: the values of what a formula in ``words`` is made of; ``note``: a sentence more.
        """
        text = ERRORS[slug]
        name = "operator" if field is None else field.python
        id_ = f"DML-{self.operator.name}-{name}-{slug}"
        into = self.first if field is None else self.found[name]
        if len([one for one in into if one.id == id_]) == REPORTED:
            return
        label = self.operator.name if field is None else self._label(field)
        named = field is not None and field.type == "size_2d"  # its entries are told apart by their part
        where = f"{label}{part}" + ("" if index is None or named else f"[{index}]")
        seen, written = {**(values or {}), **(terms or {})}, in_json if self.literal else show
        shown = {key: written(value) for key, value in (values or {}).items()}
        where_from = ", ".join(f"{name} = {written(value)}" for name, value in (terms or {}).items())
        shown["where"] = where_from and f", where {where_from}"
        violation = Violation(
            id=id_,
            operator=self.operator.name,
            field=None if field is None else field.python,
            member=member or part.removeprefix(".") or None,
            index=at if index is None else index,
            message=" ".join(filter(None, (text.message.format(field=where, **(words or {}), **shown), note))),
            rule=None,
            values={key: plain(value) for key, value in seen.items()} | dict(words or {}),
            hint=hint,
            fix=plain(fix),
            level=level,
            provenance=field.provenance if field is not None and slug == "range" and not part else "documented",
            error=text.error,
        )
        into.append(violation)

    def refused(self, field: Field, refused: Refused, *, index: int | None = None) -> None:
        """Notes what a conversion refused, and the first error of a stranger's class that made it refuse."""
        self.cause = self.cause or refused.__cause__
        words = refused.words
        if self.literal and "expected" in words:
            words = words | {"expected": IN_JSON.get(words["expected"], words["expected"])}
        self.add(
            field,
            refused.slug,
            part=refused.part,
            member=refused.member,
            index=refused.index if index is None else index,
            values=refused.values,
            words=words,
            hint=refused.hint,
            fix=refused.fix,
        )

    def _label(self, field: Field) -> str:
        return self.labels.get(field.python, field.python)

    def _too_new(
        self, field: Field | None, subject: str, needed: int, hint: str = "", member: str | None = None
    ) -> None:
        level = LEVELS[needed]
        self.add(
            field,
            "level",
            member=member,
            words={
                "subject": subject,
                "needed": level.name,
                "directml": level.directml,
                "level": LEVELS[self.asked_level].name,
            },
            hint=hint,
            level=level.name,
        )

    def _first_level(self, holds: Callable[[int], bool]) -> int | None:
        return next((index for index in range(len(LEVELS)) if holds(index)), None)

    def _fail(self, *facets: str) -> None:
        self.bad.update(facets)

    def _operator(self, unknown: Sequence[str]) -> None:
        if self.asked_level < self.level:
            self._too_new(None, self.operator.name, self.level)
        absent = [
            field.name if self.literal else field.python
            for field in self.operator.fields
            if (given := self.values.get(field.python)) is None or given is MISSING
        ]
        for name in unknown[:REPORTED]:
            owned = in_another_version(self.operator, name)
            hint, fix = (owned, None) if owned else (did_you_mean(name, absent), closest(name, absent))
            self.add(None, "unknown", values={"actual": name}, hint=hint, fix=fix)

    def _tensor(self, field: Field) -> None:
        name = field.python
        value = self.values.get(name)
        tensor = self.tensors[name] = Tensor()
        self.resolved[name] = value
        self.rules.__dict__[name] = tensor
        asked = self._asked(field, tensor) if field.optional and self.call and field.kind == "output" else False
        if value is None and name not in self.labels:
            self.rules.__dict__[name] = tensor if asked or not field.optional else None
            if not field.optional and not self._follows(field):
                self.add(field, "required", hint=self._holds_choices(field))
            if not asked and (field.optional or field.kind != "output"):
                self._fail(f"{name}.dtype", f"{name}.sizes", f"{name}.rank")
            return
        if value is MISSING or not is_a(value, TensorDesc):
            self._fail(f"{name}.dtype", f"{name}.sizes", f"{name}.rank")
            if value is MISSING:
                self.add(field, "required", hint=self._holds_choices(field))
            else:
                self.refused(field, self._no_tensor(field, value))
            return
        desc = cast(TensorDesc, value)
        if type(desc.dtype) is not TensorDataType:
            self._fail(f"{name}.dtype")
            self._unknown_dtype(field, desc.dtype)
        else:
            tensor.dtype = desc.dtype
        wrong = list(structure(desc))
        for refused in wrong:
            self.refused(field, refused)
        rank = entry_count(desc.sizes)
        if rank is None:
            self._fail(f"{name}.sizes", f"{name}.rank")
            return
        refused_entries = {refused.index for refused in wrong}
        sizes = [BAD if at in refused_entries else size for at, size in enumerate(desc.sizes)] if wrong else desc.sizes
        tensor.sizes = self._with_ones(field, tuple(sizes))
        self._rank(field, len(tensor.sizes))

    def _asked(self, field: Field, tensor: Tensor) -> bool:
        """Whether a call asks for an optional output; notes the data type."""
        request = self.asked.get(field.python)
        if not wanted(request):
            return False
        self.labels, labels = {}, self.labels
        if is_a(request, bool, np.bool_):
            same = field.same_dtype_as
            tensor.dtype = TensorDataType[field.dtypes[0].dtypes[0]] if same is None else self.tensors[same].dtype
        else:
            tensor.dtype = as_dtype(request)
            if tensor.dtype is None and is_a(request, str, type):
                self._unknown_dtype(field, request)
            elif tensor.dtype is None:
                self.refused(field, wrong_type(request, "True, False or a data type"))
        self.labels = labels
        if tensor.dtype is not None:
            self.chosen[field.python] = tensor.dtype
        return tensor.dtype is not None

    def _follows(self, field: Field) -> bool:
        """Whether a tensor need not be given."""
        return field.kind == "output" and field.sizes is not None and (self.call or not self.operator.is_open(field))

    def _holds_choices(self, field: Field) -> str:
        """What else is missing where an output is: what a call is given, and a desc has in its sizes."""
        names = self._choices(field)
        return f"The sizes of this tensor hold what a call takes as {listing(names)}." if names else ""

    def _choices(self, field: Field) -> list[str]:
        """What a call is given of the sizes of an output."""
        return [one.python for one in self.operator.chosen if one.part is not None and one.part.tensor == field.python]

    def _gives_axes(self, field: Field) -> str:
        """Which part of its axes an output has from what a call is given."""
        given = {name: self.resolved.get(name) for name in self._choices(field)} if self.call else {}
        counts = [
            f"{name} gives {len(sizes)} of these dimensions."
            for name, sizes in given.items()
            if isinstance(sizes, tuple)
        ]
        return " ".join(counts)

    def _is_chosen(self, formula: Formula) -> str:
        """What a call is given for an output, where a length follows from that."""
        chosen = [one.python for one in self.operator.chosen if self.call and one.python in formula.reads]
        return " ".join(f"{name} is {show(self.resolved.get(name))}." for name in chosen)

    def _read(self, condition: Formula | Rule) -> str:
        """The sizes of the inputs that a condition reads, as sentences; a rule on data speaks of elements instead."""
        if isinstance(condition, Rule) and condition.data:
            return ""
        read = {facet.partition(".")[0] for facet in condition.reads if facet.endswith((".sizes", ".rank"))}
        inputs = [field.python for field in self.operator.fields if field.kind == "input" and field.python in read]
        sizes = {name: self.tensors[name].sizes for name in inputs}
        return read_as(self.fields, {name: found for name, found in sizes.items() if not any(n is BAD for n in found)})

    def _layout(self, field: Field) -> None:
        desc = self.resolved[field.python]
        if is_a(desc, TensorDesc):
            for refused in layout(cast(TensorDesc, desc), field.kind == "output"):
                if refused.slug == "elements" and not self.limited:
                    continue
                self.refused(field, refused)
                if refused.slug == "elements":
                    self._fail(f"{field.python}.sizes")

    def _no_tensor(self, field: Field, value: object) -> Refused:
        if not self.call:
            array = is_a(value, np.ndarray)
            return wrong_type(value, "a TensorDesc", "Pass TensorDesc.from_array(x)." if array else "")
        hint, expected = "", "an array"
        cause: BaseException | None = None
        outputs = [one for one in self.operator.fields if one.kind == "output" and self._there(one)]
        if field.kind == "output" and len(outputs) > 1 and self._label(field) == OUT:
            expected = f"a tuple of {len(outputs)} arrays, {_places(outputs)}"
        elif is_foreign(value):
            hint, cause = complaint(value, field.kind == "output")
        elif is_a(value, list, tuple):
            hint = f"Pass numpy.asarray({field.python}, dtype=...)." if field.kind == "input" else self._untaken()
        elif is_a(value, np.ma.MaskedArray):
            hint = MASKED
        elif is_a(value, bool, int, float, complex, np.generic):
            hint = "A single number is not a tensor." if field.kind == "input" else ""
        refused = wrong_type(value, expected, hint)
        refused.__cause__ = cause
        return refused

    def _there(self, field: Field) -> bool:
        """Whether there is such an output: not, of an optional one, where nobody asks for it."""
        return not field.optional or wanted(self.asked.get(field.python, self.resolved.get(field.python)))

    def _untaken(self) -> str:
        """What a tuple of outputs may lack."""
        names = [one.python for one in self.operator.fields if one.kind == "output" and not self._there(one)]
        return f"Pass a tuple only if the call asks for {' or '.join(names)} too." if names else ""

    def _unknown_dtype(self, field: Field, dtype: object) -> None:
        if dtype is None:
            self.add(field, "required", part=".dtype")
            return
        if is_a(dtype, np.dtype) and not cast("np.dtype[Any]", dtype).isnative:
            native = cast("np.dtype[Any]", dtype).newbyteorder("=")
            if native in NUMPY:
                hint = f'Pass {self._label(field)}.astype("{native}").' if self.call else ""
                self.add(field, "byteorder", member="dtype", values={"actual": dtype}, hint=hint)
                return
        allowed = dtypes_at(field, self.level)
        name = str.__str__(cast(str, dtype)) if is_a(dtype, str) else ""
        meant = did_you_mean(name.removeprefix("DML_TENSOR_DATA_TYPE_"), allowed) if name else ""
        self.add(
            field,
            "dtype",
            member="dtype",
            values={"actual": dtype},
            words={"allowed": listing(allowed)},
            hint=meant or self._conversion(field, dtype, allowed),
        )

    def _conversion(self, field: Field, dtype: object, allowed: Sequence[str]) -> str:
        """What a call can be given in place of an input of a data type that is not allowed."""
        nearest = nearest_dtype(dtype, allowed) if self.call and field.kind == "input" else None
        return f"Pass {self._label(field)}.astype(numpy.{nearest})." if nearest else ""

    def _dtype(self, field: Field) -> None:
        tensor, facet = self.tensors[field.python], f"{field.python}.dtype"
        source = None if field.same_dtype_as is None else f"{field.same_dtype_as}.dtype"
        other = self.chosen.get(field.python) if source is None else self.tensors[str(field.same_dtype_as)].dtype
        if tensor.dtype is None:
            if facet not in self.bad and source is not None and source not in self.bad:
                tensor.dtype = other
            if tensor.dtype is None:
                self._fail(facet)
            return
        if tensor.dtype is other and source is not None:
            if source in self.bad:
                self._fail(facet)
            return
        name = tensor.dtype.name
        if name not in dtypes_at(field, self.level):
            self._fail(facet)
            needed = self._first_level(lambda level: name in dtypes_at(field, level))
            if needed is None:
                allowed, values = dtypes_at(field, self.level), {"actual": tensor.dtype}
                hint = self._conversion(field, tensor.dtype, allowed)
                self.add(field, "dtype", member="dtype", values=values, words={"allowed": listing(allowed)}, hint=hint)
            else:
                hint = f"Before it: {listing(dtypes_at(field, self.level))}."
                self._too_new(field, f"{self._label(field)} of data type {name}", needed, hint, "dtype")
        elif other is not None and tensor.dtype is not other and source not in self.bad:
            self._fail(facet)
            other_name = field.same_dtype_as or field.python
            words = {"has": "has data type", "must": "must have", "other": other_name}
            values = {"actual": tensor.dtype, "expected": other}
            hint = f'Pass {field.python}="{name}".' if source is None else ""  # the call chose the other one
            self.add(field, "same-dtype", member="dtype", values=values, words=words, hint=hint, fix=other)

    def _with_ones(self, field: Field, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes with the leading ones that a call may leave out."""
        ranks = ranks_at(field, self.level)
        if not self.call or field.leading_ones != "call" or not sizes or not ranks:
            return sizes
        return (1,) * (ranks[0] - len(sizes)) + sizes

    def _rank(self, field: Field, rank: int) -> None:
        allowed = ranks_at(field, self.level)
        if rank in allowed:
            return
        self._fail(f"{field.python}.sizes", f"{field.python}.rank")
        needed = self._first_level(lambda level: level >= self.level and rank in ranks_at(field, level))
        if needed is None:
            fewest = self.call and field.leading_ones == "desc"  # the others are for ones that only a desc may add
            words = {"allowed": _spans(allowed[:1] if fewest else allowed)}
            hint = self._gives_axes(field) or axes_of(field)
            if self.call and hint and field.kind == "input" and rank + 1 == min(allowed):
                hint += f" Add a missing axis with {field.python}[numpy.newaxis]."
            words["dimensions"] = "dimension" if rank == 1 else "dimensions"
            self.add(field, "rank", member="sizes", values={"actual": rank}, words=words, hint=hint)
        else:
            subject = f"{self._label(field)} with {rank} dimensions"
            self._too_new(field, subject, needed, f"Before it: {_spans(allowed)}.", "sizes")

    def _readable(self, reads: Iterable[str]) -> bool:
        return not any(facet in self.bad or facet.partition(".")[0] in self.broken for facet in reads)

    def _evaluated(self, formula: Formula) -> Any:
        """The value of a formula; None where it reads what has been refused."""
        try:
            value = formula.function(self.rules) if self._readable(formula.reads) else None
        except Unreadable:
            return None
        return None if value is BAD else value

    def _computed(self, field: Field) -> tuple[int, ...] | None:
        """The sizes that follow from the other fields."""
        if field.sizes is None or not self._readable(field.sizes.reads):
            return None
        try:
            return tuple(int(size) for size in field.sizes.function(self.rules))
        except Unreadable:
            return None

    def _sizes(self, field: Field) -> None:
        name, actual = field.python, self.tensors[field.python].sizes
        if f"{name}.sizes" in self.bad or name in self.broken or name in self.inferred:
            return
        expected = self._computed(field)
        if expected is None or field.sizes is None:
            return
        given = cast(TensorDesc, self.resolved[name]).sizes
        needed = expected
        if not self.call and field.leading_ones == "desc":
            extra = len(actual) - len(expected)
            ones = extra > 0 and all(size is not BAD and size == 1 for size in actual[:extra])
            needed = (1,) * extra + expected if ones else expected
        pairs = zip(actual, needed, strict=False)
        differ = [at for at, (a, b) in enumerate(pairs) if a is not BAD and a != b]
        if len(actual) == len(needed) and not differ:
            return
        self._fail(f"{name}.sizes")
        formula = field.sizes.text
        if self.call and field.leading_ones == "call" and len(given) < len(expected):
            ones_left_out = len(expected) - len(given)
            formula, expected = without_ones(formula, ones_left_out), expected[ones_left_out:]
            needed, differ = needed[ones_left_out:], [at - ones_left_out for at in differ]
        one = differ[0] if len(differ) == 1 and len(given) == len(needed) else None
        valid = all(size >= 1 for size in needed) and math.prod(needed) <= UINT_MAX
        self.add(
            field,
            "sizes",
            member="sizes",
            at=one,
            values={"actual": given, "expected": expected},
            words={"formula": formula},
            terms=self._terms(field.sizes),
            hint=field.hint,
            fix=None if not valid else needed if one is None else needed[one],
        )

    def _terms(self, formula: Formula) -> dict[str, object]:
        """The values that a message shows beside a formula: those of its names, and what a call chooses."""
        found = {term.label: self._value(term, ()) for term in formula.terms}
        chosen = [one.python for one in self.operator.chosen if self.call and one.python in formula.reads]
        return found | {name: self.resolved.get(name) for name in chosen} if found else {}

    def _infer(self, reads: Iterable[str]) -> None:
        """Fills in the sizes of the outputs that are not given, and that somebody is about to read."""
        for field in self.operator.fields:
            name, facet, rank = field.python, f"{field.python}.sizes", f"{field.python}.rank"
            read = facet in reads or rank in reads
            if field.kind != "output" or not read or name in self.inferred or facet in self.bad:
                continue
            if self.resolved[name] is not None or field.sizes is None:
                continue
            self.inferred.add(name)
            sizes = self._computed(field)
            if sizes is None:
                self._fail(facet, rank)
                continue
            tensor = self.tensors[name]
            desc = TensorDesc(tensor.dtype, sizes)  # type: ignore[arg-type]    # None: not known
            wrong = list(structure(desc)) or [one for one in layout(desc, False) if one.slug == "elements"]
            if not self.limited and min(sizes) >= 1:
                wrong = []
            for refused in wrong:
                refused.hint = f"The sizes follow from the other fields: {field.sizes.text}."
                refused.fix = None
                self.refused(field, refused)
            self._rank(field, len(sizes))
            if wrong:
                self._fail(facet)
            tensor.sizes = sizes
            if tensor.dtype is not None and facet not in self.bad:
                self.resolved[name] = desc

    def _keep(self, field: Field, value: object) -> None:
        self.resolved[field.python] = self.rules.__dict__[field.python] = value

    def _chosen(self, field: Field) -> None:
        """Sizes that a call is given, and that a desc has in its output."""
        assert field.part is not None
        if self.call:
            self._attribute(field)
            if field.python not in self.bad:
                self._chosen_rank(field.python, field.part)
        elif f"{field.part.tensor}.sizes" in self.bad or self.resolved[field.part.tensor] is None:
            self._fail(field.python)
        else:
            self.rules.__dict__[field.python] = field.part.of(self.tensors[field.part.tensor].sizes)

    def _chosen_rank(self, name: str, part: Part) -> None:
        """So many sizes make an output that can be."""
        rank = part.before + len(self.rules.__dict__[name]) + part.after
        self._rank(self.fields[part.tensor], rank)
        if f"{part.tensor}.rank" in self.bad:
            self._fail(name)

    def _derived(self, field: Field) -> None:
        """A field whose value follows from others: it may be left out, and must not contradict them."""
        formula, name = cast(Formula, field.value), field.python
        expected = self._evaluated(formula)
        value = self.values.get(name)
        self._keep(field, expected)
        if expected is None:
            self._fail(name)
        if value is None or value is MISSING:
            if value is MISSING:
                self.add(field, "required")
            return
        self.resolved[name] = value
        try:
            given = as_int(value) if field.type == "uint" else self._spelled(field, value)
        except Refused as refused:
            self._fail(name)
            self.refused(field, refused)
            return
        self.resolved[name] = given
        if expected is None or given == expected:
            return
        self._fail(name)
        values = {"actual": given, "expected": expected}
        if field.type == "uint":
            words = {"has": f"is {show(given)}", "needs": "must be", "each": of_each(self.operator, formula)}
            self.add(field, "length", values=values, words=words, note=self._read(formula), fix=expected)
        else:
            owners = [facet.removesuffix(".dtype") for facet in formula.reads if facet.endswith(".dtype")]
            other = owners[0] if len(owners) == 1 else formula.text
            words = {"has": "is", "must": "must be", "other": other}
            self.add(field, "same-dtype", values=values, words=words, fix=expected)

    def _spelled(self, field: Field, value: object) -> IntEnum | IntFlag:
        """A member of the field's enum."""
        info = ENUMS[field.type.removeprefix("enum:")]
        dtype = as_dtype(value, numpy=not self.literal) if info.name == "DML_TENSOR_DATA_TYPE" else None
        return as_enum(value if dtype is None else dtype, info)

    def _member(self, field: Field, value: object) -> IntEnum | IntFlag:
        """A member of the field's enum; one that came later than the level is noted, and taken."""
        info = ENUMS[field.type.removeprefix("enum:")]
        member = self._spelled(field, value)
        level = LEVEL_INDEX[info.members[str(member.name)][1]]
        if level > self.level:
            self._fail(field.python)
            known = [name for name, (_, since) in info.members.items() if LEVEL_INDEX[since] <= self.level]
            self._too_new(field, f"{field.python} {member.name}", level, f"Before it: {listing(known)}.")
        return member

    def _attribute(self, field: Field) -> None:
        name = field.python
        value = self.values.get(name, field.default)
        self._keep(field, None if value is MISSING else value)
        if value is MISSING or (value is None and field.default is MISSING):
            if value is MISSING or not field.optional:
                self._fail(name)
                self.add(field, "required")
            return
        try:
            if field.type in ("uint", "int"):
                number = as_int(value)
                self._keep(field, number)
                self._in_range(field, number)
            elif field.type in ("uint_array", "int_array"):
                self._array(field, value)
            elif field.type == "bool":
                self._keep(field, as_bool(value))
            elif field.type == "float":
                self._float(field, value)
            elif field.type == "size_2d":
                self._size_2d(field, value)
            elif field.type == "scalar_union":
                self._scalar(field, value)
            elif field.type.startswith("enum:"):
                self._keep(field, self._member(field, value))
        except Refused as refused:
            self._fail(name)
            self.refused(field, refused)

    def _in_range(self, field: Field, number: int, index: int | None = None, part: str = "") -> bool:
        signed = field.type in ("int", "int_array")
        low = field.minimum if field.minimum is not None else -(2**31) if signed else 0
        high = field.maximum if field.maximum is not None else 2**31 - 1 if signed else UINT_MAX
        if low <= number <= high:
            return True
        if index is None:
            self._fail(field.python)
        values = {"actual": number, "minimum": low, "maximum": high}
        fix = min(max(number, low), high)
        self.add(field, "range", part=part, index=index, values=values, fix=fix)
        return False

    def _array(self, field: Field, value: object) -> None:
        entries = as_ints(value, fill=not self.literal)
        length = None if field.length is None else self._evaluated(field.length)
        if isinstance(entries, int) and field.length is None:  # as many as there are
            entries = (entries,)
        if isinstance(entries, int):
            self._in_range(field, entries)
            if length is None:
                self._fail(field.python)
                self.resolved[field.python] = entries
            else:
                self._keep(field, (entries,) * length)
            return
        if length is not None and len(entries) != length:
            self._fail(field.python)
            formula = cast(Formula, field.length)
            has = f"has {entry_text(len(entries))}"
            words = {"has": has, "needs": "needs", "each": of_each(self.operator, formula)}
            values = {"actual": len(entries), "expected": length}
            note, hint = self._read(formula), self._is_chosen(formula)
            self.add(field, "length", values=values, words=words, note=note, hint=hint)
        self._entries(field, entries, tuple)

    def _entries(
        self, field: Field, entries: Sequence[object], kind: Callable[[list[Any]], object], parts: Sequence[str] = ()
    ) -> None:
        """Keeps the entries of an array or of a struct; formulas may read those that are valid."""
        numbers: list[int] = []
        readable: list[Any] = []
        for index, entry in enumerate(entries):
            part = parts[index] if parts else ""
            try:
                numbers.append(as_int(entry))
            except Refused as refused:
                refused.part = part
                self.refused(field, refused, index=index)
                readable.append(BAD)
            else:
                readable.append(numbers[-1] if self._in_range(field, numbers[-1], index, part) else BAD)
        if len(numbers) == len(entries):
            self.resolved[field.python] = kind(numbers)
        self.rules.__dict__[field.python] = kind(readable)

    def _float(self, field: Field, value: object) -> None:
        number = as_float(value)
        rounded = single(number)
        self.rules.__dict__[field.python] = rounded
        # What is infinite by itself, or NaN, may be taken; what only becomes so may not.
        refused = not math.isfinite(rounded) and not (field.infinite and (number != number or value == rounded))
        if not (refused and field.infinite):
            self.resolved[field.python] = number
        if refused:
            raise Refused("finite", values={"actual": value})

    def _size_2d(self, field: Field, value: object) -> None:
        size = as_size(value, fill=not self.literal)
        self._entries(field, size, lambda numbers: Size2D(*numbers), (".height", ".width"))

    def _scalar(self, field: Field, value: object) -> None:
        holder = next(other for other in self.operator.fields if field.scalar_type in (other.python, other.name))
        united = self.literal and type(value) is dict
        if holder.python in self.bad:
            self._fail(field.python)
            if not united:
                as_float(value)
            return
        dtype = self.rules.__dict__[holder.python].name
        self._keep(field, from_union(cast("dict[str, object]", value), dtype) if united else as_scalar(value, dtype))

    def _rule(self, rule: Rule, first: int = 0) -> None:
        if LEVEL_INDEX[rule.since] > self.level or (rule.until is not None and LEVEL_INDEX[rule.until] <= self.level):
            return
        done = self.broken.get(rule.about, set())
        by_index = rule.index is not None and WHOLE not in done
        others = {facet for facet in rule.reads if not (by_index and facet.partition(".")[0] == rule.about)}
        if not self._readable(others) or not self.bad.isdisjoint(rule.reads):
            return
        failed: set[int] = set()
        for index in self._indices(rule, first):
            at = () if rule.index is None else (index,)
            if index in done or self._holds(rule, at):
                continue
            failed.add(index)
            self.late.append(self._broken_rule(rule, at))
            if len(failed) == REPORTED:
                failed = {WHOLE}
                break
        if failed:
            self.broken[rule.about] = self.broken.get(rule.about, set()) | failed

    def _indices(self, rule: Rule, first: int) -> Sequence[int]:
        if rule.domain is None:
            return (WHOLE,)
        try:
            return range(first, rule.domain(self.rules))[:LOOKED_AT]
        except Unreadable:
            return ()

    def _holds(self, rule: Rule, at: tuple[int, ...]) -> bool:
        """Whether the rule holds there; it does, for all that can be said, where it reads what has been refused."""
        try:
            return bool(rule.holds(self.rules, *at))
        except Unreadable:
            return True

    def _broken_rule(self, rule: Rule, at: tuple[int, ...]) -> Violation:
        names = {} if rule.index is None else {rule.index: at[0]}
        values = {term.label.format(**names): self._value(term, at) for term in rule.terms}
        texts = [f"{label} = {'unknown' if value is None else show(value)}" for label, value in values.items()]
        shown = rule.shown.format(*texts, **names)
        field = self.fields.get(rule.about)
        label = rule.about if field is None else self._label(field)
        where = f"{label}[{at[0]}]" if at else label
        fix = None if rule.fix is None else self._value(rule.fix, at)
        facets = {"dtype": "dtype", "sizes": "sizes", "rank": "sizes"}
        read = {part for facet, part in facets.items() if f"{rule.about}.{facet}" in rule.reads}
        members = set() if rule.data else read
        if field is not None and field.minimum is not None and is_a(fix, int) and cast(int, fix) < field.minimum:
            fix = None
        return Violation(
            id=rule.id,
            operator=self.operator.name,
            field=rule.about,
            member=members.pop() if len(members) == 1 else None,
            index=at[0] if at else None,
            message=f"{where} {rule.says}: {shown}. {self._read(rule)}".rstrip(),
            rule=rule.text,
            values={label: plain(value) for label, value in values.items()},
            hint=rule.hint,
            fix=plain(fix),
            level=rule.until,
            provenance=rule.provenance,
            error="InvalidDataError" if rule.data else "InvalidDescError",
        )

    def _value(self, term: Term | Formula, at: tuple[int, ...]) -> object:
        """The value of a term; None where it has none, such as a quotient by zero in a part that decided nothing."""
        try:
            value = term.function(self.rules, *at)
            return None if value is BAD else cast(object, value)
        except (ArithmeticError, ValueError):
            return None

    def data(self, arrays: Mapping[str, np.ndarray[Any, Any]], first: int = 0) -> None:
        """Looks at the values of the input tensors, from the index at which a rule is broken."""
        for name, array in arrays.items():
            if any(size is BAD for size in self.tensors[name].sizes):
                self._fail(f"{name}.sizes")
            self.rules.__dict__[f"{name}_data"] = Data(array, max(array.ndim, len(self.tensors[name].sizes)))
        for rule in self.operator.rules:
            if rule.data:
                self._rule(rule, first)

    def bind(self, field: Field, value: object, array: np.ndarray[Any, Any] | None) -> None:
        """Compares a tensor given to a compiled operator with its desc."""
        self.call = True
        tensor, name = self.tensors[field.python], field.python
        if array is None:
            self._fail(f"{name}.dtype", f"{name}.sizes")
            if value is not None or name in self.labels:
                self.refused(field, self._no_tensor(field, value))
            elif field.kind == "input":
                self.add(field, "required")
            return
        dtype = as_dtype(array.dtype)
        if dtype is None:
            self._fail(f"{name}.dtype")
            self._unknown_dtype(field, array.dtype)
        elif dtype is not tensor.dtype:
            self._fail(f"{name}.dtype")
            self.add(
                field,
                "same-dtype",
                member="dtype",
                values={"actual": dtype, "expected": tensor.dtype},
                words={"has": "has data type", "must": "must have", "other": "the desc"},
                fix=tensor.dtype,
            )
        if array.shape != tensor.sizes:
            self._fail(f"{name}.sizes")
            values = {"actual": array.shape, "expected": tensor.sizes}
            words = {"formula": "the sizes of the desc"}
            self.add(field, "sizes", member="sizes", values=values, words=words, fix=tensor.sizes)

    def memory(self, field: Field, out: np.ndarray[Any, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Looks at the memory of an array given for an output, beside that of ``arrays``."""
        if not out.flags.writeable:
            self.add(field, "readonly")
        if out.dtype in NUMPY and self_overlaps(out):
            self.add(
                field, "overlap", words={"other": "itself"}, hint="Two elements of the array share one place in memory."
            )
        for name, array in arrays.items():
            if out.dtype in NUMPY and array.dtype in NUMPY and may_overlap(out, array):
                self.add(field, "overlap", words={"other": self._label(self.fields[name])})


def wanted(request: object) -> bool:
    """Whether what is said of an optional output asks for it."""
    return not (request is None or (is_a(request, bool, np.bool_) and not request))


def _places(outputs: Sequence[Field]) -> str:
    """Which output is where in a tuple."""
    return " and ".join(f"{one.python} at {place}" for place, one in enumerate(outputs))


def _spans(ranks: Sequence[int]) -> str:
    """Ranks in words: 1 to 8, or 4 or 5."""
    if not ranks:
        return "none"
    if len(ranks) > 2 and ranks[-1] - ranks[0] == len(ranks) - 1:
        return f"{ranks[0]} to {ranks[-1]}"
    return " or ".join(str(rank) for rank in ranks)
