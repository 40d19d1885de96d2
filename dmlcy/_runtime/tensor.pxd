# The way from Python objects to a tensor.

from libc.stdint cimport int64_t
from numpy cimport (
    NPY_BOOL, PyArray_CheckExact, PyArray_DATA, PyArray_DIMS, PyArray_IS_C_CONTIGUOUS, PyArray_ISNOTSWAPPED,
    PyArray_ISWRITEABLE, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE
)
from numpy cimport dtype as numpy_dtype
from numpy cimport ndarray

from dmlcy._runtime.strided cimport (
    BRIEF_BYTES, DTYPES, FLOAT16, FLOAT32, FLOAT64, INT4, INT8, INT16, INT32, INT64, MAX_RANK, UINT4, UINT8, UINT16,
    UINT32, UINT64, Tensor, TensorField, Tensors, dense_stride, is_aligned, is_brief, item_of, make_dense, set_rank
)

cdef enum:
    FEW_TENSORS = 4                 # and among them one behind the last
    TYPE_NUMBERS = 32               # of NumPy, in which are those of its numbers

cdef int[TYPE_NUMBERS] dtypes       # NumPy type number -> data type, 0 for none

# The value of DML_TENSOR_DATA_TYPE; 0: a data type that DirectML has not, or foreign byte order.
cdef int dtype_of(numpy_dtype dtype) noexcept
# The same of the elements of an array.
cdef inline int dtype_of_array(ndarray array) noexcept:
    cdef int number = PyArray_TYPE(array)
    return dtypes[number] if 0 <= number < TYPE_NUMBERS and PyArray_ISNOTSWAPPED(array) else 0
# UINT4 or INT4 of a data type for which the table has 0; 0 of any other.
cdef int half_of(numpy_dtype dtype) noexcept
# The same of the elements of an array. No inline function asks for the dtype: few compilers would inline it then.
cdef int half_of_array(ndarray array) noexcept
# Whether the elements of an array have a data type.
cdef inline bint has_dtype(ndarray array, int dtype) noexcept:
    return dtype_of_array(array) == dtype or (dtype >= UINT4 and half_of_array(array) == dtype)

# The array behind a Python object, without a copy: NumPy arrays, the buffer protocol, DLPack on the CPU, __array__.
# `None` for everything else: lists, masked arrays, scalars that are not arrays. An object that fails to give its array
# is refused too.
cdef ndarray as_array(object value)
# The same for an input: the bytes of a bool array are UINT8, and an array without dimensions has one of size 1.
cdef inline ndarray input_array(object value):
    if PyArray_CheckExact(value) and PyArray_TYPE(<ndarray>value) != NPY_BOOL and PyArray_NDIM(<ndarray>value) > 0:
        return <ndarray>value
    return converted_input(value)

cdef ndarray converted_input(object value)
# As as_array, but None where each conversion makes another copy: what is written to the array reaches the object.
cdef ndarray shared_array(object value)

# Describes the array in C. False: None, a data type that DirectML has not, foreign byte order, rank 0 or above
# MAX_RANK.
cdef bint view(ndarray array, Tensor* tensor) noexcept

# Says where the elements of an array are that has the data type and the sizes in `tensor`.
cdef inline void place(Tensor* tensor, ndarray array) noexcept:
    cdef int axis
    make_dense(tensor, <char*>PyArray_DATA(array))
    if PyArray_IS_C_CONTIGUOUS(array) and tensor.bytes > 0:     # an empty array may have any strides
        return
    tensor.dense = False
    for axis in range(tensor.rank - 1, -1, -1):
        if tensor.sizes[axis] == 1:
            tensor.strides[axis] = dense_stride(tensor, axis)
        else:
            tensor.strides[axis] = PyArray_STRIDES(array)[axis]

# Whether an array has the data type and the sizes in `tensor`, whose place it then gives. False: `tensor` is as it was.
cdef inline bint fits(ndarray array, Tensor* tensor) noexcept:
    cdef int axis
    if PyArray_NDIM(array) != tensor.rank or not has_dtype(array, tensor.dtype):
        return False
    for axis in range(tensor.rank):
        if PyArray_DIMS(array)[axis] != tensor.sizes[axis]:
            return False
    place(tensor, array)
    return True

# A new C-contiguous array of the data type and sizes in `tensor`; fills in its data and strides. May raise MemoryError.
cdef ndarray new_array(Tensor* tensor)

# The array behind `out`, if it has the data type and sizes in `tensor` and is writable; fills in data and strides.
# None: it is not acceptable. Nothing is written.
cdef inline ndarray out_array(object out, Tensor* tensor):
    cdef ndarray array = <ndarray>out if PyArray_CheckExact(out) else shared_array(out)
    if array is None or not PyArray_ISWRITEABLE(array) or not fits(array, tensor):
        return None
    return array

# The same memory as an array of no subclass, whose methods could do anything.
cdef ndarray plain(ndarray array)

# From the first to behind the last byte. False: there are none.
cdef inline bint extent(const Tensor* tensor, char** begin, char** end) noexcept nogil:
    cdef int axis
    begin[0] = tensor.data
    end[0] = tensor.data + tensor.bytes
    if tensor.dense or tensor.bytes == 0:
        return tensor.bytes > 0
    end[0] = tensor.data + tensor.item
    for axis in range(tensor.rank):
        if tensor.strides[axis] < 0:
            begin[0] += (tensor.sizes[axis] - 1) * tensor.strides[axis]
        else:
            end[0] += (tensor.sizes[axis] - 1) * tensor.strides[axis]
    return True

# Whether the extents of two tensors have bytes in common.
cdef inline bint extents_meet(const Tensor* a, const Tensor* b) noexcept nogil:
    cdef char* begin
    cdef char* end
    cdef char* other_begin
    cdef char* other_end
    if not extent(a, &begin, &end) or not extent(b, &other_begin, &other_end):
        return False
    return begin < other_end and other_begin < end

# Whether writing `out` could change `array`: extents first, then exactly up to a work limit; undecided counts as yes.
cdef inline bint overlap(ndarray out, const Tensor* out_view, ndarray array, const Tensor* array_view) except -1:
    return extents_meet(out_view, array_view) and shares_memory(out, array)

cdef bint shares_memory(ndarray out, ndarray array) except -1
# Whether two elements of `out` share memory; undecided counts as yes.
cdef bint overlaps_itself(ndarray out, const Tensor* out_view) except -1

# The array itself, or, when its data or a stride is not a multiple of the element size, an aligned copy that `tensor`
# then describes.
cdef ndarray aligned(ndarray array, Tensor* tensor)
# A C-contiguous copy of the array with the sizes in `tensor`, which then describes the copy.
cdef ndarray packed(ndarray array, Tensor* tensor)

# The array itself, or, of elements of 4 bits, as the reference takes them.
cdef object of_any_bits(object value, ndarray array)
cpdef bint may_overlap(object out, object array) except -1

# Owns the memory of an array of tensors.
cdef class TensorList:
    cdef Tensor* each               # NULL: few of them, in the object itself
    cdef Tensor[FEW_TENSORS] few
    cdef list arrays                # behind the tensors

# A new list of no tensors, which `tensors` then is.
cdef TensorList new_list(Tensors* tensors)
# Gives `tensors` so many tensors, without a data type and arrays.
cdef int set_count(Tensors* tensors, Py_ssize_t count) except -1
# The tensors that a call gives for an array of tensors; None: something else than a sequence.
cdef tuple each_given(object value)
# The same in a new list.
cdef list given_list(object value)
