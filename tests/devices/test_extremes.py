"""Correct devices pass beside numbers that are as small, or as large, as numbers can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dmlcy as dml
from devices.arithmetic import FULL, SERIAL, TRUNCATING, can_truncate
from devices.cases import Case
from devices.judging import judged
from devices.uses import EQUAL, uses
from dmlcy._judge.differences import measure
from dmlcy._judge.passes import judged as expected
from dmlcy._reference.expected import outputs_of

SMALLEST = float(np.finfo(np.float32).smallest_normal)


def column(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32).reshape(1, 1, 1, -1)


def tensor(array: Any) -> dml.TensorDesc:
    return dml.TensorDesc.from_array(array)


def unary(name: str, *numbers: float, **attributes: Any) -> tuple[Any, dict[str, Any]]:
    x = column(*numbers)
    return getattr(dml.desc, name)(input=tensor(x), **attributes), {"input": x}


def statistics(*numbers: float) -> tuple[Any, dict[str, Any]]:
    arrays = {"input": column(*numbers), "scale": column(1), "bias": column(0)}
    tensors: dict[str, Any] = {name: tensor(x) for name, x in arrays.items()}
    return dml.desc.BatchNormalizationTraining(**tensors, epsilon=0.1), arrays


def product(alpha: float, a: Any, b: Any) -> tuple[Any, dict[str, Any]]:
    arrays = {"a": column(*a), "b": column(*b).reshape(1, 1, -1, 1)}
    tensors: dict[str, Any] = {name: tensor(x) for name, x in arrays.items()}
    return dml.desc.Gemm(**tensors, alpha=alpha), arrays


def running(*numbers: float) -> tuple[Any, dict[str, Any]]:
    x = column(*numbers)
    return dml.desc.CumulativeProduct(input=tensor(x), axis=3), {"input": x}


def multiplied(*numbers: float) -> tuple[Any, dict[str, Any]]:
    x = column(*numbers)
    one = dml.TensorDesc("FLOAT32", (1, 1, 1, 1))
    return dml.desc.Reduce(input=tensor(x), output=one, function="MULTIPLY", axes=(3,)), {"input": x}


CASES = {
    "parts of a product that overflow": multiplied(1e30, 1e30, 1e-30, 1e-30),
    "parts of a product that become 0": multiplied(1e-30, 1e-30, 1e30, 1e30),
    "products that become 0": running(1e-30, 1e-30, 1e30, 1e30),
    "infinite and beyond the range": product(1, (np.inf, 2e19), (1, -2e19)),
    "terms that become 0": product(1e20, [1e-20] * 9, [1e-20] * 9),
    "the mean of what overflows": statistics(*[6e37] * 7, *[-6e37] * 7),
    "results that become 0": unary("ActivationLeakyRelu", *[-1.5 * SMALLEST] * 9, alpha=0.5),
    "inverses that become 0": unary("ElementWiseRecip", *[2e38] * 9),
    "the square of a number": unary("ElementWiseAsinh", 1e20, -3e38, 4.0),
    "a sigmoid of almost nothing": unary("ActivationSigmoid", -1e5, -6e15),
    "the exponential of a large number": unary("ElementWiseExp", 1e5, 700.0, 89.0),
    "an intermediate result that overflows": unary("ActivationParametricSoftplus", 8, 7, alpha=1e-38, beta=3e38),
}


@pytest.mark.parametrize("case", CASES)
def test_correct_devices_pass(case: str) -> None:
    desc, arrays = CASES[case]
    for name in outputs_of(desc):
        passes = expected(desc, arrays, name)
        for device, one in FULL.items():
            if one.truncates and not can_truncate():
                continue
            found = judged(passes, one.run(desc, arrays)[name])
            assert not found.failed, f"{device}, {name}: {found}"
            assert found.verdict != "suspect" or one.truncates, f"{device}, {name}: {found}"


def test_a_factor_and_a_summand_of_each_channel_may_be_made_first() -> None:
    x = (1000 + np.random.default_rng(1).normal(size=(1, 1, 1, 64))).astype(np.float32)
    mean, one, bias = column(1000), column(1), column(0.25)
    arrays = {"input": x, "mean": mean, "variance": one, "scale": one, "bias": bias}
    tensors: dict[str, Any] = {name: tensor(array) for name, array in arrays.items()}
    desc = dml.desc.BatchNormalization(**tensors, spatial=True, epsilon=0.5)
    factor = one / np.sqrt(one + np.float32(0.5))
    folded = x * factor + (bias - mean * factor)
    passes = expected(desc, arrays, "output")
    assert judged(passes, folded).verdict == "passed"
    assert judged(passes, folded + np.float32(0.01)).failed


def test_a_variance_of_halves_may_be_subnormal() -> None:
    x = np.array([1.1, -1.3, 3.7, 0.9], np.float16).reshape(1, 1, 1, -1) * np.float16(2**-11)
    desc = dml.desc.MeanVarianceNormalization1(
        input=tensor(x), axes=(3,), normalize_variance=True, epsilon=0.0, output=tensor(x)
    )
    wide = x.astype(np.float64)
    variance = wide.var()
    stored = np.floor(variance * 2**24) / 2**24
    assert abs(np.sqrt(variance / stored) - 1) > 2**-10
    found = ((wide - wide.mean()) / np.sqrt(stored)).astype(np.float16)
    assert judged(expected(desc, {"input": x}, "output"), found).verdict == "passed"


def test_states_may_have_nothing_in_common() -> None:
    """With these weights an error of one unit grows until it is as large as the state."""
    use = next(one for one in uses() if one.operator.name == "GRU" and one.dtype == "FLOAT32")
    case = Case(use, EQUAL, 2)
    for device in (SERIAL, TRUNCATING) if can_truncate() else (SERIAL,):
        for name, found in case.judged(device.run(use.desc, case.arrays)).items():
            assert not found.failed, f"{name}: {found}"


def test_nan_of_a_formula_is_not_judged() -> None:
    """Formulas of devices take 0 / 0, or the logarithm of what cancels to 0: there, and only there."""
    y, x = column(np.inf, 0, np.inf, 0, np.nan), column(-np.inf, 0, 1, -1, 1)
    angle = dml.desc.ElementWiseAtanYx(a=tensor(y), b=tensor(x))
    for (desc, arrays), judged_here in (
        ((angle, {"a": y, "b": x}), [False, False, True, True, True]),
        (unary("ElementWiseAcosh", -1e30, -1e5, -3, 0.5, 2), [False, False, True, True, True]),
        (unary("ElementWiseConstantPow", -np.inf, -2, 2, exponent=-0.5), [False, True, True]),
    ):
        values, passes = expected(desc, arrays, "output")
        other = np.where(np.isnan(values), np.float32(1), np.float32(np.nan))
        found = measure(values, other, passes)
        assert found.unjudged == judged_here.count(False) and found.failing.count == judged_here.count(True)
