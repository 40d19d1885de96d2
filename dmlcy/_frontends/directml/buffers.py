"""Arrays for the tensors of a graph: what is converted, what is refused, and buffers that stay on the device."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dmlcy._desc.memory import view
from dmlcy._field_types.tensor_desc import TensorDesc as Desc
from dmlcy._frontends.directml.device import Device
from dmlcy._frontends.directml.execution import current
from dmlcy._frontends.directml.refusals import refuse
from dmlcy._frontends.directml.tensors import NUMPY, TensorDesc, data_type_of, numpy_type
from dmlcy._generated.directml.enums import TensorDataType
from dmlcy._runtime.tensor import to_array
from dmlcy._types import Array, DType
from dmlcy._words.values import show


class Buffer:
    """A tensor on the device, which graphs take and give without a copy.

    Parameters
    ----------
    device
        The device.
    array
        Anything that ``numpy.asarray`` takes. The constructor copies the array; a 0-d array has the size 1.
    dtype
        The data type; None: that of the array.
    """

    def __init__(self, device: Device, array: object, dtype: TensorDataType | npt.DTypeLike | None = None) -> None:
        if not isinstance(device, Device):
            raise TypeError(f"Buffer() takes a Device, not {show(device)}")
        if isinstance(array, Buffer):
            raise TypeError("Buffer() takes an array, not a Buffer: numpy() gives its array")
        given = array_of(array)
        target = element_type(given, dtype, "Buffer", "the array")
        self._device = device
        self._data = np.atleast_1d(converted(given, target, "Buffer", "the array", always=True))

    @classmethod
    def _of(cls, device: Device, data: Array) -> Buffer:
        """A buffer of an array that nobody else has."""
        found: Buffer = object.__new__(cls)
        found._device, found._data = device, data
        return found

    @property
    def device(self) -> Device:
        """The device that it is on."""
        return self._device

    @property
    def desc(self) -> TensorDesc:
        """The desc of the tensor."""
        return TensorDesc(self._data.dtype, self._data.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self._data.shape

    @property
    def strides(self) -> tuple[int, ...] | None:
        """None: the elements are packed."""
        return None

    @property
    def dtype(self) -> DType:
        """The data type of the elements."""
        return self._data.dtype

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self._data.size

    @property
    def nbytes(self) -> int:
        """How many bytes they have."""
        return self._data.nbytes

    def numpy(self) -> Array:
        """A copy of the elements as a NumPy array."""
        return self._data.copy()

    def __repr__(self) -> str:
        return f"dml.Buffer of type {self.dtype} and shape {[*self.shape]}"


def array_of(given: object) -> Array:
    """The array of an argument; TypeError for what is none of a data type of tensors."""
    found = to_array(given)
    array = np.asarray(given if found is None else found)
    if array.dtype.newbyteorder("=") not in NUMPY and array.dtype != np.bool_:
        raise TypeError(f"an array of numbers is needed, not {show(given)}")
    return array


def element_type(array: Array, dtype: object, function: str, label: str) -> DType:
    """The data type of a tensor that is made of an array: the one that is asked for, or that of the array."""
    if dtype is not None:
        return np.dtype(data_type_of(dtype, function, "dtype").lower())
    found = array.dtype.newbyteorder("=")
    if found not in NUMPY:
        refuse(function, "bound-kind", label=label, actual=str(found), expected="that of a tensor")
    return found


def converted(given: Array, target: DType, function: str, label: str, always: bool = False) -> Array:
    """The array with this data type, packed; ``always``: a copy even where it is so already."""
    must_convert(given, target, function, label)
    with np.errstate(over="ignore"):
        return np.array(given, target, order="C", copy=True) if always else np.ascontiguousarray(given, target)


def must_convert(given: Array, target: DType, function: str, label: str) -> None:
    """Refuses a conversion to another kind of data types that NumPy does not call safe."""
    if given.dtype.kind != target.kind and not np.can_cast(given.dtype, target, "safe"):
        refuse(function, "bound-kind", label=label, actual=str(given.dtype), expected=str(target))


def bound(given: object, desc: Desc, device: Device, function: str, label: str) -> Array:
    """An array or a Buffer as the tensor of an input: its own memory where that has the elements already."""
    target = numpy_type(desc)
    if current().is_unknown(given):
        return np.zeros(desc.sizes, target)
    if isinstance(given, Buffer):
        if given._device is not device:
            refuse(function, "bound-device", label=label)
        if given._data.dtype != target:
            refuse(function, "bound-type", label=label, actual=str(given._data.dtype), expected=str(target))
        array = given._data
    else:
        array = array_of(given)
        if desc.strides is None:
            count_fits(array, desc.sizes, function, label)
        array = converted(array, target, function, label)
    if desc.strides is None:
        count_fits(array, desc.sizes, function, label)
        return array.reshape(desc.sizes)
    if array.nbytes < (total := desc.total_tensor_size_in_bytes) and -(-array.nbytes // 4) * 4 < total:
        refuse(function, "bound-bytes", label=label, actual=array.nbytes, expected=total)
    return view(array.reshape(-1).view(np.uint8), desc, 0)


def count_fits(array: Array, sizes: tuple[int, ...], function: str, label: str) -> None:
    """Refuses an array that has another number of elements than these sizes."""
    if array.size != math.prod(sizes):
        refuse(
            function, "bound-count", label=label, actual=array.size, expected=math.prod(sizes), sizes=[*sizes],
            shape=[*array.shape],
        )  # fmt: skip
