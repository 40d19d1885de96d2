"""Calls of operators that the reference computes, and the checks of a call in Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.array_utils import byte_bounds

from dmlcy._arithmetic import WIDE
from dmlcy._check.checker import Check
from dmlcy._check.rules import parts_of as parts_of_rule
from dmlcy._check.state import keyword, sizes_asked, wanted
from dmlcy._desc.check import refuse
from dmlcy._desc.formulas import Formulas
from dmlcy._desc.memory import dtype_of, must_be_packed
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.levels import LEVEL
from dmlcy._facts.rows import Operator, Rule, Rules
from dmlcy._facts.tables import OPERATORS, TensorDataType
from dmlcy._families import blocks, family_of
from dmlcy._families.given import Given
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor import dtypes_at
from dmlcy._field_types.tensor_array import by_path, given_tensors
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._field_types.values import as_dtype
from dmlcy._runtime import four_bits
from dmlcy._runtime.memory import require
from dmlcy._runtime.tensor import may_overlap, to_shared_array
from dmlcy._types import Array, DType


class Faces(NamedTuple):
    """The facts of an operator that each call needs."""

    operator: Operator
    inputs: tuple[tuple[str, bool], ...]  # name, whether it is an array of tensors
    asked: tuple[tuple[str, str], ...]  # outputs that a keyword is about: the output, the keyword
    sized: tuple[str, ...]  # keywords of the sizes of outputs
    others: tuple[str, ...]
    open: str | None  # the output whose data type ``out`` may give
    array: bool  # the only output is an array of tensors


class Use(NamedTuple):
    """A valid use: what its names stand for, and each output with its data type and its sizes."""

    operator: Operator
    rules: Rules
    values: Mapping[str, object]
    outputs: tuple[tuple[str, DType, tuple[int, ...]], ...]
    bytes: int  # of the outputs
    what: str  # has so many

    def results(self, arrays: Mapping[str, object], kept: bool) -> list[Array]:
        """The outputs, in their data types. ``kept``: they are what a call gives; else they are copied from."""
        if kept:
            require(self.bytes, self.what)
        given = Given(self.operator, self.rules, self.values, arrays, WIDE)
        family = family_of(self.operator)
        with np.errstate(all="ignore"):
            return [family.result(given, name) for name, _, _ in self.outputs]

    def data_hold(self, arrays: Mapping[str, Array]) -> bool:
        """Whether the values of the inputs are acceptable."""
        rules = [rule for rule in self.operator.rules if rule.data and rule.severity == "error"]
        if all(rule.of_all is not None and _all_hold(self, rule, arrays.get(rule.each or "")) for rule in rules):
            return True
        check = Check(self.operator, self.values, LEVEL.get(), call=False)
        check.data(arrays)
        return not check.violations

    def shares(self, result: Array, arrays: Mapping[str, object]) -> bool:
        """Whether a result is memory of an input."""
        return any(np.may_share_memory(result, part) for found in arrays.values() for part in _each(found))

    def record(self, recordings: tuple[Any, ...], arrays: Mapping[str, object], results: Sequence[Array]) -> None:
        """Keeps a call in the recordings that are open. Nobody else has these arrays of inputs."""
        kept: dict[str, object] = {name: np.array(one) for (name, _, _), one in zip(self.outputs, results, strict=True)}
        if faces_of(self.operator.name).array:
            kept = {self.outputs[0][0].partition("[")[0]: tuple(kept.values())}
        said = {f.python: self.values.get(f.python) for f in self.operator.fields if f.kind == "attribute"}
        recordings[0].keep(recordings, self.operator.name, {**arrays, **kept, **said})


@cache
def faces_of(name: str) -> Faces:
    """The facts of an operator that calls need."""
    operator = OPERATORS[name]
    inputs = tuple((f.python, type_of(f.type).tensors) for f in operator.fields if f.kind == "input")
    outputs = [field for field in operator.fields if field.kind == "output"]
    asked = {field.python: keyword(field) for field in outputs}
    named = [field for field in outputs if field.optional or not operator.has_type(field)]
    return Faces(
        operator,
        inputs,
        tuple((field.python, asked[field.python]) for field in named),
        tuple(field.sized_by for field in outputs if field.sized_by is not None),
        tuple(field.python for field in operator.parameters),
        outputs[0].python if len(outputs) == 1 and named else None,
        len(outputs) == 1 and type_of(outputs[0].type).tensors,
    )


def refuse_arguments(name: str, arguments: Mapping[str, object], level: int, first: int) -> NoReturn:
    """Raises what is wrong with the arguments of a call, ``out`` among them, that compiled checks have refused."""
    faces, out = faces_of(name), arguments["out"]
    asks = out is not None and (faces.open is not None or faces.sized)
    refuse(name, {**arguments, **(_requests(faces, arguments, out) if asks else {})}, level, first)


def _requests(faces: Faces, arguments: Mapping[str, object], out: object) -> dict[str, object]:
    """The data type and the sizes in ``out`` of outputs that have no others."""
    found: dict[str, object] = {}
    if faces.open is not None and arguments.get(faces.asked[0][1]) is None:
        given = to_shared_array(out)
        if given is not None and as_dtype(given.dtype) is not None:
            found[faces.asked[0][1]] = given.dtype
    if faces.array:
        parts = tuple(map(to_shared_array, given_tensors(out) or ()))
        sizes = tuple(part.shape for part in parts if part is not None)
        return found | {one: sizes for one in faces.sized if arguments.get(one) is None and len(sizes) == len(parts)}
    outputs = [field for field in faces.operator.fields if field.kind == "output"]
    there = [field for field in outputs if not field.optional or wanted(arguments.get(field.python))]
    outs = out if len(there) > 1 and type(out) is tuple else (out,)
    for field, one in zip(there, outs, strict=False):
        if field.sized_by is not None and arguments.get(field.sized_by) is None:
            given = to_shared_array(one)
            found |= {} if given is None else {field.sized_by: given.shape}
    return found


def check_of(
    faces: Faces, tensors: Mapping[str, object], arguments: Mapping[str, object], level: int, limited: bool = True
) -> Check:
    """The pass over a call with these tensors and other arguments.

    Where the call may choose the data type of an output and does not, the first one counts that is valid.
    """
    values = {**{one: arguments[one] for one in faces.others}, **tensors}
    asked = {output: arguments[keyword] for output, keyword in faces.asked if keyword in arguments}
    sizes = sizes_asked(faces.operator, arguments)
    passes = (
        Check(faces.operator, values, level, call=True, asked=said, asked_sizes=sizes, limited=limited)
        for said in ({**asked, **more} for more in _requests_of(faces, asked, level))
    )
    first = next(passes)
    return first if not first.violations else next((one for one in passes if not one.violations), first)


def _requests_of(faces: Faces, asked: Mapping[str, object], level: int) -> Iterator[dict[str, object]]:
    """Nothing more; then, for an output of any data type, each one that it can have: the first valid one counts."""
    yield {}
    if faces.open is not None and asked.get(faces.open) is None:
        for name in dtypes_at(faces.operator.field(faces.open), level):
            yield {faces.open: name}


def use_of_values(name: str, values: Mapping[str, object], level: int) -> Use:
    """The use that compiled checks found valid; of a tensor, ``values`` has its data type, by number, and its sizes.

    RuntimeError where the checks in Python find something wrong with it.
    """
    operator = OPERATORS[name]
    tensors = {field.python for field in operator.fields if field.kind != "attribute"}
    said = {python: _desc_of(value) if python in tensors else value for python, value in values.items()}
    check = Check(operator, said, level, call=False)
    if check.violations:
        ids = ", ".join(one.id for one in check.violations)
        raise RuntimeError(
            f"internal: the compiled checks accept a call of {operator.python}() for which those in Python find {ids}"
        )
    return use_of(operator, check.rules, check.resolved)


def _desc_of(value: Any) -> object:
    """The desc of a tensor, of its data type and its sizes; the descs of a list of them, None of None."""
    if type(value) is list:
        return tuple(map(_desc_of, value))
    return None if value is None else TensorDesc(TensorDataType(value[0]), value[1])


def must_have_packed_halves(desc: OperatorDesc) -> None:
    """Refuses a desc with a tensor of 4 bits whose elements do not follow each other."""
    for kind in ("input", "output"):
        for path, tensor in by_path(desc.operator.fields, kind, desc._values()):
            must_be_packed(tensor, path)


def use_of_desc(desc: OperatorDesc) -> Use:
    """The use of a valid desc."""
    return use_of(desc.operator, Formulas(desc).rules, desc._values())


def use_of(operator: Operator, rules: Rules, values: Mapping[str, object]) -> Use:
    """A valid use, of the values of its desc."""
    outputs = by_path(operator.fields, "output", values)
    sizes = tuple((name, numpy_dtype(dtype_of(tensor)), tuple(tensor.sizes)) for name, tensor in outputs)
    total = sum(dtype.itemsize * math.prod(shape) for _, dtype, shape in sizes)
    return Use(operator, rules, values, sizes, total, f"{operator.python}(): the result")


def _each(found: object) -> tuple[object, ...]:
    """The arrays of an input: of an array of tensors, all of them."""
    return found if type(found) is tuple else (found,)


def _all_hold(use: Use, rule: Rule, array: Array | None) -> bool:
    """Whether a rule on each element of a tensor holds for all of them at once, whatever the level is."""
    if array is None or rule.of_all is None:
        return array is None
    return all(
        np.all(rule.of_all(WIDE, use.rules, *index, WIDE.of(array[part][at])))
        for index, part in parts_of_rule(rule, array)
        for at in blocks.parts(array[part].shape, blocks.BLOCK)
    )


def any_overlap(arrays: Sequence[Array]) -> bool:
    """Whether two of some arrays share memory: of many, only those are compared that begin before others end."""
    near: list[tuple[int, Array]] = []
    for (first, end), array in sorted(
        ((byte_bounds(four_bits.memory(one)), one) for one in arrays), key=lambda found: found[0]
    ):
        near = [(other_end, other) for other_end, other in near if other_end > first]
        if any(may_overlap(array, other) for _, other in near):
            return True
        near.append((end, array))
    return False
