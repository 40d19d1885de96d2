"""Ways to break each condition of every operator one by one: made of the specs, no operator is named.

A case changes one thing of a use, and names the id that must be reported.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from broken_case import DELETED, Case, broken_by_hint
from uses import (
    ALL,
    EARLY,
    FACTS,
    LEVELS,
    NEWEST,
    NUMPY,
    PLAN,
    RUNNABLE,
    UINT_MAX,
    Array,
    Use,
    rows_of_rank,
    rows_of_type,
)

import dmlcy as dml
from codegen.expr.nodes import Splat
from codegen.field_types import type_of
from codegen.model import Field, Operator, Rule
from codegen.plan import RulePlan
from dmlcy._facts.rows import MISSING
from dmlcy._facts.tables import OPERATORS as TABLE
from dmlcy._field_types import type_of as kind_of


def cases(operator: Operator) -> Iterator[Case]:
    """Every way known here to break one thing of an operator."""
    use, planned = EARLY[operator.name], next(known for known in PLAN.operators if known.name == operator.name)
    errors = {error.id: error.error for error in FACTS.implicit}
    for slug, broken in (("level", operator_level(use)), ("unknown", [("json", {"Bogus": 1}, {})])):
        for way, changes, more in broken:
            yield Case(f"DML-{operator.name}-operator-{slug}", errors[slug], operator.name, use, way, changes, **more)
    for field in (*operator.fields, *operator.chosen):
        own = use_with(operator, field)
        for slug, error in errors.items():
            for way, changes, more in WAYS[slug](own, field):
                if field.kind == "chosen" and way != "call":  # a desc has it in its output
                    continue
                yield Case(
                    f"DML-{operator.name}-{field.python}-{slug}", error, subject(field, way), own, way, changes, **more
                )
    for rule in planned.rules:
        ways = [list(of_rule(use, rule)) for use in ALL[operator.name]]
        yield from next((found for found in ways if all(map(breaks_it, found))), ways[0])


@functools.cache
def cases_of(name: str) -> list[Case]:
    """The cases of an operator that runs, made when the first test needs them."""
    return list(cases(RUNNABLE[name]))


def use_with(operator: Operator, field: Field) -> Use:
    """A use that has a tensor: of an operator whose tensors exclude each other, the first example with it."""
    known = (EARLY[operator.name], *ALL[operator.name])
    return next((use for use in known if not field.is_tensor or use.has(field)), known[0])


def of_rule(use: Use, rule: RulePlan) -> Iterator[Case]:
    """The cases of a rule, in a call and otherwise."""
    error = "InvalidDataError" if rule.rule.data else "InvalidDescError"
    about = use.operator.field(rule.rule.about)
    for way in ("call", "compiled") if rule.rule.data else ("desc",) if rule.rule.warns else ("call", "desc"):
        changes = {name: broken_by_hint(use, name, hint, way) for name, hint in rule.rule.breaks.items()}
        if any(use.operator.field(name).kind == "input" for name in changes if name not in use.chosen):
            outputs = [one for one in use.operator.outputs if not one.optional and not use.operator.is_open(one)]
            changes |= {one.python: None for one in outputs}
        yield Case(rule.id, error, subject(about, way), use, way, changes, level_of(rule.rule), warns=rule.rule.warns)


def breaks_it(case: Case) -> bool:
    """Whether a case breaks what it is to break: the values of a rule are those of one of the examples."""
    try:
        with dml.feature_level(case.level):
            case.attempt()
    except dml.DmlError as error:
        return {one.id for one in error.violations} == {case.id}
    except (IndexError, ValueError, TypeError):  # a hint for a tensor of another number of axes
        return False
    return False


def ids(operator: Operator) -> set[str]:
    """Every id that the generator lists for an operator."""
    return {id_ for id_, _ in PLAN.ids if id_.startswith(f"DML-{operator.name}-")}


def level_of(rule: Rule) -> Any:
    """A level at which a rule holds."""
    return NEWEST if rule.until is None else LEVELS[FACTS.level_index(rule.until) - 1]


def subject(field: Field, way: str) -> str:
    """How what a message calls a field begins."""
    return "out" if field.kind == "output" and way in ("call", "compiled") else field.python


# Each function gives (way, what to change, more) for a field; nothing where the error cannot happen to it.

Ways = Iterator[tuple[str, dict[str, Any], dict[str, Any]]]


def both(name: str, value: Any, **more: Any) -> Ways:
    """The same value in a call and in a desc."""
    yield "call", {name: value}, more
    yield "desc", {name: value}, more


def within(use: Use, field: Field) -> str:
    """Where the desc of a tensor of the field is in JSON."""
    return field.name if use.path(field) == field.python else f"{field.name}.0"


def cast(array: Array, dtype: np.dtype[Any]) -> Array:
    """The elements in another data type, whatever becomes of NaN and of large numbers."""
    with np.errstate(invalid="ignore", over="ignore"):
        return array.astype(dtype)


def both_tensors(use: Use, name: str, array: Array, **more: Any) -> Ways:
    """The same tensor in a call and in a desc."""
    yield "call", {name: array}, more
    yield "desc", {name: dml.TensorDesc(array.dtype, array.shape)}, more


def operator_level(use: Use) -> Ways:
    since = FACTS.level_index(use.operator.since)
    alone = is_valid_at(use, LEVELS[since])  # the example has nothing newer than the operator
    for level in LEVELS[since - 1 : since]:
        yield from ((way, {}, {"level": level, "alone": alone}) for way in ("call", "desc"))


def break_type(use: Use, field: Field) -> Ways:
    for value in (1j, object()):
        yield "desc", {field.python: value}, {}
        if field.value is None:
            yield "call", {field.python: value}, {}
    if field.type == "uint_array":
        yield from both(field.python, (*use.entries(field)[:-1], 0.5))
    if field.type == "size_2d":
        yield from both(field.python, (1, "2"))
    if field.is_tensor:
        name = use.path(field)
        yield "desc", {name: use.tensor(name, sizes=(1j, *use.arrays[name].shape[1:]))}, {}
        yield "desc", {use.path(field): use.tensor(use.path(field), guaranteed_base_offset_alignment=0.5)}, {}


def break_required(use: Use, field: Field) -> Ways:
    if not field.optional:
        yield "json", {field.name: DELETED}, {}
        yield "json", {field.name: None}, {}
    if field.is_tensor:
        yield "json", {f"{within(use, field)}.DataType": DELETED}, {}
        yield "json", {f"{within(use, field)}.Sizes": DELETED}, {}
    if field.kind != "output" and field.value is None and field.default is None and not field.optional:
        yield from both(field.python, None)


def break_unknown(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        yield "json", {f"{within(use, field)}.Bogus": 1}, {}


def break_dtype(use: Use, field: Field) -> Ways:
    if not field.is_tensor:
        return
    known = rows_of_type(use.operator, field, len(LEVELS) - 1)
    array = use.arrays[use.path(field)]
    for name, dtype in NUMPY.items():
        if name not in known:
            yield from both_tensors(use, use.path(field), cast(array, dtype))
    others = [np.dtype(object), np.dtype(complex), np.dtype("U3"), np.dtype("i2, f4")]
    if "UINT8" not in known:  # which the bytes of a bool array are
        others.append(np.dtype(bool))
    for dtype in others:
        yield from both_tensors(use, use.path(field), np.zeros(array.shape, dtype))
    yield "desc", {use.path(field): use.tensor(use.path(field), dtype="BOGUS")}, {}
    if "UINT4" not in known:
        yield "json", {f"{within(use, field)}.DataType": "DML_TENSOR_DATA_TYPE_UINT4"}, {}


@functools.cache
def is_valid_at(use: Use, level: Any) -> bool:
    """Whether the level has all that the example uses."""
    return not dml.check(use.desc, level)


def break_level(use: Use, field: Field) -> Ways:
    operator, since = use.operator, FACTS.level_index(use.operator.since)
    for level in range(since, len(LEVELS) - 1):
        more = {"level": LEVELS[level], "alone": is_valid_at(use, LEVELS[level])}
        if field.is_tensor:
            array = use.arrays[use.path(field)]
            for name in set(rows_of_type(operator, field, level + 1)) - set(rows_of_type(operator, field, level)):
                yield from both_tensors(use, use.path(field), array.astype(NUMPY[name]), **more)
            for rank in set(rows_of_rank(operator, field, level + 1)) - set(rows_of_rank(operator, field, level)):
                yield from both_tensors(use, use.path(field), np.zeros((1,) * rank, array.dtype), **more)
        elif field.enum is not None and field.value is None:
            for member in next(enum for enum in PLAN.enums if enum.name == field.enum).members:
                if FACTS.level_index(member.since) == level + 1:
                    yield from both(field.python, member.name, **more)
        elif field.among is not None:
            row = TABLE[operator.name].field(field.python)
            for later, at in kind_of(row.type).later_in_json(row):
                if at == level:
                    yield "json", {field.name: first_of(use, field, later)}, more | {"alone": False}


def first_of(use: Use, field: Field, value: Any) -> Any:
    """In an array of operators, the first entry changed."""
    return [*value, *use.desc.to_dict()["desc"][field.name][1:]] if isinstance(value, list) else value


def break_rank(use: Use, field: Field) -> Ways:
    if not field.is_tensor:
        return
    ranks = rows_of_rank(use.operator, field, len(LEVELS) - 1)
    for rank in range(10):
        if rank not in ranks:
            yield "desc", {use.path(field): use.tensor(use.path(field), sizes=(1,) * rank)}, {}
            if rank == 0 and field.kind == "input" and (1 in ranks or field.leading_ones == "call"):
                continue  # an array without dimensions has one of size 1
            if rank > max(ranks) or field.leading_ones != "call" or rank == 0:
                yield "call", {use.path(field): np.zeros((1,) * rank, use.arrays[use.path(field)].dtype)}, {}


def break_range(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        sizes = use.arrays[use.path(field)].shape
        for axis in range(len(sizes)):
            broken = (*sizes[:axis], 0, *sizes[axis + 1 :])
            yield from both_tensors(use, use.path(field), np.zeros(broken, use.arrays[use.path(field)].dtype))
        yield "desc", {use.path(field): use.tensor(use.path(field), sizes=(UINT_MAX + 1, *sizes[1:]))}, {}
        yield "desc", {use.path(field): use.tensor(use.path(field), total_tensor_size_in_bytes=-1)}, {}
        return
    low, high = (-(2**31), 2**31 - 1) if field.shape.startswith("int") else (field.minimum, field.maximum)
    for value in (low - 1, high + 1, 10**400, -(10**400)):
        if field.shape == "uint":
            yield from both(field.python, value)
        elif field.shape == "uint_array":
            yield from both(field.python, value)
            yield from both(field.python, (*use.entries(field)[:-1], value))
        elif field.shape == "chosen":
            yield from both(field.python, (*use.entries(field)[:-1], value))
        elif field.shape == "int":
            yield from both(field.python, value)
        elif field.shape == "int_array":
            yield from both(field.python, (*use.entries(field)[:-1], value))
        elif field.shape == "size_2d":
            yield from both(field.python, (1, value))
            yield from both(field.python, (value, 1))


def break_length(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        count = use.arrays[use.path(field)].ndim
        yield "desc", {use.path(field): use.tensor(use.path(field), dimension_count=count + 1)}, {}
        yield "json", {f"{within(use, field)}.DimensionCount": count - 1}, {}
    elif field.shape == "count":
        yield "desc", {field.python: getattr(use.desc, field.python) + 1}, {}
    elif field.max_length is not None:
        yield from both(field.python, tuple(range(50)), alone=False)
    elif field.shape in ("uint_array", "int_array", "float_array"):
        entries = use.entries(field)
        yield from both(field.python, (*entries, 1))
        yield from both(field.python, entries[1:])
        yield from both(field.python, (1,) * 50)
    elif field.shape == "operator_desc_array":
        entries = use.entries(field)
        yield from both(field.python, (*entries, entries[0]))
        yield from both(field.python, entries[1:])


def break_member(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        yield "desc", {use.path(field): use.tensor(use.path(field), flags="BOGUS")}, {}
        yield "json", {f"{within(use, field)}.Type": "BOGUS"}, {}
    elif field.enum is not None:
        yield "desc", {field.python: "BOGUS"}, {}
        if field.value is None:
            yield "call", {field.python: "BOGUS"}, {}
    elif field.among is not None:
        row = TABLE[use.operator.name].field(field.python)
        unknown = kind_of(row.type).unknown_in_json("BOGUS")
        yield "json", {field.name: first_of(use, field, unknown)}, {"alone": False}


def break_same_dtype(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        array = use.arrays[use.path(field)]
        known = [
            name
            for name in rows_of_type(use.operator, field, len(LEVELS) - 1)
            if NUMPY.get(name, array.dtype) != array.dtype
        ]
        if not known:  # the data type is the only one
            other = next(one for one in NUMPY.values() if one != array.dtype)
            yield "compiled", {use.path(field): cast(array, other)}, {}
            return
        yield "compiled", {use.path(field): cast(array, NUMPY[known[0]])}, {}
        alike = [other for other in use.operator.tensors if other.types == field.types and use.has(other)]
        if alike[0] is not field:
            yield from both_tensors(use, use.path(field), cast(array, NUMPY[known[0]]))
    elif field.enum is not None and field.value is not None:
        member = next(name for name in NUMPY if name != getattr(use.desc, field.python).name)
        yield "desc", {field.python: member}, {}


def break_sizes(use: Use, field: Field) -> Ways:
    if not field.is_tensor:
        return
    array = use.arrays[use.path(field)]
    for axis in range(array.ndim):
        other = np.concatenate([array, array.take([0], axis)], axis)
        yield "compiled", {use.path(field): other}, {}
        item = field.items[min(axis, len(field.items) - 1)] if field.items else None
        splat = isinstance(item, Splat)
        reads = use.operator.reads(item) if item is not None else ()
        if item is None or f"{field.python}.sizes" in reads:  # the axis is as long as it is
            continue
        yield "call", {use.path(field): other}, {}
        if not (splat and use.operator.is_chosen(field)):
            yield "desc", {use.path(field): dml.TensorDesc(other.dtype, other.shape)}, {}


def break_elements(use: Use, field: Field) -> Ways:
    if not field.is_tensor:
        return
    sizes = (2**16, 2**16, *use.arrays[use.path(field)].shape[2:])
    array = np.lib.stride_tricks.as_strided(use.arrays[use.path(field)].copy(), sizes, (0,) * len(sizes))
    # The sizes of the output follow: they contradict those given, or are as large.
    yield from both_tensors(use, use.path(field), array, alone=False)


def break_strides(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        sizes = use.arrays[use.path(field)].shape
        packed = getattr(dml.TensorDesc.from_array(use.arrays[use.path(field)][..., ::2]), "strides", None) or (1,)
        yield "desc", {use.path(field): use.tensor(use.path(field), strides=(1,) * (len(sizes) + 1))}, {}
        yield "desc", {use.path(field): use.tensor(use.path(field), strides=(-1, *packed[1:]))}, {}
        yield "desc", {use.path(field): use.tensor(use.path(field), strides=(UINT_MAX + 1, *packed[1:]))}, {}


def break_total_size(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        enough = use.tensor(use.path(field)).total_tensor_size_in_bytes
        for total in (0, enough - 4, enough - 1):
            yield "desc", {use.path(field): use.tensor(use.path(field), total_tensor_size_in_bytes=total)}, {}


def break_alignment(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        for alignment in (1, 3, 48, -4, 2**32)[use.arrays[use.path(field)].itemsize == 1 :]:
            yield "desc", {use.path(field): use.tensor(use.path(field), guaranteed_base_offset_alignment=alignment)}, {}


def break_byteorder(use: Use, field: Field) -> Ways:
    if field.is_tensor:
        array = use.arrays[use.path(field)]
        if array.itemsize == 1:  # a byte has no order
            known = [NUMPY[name] for name in rows_of_type(use.operator, field, len(LEVELS) - 1) if name in NUMPY]
            wider = [dtype for dtype in known if dtype.itemsize > 1]
            array = cast(array, wider[0]) if wider else array
        if array.itemsize == 1:
            return
        swapped = array.astype(array.dtype.newbyteorder())
        yield from both_tensors(use, use.path(field), swapped, alone=array is use.arrays[use.path(field)])
        yield "compiled", {use.path(field): array.astype(array.dtype.newbyteorder())}, {}


def break_readonly(use: Use, field: Field) -> Ways:
    if field.kind == "output":
        out = use.arrays[use.path(field)].copy()
        out.flags.writeable = False
        yield "call", {use.path(field): out}, {}
        yield "compiled", {use.path(field): out}, {}


def break_overlap(use: Use, field: Field) -> Ways:
    if field.kind != "output":
        return
    result = use.arrays[use.path(field)]
    for way in ("call", "compiled"):
        if result.size > 1:
            one = np.lib.stride_tricks.as_strided(result.copy(), strides=(0,) * result.ndim)
            yield way, {use.path(field): one}, {}
        for tensor in filter(use.has, use.operator.inputs):
            given = use.arrays[use.path(tensor)]
            memory = np.zeros(given.nbytes + result.nbytes, np.uint8)
            source = memory[: given.nbytes].view(given.dtype).reshape(given.shape)
            source[...] = given
            start = given.nbytes - given.itemsize  # only the last element of the input is shared
            out = memory[start : start + result.nbytes].view(result.dtype).reshape(result.shape)
            yield way, {use.path(tensor): source, use.path(field): out}, {}
        for other in filter(use.has, use.operator.outputs[: use.operator.outputs.index(field)]):
            first = use.arrays[use.path(other)]
            memory = np.zeros(first.nbytes + result.nbytes, np.uint8)
            start = first.nbytes - result.itemsize
            outs = [memory[: first.nbytes], memory[start : start + result.nbytes]]
            shared = [one.view(x.dtype).reshape(x.shape) for one, x in zip(outs, (first, result), strict=True)]
            yield way, {use.path(other): shared[0], use.path(field): shared[1]}, {}
    if result.size > 1:
        yield "desc", {use.path(field): use.tensor(use.path(field), strides=(0,) * result.ndim)}, {}


def break_owned(use: Use, field: Field) -> Ways:
    if not field.owned:
        yield "desc", {use.path(field): use.tensor(use.path(field), flags="OWNED_BY_DML")}, {}


def break_finite(use: Use, field: Field) -> Ways:
    if field.type == "float":
        for value in (1e39, 10**400) if field.infinite else (float("nan"), float("inf"), 1e39, 10**400):
            yield from both(field.python, value)
    elif field.type == "scale_bias":
        for value in (float("nan"), 10**400):
            yield from both(field.python, (value, 0.0))
            yield from both(field.python, (1.0, value))
    elif field.type == "float_array":
        yield from both(field.python, (*use.entries(field)[:-1], float("inf")))


def break_tensors(use: Use, field: Field) -> Ways:
    if field.among is not None:
        known = {name: TABLE[name] for name in FACTS.held_by(use.operator.name) if name in TABLE}
        for held in list(known.values())[:1]:
            inner = {one.python: one.default for one in held.fields if one.kind == "attribute" and one.value is None}
            given = {name: 0.5 if value is MISSING else value for name, value in inner.items()}
            desc = getattr(dml.desc, held.desc)(input=dml.TensorDesc("FLOAT32", (1, 1, 1, 1)), **given)
            broken = [desc, *use.entries(field)[1:]] if type_of(field).array else desc
            yield "desc", {field.python: broken}, {}


def break_value(use: Use, field: Field) -> Ways:
    if field.type == "scalar_union":
        yield from both(field.python, 10**400)


WAYS = {
    "type": break_type,
    "required": break_required,
    "unknown": break_unknown,
    "dtype": break_dtype,
    "level": break_level,
    "rank": break_rank,
    "range": break_range,
    "length": break_length,
    "owned": break_owned,
    "member": break_member,
    "same-dtype": break_same_dtype,
    "sizes": break_sizes,
    "elements": break_elements,
    "strides": break_strides,
    "total-size": break_total_size,
    "alignment": break_alignment,
    "byteorder": break_byteorder,
    "readonly": break_readonly,
    "overlap": break_overlap,
    "finite": break_finite,
    "tensors": break_tensors,
    "value": break_value,
}
