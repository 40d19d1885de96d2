"""The context of a call: its feature level, and who records it. Every thread and task has a context."""

from contextvars import ContextVar

import numpy

from cpython.contextvars cimport PyContextVar_Get
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int64_t
from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport ndarray

from dmlcy._runtime.tensor cimport FLOAT16, FLOAT32, Tensor, item_of, new_array

cnp.import_array()

cdef object variable = ContextVar("dmlcy.feature_level", default=14)
LEVEL = variable
RECORDINGS = ContextVar("dmlcy.recordings", default=())


cdef int current_level() except -1:
    cdef PyObject* value = NULL
    cdef int level
    PyContextVar_Get(variable, NULL, &value)
    level = <int><object>value
    Py_DECREF(<object>value)
    return level


def open_block():
    """Count a block of dmlcy.record() that begins."""
    global open_blocks
    open_blocks += 1


def close_block():
    """Count a block that ends."""
    global open_blocks
    open_blocks -= 1


cdef object find_recordings():
    return RECORDINGS.get() or None


cdef tuple tuple_of(int64_t n, const int64_t* values):
    return tuple([values[i] for i in range(n)])


cdef object number_of(float value):
    return float(str(numpy.float32(value)))


cdef tuple numbers_of(int64_t n, const float* values):
    return tuple([number_of(values[i]) for i in range(n)])


cdef object element_of(int dtype, const unsigned char* bytes):
    cdef Tensor tensor
    cdef ndarray array
    tensor.dtype = dtype
    tensor.item = item_of(dtype)
    tensor.rank = 1
    tensor.sizes[0] = 1
    array = new_array(&tensor)
    memcpy(cnp.PyArray_DATA(array), bytes, tensor.item)
    return float(str(array[0])) if dtype == FLOAT32 or dtype == FLOAT16 else array.item()
