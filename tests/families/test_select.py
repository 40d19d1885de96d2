"""Properties of select, compared with ONNX Runtime, PyTorch and sorting in Python."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, described
from each import each_of

import dmlcy as dml
from dmlcy._families import blocks
from dmlcy._families.elements import keys
from families.common import peak

Array = np.ndarray[Any, Any]
DTYPES = ("f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
SHAPES = [(9,), (3, 4), (2, 5, 3), (1, 4, 1, 3)]


def drawn(random: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Few different elements, with all that floats have."""
    if dtype[0] != "f":
        limits = np.iinfo(dtype)
        return random.choice(np.array([limits.min, limits.max, 0, 1, 2, 3], dtype), shape)
    ends = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, -np.nan, 2**-24]
    x = random.choice(np.array(ends, dtype), shape)
    bits = x.view(f"u{x.itemsize}")
    bits[np.isnan(x)] ^= random.integers(0, 2, int(np.isnan(x).sum())).astype(bits.dtype)  # other payloads
    return x


@each_of("dtype, largest", [*itertools.product(DTYPES, (True, False))])
def test_lines_are_sorted(dtype: str, largest: bool) -> None:
    """NaN is behind every number, and equal elements keep their order; elements are copied bit for bit."""
    random = np.random.default_rng(3)
    for shape in SHAPES:
        for axis in range(len(shape)):
            x = drawn(random, shape, dtype)
            direction: Any = "DECREASING" if largest else "INCREASING"
            k = int(random.integers(1, shape[axis] + 1))
            values, places = dml.top_k1(x, axis=axis, k=k, axis_direction=direction)
            lines, found, at = (np.moveaxis(one, axis, -1) for one in (x, values, places))
            for row in np.ndindex(lines.shape[:-1]):
                line = lines[row].tolist()
                order = sorted(
                    range(len(line)),
                    key=lambda n: (math.isnan(line[n]), 0 if math.isnan(line[n]) else -line[n] if largest else line[n]),
                )
                assert at[row].tolist() == order[:k]
                assert_same_bits(np.ascontiguousarray(found[row]), lines[row][order[:k]])
            if largest:
                for one, other in zip(dml.top_k(x, axis=axis, k=k), (values, places), strict=True):
                    np.testing.assert_array_equal(one, other)


def chosen_by_reference(x: Array, *, axis: int, k: int) -> Any:
    """The results of the reference of TOP_K."""
    places = dml.TensorDesc("UINT32", [k if d == axis else n for d, n in enumerate(x.shape)])
    desc = dml.desc.TopK(input=dml.TensorDesc.from_array(x), output_index=places, axis=axis, k=k)
    return dml.compile(desc, path="reference")(x)


def test_onnx_runtime_agrees() -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    make = onnx.helper
    random = np.random.default_rng(4)
    x = random.integers(-3, 4, (3, 7, 2)).astype(np.float32)
    x[0, 1, 0] = -0.0
    for axis, largest in itertools.product(range(3), (0, 1)):
        node = make.make_node("TopK", ["x", "k"], ["v", "i"], axis=axis, largest=largest)
        ends = [
            make.make_tensor_value_info(name, kind, None) for name, kind in (("x", 1), ("k", 7), ("v", 1), ("i", 7))
        ]
        graph = make.make_graph([node], "g", ends[:2], ends[2:])
        model = make.make_model(graph, opset_imports=[make.make_opsetid("", 11)], ir_version=8)
        session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for k in range(1, x.shape[axis] + 1):
            expected = session.run(None, {"x": x, "k": np.array([k])})
            found = dml.top_k1(x, axis=axis, k=k, axis_direction="DECREASING" if largest else "INCREASING")
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)


def test_long_lines_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the reference, whatever a piece is; the loops give the same."""
    random = np.random.default_rng(5)
    for dtype in ("f4", "u1"):
        x = drawn(random, (3, 60), dtype)
        for block, (axis, k) in itertools.product((1, 3, 50), ((1, 1), (1, 5), (0, 2), (1, 60))):
            monkeypatch.setattr(blocks, "BLOCK", block)
            for one, other in zip(chosen_by_reference(x, axis=axis, k=k), dml.top_k(x, axis=axis, k=k), strict=True):
                assert_same_bits(one, other)


def test_many_lines_of_every_length() -> None:
    """Beside a sort of NumPy that keeps the order of equal elements: lengths around those of the loops."""
    random = np.random.default_rng(8)
    for number in range(60):
        dtype = DTYPES[number % len(DTYPES)]
        n = int(random.choice([1, 15, 16, 17, 33, 100, 511, 512, 513, 530, 1100]))
        k = min(n, int(random.choice([1, 2, 15, 16, 17, 33, 64, 140, n])))
        x = drawn(random, (2, n, 3), dtype) if number % 3 else random.integers(0, 255, (n, 20)).astype(dtype)
        axis, largest = int(n == x.shape[1]) if x.ndim == 3 else 0, bool(number % 2)
        x = np.asfortranarray(x) if number % 5 == 1 else x
        order = np.argsort(keys(np.ascontiguousarray(x), largest), axis, kind="stable").take(range(k), axis)
        values, places = dml.top_k1(x, axis=axis, k=k, axis_direction="DECREASING" if largest else "INCREASING")
        np.testing.assert_array_equal(places, order)
        assert_same_bits(values, np.ascontiguousarray(np.take_along_axis(x, order, axis)))


def test_no_line_is_slow() -> None:
    """Nor are sorted lines, equal ones and those of NaN."""
    random = np.random.default_rng(9)
    n, rows = 20_000, 8
    lines = {
        "drawn": random.standard_normal((rows, n), np.float32),
        "rising": np.broadcast_to(np.arange(n, dtype="f4"), (rows, n)).copy(),
        "falling": np.broadcast_to(np.arange(n, dtype="f4")[::-1], (rows, n)).copy(),
        "organ": np.broadcast_to(np.abs(np.arange(n, dtype="f4") - n // 2), (rows, n)).copy(),
        "equal": np.ones((rows, n), "f4"),
        "nan": np.full((rows, n), np.nan, "f4"),
    }
    for k in (1, 12, 100, 3000, n):
        for name, x in lines.items():  # a few milliseconds; as many steps as elements for each would take seconds
            assert seconds(partial(dml.top_k, x, axis=1, k=k)) < 0.3, (k, name)


def seconds(call: Callable[[], Any]) -> float:
    """Of the processor: others may use it, too."""
    start = time.process_time()
    call()
    return time.process_time() - start


@each_of("dtype", DTYPES[:8])
def test_coordinates_are_those_of_pytorch(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(6)
    for shape in SHAPES:
        x = drawn(random, shape, dtype)
        expected = torch.from_numpy(x != 0).nonzero().numpy()
        count, table = dml.nonzero_coordinates(x)
        assert count.shape == (1,) * x.ndim
        assert table.size == x.size * x.ndim
        rows = table.reshape(-1, x.ndim)
        assert int(count.item()) == len(expected)
        np.testing.assert_array_equal(rows[: len(expected)], expected)
        assert not rows[len(expected) :].any()


def test_fewer_coordinates_and_other_axes() -> None:
    x = np.zeros((1, 1, 2, 3), np.uint8)
    x[0, 0, 1, 2] = x[0, 0, 0, 1] = 5
    for columns, rank in ((2, 2), (3, 3), (4, 8), (2, 5)):
        sizes = (1,) * (rank - 2) + (6, columns)
        count, table = dml.nonzero_coordinates(x, output_coordinates_sizes=sizes, output_count_sizes=(1,))
        assert (count.tolist(), table.shape) == ([2], sizes)
        np.testing.assert_array_equal(table.reshape(6, columns)[:2, -2:], [[0, 1], [1, 2]])
        out = np.full(3, 9, np.uint32)[:1], np.full(sizes, 9, np.uint32)
        assert dml.nonzero_coordinates(x, out=out) is out
        np.testing.assert_array_equal(out[1], table)
    for wrong in ((6, 1), (6, 5), (5, 2), (2, 6, 2)):
        with pytest.raises(dml.InvalidDescError, match=r"must have .*: a row for each element of input"):
            dml.nonzero_coordinates(x, output_coordinates_sizes=wrong)
    one = dml.nonzero_coordinates(np.ones((1, 1), np.float32), output_coordinates_sizes=(1, 1))
    assert (one[0].item(), one[1].tolist()) == (1, [[0]])


def test_parts_of_coordinates(monkeypatch: pytest.MonkeyPatch) -> None:
    x = drawn(np.random.default_rng(7), (3, 4, 5), "f2")
    for block in (1, 6, 25):
        monkeypatch.setattr(blocks, "BLOCK", block)
        for one, other in zip(
            dml.compile(described("nonzero_coordinates", [x], {}), path="reference")(x),
            dml.nonzero_coordinates(x),
            strict=True,
        ):
            np.testing.assert_array_equal(one, other)


def test_coordinates_of_any_share() -> None:
    """Of more elements than are counted at once, in any layout."""
    random = np.random.default_rng(10)
    for number, share in enumerate((0.0, 0.001, 0.3, 0.999, 1.0)):
        x = (random.random((130, 5, 67)) < share).astype(DTYPES[number])
        for one in (x, np.asfortranarray(x), x[:, :, ::-1], x[::2, :, 1:60:3]):
            count, table = dml.nonzero_coordinates(one)
            expected = np.argwhere(one)
            assert int(count.item()) == len(expected)
            np.testing.assert_array_equal(table.reshape(-1, 3)[: len(expected)], expected)
            assert not table.reshape(-1, 3)[len(expected) :].any()


def test_memory_is_that_of_pieces() -> None:
    x = np.broadcast_to(np.arange(1 << 12).astype(np.uint8), (1 << 10, 1 << 12)).copy()
    for axis, k in ((1, 3), (0, 2)):
        assert peak(partial(chosen_by_reference, x, axis=axis, k=k)) < 12 << 20
    assert peak(lambda: chosen_by_reference(x.reshape(-1), axis=0, k=9)) < 12 << 20
