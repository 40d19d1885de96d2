# The parts of the generated checks: exact integer arithmetic and the rules that hold for every tensor. Numbers that
# overflow saturate: a divisor that is positive by the ranges of the fields stays positive.

from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint32_t, uint64_t

from dmlcy._runtime.strided cimport MAX_RANK, Tensor, Tensors

cdef extern from *:
    """
    #define DMLCY_UINT_MAX ((int64_t)UINT32_MAX)
    """
    const int64_t UINT_MAX "DMLCY_UINT_MAX"     # no enum: those of C11 are ints


cdef inline int64_t checked_add(int64_t a, int64_t b, bint* overflow) noexcept nogil:
    if (b > 0 and a > INT64_MAX - b) or (b < 0 and a < INT64_MIN - b):
        overflow[0] = True
        return INT64_MAX if b > 0 else INT64_MIN
    return a + b


cdef inline int64_t checked_sub(int64_t a, int64_t b, bint* overflow) noexcept nogil:
    if (b < 0 and a > INT64_MAX + b) or (b > 0 and a < INT64_MIN + b):
        overflow[0] = True
        return INT64_MAX if b < 0 else INT64_MIN
    return a - b


cdef inline int64_t checked_mul(int64_t a, int64_t b, bint* overflow) noexcept nogil:
    if a == 0 or b == 0:
        return 0
    if a == INT64_MIN or b == INT64_MIN or (a if a > 0 else -a) > INT64_MAX // (b if b > 0 else -b):
        overflow[0] = True
        return INT64_MAX if (a > 0) == (b > 0) else INT64_MIN
    return a * b


cdef inline int64_t magnitude(int64_t value) noexcept nogil:
    return -value if value < 0 else value


cdef inline int64_t floor_div(int64_t a, int64_t b) noexcept nogil:
    # The C quotient truncates; b is positive, and mostly 1.
    if b == 1:
        return a
    return a // b - (1 if a % b < 0 else 0)


cdef inline int64_t floor_mod(int64_t a, int64_t b) noexcept nogil:
    cdef int64_t rest = a % b
    return rest + b if rest < 0 else rest


cdef inline int64_t ceil_div(int64_t a, int64_t b) noexcept nogil:
    # b is positive. Mostly it is 1 or not below a, where no division is needed.
    if b == 1:
        return a
    return 1 if 0 < a <= b else a // b + (1 if a % b > 0 else 0)


cdef inline int64_t product(const int64_t* values, int64_t count, bint* overflow) noexcept nogil:
    cdef int64_t result = 1
    cdef int64_t d
    for d in range(count):
        result = checked_mul(result, values[d], overflow)
    return result


cdef inline int64_t total(const int64_t* values, int64_t count, bint* overflow) noexcept nogil:
    cdef int64_t result = 0
    cdef int64_t d
    for d in range(count):
        result = checked_add(result, values[d], overflow)
    return result


cdef inline int64_t smallest(const int64_t* values, int64_t count) noexcept nogil:
    cdef int64_t result = values[0] if count > 0 else 0
    cdef int64_t d
    for d in range(1, count):
        result = min(result, values[d])
    return result


cdef inline int64_t largest(const int64_t* values, int64_t count) noexcept nogil:
    cdef int64_t result = values[0] if count > 0 else 0
    cdef int64_t d
    for d in range(1, count):
        result = max(result, values[d])
    return result


# Whether data type and rank are in the sets (bit n: value n), each size is a UINT from 1, and the elements are a UINT.
cdef inline bint tensor_holds(const Tensor* tensor, uint32_t dtypes, uint32_t ranks) noexcept nogil:
    cdef uint64_t elements = 1
    cdef int d
    if not (dtypes >> tensor.dtype) & 1 or not (ranks >> tensor.rank) & 1:
        return False
    for d in range(tensor.rank):
        if <uint64_t>tensor.sizes[d] - 1 >= <uint64_t>UINT_MAX:      # unsigned: 0 - 1 is the largest of all
            return False
        elements *= <uint64_t>tensor.sizes[d]
        if elements > UINT_MAX:
            return False
    return True


# The tensor of an array at an index, or one without a data type beyond the last.
cdef inline Tensor* tensor_at(const Tensors* tensors, int64_t k) noexcept nogil:
    return &tensors.each[k if 0 <= k < tensors.count else tensors.count]


# The same of each tensor of an array.
cdef inline bint each_holds(const Tensors* tensors, uint32_t dtypes, uint32_t ranks) noexcept nogil:
    cdef int64_t k
    for k in range(tensors.count):
        if not tensor_holds(&tensors.each[k], dtypes, ranks):
            return False
    return True


cdef inline bint append_size(Tensor* tensor, int64_t size) noexcept nogil:
    if tensor.rank >= MAX_RANK:
        return False
    tensor.sizes[tensor.rank] = size
    tensor.rank += 1
    return True


cdef inline bint append_sizes(Tensor* tensor, const int64_t* sizes, int64_t count) noexcept nogil:
    cdef int64_t d
    if count > MAX_RANK - tensor.rank:
        return False
    for d in range(count):
        tensor.sizes[tensor.rank + d] = sizes[d]
    tensor.rank += <int>max(count, 0)
    return True


# Whether sizes that a call says of a tensor are those of the tensor behind leading ones, which the tensor then has too.
cdef inline bint take_ones(Tensor* tensor, const Tensor* said) noexcept nogil:
    cdef int extra = said.rank - tensor.rank
    cdef int d
    for d in range(said.rank):
        if said.sizes[d] != (1 if d < extra else tensor.sizes[d - extra]):
            return False
    if extra < 0:
        return False
    tensor.rank = said.rank
    for d in range(said.rank):
        tensor.sizes[d] = said.sizes[d]
    return True


cdef inline bint same_sizes(const Tensor* a, const Tensor* b) noexcept nogil:
    cdef int d
    if a.rank != b.rank:
        return False
    for d in range(a.rank):
        if a.sizes[d] != b.sizes[d]:
            return False
    return True
