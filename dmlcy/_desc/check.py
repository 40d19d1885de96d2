"""The mistakes in a desc or in a call: the compiled checks only say that there is one, this module names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast, overload

from dmlcy._check.checker import OUT, Check, wanted
from dmlcy._check.state import State, keyword, sizes_asked
from dmlcy._desc.whole import Whole
from dmlcy._errors import Violation, Violations, raise_violations
from dmlcy._facts import tables as _tables
from dmlcy._facts.levels import LEVEL, NEWEST, level_index
from dmlcy._facts.rows import MISSING, Field, Operator
from dmlcy._field_types import type_of
from dmlcy._field_types.operators import Descs
from dmlcy._field_types.tensor_array import given_tensors
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._runtime.tensor import to_array, to_shared_array
from dmlcy._types import Array
from dmlcy._words.values import show

if TYPE_CHECKING:
    from dmlcy._desc.operator_desc import OperatorDesc
    from dmlcy._generated.arguments import _FeatureLevel

Desc = TypeVar("Desc", bound="OperatorDesc | Whole[object, Violation]")
Found = TypeVar("Found", bound=Violation)


def violations(operator: Operator, values: Mapping[str, object], level: int, *, call: bool) -> list[Violation]:
    """Every violation of the values (by Python name; tensors as TensorDesc), at the level of that position."""
    return Check(operator, values, level, call=call).violations


@overload
def check(
    desc: OperatorDesc, feature_level: _FeatureLevel | None = None, *, warnings: bool = False
) -> list[Violation]: ...
@overload
def check(
    desc: Whole[object, Found], feature_level: _FeatureLevel | None = None, *, warnings: bool = False
) -> list[Found]: ...
def check(
    desc: OperatorDesc | Whole[object, Violation], feature_level: _FeatureLevel | None = None, *, warnings: bool = False
) -> Sequence[Violation]:
    """Every violation of a desc; empty when it is valid.

    Parameters
    ----------
    desc
        An object of a class of ``dmlcy.desc``, or a graph.
    feature_level
        Such as ``"3_0"``; None: the level in force.
    warnings
        Also warnings, after the errors: limits that were observed on devices, which the documentation does not have.
        ``.severity`` tells them apart. A desc that has warnings only is valid.

    Returns
    -------
    list of Violation, of dmlcy.graph.GraphViolation for a graph
        In the order of the desc; ``dmlcy explain ID`` says more of each ``.id``.

    Raises
    ------
    TypeError
        Raised because the given object is no desc.
    ValueError
        There is no such feature level.

    Examples
    --------
    >>> import dmlcy as dml
    >>> image = dml.TensorDesc("FLOAT32", (1, 1, 4, 4))
    >>> pooling = dml.desc.AveragePooling(input=image, window_size=5)
    >>> for violation in dml.check(pooling):
    ...     print(violation.id, violation.index)
    DML-AVERAGE_POOLING-window_size-fits 0
    DML-AVERAGE_POOLING-window_size-fits 1
    >>> dml.check(dml.desc.AveragePooling(input=image, window_size=2))
    []
    """
    level = LEVEL.get() if feature_level is None else level_index(feature_level)
    known = known_desc(desc, "check")
    return Violations([*known._violations(level), *(known._warnings(level) if warnings else ())])


def known_desc(desc: Desc, function: str) -> Desc:
    """The desc itself; TypeError for what is none."""
    from dmlcy._desc.operator_desc import OperatorDesc

    if isinstance(desc, OperatorDesc | Whole):
        return desc
    hint = " Read JSON with dmlcy.desc.OperatorDesc.from_dict(...)." if type(desc) is dict else ""
    hint = " A graph is what its method build(...) gives." if hasattr(type(desc), "build") else hint
    raise TypeError(f"{function}() takes an object of a class of dmlcy.desc, or a graph, not {show(desc)}.{hint}")


def refuse(name: str, arguments: Mapping[str, object], level: int, first: int = 0) -> NoReturn:
    """Raises what is wrong with the arguments of a call, ``out`` among them, when the compiled checks have said no.

    ``first`` is the first index at which a rule on the values of a tensor was found broken.
    """
    operator = _tables.OPERATORS[name]
    outputs = [field for field in operator.fields if field.kind == "output"]
    asked = {field.python: arguments[keyword(field)] for field in outputs if keyword(field) in arguments}
    names = [field.python for field in outputs if not field.optional or wanted(asked[field.python])]
    given, labels = _given(operator, arguments, names)
    arrays = _arrays(operator, given, labels, names)
    values: dict[str, object] = {}
    for field in (*operator.fields, *operator.chosen):
        value = given.get(field.python, MISSING)
        if field.value is not None or value is MISSING:
            continue
        if field.kind != "attribute" and type_of(field.type).tensors:
            parts = [_described(path, one, arrays) for path, one in _entries(field, value)]
            values[field.python] = value if given_tensors(value) is None else tuple(parts)
        else:
            values[field.python] = _described(field.python, value, arrays)
    sizes = sizes_asked(operator, arguments)
    found = Check(operator, values, level, call=True, asked=asked, asked_sizes=sizes, labels=labels)
    others = {python: value for python, value in values.items() if python not in {field.python for field in outputs}}
    _raise(found, arrays, first, lambda: Check(operator, others, level, call=True, asked=asked, asked_sizes=sizes))


def held_desc(operator: str, python: str, value: object, level: int) -> OperatorDesc | None:
    """The desc that a field of an operator holds; None for a value that the field cannot have at the level."""
    row = _tables.OPERATORS[operator]
    state = State(
        row, {}, level, call=True, asked={}, asked_sizes={}, labels={}, literal=False, limited=True, path=None
    )
    field = row.field(python)
    found = cast(Descs, type_of(field.type)).take(field, value, state)
    return None if state.violations else cast("OperatorDesc", found)


def _compare_outs(found: Check, inferred: Check, arrays: Mapping[str, Array]) -> None:
    """Arrays given for outputs have the sizes that the call infers, also where a desc may add ones in front."""
    for path, array in arrays.items():
        field = found.operator.field(path)
        tensor = inferred.resolved.get(field.python) if field.kind == "output" else None
        if type(tensor) is TensorDesc and array.shape != tuple(tensor.sizes):
            sizes = {"actual": array.shape, "expected": tuple(tensor.sizes)}
            formula = {"formula": "the sizes that the call infers"}
            found.add(field, "sizes", member="sizes", values=sizes, words=formula, fix=tuple(tensor.sizes))


def refuse_desc(desc: OperatorDesc, level: int) -> NoReturn:
    """Raises what is wrong with a desc, when the compiled checks have said no."""
    found = desc._violations(level)
    if not found:
        raise RuntimeError(f"internal: {desc!r} was refused for no reason that is known")
    raise_violations(found, "compile")


def refuse_call(desc: OperatorDesc, arguments: Mapping[str, object], first: int = 0) -> NoReturn:
    """Raises what is wrong with the tensors given to a compiled operator."""
    found = Check(desc.operator, desc._values(), max(desc._valid_levels, default=NEWEST), call=False)
    there = [field for field in desc.operator.fields if found.resolved[field.python] is not None]
    names = [field.python for field in there if field.kind == "output"]
    given, found.labels = _given(desc.operator, arguments, names)
    arrays = _arrays(desc.operator, given, found.labels, names)
    for field in there:
        if field.kind != "attribute":
            value = given.get(field.python)
            found.bind(field, value, {path: arrays.get(path) for path, _ in _entries(field, value)})
    _raise(found, arrays, first)


def refuse_input(desc: OperatorDesc, name: str, value: object) -> NoReturn:
    """Raises what is wrong with one tensor that is given to a compiled operator before its calls."""
    found = Check(desc.operator, desc._values(), max(desc._valid_levels, default=NEWEST), call=False)
    arrays = _arrays(desc.operator, {name: value}, {}, [])
    found.bind(desc.operator.field(name), value, arrays)
    _raise(found, arrays, 0)


def check_inputs(desc: OperatorDesc, arrays: Mapping[str, Array]) -> list[Violation]:
    """Raises what is wrong with a desc, or with arrays for its inputs, without running the operator; the warnings."""
    level = LEVEL.get()
    refused = desc._violations(level)
    if refused:
        raise_violations(refused, desc.operator.python)
    found = Check(desc.operator, desc._values(), level, call=False)
    arrays = {name: array for name, given in arrays.items() if (array := to_array(given)) is not None}
    for field in desc.operator.fields:
        if field.python in arrays:
            found.bind(field, arrays[field.python], {field.python: arrays[field.python]})
    found.data(arrays)
    if found.violations:
        raise_violations(found.violations, desc.operator.python)
    return found.warnings


def _given(
    operator: Operator, arguments: Mapping[str, object], names: Sequence[str]
) -> tuple[dict[str, object], dict[str, str]]:
    """The values that a call gives for each field, and the names in the call of the outputs ``names``."""
    fields = [field.python for field in (*operator.fields, *operator.chosen) if field.kind != "output"]
    given, out = {name: arguments[name] for name in fields if name in arguments}, arguments.get("out")
    if out is None or not names:  # without outputs, a rule says that there must be one
        return given, {}
    if len(names) > 1 and type(out) is tuple and len(out) == len(names):
        labels = {name: f"{OUT}[{place}]" for place, name in enumerate(names)}
        return given | dict(zip(names, out, strict=True)), labels
    paths = [path for path, _ in _entries(operator.field(names[0]), out)]
    entries = {path: path.replace(names[0], OUT, 1) for path in paths} if len(names) == 1 else {}
    return given | {names[0]: out}, {**entries, names[0]: OUT}


def _arrays(
    operator: Operator, given: Mapping[str, object], labels: Mapping[str, str], names: Sequence[str]
) -> dict[str, Array]:
    """The tensors that are given as arrays, by the Python name of the field."""
    arrays = {}
    for field in operator.fields:
        one_for_several = len(names) > 1 and labels.get(field.python) == OUT
        if field.kind == "attribute" or one_for_several:
            continue
        for path, value in _entries(field, given.get(field.python)):
            try:
                array = to_shared_array(value) if field.kind == "output" else to_array(value)
            except MemoryError:
                raise
            except Exception:
                array = None
            if array is not None:
                arrays[path] = array
    return arrays


def _entries(field: Field, value: object) -> list[tuple[str, object]]:
    """The values that are given for a tensor; those of an array of tensors by their paths."""
    if field.kind == "attribute" or value is None:
        return []
    if not type_of(field.type).tensors:
        return [(field.python, value)]
    return [(f"{field.python}[{place}]", one) for place, one in enumerate(given_tensors(value) or ())]


def _described(path: str, value: object, arrays: Mapping[str, Array]) -> object:
    """The value of a field of a call; a desc in place of an array, and the class of a desc, which is no array."""
    if path in arrays:
        return TensorDesc(arrays[path].dtype, arrays[path].shape)
    return type(value) if type(value) is TensorDesc else value


def _raise(found: Check, arrays: Mapping[str, Array], first: int, infer: Callable[[], Check] | None = None) -> NoReturn:
    """Looks at the memory and at the values too, and raises. ``infer``: the call without the arrays for its outputs."""
    inputs = {path: array for path, array in arrays.items() if found.operator.field(path).kind == "input"}
    others = dict(inputs)
    for path, array in arrays.items():
        if path not in inputs:
            found.memory(replace(found.operator.field(path), python=path), array, others)
            others[path] = array
    found.data(inputs, first)
    name = found.operator.python
    if not found.violations and infer is not None:
        _compare_outs(found, infer(), arrays)
    if not found.violations:
        raise RuntimeError(
            f"internal: {name}() was refused and a second look finds nothing wrong: "
            "an argument changed in between, or the checks disagree"
        )
    raise_violations(found.violations, name, found.cause)
