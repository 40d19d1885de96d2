"""Tensors of other libraries: their memory is read and written where it lies, and a refusal says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checks import assert_same_bits, compiled
from strategies import Array
from test_inputs import calls

import dmlcy as dml
from dmlcy._runtime.tensor import to_array, to_shared_array


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed")


class Producer:
    """DLPack and nothing else; ``device`` is what it claims to be on."""

    def __init__(self, data: Any, device: int = 1) -> None:
        self.data, self.device = data, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.__dlpack__(**options)


class Copies(Producer):
    """Exports a copy each time."""

    def __dlpack__(self, **options: Any) -> Any:
        return self.data.copy().__dlpack__(**options)


def address(array: Array | None) -> int:
    assert array is not None
    return int(array.ctypes.data)


def of_jax(x: Array) -> tuple[Any, int]:
    jax = library("jax")
    value = jax.numpy.asarray(x)
    return value, value.unsafe_buffer_pointer()


def of_torch(x: Array) -> tuple[Any, int]:
    value = library("torch").from_numpy(x.copy())
    return value, value.data_ptr()


def of_strict(x: Array) -> tuple[Any, int]:
    value = library("array_api_strict").asarray(x.copy())
    return value, np.from_dlpack(value).ctypes.data


PRODUCERS: dict[str, Callable[[Array], tuple[Any, int]]] = {
    "torch": of_torch,
    "jax": of_jax,
    "array_api_strict": of_strict,
    "DLPack alone": lambda x: (Producer(x), x.ctypes.data),
}


@calls
@pytest.mark.parametrize("produce", PRODUCERS.values(), ids=PRODUCERS)
def test_inputs_are_read_where_they_lie(
    name: str, inputs: list[Array], attributes: dict[str, Any], produce: Callable[[Array], tuple[Any, int]]
) -> None:
    made = [produce(x) for x in inputs]
    for value, where in made:
        assert address(to_array(value)) == where
    values = [value for value, _ in made]
    expected = getattr(dml, name)(*inputs, **attributes)
    assert_same_bits(getattr(dml, name)(*values, **attributes), expected)
    assert_same_bits(compiled(name, inputs, attributes)(*values), expected)


@calls
def test_results_are_arrays_that_torch_takes_without_a_copy(
    name: str, inputs: list[Array], attributes: dict[str, Any]
) -> None:
    torch = library("torch")
    result = getattr(dml, name)(*(torch.from_numpy(x) for x in inputs), **attributes)
    assert type(result) is np.ndarray
    assert torch.from_dlpack(result).data_ptr() == result.ctypes.data


@calls
@pytest.mark.parametrize("wrap", [lambda t: t, lambda t: t.mT.contiguous().mT], ids=["contiguous", "transposed"])
def test_out_of_torch_is_written_in_place_and_returned(
    name: str, inputs: list[Array], attributes: dict[str, Any], wrap: Callable[[Any], Any]
) -> None:
    torch = library("torch")
    expected = getattr(dml, name)(*inputs, **attributes)
    for run, options in ((getattr(dml, name), attributes), (compiled(name, inputs, attributes), {})):
        out = wrap(torch.full(expected.shape, 77.0))
        where, strides = out.data_ptr(), out.stride()
        assert address(to_shared_array(out)) == where
        assert run(*map(torch.from_numpy, inputs), **options, out=out) is out
        assert (out.data_ptr(), out.stride()) == (where, strides)
        assert_same_bits(out.numpy(), expected)


def test_out_of_another_library() -> None:
    xp = library("array_api_strict")
    out = xp.zeros((3,), dtype=xp.float64)
    assert dml.padding1(np.ones(2), start_padding=1, end_padding=0, out=out) is out
    assert np.from_dlpack(out).tolist() == [0, 1, 1]


def test_an_out_that_shares_memory_with_an_input_is_refused() -> None:
    tensor = library("torch").ones(4)
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.padding1(tensor[:2], start_padding=0, end_padding=1, out=tensor[1:])
    assert caught.value.id == "DML-PADDING1-output-overlap"


TORCH: dict[str, tuple[Callable[[Any], Any], str]] = {
    "requires grad": (lambda torch: torch.ones(2, requires_grad=True), "requires grad"),
    "parameter": (lambda torch: torch.nn.Parameter(torch.ones(2)), "requires grad"),
    "bfloat16": (lambda torch: torch.ones(2, dtype=torch.bfloat16), "The data type is bfloat16"),
    "float8": (lambda torch: torch.ones(2).to(torch.float8_e5m2), "The data type is float8_e5m2"),
    "meta": (lambda torch: torch.ones(2, device="meta"), "meta device"),
    "sparse": (lambda torch: torch.eye(2).to_sparse(), "to_dense"),
    "conjugated": (lambda torch: torch.ones(2, dtype=torch.complex64).conj(), "resolve_conj"),
    "negated": (lambda torch: torch.ones(2, dtype=torch.complex64).conj().imag, "resolve_neg"),
    "complex": (lambda torch: torch.ones(2, dtype=torch.complex64), "has data type complex64, which is not among"),
}


@pytest.mark.parametrize(("make", "why"), TORCH.values(), ids=TORCH)
@pytest.mark.parametrize("role", ["input", "out"])
def test_tensors_of_torch_that_are_refused(make: Callable[[Any], Any], why: str, role: str) -> None:
    value, other = make(library("torch")), np.full(2, 77, np.float32)
    arguments = {"input": other, "out": other.copy()} | {role: value}
    with pytest.raises(dml.InvalidDataTypeError) as caught:
        dml.padding1(**arguments, start_padding=0, end_padding=0)
    (violation,) = [one for one in caught.value.violations if one.field == ("input" if role == "input" else "output")]
    assert why in violation.text
    assert role == "out" or arguments["out"].tolist() == [77, 77]


def test_a_negated_tensor_is_not_read_with_the_wrong_signs() -> None:
    torch = library("torch")
    negated = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    assert to_array(negated) is None and to_shared_array(negated) is None
    result = dml.padding1(negated.resolve_neg(), start_padding=0, end_padding=0)
    assert result.tolist() == [-2, -4]


@pytest.mark.parametrize(("device", "name"), [(2, "CUDA"), (8, "Metal"), (99, "DLPack device type 99")])
def test_memory_on_another_device(device: int, name: str) -> None:
    with pytest.raises(dml.InvalidDataTypeError) as caught:
        dml.padding1(Producer(np.ones(2), device), start_padding=0, end_padding=0)
    assert f"The memory is on another device ({name}): copy the array to the CPU first." in str(caught.value)


def test_what_dlpack_raises_stands_in_the_refusal() -> None:
    bfloat16 = library("torch").ones(2, dtype=library("torch").bfloat16)
    with pytest.raises(dml.InvalidDataTypeError, match=r"numpy\.from_dlpack says: Unsupported dtype"):
        dml.padding1(Producer(bfloat16), start_padding=0, end_padding=0)


def read_only(producer: str) -> Any:
    """Two elements of 1, in an array that no call may write to."""
    if producer == "jax":
        return of_jax(np.ones(2))[0]
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("NumPy 2.0 exports no read-only memory")
    locked = np.ones(2)
    locked.flags.writeable = False
    return Producer(locked)


@pytest.mark.parametrize("producer", ["numpy", "jax"])
def test_read_only_memory_is_an_input_and_no_output(producer: str) -> None:
    value = read_only(producer)
    assert dml.padding1(value, start_padding=1, end_padding=0).tolist() == [0, 1, 1]
    dtype = to_array(value).dtype  # type: ignore[union-attr]
    with pytest.raises(dml.InvalidDescError) as caught:
        dml.padding1(np.ones(2, dtype), start_padding=0, end_padding=0, out=value)
    assert caught.value.id == "DML-PADDING1-output-readonly"


def test_an_output_that_only_gives_copies() -> None:
    data = np.zeros(2)
    assert dml.padding1(Copies(data), start_padding=0, end_padding=0).tolist() == [0, 0]
    with pytest.raises(dml.InvalidDataTypeError, match="gives NumPy a copy") as caught:
        dml.padding1(np.ones(2), start_padding=0, end_padding=0, out=Copies(data))
    assert caught.value.id == "DML-PADDING1-output-type"
    assert data.tolist() == [0, 0]


def test_values_that_are_traced_and_not_there_yet() -> None:
    jax = library("jax")

    def padded(x: Any) -> Any:
        return dml.padding1(x, start_padding=0, end_padding=0)

    with pytest.raises(dml.InvalidDataTypeError, match="traced array"):
        jax.jit(padded)(jax.numpy.ones(2))
