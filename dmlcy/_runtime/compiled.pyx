"""Compiled operators: how they are called, and their tensors."""

from inspect import Parameter, Signature

from cpython.object cimport PyObject
cimport numpy as cnp
from numpy cimport ndarray

from dmlcy._runtime.checks cimport same_sizes
from dmlcy._runtime.tensor cimport DTYPES, MAX_RANK, Tensor, as_array, dtype_of, item_of, set_rank, view

cnp.import_array()

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
    const unsigned long Py_TPFLAGS_HAVE_VECTORCALL
    Py_ssize_t PyVectorcall_NARGS(size_t flags)

cdef str OUT = "out"        # interned, as the names of keywords are at a call


cdef class CompiledOperator:
    """An operator that was checked once: called with arrays of the sizes and data types of its desc."""

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = <vectorcallfunc>call

    cdef object run(self, PyObject* const* inputs, object out):
        raise NotImplementedError

    def __call__(self, *inputs, out=None):
        raise NotImplementedError

    @property
    def __signature__(self):
        """How it is called: the inputs of the operator, and ``out``."""
        names = [field.python for field in self.desc.operator.fields if field.kind == "input"]
        inputs = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        return Signature([*inputs, Parameter("out", Parameter.KEYWORD_ONLY, default=None)])

    def __reduce__(self):
        return type(self), (self.desc, self.level)

    def __repr__(self):
        return f"compile({self.desc!r})"


cdef object call(PyObject* callee, PyObject* const* values, size_t flags, PyObject* keywords):
    """The inputs by position, and nothing else or `out`, go straight on; __call__ sorts out or refuses the rest."""
    cdef CompiledOperator compiled = <CompiledOperator>callee
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef tuple names = () if keywords == NULL else <tuple>keywords
    if n == compiled.inputs:
        if len(names) == 0:
            return compiled.run(values, None)
        if len(names) == 1 and names[0] is OUT:
            return compiled.run(values, <object>values[n])
    return type(compiled).__call__(
        compiled, *[<object>values[i] for i in range(n)], **{names[i]: <object>values[n + i] for i in range(len(names))}
    )


cdef void take_vectorcalls(type cls):
    cdef CompiledOperator probe = CompiledOperator.__new__(CompiledOperator)
    (<PyTypeObject*>cls).tp_vectorcall_offset = <char*>&probe.vectorcall - <char*><PyObject*>probe
    (<PyTypeObject*>cls).tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL


cdef bint describe(object desc, Tensor* tensor) except -1:
    sizes = desc.sizes
    cdef Py_ssize_t rank = len(sizes)
    cdef int d
    tensor.data = NULL
    tensor.dtype = int(desc.dtype)
    if rank > MAX_RANK or not 0 < tensor.dtype < DTYPES:
        return False
    tensor.item = item_of(tensor.dtype)
    tensor.rank = <int>rank
    for d in range(tensor.rank):
        tensor.sizes[d] = sizes[d]
        tensor.strides[d] = 0
    return True


cdef bint as_computed(const Tensor* tensor, const Tensor* computed) noexcept nogil:
    cdef Tensor trimmed = tensor[0]
    return set_rank(&trimmed, computed.rank) and trimmed.dtype == computed.dtype and same_sizes(&trimmed, computed)


cdef tuple each_output(object out, int count):
    if out is None or count == 1:
        return (out,)
    return <tuple>out if type(out) is tuple and len(<tuple>out) == count else None


cdef bint unchanged(ndarray array, const Tensor* tensor) noexcept:
    cdef int axis, found
    cdef int extra = tensor.rank - cnp.PyArray_NDIM(array)
    if <char*>cnp.PyArray_DATA(array) != tensor.data or dtype_of(array.descr) != tensor.dtype:
        return False
    # Leading ones may be there or not, and the stride of one element means nothing.
    for axis in range(min(extra, 0), tensor.rank):
        found = axis - extra
        if (1 if found < 0 else cnp.PyArray_DIMS(array)[found]) != (1 if axis < 0 else tensor.sizes[axis]):
            return False
        if axis >= 0 and tensor.sizes[axis] != 1 and cnp.PyArray_STRIDES(array)[found] != tensor.strides[axis]:
            return False
    return True


cdef ndarray match(object value, Tensor* tensor):
    cdef Tensor found
    cdef ndarray array = as_array(value)
    if not view(array, &found) or found.dtype != tensor.dtype or not same_sizes(&found, tensor):
        return None
    tensor[0] = found
    return array
