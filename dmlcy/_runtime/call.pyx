"""Calls of operators: one path from Python objects to loops, or to the reference, and back, over a table."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from libc.stdint cimport int64_t, intptr_t
from libc.string cimport memcpy, memset
cimport numpy as cnp
from numpy cimport ndarray

from sys import intern

import numpy

from dmlcy._runtime.activation cimport ATTRIBUTE_BYTES, Activation, ActivationFields, Whole, WholeFields
from dmlcy._runtime.checks cimport each_holds, tensor_holds
from dmlcy._runtime.context cimport current_level, current_recordings, tuple_of
from dmlcy._runtime.epilogue cimport Strips, ask_strips
from dmlcy._runtime.tensor cimport (
    BRIEF_BYTES, DTYPES, FLOAT32, MAX_RANK, UINT4, Tensor, TensorField, TensorList, Tensors, aligned,
    dtype_of_array, given_list, extent, extents_meet, fits, has_dtype, input_array, is_aligned, is_brief, item_of,
    make_dense, may_overlap, new_array, new_list, of_any_bits, out_array, overlap, overlaps_itself, packed, plain,
    set_count, set_rank, shares_memory, view,
)

cnp.import_array()

cdef extern from *:
    """
    /* -1: an exception is set. */
    static int dmlcy_raised(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    bint raised "dmlcy_raised"() except -1

cdef enum:
    WORDS = 512                     # of the largest struct of an operator, 8 bytes each
    MAX_TENSORS = 16
    MAX_USES = 1024                 # that are kept
    FEW_OUTPUTS = 16                # that are compared each with each
    MAX_ACTIVATIONS = 64            # that are kept

# The uses that the reference has computed, by what they are told from others by.
cdef dict uses = {}

# The activations whose loops were asked for, and these, by the address of the desc.
cdef dict activations = {}

# The needs of activations that make each result of several numbers. Structs of operators point to it for ever: there
# are few, one for each operator with the same attributes.
cdef dict wholes = {}

# A call that runs. Only the entries of the operator's own tensors, and the bytes of its struct, are ever used.
cdef struct Frame:
    PyObject* arrays[MAX_TENSORS]   # the array of each tensor, owned; NULL: left out, or not made yet
    PyObject* copies[MAX_TENSORS]   # owned copies that the loops see in place of an array; NULL: they see the array
    int64_t[WORDS] fields           # struct of the operator


cdef inline void begin(Frame* frame, int tensors) noexcept:
    # Volatile, or the compiler makes a call of memset or `rep stos` of these few stores: 10 ns more.
    cdef volatile intptr_t* arrays = <volatile intptr_t*>frame.arrays
    cdef volatile intptr_t* copies = <volatile intptr_t*>frame.copies
    cdef int i
    for i in range(tensors):
        arrays[i] = 0
        copies[i] = 0


cdef inline void end(Frame* frame, int tensors) noexcept:
    cdef int i
    for i in range(tensors):
        Py_XDECREF(frame.arrays[i])
        Py_XDECREF(frame.copies[i])


cdef inline void own(PyObject** place, ndarray array) noexcept:
    Py_INCREF(array)
    place[0] = <PyObject*>array


cdef int align(Frame* frame, int i) except -1:
    """Lets the loops see a copy of an array that is not aligned."""
    own(&frame.copies[i], aligned(<ndarray>frame.arrays[i], &(<Tensor*>frame.fields)[i]))
    return 0


# Whether the level has the operator, and allows the data types and ranks of its inputs.
cdef inline bint inputs_hold(const Layout* layout, Tensor* tensors, int level) noexcept nogil:
    cdef const TensorLayout* row
    cdef int i
    if level < layout.since:
        return False
    for i in range(layout.inputs):
        row = &layout.tensors[i]
        if tensors[i].dtype == 0:
            if row.number >= SEVERAL and not array_holds(layout, tensors, i, level):
                return False
            continue
        if row.call_rank and (tensors[i].rank > row.call_rank or not set_rank(&tensors[i], row.call_rank)):
            return False
        if not tensor_holds(&tensors[i], row.dtypes[level], row.ranks[level]):
            return False
        if row.same_as >= 0 and tensors[i].dtype != tied(layout, tensors, row.same_as, i):
            return False
    return True


# The data type that input `i` must have: that of the first input before it that is given and shares the data type.
cdef inline int tied(const Layout* layout, const Tensor* tensors, int first, int i) noexcept nogil:
    cdef int j
    for j in range(first, i):
        if j == first or layout.tensors[j].same_as == first:
            if tensors[j].dtype:
                return tensors[j].dtype
            if layout.tensors[j].number >= SEVERAL:
                return array_at(tensors, j).each[0].dtype
    return tensors[i].dtype


# Whether the array still is as `tensor` describes it. Python code may have run since, and may have resized the array.
cdef bint unchanged(ndarray array, const Tensor* tensor) noexcept:
    cdef int axis, found
    cdef int extra = tensor.rank - cnp.PyArray_NDIM(array)
    if <char*>cnp.PyArray_DATA(array) != tensor.data or not has_dtype(array, tensor.dtype):
        return False
    # Either tensor may have leading axes of size 1 that the other lacks, and the stride of an axis of size 1 means
    # nothing.
    for axis in range(min(extra, 0), tensor.rank):
        found = axis - extra
        if (1 if found < 0 else cnp.PyArray_DIMS(array)[found]) != (1 if axis < 0 else tensor.sizes[axis]):
            return False
        if axis >= 0 and tensor.sizes[axis] != 1 and cnp.PyArray_STRIDES(array)[found] != tensor.strides[axis]:
            return False
    return is_in_base(array, tensor)


# Whether a view lies in the memory that the array behind it has now.
cdef bint is_in_base(ndarray array, const Tensor* tensor) noexcept:
    cdef PyObject* base = <PyObject*>cnp.PyArray_BASE(array)
    cdef char* begin
    cdef char* end
    if base == NULL or not cnp.PyArray_Check(<object>base):
        return True
    if not cnp.PyArray_CHKFLAGS(<ndarray>base, cnp.NPY_ARRAY_OWNDATA) or not extent(tensor, &begin, &end):
        return True
    return begin >= <char*>cnp.PyArray_DATA(<ndarray>base) and (
        end <= <char*>cnp.PyArray_DATA(<ndarray>base) + cnp.PyArray_NBYTES(<ndarray>base)
    )


# Answers three questions in one pass. True: the array is unchanged, data and strides are aligned, and the elements are
# so few that the call is brief. False: at least one answer may be no, and the caller asks each question by itself.
cdef inline bint is_plain(ndarray array, const Tensor* tensor) noexcept:
    cdef int axis
    if (
        not tensor.dense
        or not is_brief(tensor)
        or not is_aligned(tensor)
        or not cnp.PyArray_IS_C_CONTIGUOUS(array)
        or cnp.PyArray_NDIM(array) != tensor.rank
        or <char*>cnp.PyArray_DATA(array) != tensor.data
        or dtype_of_array(array) != tensor.dtype
    ):
        return False
    for axis in range(tensor.rank):
        if cnp.PyArray_DIMS(array)[axis] != tensor.sizes[axis]:
            return False
    return cnp.PyArray_BASE(array) == NULL or is_in_base(array, tensor)


@cython.final
cdef class Call:
    """How an operator is called: its table, and its functions."""

    def __init__(self, *args, **kwargs):
        raise TypeError("generated modules make the calls of operators")

    @property
    def name(self):
        """The name of the operator in DirectML."""
        return self.layout.name.decode()

    @property
    def arguments(self):
        """The names of the arguments, as in the signature."""
        cdef int i
        inputs = [self.layout.tensors[i].name.decode() for i in range(self.inputs)]
        return (*inputs, *[self.layout.rows[i].name.decode() for i in range(self.keywords)], "out")


cdef object of_arguments(Call call, PyObject* const* given):
    cdef Frame frame
    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef int level = current_level()
    cdef int64_t broken = 0
    cdef object result = None
    cdef object out = <object>given[call.inputs + call.keywords]
    begin(&frame, call.tensors)
    try:
        if call.run == NULL or call.held:
            # A tensor that no argument fills is told from others too, or is owned by nobody.
            memset(<char*>frame.fields, 0, call.given)
        if call.arrays:
            open_arrays(call, &frame)
        if (
            take_inputs(call, &frame, given)
            and inputs_hold(call.layout, tensors, level)
            and call.take(tensors, level, given + call.inputs)
            and (call.holds(tensors, level) or holds_otherwise(call, tensors, given, level))
            and (call.data_holds == NULL or values_hold(call, &frame, &broken))
        ):
            if lacks_loops(call, frame.fields):
                result = compute(call, &frame, out, use_of(call, &frame, level))
            else:
                result = finish(call, &frame, out)
    finally:
        end(&frame, call.tensors)
        if call.held:
            taken_from(call, frame.fields)
    return refuse_arguments(call, given, level, broken) if result is None else result


cdef bint lacks_loops(Call call, const void* fields) noexcept nogil:
    cdef const char* start = <const char*>fields
    return call.run == NULL or (
        call.fused != 0
        and (<PyObject* const*>(start + call.held))[0] != NULL
        and (<const Activation*>(start + call.fused)).run == NULL
    )


cdef bint holds_otherwise(Call call, Tensor* tensors, PyObject* const* given, int level) except -1:
    """Whether the rules hold with another data type of the output, where the call may choose one and does not."""
    cdef int output = call.layout.open_output
    cdef int dtype
    if (
        output < 0
        or <object>given[call.inputs + call.layout.open_keyword] is not None
        or <object>given[call.inputs + call.keywords] is not None
    ):
        return False
    for dtype in range(1, DTYPES):
        if (call.layout.tensors[output].dtypes[level] >> dtype) & 1:
            tensors[output].dtype = dtype
            if call.holds(tensors, level):
                return True
    return False


cdef object of_inputs(Call call, const void* fields, PyObject* const* given, object out, object desc, object use):
    cdef Frame frame
    cdef int64_t broken = 0
    cdef object result = None
    begin(&frame, call.tensors)
    memcpy(frame.fields, fields, call.size)
    try:
        if match_inputs(call, &frame, given) and (call.data_holds == NULL or values_hold(call, &frame, &broken)):
            result = finish(call, &frame, out) if use is None else compute(call, &frame, out, use)
    finally:
        end(&frame, call.tensors)
    return refuse_inputs(call, given, out, desc, broken) if result is None else result


cdef bint take_inputs(Call call, Frame* frame, PyObject* const* given) except -1:
    """The arrays behind the inputs. The descriptions come last: an object that
    gives an array may change others."""
    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef const TensorLayout* row = call.layout.tensors
    cdef ndarray array
    cdef int i
    for i in range(call.inputs):
        if row[i].number != ONE:
            if row[i].number >= SEVERAL:
                if not take_array(array_at(tensors, i), <object>given[i]):
                    return False
                continue
            if <object>given[i] is None:
                tensors[i].dtype = tensors[i].rank = 0
                continue
        array = input_array(<object>given[i])
        if array is None:
            return False
        own(&frame.arrays[i], array)
    for i in range(call.inputs):
        if frame.arrays[i] == NULL:
            if row[i].number >= SEVERAL and not view_array(array_at(tensors, i)):
                return False
            continue
        if not view(<ndarray>frame.arrays[i], &tensors[i]):
            return False
        if row[i].desc_rank and tensors[i].rank != row[i].desc_rank:
            return False
    return True


cdef bint match_inputs(Call call, Frame* frame, PyObject* const* given) except -1:
    """The arrays behind the inputs of a compiled operator. False: one lacks the data type or sizes of its desc.

    A tensor that says where its elements are was given before.
    """
    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef ndarray array
    cdef int i
    for i in range(call.inputs):
        if tensors[i].dtype == 0:
            if call.layout.tensors[i].number >= SEVERAL:
                if not match_array(call, frame, i, <object>given[i]):
                    return False
            elif <object>given[i] is not None:
                return False
            continue
        if tensors[i].data != NULL:     # it was given before
            own(&frame.arrays[i], <ndarray>given[i])
            continue
        array = input_array(<object>given[i])
        if array is None or not fits(array, &tensors[i]):
            return False
        own(&frame.arrays[i], array)
    return True


cdef bint values_hold(Call call, Frame* frame, int64_t* broken) except -1:
    cdef int i
    for i in range(call.inputs):
        if frame.arrays[i] != NULL and not is_plain(<ndarray>frame.arrays[i], &(<Tensor*>frame.fields)[i]):
            refuse_change(call, i, <ndarray>frame.arrays[i], &(<Tensor*>frame.fields)[i])
    if call.data_holds(frame.fields, broken):
        return True
    if raised():    # by a signal, meanwhile
        return -1
    return False


cdef int refuse_change(Call call, int i, ndarray array, const Tensor* tensor) except -1:
    """Raises if an array of input `i` is not as it was described: Python code that ran since may have resized it."""
    if not unchanged(array, tensor):
        name = call.layout.tensors[i].name.decode()
        raise RuntimeError(f"{call.layout.python.decode()}(): {name} was changed during the call")
    return 0


cdef object finish(Call call, Frame* frame, object out):
    """Runs on checked fields. None: ``out`` is not acceptable, and nothing was written."""
    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef object recordings = current_recordings()
    cdef bint brief
    cdef int i
    if call.arrays:
        return finish_arrays(call, frame, out)
    if out is None:
        for i in range(call.inputs, call.tensors):
            if tensors[i].dtype:
                own(&frame.arrays[i], new_array(&tensors[i]))
    elif not take_outputs(call, frame, out):
        return None
    else:
        for i in range(call.inputs, call.tensors):
            if frame.arrays[i] != NULL and not is_aligned(&tensors[i]):
                align(frame, i)
    brief = is_brief(&tensors[call.inputs])
    for i in range(call.inputs):
        if frame.arrays[i] == NULL or recordings is None and is_plain(<ndarray>frame.arrays[i], &tensors[i]):
            continue
        refuse_change(call, i, <ndarray>frame.arrays[i], &tensors[i])
        if recordings is not None:
            own(&frame.copies[i], packed(<ndarray>frame.arrays[i], &tensors[i]))
        elif not is_aligned(&tensors[i]):
            align(frame, i)
        brief = brief and is_brief(&tensors[i])
    run_loops(call, tensors, brief)
    for i in range(call.inputs, call.tensors):
        if frame.copies[i] != NULL:
            cnp.PyArray_CopyInto(<ndarray>frame.arrays[i], <ndarray>frame.copies[i])
    if recordings is not None:
        record(call, frame, recordings)
    if out is not None:
        return out
    if call.tensors == call.inputs + 1:
        return <object>frame.arrays[call.inputs]
    outputs = [<object>frame.arrays[i] for i in range(call.inputs, call.tensors) if frame.arrays[i] != NULL]
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


cdef inline int run_loops(Call call, const void* fields, bint brief) except -1:
    cdef int status
    if brief:
        status = call.run(fields)
    else:
        with nogil:
            status = call.run(fields)
    if status != 0 and not raised():
        raise MemoryError(f"{call.layout.python.decode()}: no memory for scratch rows")
    return 0


cdef bint take_outputs(Call call, Frame* frame, object out) except -1:
    """The arrays behind ``out``: of several outputs, one entry each of a tuple."""
    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef ndarray array
    cdef int i, j, count = 0, taken = 0
    for i in range(call.inputs, call.tensors):
        count += tensors[i].dtype != 0
    if count > 1 and (type(out) is not tuple or len(<tuple>out) != count):
        return False
    for i in range(call.inputs, call.tensors):
        if tensors[i].dtype == 0:
            continue
        array = out_array(out if count == 1 else (<tuple>out)[taken], &tensors[i])
        taken += 1
        if array is None or overlaps_itself(array, &tensors[i]):
            return False
        for j in range(i):
            if (
                frame.arrays[j] != NULL
                and extents_meet(&tensors[i], &tensors[j])
                and not (call.layout.tensors[j].in_place and same_place(&tensors[i], &tensors[j]))
                and shares_memory(array, <ndarray>frame.arrays[j])
            ):
                return False
        own(&frame.arrays[i], array)
    for i in range(call.inputs, call.tensors):
        if tensors[i].dtype:
            if count > 1 and not unchanged(<ndarray>frame.arrays[i], &tensors[i]):
                raise RuntimeError(f"{call.layout.python.decode()}(): out was changed during the call")
    return True


# Whether two tensors are the same elements of memory in the same order.
cdef bint same_place(const Tensor* a, const Tensor* b) noexcept:
    cdef int axis
    if a.data != b.data or a.dtype != b.dtype or a.rank != b.rank:
        return False
    for axis in range(a.rank):
        if a.sizes[axis] != b.sizes[axis] or a.strides[axis] != b.strides[axis]:
            return False
    return True


include "call/arrays.pxi"
include "call/descs.pxi"
include "call/refusals.pxi"
include "call/uses.pxi"


cdef object record(Call call, Frame* frame, object recordings):
    from dmlcy._record import keep

    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef dict said = {}
    cdef int i
    for i in range(call.tensors):
        array = None
        if frame.arrays[i] != NULL:
            array = <object>(frame.arrays[i] if frame.copies[i] == NULL else frame.copies[i])
            array = array if i < call.inputs else packed(array, &tensors[i])
        said[call.names[i]] = array
    said.update(call.attributes(tensors))
    keep(recordings, call.layout.name.decode(), said)


cdef Call call_of(
    const Layout* layout, size_t size, size_t given, size_t held, size_t fused, Take take, Holds holds,
    DataHolds data_holds, Attributes attributes, Run run, Prepare prepare,
):
    cdef Call call = Call.__new__(Call)
    cdef int i
    call.layout = layout
    call.size = size
    call.given = given
    call.held = held
    call.fused = fused
    call.inputs = layout.inputs
    call.tensors = layout.inputs + layout.outputs
    call.keywords = layout.keywords
    for i in range(call.tensors):
        call.arrays = call.arrays or layout.tensors[i].number >= SEVERAL
        call.halves = call.halves or layout.tensors[i].dtypes[layout.levels - 1] >> UINT4 != 0
    call.take = take
    call.holds = holds
    call.data_holds = data_holds
    call.attributes = attributes
    call.run = run
    call.prepare = prepare
    call.names = tuple([intern(layout.tensors[i].name.decode()) for i in range(call.tensors)])
    if size > WORDS * sizeof(int64_t) or call.tensors > MAX_TENSORS or call.keywords > MAX_KEYWORDS:
        raise SystemError(f"{layout.name.decode()} does not fit into a frame")
    return call
