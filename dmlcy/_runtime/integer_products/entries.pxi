# Scales and zero points, and which kernels and digits there are.

# The kernels that set_kernels() has set; -1: the best ones.
cdef int chosen = -1


cdef int best_kernels() noexcept nogil:
    cdef int number = NUMBERS - 1
    while not dmlcy_takes_integers(number):
        number -= 1
    return number


cdef inline int number_now() noexcept nogil:
    return chosen if chosen >= 0 else best_kernels()


cdef inline const IntegerKernels* kernels_now() noexcept nogil:
    return dmlcy_integer_kernels[number_now()]


# The loops of the level that the kernels are of.
cdef inline const IntegerLoops* loops_now() noexcept nogil:
    return dmlcy_integer_loops[number_now() - 2 if number_now() > 2 else number_now()]


# The elements of a tensor with one axis of more than one element, at most.
cdef Entries entries_of(const Tensor* tensor, double number) noexcept nogil:
    cdef Entries found
    cdef int axis
    found.data = NULL
    found.number = number
    found.step = 0
    found.dtype = 0
    if tensor != NULL:
        found.data = tensor.data
        found.dtype = tensor.dtype
        for axis in range(tensor.rank):
            if tensor.sizes[axis] > 1:
                found.step = tensor.strides[axis]
    return found


cdef double entry(const Entries* a, int64_t number) noexcept nogil:
    cdef const char* at = a.data + number * a.step
    if a.data == NULL:
        return a.number
    if a.dtype == FLOAT32:
        return dmlcy_element_of(at, 4)
    if a.dtype == FLOAT16:
        return dmlcy_element_of(at, 2)
    if a.dtype == INT8:
        return (<const int8_t*>at)[0]
    if a.dtype == UINT8:
        return (<const uint8_t*>at)[0]
    if a.dtype == INT16:
        return (<const int16_t*>at)[0]
    if a.dtype == UINT16:
        return (<const uint16_t*>at)[0]
    if a.dtype == INT32:
        return (<const int32_t*>at)[0]
    return (<const uint32_t*>at)[0]


cdef inline bint is_signed(int dtype) noexcept nogil:
    return dtype == INT8 or dtype == INT16 or dtype == INT32


cdef inline Digit digit_of(const Tensor* tensor, int number) noexcept nogil:
    cdef Digit digit
    digit.number = number
    digit.signed_ = number == tensor.item - 1 and is_signed(tensor.dtype)
    return digit


# A digit of a zero point.
cdef inline int32_t digit_at(const Entries* zeros, int64_t number, Digit digit) noexcept nogil:
    cdef int64_t byte = <int64_t>entry(zeros, number) >> 8 * digit.number & 0xff
    return <int32_t>(byte - 256 if digit.signed_ and byte > 127 else byte)


# The numbers of rows are signed: the bits that others are turned by, and what is taken from them.
cdef inline int row_mask(Digit digit) noexcept nogil:
    return 0 if digit.signed_ else 0x80


# The numbers of columns are unsigned: the same, and the added number.
cdef inline int column_mask(Digit digit) noexcept nogil:
    return 0x80 if digit.signed_ else 0


cdef inline int64_t lined(int64_t bytes) noexcept nogil:
    return ceil_div(bytes, LINE) * LINE


# The first address from one on that begins a line.
cdef inline char* line_from(char* memory) noexcept nogil:
    return memory + (LINE - <uintptr_t>memory % LINE) % LINE


# Bytes of a packed row: an odd number of lines, so that rows do not displace each other.
cdef inline int64_t packed_row(const IntegerKernels* kernels, int64_t words) noexcept nogil:
    return (ceil_div(4 * words * kernels.item, LINE) | 1) * LINE


cdef inline int bits_of(int64_t strip) noexcept nogil:
    cdef int bits = 0
    while <int64_t>1 << bits < strip:
        bits += 1
    return bits
