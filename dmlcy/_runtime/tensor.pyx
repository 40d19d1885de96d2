"""Tensors: from Python objects to a C view of their memory, without copies and without casts."""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.list cimport PyList_AsTuple, PyList_GET_SIZE, PyList_GetSlice
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.stdint cimport int64_t
from libc.string cimport memset
cimport numpy as cnp
from numpy cimport ndarray

import numpy
from numpy.exceptions import TooHardError

cnp.import_array()

# Search steps of the exact overlap test of two arrays, and elements of the exact test of one: milliseconds each.
MOST_WORK = 100_000
cdef int64_t MOST_ELEMENTS = 1 << 18

cdef enum:
    DLPACK_CPU = 1
    MOST_SHORT = 1 << 16            # tensors of an array that need no look at how many there may be

cdef int[DTYPES] type_numbers       # data type -> NumPy type number


cdef void fill_tables():
    # Several type numbers mean the same numbers (long and long long, …), so kind and size decide, not the number.
    named = {
        "f4": FLOAT32, "f2": FLOAT16, "u4": UINT32, "u2": UINT16, "u1": UINT8, "i4": INT32, "i2": INT16, "i1": INT8,
        "f8": FLOAT64, "u8": UINT64, "i8": INT64,
    }
    for character in "bhilqBHILQefdg":
        kind = numpy.dtype(character)
        dtypes[<int>kind.num] = named.get(kind.str[1:], 0)
    for name, value in named.items():
        type_numbers[<int>value] = numpy.dtype(name).num
    type_numbers[<int>UINT4] = type_numbers[<int>INT4] = cnp.NPY_UINT8


fill_tables()


cdef int dtype_of(cnp.dtype dtype) noexcept:
    cdef int number = dtype.type_num
    return dtypes[number] if 0 <= number < TYPE_NUMBERS and cnp.PyDataType_ISNOTSWAPPED(dtype) else 0


cdef int half_of(cnp.dtype dtype) noexcept:
    try:
        from dmlcy._runtime.four_bits import name_of

        return {"UINT4": UINT4, "INT4": INT4}.get(name_of(dtype), 0)
    except Exception:
        return 0


cdef int half_of_array(ndarray array) noexcept:
    return half_of(array.dtype)


cdef ndarray as_array(object value):
    if cnp.PyArray_CheckExact(value):
        return <ndarray>value
    if cnp.PyArray_Check(value):
        return unmasked(value)
    return foreign_array(value, False)


cdef ndarray converted_input(object value):
    cdef ndarray array = as_array(value)
    if array is None:
        return of_any_bits(value, None)
    if cnp.PyArray_TYPE(array) == cnp.NPY_BOOL:
        array = array.view(numpy.uint8)
    return array.reshape(1) if cnp.PyArray_NDIM(array) == 0 else array


cdef ndarray unmasked(ndarray array):
    """The array; None for a masked one, whose mask nobody would look at."""
    from numpy.ma import MaskedArray

    return None if isinstance(array, MaskedArray) else array


cdef ndarray shared_array(object value):
    if cnp.PyArray_Check(value):
        return as_array(value)
    cdef ndarray array = foreign_array(value, True)
    # While the first array lives, a second copy must lie elsewhere.
    cdef ndarray again = None if array is None else foreign_array(value, True)
    if array is None:
        return of_any_bits(value, None)
    if again is None or cnp.PyArray_DATA(array) != cnp.PyArray_DATA(again):
        return None
    return array


def offers(cls: object, name: str) -> bool:
    """Whether a class has an attribute; it has none where the question raises an error of the class's own."""
    try:
        return hasattr(cls, name)
    except MemoryError:
        raise
    except Exception:
        return False


cdef ndarray foreign_array(object value, bint writable):
    """Protocols are looked up on the type: a class such as numpy.ndarray has __array__ and is no array.

    An error that a protocol raises is a refusal, which dmlcy._desc.check explains; only MemoryError passes through.
    """
    cdef ndarray array
    cls = type(value)
    if issubclass(cls, numpy.generic):
        return None
    if PyObject_CheckBuffer(value):
        try:
            return numpy.asarray(memoryview(value))
        except MemoryError:
            raise
        except Exception:
            pass
    if offers(cls, "__dlpack__") and offers(cls, "__dlpack_device__"):
        try:
            device, _ = value.__dlpack_device__()
            # PyTorch hands out the memory of a lazily negated tensor with the wrong signs; its __array__ refuses.
            if device == DLPACK_CPU and not (offers(cls, "is_neg") and value.is_neg()):
                array = numpy.from_dlpack(value)
                # NumPy takes DLPack before version 1 as read-only, because that could not say.
                if not writable or cnp.PyArray_ISWRITEABLE(array) or not offers(cls, "__array__"):
                    return array
        except MemoryError:
            raise
        except Exception:
            pass
    try:
        if not offers(cls, "__array__"):
            return None
        array = numpy.asanyarray(value)
        return None if unmasked(array) is None else numpy.asarray(array)
    except MemoryError:
        raise
    except Exception:
        return None


cdef bint view(ndarray array, Tensor* tensor) noexcept:
    cdef int axis
    if array is None:
        return False
    tensor.dtype = dtype_of_array(array)
    if tensor.dtype == 0:
        tensor.dtype = half_of_array(array)
    tensor.rank = cnp.PyArray_NDIM(array)
    if tensor.dtype == 0 or tensor.rank < 1 or tensor.rank > MAX_RANK:
        return False
    tensor.item = item_of(tensor.dtype)
    for axis in range(tensor.rank):
        tensor.sizes[axis] = cnp.PyArray_DIMS(array)[axis]
    place(tensor, array)
    return True


cdef ndarray new_array(Tensor* tensor):
    cdef cnp.npy_intp[MAX_RANK] sizes
    cdef int axis
    cdef ndarray array
    for axis in range(tensor.rank):
        sizes[axis] = <cnp.npy_intp>tensor.sizes[axis]
    array = cnp.PyArray_SimpleNew(tensor.rank, sizes, type_numbers[tensor.dtype])
    make_dense(tensor, <char*>cnp.PyArray_DATA(array))
    return array if tensor.dtype < UINT4 else of_four_bits(array, tensor.dtype)


cdef ndarray of_four_bits(ndarray bytes, int dtype):
    from dmlcy._runtime.four_bits import MARKERS

    return bytes.view(MARKERS["UINT4" if dtype == UINT4 else "INT4"])


cdef ndarray plain(ndarray array):
    """The array as one of no subclass, whose __array_function__ could change what was checked."""
    return numpy.ndarray.view(array, numpy.ndarray)


cdef bint shares_memory(ndarray out, ndarray array) except -1:
    try:
        return numpy.shares_memory(plain(out), plain(array), max_work=MOST_WORK)
    except (TooHardError, OverflowError):
        return True


cdef bint overlaps_itself(ndarray out, const Tensor* out_view) except -1:
    cdef int64_t[MAX_RANK] sizes
    cdef int64_t[MAX_RANK] steps
    cdef int64_t step, most, count = 1, reach = out_view.item
    cdef int axis, place, axes = 0
    cdef bint nested = True
    if cnp.PyArray_IS_C_CONTIGUOUS(out):
        return False
    # The axes of more than one element, by growing step.
    for axis in range(out_view.rank):
        if out_view.sizes[axis] == 0:
            return False
        if out_view.sizes[axis] == 1:
            continue
        step = abs(out_view.strides[axis])
        place = axes
        while place > 0 and steps[place - 1] > step:
            steps[place] = steps[place - 1]
            sizes[place] = sizes[place - 1]
            place -= 1
        steps[place] = step
        sizes[place] = out_view.sizes[axis]
        axes += 1
    for axis in range(axes):
        nested = nested and steps[axis] >= reach
        reach += (sizes[axis] - 1) * steps[axis]
    if nested:
        return False
    # More elements than fit into the memory they span?
    most = reach // out_view.item
    for axis in range(axes):
        if count > most // sizes[axis]:
            return True
        count *= sizes[axis]
    if steps[0] < out_view.item or count > MOST_ELEMENTS:
        return True
    offsets = numpy.zeros(1, numpy.int64)
    for axis in range(axes):
        offsets = numpy.add.outer(offsets, numpy.arange(sizes[axis]) * steps[axis]).ravel()
    offsets.sort()
    return numpy.diff(offsets).min() < out_view.item


cdef ndarray aligned(ndarray array, Tensor* tensor):
    if is_aligned(tensor):
        return array
    # Of no subclass: its __array_finalize__ could change what was checked.
    cdef ndarray copy = new_array(tensor)
    cnp.PyArray_CopyInto(copy, array)
    return copy


cdef ndarray packed(ndarray array, Tensor* tensor):
    cdef Tensor target = tensor[0]
    cdef ndarray copy = new_array(&target)
    cnp.PyArray_CopyInto(copy, array)
    tensor[0] = target
    return copy


cdef object of_any_bits(object value, ndarray array):
    """The array itself, or elements of 4 bits, for which the table of NumPy's types has no data type."""
    if array is not None and dtype_of_array(array):
        return array
    from dmlcy._runtime.four_bits import elements

    return elements(value, array)


cdef ndarray memory_of(object value):
    """The array behind `value`, in the data type of its bytes where its elements have 4 bits."""
    cdef ndarray array = as_array(value)
    if array is None or dtype_of_array(array):
        return array
    from dmlcy._runtime.four_bits import memory

    return memory(array)


def to_array(value):
    """Return the array behind `value` without a copy, or None where there is none (lists, masked arrays, numbers).

    The bytes of a bool array are UINT8, and an array without dimensions has one of size 1. Only packed elements of
    4 bits are copied.
    """
    return of_any_bits(value, input_array(value))


def to_numbers(value):
    """Return the array behind `value` as it is, or None where there is none: what holds entries, and is no tensor."""
    return as_array(value)


def to_shared_array(value):
    """Return the array that shares its memory with `value`, or None: what an `out` argument needs to be.

    Elements of 4 bits reach packed bytes by dmlcy._runtime.four_bits.write.
    """
    return of_any_bits(value, shared_array(value))


cpdef bint may_overlap(object out, object array) except -1:
    """Return whether writing `out` could change `array`; undecided counts as yes, arrays that are no tensors as no."""
    cdef ndarray left = memory_of(out)
    cdef ndarray right = memory_of(array)
    cdef Tensor left_view, right_view
    return view(left, &left_view) and view(right, &right_view) and overlap(left, &left_view, right, &right_view)


def self_overlaps(out):
    """Return whether two elements of `out` share memory; undecided counts as yes, an array that is no tensor as no."""
    cdef ndarray array = memory_of(out)
    cdef Tensor array_view
    return view(array, &array_view) and overlaps_itself(array, &array_view)


@cython.final
@cython.freelist(4)
cdef class TensorList:
    """The memory of an array of tensors."""

    def __dealloc__(self):
        PyMem_Free(self.each)


cdef TensorList new_list(Tensors* tensors):
    cdef TensorList owner = TensorList.__new__(TensorList)
    owner.arrays = []
    tensors.owner = <PyObject*>owner
    tensors.dtype = 0
    tensors.each = &owner.few[0]
    tensors.count = 0
    return owner


cdef int set_count(Tensors* tensors, Py_ssize_t count) except -1:
    cdef TensorList owner = <TensorList>tensors.owner
    cdef Tensor* each = NULL
    if count < FEW_TENSORS:
        memset(owner.few, 0, (count + 1) * sizeof(Tensor))
    else:
        each = <Tensor*>PyMem_Calloc(count + 1, sizeof(Tensor))
        if each == NULL:
            raise MemoryError
    PyMem_Free(owner.each)
    owner.each = each
    tensors.each = &owner.few[0] if each == NULL else each
    tensors.count = count
    if owner.arrays:
        owner.arrays = []
    return 0


cdef tuple each_given(object value):
    if type(value) is tuple and PyTuple_GET_SIZE(<tuple>value) < MOST_SHORT:
        return <tuple>value
    if type(value) is list and PyList_GET_SIZE(<list>value) < MOST_SHORT:
        return PyList_AsTuple(<list>value)
    from dmlcy._field_types.tensor_array import given_tensors

    return given_tensors(value)


cdef list given_list(object value):
    cdef tuple entries
    if type(value) is list and PyList_GET_SIZE(<list>value) < MOST_SHORT:
        return PyList_GetSlice(<list>value, 0, PyList_GET_SIZE(<list>value))
    entries = each_given(value)
    return None if entries is None else list(entries)
