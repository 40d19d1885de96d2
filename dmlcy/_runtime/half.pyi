"""float16 conversion from Python: what the processor has, and both implementations for comparison."""

from typing import Any

import numpy as np

def has_f16c() -> bool: ...
def to_float(
    halves: np.ndarray[Any, np.dtype[np.uint16]], portable: bool = False
) -> np.ndarray[Any, np.dtype[np.float32]]: ...
def to_half(
    floats: np.ndarray[Any, np.dtype[np.float32]],
    out: np.ndarray[Any, np.dtype[np.uint16]] | None = None,
    portable: bool = False,
) -> np.ndarray[Any, np.dtype[np.uint16]]: ...
