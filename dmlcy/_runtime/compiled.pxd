# Compiled operators: described once by a desc, then met by the arrays of each call.

from cpython.object cimport PyObject
from numpy cimport ndarray

from dmlcy._runtime.tensor cimport Tensor

cdef extern from "Python.h":
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*)

# What compiled operators have in common.
cdef class CompiledOperator:
    cdef vectorcallfunc vectorcall
    cdef readonly object desc
    cdef int level
    cdef int inputs                 # how many a call has

    # One call; `inputs` are borrowed.
    cdef object run(self, PyObject* const* inputs, object out)

# Lets the objects of a class be called without a tuple and a dict of the arguments.
cdef void take_vectorcalls(type cls)

# Data type and sizes of a TensorDesc; no data.
cdef bint describe(object desc, Tensor* tensor) except -1

# Whether the tensor has the data type of `computed`, and its sizes but for leading ones.
cdef bint as_computed(const Tensor* tensor, const Tensor* computed) noexcept nogil

# What `out` has for each of so many outputs: of several, one entry each of a tuple; None where it is not that.
cdef tuple each_output(object out, int count)

# Whether the array still is as `tensor` describes it: what ran in between may have resized it.
cdef bint unchanged(ndarray array, const Tensor* tensor) noexcept

# The array behind the object when it has the data type and sizes in `tensor`, whose data and strides it then gives;
# else None.
cdef ndarray match(object value, Tensor* tensor)
