# The memory of a thread: packed rows and columns, their sums, and the results.

# The arrays that go with rows and columns of the output.
cdef struct Factors:
    Entries row_zero
    Entries column_zero
    Entries row_scale
    Entries column_scale
    Entries output_scale
    Entries output_zero
    Entries bias                    # of rows
    Digit row_digit
    Digit column_digit
    bint columns_first              # sums are multiplied by the scale of their column, then by that of their row
    bint quantized
    bint wraps                      # the output has the lowest 32 bits
    bint long_                      # sums may have more than 32 bits, and the output depends on all
    int item                        # bytes of an element of the output
    float least
    float most


cdef struct Panel:
    const IntegerKernels* kernels
    const IntegerLoops* loops
    const Factors* factors
    int64_t depth
    int64_t words                   # of four k
    int64_t rows
    int64_t columns                 # of the memory below: a multiple of the columns of a strip
    const char* a                   # packed rows
    int64_t a_row                   # bytes
    const char* ones                # a row of ones, where there are k
    const char* b                   # packed columns
    int64_t b_strip                 # bytes from a strip to the next one
    int64_t* at                     # and to the words of each four k
    int32_t* sums
    int32_t* column_sums
    int64_t* totals                 # of each row, the sum of its numbers, less their zero points
    int32_t* zeros                  # of the numbers of rows
    int32_t* row_added
    int32_t* row_times
    int32_t* row_sums
    int32_t* column_times
    double* bias
    double* row_scale
    double* column_scale
    double* divisor
    double* factor
    double* none                    # no numbers in place of factors
    float* zero
    int64_t* long_sums              # NULL: sums of 32 bits do
    int64_t* long_column_sums
    int64_t* high
    int64_t* low
    char* room                      # of results whose places do not follow one another
    bint plain                      # zero points are not yet taken from the numbers of rows
    bint has_times
    IntegerEnds ends


# Takes some bytes of the memory from `end` on; without memory, only counts them.
cdef inline char* taken(char* memory, int64_t* end, int64_t bytes) noexcept nogil:
    cdef char* found = NULL if memory == NULL else memory + end[0]
    end[0] += lined(bytes)
    return found


# Gives a panel its memory. Returns the bytes of it.
cdef int64_t lay_out(Panel* p, int64_t rows, int64_t columns, char* memory) noexcept nogil:
    cdef int64_t end = 0, numbers = rows * columns if p.factors.long_ else 0
    p.columns = columns
    p.sums = <int32_t*>taken(memory, &end, 4 * rows * columns)
    p.column_sums = <int32_t*>taken(memory, &end, 4 * columns)
    p.column_times = <int32_t*>taken(memory, &end, 4 * columns)
    p.column_scale = <double*>taken(memory, &end, 8 * columns)
    p.totals = <int64_t*>taken(memory, &end, 8 * rows)
    p.zeros = <int32_t*>taken(memory, &end, 4 * rows)
    p.row_added = <int32_t*>taken(memory, &end, 4 * rows)
    p.row_times = <int32_t*>taken(memory, &end, 4 * rows)
    p.row_sums = <int32_t*>taken(memory, &end, 4 * rows)
    p.bias = <double*>taken(memory, &end, 8 * rows)
    p.row_scale = <double*>taken(memory, &end, 8 * rows)
    p.divisor = <double*>taken(memory, &end, 8 * rows)
    p.factor = <double*>taken(memory, &end, 8 * rows)
    p.none = <double*>taken(memory, &end, 8 * rows)
    p.zero = <float*>taken(memory, &end, 4 * rows)
    p.long_sums = p.long_column_sums = p.high = p.low = NULL
    if p.factors.long_:
        p.long_sums = <int64_t*>taken(memory, &end, 8 * numbers)
        p.long_column_sums = <int64_t*>taken(memory, &end, 8 * columns)
        p.high = <int64_t*>taken(memory, &end, 8 * numbers)
        p.low = <int64_t*>taken(memory, &end, 8 * numbers)
    p.room = taken(memory, &end, 4 * rows * columns)
    return end


# Packs a row of `words` words: `raw` has its bytes, in the order of k. Returns the sum of its numbers.
cdef int64_t take_row(const IntegerKernels* kernels, const IntegerLoops* loops, const uint8_t* raw, int64_t words,
                      int mask, int zero, char* to) noexcept nogil:
    cdef int64_t total = 0, first = 0, n
    while first < 4 * words:
        n = min(4 * words - first, <int64_t>CHUNK)
        if kernels.item == 1:
            total += loops.take_bytes(raw + first, n, mask, to + first)
        else:
            total += loops.take_pairs(raw + first, n, mask, zero, to + 2 * first)
        first += n
    return total


# The byte that becomes 0 in a packed row.
cdef inline uint8_t nothing(const IntegerKernels* kernels, int mask, int zero) noexcept nogil:
    return <uint8_t>((0 if kernels.item == 1 else zero) ^ mask)


# The zero point of the numbers of a row.
cdef inline int32_t row_zero(const Factors* f, int64_t row) noexcept nogil:
    return digit_at(&f.row_zero, row, f.row_digit) - row_mask(f.row_digit)


cdef inline int32_t column_zero(const Factors* f, int64_t column) noexcept nogil:
    return digit_at(&f.column_zero, column, f.column_digit) + column_mask(f.column_digit)


# Notes scales and zero points of the output, and what is added, of some rows.
cdef void begin_rows(Panel* p, int64_t first, int64_t rows) noexcept nogil:
    cdef const Factors* f = p.factors
    cdef double scale
    cdef int64_t i
    cdef IntegerEnds* ends = &p.ends
    p.rows = ends.rows = rows
    for i in range(0 if f.wraps else rows):
        p.bias[i] = entry(&f.bias, first + i)
        p.row_scale[i] = entry(&f.row_scale, first + i)
        p.divisor[i] = entry(&f.output_scale, first + i)
        p.zero[i] = <float>entry(&f.output_zero, first + i)
        p.none[i] = NAN
        scale = 1 if f.column_scale.step else entry(&f.column_scale, 0)
        p.factor[i] = (scale * p.row_scale[i] if f.columns_first else p.row_scale[i] * scale) / p.divisor[i]
    ends.bias = p.bias
    ends.row_scale = p.row_scale
    ends.column_scale = p.column_scale
    ends.divisor = p.divisor
    ends.zero = p.zero
    ends.columns_first = f.columns_first
    ends.each_column = f.column_scale.step != 0
    ends.least = f.least
    ends.most = f.most
    ends.item = f.item
    ends.added = NULL
    ends.row_added = p.row_added
    ends.column_sums = p.column_sums
    ends.column_times = p.column_times


# The same of what zero points make of the sums. The totals are those of the packed rows.
cdef void begin_zeros(Panel* p) noexcept nogil:
    cdef const Factors* f = p.factors
    cdef bint each = f.column_zero.step != 0
    cdef int64_t i, rest
    cdef int32_t column = 0 if each else column_zero(f, 0)
    p.has_times = False
    for i in range(p.rows):
        rest = p.totals[i]
        if p.plain:
            rest -= p.depth * p.zeros[i]
            p.has_times |= p.zeros[i] != 0
            p.row_times[i] = -p.zeros[i]
        p.totals[i] = rest
        p.row_sums[i] = <int32_t>-<uint32_t>rest
        p.row_added[i] = 0 if each else <int32_t>-(<uint32_t>rest * <uint32_t>column)
        if f.quantized and not f.long_ and p.depth * GREATEST + fabs(p.bias[i]) < INT32_MAX:
            p.row_added[i] += <int32_t>p.bias[i]
            p.bias[i] = 0
    p.ends.row_times = p.row_times if p.has_times else NULL
    p.ends.row_sums = p.row_sums if each else NULL


# And of some columns.
cdef void begin_columns(Panel* p, int64_t first, int64_t columns) noexcept nogil:
    cdef const Factors* f = p.factors
    cdef bint finite = True
    cdef int32_t zero = column_zero(f, 0)
    cdef double scale = entry(&f.column_scale, 0)
    cdef int64_t i
    p.ends.columns = columns
    for i in range(columns):
        p.column_times[i] = column_zero(f, first + i) if f.column_zero.step else zero
    for i in range(0 if f.wraps else columns):
        p.column_scale[i] = entry(&f.column_scale, first + i) if f.column_scale.step else scale
        finite = finite and isfinite(p.column_scale[i])
    p.ends.factor = p.factor if finite else p.none


# The sums of some strips, over some words.
cdef void add_words(Panel* p, int64_t first, int64_t words, int64_t strips) noexcept nogil:
    cdef const IntegerKernels* kernels = p.kernels
    cdef int64_t strip, begin, n, row, at, item = 4 * kernels.item
    cdef const char* b
    cdef int32_t* sums
    cdef int h, last = 0
    while last + 1 < DMLCY_INTEGER_HEIGHTS and kernels.heights[last] > 1:
        last += 1
    for strip in range(strips):
        b = p.b + strip * p.b_strip
        sums = p.sums + strip * kernels.strip
        begin = first
        while begin < first + words:
            n = min(first + words - begin, <int64_t>SLAB)
            at = begin * item
            row = 0
            h = 0
            while row < p.rows:
                while kernels.heights[h] > p.rows - row:
                    h += 1
                kernels.kernels[h](n, p.a + row * p.a_row + at, p.a_row, b, p.at + begin, begin > first,
                                   sums + row * p.columns, p.columns)
                row += kernels.heights[h]
            if p.has_times:
                kernels.kernels[last](n, p.ones + at, 0, b, p.at + begin, begin > first,
                                      p.column_sums + strip * kernels.strip, 0)
            begin += n


# The sums of some strips, with the terms of zero points; sums of more bits are times 2^shift.
cdef void add_strips(Panel* p, int64_t strips, int shift) noexcept nogil:
    cdef int64_t n = strips * p.kernels.strip, first, row, i, number, column
    cdef int64_t* sums
    p.ends.sums = p.sums
    p.ends.sums_row = p.columns
    if not p.factors.long_:
        add_words(p, 0, p.words, strips)
        return
    memset(p.long_sums, 0, 8 * p.rows * p.columns)
    memset(p.long_column_sums, 0, 8 * p.columns)
    first = 0
    while first < p.words:
        add_words(p, first, min(p.words - first, <int64_t>EXACT), strips)
        for row in range(p.rows):
            for i in range(n):
                p.long_sums[row * p.columns + i] += p.sums[row * p.columns + i]
        if p.has_times:
            for i in range(n):
                p.long_column_sums[i] += p.column_sums[i]
        first += EXACT
    for row in range(p.rows):
        sums = p.long_sums + row * p.columns
        for i in range(n):
            column = p.column_times[i if p.factors.column_zero.step else 0]
            number = sums[i] - p.totals[row] * column
            if p.has_times:
                number -= p.zeros[row] * p.long_column_sums[i]
            dmlcy_long_add(p.high + row * p.columns + i, p.low + row * p.columns + i, number, shift)


# Long sums begin at 0.
cdef void begin_strips(Panel* p) noexcept nogil:
    if p.factors.long_:
        memset(p.high, 0, 8 * p.rows * p.columns)
        memset(p.low, 0, 8 * p.rows * p.columns)


cdef void finish_long(const Panel* p, int64_t first) noexcept nogil:
    cdef int64_t row, i, high, low
    cdef double sum
    for row in range(p.rows):
        for i in range(p.ends.columns):
            high = p.high[row * p.columns + first + i]
            low = p.low[row * p.columns + first + i]
            dmlcy_long_add(&high, &low, <int64_t>p.bias[row], 0)
            sum = dmlcy_double_of_long(high, low)
            if p.factors.quantized:
                dmlcy_put_quantized(&p.ends, row, i, sum)
            else:
                dmlcy_put_scaled(&p.ends, row, i, sum)


# Writes some columns from `first` on, whose elements are from `y` on.
cdef void finish(Panel* p, int64_t first, int64_t columns, char* y, int64_t y_row, int64_t y_step) noexcept nogil:
    cdef IntegerEnds* ends = &p.ends
    cdef int64_t row, i
    cdef int item = p.factors.item
    cdef bint follows = y_step == item or columns == 1
    ends.columns = columns
    ends.sums = p.sums + first
    ends.column_sums = p.column_sums + first
    ends.y = y if follows else p.room
    ends.y_row = y_row if follows else columns * item
    if p.factors.long_:
        finish_long(p, first)
    else:
        if ends.row_times != NULL or ends.row_sums != NULL:
            p.loops.mend(ends)
        if p.factors.wraps:
            p.loops.put(ends)
        elif p.factors.quantized:
            p.loops.quantize(ends)
        else:
            p.loops.scale(ends)
    if follows:
        return
    for row in range(p.rows):
        for i in range(columns):
            memcpy(y + row * y_row + i * y_step, p.room + (row * columns + i) * item, item)


# The facts of the tensors of a call.
cdef void list_factors(const Integers* a, bint windows, Factors* f) noexcept nogil:
    cdef const Tensor* rows = a.right if windows else a.left
    cdef const Tensor* columns = a.left if windows else a.right
    f.row_zero = entries_of(a.right_zero if windows else a.left_zero, 0)
    f.column_zero = entries_of(a.left_zero if windows else a.right_zero, 0)
    f.row_scale = entries_of(a.right_scale if windows else a.left_scale, 1)
    f.column_scale = entries_of(a.left_scale if windows else a.right_scale, 1)
    f.output_scale = entries_of(a.output_scale, 1)
    f.output_zero = entries_of(a.output_zero, 0)
    f.quantized = a.output_scale != NULL
    f.bias = entries_of(a.added if f.quantized else NULL, 0)
    f.row_digit = digit_of(rows, 0)
    f.column_digit = digit_of(columns, 0)
    f.columns_first = windows
    f.item = a.output.item
    f.wraps = a.output.dtype == INT32
    f.least = -128 if a.output.dtype == INT8 else 0
    f.most = 127 if a.output.dtype == INT8 else 255
    f.long_ = False
