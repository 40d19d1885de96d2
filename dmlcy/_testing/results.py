"""Whether a result is what an operator defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np

from dmlcy._desc.memory import dtype_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import plain_dtype
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._judge.differences import measure
from dmlcy._judge.passes import judged
from dmlcy._reference import expected
from dmlcy._reference.expected import as_array, outputs_of, without_ones
from dmlcy._runtime.four_bits import Packed
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array


def assert_result(
    desc: OperatorDesc,
    inputs: Mapping[str, Any],
    result: Array | Packed | tuple[Array | Packed, ...],
    *,
    bound: Literal["device", "own"] = "device",
) -> None:
    """The result of a valid desc for these inputs is right: a correct device may give it.

    The result is compared with the reference, not with results of the operators of this package. Elements whose value
    no document promises are not judged: division of integers by 0, sums that may overflow.

    Parameters
    ----------
    desc
        A valid desc.
    inputs
        Arrays, or packed tensors, by the Python names of the inputs.
    result
        The result of the code that is tested; of several outputs a tuple.
    bound
        ``"device"``: the result may differ by what a correct device may differ by (sums in any order in FLOAT32,
        approximated functions). ``"own"``: the result must be exact, or within the accuracy that the page of
        the operator states, which dmlcy promises of itself. The comparison uses exact arithmetic, which is slow, and
        elements whose value no document promises are judged too.

    Raises
    ------
    AssertionError
        The result has another data type or other sizes, or elements are wrong. The message says how many, and shows
        the worst.
    ValueError
        There is no such bound; an input is missing, is none of the desc, or differs from its desc.

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> from dmlcy import testing
    >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    >>> desc = dml.desc.AveragePooling(input=dml.TensorDesc.from_array(x), window_size=3)
    >>> testing.assert_result(desc, {"input": x}, np.full((1, 1, 1, 1), 4, np.float32))
    """
    if bound not in _CHECKS:
        raise ValueError(f"bound must be {' or '.join(map(repr, _CHECKS))}, not {bound!r}")
    _look_at_inputs(desc, inputs)
    names = outputs_of(desc)
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(names):
        given = f"{len(results)} array{'' if len(results) == 1 else 's'}"
        raise AssertionError(f"the result has {given}, and must have {len(names)}: {', '.join(names)}")
    for name, one in zip(names, results, strict=True):
        _CHECKS[bound](desc, inputs, name, as_array(one))


def _look_at_inputs(desc: OperatorDesc, inputs: Mapping[str, object]) -> None:
    """ValueError if these are not arrays for the inputs of the desc."""
    name = desc.operator.python
    known = {field.python: getattr(desc, field.python) for field in desc.operator.fields if field.kind == "input"}
    for given in inputs:
        if given not in known:
            raise ValueError(f"{name} has no input {given!r}: its inputs are {', '.join(known)}")
    for field, tensors in known.items():
        value = inputs.get(field)
        if (tensors is None) != (value is None):
            raise ValueError(f"the input {field} of {name} is {'missing' if value is None else 'not in the desc'}")
        wanted: tuple[TensorDesc | None, ...] = tensors if isinstance(tensors, tuple) else (tensors,)
        arrays = value if isinstance(tensors, tuple) else (value,)
        if not isinstance(arrays, tuple | list) or len(arrays) != len(wanted):
            raise ValueError(f"the input {field} of {name} must be a tuple of {len(wanted)} arrays")
        for tensor, one in zip(wanted, arrays, strict=True):
            if tensor is not None:
                _look_at_input(f"the input {field} of {name}", tensor, as_array(one))


def _look_at_input(what: str, tensor: TensorDesc, array: Array) -> None:
    if not isinstance(tensor, TensorDesc):
        raise ValueError(f"{what} has no TensorDesc in the desc: see what dmlcy.check says of it")
    sizes, dtype = tuple(tensor.sizes), plain_dtype(dtype_of(tensor))
    if array.dtype != dtype or without_ones(array.shape) != without_ones(sizes):
        raise ValueError(f"{what} is {array.dtype} {array.shape}, and must be {dtype} {sizes}, as its desc says")


def _assert_device(desc: OperatorDesc, inputs: Mapping[str, Array], name: str, result: Array) -> None:
    values, passes = judged(desc, inputs, name)
    if result.dtype != values.dtype or without_ones(result.shape) != without_ones(values.shape):
        raise AssertionError(f"the result is {result.dtype} {result.shape}, and must be {values.dtype} {values.shape}")
    found = measure(values, np.ascontiguousarray(result).reshape(values.shape), passes)
    if found.verdict != "failed":
        return
    worst = found.worst
    assert worst is not None
    at = indices_of(worst.at, values.shape)
    raise AssertionError(
        f"{desc.operator.python}: {found.failing.count} of {found.elements} elements are wrong, the worst at {at}: "
        f"{worst.actual.item()!r} in place of {worst.expected.item()!r}. It is {worst.error:.3g} off, and "
        f"{worst.allowed:.3g} pass. {desc!r}"
    )


def _assert_own(desc: OperatorDesc, inputs: Mapping[str, Array], name: str, result: Array) -> None:
    found = expected(desc, inputs, name)
    errors = found.errors(result)
    wrong = errors > found.ulp
    if not wrong.any():
        return
    at = indices_of(int(np.nanargmax(errors)), errors.shape)
    off = f" It is {errors[at]:.3g} ulp off, and {found.ulp:g} pass." if found.units is not None else ""
    raise AssertionError(
        f"{desc.operator.python}: {int(wrong.sum())} of {errors.size} elements are wrong, the worst at {at}: "
        f"{float(result.reshape(errors.shape)[at])!r} in place of {float(found.values[at])!r}.{off} {desc!r}"
    )


_CHECKS: Final = {"device": _assert_device, "own": _assert_own}
