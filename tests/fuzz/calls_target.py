"""Any bytes as a call, a compiled call or a desc of any operator: arguments that are valid, nearly valid, absurd.

Only a DmlError may come of it, and then ``out`` is as it was; where names are wrong, a TypeError. The exact checks
accept every accepted call, and the results are those of exact arithmetic.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from choices import Choices
from example_descs import arrays_of, attributes, desc_of_example
from garbage import GARBAGE, harmless

import dmlcy as dml
from dmlcy._check.checker import Check
from dmlcy._facts.levels import level_index
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import ENUMS, LEVELS, OPERATORS, RUNNABLE
from dmlcy._reference.call import check_of, faces_of
from dmlcy._runtime.tensor import to_array
from dmlcy._testing.starts import tensors_of
from dmlcy.testing import assert_result

Array = np.ndarray[Any, Any]

LONGEST = 96
SECONDS = 5
"""Of the processor, for one input."""
MOST = 400
"""Elements of a tensor."""
STEPS = 2500
"""Elements of the inputs times those of the outputs, at most, of what is compared with exact arithmetic."""
SEEDS: list[Path] = []
RANKS = [4, 4, 4, 5, 3, 2, 1, 8, 0, 6, 7, 9]
DTYPES = ["f4", "f4", "f2", "u1", "f8", "i8", "i4", "i2", "i1", "u8", "u4", "u2", ">f4", "?", "c8", "i2,f4", "O", "U1"]
LARGE = [9, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64, 10**400, -1, -(2**63)]
SCALARS = [0.5, 9.0, -0.0, 1e-45, 65519.99, 65520, 3.4e38, 1e39, float("nan"), float("inf"), -1, True, "1", None]
FLOATS = [1.0, 0.5, 1 / 16, 2, 0.25, 0.0, -1.0, 1e-45, 1e38, 1e39, float("nan"), True]


def dictionary() -> str:
    """Bytes that choose what is rare."""
    return '"\\xff"\n"\\xf1\\x00"\n"\\xff\\xff\\xff"\n"\\x00\\x00\\x00\\x00"\n'


@cache
def operator_of(number: bytes) -> Operator:
    """The operator that two bytes choose: of each other operator that comes, it takes a few numbers."""
    return OPERATORS[max(RUNNABLE, key=lambda name: hashlib.blake2b(name.encode() + number, digest_size=8).digest())]


def one(data: bytes) -> None:
    """Do what the bytes choose."""
    start = time.process_time()
    choices = Choices(data)
    operator = operator_of(bytes([choices.byte(), choices.byte()]))
    level = choices.of(LEVELS[::-1]).name
    arrays, given = arguments(choices, operator)
    with dml.feature_level(level):
        if choices.rarely():
            signature(choices, operator, arrays, given)
        elif choices.below(3):
            call(choices, operator, arrays, given, level)
        else:
            describe(choices, operator, arrays, given, level)
    assert time.process_time() - start < SECONDS, "it took too long"


# Choices


def arguments(choices: Choices, operator: Operator) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments for each input, and for the rest: an example of which something is changed."""
    example = choices.of(operator.examples)
    desc = desc_of_example(operator, example)
    found = arrays_of(example.inputs)
    arrays = {one.python: found.get(one.python) for one in operator.fields if one.kind == "input"}
    given = attributes(desc)
    if choices.below(4) == 1:
        retyped(choices, arrays)
    for _ in range(choices.below(4)):
        names = [*arrays, *given]
        name = choices.of(names) if names else ""
        if name in arrays:
            arrays[name] = another(choices, arrays[name])
        elif name:
            given[name] = attribute(choices, operator, name, given[name], arrays)
    if not choices.rarely():
        fit(choices, operator, arrays, given)
    return arrays, given


def retyped(choices: Choices, arrays: dict[str, Any]) -> None:
    """Another data type for all arrays that have that of the first one."""
    first = next((one.dtype for one in arrays.values() if type(one) is np.ndarray), None)
    dtype = np.dtype(choices.of(DTYPES))
    for name, array in arrays.items():
        if type(array) is np.ndarray and array.dtype == first:
            with np.errstate(all="ignore"):
                arrays[name] = array.astype(dtype)


def another(choices: Choices, value: Any) -> Any:
    """In place of an input: the same in another layout, with other values, of another type; another tensor."""
    if type(value) is tuple:
        at = choices.below(len(value) + 1)
        return (*value[:at], another(choices, value[-1] if value else None), *value[at + choices.below(2) :])
    kind = choices.below(6)
    if type(value) is not np.ndarray or kind == 0:
        return tensor(choices)
    if kind < 3:
        return layout(choices, value)
    if kind == 3:
        return layout(choices, numbers(choices, value.shape, value.dtype))
    if kind == 4:
        return numbers(choices, value.shape, np.dtype(choices.of(DTYPES)))
    return value.repeat(2, choices.below(value.ndim)) if value.ndim else value


def tensor(choices: Choices) -> Any:
    """The values of a tensor."""
    if choices.rarely():
        return choices.of(GARBAGE)
    dtype, rank = np.dtype(choices.of(DTYPES)), choices.of(RANKS)
    sizes = [choices.of([1, 2, 3, 4, 5, 6, 8, 0]) for _ in range(rank)]
    while np.prod(sizes) > MOST:
        sizes[sizes.index(max(sizes))] = 1
    return layout(choices, numbers(choices, sizes, dtype))


def numbers(choices: Choices, sizes: Sequence[int], dtype: Any) -> Array:
    """Small whole numbers."""
    values: Any = (np.arange(int(np.prod(sizes))) * 7 + choices.byte()) % 31 - (0 if dtype.kind in "u?" else 15)
    found: Array = values.astype(dtype).reshape(sizes)
    return found


def fit(choices: Choices, operator: Operator, arrays: dict[str, Any], given: dict[str, Any]) -> None:
    """Gives inputs whose sizes follow from other fields those sizes."""
    check = exact(operator, arrays, given, LEVELS[-1].name)
    for wrong in () if check is None else check.violations:
        name = wrong.field or ""
        of_sizes = type(arrays.get(name)) is np.ndarray and wrong.id.endswith(f"-{name}-sizes") and wrong.fix
        sizes = wrong.values["expected"] if of_sizes else None
        if sizes and np.prod(sizes) <= MOST:  # type: ignore[call-overload]
            arrays[name] = layout(choices, numbers(choices, sizes, arrays[name].dtype))  # type: ignore[arg-type]


def layout(choices: Choices, values: Array) -> Array:
    """The values in another place: an array of the same sizes, except broadcast axes."""
    kind = choices.of(["packed", "packed", "turned", "backwards", "steps", "shifted", "one", "readonly"])
    if kind == "turned":
        return np.asfortranarray(values)
    if kind == "backwards":
        return values[(slice(None, None, -1),) * values.ndim]
    if kind == "steps" and values.ndim:
        wide = np.repeat(values, 2, -1)
        return wide[..., ::2]
    if kind == "shifted" and not values.dtype.hasobject:
        store = np.zeros(values.nbytes + 8, np.uint8)
        shifted: Array = np.ndarray(values.shape, values.dtype, store, 1 + choices.below(7))
        shifted[...] = values
        return shifted
    if kind == "one" and values.size:
        return np.broadcast_to(values[(slice(0, 1),) * values.ndim], values.shape)
    if kind == "readonly":
        values = values.copy()
        values.flags.writeable = False
    return values


def attribute(choices: Choices, operator: Operator, name: str, value: Any, arrays: dict[str, Any]) -> Any:
    """Another value of an attribute, or of what a call says of its outputs."""
    if choices.rarely():
        return choices.of(GARBAGE)
    field = next((one for one in operator.parameters if one.python == name), None)
    if field is not None and field.type.startswith("enum:"):
        return choices.of([*ENUMS[field.type.removeprefix("enum:")].cls, "WRAP", "BOGUS"])
    kind = type(value)  # isinstance would ask the object, which may be garbage of the last change
    if issubclass(kind, tuple) and value and all(issubclass(type(entry), int) for entry in value):
        if choices.rarely():
            return number(choices)
        length = max(len(value) + (choices.below(3) - 1) * choices.rarely(), 0)
        return choices.of([tuple, list, np.array])([number(choices) for _ in range(length)])
    kinds: list[Callable[[], Any]] = [lambda: choices.of(FLOATS), lambda: choices.of(SCALARS), lambda: number(choices)]
    if issubclass(kind, bool):
        return choices.of([True, False, np.True_, 1])
    if issubclass(kind, str):
        return choices.of([*DTYPES, "FLOAT32", "UINT8", None, True])
    if issubclass(kind, int):
        return number(choices) if choices.below(4) else choices.byte() - 128
    if issubclass(kind, float):
        return choices.of(FLOATS)
    if issubclass(kind, tuple) and value:
        entries = list(value)
        entries[choices.below(len(entries))] = choices.of(kinds)()
        return tuple(entries)
    return choices.of(kinds)()


def number(choices: Choices) -> int:
    """Mostly small."""
    found: int = choices.of(LARGE) if choices.rarely() else choices.of([1, 2, 3, 0, 4, 5])
    return found


# Uses of the choices


def signature(choices: Choices, operator: Operator, arrays: dict[str, Any], given: dict[str, Any]) -> None:
    """Names that are wrong, or too many tensors: a TypeError."""
    function = getattr(dml, operator.python)
    wrong: list[Callable[[], Any]] = [
        lambda: function(*arrays.values(), **given, bogus=1),
        lambda: function(*arrays.values(), *[None] * 20, **given),
    ]
    try:
        choices.of(wrong)()
    except TypeError:
        return
    raise AssertionError("a wrong signature was accepted")


def as_arrays(value: Any) -> Any:
    """An array, or a tuple of arrays; None where there is one of neither."""
    if type(value) in (tuple, list):
        found = tuple(to_array(one) for one in value)
        return found if all(one is not None for one in found) else None
    return to_array(value)


def exact(operator: Operator, arrays: dict[str, Any], given: dict[str, Any], level: str) -> Check | None:
    """The verdict of the exact checks, without ``out``; None where a tensor is none."""
    found = {name: as_arrays(value) for name, value in arrays.items() if value is not None}
    several = {field.python for field in operator.fields if field.type == "tensor_array"}
    if any(array is None or isinstance(array, tuple) != (name in several) for name, array in found.items()):
        return None
    descs = {name: described(array) for name, array in found.items()}
    check = check_of(faces_of(operator.name), descs, given, level_index(level))
    if not check.violations:
        check.data(found)
    return check


def described(array: Any) -> Any:
    """The desc of an array, or of each of several."""
    return tuple(map(described, array)) if isinstance(array, tuple) else dml.TensorDesc(array.dtype, array.shape)


def outputs_of(operator: Operator, check: Check) -> list[Any]:
    """The descs of the outputs, those of an array one by one."""
    fields = [field.python for field in operator.fields if field.kind == "output"]
    return [tensor for name in fields for tensor in tensors_of(check.resolved[name])]


def target(choices: Choices, operator: Operator, check: Check | None) -> Any:
    """Where the result goes: None, an array that may fit, or anything."""
    if choices.below(2):
        return None
    if choices.rarely():
        return choices.of(GARBAGE)
    if check is None or check.violations:
        return np.full((1, 1, 2, 2), 77, np.float32)
    outs = []
    for wanted in outputs_of(operator, check):
        sizes = list(wanted.sizes)
        if choices.rarely():
            sizes[choices.below(len(sizes))] += 1
        dtype = np.dtype(choices.of(DTYPES)) if choices.rarely() else wanted.dtype.name.lower()
        outs.append(layout(choices, np.full(sizes, 77).astype(dtype)))
    return tuple(outs) if len(outs) > 1 or faces_of(operator.name).array else outs[0]


def call(choices: Choices, operator: Operator, arrays: dict[str, Any], given: dict[str, Any], level: Any) -> None:
    """A call: as the exact checks say, and with the values of the definition."""
    check = exact(operator, arrays, given, level)
    valid = check is not None and not check.violations
    if check is not None and valid and sum(one.element_count for one in outputs_of(operator, check)) > MOST * 64:
        return
    out = target(choices, operator, check)
    before = memory(out)
    try:
        result = getattr(dml, operator.python)(*arrays.values(), **given, **({} if out is None else {"out": out}))
    except dml.DmlError as error:
        refused(error, out, before)
        assert out is not None or not valid, error
        return
    assert valid or out is not None, check and check.violations
    assert out is None or result is out
    if check is None or not valid:  # out said what the arguments left open
        return
    desc = make(operator, check.resolved)
    inputs = {name: as_arrays(value) for name, value in arrays.items() if value is not None}
    compare(desc, inputs, result)
    if choices.below(2) and dml.check(desc, level) == []:
        whole = [fitted(inputs.get(name), getattr(desc, name)) for name in arrays]
        compare(desc, inputs, dml.compile(desc)(*whole))


def fitted(value: Any, tensor: Any) -> Any:
    """An array with as many dimensions as the desc has."""
    return value.reshape(tensor.sizes) if isinstance(value, np.ndarray) else value


def refused(error: dml.DmlError, out: Any, before: bytes) -> None:
    """The text of a refusal can be shown, and nothing was written."""
    harmless(error)
    assert memory(out) == before, "out was written"


def memory(value: Any) -> bytes:
    """The bytes of an array, or of several, each element that lies in the same place once."""
    if type(value) is tuple:
        return b"".join(map(memory, value)) if len(value) < MOST else b""
    if type(value) is not np.ndarray or value.dtype.hasobject or value.size > 1 << 20:
        return b""
    return value[tuple(slice(None if stride else 1) for stride in value.strides)].tobytes()


def compare(desc: Any, inputs: dict[str, Any], result: Any) -> None:
    """The result is that of exact arithmetic, where it takes few steps."""
    sizes = {"input": 0, "output": 0, "attribute": 0}
    for field in desc.operator.fields:
        sizes[field.kind] += sum(tensor.element_count for tensor in tensors_of(getattr(desc, field.python)))
    if sizes["input"] * sizes["output"] <= STEPS:
        parts = {name: fitted(value, getattr(desc, name)) for name, value in inputs.items()}
        assert_result(desc, parts, result, bound="own")


def make(operator: Operator, values: Any) -> Any:
    """A desc of the operator, of the values of its fields."""
    names = [field.python for field in operator.fields if field.value is None]
    return getattr(dml.desc, operator.desc)(**{name: values[name] for name in names if name in values})


def describe(choices: Choices, operator: Operator, arrays: dict[str, Any], given: dict[str, Any], level: Any) -> None:
    """A desc, and all that can be done with one."""
    values: dict[str, Any] = {one.python: given[one.python] for one in operator.parameters if one.python in given}
    for name, value in arrays.items():
        values[name] = structs(choices, value)
    check = exact(operator, arrays, given, level)
    for field in operator.fields:
        if field.kind == "output" and (operator.is_open(field) or (field.optional and choices.below(2))):
            resolved = None if check is None else check.resolved.get(field.python)
            values[field.python] = resolved if resolved and not choices.rarely() else structs(choices, tensor(choices))
    if choices.rarely():
        values[choices.of([field.python for field in operator.fields])] = choices.of(GARBAGE)
    made = make(operator, values)
    assert made == made and hash(made) == hash(made) and repr(made)
    written = made.to_dict()
    found = dml.check(made, level)
    try:
        dml.compile(made, level)
        assert not found
    except dml.DmlError as error:
        harmless(error)
        assert list(error.violations) == found != []
    try:
        dml.minimum_feature_level(made)
    except dml.DmlError as error:
        harmless(error)
        assert found
    if not found:
        again = type(made).from_dict(written)
        assert again.to_dict() == written and not dml.check(again, level)


def structs(choices: Choices, value: Any) -> Any:
    """The desc of an array, or of each of several; anything else as it is."""
    if type(value) is tuple and value and all(type(one) is np.ndarray for one in value):
        return tuple(struct(choices, one) for one in value)
    return struct(choices, value) if type(value) is np.ndarray else value


def struct(choices: Choices, array: Array) -> Any:
    """The desc of a tensor, now and then with a member that is odd."""
    parts: dict[str, Any] = {"dtype": array.dtype, "sizes": array.shape}
    if choices.rarely():
        parts["strides"] = tuple(number(choices) for _ in array.shape)
    if choices.rarely():
        names = ["flags", "total_tensor_size_in_bytes", "guaranteed_base_offset_alignment", "dimension_count", "sizes"]
        parts[choices.of(names)] = choices.of([*LARGE, *GARBAGE])
    if choices.rarely():
        parts["dtype"] = choices.of(GARBAGE)
    return dml.TensorDesc(**parts)
