"""How buffers are printed: as C++ streams print numbers, with six significant digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from dmlcy._types import Array

_CHUNK: Final = 65536


def line(values: Array) -> Iterator[str]:
    """Pieces of ``1, 2.5, inf``."""
    form = _form(values)
    for start in range(0, values.size, _CHUNK):
        yield ", " if start else ""
        yield ", ".join(map(form, values[start : start + _CHUNK].tolist()))


def lines(values: Array) -> Iterator[str]:
    """One line a value: ``[index] value (0xHEX)``, the bits in hexadecimal."""
    form = _form(values)
    bits = values.view(np.dtype(f"<u{values.itemsize}"))
    width, digits = len(str(values.size)), values.itemsize * 2
    for index, (value, pattern) in enumerate(zip(values, bits, strict=True)):
        yield f"[{index:{width}}] {form(value.item())} (0x{int(pattern):0{digits}X})\n"


def _form(values: Array) -> Callable[[Any], str]:
    return _float if values.dtype.kind == "f" else str


def _float(value: float) -> str:
    return f"{value:g}"
