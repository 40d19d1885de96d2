"""Compiled operators: checked once, and then called."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE

from dmlcy._runtime.call cimport Call, of_desc, of_inputs
from dmlcy._runtime.vectorcall cimport PyVectorcall_NARGS, take_vectorcalls, vectorcallfunc

cdef str OUT = "out"        # interned, as the names of keywords are at a call

cdef enum:
    MAX_INPUTS = 8


cdef class CompiledOperator:
    """An operator that was checked once: called with arrays of the sizes and data types of its desc."""

    def __call__(self, *inputs, out=None):
        raise NotImplementedError

    @property
    def __signature__(self):
        """How it is called: the inputs of the operator, and ``out``."""
        from inspect import Parameter, Signature

        names = [field.python for field in self.desc.operator.fields if field.kind == "input"]
        inputs = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        return Signature([*inputs, Parameter("out", Parameter.KEYWORD_ONLY, default=None)])

    def __reduce__(self):
        return type(self), (self.desc, self.level)

    def __repr__(self):
        return f"compile({self.desc!r})"


cdef class FastOperator(CompiledOperator):
    """A compiled operator that has loops."""

    cdef vectorcallfunc vectorcall
    cdef Call call
    cdef void* fields               # struct of the operator
    cdef Py_ssize_t inputs          # how many a call has

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = <vectorcallfunc>call_operator

    def __init__(self, desc, int level):
        from dmlcy._desc.check import refuse_desc

        cdef Call call = call_of_operator(desc.operator.name)
        cdef void* fields = PyMem_Malloc(call.size)
        if fields == NULL:
            raise MemoryError
        try:
            if not of_desc(call, fields, desc, level):
                refuse_desc(desc, level)
        except BaseException:
            PyMem_Free(fields)
            raise
        PyMem_Free(self.fields)
        self.fields = fields
        self.call = call
        self.inputs = call.inputs
        self.desc = desc
        self.level = level

    def __dealloc__(self):
        PyMem_Free(self.fields)

    @property
    def __doc__(self):
        return f"{self.desc.operator.name}, checked once: called with arrays of the sizes and data types of its desc."

    cdef int refuse_count(self, Py_ssize_t given) except -1:
        s = "" if self.inputs == 1 else "s"
        raise TypeError(f"__call__() takes exactly {self.inputs} positional argument{s} ({given} given)")

    def __call__(self, *inputs, **keywords):
        cdef PyObject* given[MAX_INPUTS]
        cdef Py_ssize_t i
        if self.call is None:
            raise TypeError("__call__(): the operator was never initialised")
        names = self.call.arguments[: self.inputs]
        if len(inputs) > self.inputs:
            self.refuse_count(len(inputs))
        for name in keywords:
            if name in names[: len(inputs)]:
                raise TypeError(f"__call__() got multiple values for keyword argument {name!r}")
            if name not in names and name != OUT:
                raise TypeError(f"__call__() got an unexpected keyword argument {name!r}")
        for i in range(len(inputs), self.inputs):
            if names[i] not in keywords:
                self.refuse_count(i)
        values = (*inputs, *[keywords[name] for name in names[len(inputs) :]])
        for i in range(self.inputs):
            given[i] = <PyObject*>values[i]
        return of_inputs(self.call, self.fields, given, keywords.get(OUT), self.desc)


cdef Call call_of_operator(str name):
    from importlib import import_module

    from dmlcy._generated.index import OPERATORS

    python, _, family, *_ = OPERATORS[name]
    return getattr(import_module(f"dmlcy._generated.calls.{family}"), python)


cdef object call_operator(PyObject* callee, PyObject* const* values, size_t flags, PyObject* keywords):
    """The inputs by position, and nothing else or `out`, go straight on; __call__ sorts out or refuses the rest."""
    cdef FastOperator fast = <FastOperator>callee
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef tuple names = () if keywords == NULL else <tuple>keywords
    if n == fast.inputs and fast.call is not None:
        if PyTuple_GET_SIZE(names) == 0:
            return of_inputs(fast.call, fast.fields, values, None, fast.desc)
        if PyTuple_GET_SIZE(names) == 1 and names[0] is OUT:
            return of_inputs(fast.call, fast.fields, values, <object>values[n], fast.desc)
    return type(fast).__call__(
        fast, *[<object>values[i] for i in range(n)], **{names[i]: <object>values[n + i] for i in range(len(names))}
    )


cdef FastOperator probe = FastOperator.__new__(FastOperator)
take_vectorcalls(FastOperator, <char*>&probe.vectorcall - <char*><PyObject*>probe)
