"""float16 conversion from Python: both implementations, for comparison."""

import numpy as np
import numpy.typing as npt

def to_float(halves: npt.NDArray[np.uint16], portable: bool = False) -> npt.NDArray[np.float32]: ...
def to_half(
    floats: npt.NDArray[np.float32],
    out: npt.NDArray[np.uint16] | None = None,
    portable: bool = False,
) -> npt.NDArray[np.uint16]: ...
