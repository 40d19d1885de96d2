"""Attribute arguments: from Python objects to C numbers, exactly, or not at all."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import islice
from numbers import Integral, Real

from cpython.bool cimport PyBool_Check
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_AsTuple, PyList_GetSlice
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_AsUnsignedLongLong, PyLong_CheckExact
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport isfinite, isinf, ldexp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t
from libc.string cimport memcpy, memset
cimport numpy as cnp

import numpy

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.call cimport take_loops
from dmlcy._runtime.checks cimport UINT_MAX
from dmlcy._runtime.tensor cimport (
    FLOAT16, FLOAT32, FLOAT64, INT64, MAX_RANK, UINT8, UINT16, UINT32, UINT64, Tensor, Tensors, as_array, dtype_of,
    each_given, half_of, item_of, of_any_bits, set_count, view
)

cdef extern from "Python.h":
    int PyFloat_Pack2(double value, char* bytes, int little_endian) except -1
    int PY_BIG_ENDIAN

cnp.import_array()

cdef long long EXACT = 1LL << 53        # all ints up to here are doubles

cdef enum:
    MOST_HELD = 256                 # descs that are kept for each level
    MOST_SEEN = 16                  # arguments that are kept for each level

# The descs, and tuples of them, that fields of operators can hold at a level. Then the arguments that were seen last.
cdef dict held = {}
cdef dict seen = {}

cdef dict dtype_names = {}
for _value, _name in enumerate(
    (
        "FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8", "FLOAT64", "UINT64", "INT64",
        "UINT4", "INT4",
    ), 1
):
    dtype_names[_name] = dtype_names[f"DML_TENSOR_DATA_TYPE_{_name}"] = _value


cdef inline bint is_bool(object value) except -1:
    return PyBool_Check(value) or issubclass(type(value), numpy.bool_)


# An object that is no int goes another way: an int itself raises nothing, and needs no bookkeeping of a try.
cdef inline int take_int(object value, int64_t minimum, int64_t maximum, int64_t* result) except -1:
    cdef int overflow = 0
    cdef int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow or number < minimum or number > maximum:
        return 0
    result[0] = number
    return 1


cdef int take_index(object value, int64_t minimum, int64_t maximum, int64_t* result) except -1:
    try:
        if is_bool(value):
            return 0
        value = PyNumber_Index(value)
    except Exception:
        return 0
    return take_int(value, minimum, maximum, result)


cdef int take_uint(object value, int64_t minimum, int64_t maximum, int64_t* result) except -1:
    if PyLong_CheckExact(value):
        return take_int(value, minimum, maximum, result)
    return take_index(value, minimum, maximum, result)


cdef int take_uints(object value, int64_t n, int64_t minimum, int64_t maximum, int64_t* result) except -1:
    cdef int64_t i
    cdef int64_t number = 0
    if not PyLong_CheckExact(value):
        return take_each_uint(value, n, minimum, maximum, result)
    if not take_int(value, minimum, maximum, &number):
        return 0
    for i in range(n):
        result[i] = number
    return 1


cdef int take_each_uint(object value, int64_t n, int64_t minimum, int64_t maximum, int64_t* result) except -1:
    cdef int64_t i
    cdef int64_t number = 0
    cdef tuple entries = int_entries(value)
    if entries is None:
        return take_uint(value, minimum, maximum, &number) and take_uints(number, n, minimum, maximum, result)
    if len(entries) != n:
        return 0
    for i in range(n):
        if not take_uint(entries[i], minimum, maximum, result + i):
            return 0
    return 1


cdef int take_sizes(object value, int64_t* result, int64_t* count) except -1:
    cdef tuple entries = int_entries(value)
    return sizes_of((value,) if entries is None else entries, result, count)


cdef int sizes_of(tuple entries, int64_t* result, int64_t* count) except -1:
    """Sizes of which none is 0; of None, none."""
    cdef Py_ssize_t i
    if entries is None or not 1 <= len(entries) <= MAX_RANK:
        return 0
    for i in range(len(entries)):
        if not take_uint(entries[i], 1, UINT_MAX, result + i):
            return 0
    count[0] = len(entries)
    return 1


cdef tuple int_entries(object value):
    """The entries of a sequence or a 1-D integer array, (None,) for what has none; None: take it as one number."""
    if PyLong_CheckExact(value):
        return None
    return entries_of(value, "iu")


cdef tuple entries_of(object value, str kinds):
    """The same of any value; ``kinds`` are those of NumPy that an array may have."""
    if type(value) is tuple:
        return <tuple>value
    if type(value) is list:
        return PyList_AsTuple(PyList_GetSlice(value, 0, 9))
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        return (None,)
    cdef cnp.ndarray array
    try:
        if issubclass(type(value), Sequence):
            return tuple(islice(value, 9))
        array = as_array(value)
    except Exception:
        return (None,)
    if array is None or array.ndim == 0:
        return None
    return tuple(array[:9].tolist()) if array.ndim == 1 and array.dtype.kind in kinds else (None,)


cdef int take_bool(object value, bint* result) except -1:
    if not is_bool(value):
        return 0
    result[0] = bool(value)
    return 1


cdef int take_float(object value, bint infinite, float* result) except -1:
    cdef double number
    cdef float rounded
    if not take_real(value, &number):
        return 0
    rounded = <float>number
    if not isfinite(rounded) and not (infinite and not isfinite(number)):
        return 0
    result[0] = rounded
    return 1


cdef int take_floats(object value, int64_t n, float* result) except -1:
    cdef tuple entries = number_entries(value)
    if n > MAX_RANK:
        return 0
    return floats_of((value,) * n if entries is None else entries, n, result)


cdef int take_each_float(object value, int64_t n, float* result) except -1:
    cdef tuple entries = number_entries(value)
    if n > MAX_RANK:
        return 0
    return floats_of((value,) if entries is None else entries, n, result)


cdef int floats_of(tuple entries, int64_t n, float* result) except -1:
    cdef int64_t i
    if len(entries) != n:
        return 0
    for i in range(n):
        if not take_float(entries[i], False, result + i):
            return 0
    return 1


cdef int take_scale_bias(object value, bint optional, float* result, bint* given) except -1:
    cdef tuple entries
    given[0] = value is not None
    if value is None:
        result[0] = result[1] = 0
        return optional
    entries = number_entries(value)
    if entries is None or len(entries) != 2:
        return 0
    return take_float(entries[0], False, result) and take_float(entries[1], False, result + 1)


cdef tuple number_entries(object value):
    """The entries of a sequence or of a 1-D array of numbers; None: take it as one number."""
    if PyFloat_CheckExact(value) or PyLong_CheckExact(value):
        return None
    cdef tuple entries = entries_of(value, "iuf")
    if entries is not None or not cnp.PyArray_Check(value):
        return entries
    # As in the desc of an operator, a NumPy array without dimensions has one entry.
    cdef cnp.ndarray array = as_array(value)
    return (None,) if array is None else (array.item(),)


cdef int take_some(
    object value, int64_t most, int64_t minimum, int64_t maximum, int64_t* result, int64_t* count
) except -1:
    cdef Py_ssize_t i
    cdef tuple entries = int_entries(value)
    if entries is None:
        entries = (value,)
    if len(entries) > min(most, MAX_RANK):
        return 0
    for i in range(len(entries)):
        if not take_uint(entries[i], minimum, maximum, result + i):
            return 0
    count[0] = len(entries)
    return 1


cdef object keep(tuple key, object value):
    """The object, or one that is equal and was kept before: uses are told from others by addresses."""
    global held
    cdef dict kept = held       # a comparison of descs may let another thread take its place
    if len(kept) >= MOST_HELD:
        held = kept = {}
    return kept.setdefault(key, value)


cdef object as_desc(object value, str operator, str field, int level):
    """The desc that a field of an operator holds, the same one for equal values; None: the field cannot have it."""
    cdef dict kept
    known = seen.get((operator, field, level, id(value)))
    if known is not None:
        return known[1]
    from dmlcy._desc.check import held_desc
    from dmlcy._field_types.values import Nested

    is_desc = issubclass(type(value), Nested)
    kept = held
    desc = kept.get((operator, field, level, value)) if is_desc else None
    if desc is None:
        desc = held_desc(operator, field, value, level)
        if desc is None:
            return None
        desc = keep((operator, field, level, desc), desc)
    if is_desc:  # whose attributes nobody can change
        if len(seen) >= MOST_SEEN:
            seen.clear()
        seen[operator, field, level, id(value)] = (value, desc)
    return desc


cdef int take_desc(
    object value, bint optional, str operator, str field, int level, PyObject** result, Activation* loops
) except -1:
    result[0] = NULL
    memset(loops, 0, sizeof(Activation))
    if value is None:
        return optional
    desc = as_desc(value, operator, field, level)
    if desc is None:
        return 0
    take_loops(desc, loops)
    Py_INCREF(desc)
    result[0] = <PyObject*>desc
    return 1


cdef int take_descs(
    object value, int64_t count, str operator, str field, int level, PyObject** result, Activation* loops
) except -1:
    cdef tuple entries = value if type(value) is tuple else entries_of(value, "")
    cdef bint lacks = False
    cdef int64_t i
    result[0] = NULL
    memset(loops, 0, MAX_RANK * sizeof(Activation))
    if entries is None or len(entries) != count:
        return 0
    descs = tuple([as_desc(one, operator, field, level) for one in entries])
    if None in descs:
        return 0
    descs = keep((operator, field, level, descs), descs)
    for i in range(count):
        take_loops((<tuple>descs)[i], &loops[i])
        lacks = lacks or loops[i].run == NULL
    if lacks:
        loops[0].run = NULL
    Py_INCREF(descs)
    result[0] = <PyObject*>descs
    return 1


cdef object desc_of(PyObject* desc):
    return None if desc == NULL else <object>desc


cdef int take_real(object value, double* result) except -1:
    """The number in double precision. A number that is no double is rounded to the double beside it whose last bit is
    odd. If this double is rounded again, to a format with at least two bits less, the result is that of rounding
    once."""
    cdef double number
    cdef long long small
    cdef int overflow = 0
    if PyFloat_CheckExact(value):
        result[0] = PyFloat_AS_DOUBLE(value)
        return 1
    if PyLong_CheckExact(value):
        small = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow == 0 and -EXACT <= small <= EXACT:
            result[0] = <double>small
            return 1
    try:
        if not PyLong_CheckExact(value):
            if is_bool(value) or not issubclass(type(value), (Real, Decimal)):
                return 0
        number = float(value)
        if issubclass(type(value), Integral):
            value = PyNumber_Index(value)
        # Infinity must be the value's own; the ratio of a number this far from 1 would take too long.
        if isinf(number) and value != number:
            return 0
        if number != 0 and isfinite(number) and value != number:
            numerator, denominator = value.as_integer_ratio()
            number = odd_double(numerator, denominator)
    except Exception:
        return 0
    result[0] = number
    return 1


cdef double odd_double(object numerator, object denominator) except? -1:
    cdef bint negative = numerator < 0
    cdef double number
    numerator = abs(numerator)
    shift = numerator.bit_length() - denominator.bit_length() - 52
    if shift < 0:
        numerator <<= -shift
    else:
        denominator <<= shift
    quotient, rest = divmod(numerator, denominator)         # of 52 or 53 bits
    number = ldexp(<double>(quotient | (rest != 0)), <int>shift)
    return -number if negative else number


# The text itself: a subclass of str may raise anything when it is asked for its hash.
cdef inline object plain_text(object text):
    return text if PyUnicode_CheckExact(text) else str.__str__(text)


cdef int take_enum(object value, object cls, dict names, int64_t* result) except -1:
    if isinstance(value, str):
        value = names.get(plain_text(value))
        if value is None:
            return 0
    elif type(value) is not cls:
        return 0
    result[0] = value
    return 1


cdef int take_dtype(object value, int64_t* result) except -1:
    cdef object number = None
    if isinstance(value, str):
        value = plain_text(value)
        number = dtype_names.get(value)
    elif isinstance(value, int):
        from dmlcy._generated.enums import TensorDataType

        number = int(value) if isinstance(value, TensorDataType) else 0
    elif not isinstance(value, type) and not issubclass(type(value), numpy.dtype):
        return 0
    if number is None:
        try:
            dtype = numpy.dtype(value)
            number = dtype_of(dtype) or half_of(dtype)
        except Exception:
            return 0
    if not number:
        return 0
    result[0] = <int>number
    return 1


cdef int take_output(object value, int default, int* dtype) except -1:
    cdef int64_t number
    if value is None or is_bool(value):
        dtype[0] = default if value else 0
        return 1
    if not take_dtype(value, &number):
        return 0
    dtype[0] = <int>number
    return 1


cdef int take_open(object value, object out, bint open, int default, int* dtype) except -1:
    cdef int64_t number
    cdef Tensor given
    dtype[0] = default
    if value is None:
        if open and out is not None and view(of_any_bits(out, as_array(out)), &given):
            dtype[0] = given.dtype
        return 1
    if is_bool(value):
        return 1
    if not take_dtype(value, &number):
        return 0
    dtype[0] = <int>number
    return 1


cdef int take_asked(object value, object out, int place, int count, Tensor* tensor) except -1:
    cdef int64_t rank = 0
    cdef cnp.ndarray array = None
    cdef int d
    tensor.rank = 0
    if value is not None:
        if not sizes_of(int_entries(value), tensor.sizes, &rank):
            return 0
    elif out is not None:
        if count > 1 and type(out) is tuple:
            out = (<tuple>out)[place] if place < len(<tuple>out) else None
        array = as_array(out)
        if array is not None and array.ndim <= MAX_RANK:
            rank = array.ndim
            for d in range(array.ndim):
                tensor.sizes[d] = cnp.PyArray_DIMS(array)[d]
    tensor.rank = <int>rank
    return 1


cdef int take_each(object value, object out, int dtype, Tensors* tensors) except -1:
    from dmlcy._field_types.tensor_array import given_sizes

    cdef tuple said = each_given(out) if value is None else given_sizes(value)
    cdef Tensor* tensor
    cdef int64_t rank, k
    if said is None:
        return 0
    set_count(tensors, len(said))
    for k in range(tensors.count):
        tensor = &tensors.each[k]
        if value is not None:
            if not sizes_of(int_entries(said[k]), tensor.sizes, &rank):
                return 0
            tensor.rank = <int>rank
        elif not view(of_any_bits(said[k], as_array(said[k])), tensor):
            return 0
        tensor.dtype = dtype
        tensor.item = item_of(dtype)
    return 1


cdef int take_size_2d(object value, int64_t minimum, int64_t maximum, int64_t* height, int64_t* width) except -1:
    cdef int64_t[2] sizes
    if not take_uints(value, 2, minimum, maximum, sizes):
        return 0
    height[0] = sizes[0]
    width[0] = sizes[1]
    return 1


include "arguments/scalars.pxi"
