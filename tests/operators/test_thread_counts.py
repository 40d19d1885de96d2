"""The same bits with any number of threads, on tensors that are worth several of them, and from several callers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import reference
from checks import PYTHON_NAMES, assert_same_bits, compiled
from strategies import MODES, ORDERS, Array, any_bits, small_integers

import dmlcy as dml


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    before = dml.get_num_threads()
    yield
    dml.set_num_threads(before)


def magnitudes(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    """Floats whose sum depends on the order of the additions."""
    rng = np.random.default_rng(seed)
    x: Array = (rng.standard_normal(shape) * 2.0 ** rng.integers(-10, 10, shape)).astype(dtype)
    return x


Case = Callable[[], tuple[str, list[Array], dict[str, Any]]]
"""Makes the name of an operator, its inputs and its attributes."""


def padding(dtype: str, shape: tuple[int, ...], mode: str) -> Case:
    return lambda: (
        "padding1",
        [any_bits(1, shape, dtype)],
        {"start_padding": 3, "end_padding": 5, "padding_mode": mode},
    )


def pooling(dtype: str, shape: tuple[int, ...], **attributes: Any) -> Case:
    return lambda: ("average_pooling", [magnitudes(2, shape, dtype)], attributes)


def unfold(dtype: str, shape: tuple[int, ...], **attributes: Any) -> Case:
    return lambda: ("unfold", [any_bits(3, shape, dtype)], attributes)


def fold(dtype: str, shape: tuple[int, ...], **attributes: Any) -> Case:
    return lambda: ("fold", [magnitudes(7, shape, dtype)], attributes)


def rois(dtype: str, shape: tuple[int, ...]) -> Case:
    def made() -> tuple[str, list[Array], dict[str, Any]]:
        rng = np.random.default_rng(4)
        corners = np.sort(rng.uniform(-10, 120, (50, 2, 2)), 1).reshape(50, 4)
        roi = np.column_stack([rng.integers(0, shape[0], 50), corners]).astype(dtype)
        inputs = [small_integers(5, shape, dtype), roi[None, None]]
        return "roi_pooling", inputs, {"spatial_scale": 0.5, "pooled_size": (7, 6)}

    return made


def blocks(dtype: str, order: str) -> Case:
    attributes = {"block_size": 4, "order": order}
    return lambda: ("depth_to_space1", [any_bits(6, (2, 64, 64, 65), dtype)], attributes)


CASES = {
    **{f"padding {mode}": padding("f4", (3, 200, 700), mode) for mode in MODES},
    "padding a row": padding("i8", (600_000,), "WRAP"),
    "padding cells": padding("u1", (500, 100, 100), "EDGE"),
    **{f"depth to space {order} {dtype}": blocks(dtype, order) for order in ORDERS for dtype in ("u1", "f4", "f8")},
    "unfold": unfold("f4", (2, 8, 60, 61), window_sizes=3, start_padding=1, end_padding=1),
    "unfold an axis": unfold("u2", (1, 2, 100_000), window_sizes=5, strides=2, dilations=3),
    "unfold volumes": unfold("f8", (1, 2, 20, 21, 22), window_sizes=3, dilations=2, start_padding=1),
    "fold": fold("f4", (2, 72, 3600), output_sizes=(60, 60), window_sizes=3, start_padding=1, end_padding=1),
    "fold with strides": fold("f2", (8, 27, 7396), output_sizes=(173, 173), window_sizes=3, strides=2),
    "fold patches": fold("i8", (1, 256, 1024), output_sizes=(512, 512), window_sizes=16, strides=16),
    "pooling": pooling("f4", (8, 32, 80, 90), window_size=3, strides=2, start_padding=1),
    "pooling halves": pooling("f2", (4, 16, 80, 90), window_size=(5, 4), end_padding=(2, 3), include_padding=True),
    "pooling volumes": pooling("f4", (2, 16, 20, 30, 40), window_size=(2, 3, 5)),
    "pooling the rows of a plane": pooling("f4", (1, 1, 30001, 101), window_size=(2, 3)),
    "pooling all": pooling("f4", (8, 300, 50, 60), window_size=(50, 60)),
    "pooling long rows": pooling("f4", (1, 1, 4, 200_000), window_size=(3, 3000), strides=(1, 7)),
    "pooling planes": pooling("f4", (8, 301, 14, 14), window_size=3, start_padding=1, end_padding=1),
    "roi pooling": rois("f4", (3, 64, 50, 60)),
    "roi pooling halves": rois("f2", (3, 64, 50, 60)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_any_number_of_threads(case: Case) -> None:
    name, inputs, attributes = case()
    function, operator = getattr(dml, name), compiled(name, inputs, attributes)
    dml.set_num_threads(1)
    expected = function(*inputs, **attributes)
    for threads in (2, 3, 8):
        dml.set_num_threads(threads)
        assert_same_bits(function(*inputs, **attributes), expected)
        assert_same_bits(operator(*inputs), expected)
        out = np.empty(expected.shape[::-1], expected.dtype).T
        assert_same_bits(function(np.asfortranarray(inputs[0]), *inputs[1:], **attributes, out=out), expected)


@pytest.mark.parametrize("flushing", [False, True])
def test_all_threads_compute_in_the_mode_of_the_caller(flushing: bool) -> None:
    """Whether subnormal numbers are zeros; the other threads may have been started in the other mode."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tiny = np.full((4, 16, 512, 512), 1e-40, np.float32)
    try:
        if not torch.set_flush_denormal(not flushing):
            pytest.skip("this processor cannot take subnormal numbers for zeros")
        dml.set_num_threads(2)
        dml.average_pooling(tiny, window_size=2)
        torch.set_flush_denormal(flushing)
        for threads in (1, 2, 5):
            dml.set_num_threads(threads)
            results = dml.average_pooling(tiny, window_size=2), dml.lp_pooling(tiny, window_size=2, p=1)
            assert [np.mean(result == 0) for result in results] == [flushing, flushing], threads
    finally:
        torch.set_flush_denormal(False)


MOVES = ["padding WRAP", "padding a row", "padding cells", "depth to space COLUMN_ROW_DEPTH u1"]


@pytest.mark.parametrize("name", MOVES)
def test_large_moves_follow_the_definition(name: str) -> None:
    function, inputs, attributes = CASES[name]()
    dml.set_num_threads(3)
    whole = dict(attributes)
    if function == "padding1":
        whole |= {"start_padding": [3] * inputs[0].ndim, "end_padding": [5] * inputs[0].ndim}
    expected = reference.defined(PYTHON_NAMES[function], *inputs, **whole)
    assert_same_bits(getattr(dml, function)(*inputs, **attributes), expected)


def test_several_callers_at_once() -> None:
    dml.set_num_threads(2)
    chosen = [CASES[name]() for name in ("padding WRAP", "unfold", "pooling", "roi pooling")]
    expected = [getattr(dml, name)(*inputs, **attributes) for name, inputs, attributes in chosen]
    failures: list[str] = []

    def call(number: int) -> None:
        name, inputs, attributes = chosen[number]
        for _ in range(4):
            if getattr(dml, name)(*inputs, **attributes).tobytes() != expected[number].tobytes():
                failures.append(name)

    callers = [threading.Thread(target=call, args=(number % 4,)) for number in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not failures
