"""Numbers beyond the range of FLOAT32 before a fused activation: the accuracy promises nothing of these alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each_of

import dmlcy as dml
from dmlcy import specs, testing
from dmlcy._facts.tables import FAST, OPERATORS

TENTH = dml.desc.ActivationLinear(alpha=0.1, beta=0.0)
HUGE = 3e38


def row(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32).reshape(1, 1, 1, -1)


LINE = {"input": row(0, 1, 2, 9), "scale": row(HUGE), "bias": row(0)}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "BATCH_NORMALIZATION": (
        {"input": row(1, HUGE), "mean": row(0), "variance": row(1), "scale": row(3), "bias": row(0)},
        {"spatial": True, "epsilon": 0},
    ),
    "BATCH_NORMALIZATION_TRAINING": (LINE, {"epsilon": 1e-5}),
    "CONVOLUTION": ({"input": row(1, HUGE, HUGE), "filter": row(1, 1)}, {}),
    "ELEMENT_WISE_ADD1": ({"a": row(1, HUGE), "b": row(1, HUGE)}, {}),
    "GEMM": ({"a": row(1, 2), "b": row(1, HUGE, 1, HUGE).reshape(1, 1, 2, 2)}, {}),
    "MEAN_VARIANCE_NORMALIZATION": (LINE, {"cross_channel": False, "normalize_variance": True, "epsilon": 1e-5}),
    "MEAN_VARIANCE_NORMALIZATION1": (LINE, {"axes": (3,), "normalize_variance": True, "epsilon": 1e-5}),
    "MEAN_VARIANCE_NORMALIZATION2": (LINE, {"axes": (3,), "use_mean": True, "use_variance": True, "epsilon": 1e-5}),
}
"""Inputs of which the last number before the activation is beyond the range, and attributes."""


def test_each_operator_with_a_fused_activation_has_a_case() -> None:
    assert {*CASES} == {name for name, one in FAST.items() if any(f.python == "fused_activation" for f in one.fields)}


@each_of("name", CASES)
def test_a_number_beyond_the_range_before_an_activation(name: str) -> None:
    arrays, attributes = CASES[name]
    operator = OPERATORS[name]
    tensors = {key: dml.TensorDesc.from_array(one) for key, one in arrays.items()}
    desc = getattr(dml.desc, operator.desc)(**tensors, **attributes, fused_activation=TENTH)
    inputs = [arrays.get(field.python) for field in operator.fields if field.kind == "input"]
    (result, exact) = (dml.compile(desc, path=path)(*inputs) for path in (None, "reference"))
    first, right = (one[0] if isinstance(one, tuple) else one for one in (result, exact))
    assert np.isinf(first[..., -1]).all() and np.isfinite(right).all() and np.isfinite(first[..., :-1]).all()
    testing.assert_result(desc, arrays, result, bound="own")
    first[..., 0] += np.abs(first).min() + np.float32(1)
    with pytest.raises(AssertionError, match=f"1 of {first.size} elements are wrong"):
        testing.assert_result(desc, arrays, result, bound="own")


@each_of("name", CASES)
def test_the_specs_say_so(name: str) -> None:
    assert "range-before-activation" in {one["id"] for one in specs.operator(name)["interpretation"]}
