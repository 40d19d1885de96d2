"""Whether a result is what an operator defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._reference import expected
from dmlcy._reference.expected import outputs_of
from dmlcy._runtime.places import indices_of

Array = npt.NDArray[Any]


def assert_result(desc: OperatorDesc, inputs: Mapping[str, Array], result: Array | tuple[Array, ...]) -> None:
    """The result of a valid desc for these inputs is right: exact, or within the accuracy that the spec states.

    It is compared with the exact definition, not with what the operators of this package give. Where the spec promises
    nothing, because a sum is beyond its data type, an element passes.

    Parameters
    ----------
    desc
        A valid desc.
    inputs
        Arrays by the Python names of the inputs.
    result
        What the code that is tested gave: of several outputs a tuple.

    Raises
    ------
    AssertionError
        It has another data type or other sizes, or elements are wrong; it says how many, and shows the worst.

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> from dmlcy import testing
    >>> x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    >>> desc = dml.desc.AveragePooling(input=dml.TensorDesc.from_array(x), window_size=3)
    >>> testing.assert_result(desc, {"input": x}, np.full((1, 1, 1, 1), 4, np.float32))
    """
    names = outputs_of(desc)
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(names):
        raise AssertionError(f"there are {len(results)} results, of {', '.join(names)}")
    for name, one in zip(names, results, strict=True):
        _assert_output(desc, inputs, name, np.asarray(one))


def _assert_output(desc: OperatorDesc, inputs: Mapping[str, Array], name: str, result: Array) -> None:
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
