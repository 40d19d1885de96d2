"""The verdict of the compiled checks beside that of the checks in Python: of a desc, of a call, of a compiled call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from example_descs import each_part

import dmlcy as dml
from dmlcy._check.checker import Check
from dmlcy._desc.check import refuse_call
from dmlcy._desc.memory import is_packed
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import has_four_bits
from dmlcy._facts.levels import level_index
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_array import by_path
from dmlcy._reference.call import check_of, faces_of, refuse_arguments
from dmlcy._runtime.compiled import TableOperator
from dmlcy._runtime.tensor import to_array

Verdict = tuple[str, list[str], list[str]] | None
"""The class of the error, the ids of its violations in their order, and their texts; None where nothing is wrong."""

UNSEEN = (
    "type", "dimension_count", "strides", "flags", "total_tensor_size_in_bytes", "guaranteed_base_offset_alignment",
)  # fmt: skip
"""Members of tensor descs at which the compiled checks do not look."""
NOTHING = "a second look finds nothing wrong"


def verdict(function: Callable[[], object]) -> Verdict:
    """The error that a function raises. An internal error is a verdict that no check gives."""
    try:
        function()
    except dml.DmlError as error:
        return said(type(error).__name__, error.violations)
    except RuntimeError as error:
        if "internal: " not in str(error):
            raise
        return type(error).__name__, [], [str(error)]
    return None


def said(error: str, violations: Sequence[dml.Violation]) -> Verdict:
    """The verdict of these violations."""
    return error, [one.id for one in violations], [one.text for one in violations]


def explained(function: Callable[[], object]) -> Verdict:
    """The verdict of a function that explains a refusal: ``None`` where it finds nothing wrong."""
    found = verdict(function)
    return None if found is not None and NOTHING in found[2][0] else found


# A desc


def of_desc(desc: OperatorDesc, level: Any) -> tuple[Verdict, Verdict]:
    """The compiled checks of a desc, and those in Python; ``compile`` where the compiled ones cannot see the fault."""
    found = dml.check(desc, level)
    if is_seen(desc, found):
        compiled = verdict(lambda: TableOperator(desc, level_index(level)))
    else:
        compiled = verdict(lambda: dml.compile(desc, level)) if found else None
    return compiled, said(found[0].error, found) if found else None


def is_seen(desc: OperatorDesc, found: Sequence[dml.Violation]) -> bool:
    """Whether the compiled checks look at all that is wrong with a desc.

    The compiled checks do not look at facts that no call states, because ``compile`` has seen them. Examples are
    tensors without a data type or sizes, their other members, and ones in front. The same is true of unknown members,
    and of fields whose values follow from others.
    """
    fields = desc.operator.fields
    if not found and any(has_four_bits(one.dtype) and not is_packed(one) for one in tensors_of(desc)):
        return False  # it is valid, and does not run
    follow = {field.python for field in fields if field.value is not None}
    after_ones = {field.python for field in fields if field.kind == "output" and field.leading_ones == "desc"}
    unseen = {rule.id for rule in desc.operator.rules if rule.about in after_ones}
    if any(one.member in UNSEEN or one.field in follow or one.id in unseen for one in found):
        return False
    unknown = any(one.id.endswith("-unknown") for one in found)
    return not unknown and all(map(are_tensors, tensors_of(desc)))


def tensors_of(desc: OperatorDesc) -> list[Any]:
    """The tensors that a desc has or lacks, those of an array one by one."""
    found: list[Any] = []
    for field in desc.operator.fields:
        value = getattr(desc, field.python)
        if field.kind != "attribute" and not (field.optional and value is None):
            several = type_of(field.type).tensors and type(value) is tuple
            found += value if several else (value,)
    return found


def are_tensors(tensor: Any) -> bool:
    """Whether a tensor has a data type and sizes that are integers."""
    return (
        type(tensor) is dml.TensorDesc
        and type(tensor.dtype) is dml.TensorDataType
        and type(tensor.sizes) is tuple
        and all(type(size) is int and 0 <= size < 2**63 for size in tensor.sizes)
    )


# A call


def of_call(name: str, arguments: Mapping[str, Any], most: int = 1 << 20) -> tuple[Verdict, Verdict]:
    """A call at the level in force, and what the checks in Python say of it.

    A valid call with more than ``most`` elements in its results is not made, because it would take long.
    """
    function = getattr(dml, faces_of(name).operator.python)
    bound = inspect.signature(function).bind(**arguments)
    bound.apply_defaults()
    inferred = infer(name, bound.arguments)
    found = call_in_python(name, bound.arguments, inferred)
    if found is None and inferred is not None and elements(inferred) > most:
        return None, None
    return verdict(lambda: function(**arguments)), found


def call_in_python(name: str, whole: Mapping[str, Any], inferred: Check | None) -> Verdict:
    """The verdict of the checks in Python on a call at the level in force."""
    found = explained(lambda: refuse_arguments(name, whole, level_index(dml.current_level()), 0))
    # Where a call may choose the data type of an output, it is valid if it is so with one of them.
    chooses = whole["out"] is None and faces_of(name).open is not None
    return None if chooses and inferred is not None and not inferred.violations else found


def infer(name: str, whole: Mapping[str, Any]) -> Check | None:
    """The pass over a call without ``out``; None where an input is no array."""
    faces = faces_of(name)
    arrays = {one: each_part(whole[one], to_array) for one, _ in faces.inputs if whole[one] is not None}
    if any(part is None for array in arrays.values() for part in (array if type(array) is tuple else (array,))):
        return None
    descs = {
        one: each_part(array, lambda part: dml.TensorDesc(part.dtype, part.shape)) for one, array in arrays.items()
    }
    check = check_of(faces, descs, whole, level_index(dml.current_level()))
    if not check.violations:
        check.data(arrays)
    return check


def elements(check: Check) -> int:
    """Of the results of a valid call."""
    return sum(tensor.element_count for _, tensor in by_path(check.operator.fields, "output", check.resolved))


# A call of a compiled operator


def of_compiled(operator: Any, arguments: Mapping[str, Any]) -> tuple[Verdict, Verdict]:
    """A call of a compiled operator, and what the checks in Python say of it."""
    inputs = {name: value for name, value in arguments.items() if name != "out"}
    whole = {**inputs, "out": arguments.get("out")}
    return verdict(lambda: operator(**arguments)), explained(lambda: refuse_call(operator.desc, whole))
