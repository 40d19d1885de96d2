"""PADDING and PADDING1: NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .windows import Array

MODES = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect", "SYMMETRIC": "symmetric", "WRAP": "wrap"}


def padding1(
    x: Array, *, start_padding: Sequence[int], end_padding: Sequence[int], padding_mode: str, padding_value: Any = 0
) -> Array:
    given: dict[str, Any] = {"constant_values": padding_value} if padding_mode == "CONSTANT" else {}
    widths = [*zip(start_padding, end_padding, strict=True)]
    return np.pad(x, widths, MODES[padding_mode], **given)  # type: ignore[no-any-return, call-overload]


def padding(x: Array, *, padding_mode: str, padding_value: float, **others: Any) -> Array:
    """Its value is a FLOAT: of integers the whole part counts."""
    value = np.float32(padding_value if padding_mode == "CONSTANT" else 0)
    fill = value if x.dtype.kind == "f" else int(value)
    return padding1(x, padding_mode=padding_mode, padding_value=fill, **others)
