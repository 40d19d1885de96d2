"""From Python objects to tensors: what is taken, what is refused, what overlaps."""

import array
import ctypes
import itertools
import mmap
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from depth import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from naming import case_name
from numpy.lib.stride_tricks import as_strided

from dmlcy._runtime.tensor import may_overlap, self_overlaps, to_array, to_shared_array

DTYPES = dict(zip(["f4", "f2", "u4", "u2", "u1", "i4", "i2", "i1", "f8", "u8", "i8"], range(1, 12), strict=True))


class WithArray:
    """An object that only has __array__; a copy each time, or always the same memory."""

    def __init__(self, data: Any, copies: bool = False) -> None:
        self.data, self.copies = data, copies

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.data.copy() if self.copies else self.data


class WithDlpack(WithArray):
    """An object with DLPack too, of any device, in the form before version 1 (which NumPy takes as read-only)."""

    device = 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **_: Any) -> Any:
        return self.data.__dlpack__()


def address(value: Any) -> int:
    return int(value.__array_interface__["data"][0])


# Objects


def test_arrays_are_taken_as_they_are() -> None:
    for value in (
        np.zeros((2, 3)),
        np.zeros(4)[::-2],
        np.zeros((2, 2)).view(np.matrix),
    ):
        assert to_array(value) is value
        assert to_shared_array(value) is value


TRUTHS: Any = np.array([True, False])


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (np.array([[True, False]]), np.uint8, (1, 2)),
        (np.array([True, False, True])[::2], np.uint8, (2,)),
        (np.array(7, np.int16), np.int16, (1,)),
        (np.array(True), np.uint8, (1,)),
        (memoryview(TRUTHS), np.uint8, (2,)),
    ],
)
def test_an_input_without_a_data_type_or_dimensions_of_its_own_is_viewed(value: Any, dtype: Any, shape: Any) -> None:
    array = to_array(value)
    assert array is not None and array.dtype == dtype and array.shape == shape
    assert address(array) == address(np.asarray(value))
    if isinstance(value, np.ndarray):
        assert to_shared_array(value) is value  # an output is what it is


@pytest.mark.parametrize(
    "value",
    [None, 1, 1.5, True, "text", [1, 2], (1.0,), {}, object(), np.float32(1), np.int64(1), np.str_("a"), np.ndarray,
     WithArray, np.ma.array([1.0], mask=[False]), np.ma.masked, range(3)],
    ids=case_name,
)  # fmt: skip
def test_what_is_no_array_is_refused(value: Any) -> None:
    assert to_array(value) is None
    assert to_shared_array(value) is None


def test_buffers_share_memory() -> None:
    data = bytearray(8)
    for value in (data, memoryview(data), memoryview(data).cast("f"), array.array("f", [1, 2]), mmap.mmap(-1, 64),
                  (ctypes.c_float * 3)(), memoryview(data)[::2]):  # fmt: skip
        taken, shared = to_array(value), to_shared_array(value)
        assert taken is not None and shared is not None
        assert address(taken) == address(shared) and shared.flags.writeable
        del taken, shared
    taken = to_array(b"abc")
    assert taken is not None and taken.dtype == np.uint8 and taken.shape == (3,) and not taken.flags.writeable


def test_unusable_buffers_are_refused() -> None:
    released = memoryview(b"abc")
    released.release()
    assert to_array(released) is None


def test_array_protocol() -> None:
    data = np.arange(3.0)
    assert to_array(WithArray(data)) is data
    assert to_shared_array(WithArray(data)) is data
    copy = to_array(WithArray(data, copies=True))
    assert copy is not None and address(copy) != address(data)
    assert to_shared_array(WithArray(data, copies=True)) is None


def test_what_the_array_protocol_raises_is_a_refusal() -> None:
    class Fails:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise RuntimeError("my reason")

    assert to_array(Fails()) is None

    class Full:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise MemoryError("full")

    with pytest.raises(MemoryError, match="full"):
        to_array(Full())


def test_dlpack() -> None:
    data = np.arange(3.0)
    value = WithDlpack(data)
    taken = to_array(value)
    assert taken is not None and address(taken) == address(data)
    shared = to_shared_array(value)
    assert shared is not None and shared.flags.writeable and address(shared) == address(data)
    value.device = 2
    assert to_array(value) is data


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(2, 3)
    for value in (tensor, tensor.T, tensor[:, ::2], tensor[:1].expand(4, 3)):
        taken, shared = to_array(value), to_shared_array(value)
        assert taken is not None and shared is not None
        assert taken.flags.writeable and taken.shape == tuple(value.shape)
        assert address(taken) == address(shared) == value.data_ptr()
    assert to_array(torch.zeros(2, requires_grad=True)) is None
    assert to_array(torch.zeros(2, dtype=torch.bfloat16)) is None


# Views


@pytest.mark.parametrize("character", "bhilqBHILQefd")
def test_data_types(probe: ModuleType, character: str) -> None:
    dtype = np.dtype(character)
    seen = probe.view(np.zeros(2, dtype))
    assert seen["dtype"] == DTYPES[dtype.str[1:]]
    assert seen["item"] == probe.item_of(seen["dtype"]) == dtype.itemsize


@pytest.mark.parametrize(
    "dtype", ["?", "F", "D", "O", "S4", "U4", "V4", "M8[s]", "m8[s]", "f4,f4", np.dtype("f4").newbyteorder()], ids=str
)
def test_refused_data_types(probe: ModuleType, dtype: Any) -> None:
    assert probe.view(np.zeros(2, dtype)) is None


def test_swapped_single_bytes_are_native(probe: ModuleType) -> None:
    assert probe.view(np.zeros(2, np.dtype("u1").newbyteorder()))["dtype"] == DTYPES["u1"]


def test_ranks(probe: ModuleType) -> None:
    assert probe.view(np.zeros(())) is None
    assert probe.view(np.zeros((1,) * 9)) is None
    assert probe.view(None) is None
    assert len(probe.view(np.zeros((1,) * 8))["sizes"]) == 8


def test_layouts(probe: ModuleType) -> None:
    data = np.zeros((2, 3, 4), np.int16)
    for value in (data, data.T, data[::-1, ::2, ::-3], np.broadcast_to(data[0, 0], (5, 4)), data[:, :0]):
        seen = probe.view(value)
        assert (seen["data"], seen["sizes"]) == (address(value), value.shape)
        assert seen["strides"] == value.strides
    odd = np.zeros(9, np.uint8)[1:].view(np.float32)
    assert probe.view(odd)["data"] == address(odd)


def test_sizes_of_one_have_dense_strides(probe: ModuleType) -> None:
    value = as_strided(np.zeros(8, np.float32), (1, 2, 1, 3, 1), (7, 16, 3, 4, -5))
    assert probe.view(value)["strides"] == (32, 16, 12, 4, 4)


def test_set_rank(probe: ModuleType) -> None:
    value = np.zeros((1, 2, 3), np.int8)
    more = probe.view(value.T.copy().T, 5)[1]
    assert more["sizes"] == (1, 1, 1, 2, 3) and more["strides"] == (2, 2, 2, 1, 2)
    less = probe.view(value, 2)
    assert less == (True, probe.view(value[0]))
    full = probe.view(value, 8)[1]
    assert full["sizes"] == (1,) * 6 + (2, 3)


@pytest.mark.parametrize("rank", [-1, 0, 1, 9])
def test_impossible_ranks_change_nothing(probe: ModuleType, rank: int) -> None:
    value = np.zeros((1, 2, 3), np.int8)
    assert probe.view(value, rank) == (False, probe.view(value))
    assert probe.new_array(value, rank) is None


# New arrays and outputs


@pytest.mark.parametrize("name", DTYPES)
def test_new_arrays(probe: ModuleType, name: str) -> None:
    made, seen = probe.new_array(np.zeros((2, 3), name)[:, ::-1], 3)
    assert made.shape == (1, 2, 3) and made.dtype == np.dtype(name) and made.flags.c_contiguous
    assert seen == probe.view(made)


def test_memory_errors(probe: ModuleType) -> None:
    huge = np.broadcast_to(np.zeros(1), (2**30, 2**24))
    with pytest.raises(MemoryError):
        probe.new_array(huge, 2)


def test_out(probe: ModuleType) -> None:
    like = np.zeros((2, 3), np.float32)
    for out in (
        np.ones((2, 3), "f4"),
        np.ones((3, 2), "f4").T,
        np.ones((4, 3), "f4")[::-2],
        np.ones((2, 3), "f4").data,
    ):
        taken, seen = probe.out_array(out, like)
        assert seen == probe.view(out) and np.all(np.asarray(out) == 1)
        assert taken is out or not isinstance(out, np.ndarray)


@pytest.mark.parametrize(
    "out",
    [None, [[0.0] * 3] * 2, np.zeros((2, 3)), np.zeros((3, 2), "f4"), np.zeros((1, 2, 3), "f4"), np.zeros(6, "f4"),
     np.zeros((2, 3), np.dtype("f4").newbyteorder()), np.broadcast_to(np.float32(0), (2, 3)), b"a" * 24,
     np.ma.zeros((2, 3), "f4"), WithArray(np.zeros((2, 3), "f4"), copies=True)],
    ids=lambda out: type(out).__name__,
)  # fmt: skip
def test_refused_out(probe: ModuleType, out: Any) -> None:
    like = np.zeros((2, 3), np.float32)
    assert probe.out_array(out, like) == (None, probe.view(like))


def test_torch_out(probe: ModuleType) -> None:
    torch = pytest.importorskip("torch")
    out = torch.zeros(2, 3)
    taken, seen = probe.out_array(out, np.zeros((2, 3), np.float32))
    taken[1, 2] = 5
    assert out[1, 2] == 5 and seen["data"] == out.data_ptr()


# Alignment


def test_aligned_arrays_stay(probe: ModuleType) -> None:
    for value in (np.zeros((2, 3)), np.zeros((2, 3))[:, ::-1], np.broadcast_to(np.zeros(3), (2, 3)), np.zeros((2, 0))):
        taken, seen = probe.aligned(value)
        assert taken is value and seen == probe.view(value)


@pytest.mark.parametrize("name", [name for name in DTYPES if name[1] != "1"])
def test_misaligned_arrays_are_copied(probe: ModuleType, name: str) -> None:
    item = np.dtype(name).itemsize
    memory = np.arange(200, dtype=np.uint8)
    shifted = memory[1 : 1 + 6 * item].view(name).reshape(2, 3)
    records = memory[: 8 * (item + 1)].view(np.dtype([("pad", "u1"), ("x", name)]))["x"][::-1].reshape(2, 4)
    step = as_strided(memory.view(name), (2, 3), (2 * item + 1, item))
    for value in (shifted, records, step):
        taken, seen = probe.aligned(value, 3)
        assert taken is not value and taken.flags.c_contiguous and taken.flags.aligned
        assert taken.tobytes() == value.tobytes()
        assert seen == probe.view(taken, 3)[1]


def test_strides_of_single_elements_need_no_copy(probe: ModuleType) -> None:
    value = as_strided(np.zeros(4, np.float32), (1, 2), (3, 4))
    assert probe.aligned(value)[0] is value


# Overlap


def test_overlap() -> None:
    data = np.zeros((4, 6), np.float32)
    assert may_overlap(data, data)
    assert may_overlap(data, data[1:2, 3:4])
    assert may_overlap(data[::-1], data.T)
    assert not may_overlap(data, data.copy())
    assert not may_overlap(data[:2], data[2:])
    assert not may_overlap(data[:, ::2], data[:, 1::2])
    assert not may_overlap(data[::-1, ::-2], data[:, ::2])
    assert not may_overlap(data, data[:, :0]) and not may_overlap(data[:0], data)
    assert may_overlap(data, data.data)
    assert not may_overlap(data, [1]) and not may_overlap(None, data)


def test_overlap_of_part_of_an_element() -> None:
    memory = np.zeros(32, np.uint8)
    left = memory[0:16].view(np.float32)
    assert may_overlap(left, memory[15:31].view(np.float32))
    assert not may_overlap(left, memory[16:32].view(np.float32))


def test_undecided_overlap_counts_as_yes() -> None:
    # Found by trial: eight interlocked axes each, which take more than the work limit to decide.
    memory = np.zeros(1 << 20, np.int8)
    left = as_strided(memory, (3,) * 8, (25137, 26221, 21463, 37955, 25156, 38423, 35262, 23449))
    undecided = 0
    for shift in range(1, 60):
        right = as_strided(memory[shift:], (3,) * 8, (33957, 35470, 22573, 22594, 27524, 21374, 28418, 29596))
        try:
            np.shares_memory(left, right, max_work=100_000)  # type: ignore[arg-type]
        except np.exceptions.TooHardError:
            undecided += 1
            assert may_overlap(left, right)
    assert undecided


def test_self_overlap() -> None:
    data = np.zeros((4, 6), np.float32)
    for value in (data, data.T, data[::-2, ::3], data[:1], data[:, :0], np.zeros(1), as_strided(data, (1, 3), (0, 4))):
        assert not self_overlaps(value)
    assert self_overlaps(np.broadcast_to(data, (2, 4, 6)))
    assert self_overlaps(np.lib.stride_tricks.sliding_window_view(data, 2, axis=1))
    assert self_overlaps(as_strided(data, (3,), (3,)))
    assert self_overlaps(as_strided(data, (3,), (-3,)))
    assert not self_overlaps(as_strided(data, (3, 2), (8, 12)))  # 0 8 16 and 12 20 28
    assert not self_overlaps(np.zeros((2, 2), bool)) and not self_overlaps([1])


def test_undecided_self_overlap_counts_as_yes() -> None:
    data = np.zeros(1 << 12, np.int8)
    assert self_overlaps(as_strided(data, (600, 600), (1000, 1501)))


layouts = st.integers(1, 4).flatmap(
    lambda rank: st.tuples(
        st.lists(st.integers(1, 4), min_size=rank, max_size=rank),
        st.lists(st.integers(-12, 12), min_size=rank, max_size=rank),
        st.sampled_from([1, 2, 4]),
    )
)


def touched(value: Any) -> list[int]:
    """Return the address of every byte, as often as an element has it."""
    indices = itertools.product(*map(range, value.shape))
    starts = [address(value) + sum(i * step for i, step in zip(index, value.strides, strict=True)) for index in indices]
    return [start + byte for start in starts for byte in range(value.itemsize)]


@settings(max_examples=examples(300), deadline=None)
@given(layouts, layouts, st.integers(0, 20))
def test_overlaps_are_exact(left: Any, right: Any, shift: int) -> None:
    memory = np.zeros(600, np.uint8)
    views = [
        as_strided(memory[300 + start :][:item].view(f"u{item}"), sizes, steps)
        for (sizes, steps, item), start in ((left, 0), (right, shift))
    ]
    for value in views:
        assert self_overlaps(value) == (len(set(touched(value))) < len(touched(value)))
    assert may_overlap(*views) == bool(set(touched(views[0])) & set(touched(views[1])))
