"""Functions of double of the C library over arrays, compiled for the run: as fast as those of NumPy."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
PROGRAM = """
#include <math.h>
void all_of(const double *x, double *y, long long n)
{{
    for (long long i = 0; i < n; i++)
        y[i] = {name}(x[i]);
}}
"""


@cache
def compiled(name: str) -> Callable[[Array], Array]:
    """The function over arrays of float64; without a compiler, Python's own, one number after the other."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        import math

        return np.vectorize(getattr(math, name), "d")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "all.c"), Path(folder, "all.so")
        source.write_text(PROGRAM.format(name=name))
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        loaded = ctypes.CDLL(str(library))
    loaded.all_of.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong]
    loaded.all_of.restype = None

    def over(x: Array) -> Array:
        given = np.ascontiguousarray(x, np.float64)
        result = np.empty_like(given)
        loaded.all_of(given.ctypes.data, result.ctypes.data, given.size)
        return result

    return over
