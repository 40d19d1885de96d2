"""The feature level that calls are checked against, in a context variable: every thread and task has its own."""

from contextvars import ContextVar

from cpython.contextvars cimport PyContextVar_Get
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

cdef object variable = ContextVar("dmlcy.feature_level", default=14)
LEVEL = variable


cdef int current_level() except -1:
    cdef PyObject* value = NULL
    cdef int level
    PyContextVar_Get(variable, NULL, &value)
    level = <int><object>value
    Py_DECREF(<object>value)
    return level
