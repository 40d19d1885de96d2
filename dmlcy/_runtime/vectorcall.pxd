# Objects that are called without a tuple and a dict of the arguments.

from cpython.object cimport PyObject

cdef extern from "Python.h":
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*)
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
    const unsigned long Py_TPFLAGS_HAVE_VECTORCALL
    Py_ssize_t PyVectorcall_NARGS(size_t flags)
    object PyVectorcall_Call(object callee, object values, object names)
    object PyObject_Vectorcall(object callee, PyObject* const* values, size_t flags, PyObject* names)

# Lets the objects of a class be called so; `offset` is where they have the function, in bytes.
cdef inline void take_vectorcalls(type cls, Py_ssize_t offset):
    (<PyTypeObject*>cls).tp_vectorcall_offset = offset
    (<PyTypeObject*>cls).tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL
