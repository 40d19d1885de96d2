"""Poolings of which the output sizes are rounded up: windows that reach past the padding."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, assert_same_values

import dmlcy as dml
from dmlcy._desc.classes import desc_class
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import OPERATORS

SLUG = "-whole-windows"
TAKEN = {name: one for name, one in OPERATORS.items() if any(rule.id.endswith(SLUG) for rule in one.rules)}
FAMILY = [one for one in TAKEN.values() if one.family == "window_reduce"]
POOLINGS = [pytest.param(one, id=one.python) for one in FAMILY]
X = np.random.default_rng(1).standard_normal((2, 3, 7, 7)).astype(np.float32)
SIZES = [
    (size, window, stride, before, after)
    for size, window, stride, before, after in itertools.product((1, 4, 7), (1, 2, 3), (2, 3, 9), (0, 1), (0, 1))
    if size + before + after > window and (size + before + after - window) % stride
]
"""Of the input, the window, the stride and the padding, alike along both axes; the stride does not divide."""


def attributes(op: Operator, window: int, stride: int, before: int, after: int) -> dict[str, Any]:
    named = {"window_size": window, "strides": stride, "start_padding": before, "end_padding": after}
    return named | ({"p": 2} if any(field.python == "p" for field in op.fields) else {})


def test_poolings_and_their_relatives_take_them() -> None:
    relatives = {"AVERAGE_POOLING_GRAD", "MAX_POOLING_GRAD", "QUANTIZED_LINEAR_AVERAGE_POOLING"}
    assert {*TAKEN} == {one.name for one in FAMILY} | relatives and len(POOLINGS) == 7


@pytest.mark.parametrize("op", POOLINGS)
def test_the_elements_are_those_of_more_end_padding(op: Operator) -> None:
    """Bit for bit: by ``output_sizes``, by ``out``, compiled, and of the reference."""
    function = getattr(dml, op.python)
    assert len(SIZES) > 40
    for size, window, stride, before, after in SIZES:
        x, given = np.ascontiguousarray(X[..., :size, :size]), attributes(op, window, stride, before, after)
        left = size + before + after - window
        sizes = (2, 3, *[left // stride + 2] * 2)
        whole = function(x, **{**given, "end_padding": after + stride - left % stride})
        assert whole.shape == sizes
        assert_same_bits(function(x, output_sizes=sizes, **given), whole)
        assert_same_bits(function(x, out=np.empty(sizes, np.float32), **given), whole)
        desc = desc_class(op.name)(
            input=dml.TensorDesc.from_array(x), output=dml.TensorDesc("FLOAT32", sizes), **_entries(given)
        )
        assert_same_bits(dml.compile(desc)(x), whole)
        assert [one.id.endswith(SLUG) for one in dml.check(desc, warnings=True)] == [True, True]
        np.testing.assert_allclose(dml.compile(desc, path="reference")(x), whole, rtol=1e-5, atol=1e-6)


def _entries(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value if name == "p" else (value, value) for name, value in given.items()}


@pytest.mark.parametrize("op", POOLINGS)
def test_other_sizes_are_refused(op: Operator) -> None:
    given = attributes(op, 2, 3, 0, 0)  # from 2 to 3 windows along 7 elements
    function = getattr(dml, op.python)
    assert function(X, **given).shape == (2, 3, 2, 2)
    for sizes in ((2, 3, 4, 3), (2, 3, 3, 1), (2, 4, 3, 3), (2, 3, 3), (3, 3), (2, 3, 3, 3, 1)):
        with pytest.raises(dml.InvalidDescError):
            function(X, output_sizes=sizes, **given)
        out = np.full(sizes, 7, np.float32)
        with pytest.raises(dml.DmlError):
            function(X, out=out, **given)
        assert (out == 7).all()
    with pytest.raises(dml.DmlError):
        function(X, output_sizes=(2, 3, 3, 3), out=np.empty((2, 3, 2, 2), np.float32), **given)
    for wrong in ("2", (2.0, 3, 3, 3), {2, 3}, (2, 3, -3, 3), 2**70):
        with pytest.raises((dml.DmlError, TypeError)):
            function(X, output_sizes=wrong, **given)


def test_pytorch_pools_like_that_with_ceil_mode() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.from_numpy(X)
    for window, stride in ((2, 2), (3, 2), (2, 3), (3, 3)):
        ours: dict[str, Any] = {"window_size": window, "strides": stride}
        highest = torch.nn.functional.max_pool2d(x, window, stride, ceil_mode=True).numpy()
        mean = torch.nn.functional.avg_pool2d(x, window, stride, ceil_mode=True, count_include_pad=False).numpy()
        assert_same_values(dml.max_pooling(X, output_sizes=highest.shape, **ours), highest)
        np.testing.assert_allclose(dml.average_pooling(X, output_sizes=mean.shape, **ours), mean, rtol=1e-5, atol=1e-6)


def test_gradients_of_windows_past_the_padding() -> None:
    """The gradients are PyTorch's, for the mean of the elements that are no padding, and for the maximum."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.from_numpy(X).requires_grad_()
    functions: dict[str, Callable[[], Any]] = {
        "average_pooling_grad": lambda: torch.nn.functional.avg_pool2d(
            x, 2, 2, ceil_mode=True, count_include_pad=False
        ),
        "max_pooling_grad": lambda: torch.nn.functional.max_pool2d(x, 2, 2, ceil_mode=True),
    }
    for name, function in functions.items():
        result = function()
        gradient = np.random.default_rng(2).standard_normal(result.shape).astype(np.float32)
        (wanted,) = torch.autograd.grad(result, x, torch.from_numpy(gradient))
        given: dict[str, Any] = {"window_size": 2, "strides": 2}
        first = (X, gradient) if name == "max_pooling_grad" else (gradient,)
        more = {"output_sizes": (7, 7)} if name == "average_pooling_grad" else {}
        np.testing.assert_allclose(getattr(dml, name)(*first, **given, **more), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_indices_of_windows_past_the_padding() -> None:
    values, indices = dml.max_pooling1(X, window_size=2, strides=2, output_sizes=(2, 3, 4, 4), output_indices=True)
    assert_same_bits(X.reshape(-1)[indices], values)
