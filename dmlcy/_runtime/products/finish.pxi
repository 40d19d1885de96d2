# The results of the sums of a strip.

# A packed element: of a column, or of a row that is packed as one, of so many.
cdef inline double packed_element(const Products* to, const Tile* tile, int64_t line, int64_t lines,
                                  int64_t k) noexcept nogil:
    cdef int64_t strip = to.level.widths[STRIP_WIDTH] * to.level.lanes, first = line // strip * strip
    cdef int64_t width = rounded_up(min(lines - first, strip), to.level.lanes)
    return dmlcy_element_of(tile.packed_b + (first * to.depth + k * width + line - first) * to.item, to.item)


# The sum of one element, in double: no partial sum overflows, and what is outside the input is left out.
cdef double exact_sum(const Products* to, const Tile* tile, int64_t row, const ProductRun* run,
                      int64_t column) noexcept nogil:
    cdef const char* a = tile.a + row * to.a_line
    cdef const ProductImage* image = to.image
    cdef const ProductAxis* axis
    cdef double total = 0, left, right
    cdef int64_t k, tap, a_at, b_at, place
    cdef int d
    cdef bint inside
    if image == NULL:
        for k in range(to.depth):
            if to.across:
                left = packed_element(to, tile, row, to.rows, k)
            else:
                left = dmlcy_element_of(a + k * to.a_step, to.item)
            if to.packed != NULL and not to.across:
                right = packed_element(to, tile, column, to.columns, k)
            else:
                right = dmlcy_element_of(tile.b + column * to.b_line + k * to.b_step, to.item)
            total += left * right
        return total
    for k in range(to.depth):
        a_at = k // image.taps * image.filter_stride
        b_at = run.source + column * image.axes[2].step * image.axes[2].stride + k // image.taps * image.channel_stride
        tap = k % image.taps
        inside = True
        for d in range(2, -1, -1):
            axis = &image.axes[d]
            place = run.place[d] + (column if d == 2 else 0)
            inside = inside and axis.low[tap % axis.taps] <= place < axis.high[tap % axis.taps]
            a_at += tap % axis.taps * axis.filter_stride
            b_at += tap % axis.taps * axis.tap_step * axis.stride
            tap //= axis.taps
        if inside:
            left = packed_element(to, tile, row, to.rows, k) if to.across else dmlcy_element_of(a + a_at, to.item)
            total += left * dmlcy_element_of(tile.b + b_at, to.item)
    return total


# Computes the elements of some rows of a strip that are no finite numbers again, before the activation.
cdef void mend(const Products* to, const Tile* tile, float* sums, int64_t pitch, int64_t first,
               int64_t rows) noexcept nogil:
    cdef const ProductRun* run
    cdef const char* c
    cdef double result
    cdef int64_t row, r, i, at
    if to.level.are_finite(sums, pitch, rows, tile.count):
        return
    for row in range(first, first + rows):
        for r in range(tile.run_count):
            run = &tile.runs[r]
            for i in range(run.count):
                at = (row - first) * pitch + run.column + i
                if isfinite(sums[at]):
                    continue
                result = exact_sum(to, tile, row, run, tile.first + i if to.image == NULL else i) * to.alpha
                if tile.c != NULL:
                    c = tile.c + row * to.c_line + (tile.first + run.column + i) * to.c_step
                    result += <double>to.beta * dmlcy_element_of(c, to.item)
                sums[at] = <float>result


# Scales the sums of a row, and adds what is added. Sums that may be wrong become no numbers.
cdef void add_row(const Products* to, const Tile* tile, float* sums, int64_t row, int64_t column,
                  int64_t n) noexcept nogil:
    cdef float[DMLCY_STRIP] numbers
    cdef const float* added = numbers
    cdef const char* c
    cdef int64_t i
    cdef bint large = fabs(to.alpha) > 1
    if large:
        for i in range(n):
            if fabs(sums[i]) < LEAST and sums[i] == sums[i]:
                sums[i] = NAN
    if tile.c == NULL:
        if to.alpha != 1:
            to.level.scale(sums, to.alpha, n)
        return
    c = tile.c + row * to.c_line + column * to.c_step
    if to.c_step == sizeof(float) and to.item == sizeof(float):
        added = <const float*>c
    elif to.c_step == 0:
        numbers[0] = dmlcy_element_of(c, to.item)
        for i in range(1, n):
            numbers[i] = numbers[0]
    else:
        dmlcy_widen(c, to.c_step, to.item, numbers, n)
    to.level.add(sums, to.alpha, added, to.beta, n)


# Lets others work on rows of the output, `line` bytes apart, of n elements, `step` bytes apart. -1: memory ran out.
cdef inline int follow_rows(const Products* to, char* y, int64_t rows, int64_t line, int64_t n,
                            int64_t step) noexcept nogil:
    cdef int64_t row
    if step == to.item or n == 1:
        return to.after.follow(to.after.context, y, rows, line, n * to.item)
    for row in range(rows):
        if to.after.follow(to.after.context, y + row * line, n, step, to.item):
            return -1
    return 0


# Takes what can be applied to elements of the output as they are stored: the activation, and what follows the output.
# Elements of a row are `step` bytes apart.
cdef void take_stores(Products* to, const Tensor* output, int64_t step) noexcept nogil:
    cdef const Strips* found
    cdef int s
    to.strips = 0
    to.base = output.data
    if to.item == sizeof(float) and step == to.item:
        if to.fused != NULL and to.fused.strip.loop != NULL:
            to.strip[0] = to.fused.strip
            to.strips = 1
            to.fused = NULL
        found = take_strips(to.followed)
        if found != NULL:
            for s in range(found.count):
                to.strip[to.strips] = found.each[s]
                to.strips += 1
            to.followed = NULL
    to.limited = to.strips == 0 or (to.strips == 1 and to.strip[0].limited)
    to.limits[0] = -INFINITY if to.strips == 0 else to.strip[0].limits[0]
    to.limits[1] = INFINITY if to.strips == 0 else to.strip[0].limits[1]


# Makes rows of n elements of the output, `line` bytes apart, of sums that may lie there already: `pitch` floats apart.
cdef inline void store_rows(const Products* to, float* sums, int64_t pitch, char* y, int64_t line, int64_t rows,
                            int64_t n) noexcept nogil:
    cdef const float* inputs[2]
    cdef int64_t steps[2]
    cdef int64_t step = line // <int64_t>sizeof(float)
    cdef const Strip* strip
    cdef int s
    for s in range(to.strips):
        strip = &to.strip[s]
        inputs[strip.place] = sums
        steps[strip.place] = pitch
        if strip.inputs > 1:
            inputs[1 - strip.place] = <const float*>(strip.other + (y - to.base))
            steps[1 - strip.place] = step
        if s == to.strips - 1:
            sums, pitch = <float*>y, step
        strip.loop(inputs, steps, sums, pitch, rows, n, strip.attributes)


# Whether what is applied to elements reads no others, so that it may be before they are in the output.
cdef inline bint are_alone(const Products* to) noexcept nogil:
    cdef int s
    for s in range(to.strips):
        if to.strip[s].inputs > 1:
            return False
    return to.strips > 0


# Mends the sums of some rows of a strip, and makes elements of the output of them, `y_pitch` floats apart.
cdef inline void settle(const Products* to, const Tile* tile, float* sums, int64_t pitch, float* y, int64_t y_pitch,
                        int64_t first, int64_t rows) noexcept nogil:
    mend(to, tile, sums, pitch, first, rows)
    store_rows(to, sums, pitch, <char*>y, y_pitch * <int64_t>sizeof(float), rows, tile.count)


# The sums of a strip become elements of the output. -1: memory ran out.
cdef int finish_strip(const Products* to, Tile* tile, float* sums, int64_t pitch) noexcept nogil:
    cdef int64_t row, r
    cdef const ProductRun* run
    cdef char* y = tile.y + tile.row * to.y_line
    if (tile.c != NULL and not to.begun) or to.alpha != 1:
        for row in range(tile.rows):
            add_row(to, tile, sums + row * pitch, tile.row + row, tile.first, tile.count)
    mend(to, tile, sums, pitch, tile.row, tile.rows)
    if to.fused != NULL and activate(to.fused, sums, tile.rows * pitch):
        return -1
    if to.strips > 0 and is_run(tile):
        store_rows(to, sums, pitch, y + tile.runs[0].to, to.y_line, tile.rows, tile.count)
        return 0
    for r in range(tile.run_count):
        run = &tile.runs[r]
        if to.strips > 0:
            store_rows(to, sums + run.column, pitch, y + run.to, to.y_line, tile.rows, run.count)
        else:
            to.level.put_rows(sums + run.column, pitch, tile.rows, run.count, y + run.to, to.y_line, to.y_step, to.item)
    return 0
