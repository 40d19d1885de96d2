"""The errors of a documented example with one part broken, by the slug of the error, for every operator alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from dmlcy._compile import function
from dmlcy._desc.check import check
from dmlcy._desc.classes import desc_class
from dmlcy._errors import DmlError, Violation
from dmlcy._facts.levels import feature_level
from dmlcy._facts.rows import Example, Field, Given, Operator
from dmlcy._facts.tables import DTYPES, ENUMS, LEVEL_INDEX, LEVELS, FeatureLevelName
from dmlcy._field_types import type_of
from dmlcy._field_types.integers import Integers
from dmlcy._field_types.tensor import dtypes_at, ranks_at
from dmlcy._field_types.tensor_array import by_field
from dmlcy._show.explain.facts import Facts
from dmlcy._types import Array

if TYPE_CHECKING:
    from dmlcy._desc.operator_desc import OperatorDesc

NEWEST: Final = LEVELS[-1].name
HUGE: Final = 2**16
BOGUS: Final = "BOGUS"
REMOVED: Final = None
"""In place of a value: the member is not there."""


Arrays: TypeAlias = dict[str, Array]
"""The arrays of a call by the names of its tensors, those of an array of tensors by their paths."""


@dataclass(frozen=True, slots=True)
class Change:
    """The change of an example: members of its JSON by path, or ``call``, with the tensors that are other arrays."""

    members: Mapping[str, object]
    level: FeatureLevelName = NEWEST
    call: str = ""  # in words; the way in which the operator is called
    arrays: Callable[[Arrays], Arrays] | None = None
    given: Mapping[str, object] | None = None  # other arguments of the function


def broken(operator: Operator, subject: Field | None, slug: str) -> Facts | None:
    """The first change of the first example that gives the error, and its message; None where none does."""
    name = "operator" if subject is None else subject.python
    identifier = f"DML-{operator.name}-{name}-{slug}"
    examples = [one for one in operator.examples if subject is None or _has(one, subject)]
    for example in examples[:1]:
        for change in _changes(operator, subject, slug, example):
            for violation in _refusal(operator, example, change):
                if violation.id == identifier:
                    return {
                        "title": example.title,
                        "changes": dict(change.members),
                        "call": change.call,
                        "level": change.level,
                        "message": violation.text,
                        "provenance": violation.provenance,
                    }
    return None


def _has(example: Example, field: Field) -> bool:
    tensors = [path.partition("[")[0] for path in (*example.inputs, *example.outputs)]
    return field.kind not in ("input", "output") or field.python in tensors


def _changes(operator: Operator, subject: Field | None, slug: str, example: Example) -> Iterator[Change]:
    if subject is None:
        before = LEVEL_INDEX[operator.since] - 1
        if slug == "level" and before >= 0:
            yield Change({}, LEVELS[before].name)
        elif slug == "unknown":
            yield Change({BOGUS.capitalize(): 1})
    elif subject.kind == "chosen":
        chosen = cast("tuple[int, ...]", operator.example_arguments(example)[subject.python])
        yield from _of_choice(subject, slug, chosen)
    elif subject.kind == "attribute":
        yield from _of_attribute(subject, slug, _members(operator, example)[subject.name])
    else:
        tensors = example.inputs | example.outputs
        *_, path = (path for path in tensors if path.partition("[")[0] == subject.python)
        dtype, sizes, _ = tensors[path]
        yield from _of_tensor(operator, subject, slug, dtype, sizes, path.removeprefix(subject.python).strip("[]"))


def _of_choice(field: Field, slug: str, value: tuple[int, ...]) -> Iterator[Change]:
    """Calls: a desc has what is chosen in its output."""
    values = {"type": "abc", "required": None, "range": (0, *value[1:]), "length": (*value, 1)}
    if slug in values:
        wrong = {field.python: values[slug]}
        yield Change({}, call=f"called with {field.python}={values[slug]!r}", given=wrong)


def _of_attribute(field: Field, slug: str, value: object) -> Iterator[Change]:
    name = field.name
    kind = type_of(field.type)
    values: dict[str, Sequence[object]] = {
        "type": ("abc", 0.5, [1]),
        "required": (REMOVED,),
        "member": (kind.unknown_in_json(BOGUS),),
        "length": ([*value, 1], [*value, *[1] * 8], [*value, *value[-1:]]) if isinstance(value, list) else _next(value),
        "finite": (kind.infinite_in_json(value),),
        "value": (1e39, 10**400),
        "tensors": (kind.tensors_in_json(field),),
        "same-dtype": [f"{ENUMS['DML_TENSOR_DATA_TYPE'].prefix}{dtype}" for dtype in DTYPES],
    }
    if slug == "range" and isinstance(kind, Integers):
        low, high = kind.range_of(field)
        for outside in (low - 1, high + 1):
            if isinstance(value, dict):
                yield Change({f"{name}.{next(iter(value))}": outside})
            else:
                yield Change({name: [outside, *value[1:]] if isinstance(value, list) else outside})
    elif slug == "level" and field.among:
        for later, level in kind.later_in_json(field):
            yield Change({name: later}, LEVELS[level].name)
    elif slug == "level" and kind.info is not None:
        for member, (_, since) in kind.info.members.items():
            if LEVEL_INDEX[since] > 0:
                yield Change({name: member}, LEVELS[LEVEL_INDEX[since] - 1].name)
    for wrong in values.get(slug, ()):
        yield Change({name: wrong})


def _next(value: object) -> tuple[int, ...]:
    return (value + 1,) if isinstance(value, int) else ()


def _of_tensor(
    operator: Operator, field: Field, slug: str, dtype: str, sizes: tuple[int, ...], entry: str
) -> Iterator[Change]:
    """Changes of a tensor; of that ``entry`` of an array."""
    name = f"{field.name}.{entry}" if entry else field.name
    others = [other for other in dtypes_at(field, len(LEVELS) - 1) if other != dtype and DTYPES[other].numpy]
    longer = [*sizes[:-1], sizes[-1] + 1]
    changes: dict[str, Mapping[str, object]] = {
        "type": {field.name: "abc"},
        "required": {f"{name}.DataType" if field.optional else field.name: REMOVED},
        "unknown": {f"{name}.{BOGUS.capitalize()}": 1},
        "rank": {f"{name}.Sizes": [1] * (LEVELS[-1].max_rank + 1)},
        "range": {f"{name}.Sizes": [0, *sizes[1:]]},
        "length": {f"{name}.DimensionCount": len(sizes) + 1},
        "member": {f"{name}.Flags": BOGUS},
        "sizes": {f"{name}.Sizes": longer},
        "elements": {f"{name}.Sizes": [HUGE, HUGE, *sizes[2:]]},
        "strides": {f"{name}.Strides": [1] * (len(sizes) + 1)},
        "total-size": {f"{name}.TotalTensorSizeInBytes": 0},
        "owned": {f"{name}.Flags": "DML_TENSOR_FLAG_OWNED_BY_DML"},
        "alignment": {f"{name}.GuaranteedBaseOffsetAlignment": 3},
        "overlap": {f"{name}.Strides": [0] * len(sizes)},
    }
    if slug in changes:
        yield Change(changes[slug])
    yield from _of_dtype(operator, field, slug, name, others)
    if slug == "same-dtype":
        other = next(other for other in (*others, *DTYPES) if other != dtype and DTYPES[other].numpy)
        yield _called(operator, field, f"data type {other}", lambda x: x.astype(DTYPES[other].numpy))
    elif slug == "sizes":
        yield _called(operator, field, f"sizes {longer}", lambda x: np.zeros(longer, x.dtype))
    elif slug == "overlap":
        yield _called_over(operator, field)
    elif slug == "byteorder":
        yield _called(operator, field, "foreign byte order", _swapped)
    elif slug == "readonly":
        yield _called(operator, field, "memory that is read-only", _read_only)


def _of_dtype(operator: Operator, field: Field, slug: str, name: str, others: list[str]) -> Iterator[Change]:
    """Changes of the data type and the rank that a level must have."""
    if slug == "dtype":
        for other in DTYPES:
            if other not in dtypes_at(field, len(LEVELS) - 1):
                yield Change({f"{name}.DataType": other})
        yield Change({f"{name}.DataType": BOGUS})
    elif slug == "level":
        for level in range(LEVEL_INDEX[operator.since], len(LEVELS) - 1):
            for other in dtypes_at(field, level + 1):
                if other not in dtypes_at(field, level):
                    yield Change({f"{name}.DataType": other}, LEVELS[level].name)
            for rank in ranks_at(field, level + 1):
                if rank not in ranks_at(field, level):
                    yield Change({f"{name}.Sizes": [1] * rank}, LEVELS[level].name)
    elif slug == "same-dtype" and others:
        yield Change({f"{name}.DataType": others[0]})


def _called(operator: Operator, field: Field, words: str, change: Callable[[Array], Array]) -> Change:
    """A call of the compiled example; of the last entry of an array of tensors."""
    outputs = [one.python for one in operator.fields if one.kind == "output"]
    several = type_of(field.type).tensors
    argument = field.python + "[-1]" * several
    if field.python in outputs:
        argument = "out" if len(outputs) == 1 else f"out[{outputs.index(field.python)}]"
        argument += "[-1]" * several

    def changed(arrays: Arrays) -> Arrays:
        *_, path = (path for path in arrays if path.partition("[")[0] == field.python)
        return {**arrays, path: change(arrays[path])}

    return Change({}, call=f"compiled, and called with {argument} of {words}", arrays=changed)


def _called_over(operator: Operator, field: Field) -> Change:
    """A call of the compiled example with an output that begins in the last element of an input."""
    *_, source = (one.python for one in operator.fields if one.kind == "input")

    def changed(arrays: Arrays) -> Arrays:
        *_, path = (path for path in arrays if path.partition("[")[0] == field.python)
        read, written = arrays[source], arrays[path]
        memory = np.zeros(read.nbytes + written.nbytes, np.uint8)
        begin = read.nbytes - read.itemsize
        moved = memory[: read.nbytes].view(read.dtype).reshape(read.shape)
        moved[...] = read
        out = memory[begin : begin + written.nbytes].view(written.dtype).reshape(written.shape)
        return {**arrays, source: moved, path: out}

    return Change({}, call=f"compiled, and called with an output in the memory of {source}", arrays=changed)


def _swapped(array: Array) -> Array:
    """The array with the bytes of its elements in the other order; a byte has none."""
    wider = array if array.itemsize > 1 else array.astype(np.int16)
    return wider.astype(wider.dtype.newbyteorder())


def _read_only(array: Array) -> Array:
    array = array.copy()
    array.flags.writeable = False
    return array


def _members(operator: Operator, example: Example) -> dict[str, object]:
    """The members of the example's desc in JSON; tensors with data type and sizes alone."""
    members: dict[str, object] = _desc(operator, example).to_dict()["desc"]
    for field in operator.fields:
        if field.kind != "attribute" and members[field.name] is not None:
            members[field.name] = _brief(members[field.name])
    return members


def _brief(tensor: object) -> object:
    """A tensor in JSON with two members, or the tensors of an array."""
    if isinstance(tensor, list):
        return [_brief(one) for one in tensor]
    members = cast("dict[str, object]", tensor)
    return {key: members[key] for key in ("DataType", "Sizes")}


def _desc(operator: Operator, example: Example) -> OperatorDesc:
    from dmlcy._field_types.tensor_desc import described

    return desc_class(operator.name)(**described(example.inputs | example.outputs), **example.attributes)


def _refusal(operator: Operator, example: Example, change: Change) -> Sequence[Violation]:
    if change.call and not operator.runs:
        return ()
    if change.given is not None:
        return _function(operator, example, change.given)
    if change.arrays is not None:
        return _call(operator, example, change.arrays)
    model = {"type": f"DML_OPERATOR_{operator.name}", "desc": _members(operator, example)}
    for path, value in change.members.items():
        owner: Any = model["desc"]
        *steps, last = path.split(".")
        for step in steps:
            owner = owner[int(step)] if isinstance(owner, list) else owner[step]
        owner[last] = value
        if value is REMOVED:
            del owner[last]
    with feature_level(change.level):
        return check(desc_class(operator.name).from_dict(model))


def _function(operator: Operator, example: Example, given: Mapping[str, object]) -> Sequence[Violation]:
    arguments = {**operator.example_arguments(example), **asked_of(operator, example), **given}
    try:
        function(operator.name)(*by_field(operator.fields, "input", _arrays(example.inputs)), **arguments)
    except DmlError as error:
        return error.violations
    return ()


def _call(operator: Operator, example: Example, change: Callable[[Arrays], Arrays]) -> Sequence[Violation]:
    from dmlcy._compile import compile

    try:
        arrays = change(_arrays(example.inputs | example.outputs))
        out = [one for one in by_field(operator.fields, "output", arrays) if one is not None]
        inputs = by_field(operator.fields, "input", arrays)
        run: Callable[..., object] = compile(_desc(operator, example))
        run(*inputs, out=tuple(out) if len(out) > 1 else out[0])
    except DmlError as error:
        return error.violations
    return ()


def asked_of(operator: Operator, example: Example) -> dict[str, bool]:
    """The keywords of a call that ask for the optional outputs of an example."""
    outputs = [field for field in operator.fields if field.kind == "output" and field.optional]
    return {field.python: True for field in outputs if _has(example, field)}


def _arrays(tensors: Mapping[str, Given]) -> Arrays:
    return {
        name: np.array(values, DTYPES[dtype].numpy).reshape(sizes) for name, (dtype, sizes, values) in tensors.items()
    }
