"""Why an object of another library, which has a protocol for arrays, gives none: in its own words where it has some."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dmlcy._facts.tables import DTYPES
from dmlcy._runtime.tensor import offers
from dmlcy._words.values import is_a, plain, show

CPU: Final = 1
DEVICES: Final = {
    2: "CUDA",
    3: "CUDA host",
    4: "OpenCL",
    7: "Vulkan",
    8: "Metal",
    10: "ROCm",
    11: "ROCm host",
    14: "oneAPI",
}
"""Devices of DLPack."""
MASKED: Final = "Operators do not take masks: pass the filled() array or the data of the array."
UNSHARED: Final = "The object gives NumPy a copy, so the result would not reach the object."


def is_foreign(value: object) -> bool:
    """Whether the value is of another library and claims to be an array."""
    cls = type(value)
    return any(offers(cls, name) for name in ("__array__", "__dlpack__")) and not is_a(value, np.ndarray, np.generic)


def complaint(value: object, written: bool) -> tuple[str, Exception | None]:
    """Why it cannot be taken, or written to, nothing where there is no telling; and the error that it raises."""
    device = _device(value)
    if device:
        return device, None
    words, cause = _words(value)
    return " ".join(part for part in (_data_type(value), words) if part) or (UNSHARED if written else ""), cause


def _device(value: Any) -> str:
    """The device of its memory, where that is not the CPU."""
    try:
        device = int(value.__dlpack_device__()[0])
    except Exception:
        return ""
    name = DEVICES.get(device, f"DLPack device type {device}")
    return "" if device == CPU else f"The memory is on another device ({name}): copy the array to the CPU first."


def _data_type(value: Any) -> str:
    """Its data type, where DirectML has none of that name."""
    try:
        name = str(value.dtype).rpartition(".")[2]
    except Exception:
        return ""
    known = any(dtype.numpy == name for dtype in DTYPES.values())
    return "" if known else f"The data type is {plain(name)}: convert the array first."


def _words(value: Any) -> tuple[str, Exception | None]:
    """The words of its protocols and the exception that they raise; or that the array is masked."""
    said, cause = "", None
    for name, protocol, take in (
        ("from_dlpack", "__dlpack__", np.from_dlpack),
        ("asarray", "__array__", np.asanyarray),
    ):
        if offers(type(value), protocol):
            try:
                said = MASKED if is_a(take(value), np.ma.MaskedArray) else said
            except MemoryError:
                raise
            except Exception as error:
                said, cause = f"numpy.{name} says: {_text(error)}", error
    return said, cause


def _text(error: Exception) -> str:
    try:
        return str(plain(" ".join(str(error).split())))
    except Exception:
        return show(type(error))
