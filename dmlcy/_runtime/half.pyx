# cython: language_level=3
"""float16 conversion from Python: both implementations, for comparison."""

from libc.stdint cimport uint16_t
from numpy cimport import_array, ndarray, npy_intp, NPY_FLOAT, NPY_UINT16, PyArray_DATA, PyArray_EMPTY, PyArray_STRIDE

import_array()


def to_float(ndarray[uint16_t, ndim=1] halves not None, bint portable=False):
    """float32 values of a one-dimensional array of float16 bits (uint16)."""
    cdef npy_intp size = halves.shape[0]
    cdef ndarray result = PyArray_EMPTY(1, &size, NPY_FLOAT, False)
    cdef const uint16_t* source = <const uint16_t*> PyArray_DATA(halves)
    cdef float* target = <float*> PyArray_DATA(result)
    if portable:
        dmlcy_half_to_float_portable(source, PyArray_STRIDE(halves, 0), target, size)
    else:
        dmlcy_half_to_float(source, PyArray_STRIDE(halves, 0), target, size)
    return result


def to_half(ndarray[float, ndim=1, mode="c"] floats not None, ndarray[uint16_t, ndim=1] out=None, bint portable=False):
    """float16 bits (uint16) of a contiguous one-dimensional float32 array; `out` may have any stride."""
    cdef npy_intp size = floats.shape[0]
    if out is None:
        out = PyArray_EMPTY(1, &size, NPY_UINT16, False)
    if out.shape[0] != size:
        raise ValueError("out has another size")
    cdef const float* source = <const float*> PyArray_DATA(floats)
    cdef uint16_t* target = <uint16_t*> PyArray_DATA(out)
    if portable:
        dmlcy_float_to_half_portable(source, target, PyArray_STRIDE(out, 0), size)
    else:
        dmlcy_float_to_half(source, target, PyArray_STRIDE(out, 0), size)
    return out
