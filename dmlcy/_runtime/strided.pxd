# A tensor as every kernel sees it. Modules that use no more of it than this have none of NumPy's types.

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

cdef enum:
    MAX_RANK = 8
    # the most bytes of a tensor of a call that keeps the GIL: giving up the GIL would take longer
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
    UINT4 = 12                      # of one byte each, whose other half nobody reads
    INT4 = 13
    DTYPES                          # one more than the last value

cdef struct Tensor:
    char* data                      # aligned for its element size once aligned() has seen it; native byte order
    int dtype                       # value of DML_TENSOR_DATA_TYPE
    int item                        # bytes of an element
    int rank
    bint dense                      # the elements follow one another in memory, in the order of C
    int64_t bytes                   # of all elements
    int64_t sizes[MAX_RANK]         # elements
    int64_t strides[MAX_RANK]       # bytes; zero and negative ones too; a size of 1 has the stride of a dense layout
    const void* prepared            # what the loops made of the elements before the call; NULL: nothing

# An array of tensors.
cdef struct Tensors:
    Tensor* each                    # and one more behind the last, without a data type
    int dtype                       # 0; a tensor has its data type here
    int64_t count
    PyObject* owner                 # of the memory, borrowed: a TensorList

# A field that has an array of tensors, in the struct of an operator: as large as one that has a tensor.
cdef union TensorField:
    Tensor one
    Tensors several


# Bytes of an element of one of the data types above, in an array.
cdef inline int item_of(int dtype) noexcept nogil:
    if dtype == INT8 or dtype == UINT8 or dtype == INT4 or dtype == UINT4:
        return 1
    if dtype == FLOAT16 or dtype == INT16 or dtype == UINT16:
        return 2
    return 8 if dtype == FLOAT64 or dtype == INT64 or dtype == UINT64 else 4


# Whether the elements are so few that giving up the GIL would take longer than working on them.
cdef inline bint is_brief(const Tensor* tensor) noexcept nogil:
    return tensor.bytes <= BRIEF_BYTES


# Says that the elements follow one another from `data` on: data type and sizes are there.
cdef inline void make_dense(Tensor* tensor, char* data) noexcept nogil:
    cdef uint64_t step = <uint64_t>tensor.item      # unsigned: an empty array may have any sizes
    cdef int axis
    tensor.data = data
    tensor.dense = True
    tensor.prepared = NULL
    for axis in range(tensor.rank - 1, -1, -1):
        tensor.strides[axis] = <int64_t>step
        step *= <uint64_t>tensor.sizes[axis]
    tensor.bytes = <int64_t>step


# The stride of `axis` if nothing lies between it and the axes after it.
cdef inline int64_t dense_stride(const Tensor* tensor, int axis) noexcept nogil:
    if axis == tensor.rank - 1:
        return tensor.item
    # Unsigned: an empty array may have any stride.
    return <int64_t>(<uint64_t>tensor.sizes[axis + 1] * <uint64_t>tensor.strides[axis + 1])


# Whether data and strides are multiples of the size of an element, which is a power of two.
cdef inline bint is_aligned(const Tensor* tensor) noexcept nogil:
    cdef uint64_t bits = <uint64_t>tensor.data
    cdef int axis
    if not tensor.dense:
        for axis in range(tensor.rank):
            bits |= <uint64_t>tensor.strides[axis]
    return bits & <uint64_t>(tensor.item - 1) == 0


# Puts leading ones in front (or takes leading ones away) until the tensor has `rank` dimensions. False: impossible,
# and the tensor is as it was.
cdef inline bint set_rank(Tensor* tensor, int rank) noexcept nogil:
    cdef int extra = rank - tensor.rank
    cdef int axis
    if extra == 0:
        return True
    if rank < 1 or rank > MAX_RANK:
        return False
    for axis in range(-extra):
        if tensor.sizes[axis] != 1:
            return False
    if extra < 0:
        for axis in range(rank):
            tensor.sizes[axis] = tensor.sizes[axis - extra]
            tensor.strides[axis] = tensor.strides[axis - extra]
    else:
        for axis in range(rank - 1, extra - 1, -1):
            tensor.sizes[axis] = tensor.sizes[axis - extra]
            tensor.strides[axis] = tensor.strides[axis - extra]
    tensor.rank = rank
    for axis in range(extra - 1, -1, -1):
        tensor.sizes[axis] = 1
        tensor.strides[axis] = dense_stride(tensor, axis)
    return True
