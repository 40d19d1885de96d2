"""Every way of calling a compiled operator, and what it leaves behind."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest

import dmlcy as dml

X = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
ROI = np.array([[[[0, 0, 0, 3, 3]]]], np.float32)
SIZES = dml.TensorDesc("FLOAT32", (1, 1, 5, 5))


def unfold() -> Any:
    return dml.compile(dml.desc.Unfold(input=SIZES, window_sizes=(3, 3)))


def roi_pooling() -> Any:
    rois = dml.TensorDesc("FLOAT32", (1, 1, 1, 5))
    return dml.compile(dml.desc.RoiPooling(input=SIZES, roi=rois, spatial_scale=1.0, pooled_size=(2, 2)))


def test_every_way_of_calling() -> None:
    expected = dml.roi_pooling(X, ROI, spatial_scale=1.0, pooled_size=2)
    out = np.zeros_like(expected)
    op = roi_pooling()
    name = "".join(["o", "ut"])  # not the interned one
    ways: list[Callable[[], Any]] = [
        lambda: op(X, ROI),
        lambda: op(X, ROI, out=None),
        lambda: op(X, roi=ROI),
        lambda: op(roi=ROI, input=X),
        lambda: op(*(X, ROI), **{}),
        lambda: op.__call__(X, ROI),
        lambda: type(op).__call__(op, X, roi=ROI),
    ]
    for way in ways:
        np.testing.assert_array_equal(way(), expected)
    for way in (
        lambda: op(X, ROI, out=out),
        lambda: op(X, ROI, **{name: out}),
        lambda: op(out=out, roi=ROI, input=X),
        lambda: op(X, out=out, roi=ROI),
        lambda: op.__call__(X, ROI, out=out),
    ):
        out[...] = -1
        assert way() is out
        np.testing.assert_array_equal(out, expected)


def test_wrong_values_are_refused_without_an_array_for_the_output() -> None:
    """The rule on the indices reads the sizes of the output, which no argument gives."""
    x, wrong = np.ones((1, 1, 2, 2), np.float32), np.full((1, 1, 2, 2), 9, np.uint32)
    tensors = {"input": dml.TensorDesc.from_array(x), "indices": dml.TensorDesc.from_array(wrong)}
    op = dml.compile(dml.desc.MaxUnpooling(**tensors, output=dml.TensorDesc("FLOAT32", (1, 1, 3, 3))))
    for out in (None, np.zeros((1, 1, 3, 3), np.float32)):
        with pytest.raises(dml.InvalidDataError) as caught:
            op(x, wrong, out=out)
        assert {one.id for one in caught.value.violations} == {"DML-MAX_UNPOOLING-indices-inside"}


@pytest.mark.parametrize("n", [0, 1, 3])
def test_wrong_numbers_of_inputs(n: int) -> None:
    op = roi_pooling()
    said = {
        0: "missing required argument 'input'",
        1: "missing required argument 'roi'",
        3: "takes 2 .* but 3 were given",
    }
    with pytest.raises(TypeError, match=rf"roi_pooling\(\) {said[n]}"):
        op(*[X] * n)


def test_wrong_keywords() -> None:
    op = unfold()
    with pytest.raises(TypeError, match="unexpected keyword argument 'to'"):
        op(X, to=X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'to'"):
        op(X, out=None, to=X)
    with pytest.raises(TypeError, match="input"):
        op(X, input=X)
    with pytest.raises(TypeError):
        op(X, X)


def test_a_subclass_may_have_its_own_call() -> None:
    op = unfold()

    class Same(type(op)):  # type: ignore[misc]
        pass

    class Shifted(type(op)):  # type: ignore[misc]
        def __call__(self, x: Any) -> Any:
            return super().__call__(x + 1)

    np.testing.assert_array_equal(Same(op.desc, 14)(X), op(X))
    np.testing.assert_array_equal(Shifted(op.desc, 14)(X), op(X + 1))
    with pytest.raises(TypeError):
        shifted: Any = Shifted(op.desc, 14)
        shifted(X, out=None)


def test_an_object_that_was_never_initialised_refuses() -> None:
    op = unfold()
    bare: Any = type(op)
    with pytest.raises(Exception):  # noqa: B017 – which one says nothing; it must not crash
        bare.__new__(bare)(X)
    with pytest.raises(TypeError):
        bare.__new__(bare)()
    with pytest.raises(TypeError):
        bare.__new__(bare).initialize(input=X)


A = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)
B = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)


def gemm() -> Any:
    return dml.compile(dml.desc.Gemm(a=dml.TensorDesc("FLOAT32", A.shape), b=dml.TensorDesc("FLOAT32", B.shape)))


def test_an_initialized_input_is_given_once() -> None:
    """The input is copied: later changes of the array change no result. Another call takes the place of the first."""
    op, b = gemm(), B.copy()
    assert op.called == ("a", "b", "c")
    op.initialize(b=b)
    b[...] = 0
    results = op(A), op(a=A), op(A, None), op(A, out=np.empty((1, 1, 2, 4), "f4"))
    for result in results:
        np.testing.assert_array_equal(result, A @ B)
    assert op.called == ("a", "c") and list(signature(op).parameters) == ["a", "c", "out"]
    again = pickle.loads(pickle.dumps(op))
    np.testing.assert_array_equal(again(A), A @ B)
    op.initialize(a=A)
    np.testing.assert_array_equal(op(2 * B), A @ (2 * B))
    op.initialize(a=A, b=B)
    np.testing.assert_array_equal(op(), A @ B)
    op.initialize()
    np.testing.assert_array_equal(op(A, B), A @ B)
    reference = dml.compile(op.desc, path="reference")
    reference.initialize(b=B)
    np.testing.assert_array_equal(reference(A), A @ B)


@pytest.mark.parametrize("columns", [193, 200, 1000])
def test_packed_columns_behind_the_last_whole_vector(columns: int) -> None:
    """Their sums have memory: without it, the calls write over the heap."""
    a, b = np.ones((1, 1, 64, 257), np.float32), np.ones((1, 1, 257, columns), np.float32)
    op = dml.compile(dml.desc.Gemm(a=dml.TensorDesc("FLOAT32", a.shape), b=dml.TensorDesc("FLOAT32", b.shape)))
    op.initialize(b=b)
    for _ in range(20):
        assert (op(a) == 257).all()


def test_initialize_refuses_what_a_call_refuses() -> None:
    op = gemm()
    op.initialize(b=B)
    for wrong, said in (
        ({"b": B[..., :3]}, r"b has sizes \(1, 1, 3, 3\)"),
        ({"b": B.astype("f2")}, "b has data type FLOAT16"),
        ({"b": 3}, "b must be an array"),
    ):
        with pytest.raises(dml.DmlError, match=said):
            op.initialize(**wrong)
    for name, said in (("x", "unexpected keyword argument 'x'"), ("c", "takes no c: the compiled desc leaves it out")):
        with pytest.raises(TypeError, match=said):
            op.initialize(**{name: B})
    np.testing.assert_array_equal(op(A), A @ B)  # as before
    with pytest.raises(TypeError, match=r"gemm\(\) takes no b: initialize\(\) was given it"):
        op(A, b=B)
    with pytest.raises(TypeError, match=r"takes no c: .* initialize\(\) was given b, which no call gives"):
        op(A, B)
    join = dml.compile(dml.desc.Join(inputs=(SIZES, SIZES), axis=1))
    with pytest.raises(TypeError, match="takes no inputs, which is an array of tensors"):
        initialize: Any = join.initialize
        initialize(inputs=[X, X])


def test_values_of_an_initialized_input_are_checked_at_each_call() -> None:
    op = dml.compile(
        dml.desc.Gather(input=SIZES, indices=dml.TensorDesc("UINT32", (1, 1, 1, 2)), axis=3, index_dimensions=1)
    )
    op.initialize(indices=np.array([[[[4, 5]]]], np.uint32))
    with pytest.raises(dml.InvalidDataError):
        op(X)


def test_threads_call_an_operator_while_it_is_initialized_again() -> None:
    op, wrong, end = gemm(), [], threading.Event()
    op.initialize(b=B)

    def call() -> None:
        while not end.is_set():
            y = op(A)
            if not (np.array_equal(y, A @ B) or np.array_equal(y, A @ (B + 1))):
                wrong.append(y)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(300):
        op.initialize(b=B + number % 2)
    end.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_no_reference_is_left() -> None:
    op, roi_op = unfold(), roi_pooling()
    out = op(X)

    def calls() -> None:
        op(X)
        op(X, out=out)
        op(input=X, out=out)
        roi_op(X, ROI)
        roi_op(X, roi=ROI)
        dml.unfold(X, window_sizes=[3, 3], strides=(1, 1))
        dml.unfold(X, window_sizes=(3, 3), out=out)
        bad: tuple[Callable[[], object], ...] = (
            lambda: op(X, X), lambda: op(X, out=X), lambda: op(X, to=X), lambda: roi_op(X),
        )  # fmt: skip
        for one in bad:
            with pytest.raises((TypeError, dml.DmlError)):
                one()

    calls()
    gc.collect()
    before = [sys.getrefcount(value) for value in (X, ROI, out, op, roi_op, op.desc)]
    for _ in range(20):
        calls()
    gc.collect()
    assert [sys.getrefcount(value) for value in (X, ROI, out, op, roi_op, op.desc)] == before


def test_threads_share_an_operator() -> None:
    op = unfold()
    inputs = [X + k for k in range(4)]
    wrong: list[int] = []

    def work(k: int) -> None:
        expected = dml.unfold(inputs[k], window_sizes=3)
        if any(not np.array_equal(op(inputs[k]), expected) for _ in range(300)):
            wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("length", [15, 16, 17, 512, 513])
def test_work_with_and_without_the_gil(length: int) -> None:
    x = np.arange(4 * length, dtype=np.float32).reshape(1, 4, 1, length)
    expected = x.reshape(2, 2, length).transpose(0, 2, 1)
    np.testing.assert_array_equal(dml.depth_to_space1(x, block_size=2)[0, 0], expected.reshape(2, 2 * length))
