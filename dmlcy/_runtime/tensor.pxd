# A tensor as every kernel sees it, and the way from Python objects to it.

from libc.stdint cimport int64_t, uint64_t
from numpy cimport (
    PyArray_DATA, PyArray_DIMS, PyArray_ISNOTSWAPPED, PyArray_NDIM, PyArray_STRIDES, PyArray_TYPE
)
from numpy cimport dtype as numpy_dtype
from numpy cimport ndarray

cdef enum:
    MAX_RANK = 8
    TYPE_NUMBERS = 32               # of NumPy, in which are those of its numbers
    BRIEF_BYTES = 2048

# Values of DML_TENSOR_DATA_TYPE.
cdef enum:
    FLOAT32 = 1
    FLOAT16 = 2
    UINT32 = 3
    UINT16 = 4
    UINT8 = 5
    INT32 = 6
    INT16 = 7
    INT8 = 8
    FLOAT64 = 9
    UINT64 = 10
    INT64 = 11
    DTYPES                          # one more than the last value

cdef struct Tensor:
    char* data                      # aligned for its element size once aligned() has seen it; native byte order
    int dtype                       # value of DML_TENSOR_DATA_TYPE
    int item                        # bytes of an element
    int rank
    int64_t sizes[MAX_RANK]         # elements
    int64_t strides[MAX_RANK]       # bytes; zero and negative ones too; a size of 1 has the stride of a dense layout

cdef int[TYPE_NUMBERS] dtypes       # NumPy type number -> data type, 0 for none

# The value of DML_TENSOR_DATA_TYPE; 0: a data type that DirectML has not, or foreign byte order.
cdef int dtype_of(numpy_dtype dtype) noexcept
# The same of the elements of an array.
cdef inline int dtype_of_array(ndarray array) noexcept:
    cdef int number = PyArray_TYPE(array)
    return dtypes[number] if 0 <= number < TYPE_NUMBERS and PyArray_ISNOTSWAPPED(array) else 0
# Bytes of an element of one of the data types above.
cdef int item_of(int dtype) noexcept nogil

# The array behind a Python object, without a copy: NumPy arrays, the buffer protocol, DLPack on the CPU, __array__.
# None for everything else: lists, masked arrays, scalars that are not arrays. An object that fails to
# give its array is refused too.
cdef ndarray as_array(object value)
# The same for an input: the bytes of a bool array are UINT8, and an array without dimensions has one of size 1.
cdef ndarray input_array(object value)
# As as_array, but None where each conversion makes another copy: what is written to the array reaches the object.
cdef ndarray shared_array(object value)

# Bytes of all elements.
cdef inline int64_t bytes_of(const Tensor* tensor) noexcept nogil:
    cdef int64_t bytes = tensor.item
    cdef int axis
    for axis in range(tensor.rank):
        bytes *= tensor.sizes[axis]
    return bytes

# Whether the elements are so few that giving up the GIL would take longer than working on them.
cdef inline bint is_brief(const Tensor* tensor) noexcept nogil:
    return bytes_of(tensor) <= BRIEF_BYTES

# Describes the array in C. False: None, a data type that DirectML has not, foreign byte order, rank 0 or above
# MAX_RANK.
cdef bint view(ndarray array, Tensor* tensor) noexcept

# The stride of `axis` if nothing lies between it and the axes after it.
cdef inline int64_t dense_stride(const Tensor* tensor, int axis) noexcept nogil:
    if axis == tensor.rank - 1:
        return tensor.item
    # Unsigned: an empty array may have any stride.
    return <int64_t>(<uint64_t>tensor.sizes[axis + 1] * <uint64_t>tensor.strides[axis + 1])

# Whether an array has the data type and the sizes in `tensor`, whose data and strides it then gives. False: `tensor` is
# as it was.
cdef inline bint fits(ndarray array, Tensor* tensor) noexcept:
    cdef int axis
    if PyArray_NDIM(array) != tensor.rank or dtype_of_array(array) != tensor.dtype:
        return False
    for axis in range(tensor.rank):
        if PyArray_DIMS(array)[axis] != tensor.sizes[axis]:
            return False
    tensor.data = <char*>PyArray_DATA(array)
    for axis in range(tensor.rank - 1, -1, -1):
        if tensor.sizes[axis] == 1:
            tensor.strides[axis] = dense_stride(tensor, axis)
        else:
            tensor.strides[axis] = PyArray_STRIDES(array)[axis]
    return True

# Whether data and strides are multiples of the size of an element, which is a power of two.
cdef inline bint is_aligned(const Tensor* tensor) noexcept nogil:
    cdef uint64_t bits = <uint64_t>tensor.data
    cdef int axis
    for axis in range(tensor.rank):
        bits |= <uint64_t>tensor.strides[axis]
    return bits & <uint64_t>(tensor.item - 1) == 0

# Puts leading ones in front (or takes leading ones away) until the tensor has `rank` dimensions. False: impossible,
# and the tensor is as it was.
cdef bint set_rank(Tensor* tensor, int rank) noexcept nogil

# A new C-contiguous array of the data type and sizes in `tensor`; fills in its data and strides. May raise MemoryError.
cdef ndarray new_array(Tensor* tensor)

# The array behind `out`, if it has the data type and sizes in `tensor` and is writable; fills in data and strides.
# None: it is not acceptable. Nothing is written.
cdef ndarray out_array(object out, Tensor* tensor)

# Whether writing `out` could change `array`: extents first, then exactly up to a work limit; undecided counts as yes.
cdef bint overlap(ndarray out, const Tensor* out_view, ndarray array, const Tensor* array_view) except -1
# Whether two elements of `out` share memory; undecided counts as yes.
cdef bint overlaps_itself(ndarray out, const Tensor* out_view) except -1

# The array itself, or, when its data or a stride is not a multiple of the element size, an aligned copy that `tensor`
# then describes.
cdef ndarray aligned(ndarray array, Tensor* tensor)
