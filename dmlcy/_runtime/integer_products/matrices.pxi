# Products of matrices: the last two axes; each of the others counts pairs of matrices.

cdef struct MatrixWork:
    const Integers* a
    const IntegerKernels* kernels
    const IntegerLoops* loops
    Factors factors
    int64_t rows
    int64_t columns
    int64_t depth
    int64_t words
    int64_t high                    # of a tile
    int64_t wide
    int64_t row_tiles
    int64_t column_tiles
    int64_t matrix                  # bytes of a packed matrix
    const char* packed              # all right matrices; NULL: each tile packs its columns


# Bytes of a packed matrix.
cdef inline int64_t packed_matrix(int64_t columns, int64_t words) noexcept nogil:
    return ceil_div(columns, BLOCK) * BLOCK * 4 * words


# Packs up to BLOCK columns, from `source` on, of bytes `line` from a column to the next one and `step` from a k to the
# next one.
cdef void pack_block(const IntegerKernels* kernels, const IntegerLoops* loops, const char* source, int64_t line,
                     int64_t step, int64_t columns, int64_t depth, int mask, char* to) noexcept nogil:
    cdef const uint8_t* rows[4]
    cdef uint8_t[4 * BLOCK] copies
    cdef int64_t words = ceil_div(depth, 4), strip = kernels.strip, word, k, i, strips = words * strip
    cdef uint32_t* number = <uint32_t*>to
    cdef uint32_t word_mask = <uint32_t>mask * <uint32_t>0x01010101, found
    cdef int bits = bits_of(strip), j
    if line != 1 and step == 1:
        for i in range(columns):
            number = <uint32_t*>to + (i >> bits) * strips + (i & strip - 1)
            for word in range(depth // 4):
                memcpy(&found, source + i * line + 4 * word, 4)
                number[word * strip] = found ^ word_mask
            if words > depth // 4:
                found = 0
                memcpy(&found, source + i * line + 4 * (words - 1), depth - 4 * (words - 1))
                number[(words - 1) * strip] = found ^ word_mask
        return
    for word in range(words):
        for j in range(4):
            k = 4 * word + j
            if k < depth and line == 1 and columns == BLOCK:
                rows[j] = <const uint8_t*>source + k * step
                continue
            rows[j] = copies + j * BLOCK
            if k >= depth:
                memset(copies + j * BLOCK, 0, BLOCK)
            elif line == 1:
                memcpy(copies + j * BLOCK, source + k * step, columns)
            else:
                for i in range(columns):
                    copies[j * BLOCK + i] = <uint8_t>source[k * step + i * line]
        loops.turn(rows, ceil_div(columns, 16) * 16, word_mask, number + word * strip, bits, strips)


# Packs a row of a matrix. `raw` has room for it.
cdef int64_t pack_row(const IntegerKernels* kernels, const IntegerLoops* loops, const char* source, int64_t step,
                      int64_t depth, int mask, int zero, uint8_t* raw, char* to) noexcept nogil:
    cdef int64_t whole = depth // 4 if step == 1 else 0, k, total = 0
    if whole > 0:
        total = take_row(kernels, loops, <const uint8_t*>source, whole, mask, zero, to)
        to += 4 * whole * kernels.item
    if 4 * whole == depth:
        return total
    for k in range(4 * whole, depth):
        raw[k - 4 * whole] = <uint8_t>source[k * step]
    depth -= 4 * whole
    for k in range(depth, ceil_div(depth, 4) * 4):
        raw[k] = nothing(kernels, mask, zero)
    return total + take_row(kernels, loops, raw, ceil_div(depth, 4), mask, zero, to)


# A row of ones, where there are k: only kernels with VNNI multiply by it.
cdef void list_ones(const IntegerKernels* kernels, int64_t depth, char* to) noexcept nogil:
    if kernels.item == 1:
        memset(to, 1, depth)
        memset(to + depth, 0, ceil_div(depth, 4) * 4 - depth)


# Packs the rows of a tile.
cdef void pack_rows(const MatrixWork* work, Panel* p, const char* source, int64_t first, char* to,
                    uint8_t* raw) noexcept nogil:
    cdef const Factors* f = p.factors
    cdef const Tensor* left = work.a.left
    cdef int64_t row
    cdef int mask = row_mask(f.row_digit)
    for row in range(p.rows):
        p.zeros[row] = row_zero(f, first + row)
        p.totals[row] = pack_row(
            p.kernels, p.loops, source + (first + row) * left.strides[left.rank - 2] + f.row_digit.number,
            left.strides[left.rank - 1], p.depth, mask, p.zeros[row], raw, to + row * p.a_row)
    begin_zeros(p)


# Computes the digits of a block of columns, and writes them.
cdef void compute_block(const MatrixWork* work, Panel* p, Factors* f, const char* left, const char* right,
                        const char* packed, int64_t row, int64_t column, char* rows, uint8_t* raw,
                        char* block) noexcept nogil:
    cdef const Tensor* b = work.a.right
    cdef int64_t columns = min(work.columns - column, <int64_t>BLOCK), strips = ceil_div(columns, p.kernels.strip)
    cdef int64_t line = b.strides[b.rank - 1], step = b.strides[b.rank - 2]
    cdef int i, j, digits = b.item
    begin_strips(p)
    p.b_strip = 4 * p.words * p.kernels.strip
    for j in range(digits):
        f.column_digit = digit_of(b, j)
        begin_columns(p, column, columns)
        p.b = block
        if packed != NULL:
            p.b = packed + column * 4 * p.words
        else:
            pack_block(p.kernels, p.loops, right + column * line + j, line, step, columns, p.depth,
                       column_mask(f.column_digit), block)
        for i in range(digits):
            if digits > 1:
                f.row_digit = digit_of(work.a.left, i)
                pack_rows(work, p, left, row, rows, raw)
            add_strips(p, strips, 8 * (i + j))


# Computes some tiles. -1: memory ran out.
cdef int compute_matrices(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const MatrixWork* work = <const MatrixWork*>args
    cdef const Integers* a = work.a
    cdef const Tensor* output = a.output
    cdef const Tensor* added = a.added
    cdef Factors factors = work.factors
    cdef Panel p
    cdef char[ROOM] room
    cdef const char* left
    cdef const char* right
    cdef const char* packed
    cdef const char* more
    cdef char* y
    cdef char* memory
    cdef char* rows
    cdef uint8_t* raw
    cdef char* block
    cdef int64_t number, rest, row, column, index, last, bytes = 0, turn, columns
    cdef int row_axis = output.rank - 2, axis
    cdef char* base = NULL
    if work.factors.quantized:
        added = NULL
    p.kernels = work.kernels
    p.loops = work.loops
    p.factors = &factors
    p.depth = work.depth
    p.plain = p.kernels.item == 1
    p.words = work.words
    p.a_row = packed_row(p.kernels, p.words)
    for turn in range(2):
        bytes = lay_out(&p, min(work.high, work.rows), BLOCK, base)
        rows = taken(base, &bytes, (min(work.high, work.rows) + 1) * p.a_row)
        raw = <uint8_t*>taken(base, &bytes, 4 * p.words)
        p.at = <int64_t*>taken(base, &bytes, 8 * p.words)
        block = taken(base, &bytes, 0 if work.packed != NULL else 4 * BLOCK * p.words)
        if turn == 0:
            memory = NULL
            base = room
            if bytes + LINE > ROOM:
                memory = <char*>malloc(bytes + LINE)
                if memory == NULL:
                    return -1
                base = memory
            base = line_from(base)
    for index in range(p.words):
        p.at[index] = 4 * index * p.kernels.strip
    p.a = rows
    p.ones = rows + min(work.high, work.rows) * p.a_row
    list_ones(p.kernels, p.depth, <char*>p.ones)
    for number in range(begin, end):
        rest = number
        row = rest % work.row_tiles * work.high
        rest //= work.row_tiles
        column = rest % work.column_tiles * work.wide
        rest //= work.column_tiles
        packed = work.packed
        if packed != NULL:
            packed += rest * work.matrix
        left = a.left.data
        right = a.right.data
        y = output.data
        more = NULL
        if added != NULL:
            more = added.data
        for axis in range(row_axis - 1, -1, -1):
            index = rest % output.sizes[axis]
            rest //= output.sizes[axis]
            left += index * a.left.strides[axis]
            right += index * a.right.strides[axis]
            y += index * output.strides[axis]
            if more != NULL:
                more += index * added.strides[axis]
        begin_rows(&p, row, min(work.high, work.rows - row))
        if a.left.item == 1:
            pack_rows(work, &p, left, row, rows, raw)
        last = min(column + work.wide, work.columns)
        while column < last:
            columns = min(last - column, <int64_t>BLOCK)
            compute_block(work, &p, &factors, left, right, packed, row, column, rows, raw, block)
            if more != NULL:
                p.ends.added = more + row * added.strides[row_axis] + column * added.strides[row_axis + 1]
                p.ends.added_row = added.strides[row_axis]
                p.ends.added_step = added.strides[row_axis + 1]
            finish(&p, 0, columns, y + row * output.strides[row_axis] + column * output.strides[row_axis + 1],
                   output.strides[row_axis], output.strides[row_axis + 1])
            column += BLOCK
    free(memory)
    return 0


# Whether matrices are the same in memory.
cdef inline bint repeats(const Tensor* tensor) noexcept nogil:
    cdef int axis
    for axis in range(tensor.rank - 2):
        if tensor.sizes[axis] > 1 and tensor.strides[axis] == 0:
            return True
    return False


cdef int run_integer_matrices(const Integers* a) noexcept nogil:
    cdef MatrixWork work
    cdef const Tensor* output = a.output
    cdef int64_t batches = 1, rows, tiles, products
    cdef char* memory = NULL
    cdef int axis, status
    work.a = a
    work.kernels = kernels_now()
    work.loops = loops_now()
    list_factors(a, False, &work.factors)
    for axis in range(output.rank - 2):
        batches *= output.sizes[axis]
    work.rows = output.sizes[output.rank - 2]
    work.columns = output.sizes[output.rank - 1]
    work.depth = a.left.sizes[a.left.rank - 1]
    work.words = ceil_div(work.depth, 4)
    work.matrix = packed_matrix(work.columns, work.words)
    work.factors.long_ = not work.factors.wraps and (a.left.item > 1 or work.words > EXACT)
    work.high = min(<int64_t>HIGH, max(<int64_t>LOW, NEAR_ROWS // packed_row(work.kernels, work.words)))
    work.row_tiles = ceil_div(work.rows, work.high)
    rows = ceil_div(work.rows, work.row_tiles)
    work.high = ceil_div(rows, FEW) * FEW
    work.row_tiles = ceil_div(work.rows, work.high)
    products = rows * work.columns * work.depth
    tiles = products // WORK + 1
    work.wide = min(max(ceil_div(work.columns, tiles), <int64_t>NARROW), <int64_t>WIDE)
    work.wide = ceil_div(work.wide, BLOCK) * BLOCK
    work.column_tiles = ceil_div(work.columns, work.wide)
    tiles = batches * work.row_tiles * work.column_tiles
    products = min(rows, work.high) * min(work.wide, work.columns) * work.depth
    work.packed = <const char*>a.right.prepared
    if work.packed == NULL and work.row_tiles > 1 and a.right.item == 1 and not repeats(a.right):
        memory = <char*>malloc(pack_integer_matrices(a.right, NULL) + LINE)
        if memory == NULL or pack_integer_matrices(a.right, line_from(memory)) == 0:
            free(memory)
            return -1
        work.packed = line_from(memory)
    status = parallel_for(compute_matrices, &work, tiles, max(WORK // max(products, 1), 1))
    free(memory)
    return status


# The matrix that threads pack, a block at a time.
cdef struct MatrixPack:
    const Tensor* right
    char* to


cdef int pack_blocks(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const MatrixPack* pack = <const MatrixPack*>args
    cdef const Tensor* right = pack.right
    cdef int64_t depth = right.sizes[right.rank - 2], columns = right.sizes[right.rank - 1]
    cdef int64_t words = ceil_div(depth, 4), blocks = ceil_div(columns, BLOCK), number, rest, column
    cdef const char* source
    cdef int axis
    for number in range(begin, end):
        column = number % blocks * BLOCK
        rest = number // blocks
        source = right.data + column * right.strides[right.rank - 1]
        for axis in range(right.rank - 3, -1, -1):
            source += rest % right.sizes[axis] * right.strides[axis]
            rest //= right.sizes[axis]
        pack_block(
            kernels_now(), loops_now(), source, right.strides[right.rank - 1],
            right.strides[right.rank - 2], min(columns - column, <int64_t>BLOCK), depth,
            column_mask(digit_of(right, 0)),
            pack.to + number // blocks * packed_matrix(columns, words) + column * 4 * words)
    return 0


cdef int64_t pack_integer_matrices(const Tensor* right, char* to) noexcept nogil:
    cdef MatrixPack pack
    cdef int64_t block = 4 * BLOCK * ceil_div(right.sizes[right.rank - 2], 4), matrices = 1, blocks
    cdef int axis
    if right.item > 1:
        return 0
    for axis in range(right.rank - 2):
        matrices *= right.sizes[axis]
    blocks = matrices * ceil_div(right.sizes[right.rank - 1], BLOCK)
    pack.right = right
    pack.to = to
    if to != NULL and parallel_for(pack_blocks, &pack, blocks, max(CHUNK // block, 1)):
        return 0
    return blocks * block
