"""Compiled operators: checked once, and then called."""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE

from dmlcy._runtime.call cimport (
    AT_MOST_ONE, Call, call_of_operator, lacks_loops, new_arrays, of_desc, of_inputs, taken_from,
)
from dmlcy._runtime.tensor cimport Tensor
from dmlcy._runtime.vectorcall cimport PyVectorcall_NARGS, take_vectorcalls, vectorcallfunc

cdef extern from "Python.h":
    PyObject* PyTuple_GET_ITEM(PyObject* values, Py_ssize_t i)

cdef str OUT = "out"        # interned, as the names of keywords are at a call

cdef enum:
    MAX_INPUTS = 16


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


cdef class TableOperator(CompiledOperator):
    """A compiled operator whose calls go over the table of the operator.

    The loops of the operator compute its outputs. Without loops, or with ``reference``, the reference does.
    """

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = <vectorcallfunc>call_operator

    def __init__(self, desc, int level, bint reference=False):
        from dmlcy._desc.check import refuse_desc

        cdef Call call = call_of_operator(desc.operator.name)
        cdef void* fields = PyMem_Calloc(1, call.size)
        if fields == NULL:
            raise MemoryError
        try:
            arrays = new_arrays(call, fields)
            try:
                accepted = of_desc(call, fields, desc, level)
            finally:
                held = taken_from(call, fields)
            if not accepted:
                refuse_desc(desc, level)
            if call.halves:
                refuse_strides(desc)
            use = use_of_desc(desc) if reference or lacks_loops(call, fields) else None
        except BaseException:
            PyMem_Free(fields)
            raise
        PyMem_Free(self.fields)
        self.fields = fields
        self.arrays = arrays
        self.held = held
        self.call = call
        self.use = use
        self.inputs = self.least = call.inputs
        while self.least and is_left_out(call, fields, self.least - 1):
            self.least -= 1
        self.desc = desc
        self.level = level

    def __dealloc__(self):
        PyMem_Free(self.fields)

    @property
    def __doc__(self):
        return f"{self.desc.operator.name}, checked once: called with arrays of the sizes and data types of its desc."

    def __reduce__(self):
        reference = self.use is not None and not lacks_loops(self.call, self.fields)
        return type(self), (self.desc, self.level, True) if reference else (self.desc, self.level)

    def __repr__(self):
        path = ", path='reference'" if self.use is not None and not lacks_loops(self.call, self.fields) else ""
        return f"compile({self.desc!r}{path})"

    def __call__(self, *inputs, **keywords):
        cdef PyObject* given[MAX_INPUTS]
        cdef Py_ssize_t i
        if self.call is None:
            raise TypeError("__call__(): the operator was never initialised")
        out = keywords.pop(OUT, None)
        values = given_inputs(self.desc, self.call.names[: self.inputs], inputs, keywords)
        for i in range(self.inputs):
            given[i] = <PyObject*>values[i]
        return of_inputs(self.call, self.fields, given, out, self.desc, self.use)


cdef object refuse_strides(object desc):
    """Elements of 4 bits have none."""
    from dmlcy._reference.call import must_have_packed_halves

    must_have_packed_halves(desc)


cdef object use_of_desc(object desc):
    from dmlcy._reference.call import use_of_desc

    return use_of_desc(desc)


cdef list given_inputs(object desc, tuple names, tuple inputs, dict named):
    """The inputs in their order. TypeError for too many, for unknown names, and for what is missing."""
    what = f"{desc.operator.python}()"
    if len(inputs) > len(names):
        from dmlcy._check.arguments import too_many

        s = "" if len(names) == 1 else "s"
        usual = f"{what} takes {len(names)} positional argument{s} but {len(inputs)} were given"
        raise TypeError(too_many(desc.operator.python, len(inputs), "") or usual)
    given = dict(zip(names, inputs))
    for name, value in named.items():
        if name not in names:
            raise TypeError(f"{what} got an unexpected keyword argument {name!r}")
        if name in given:
            raise TypeError(f"{what} got multiple values for argument {name!r}")
        given[name] = value
    for name in names:
        if given.get(name) is not None and getattr(desc, name) is None:
            other = "Compile a desc with it, or give the arguments behind it by name."
            raise TypeError(f"{what} takes no {name}: the compiled desc leaves it out. {other}")
        if name not in given and getattr(desc, name) is not None:
            raise TypeError(f"{what} missing required argument {name!r}")
    return [given.get(name) for name in names]


cdef object call_operator(PyObject* callee, PyObject* const* values, size_t flags, PyObject* keywords):
    """The inputs by position, and nothing else or `out`, go straight on; __call__ sorts out or refuses the rest."""
    cdef TableOperator fast = <TableOperator>callee
    cdef PyObject* padded[MAX_INPUTS]
    cdef PyObject* const* given = values
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef Py_ssize_t others = 0 if keywords == NULL else PyTuple_GET_SIZE(<tuple>keywords)
    cdef PyObject* out = <PyObject*>None
    if fast.call is not None and fast.least <= n <= fast.inputs and others <= 1:
        if others == 0 or PyTuple_GET_ITEM(keywords, 0) == <PyObject*>OUT:
            if others:
                out = values[n]
            if n < fast.inputs:
                for i in range(fast.inputs):
                    padded[i] = values[i] if i < n else <PyObject*>None
                given = padded
            if leaves_out(fast, given):
                return of_inputs(fast.call, fast.fields, given, <object>out, fast.desc, fast.use)
    names = () if keywords == NULL else <tuple>keywords
    return type(fast).__call__(
        fast, *[<object>values[i] for i in range(n)],
        **{names[i]: <object>values[n + i] for i in range(len(names))},
    )


# Whether no input is given that the desc leaves out.
cdef inline bint leaves_out(TableOperator fast, PyObject* const* given) noexcept:
    cdef Py_ssize_t i
    for i in range(fast.inputs):
        if is_left_out(fast.call, fast.fields, i) and given[i] != <PyObject*>None:
            return False
    return True


cdef inline bint is_left_out(Call call, const void* fields, Py_ssize_t i) noexcept:
    return (<const Tensor*>fields)[i].dtype == 0 and call.layout.tensors[i].number == AT_MOST_ONE


cdef TableOperator probe = TableOperator.__new__(TableOperator)
take_vectorcalls(TableOperator, <char*>&probe.vectorcall - <char*><PyObject*>probe)
