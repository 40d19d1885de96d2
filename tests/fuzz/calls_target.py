"""Any bytes as a call, a compiled call or a desc of an operator: arguments that are valid, nearly valid, absurd.

Only a DmlError may come of it, and then ``out`` is as it was; where names are wrong, a TypeError. What is accepted is
what the exact checks accept, and has the values of the definitions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import reference
from checks import assert_norm, assert_same_bits, assert_same_values
from choices import Choices
from garbage import GARBAGE, harmless

import dmlcy as dml
from dmlcy._check.checker import Check
from dmlcy._facts.levels import level_index
from dmlcy._facts.rows import MISSING, Field, Operator
from dmlcy._facts.tables import ENUMS, FAST, LEVELS
from dmlcy._runtime.tensor import to_array

Array = np.ndarray[Any, Any]

LONGEST = 96
SECONDS = 5
"""Of the processor, for one input."""
MOST = 400
"""Elements of tensors that are compared with the definitions."""
SEEDS: list[Path] = []
RANKS = [4, 4, 4, 5, 3, 2, 1, 8, 0, 6, 7, 9]
DTYPES = ["f4", "f4", "f2", "u1", "f8", "i8", "i4", "i2", "i1", "u8", "u4", "u2", ">f4", "?", "c8", "i2,f4", "O", "U1"]
LARGE = [9, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64, 10**400, -1, -(2**63)]
SCALARS = [0.5, 9.0, -0.0, 1e-45, 65519.99, 65520, 3.4e38, 1e39, float("nan"), float("inf"), -1, True, "1", None]
FLOATS = [1.0, 0.5, 1 / 16, 2, 0.25, 0.0, -1.0, 1e-45, 1e38, 1e39, float("nan"), True]


def dictionary() -> str:
    """Bytes that choose what is rare."""
    return '"\\xff"\n"\\xf1\\x00"\n"\\xff\\xff\\xff"\n"\\x00\\x00\\x00\\x00"\n'


def one(data: bytes) -> None:
    """Do what the bytes choose."""
    start = time.process_time()
    choices = Choices(data)
    operator = choices.of(list(FAST.values()))
    level = choices.of(LEVELS[::-1]).name
    checked = {rule.about for rule in operator.rules if rule.data}
    inputs = [field.python for field in operator.fields if field.kind == "input"]
    arrays = {name: rois(choices) if name in checked else tensor(choices) for name in inputs}
    attributes = {field.python: attribute(choices, field, arrays) for field in operator.parameters}
    if not choices.rarely():
        fit(choices, operator, arrays, attributes)
    for name in [field.python for field in operator.parameters if field.default is not MISSING]:
        if choices.rarely():
            del attributes[name]
    with dml.feature_level(level):
        if choices.rarely():
            signature(choices, operator, arrays, attributes)
        elif choices.below(3):
            call(choices, operator, arrays, attributes, level)
        else:
            describe(choices, operator, arrays, attributes, level)
    assert time.process_time() - start < SECONDS, "it took too long"


# What is chosen


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


def fit(choices: Choices, operator: Operator, arrays: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Gives inputs whose sizes follow from other fields those sizes."""
    check = exact(operator, arrays, attributes, LEVELS[-1].name)
    for wrong in () if check is None else check.violations:
        name = wrong.field or ""
        of_sizes = name in arrays and wrong.id.endswith(f"-{name}-sizes") and wrong.fix is not None
        sizes = wrong.values["expected"] if of_sizes else None
        if sizes and np.prod(sizes) <= MOST:  # type: ignore[arg-type]
            arrays[name] = layout(choices, numbers(choices, sizes, np.asarray(arrays[name]).dtype))  # type: ignore[arg-type]


def rois(choices: Choices) -> Any:
    """Rows of a batch index and two corners."""
    if choices.rarely():
        return choices.of(GARBAGE)
    dtype, rank = np.dtype(choices.of(DTYPES)), choices.of(RANKS)
    corners = [[choices.below(3), *sorted([a, c]), *sorted([b, d])] for a, b, c, d in regions(choices)]
    rows = np.array(corners, np.float64)[:, [0, 1, 3, 2, 4]] / choices.of([1, 2, 0.5])
    if choices.rarely():
        rows[-1, choices.below(5)] = choices.of([np.nan, np.inf, -np.inf, -1, 0.5, 1e30, 65504])
    rows = rows[:, : choices.of([5, 5, 5, 5, 4, 6])]
    with np.errstate(all="ignore"):
        return layout(choices, rows.reshape((1,) * max(rank - 2, 0) + rows.shape).astype(dtype))


def regions(choices: Choices) -> list[list[int]]:
    """Corners of a few regions."""
    return [[choices.below(12) - 2 for _ in range(4)] for _ in range(1 + choices.below(4))]


def layout(choices: Choices, values: Array) -> Array:
    """The values in another place: an array of the same sizes, but for those that are broadcast."""
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


def attribute(choices: Choices, field: Field, arrays: dict[str, Any]) -> Any:
    """The value of an attribute."""
    if choices.rarely():
        return choices.of(GARBAGE)
    if field.type.startswith("enum:"):
        return choices.of([*ENUMS[field.type.removeprefix("enum:")].cls, "WRAP", "BOGUS"])
    match field.type:
        case "uint":
            return number(choices)
        case "uint_array":
            first = next(iter(arrays.values()))
            rank = first.ndim if type(first) is np.ndarray else 4
            length = max(rank - (0 if field.default is MISSING and not field.minimum else 2), 0)
            if choices.rarely():
                return number(choices)
            return choices.of([tuple, list, np.array])([number(choices) for _ in range(length + choices.rarely())])
        case "float":
            return choices.of(FLOATS)
        case "bool":
            return choices.of([True, False, np.True_, 1])
        case "size_2d":
            return number(choices) if choices.below(2) else (number(choices), number(choices))
        case _:
            return choices.of(SCALARS) if choices.below(2) else choices.byte() - 128


def number(choices: Choices) -> int:
    """Mostly small."""
    found: int = choices.of(LARGE) if choices.rarely() else choices.of([1, 2, 3, 0, 4, 5])
    return found


# What is done with it


def signature(choices: Choices, operator: Operator, arrays: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Names that are wrong, or too many tensors: a TypeError."""
    function = getattr(dml, operator.python)
    wrong: list[Callable[[], Any]] = [
        lambda: function(*arrays.values(), **attributes, bogus=1),
        lambda: function(*arrays.values(), *arrays.values(), *arrays.values(), **attributes),
        lambda: function(**attributes),
        lambda: function(*arrays.values()),
    ]
    try:
        choices.of(wrong)()
    except TypeError:
        return
    raise AssertionError("a wrong signature was accepted")


def exact(operator: Operator, arrays: dict[str, Any], attributes: dict[str, Any], level: str) -> Check | None:
    """The verdict of the exact checks, without ``out``; None where a tensor is none."""
    found = {name: to_array(value) for name, value in arrays.items()}
    if any(array is None for array in found.values()):
        return None
    descs = {name: dml.TensorDesc(array.dtype, array.shape) for name, array in found.items() if array is not None}
    values = {field.python: field.default for field in operator.parameters} | attributes
    check = Check(operator, descs | values, level_index(level), call=True)
    if not check.violations:
        check.data({name: array for name, array in found.items() if array is not None})
    return check


def target(choices: Choices, check: Check | None) -> Any:
    """Where the result goes: None, an array that may fit, or anything."""
    if choices.below(2):
        return None
    if choices.rarely():
        return choices.of(GARBAGE)
    wanted: Any = None if check is None else check.resolved.get("output")
    if check is None or check.violations or wanted.element_count > MOST * 64:
        return np.full((1, 1, 2, 2), 77, np.float32)
    sizes = list(wanted.sizes)
    if choices.rarely():
        sizes[choices.below(len(sizes))] += 1
    dtype = np.dtype(choices.of(DTYPES)) if choices.rarely() else wanted.dtype.name.lower()
    return layout(choices, np.full(sizes, 77).astype(dtype))


def call(choices: Choices, operator: Operator, arrays: dict[str, Any], attributes: dict[str, Any], level: str) -> None:
    """A call: as the exact checks say, and with the values of the definition."""
    check = exact(operator, arrays, attributes, level)
    valid = check is not None and not check.violations
    if check is not None and valid and check.resolved["output"].element_count > MOST * 64:  # type: ignore[attr-defined]
        return
    out = target(choices, check)
    before = memory(out)
    try:
        result = getattr(dml, operator.python)(*arrays.values(), **attributes, **({} if out is None else {"out": out}))
    except dml.DmlError as error:
        refused(error, out, before)
        assert out is not None or not valid, error
        return
    assert check is not None and valid, check and check.violations
    assert out is None or result is out
    assert dml.TensorDesc(result.dtype, result.shape) == check.resolved["output"] or out is not None
    compare(operator, {name: to_array(value) for name, value in arrays.items()}, check, result)
    if choices.below(2):
        tensors = {name: dml.TensorDesc(check.tensors[name].dtype, check.tensors[name].sizes) for name in arrays}
        whole = [to_array(value).reshape(tensors[name].sizes) for name, value in arrays.items()]  # type: ignore[union-attr]
        tensors |= {one.python: check.resolved[one.python] for one in operator.fields if operator.is_open(one)}
        again = dml.compile(make(operator, tensors | attributes))(*whole)
        assert_same_values(again, np.array(result, order="C").reshape(again.shape))


def refused(error: dml.DmlError, out: Any, before: bytes) -> None:
    """The text of a refusal can be shown, and nothing was written."""
    harmless(error)
    assert memory(out) == before, "out was written"


def memory(value: Any) -> bytes:
    """The bytes of an array, each element that lies in the same place once."""
    if type(value) is not np.ndarray or value.dtype.hasobject or value.size > 1 << 20:
        return b""
    return value[tuple(slice(None if stride else 1) for stride in value.strides)].tobytes()


def compare(operator: Operator, arrays: dict[str, Any], check: Check, result: Any) -> None:
    """The result has the values of the definition: those of the tensors are whole and small, and so exact."""
    inputs = [np.array(array, order="C") for array in arrays.values()]
    settings = {field.python: check.resolved[field.python] for field in operator.parameters}
    for name, value in settings.items():
        settings[name] = getattr(value, "name", value)
    settings.pop("dimension_count", None)
    if sum(x.size for x in inputs) + result.size > MOST * 4:
        return
    inputs = [x.reshape(check.tensors[name].sizes) for name, x in zip(arrays, inputs, strict=True)]
    expected = reference.defined(operator, *inputs, **settings)
    if isinstance(expected, reference.Norm):
        bound = operator.accuracy[str(result.dtype).upper()].ulp.function(check.rules)
        assert_norm(np.array(result, order="C").reshape(expected.norm.shape), expected, bound)
        return
    if isinstance(expected, reference.Average):
        expected = expected.rounded(inputs[0].dtype)
    same = assert_same_values if expected.dtype.kind == "f" else assert_same_bits
    same(np.array(result, order="C").reshape(expected.shape), expected)


def make(operator: Operator, values: dict[str, Any]) -> Any:
    """A desc of the operator, which has what a caller chooses in its outputs."""
    chosen = {field.python for field in operator.chosen}
    return getattr(dml.desc, operator.desc)(**{name: value for name, value in values.items() if name not in chosen})


def describe(
    choices: Choices, operator: Operator, arrays: dict[str, Any], attributes: dict[str, Any], level: str
) -> None:
    """A desc, and all that can be done with one."""
    values = dict(attributes)
    for name, value in arrays.items():
        values[name] = value if type(value) is not np.ndarray else struct(choices, value)
    for field in operator.fields:
        if operator.is_open(field) or (field.optional and choices.below(2)):
            found = tensor(choices)
            values[field.python] = struct(choices, found) if type(found) is np.ndarray else found
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
