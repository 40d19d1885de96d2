"""Compiled operators: checked once, and then called."""

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport ndarray

from dmlcy._runtime.call cimport (
    AT_MOST_ONE, SEVERAL, Call, call_of_operator, lacks_loops, new_arrays, of_desc, of_inputs, taken_from,
)
from dmlcy._runtime.tensor cimport Tensor, fits, input_array, new_array
from dmlcy._runtime.vectorcall cimport PyVectorcall_NARGS, take_vectorcalls, vectorcallfunc
from dmlcy._runtime.signatures import CallSignature

cdef extern from "Python.h":
    PyObject* PyTuple_GET_ITEM(PyObject* values, Py_ssize_t i)
    PyObject* PyList_GET_ITEM(object values, Py_ssize_t i)

cdef str OUT = "out"        # interned, as the names of keywords are at a call

cdef enum:
    LINE = 64                       # bytes of a cache line

cnp.import_array()


def _signature_of(CompiledOperator operator not None):
    """How it is called: the inputs of the operator, and ``out``."""
    from inspect import Parameter, Signature

    inputs = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in operator.called]
    return Signature([*inputs, Parameter("out", Parameter.KEYWORD_ONLY, default=None)])


cdef class CompiledOperator:
    """An operator that was checked once: called with arrays of the sizes and data types of its desc."""

    def __call__(self, *inputs, out=None):
        raise NotImplementedError

    def initialize(self, **inputs):
        """Takes inputs, by name, that are the same in each call: no call gives them.

        The inputs are copied, and the loops prepare them: ``gemm`` packs the columns of ``b``. A second time,
        ``initialize`` takes the place of the first. Raises DmlError where a call would, and TypeError for a name that
        the compiled desc does not have.
        """
        raise NotImplementedError

    @property
    def called(self):
        """The names of the inputs that a call takes."""
        return tuple([field.python for field in self.desc.operator.fields if field.kind == "input"])

    __signature__ = CallSignature(_signature_of)

    def __reduce__(self):
        return type(self), (self.desc, self.level)

    def __repr__(self):
        return f"compile({self.desc!r})"


@cython.final
cdef class Prepared:
    """The struct of an operator, and the inputs that no call gives: copies, and what the loops made of them."""

    def __dealloc__(self):
        PyMem_Free(self.fields)


cdef Prepared new_prepared(Call call, const void* fields):
    """A copy of a struct, every input of which a call gives."""
    cdef Prepared prepared = Prepared.__new__(Prepared)
    prepared.fields = PyMem_Calloc(1, call.size)
    if prepared.fields == NULL:
        raise MemoryError
    if fields != NULL:
        memcpy(prepared.fields, fields, call.size)
    prepared.arrays = [None] * call.inputs
    prepared.made = []
    return prepared


cdef int count_inputs(Call call, Prepared prepared) except -1:
    """Finds which inputs a call gives."""
    cdef int i
    prepared.inputs = 0
    for i in range(call.inputs):
        if prepared.arrays[i] is None:
            prepared.places[prepared.inputs] = i
            prepared.inputs += 1
    prepared.names = tuple([call.names[prepared.places[i]] for i in range(prepared.inputs)])
    prepared.least = prepared.inputs
    while prepared.least and is_left_out(call, prepared.fields, prepared.places[prepared.least - 1]):
        prepared.least -= 1
    return 0


class Made(bytearray):
    """The bytes that loops made of a constant. Several compiled graphs may share them."""


cdef object made_of(Call call, const void* fields, int input, const void** made, bint* replaces):
    cdef int64_t size = 0 if call.prepare == NULL else call.prepare(fields, input, NULL)
    cdef char* memory
    cdef int64_t status
    if replaces != NULL:
        replaces[0] = size < 0
    if size == 0:
        return None
    size = -size if size < 0 else size
    owner = Made(size + LINE)
    memory = owner
    memory += (LINE - <uintptr_t>memory % LINE) % LINE
    with nogil:
        status = call.prepare(fields, input, memory)
    if status < 0:
        raise MemoryError(f"{call.layout.python.decode()}: no memory to prepare {call.names[input]}")
    made[0] = memory
    return owner


cdef bint keep(Call call, Prepared prepared, int i, object value) except -1:
    """Copies an input. False: it is not acceptable."""
    cdef Tensor* tensor = &(<Tensor*>prepared.fields)[i]
    cdef ndarray array = input_array(value), copy
    if array is None or not fits(array, tensor):
        return False
    copy = new_array(tensor)
    cnp.PyArray_CopyInto(copy, array)
    prepared.arrays[i] = copy
    return True


cdef class TableOperator(CompiledOperator):
    """A compiled operator whose calls go over the table of the operator.

    The loops of the operator compute its outputs. Without loops, or with ``reference``, the reference does.
    """

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = <vectorcallfunc>call_operator

    def __init__(self, desc, int level, bint reference=False):
        from dmlcy._desc.check import refuse_desc

        cdef Call call = call_of_operator(desc.operator.name)
        cdef Prepared prepared = new_prepared(call, NULL)
        arrays = new_arrays(call, prepared.fields)
        try:
            accepted = of_desc(call, prepared.fields, desc, level)
        finally:
            held = taken_from(call, prepared.fields)
        if not accepted:
            refuse_desc(desc, level)
        if call.halves:
            refuse_strides(desc)
        use = use_of_desc(desc) if reference or lacks_loops(call, prepared.fields) else None
        count_inputs(call, prepared)
        self.prepared = prepared
        self.arrays = arrays
        self.held = held
        self.call = call
        self.use = use
        self.desc = desc
        self.level = level

    @property
    def __doc__(self):
        return f"{self.desc.operator.name}, checked once: called with arrays of the sizes and data types of its desc."

    def __reduce__(self):
        made = (self.desc, self.level, True) if is_by_choice(self) else (self.desc, self.level)
        given = {name: array for name, array in zip(self.call.names, self.prepared.arrays) if array is not None}
        return (type(self), made, given) if given else (type(self), made)

    def __setstate__(self, given):
        self.initialize(**given)

    def __repr__(self):
        path = ", path='reference'" if is_by_choice(self) else ""
        return f"compile({self.desc!r}{path})"

    @property
    def called(self):
        """The names of the inputs that a call takes: the inputs that ``initialize`` did not take."""
        return self.prepared.names

    def initialize(self, **inputs):
        cdef Call call = self.call
        cdef Prepared prepared
        cdef int i
        if call is None:
            raise TypeError("initialize(): the operator was never initialised")
        prepared = new_prepared(call, self.prepared.fields)
        for i in range(call.inputs):
            if (<Tensor*>prepared.fields)[i].dtype:
                (<Tensor*>prepared.fields)[i].data = NULL
        for name, value in inputs.items():
            if name not in call.names[: call.inputs]:
                raise TypeError(f"initialize() got an unexpected keyword argument {name!r}")
            i = call.names.index(name)
            if call.layout.tensors[i].number >= SEVERAL:
                raise TypeError(f"initialize() takes no {name}, which is an array of tensors")
            if is_left_out(call, prepared.fields, i):
                raise TypeError(f"initialize() takes no {name}: the compiled desc leaves it out")
            if not keep(call, prepared, i, value):
                refuse_input(self.desc, name, value)
        for i in range(call.inputs):
            if prepared.arrays[i] is not None:
                made = &(<Tensor*>prepared.fields)[i].prepared
                prepared.made.append(made_of(call, prepared.fields, i, made, NULL))
        count_inputs(call, prepared)
        self.prepared = prepared

    def __call__(self, *inputs, **keywords):
        cdef PyObject* given[MAX_INPUTS]
        cdef Prepared prepared = self.prepared
        cdef Py_ssize_t i
        if self.call is None:
            raise TypeError("__call__(): the operator was never initialised")
        out = keywords.pop(OUT, None)
        values = given_inputs(self.desc, prepared.names, inputs, keywords)
        for i in range(self.call.inputs):
            given[i] = <PyObject*>prepared.arrays[i]
        for i in range(prepared.inputs):
            given[prepared.places[i]] = <PyObject*>values[i]
        return of_inputs(self.call, prepared.fields, given, out, self.desc, self.use)


# Whether the reference computes what loops could.
cdef inline bint is_by_choice(TableOperator operator) noexcept:
    return operator.use is not None and not lacks_loops(operator.call, operator.prepared.fields)


cdef object refuse_input(object desc, object name, object value):
    from dmlcy._desc.check import refuse_input

    refuse_input(desc, name, value)


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
            if name in [field.python for field in desc.operator.fields if field.kind == "input"]:
                raise TypeError(f"{what} takes no {name}: initialize() was given it")
            raise TypeError(f"{what} got an unexpected keyword argument {name!r}")
        if name in given:
            raise TypeError(f"{what} got multiple values for argument {name!r}")
        given[name] = value
    for name in names:
        if given.get(name) is not None and getattr(desc, name) is None:
            other = "Compile a desc with it, or give the arguments behind it by name."
            before = [one.python for one in desc.operator.fields if one.kind == "input" and one.python not in names]
            if before:
                other = f"initialize() was given {', '.join(before)}, which no call gives."
            raise TypeError(f"{what} takes no {name}: the compiled desc leaves it out. {other}")
        if name not in given and getattr(desc, name) is not None:
            raise TypeError(f"{what} missing required argument {name!r}")
    return [given.get(name) for name in names]


cdef object call_operator(PyObject* callee, PyObject* const* values, size_t flags, PyObject* keywords):
    """The inputs by position, and nothing else or `out`, go straight on; __call__ sorts out or refuses the rest."""
    cdef TableOperator fast = <TableOperator>callee
    cdef Prepared prepared = fast.prepared
    cdef PyObject* padded[MAX_INPUTS]
    cdef PyObject* const* given = values
    cdef PyObject* out = <PyObject*>None
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef Py_ssize_t others = 0 if keywords == NULL else PyTuple_GET_SIZE(<tuple>keywords)
    if prepared is not None and prepared.least <= n <= prepared.inputs and others <= 1:
        if others == 0 or PyTuple_GET_ITEM(keywords, 0) == <PyObject*>OUT:
            if others:
                out = values[n]
            if n < fast.call.inputs:
                for i in range(fast.call.inputs):
                    padded[i] = PyList_GET_ITEM(prepared.arrays, i)
                for i in range(n):
                    padded[prepared.places[i]] = values[i]
                given = padded
            if leaves_out(fast, given):
                return of_inputs(fast.call, prepared.fields, given, <object>out, fast.desc, fast.use)
    names = () if keywords == NULL else <tuple>keywords
    return type(fast).__call__(
        fast, *[<object>values[i] for i in range(n)],
        **{names[i]: <object>values[n + i] for i in range(len(names))},
    )


# Whether no input is given that the desc leaves out.
cdef inline bint leaves_out(TableOperator fast, PyObject* const* given) noexcept:
    cdef Py_ssize_t i
    for i in range(fast.call.inputs):
        if is_left_out(fast.call, fast.prepared.fields, i) and given[i] != <PyObject*>None:
            return False
    return True


cdef inline bint is_left_out(Call call, const void* fields, Py_ssize_t i) noexcept:
    return (<const Tensor*>fields)[i].dtype == 0 and call.layout.tensors[i].number == AT_MOST_ONE


cdef TableOperator probe = TableOperator.__new__(TableOperator)
take_vectorcalls(TableOperator, <char*>&probe.vectorcall - <char*><PyObject*>probe)
