"""Recordings: what they keep, when they keep it, and models of them that give the same bits."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import draws_of
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "operators"))

from checks import assert_same_bits, assert_same_values
from pooled import X, pool
from strategies import (
    DTYPES,
    MODES,
    ORDERS,
    Array,
    any_bits,
    dtypes,
    examples,
    half_and_single,
    layouts,
    paddings,
    regions,
    seeds,
    windows,
)

import dmlcy as dml
from dmlcy._cli import main

# Any call


@dataclass(frozen=True)
class Call:
    """A valid call of an operator."""

    name: str
    inputs: list[Array]
    attributes: dict[str, Any]


def scalars(dtype: str) -> st.SearchStrategy[Any]:
    """Numbers of a data type, also numbers that JSON does not have, and numbers that are no doubles."""
    if dtype[0] == "f":
        return st.one_of(
            st.sampled_from([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 0.1, 1]),
            st.floats(width={"f8": 64, "f4": 32, "f2": 16}[dtype]),  # type: ignore[arg-type]
        )
    limits = np.iinfo(dtype)
    return st.one_of(st.integers(int(limits.min), int(limits.max)), st.sampled_from([int(limits.min), int(limits.max)]))


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """A call of any operator, with any bits in its inputs where it takes them."""
    name = draw(st.sampled_from(["average_pooling", "unfold", "padding1", "depth_to_space1", "roi_pooling"]))
    seed = draw(seeds)
    if name == "padding1":
        dtype, shape = draw(dtypes), draw(paddings(500))
        attributes = {
            "start_padding": shape.start,
            "end_padding": shape.end,
            "padding_mode": draw(st.sampled_from(MODES)),
            "padding_value": draw(scalars(dtype)),
        }
        return Call(name, [any_bits(seed, shape.sizes, dtype)], attributes)
    if name == "depth_to_space1":
        block = draw(st.integers(1, 3))
        blocks = draw(st.tuples(*[st.integers(1, 3)] * 4))
        sizes = (blocks[0], blocks[1] * block * block, *blocks[2:])
        attributes = {"block_size": block, "order": draw(st.sampled_from(ORDERS))}
        return Call(name, [any_bits(seed, sizes, draw(dtypes))], attributes)
    if name == "roi_pooling":
        dtype, scale = draw(half_and_single), draw(st.sampled_from([1.0, 0.1, 1 / 16, 3.0]))
        sizes = draw(st.tuples(*[st.integers(1, 4)] * 4))
        rois = draw(regions(sizes[0], sizes[2], sizes[3], scale, dtype))
        rois = rois[(None,) * draw(st.integers(0, 2))]
        pooled = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
        return Call(name, [any_bits(seed, sizes, dtype), rois], {"spatial_scale": scale, "pooled_size": pooled})
    if name == "unfold":
        window = draw(windows(draw(st.integers(2, 2)), dilated=True, budget=300))
        return Call(name, [any_bits(seed, window.sizes, draw(dtypes))], window.unfold)
    window = draw(windows(draw(st.integers(2, 3)), budget=300))
    more = {"include_padding": draw(st.booleans())}
    return Call(name, [any_bits(seed, window.sizes, draw(half_and_single))], window.pooling | more)


def assert_same(name: str, actual: Array, expected: Array) -> None:
    """The same bits; of NaN that was computed, or that JSON calls nan, not its sign and payload."""
    moved = name in ("unfold", "depth_to_space1")
    (assert_same_bits if moved else assert_same_values)(actual, expected)


def outputs(folder: Path, recording: dml.Recording) -> Iterator[tuple[dml.RecordedCall, Array]]:
    """Each call with what the command line makes of the exported model."""
    written = recording.export(folder / "model")
    assert written.model == folder / "model" / "model.json"
    assert main(["run", str(written.model), "--output-path", str(folder / "outputs")]) == 0
    for number, call in enumerate(recording.calls, 1):
        name = call.desc.operator.python
        for field in call.outputs:
            yield call, np.load(folder / "outputs" / f"{number}_{name}_{field}.npy")


@draws_of(25, 150)
def test_a_model_gives_what_was_recorded(draws: int) -> None:
    drawn = st.lists(calls(), min_size=1, max_size=3)
    examples(draws)(given(drawn, st.data())(model_gives_what_was_recorded))()


def model_gives_what_was_recorded(drawn: list[Call], data: st.DataObject) -> None:
    expected = []
    with dml.record() as recording:
        for call in drawn:
            views = [data.draw(layouts(x.ndim, repeats=True)).hold(x).view for x in call.inputs]
            if call.name == "roi_pooling":
                views[1] = call.inputs[1]  # regions that repeat an element are no regions
            function = getattr(dml, call.name)
            result = function(*views, **call.attributes)
            out = data.draw(layouts(result.ndim, repeats=False)).place(result.shape, result.dtype).view
            assert function(*views, out=out, **call.attributes) is out
            again = dml.compile(recording.calls[-1].desc)(*recording.calls[-1].inputs.values())
            assert_same(call.name, again, result)
            assert_same(call.name, np.array(out, order="C"), result)
            expected += [(views, result)] * 3
    assert len(recording.calls) == len(expected)
    for recorded, (views, result) in zip(recording.calls, expected, strict=True):
        assert dml.check(recorded.desc) == []
        fields = [field for field in recorded.desc.operator.fields if field.kind == "input"]
        assert list(recorded.inputs) == [field.python for field in fields]
        for (name, array), view in zip(recorded.inputs.items(), views, strict=True):
            tensor = getattr(recorded.desc, name)
            assert tensor == dml.TensorDesc(array.dtype, array.shape)
            assert array.flags.c_contiguous and array.flags.aligned and not array.flags.writeable
            assert array.shape[array.ndim - view.ndim :] == view.shape
            assert_same_bits(array, np.array(view, order="C").reshape(array.shape))
        ((name, array),) = recorded.outputs.items()
        assert getattr(recorded.desc, name) == dml.TensorDesc(array.dtype, array.shape)
        assert_same(recorded.desc.operator.python, array, result)
        assert not np.shares_memory(array, result)
    with tempfile.TemporaryDirectory() as folder:
        for recorded, found in outputs(Path(folder), recording):
            (array,) = recorded.outputs.values()
            assert_same(recorded.desc.operator.python, found, array)


@pytest.mark.parametrize("dtype", DTYPES)
def test_recording_changes_no_result(dtype: str) -> None:
    x = any_bits(7, (3, 5, 4), dtype)[:, ::-1]
    plain = dml.padding1(x, start_padding=1, end_padding=2, padding_value=3)
    with dml.record() as recording:
        assert_same_bits(dml.padding1(x, start_padding=1, end_padding=2, padding_value=3), plain)
    assert_same_bits(recording.calls[0].outputs["output"], plain)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("i8", 2**63 - 1), ("i8", -(2**63)), ("i8", 2**53 + 1), ("u8", 2**64 - 1), ("u1", 255), ("i1", -128),
        ("f4", 0.1), ("f2", 0.1), ("f8", 0.1), ("f4", 1e-45), ("f2", 6e-8), ("f8", 5e-324), ("f4", -0.0),
        ("f8", float("nan")), ("f4", float("inf")), ("f2", -float("inf")), ("f4", 16777217), ("f8", 2**60 + 1),
        ("f4", 3.4028235e38), ("f2", 65504.0),
    ],
)  # fmt: skip
def test_padding_values(tmp_path: Path, dtype: str, value: Any) -> None:
    with dml.record() as recording:
        result = dml.padding1(np.zeros(2, dtype), start_padding=1, end_padding=0, padding_value=value)
    kept = recording.calls[0].desc.padding_value  # type: ignore[attr-defined]
    kind = float if dtype[0] == "f" else int
    assert type(kept) is kind
    if dtype[1] == "8" or kind is int or value == 0.1:  # no more digits than the data type tells apart
        assert kept == kind(value) or value != value
    for _, found in outputs(tmp_path, recording):
        assert_same_bits(found, result)


def test_leading_ones_of_regions(tmp_path: Path) -> None:
    rois = np.array([[0, 0, 0, 3, 3], [0, 1, 1, 2, 2]], np.float32)
    with dml.record() as recording:
        dml.roi_pooling(X, rois, spatial_scale=0.1, pooled_size=(2, 1))
        dml.roi_pooling(X, rois[None], spatial_scale=0.1, pooled_size=(2, 1))
    first, second = recording.calls
    assert first.desc == second.desc
    assert first.desc.roi.sizes == first.inputs["roi"].shape == (1, 1, 2, 5)  # type: ignore[attr-defined]
    assert first.desc.spatial_scale == 0.1  # type: ignore[attr-defined]
    assert first.desc.pooled_size == (2, 1)  # type: ignore[attr-defined]
    assert len(list(outputs(tmp_path, recording))) == 2


def test_a_compiled_call_is_recorded_packed() -> None:
    tensor = dml.TensorDesc("FLOAT32", (1, 2, 4, 4), strides=(128, 64, 4, 1), flags="OWNED_BY_DML")
    leading = dml.TensorDesc("FLOAT32", (1, 1, 8, 9), total_tensor_size_in_bytes=4096)
    operator = dml.compile(dml.desc.Unfold(input=tensor, output=leading, window_sizes=2))
    with dml.record() as recording:
        result = operator(X)
    (call,) = recording.calls
    packed = dml.TensorDesc("FLOAT32", (1, 2, 4, 4))
    assert call.desc == dml.desc.Unfold(input=packed, output=dml.TensorDesc("FLOAT32", (1, 1, 8, 9)), window_sizes=2)
    assert_same_bits(call.outputs["output"], result)


# Changes


def test_later_changes_do_not_matter() -> None:
    x = X.copy()
    with dml.record() as recording:
        y = pool(x)
        before, expected = x.copy(), y.copy()
        x[:] = 0
        y[:] = 0
        out = np.zeros_like(y)
        pool(before, out=out)
        out[:] = 7
    for call in recording.calls:
        assert_same_bits(call.inputs["input"], before)
        assert_same_bits(call.outputs["output"], expected)
    with pytest.raises(ValueError, match="read-only"):
        recording.calls[0].inputs["input"][0] = 1


class Other(Sequence[Any]):
    """Two entries that are others each time they are read."""

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        if index > 1:
            raise IndexError
        self.reads += 1
        return 1 + self.reads % 2


def test_attributes_are_those_of_the_kernel() -> None:
    with dml.record() as recording:
        result = dml.average_pooling(X, window_size=Other(), strides=np.array([1, 2]))
    (call,) = recording.calls
    assert_same_bits(dml.compile(call.desc)(X), result)


def test_an_input_that_another_thread_writes_to() -> None:
    x = np.zeros((8, 8, 64, 64), np.float32)
    done = threading.Event()

    def write() -> None:
        value = 0
        while not done.is_set():
            value += 1
            x[...] = value % 100

    thread = threading.Thread(target=write)
    thread.start()
    try:
        end = time.monotonic() + 1
        with dml.record() as recording:
            while time.monotonic() < end and len(recording.calls) < 200:
                dml.average_pooling(x, window_size=3)
    finally:
        done.set()
        thread.join()
    assert recording.calls
    for call in recording.calls:
        assert_same_bits(dml.compile(call.desc)(call.inputs["input"]), call.outputs["output"])


class Calls:
    """An array whose conversion makes a call."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        result: Array = dml.padding1(X, start_padding=0, end_padding=1)
        return result


def test_a_call_within_a_call() -> None:
    with dml.record() as recording:
        dml.unfold(Calls(), window_sizes=2)
    assert [call.desc.operator.python for call in recording.calls] == ["padding1", "unfold"]
    assert_same_bits(recording.calls[1].inputs["input"], recording.calls[0].outputs["output"])


def test_inputs_that_cannot_be_written() -> None:
    fixed = X.copy()
    fixed.flags.writeable = False
    wide = np.broadcast_to(np.float32(3), (2, 1, 5, 5))
    with dml.record() as recording:
        pool(fixed)
        pool(wide)
    assert not fixed.flags.writeable
    assert [call.inputs["input"].strides for call in recording.calls] == [X.strides, (100, 100, 20, 4)]


class Mine(np.ndarray[Any, Any]):
    """An array with a class of its own."""


def test_arrays_of_other_classes() -> None:
    class HasArray:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
            return X

    memory: Any = X
    with dml.record() as recording:
        for x in (X.view(Mine), memoryview(memory), HasArray()):
            pool(x)
    for call in recording.calls:
        assert type(call.inputs["input"]) is np.ndarray
        assert_same_bits(call.inputs["input"], X)


# When


def test_failed_calls_are_not_recorded() -> None:
    operator = dml.compile(dml.desc.AveragePooling(input=dml.TensorDesc.from_array(X), window_size=2))
    with dml.record() as recording:
        for refused in (
            lambda: dml.average_pooling(X, window_size=9),
            lambda: dml.average_pooling(X, window_size=2, out=X),
            lambda: operator(X[0]),
            lambda: operator(X, out=X),
            lambda: dml.roi_pooling(X, np.full((1, 5), 9, np.float32), spatial_scale=1, pooled_size=1),
        ):
            with pytest.raises(dml.DmlError):
                refused()
        assert recording.calls == ()
        pool()
    assert len(recording.calls) == 1


def test_the_end_of_the_block() -> None:
    recording = dml.record()
    pool()
    with pytest.raises(ZeroDivisionError), recording:
        pool()
        raise ZeroDivisionError
    pool()
    assert len(recording.calls) == 1
    with pytest.raises(RuntimeError, match="one block"), recording:
        pass
    assert len(recording.calls) == 1


def test_calls_are_there_at_once_and_stay() -> None:
    with dml.record() as recording:
        seen = recording.calls
        pool()
        assert seen == () and len(recording.calls) == 1
        again = recording.calls
    assert again == recording.calls


def test_nested_blocks() -> None:
    with dml.record() as outer:
        pool()
        with dml.record() as inner:
            dml.unfold(X, window_sizes=2)
        pool()
    assert [call.desc.operator.python for call in outer.calls] == ["average_pooling", "unfold", "average_pooling"]
    assert [call.desc.operator.python for call in inner.calls] == ["unfold"]


def test_blocks_that_overlap() -> None:
    first, second = dml.record(), dml.record()
    first.__enter__()
    pool()
    second.__enter__()
    pool()
    first.__exit__(None, None, None)
    pool()
    second.__exit__(None, None, None)
    pool()
    assert (len(first.calls), len(second.calls)) == (2, 2)
    first.__exit__(None, None, None)
    with dml.record() as third:
        pool()
    assert len(third.calls) == 1


def in_thread(function: Any) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_threads_record_where_they_inherit_the_context() -> None:
    context = contextvars.Context()
    with dml.record() as recording:
        context.run(pool)
        in_thread(lambda: context.run(pool))
        assert recording.calls == ()
        inherited = contextvars.copy_context()
        in_thread(lambda: inherited.run(pool))
        assert len(recording.calls) == 1
    inherited.run(pool)
    with dml.record():  # somebody records, but not for that context
        inherited.run(pool)
    assert len(recording.calls) == 1


def test_a_thread_with_a_block_of_its_own() -> None:
    found: list[dml.Recording] = []

    def work() -> None:
        with dml.record() as own:
            dml.unfold(X, window_sizes=2)
        found.append(own)

    with dml.record() as recording:
        context = contextvars.Context()
        in_thread(lambda: context.run(work))
        pool()
    assert [len(one.calls) for one in (found[0], recording)] == [1, 1]
    assert found[0].calls[0].desc.operator.python == "unfold"


def test_tasks() -> None:
    async def work(count: int) -> int:
        with dml.record() as own:
            for _ in range(count):
                await asyncio.sleep(0)
                pool()
        return len(own.calls)

    async def all_of_them() -> list[int]:
        with dml.record() as recording:
            tasks = [asyncio.create_task(work(count)) for count in (1, 2, 3)]
            counts = await asyncio.gather(*tasks)
        return [*counts, len(recording.calls)]

    assert asyncio.run(all_of_them()) == [1, 2, 3, 6]


def test_a_generator_that_another_context_closes() -> None:
    def steps() -> Generator[dml.Recording, None, None]:
        with dml.record() as recording:
            yield recording

    generator = steps()
    context = contextvars.copy_context()
    recording = context.run(next, generator)
    context.run(pool)
    generator.close()
    context.run(pool)
    assert len(recording.calls) == 1


@pytest.mark.parametrize("function", [dml.element_wise_add, dml.gemm])
def test_an_overlapping_out_is_refused_in_a_recording_too(function: Any) -> None:
    """A recording has copies of the inputs, which overlap nothing."""
    memory = np.arange(17, dtype=np.float32)
    x, out = memory[:16].reshape(1, 1, 4, 4), memory[1:].reshape(1, 1, 4, 4)
    for block in (contextlib.nullcontext(), dml.record()):
        with block, pytest.raises(dml.InvalidDescError, match="overlap"):
            function(x, x, out=out)
    assert memory.tolist() == [*range(17)]
