"""Objects that an operator takes as a tensor, without a copy or a cast, and objects that it refuses."""

from __future__ import annotations

import array
import ctypes
import mmap
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, compiled
from each import each_of
from strategies import DTYPES, Array, small_integers

import dmlcy as dml

# Each operator takes an input of the sizes 1, 4, 2, 3.
X = small_integers(1, (1, 4, 2, 3), "f4")
ROI = np.array([[[[0, 0, 0, 2, 1], [0, 1, 0, 1, 1]]]], "f4")
CALLS: dict[str, tuple[list[Array], dict[str, Any]]] = {
    "average_pooling": ([X], {"window_size": 2}),
    "max_pooling": ([X], {"window_size": 2}),
    "max_pooling1": ([X], {"window_size": 2}),
    "max_pooling2": ([X], {"window_size": (1, 2), "dilations": 2}),
    "lp_pooling": ([X], {"window_size": 2, "p": 2}),
    "lp_pooling1": ([X], {"window_size": (1, 2), "dilations": (1, 2), "p": 1}),
    "roi_pooling": ([X, ROI], {"spatial_scale": 1.0, "pooled_size": (2, 2)}),
    "depth_to_space1": ([X], {"block_size": 2}),
    "padding1": ([X], {"start_padding": 1, "end_padding": 0}),
    "unfold": ([X], {"window_sizes": 2}),
}
MOVES = ["depth_to_space1", "padding1", "unfold"]
calls = each_of("name, inputs, attributes", [(name, *call) for name, call in CALLS.items()])


class WithArray:
    """Only has __array__."""

    def __init__(self, data: Array) -> None:
        self.data = data

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return self.data


class WithDlpack:
    """Has DLPack; its __array__ must not be asked."""

    def __init__(self, data: Array) -> None:
        self.data = data

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        raise AssertionError("would be a detour")


class Subclass(np.ndarray[Any, Any]):
    """An array with its own idea of every operation."""

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("asked for arithmetic")

    def __array_function__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("asked for a function")


def as_memoryview(x: Array) -> memoryview[float]:
    return memoryview(array.array("f", x.ravel().tolist())).cast("B").cast("f", x.shape)


def as_ctypes(x: Array) -> Any:
    kind: Any = ctypes.c_float
    for size in reversed(x.shape):
        kind *= size
    return kind.from_buffer_copy(x.tobytes())


def as_map(x: Array) -> memoryview[float]:
    memory = mmap.mmap(-1, x.nbytes)
    memory[:] = x.tobytes()
    return memoryview(memory).cast("f", x.shape)


def read_only(x: Array) -> Array:
    view = x.view()
    view.flags.writeable = False
    return view


TAKEN: dict[str, Callable[[Array], Any]] = {
    "array": lambda x: x,
    "read-only array": read_only,
    "subclass": lambda x: x.view(Subclass),
    "recarray": lambda x: x.view(np.recarray),
    "array over a subclass": lambda x: np.asarray(x.view(Subclass)),
    "memoryview": as_memoryview,
    "read-only memoryview": lambda x: memoryview(x.tobytes()).cast("f", x.shape),
    "ctypes": as_ctypes,
    "mmap": as_map,
    "__array__": WithArray,
    "DLPack": WithDlpack,
}


@calls
@pytest.mark.parametrize("wrap", TAKEN.values(), ids=TAKEN)
def test_what_is_taken(
    name: str, inputs: list[Array], attributes: dict[str, Any], wrap: Callable[[Array], Any]
) -> None:
    function = getattr(dml, name)
    expected = function(*inputs, **attributes)
    result = function(*map(wrap, inputs), **attributes)
    assert type(result) is np.ndarray
    assert_same_bits(result, expected)
    assert_same_bits(compiled(name, inputs, attributes)(*map(wrap, inputs)), expected)


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_array_array(code: str) -> None:
    values = array.array(code, [1, 2, 3])
    result = dml.padding1(values, start_padding=1, end_padding=2)
    assert result.tolist() == [0, 1, 2, 3, 0, 0]
    assert result.dtype == np.asarray(values).dtype


def test_bytes() -> None:
    for data in (b"abc", bytearray(b"abc"), memoryview(b"abc"), memoryview(b"-a-b-c")[1::2], memoryview(b"cba")[::-1]):
        result = dml.padding1(data, start_padding=1, end_padding=1, padding_mode="EDGE")
        assert result.dtype == np.uint8 and result.tobytes() == b"aabcc"


@pytest.mark.parametrize("dtype", DTYPES)
@each_of("name", MOVES)
def test_every_data_type_of_the_moves(name: str, dtype: str) -> None:
    inputs, attributes = CALLS[name]
    x = np.abs(inputs[0]).astype(dtype)
    result = getattr(dml, name)(x, **attributes)
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result, getattr(dml, name)(np.abs(inputs[0]), **attributes))


def test_other_names_of_the_same_data_type() -> None:
    for code in "bhilqBHILQefd":
        assert dml.padding1(np.ones(2, code), start_padding=1, end_padding=0).dtype == np.dtype(code)


# DLPack

FLOATS, BITS = ["float64", "float32", "float16"], [8, 16, 32, 64]
TORCH_TYPES = [*FLOATS, *(f"int{bits}" for bits in BITS), *(f"uint{bits}" for bits in BITS)]


@calls
def test_torch_tensors(name: str, inputs: list[Array], attributes: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    function = getattr(dml, name)
    expected = function(*inputs, **attributes)
    tensors = [torch.from_numpy(x.copy()) for x in inputs]
    assert_same_bits(function(*tensors, **attributes), expected)
    turned = tensors[0].permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    assert_same_bits(function(turned, *tensors[1:], **attributes), expected)
    out = torch.empty(expected.shape)
    assert function(*tensors, **attributes, out=out) is out
    assert_same_bits(out.numpy(), expected)
    # Without a copy the memory of input and output is known to be the same.
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.padding1(tensors[0], start_padding=0, end_padding=0, out=tensors[0].numpy())
    assert caught.value.id == "DML-PADDING1-output-overlap"


@pytest.mark.parametrize("name", TORCH_TYPES)
def test_torch_data_types(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = torch.ones(2, 2, dtype=torch.float32).to(getattr(torch, name))
    result = dml.padding1(tensor, start_padding=1, end_padding=0)
    assert result.dtype == np.dtype(name) and result.tolist() == [[0, 0, 0], [0, 1, 1], [0, 1, 1]]


@pytest.mark.parametrize("name", ["bfloat16", "complex64"])
def test_torch_data_types_that_directml_has_not(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(dml.InvalidDataTypeError):
        dml.padding1(torch.ones(2, dtype=getattr(torch, name)), start_padding=1, end_padding=0)


# Out


@calls
def test_out_may_be_what_shares_its_memory(name: str, inputs: list[Array], attributes: dict[str, Any]) -> None:
    function = getattr(dml, name)
    expected = function(*inputs, **attributes)
    zeros = np.zeros_like(expected)
    for wrap in (as_memoryview, as_ctypes, as_map, WithArray, lambda x: x.view(Subclass)):
        out = wrap(zeros.copy())
        for run in (function, compiled(name, inputs, attributes)):
            options = attributes if run is function else {}
            assert run(*inputs, **options, out=out) is out
            values = out.data if isinstance(out, WithArray) else out
            assert_same_bits(np.asarray(values).view(np.ndarray), expected)


# Refused

REFUSED: dict[str, tuple[Callable[[Array], Any], str]] = {
    "list": (lambda x: x.tolist(), "type"),
    "tuple": (tuple, "type"),
    "list of arrays": (list, "type"),
    "masked array": (np.ma.array, "type"),
    "masked": (lambda x: np.ma.masked, "type"),
    "text": (lambda x: "1.0", "type"),
    "number": (lambda x: 1.0, "type"),
    "scalar": (lambda x: np.float32(1), "type"),
    "class": (lambda x: np.ndarray, "type"),
    "objects": (lambda x: x.astype(object), "dtype"),
    "complex": (lambda x: x.astype(complex), "dtype"),
    "structured": (lambda x: x.view([("a", "f4")]), "dtype"),
    "strings": (lambda x: x.astype("U8"), "dtype"),
    "bytes of a record": (lambda x: x.view("V4"), "dtype"),
    "times": (lambda x: x.astype("m8[s]"), "dtype"),
    "long double": (lambda x: x.astype("g"), "dtype"),
    "foreign byte order": (lambda x: x.astype(">f4" if sys.byteorder == "little" else "<f4"), "byteorder"),
    "__array__ of objects": (lambda x: WithArray(x.astype(object)), "dtype"),
    "no elements": (lambda x: x[:0], "range"),
}


@calls
@pytest.mark.parametrize(("make", "slug"), REFUSED.values(), ids=REFUSED)
@each_of("position", [0, 1])
def test_what_is_refused(
    name: str, inputs: list[Array], attributes: dict[str, Any], make: Callable[[Array], Any], slug: str, position: int
) -> None:
    if position >= len(inputs):
        return
    function = getattr(dml, name)
    out = np.full_like(function(*inputs, **attributes), 77)
    if np.dtype("g").itemsize == 8 and slug == "dtype" and make(X).dtype.char == "g":
        return  # long double is double here
    field = ["input", "roi"][position]
    values = [make(x) if number == position else x for number, x in enumerate(inputs)]
    with pytest.raises(dml.DmlError) as caught:
        function(*values, **attributes, out=out)
    ids = [violation.id for violation in caught.value.violations]
    assert f"DML-{name.upper()}-{field}-{slug}" in ids
    with pytest.raises(dml.DmlError):
        compiled(name, inputs, attributes)(*values, out=out)
    np.testing.assert_array_equal(out, 77)


@calls
def test_what_array_raises_stands_in_the_refusal(name: str, inputs: list[Array], attributes: dict[str, Any]) -> None:
    class Broken:
        error: type[BaseException] = LookupError

        def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
            raise self.error("nothing here")

    for run, options in ((getattr(dml, name), attributes), (compiled(name, inputs, attributes), {})):
        Broken.error = LookupError
        with pytest.raises(dml.InvalidDataTypeError, match="nothing here") as caught:
            run(Broken(), *inputs[1:], **options)
        assert caught.value.id == f"DML-{name.upper()}-input-type"
        Broken.error = KeyboardInterrupt
        with pytest.raises(KeyboardInterrupt):
            run(Broken(), *inputs[1:], **options)


def test_torch_tensors_that_need_gradients_are_refused() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(dml.InvalidDataTypeError, match="requires grad"):
        dml.padding1(torch.ones(2, requires_grad=True), start_padding=1, end_padding=0)


def test_subclasses_give_no_warnings(tmp_path: Path) -> None:
    matrix = np.memmap(tmp_path / "data", "f4", "w+", shape=(2, 2))
    matrix[:] = [[1, 2], [3, 4]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = dml.padding1(matrix, start_padding=0, end_padding=1)
    assert type(result) is np.ndarray and result.tolist() == [[1, 2, 0], [3, 4, 0], [0, 0, 0]]
