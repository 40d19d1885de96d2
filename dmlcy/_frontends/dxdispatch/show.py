"""How buffers are printed: as C++ streams print numbers, with six significant digits; and how long a run took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._runtime import four_bits
from dmlcy._types import Array

_CHUNK: Final = 65536
MOST: Final = 1000
"""Elements of an output that are all printed, as NumPy prints them."""
ENDS: Final = 3
"""Elements at either end of a longer output that are printed."""


def output(name: str, result: Array, *, every: bool) -> Iterator[str]:
    """Pieces of ``Output 'y', FLOAT32 1x3: 1, 2.5, inf``, a line."""
    dtype = four_bits.name_of(result.dtype) or result.dtype.name.upper()
    sizes = "x".join(map(str, result.shape)) or "()"
    flat = np.ascontiguousarray(four_bits.values_of(result)).reshape(-1)
    yield f"Output '{printable(name)}', {dtype} {sizes}: "
    yield from _short(flat.view(np.uint8) if flat.dtype == bool else flat, every=every)
    yield "\n"


def _short(values: Array, *, every: bool) -> Iterator[str]:
    """Pieces of ``line``, or of ``1, 2, 3, ..., 7, 8, 9 (of 2000 elements; --all prints each)``."""
    if every or values.size <= MOST:
        yield from line(values)
        return
    yield from line(values[:ENDS])
    yield ", ..., "
    yield from line(values[-ENDS:])
    yield f" (of {values.size} elements; --all prints each)"


def timing(kind: str, name: str, times: Sequence[float], compiling: float | None = None) -> str:
    """How often something has run, and the median of the milliseconds; ``compiling``: those before the first run."""
    runs = "1 iteration" if len(times) == 1 else f"{len(times)} iterations"
    compiled = "" if compiling is None else f", after {compiling:.4f} ms of compilation"
    return f"{kind} '{name}': {runs}, {median_of(times)} (CPU){compiled}\n"


def median_of(times: Sequence[float]) -> str:
    """The median of times in milliseconds, in words; of one time, just this."""
    took = f"{sorted(times)[len(times) // 2]:.4f} ms"
    return took if len(times) == 1 else f"{took} median"


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


def _form(values: Array) -> Callable[..., str]:
    return _float if values.dtype.kind == "f" else str


def _float(value: float) -> str:
    return f"{value:g}"
