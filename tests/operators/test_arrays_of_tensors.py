"""Calls and compiled operators of arrays of tensors, and of elements of 4 bits: what they own, and what they refuse."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits

import dmlcy as dml

Array = np.ndarray[Any, Any]
X = np.arange(24, dtype=np.float32).reshape(4, 6)
WIDE = dml.TensorDesc.from_array(X)
PART = dml.TensorDesc("FLOAT32", (4, 3))


def join() -> Any:
    return dml.compile(dml.desc.Join(inputs=(WIDE, PART), axis=1))


def split() -> Any:
    return dml.compile(dml.desc.Split(input=WIDE, outputs=(PART, PART), axis=1))


def test_uses_are_told_apart() -> None:
    """By the number of the tensors, their data types and their sizes, where the sizes of all are the same bytes."""
    for widths in ((1, 2, 3), (3, 2, 1), (6,), (1, 2, 3)):
        sizes = [(4, width) for width in widths]
        for dtype in (np.float32, np.uint32):
            parts = dml.split(X.astype(dtype), axis=1, output_sizes=sizes)
            assert [one.shape for one in parts] == [*sizes] and all(one.dtype == dtype for one in parts)
            assert_same_bits(dml.join(parts, axis=1), X.astype(dtype))


def test_any_sequence_of_any_length() -> None:
    many = [X[:, :1]] * 3000
    assert_same_bits(dml.join(many, axis=1), np.concatenate(many, axis=1))
    rows = dml.split(X, axis=0, output_sizes=np.array([[1, 6]] * 4).tolist())
    assert isinstance(rows, tuple) and len(rows) == 4
    single = dml.split(X, axis=0, output_sizes=[X.shape])
    assert isinstance(single, tuple)
    assert_same_bits(single[0], X)


def test_what_a_compiled_operator_is_given() -> None:
    """Arrays other than those of its desc, as many as it has or not."""
    half = X[:, :3].copy()
    assert_same_bits(join()([X, half]), np.concatenate((X, half), axis=1))
    assert_same_bits(join()(inputs=(X, half), out=None), np.concatenate((X, half), axis=1))
    for wrong, slug in (
        ([X], "length"),
        ([X, half, half], "length"),
        ([X, X], "sizes"),
        ([X, half.astype(np.float64)], "same-dtype"),
        ([X, None], "required"),
        ([X, 3], "type"),
        (X, "type"),
        (None, "required"),
    ):
        with pytest.raises(dml.DmlError) as caught:
            join()(wrong)
        assert [one.id.rpartition("inputs-")[2] for one in caught.value.violations] == [slug], wrong
    with pytest.raises(TypeError, match="missing required argument 'inputs'"):
        join()()
    with pytest.raises(TypeError, match=r"one sequence, and got 2 positional arguments: write join\(\[a, b\]\)"):
        join()(X, half)


def test_out_lies_apart_from_each_input() -> None:
    memory = np.zeros((4, 9), np.float32)
    half = X[:, :3].copy()
    for inputs in ((memory[:, :6], half), (X, memory[:, 6:])):
        with pytest.raises(dml.InvalidDescError, match="shares memory with inputs"):
            dml.join(inputs, axis=1, out=memory)
        with pytest.raises(dml.InvalidDescError, match="shares memory with inputs"):
            join()(inputs, out=memory)


def test_packed_bytes_lie_apart() -> None:
    """The bytes of packed elements, which are not those of the array that the reference reads."""
    memory = np.zeros(8, np.uint8)
    scale = np.ones(1, np.float32)
    given, out = dml.packed(memory[:4], "INT4", (8,)), dml.packed(memory[4:], "INT4", (8,))
    numbers = np.arange(-4, 4, dtype=np.float32)
    assert dml.quantize(numbers, [scale], quantization_type="SCALE", out=out) is out
    np.testing.assert_array_equal(out.values(), numbers)
    np.testing.assert_array_equal(dml.dequantize(out, [scale], quantization_type="SCALE"), numbers)
    floats = memory.view(np.float32)
    with pytest.raises(dml.InvalidDescError, match="shares memory with quantizations"):
        dml.quantize(numbers, [floats[1:]], quantization_type="SCALE", out=out)
    with pytest.raises(dml.InvalidDescError, match="shares memory with input"):
        dml.dequantize(dml.packed(memory[:1], "INT4", (2,)), [scale], quantization_type="SCALE", out=floats)
    np.testing.assert_array_equal(given.values(), np.zeros(8))


@pytest.mark.parametrize("path", [None, "reference"])
@pytest.mark.parametrize(("dtype", "zero"), [("UINT8", 128), ("UINT4", 8), ("INT8", 0), ("INT4", 0)])
def test_the_zero_point_of_a_scale_alone(dtype: str, zero: int, path: Any) -> None:
    """The middle of the range of unsigned integers, in loops and in the reference."""
    numbers, scale = np.array([[0, 1, -2, 3], [2, 0, -1, 7]], np.float32), np.array([[0.5], [1]], np.float32)
    kinds = [dml.TensorDesc("FLOAT32", numbers.shape), dml.TensorDesc(dtype, numbers.shape)]
    given: Any = {"quantizations": [dml.TensorDesc("FLOAT32", scale.shape)], "quantization_type": "SCALE"}
    compiled: Any = dml.compile(dml.desc.Quantize(input=kinds[0], output=kinds[1], **given), path=path)
    quantized = compiled(numbers, [scale])
    values = quantized.values() if isinstance(quantized, dml.Packed) else quantized.astype(np.int64)
    assert values.tolist() == (numbers / scale + zero).tolist()
    again: Any = dml.compile(dml.desc.Dequantize(input=kinds[1], output=kinds[0], **given), path=path)
    assert again(quantized, [scale]).tolist() == ((values.astype(np.int64) - zero) * scale).tolist()


def test_an_array_that_is_resized_during_the_call() -> None:
    class Axis:
        def __index__(self) -> int:
            parts[1].resize(1, refcheck=False)
            return 0

    parts = [np.zeros(3, np.float32), np.zeros(3, np.float32)]
    with pytest.raises(RuntimeError, match="inputs was changed during the call"):
        dml.join(parts, axis=Axis())


def calls(outs: list[Array]) -> list[Callable[[], object]]:
    compiled = join(), split()
    number: Any = 3
    return [
        lambda: dml.join([X, X], axis=0),
        lambda: dml.split(X, axis=1, out=outs),
        lambda: compiled[0]([X, outs[0]]),
        lambda: compiled[1](X),
        lambda: compiled[1](X, out=outs),
        lambda: dml.join([X, X], axis=7),
        lambda: dml.join([X, number], axis=0),
        lambda: dml.split(X, axis=1, output_sizes=[(4, 3)]),
        lambda: dml.split(X, axis=1, out=[outs[0], outs[0]]),
        lambda: compiled[0]([outs[0], X]),
        lambda: compiled[1](X, out=outs[:1]),
    ]


def test_no_reference_is_left() -> None:
    outs = [np.zeros((4, 3), np.float32), np.zeros((4, 3), np.float32)]
    each = calls(outs)

    def run() -> None:
        for one in each:
            with contextlib.suppress(dml.DmlError):
                one()

    run()
    gc.collect()
    before = [sys.getrefcount(one) for one in (X, *outs)]
    for _ in range(30):
        run()
    gc.collect()
    assert [sys.getrefcount(one) for one in (X, *outs)] == before


def test_threads_share_a_compiled_operator() -> None:
    """Each call has tensors of its own: the arrays of one are never those of another."""
    joined, parted = join(), split()
    wrong: list[int] = []

    def work(k: int) -> None:
        x, half = X + k, X[:, :3] - k
        whole = np.concatenate((x, half), axis=1)
        out = [np.zeros((4, 3), np.float32), np.zeros((4, 3), np.float32)]
        for _ in range(200):
            parted(x, out=out)
            if not (np.array_equal(joined([x, half]), whole) and np.array_equal(np.concatenate(out, axis=1), x)):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
