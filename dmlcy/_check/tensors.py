"""The steps of a pass that take each tensor by itself: whether there is one, its members, its layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, islice, takewhile
from typing import Final, cast

import numpy as np

from dmlcy._check.dtypes import refuse_dtype
from dmlcy._check.foreign import MASKED, complaint, is_foreign
from dmlcy._check.sizes import choices_of, take_rank, with_ones
from dmlcy._check.state import State, Tensor, keyword, wanted
from dmlcy._facts.rows import MISSING, Field
from dmlcy._facts.tables import TensorDataType, TensorFlags
from dmlcy._field_types import type_of
from dmlcy._field_types.bad import BAD
from dmlcy._field_types.tensor import EXPECTED
from dmlcy._field_types.tensor_array import MOST, as_sizes_of_each, as_tensors
from dmlcy._field_types.tensor_desc import TensorDesc, entry_count, layout, structure
from dmlcy._field_types.values import Refused, as_dtype, wrong_type
from dmlcy._field_types.wording import entries as counted
from dmlcy._words.values import is_a, listing

OUT: Final = "out"
"""The name of the outputs in a call."""


def take(state: State, field: Field) -> None:
    """Takes a tensor as far as it can be understood without the others."""
    name = field.python
    value = state.values.get(name)
    tensor = state.tensors[name] = Tensor()
    state.resolved[name] = value
    state.readable[name] = tensor
    asked = _asked(state, field, tensor) if state.call and (field.optional or name in state.asked) else False
    said = _sizes_said(state, field) if state.call and (asked or not field.optional) else None
    if said is not None and value is None and name not in state.labels:
        if name not in state.sized:
            state.fail(f"{name}.sizes", f"{name}.rank")
            return
        tensor.sizes = said
        take_rank(state, field, len(said))
        return
    if value is None and name not in state.labels:
        _take_none(state, field, asked)
        return
    if value is MISSING or not is_a(value, TensorDesc):
        state.fail(f"{name}.dtype", f"{name}.sizes", f"{name}.rank")
        if value is MISSING:
            _add_missing(state, field)
        else:
            state.refused(field, no_tensor(state, field, value))
        return
    desc = cast(TensorDesc, value)
    if type(desc.dtype) is not TensorDataType:
        state.fail(f"{name}.dtype")
        refuse_dtype(state, field, desc.dtype)
    else:
        tensor.dtype = desc.dtype
    wrong = list(structure(desc))
    for refused in wrong:
        state.refused(field, refused)
    rank = entry_count(desc.sizes)
    if rank is None:
        state.fail(f"{name}.sizes", f"{name}.rank")
        return
    refused_entries = {refused.index for refused in wrong}
    sizes = [BAD if at in refused_entries else size for at, size in enumerate(desc.sizes)] if wrong else desc.sizes
    tensor.sizes = with_ones(state, field, tuple(sizes))
    take_rank(state, field, len(tensor.sizes))
    if said is not None and name in state.sized and not wrong and said != desc.sizes:
        state.fail(f"{name}.sizes")
        values: dict[str, object] = {"actual": desc.sizes, "expected": said}
        state.add(field, "sizes", member="sizes", values=values, words={"formula": _said_by(field)}, fix=said)


def _take_none(state: State, field: Field, asked: bool) -> None:
    """Takes a tensor that is not given: it is optional, or follows from others."""
    name = field.python
    if field.optional and not asked:
        state.readable[name] = None
    follows = _follows(state, field)
    if not follows and (not field.optional or (asked and field.sizes is None)):
        _add_missing(state, field)
    if not asked and (field.optional or not follows):
        state.fail(f"{name}.dtype", f"{name}.sizes", f"{name}.rank")
    if not asked and field.optional:
        state.absent.add(name)


def _sizes_said(state: State, field: Field) -> tuple[int, ...] | None:
    """The sizes that a call says of an output, or what it says in their place where that is refused."""
    name = field.python
    asked = state.asked_sizes.get(name)
    if asked is None and (
        name not in state.asked_sizes or (state.values.get(name) is None and name not in state.labels)
    ):
        return None  # then the tensor itself is missing, if no one says its sizes
    desc = TensorDesc("FLOAT32", asked)  # type: ignore[arg-type]
    wrong = list(structure(desc))
    for refused in wrong:
        refused.part = ""
        state.refused(field, refused, label=_said_by(field))
    if not wrong:
        state.sized.add(name)
    return desc.sizes


def _said_by(field: Field) -> str:
    """The keyword that says the sizes of an output; of a tensor of an array, with its place."""
    _, bracket, place = field.python.partition("[")
    return f"{field.sized_by}{bracket}{place}"


def settle(state: State, field: Field) -> None:
    """An output of which a call says the sizes, once its data type is known."""
    name = field.python
    if name in state.sized and state.resolved[name] is None:
        tensor = state.tensors[name]
        state.resolved[name] = TensorDesc(tensor.dtype, tensor.sizes)  # type: ignore[arg-type]  # None: not known


def leave_out(state: State, field: Field) -> None:
    """A tensor that nobody reads: that of the operator which holds the desc is used."""
    name = field.python
    state.tensors[name] = Tensor()
    state.resolved[name] = state.readable[name] = None
    state.fail(*(f"{name}.{facet}" for facet in ("count", "dtype", "sizes", "rank")))


def one_by_one(state: State, fields: Sequence[Field], arrays: Sequence[Field]) -> list[Field]:
    """The fields with each array as its tensors; what has the data type of an array has that of the first of them."""
    found: list[Field] = []
    for field in fields:
        found += _entries(state, field) if field in arrays else [field]
    firsts = {array.python: _first(array.python) for array in arrays if _first(array.python) in state.values}
    return [
        replace(field, same_dtype_as=firsts[field.same_dtype_as]) if field.same_dtype_as in firsts else field
        for field in found
    ]


def _entries(state: State, field: Field) -> list[Field]:
    """The tensors of an array, each as a field under its path (inputs[2]); none where there is no array."""
    name = field.python
    value = state.values.get(name)
    state.resolved[name] = value
    state.readable[name] = ()
    state.tensors[name] = Tensor()  # has the data type of the first one
    try:
        said = _each_said(state, field)
    except Refused as refused:
        state.fail(f"{name}.count", f"{name}.dtype", f"{name}.sizes", f"{name}.rank")
        state.refused(field, refused, label=field.sized_by)
        return []
    if (value is None or value is MISSING) and (said is None or name in state.labels):
        state.fail(f"{name}.count", f"{name}.dtype", f"{name}.sizes", f"{name}.rank")
        _add_missing(state, field)
        return []
    try:
        unknown = value is None or value is MISSING
        found = (None,) * len(said or ()) if unknown else as_tensors(value, state.literal, state.call)
        if said is not None and len(said) != len(found):
            words = {"has": f"has {counted(len(found))}", "needs": "needs", "each": f"as {field.sized_by} has"}
            raise Refused("length", values={"actual": len(found), "expected": len(said)}, words=words)
    except Refused as refused:
        state.fail(f"{name}.count", f"{name}.dtype", f"{name}.sizes", f"{name}.rank")
        state.refused(field, refused)
        return []
    paths = [f"{name}[{number}]" for number in range(len(found))]
    state.values = {**state.values, **dict(zip(paths, found, strict=True))}
    if said is not None:
        state.asked_sizes = {**state.asked_sizes, **dict(zip(paths, said, strict=True))}
    other = field.same_dtype_as or (None if field.mixed else _first(name))
    same = [None if path == other else other for path in paths]
    return [replace(field, python=path, same_dtype_as=one) for path, one in zip(paths, same, strict=True)]


def _each_said(state: State, field: Field) -> tuple[object, ...] | None:
    """The sizes that a call gives for each output of an array."""
    said = state.asked_sizes.get(field.python) if state.call else None
    return None if said is None else as_sizes_of_each(said)


def _first(name: str) -> str:
    """The path of the first tensor of an array, which has the data type of the others."""
    return f"{name}[0]"


def gather(state: State, field: Field) -> None:
    """Puts the tensors of an array together again, for the desc and for formulas."""
    name = field.python
    if f"{name}.count" in state.bad:
        return
    paths = list(islice(takewhile(state.tensors.__contains__, (f"{name}[{k}]" for k in count())), MOST))
    found = [state.tensors[path] for path in paths]
    for path, tensor in zip(paths, found, strict=True):
        del state.readable[path]
        if f"{path}.sizes" in state.bad:
            tensor.sizes = BAD
        if tensor.dtype is None or f"{path}.dtype" in state.bad:
            tensor.dtype = BAD
    state.resolved[name] = tuple(state.resolved.pop(path) for path in paths)
    state.readable[name] = tuple(found)


def _asked(state: State, field: Field, tensor: Tensor) -> bool:
    """Whether a call asks for an optional output; notes the data type."""
    request = state.asked.get(field.python)
    if field.kind != "output" or (field.optional and not wanted(request)):
        return False
    if request is None or is_a(request, bool, np.bool_):  # No output needs the keyword that is there anyhow
        same = state.tied_to(field)
        tensor.dtype = TensorDataType[field.default_dtype] if same is None else state.tensors[same].dtype
    else:
        tensor.dtype = as_dtype(request)
        if tensor.dtype is None and is_a(request, str, type):
            refuse_dtype(state, field, request)
        elif tensor.dtype is None:
            expected = "True, False or a data type" if field.optional else "a data type"
            state.refused(field, wrong_type(request, expected), label=keyword(field))
    if tensor.dtype is not None:
        state.chosen[field.python] = tensor.dtype
    return tensor.dtype is not None


def _follows(state: State, field: Field) -> bool:
    """Whether a tensor need not be given."""
    return field.kind == "output" and field.sizes is not None and (state.call or not state.operator.is_open(field))


def _add_missing(state: State, field: Field) -> None:
    """Notes that a tensor is missing; of an output whose sizes a call says, these."""
    if state.call and field.sized_by is not None and field.python in state.fields:
        each = "each tensor of " if type_of(field.type).tensors else ""
        hint = f"Pass the sizes of {each}{field.python}, or out."
        state.add(field, "required", hint=hint, label=field.sized_by)
    else:
        state.add(field, "required", hint=_holds_choices(state, field))


def _holds_choices(state: State, field: Field) -> str:
    """A sentence on a missing output: the sizes that a desc gives, or the data type and sizes that no formula gives."""
    names = choices_of(state.operator, field)
    if names and state.operator.state != "described":
        return f"The sizes of this tensor hold what a call takes as {listing(names)}."
    if field.kind != "output" or not state.operator.is_open(field):
        return ""
    parts = [""] if state.operator.has_type(state.operator.field(field.python)) else ["data type"]
    parts += ["sizes"] if state.operator.has_open_sizes(field) else []
    words = " and ".join(part for part in parts if part)
    return f"The {words} of this tensor {'follow' if words.endswith('s') else 'follows'} from no other field."


def lay_out(state: State, field: Field) -> None:
    """Takes what a tensor desc says beside data type and sizes."""
    desc = state.resolved[field.python]
    if is_a(desc, TensorDesc):
        if not field.owned and cast(TensorDesc, desc).flags is TensorFlags.OWNED_BY_DML:
            flags: dict[str, object] = {"actual": TensorFlags.OWNED_BY_DML}
            hint = "Leave the flag out: bind the tensor when the operator is executed."
            state.add(field, "owned", member="flags", values=flags, hint=hint, fix="NONE")
        for refused in layout(cast(TensorDesc, desc), field.kind == "output"):
            if refused.slug == "elements" and not state.limited:
                continue
            state.refused(field, refused)
            if refused.slug == "elements":
                state.fail(f"{field.python}.sizes")


def no_tensor(state: State, field: Field, value: object) -> Refused:
    """The refusal of a value that is no tensor."""
    if not state.call:
        array = is_a(value, np.ndarray)
        return wrong_type(value, EXPECTED, "Pass TensorDesc.from_array(x)." if array else "")
    hint, expected = "", "an array"
    cause: BaseException | None = None
    outputs = [one for one in state.operator.fields if one.kind == "output" and state.there(one)]
    if field.kind == "output" and len(outputs) > 1 and state.label(field) == OUT:
        expected = f"a tuple of {len(outputs)} arrays, {_places(outputs)}"
    elif is_foreign(value):
        hint, cause = complaint(value, field.kind == "output")
    elif is_a(value, list, tuple):
        hint = f"Pass numpy.asarray({field.python}, dtype=...)." if field.kind == "input" else _untaken(state)
    elif is_a(value, np.ma.MaskedArray):
        hint = MASKED
    elif is_a(value, bool, int, float, complex, np.generic):
        hint = "A single number is not a tensor." if field.kind == "input" else ""
    refused = wrong_type(value, expected, hint)
    refused.__cause__ = cause
    return refused


def _untaken(state: State) -> str:
    """The parts that a tuple of outputs may lack."""
    names = [one.python for one in state.operator.fields if one.kind == "output" and not state.there(one)]
    return f"Pass a tuple only if the call asks for {' or '.join(names)} too." if names else ""


def _places(outputs: Sequence[Field]) -> str:
    """Which output is where in a tuple."""
    return " and ".join(f"{one.python} at {place}" for place, one in enumerate(outputs))
