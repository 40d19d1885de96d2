"""How models run: by several threads, with weights that are there once."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import dmlcy
import dmlcy.directml as dml

FLOAT32, OWNED = dml.TensorDataType.FLOAT32, dml.TensorFlags.OWNED_BY_DML


def layer(data_type: Any = FLOAT32) -> tuple[Any, Sequence[Any], Any]:
    """A model, its inputs and its output: a product with weights."""
    builder = dml.GraphBuilder(dml.Device())
    x = dml.input_tensor(builder, 0, dml.TensorDesc(data_type, [1, 1, 40, 210]))
    w = dml.input_tensor(builder, 1, dml.TensorDesc(data_type, OWNED, [1, 1, 210, 190]))
    y = dml.activation_relu(dml.gemm(x, w))
    return builder.build(dml.ExecutionFlags.NONE, [y]), (x, w), y


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Each call computes alone: threads of threads would wait for one another on a machine with much to do."""
    before = dmlcy.get_num_threads()
    dmlcy.set_num_threads(1)
    yield
    dmlcy.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_several_threads_compute_a_model() -> None:
    model, (x, w), y = layer()
    rng, device = np.random.default_rng(1), dml.Device()
    weights = rng.standard_normal((210, 190)).astype(np.float32)
    arrays = [rng.standard_normal((40, 210)).astype(np.float32) for _ in range(12)]
    bound = dml.Binding(w, weights)
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda one: device.compute(model, [dml.Binding(x, one), bound], [y])[0], arrays)]
    for one, result in zip(arrays, found, strict=True):
        np.testing.assert_allclose(result[0, 0], np.maximum(one @ weights, 0), rtol=1e-4, atol=1e-4)


def test_the_weights_of_a_binding_are_free_once_it_releases_them() -> None:
    device = dml.Device()
    for data_type, dtype in ((FLOAT32, np.float32), (dml.TensorDataType.FLOAT16, np.float16)):
        model, (x, w), y = layer(data_type)
        weights = np.linspace(-1, 1, 39900).reshape(210, 190).astype(dtype)
        one = dml.Binding(w, weights)
        held = weakref.ref(one._data)
        given = dml.Binding(x, np.ones((40, 210)))
        device.initialize(model, [given, one])
        one.release_data()
        gc.collect()
        assert held() is None
        (found,) = device.dispatch(model, [given, one], [y])
        expected = np.maximum(np.ones(210) @ weights.astype(np.float64), 0)
        np.testing.assert_allclose(found[0, 0, 0], expected, rtol=1e-3, atol=1e-5)


def test_an_error_names_the_function_that_was_called() -> None:
    device = dml.Device()
    model, (x, w), y = layer(FLOAT32)
    bound = [dml.Binding(x, np.ones((40, 210))), dml.Binding(w, np.ones((210, 190)))]
    with pytest.raises(ValueError, match=r"^dispatch\(\): "):
        device.dispatch(model, bound, [y])
    device.compute(model, bound, [y])
    for function in ("compute", "dispatch"):
        with pytest.raises(ValueError, match=rf"^{function}\(\): "):
            getattr(device, function)(model, bound[:1], [y])
        with pytest.raises(ValueError, match=rf"^{function}\(\): "):
            getattr(device, function)(model, bound, [x])
