"""float16 conversion from Python: both implementations, for comparison."""

from typing import Any

import numpy as np

def to_float(
    halves: np.ndarray[Any, np.dtype[np.uint16]], portable: bool = False
) -> np.ndarray[Any, np.dtype[np.float32]]: ...
def to_half(
    floats: np.ndarray[Any, np.dtype[np.float32]],
    out: np.ndarray[Any, np.dtype[np.uint16]] | None = None,
    portable: bool = False,
) -> np.ndarray[Any, np.dtype[np.uint16]]: ...
