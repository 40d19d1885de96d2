"""The functions of operators: how arguments reach the names of the signature, and what is said of wrong ones."""

from functools import partial

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE

from dmlcy._runtime.call cimport MAX_KEYWORDS, Call, of_arguments
from dmlcy._runtime.copy cimport dmlcy_copy
from dmlcy._runtime.vectorcall cimport (
    PyObject_Vectorcall, PyVectorcall_Call, PyVectorcall_NARGS, take_vectorcalls, vectorcallfunc,
)

cdef extern from "Python.h":
    PyObject* PyTuple_GET_ITEM(PyObject* values, Py_ssize_t i)

cdef enum:
    MAX_ARGUMENTS = MAX_KEYWORDS + 16


@cython.final
cdef class Function:
    """The function of an operator, as its definition in Python says it: name, signature and docstring.

    With a call, the body of the definition is empty; it is called only if arguments are missing, too many or given
    twice, so that Python raises its usual TypeError. Without a call, the operator is described: the definition raises
    that it does not run.
    """

    cdef vectorcallfunc vectorcall
    cdef object definition
    cdef Call call                  # None: the definition is called
    cdef tuple names
    cdef tuple kept                 # owns the objects of `defaults`
    cdef PyObject** defaults        # borrowed, by argument; NULL: the argument has no default
    cdef PyObject** places          # the names, borrowed: a call mostly has the same objects, so pointers are compared
    cdef Py_ssize_t count           # arguments
    cdef Py_ssize_t inputs          # arguments that a call may give by position; the others have names only
    cdef Py_ssize_t required        # no argument from this one on lacks a default
    cdef dict __dict__
    cdef object __weakref__

    def __init__(self, definition, Call call=None):
        cdef Py_ssize_t i
        if self.definition is not None:
            raise TypeError("a function is made once")
        code = definition.__code__
        by_place = definition.__defaults__ or ()
        optional = code.co_varnames[code.co_argcount - len(by_place) : code.co_argcount]
        keywords = dict(zip(optional, by_place)) | (definition.__kwdefaults__ or {})
        self.inputs = code.co_argcount
        self.count = code.co_argcount + code.co_kwonlyargcount
        self.names = code.co_varnames[: self.count]
        if call is not None and (self.names != call.arguments or self.count > MAX_ARGUMENTS):
            raise SystemError(f"{definition.__name__}() is not what the call of {call.name} is for")
        self.kept = tuple(keywords.values())
        self.defaults = <PyObject**>PyMem_Malloc(2 * self.count * sizeof(PyObject*))
        if self.defaults == NULL:
            raise MemoryError
        self.places = self.defaults + self.count
        for i in range(self.count):
            self.places[i] = <PyObject*>self.names[i]
            self.defaults[i] = NULL
            if self.names[i] in keywords:
                self.defaults[i] = <PyObject*>keywords[self.names[i]]
            else:
                self.required = i + 1
        self.definition = definition
        self.call = call
        self.vectorcall = <vectorcallfunc>(call_definition if call is None else call_loops)

    def __dealloc__(self):
        PyMem_Free(self.defaults)

    @staticmethod
    def of(call):
        """The decorator of a definition whose result this call gives."""
        return partial(Function, call=call)

    def __call__(self, *inputs, **keywords):
        return PyVectorcall_Call(self, inputs, keywords)

    def __get__(self, instance, owner):
        from types import MethodType

        return self if instance is None else MethodType(self, instance)

    def __getattr__(self, name):
        return getattr(self.definition, name)

    @property
    def __module__(self):
        return self.definition.__module__

    @__module__.setter
    def __module__(self, name):
        self.definition.__module__ = name

    @property
    def __doc__(self):
        return self.definition.__doc__

    @property
    def __signature__(self):
        from inspect import signature

        return signature(self.definition)

    @property
    def __text_signature__(self):
        return str(self.__signature__)

    def __reduce__(self):
        return self.definition.__qualname__

    def __repr__(self):
        return f"<function {self.definition.__qualname__} at {id(self):#x}>"


cdef inline Py_ssize_t place_of(Function function, PyObject* name, Py_ssize_t start) except -2:
    """Where a name is in the signature, or -1. Calls mostly have the names in its order."""
    cdef Py_ssize_t i
    for i in range(start, function.count):
        if function.places[i] == name:
            return i
    for i in range(start):
        if function.places[i] == name:
            return i
    return found_place(function, <object>name)


cdef Py_ssize_t found_place(Function function, object name) except -2:
    return function.names.index(name) if name in function.names else -1


cdef object misused(Function function, PyObject* const* values, Py_ssize_t n, PyObject* keywords):
    """Raises what is wrong with the arguments: an unknown name here, anything else as a call of the definition
    raises it, with what to write."""
    cdef tuple names = () if keywords == NULL else <tuple>keywords
    for name in names:
        if name not in function.names:
            refuse_name(function, name)
    if n > function.inputs:
        refuse_count(function, n)
    inputs = [<object>values[i] for i in range(n)]
    try:
        return function.definition(*inputs, **{name: <object>values[n + i] for i, name in enumerate(names)})
    except TypeError as error:
        from dmlcy._check.arguments import completed

        lacking = [
            function.names[i]
            for i in range(function.inputs, function.required)
            if function.defaults[i] == NULL and function.names[i] not in names
        ]
        by_place = function.names[: function.inputs]
        raise TypeError(completed(function.definition.__qualname__, str(error), by_place, n, lacking)) from None


cdef int refuse_name(Function function, object name) except -1:
    from dmlcy._check.arguments import unexpected

    raise TypeError(unexpected(function.definition.__qualname__, str(name), function.names))


cdef int refuse_count(Function function, Py_ssize_t n) except -1:
    """Raises TypeError where tensors were given one by one in place of a sequence."""
    from dmlcy._check.arguments import too_many

    message = too_many(function.definition.__qualname__, n)
    if message:
        raise TypeError(message)


cdef object call_definition(PyObject* callee, PyObject* const* values, size_t flags, PyObject* keywords):
    cdef Function function = <Function>callee
    cdef Py_ssize_t k, at = 0
    if keywords != NULL:
        for k in range(PyTuple_GET_SIZE(<tuple>keywords)):
            at = place_of(function, PyTuple_GET_ITEM(keywords, k), at) + 1
            if at == 0:
                refuse_name(function, <object>PyTuple_GET_ITEM(keywords, k))
    if PyVectorcall_NARGS(flags) > function.inputs:
        refuse_count(function, PyVectorcall_NARGS(flags))
    return PyObject_Vectorcall(function.definition, values, flags, keywords)


cdef object call_loops(PyObject* callee, PyObject* const* values, size_t flags, PyObject* keywords):
    cdef Function function = <Function>callee
    cdef PyObject* given[MAX_ARGUMENTS]
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    cdef Py_ssize_t count = 0 if keywords == NULL else PyTuple_GET_SIZE(<tuple>keywords)
    cdef Py_ssize_t i, k, at = n
    if n > function.inputs:
        return misused(function, values, n, keywords)
    dmlcy_copy(<char*>given, <const char*>function.defaults, function.count * sizeof(PyObject*))
    dmlcy_copy(<char*>given, <const char*>values, n * sizeof(PyObject*))
    for k in range(count):
        i = place_of(function, PyTuple_GET_ITEM(keywords, k), at)
        if i < n:
            return misused(function, values, n, keywords)
        given[i] = values[n + k]
        at = i + 1
    for i in range(n, function.required):
        if given[i] == NULL:
            return misused(function, values, n, keywords)
    return of_arguments(function.call, given)


cdef Function probe = Function.__new__(Function)
take_vectorcalls(Function, <char*>&probe.vectorcall - <char*><PyObject*>probe)
