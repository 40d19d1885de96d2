# cython: language_level=3
"""region_reduce: ROI_POOLING."""

from cpython.object cimport PyObject
from libc.math cimport INFINITY, NAN, floor, isfinite, roundf, signbit
from libc.stdint cimport int64_t, uint16_t, uint32_t
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_float, take_size_2d
from dmlcy._runtime.checks cimport append_size, element4, floor_div, same_sizes, tensor_holds
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.half cimport dmlcy_float_of_half, dmlcy_float_to_half, dmlcy_half_to_float
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.recording cimport current_recordings, packed
from dmlcy._runtime.tensor cimport (
    Tensor, aligned, as_array, is_brief, new_array, out_array, overlap, overlaps_itself, set_rank, view, write_back,
)
from dmlcy._runtime.threads cimport Work, grain_of, parallel_for

from dmlcy._check import refuse, refuse_call, refuse_desc
from dmlcy._record import keep

cdef enum:
    LANES = 16                      # channels of a region that are an item of work
    COLUMNS = 256                   # columns of the input that are reduced together
    BINS = 64                       # bins of a row that are reduced together
    GROUP = 4                       # rows that one pass takes in
    VECTOR = 8                      # loops over a multiple of so many columns have no remainder

cdef struct RegionReduce:
    Tensor input                    # N, C, H, W
    Tensor regions                  # 1, 1, R, 5
    Tensor output                   # R, C, bins along the height, bins along the width
    const void* attributes          # struct of the operator

# Elements along an axis of the input, from `start` to `end`.
cdef struct Bin:
    int64_t start
    int64_t end

# What an item of work does at a time: bins of one row in some channels. Either there are few columns or one bin only.
cdef struct Strip:
    const char* input               # of the first channel
    char* output                    # of the first channel and bin
    int64_t channels
    Bin rows
    Bin bins[BINS]
    int64_t count                   # of bins

# What a loop writes is not what it reads; said so, compilers need no checks for it.
cdef extern from *:
    ctypedef float* float_only "float* __restrict"


# Goes away from zero when halfway; saturated to 32 bits.
cdef inline int64_t round_away(float value) noexcept nogil:
    cdef float rounded = roundf(value)
    if rounded >= 2147483648.0:
        return 2147483647
    if not rounded > -2147483648.0:     # NaN too
        return -2147483648
    return <int64_t> rounded


# A whole number from 0 to `last`; NaN gives 0.
cdef inline int64_t whole(double value, int64_t last) noexcept nogil:
    if not value > 0:
        return 0
    return last if value >= <double> last else <int64_t> value


cdef inline int64_t clamp(int64_t value, int64_t size) noexcept nogil:
    return min(max(value, 0), size)


cdef inline int64_t lane_blocks(const RegionReduce* a) noexcept nogil:
    return (a.input.sizes[1] + LANES - 1) // LANES


cdef int run_regions(Work work, const RegionReduce* a) noexcept nogil:
    cdef int64_t elements = max(a.output.sizes[2] * a.output.sizes[3], a.input.sizes[2] * a.input.sizes[3] // 4)
    return parallel_for(work, a, a.output.sizes[0] * lane_blocks(a), grain_of(elements * LANES * a.input.item))


# roi_pooling_FLOAT16

cdef inline float roi_pooling_FLOAT16_at(const char* element) noexcept nogil:
    return dmlcy_float_of_half((<const uint16_t*> element)[0])


# The greater of a number and an element; a NaN loses. Which of two zeros, is left to _exact.
cdef inline float roi_pooling_FLOAT16_max(float best, float x) noexcept nogil:
    return x if x > best else best


# The row as contiguous float: itself, or a copy in `scratch`.
cdef inline const float* roi_pooling_FLOAT16_load(
        const char* row, int64_t step, float* scratch, int64_t size) noexcept nogil:
    dmlcy_half_to_float(<const uint16_t*> row, step, scratch, size)
    return scratch


# Takes `count` rows of each channel into the maxima, LANES for each column; `fresh`: there are none yet.
cdef void roi_pooling_FLOAT16_take_rows(
        float_only maxima, const float** row, int64_t count, int64_t channel_step, int64_t channels,
        int64_t size, bint fresh) noexcept nogil:
    cdef int64_t channel, i
    cdef float best
    cdef const float* row0 = row[0]
    cdef const float* row1 = row[1 if count > 1 else 0]
    cdef const float* row2 = row[2 if count > 2 else 0]
    cdef const float* row3 = row[3 if count > 3 else 0]
    for channel in range(channels):
        if count == 4:
            for i in range(size):
                best = -INFINITY if fresh else maxima[i * LANES + channel]
                best = roi_pooling_FLOAT16_max(best, row0[i])
                best = roi_pooling_FLOAT16_max(best, row1[i])
                best = roi_pooling_FLOAT16_max(best, row2[i])
                best = roi_pooling_FLOAT16_max(best, row3[i])
                maxima[i * LANES + channel] = best
        elif count == 3:
            for i in range(size):
                best = -INFINITY if fresh else maxima[i * LANES + channel]
                best = roi_pooling_FLOAT16_max(best, row0[i])
                best = roi_pooling_FLOAT16_max(best, row1[i])
                best = roi_pooling_FLOAT16_max(best, row2[i])
                maxima[i * LANES + channel] = best
        elif count == 2:
            for i in range(size):
                best = -INFINITY if fresh else maxima[i * LANES + channel]
                best = roi_pooling_FLOAT16_max(best, row0[i])
                best = roi_pooling_FLOAT16_max(best, row1[i])
                maxima[i * LANES + channel] = best
        elif count == 1:
            for i in range(size):
                best = -INFINITY if fresh else maxima[i * LANES + channel]
                best = roi_pooling_FLOAT16_max(best, row0[i])
                maxima[i * LANES + channel] = best
        row0 += channel_step
        row1 += channel_step
        row2 += channel_step
        row3 += channel_step


# The maxima over the strip's rows of `size` columns from `first` on.
cdef void roi_pooling_FLOAT16_reduce_rows(
        const RegionReduce* a, const Strip* strip, int64_t first, int64_t size, float* maxima) noexcept nogil:
    cdef int64_t step = a.input.strides[3]
    cdef bint direct = False
    cdef int64_t channels = strip.channels if direct else 1
    cdef int64_t channel = 0
    cdef int64_t n, row, rows
    cdef const char* data
    cdef const float* group[GROUP]
    cdef float scratch[GROUP][COLUMNS + VECTOR]
    while channel < strip.channels:
        data = strip.input + channel * a.input.strides[1] + first * step
        row = strip.rows.start
        while row < strip.rows.end:
            rows = min(strip.rows.end - row, GROUP)
            for n in range(rows):
                group[n] = roi_pooling_FLOAT16_load(data + (row + n) * a.input.strides[2], step, scratch[n], size)
            roi_pooling_FLOAT16_take_rows(
                maxima + channel, group, rows, a.input.strides[1] // <int64_t> sizeof(float), channels, size,
                row == strip.rows.start)
            row += rows
        channel += channels


# The maximum of a bin that is known to be a zero, or not to be above -infinity: +0 or -0, -infinity or NaN.
cdef float roi_pooling_FLOAT16_exact(
        const RegionReduce* a, const char* data, Bin rows, Bin columns, float best) noexcept nogil:
    cdef int64_t row, column
    cdef float x
    for row in range(rows.start, rows.end):
        for column in range(columns.start, columns.end):
            x = roi_pooling_FLOAT16_at(data + row * a.input.strides[2] + column * a.input.strides[3])
            if x == best and (x != 0 or not signbit(x)):
                return x
    return best if best == 0 else NAN


# Writes bin n of each channel.
cdef void roi_pooling_FLOAT16_write(const RegionReduce* a, const Strip* strip, int64_t n, float* best) noexcept nogil:
    cdef char* output = strip.output + n * a.output.strides[3]
    cdef int64_t channel
    cdef uint16_t values[LANES]
    dmlcy_float_to_half(best, values, sizeof(uint16_t), LANES)
    for channel in range(strip.channels):
        (<uint16_t*> (output + channel * a.output.strides[1]))[0] = values[channel]


cdef inline void roi_pooling_FLOAT16_set(float* best, float value) noexcept nogil:
    cdef int64_t i
    for i in range(LANES):
        best[i] = value


cdef void roi_pooling_FLOAT16_reduce(const RegionReduce* a, const Strip* strip, float empty) noexcept nogil:
    cdef int64_t low = strip.bins[0].start
    cdef int64_t end = strip.bins[strip.count - 1].end
    cdef int64_t high, first, size, n, x, i
    cdef int doubtful
    cdef Bin bin
    cdef float maxima[(COLUMNS + VECTOR) * LANES]
    cdef float best[LANES]
    if low >= end or strip.rows.start >= strip.rows.end:
        roi_pooling_FLOAT16_set(best, empty)
        for n in range(strip.count):
            roi_pooling_FLOAT16_write(a, strip, n, best)
        return
    roi_pooling_FLOAT16_set(best, -INFINITY)
    while low < end:
        high = min(low + COLUMNS, end)
        size = min((high - low + VECTOR - 1) // VECTOR * VECTOR, a.input.sizes[3])
        first = min(low, a.input.sizes[3] - size)
        roi_pooling_FLOAT16_reduce_rows(a, strip, first, size, maxima)
        for n in range(strip.count):
            bin = strip.bins[n]
            for x in range(max(bin.start, low) - first, min(bin.end, high) - first):
                for i in range(LANES):
                    best[i] = roi_pooling_FLOAT16_max(best[i], maxima[x * LANES + i])
            if high < end:
                continue
            doubtful = 0
            for i in range(LANES):
                doubtful |= (best[i] == 0) | (best[i] == -INFINITY)
            if bin.start >= bin.end:
                roi_pooling_FLOAT16_set(best, empty)
            elif doubtful:
                for i in range(strip.channels):
                    if best[i] == 0 or best[i] == -INFINITY:
                        best[i] = roi_pooling_FLOAT16_exact(
                            a, strip.input + i * a.input.strides[1], strip.rows, bin, best[i])
            roi_pooling_FLOAT16_write(a, strip, n, best)
            roi_pooling_FLOAT16_set(best, -INFINITY)
        low = high


# Bin i of `count` along an axis of `size` elements, of which the region has those from `first` to `last`.
cdef inline Bin roi_pooling_FLOAT16_bin(
        int64_t i, int64_t count, int64_t first, int64_t last, int64_t size) noexcept nogil:
    cdef Bin bin
    bin.start = clamp(floor_div(i * (last - first + 1), count) + first, size)
    bin.end = clamp(floor_div((i + 1) * (last - first + 1) + count - 1, count) + first, size)
    return bin


cdef int roi_pooling_FLOAT16_work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const RegionReduce* a = <const RegionReduce*> args
    cdef const RoiPooling* attributes = <const RoiPooling*> a.attributes
    cdef float spatial_scale = attributes.spatial_scale
    cdef int64_t height = a.output.sizes[2]
    cdef int64_t width = a.output.sizes[3]
    cdef int64_t region, channel, batch, y, x, first_height, last_height, first_width, last_width
    cdef float row0, row1, row2, row3, row4
    cdef const char* entry
    cdef char* output
    cdef Strip strip
    while begin < end:              # region by region in the same channels: they stay in the cache
        region = begin % a.output.sizes[0]
        channel = begin // a.output.sizes[0] * LANES
        entry = a.regions.data + region * a.regions.strides[2]
        row0 = <float> roi_pooling_FLOAT16_at(entry)
        row1 = <float> roi_pooling_FLOAT16_at(entry + 1 * a.regions.strides[3])
        row2 = <float> roi_pooling_FLOAT16_at(entry + 2 * a.regions.strides[3])
        row3 = <float> roi_pooling_FLOAT16_at(entry + 3 * a.regions.strides[3])
        row4 = <float> roi_pooling_FLOAT16_at(entry + 4 * a.regions.strides[3])
        # The rows were checked, but another thread may have written to them since: nothing may lead out of the input.
        batch = whole(row0, a.input.sizes[0] - 1)
        first_height = round_away(row2 * spatial_scale)
        last_height = max(round_away(row4 * spatial_scale), first_height)
        first_width = round_away(row1 * spatial_scale)
        last_width = max(round_away(row3 * spatial_scale), first_width)
        strip.input = a.input.data + batch * a.input.strides[0] + channel * a.input.strides[1]
        strip.channels = min(a.input.sizes[1] - channel, LANES)
        output = a.output.data + region * a.output.strides[0] + channel * a.output.strides[1]
        x = 0
        while x < width:
            strip.count = 0
            while strip.count < BINS and x + strip.count < width:
                strip.bins[strip.count] = roi_pooling_FLOAT16_bin(
                    x + strip.count, width, first_width, last_width, a.input.sizes[3])
                if strip.count > 0 and strip.bins[strip.count].end - strip.bins[0].start > COLUMNS:
                    break
                strip.count += 1
            for y in range(height):
                strip.rows = roi_pooling_FLOAT16_bin(y, height, first_height, last_height, a.input.sizes[2])
                strip.output = output + y * a.output.strides[2] + x * a.output.strides[3]
                roi_pooling_FLOAT16_reduce(a, &strip, 0)
            x += strip.count
        begin += 1
    return 0


cdef int roi_pooling_FLOAT16(RegionReduce* a) noexcept nogil:
    return run_regions(roi_pooling_FLOAT16_work, a)


# roi_pooling_FLOAT32

cdef inline float roi_pooling_FLOAT32_at(const char* element) noexcept nogil:
    return (<const float*> element)[0]


# The greater of a number and an element; a NaN loses. Which of two zeros, is left to _exact.
cdef inline float roi_pooling_FLOAT32_max(float best, float x) noexcept nogil:
    return x if x > best else best


# The row as contiguous float: itself, or a copy in `scratch`.
cdef inline const float* roi_pooling_FLOAT32_load(
        const char* row, int64_t step, float* scratch, int64_t size) noexcept nogil:
    cdef int64_t i
    if step == sizeof(float):
        return <const float*> row
    for i in range(size):
        scratch[i] = (<const float*> (row + i * step))[0]
    return scratch


# Takes `count` rows of each channel into the maxima, LANES for each column; `fresh`: there are none yet.
cdef void roi_pooling_FLOAT32_take_rows(
        float_only maxima, const float** row, int64_t count, int64_t channel_step, int64_t channels,
        int64_t size, bint fresh) noexcept nogil:
    cdef int64_t channel, i
    cdef float best
    cdef const float* row0 = row[0]
    cdef const float* row1 = row[1 if count > 1 else 0]
    cdef const float* row2 = row[2 if count > 2 else 0]
    cdef const float* row3 = row[3 if count > 3 else 0]
    for channel in range(channels):
        if count == 4:
            for i in range(size):
                best = -INFINITY if fresh else maxima[i * LANES + channel]
                best = roi_pooling_FLOAT32_max(best, row0[i])
                best = roi_pooling_FLOAT32_max(best, row1[i])
                best = roi_pooling_FLOAT32_max(best, row2[i])
                best = roi_pooling_FLOAT32_max(best, row3[i])
                maxima[i * LANES + channel] = best
        elif count == 3:
            for i in range(size):
                best = -INFINITY if fresh else maxima[i * LANES + channel]
                best = roi_pooling_FLOAT32_max(best, row0[i])
                best = roi_pooling_FLOAT32_max(best, row1[i])
                best = roi_pooling_FLOAT32_max(best, row2[i])
                maxima[i * LANES + channel] = best
        elif count == 2:
            for i in range(size):
                best = -INFINITY if fresh else maxima[i * LANES + channel]
                best = roi_pooling_FLOAT32_max(best, row0[i])
                best = roi_pooling_FLOAT32_max(best, row1[i])
                maxima[i * LANES + channel] = best
        elif count == 1:
            for i in range(size):
                best = -INFINITY if fresh else maxima[i * LANES + channel]
                best = roi_pooling_FLOAT32_max(best, row0[i])
                maxima[i * LANES + channel] = best
        row0 += channel_step
        row1 += channel_step
        row2 += channel_step
        row3 += channel_step


# The maxima over the strip's rows of `size` columns from `first` on.
cdef void roi_pooling_FLOAT32_reduce_rows(
        const RegionReduce* a, const Strip* strip, int64_t first, int64_t size, float* maxima) noexcept nogil:
    cdef int64_t step = a.input.strides[3]
    cdef bint direct = step == sizeof(float)
    cdef int64_t channels = strip.channels if direct else 1
    cdef int64_t channel = 0
    cdef int64_t n, row, rows
    cdef const char* data
    cdef const float* group[GROUP]
    cdef float scratch[GROUP][COLUMNS + VECTOR]
    while channel < strip.channels:
        data = strip.input + channel * a.input.strides[1] + first * step
        row = strip.rows.start
        while row < strip.rows.end:
            rows = min(strip.rows.end - row, GROUP)
            for n in range(rows):
                group[n] = roi_pooling_FLOAT32_load(data + (row + n) * a.input.strides[2], step, scratch[n], size)
            roi_pooling_FLOAT32_take_rows(
                maxima + channel, group, rows, a.input.strides[1] // <int64_t> sizeof(float), channels, size,
                row == strip.rows.start)
            row += rows
        channel += channels


# The same where LANES channels are next to each other.
cdef void roi_pooling_FLOAT32_reduce_rows_of_lanes(
        const RegionReduce* a, const Strip* strip, int64_t first, int64_t size, float_only maxima) noexcept nogil:
    cdef int64_t column, row, i
    cdef float best
    cdef const char* data
    cdef const float* lanes
    for column in range(size):
        for i in range(LANES):
            maxima[column * LANES + i] = -INFINITY
        data = strip.input + (first + column) * a.input.strides[3]
        for row in range(strip.rows.start, strip.rows.end):
            lanes = <const float*> (data + row * a.input.strides[2])
            for i in range(LANES):
                best = maxima[column * LANES + i]
                maxima[column * LANES + i] = roi_pooling_FLOAT32_max(best, lanes[i])


# The maximum of a bin that is known to be a zero, or not to be above -infinity: +0 or -0, -infinity or NaN.
cdef float roi_pooling_FLOAT32_exact(
        const RegionReduce* a, const char* data, Bin rows, Bin columns, float best) noexcept nogil:
    cdef int64_t row, column
    cdef float x
    for row in range(rows.start, rows.end):
        for column in range(columns.start, columns.end):
            x = roi_pooling_FLOAT32_at(data + row * a.input.strides[2] + column * a.input.strides[3])
            if x == best and (x != 0 or not signbit(x)):
                return x
    return best if best == 0 else NAN


# Writes bin n of each channel.
cdef void roi_pooling_FLOAT32_write(const RegionReduce* a, const Strip* strip, int64_t n, float* best) noexcept nogil:
    cdef char* output = strip.output + n * a.output.strides[3]
    cdef int64_t channel
    cdef float* values = best
    for channel in range(strip.channels):
        (<float*> (output + channel * a.output.strides[1]))[0] = values[channel]


cdef inline void roi_pooling_FLOAT32_set(float* best, float value) noexcept nogil:
    cdef int64_t i
    for i in range(LANES):
        best[i] = value


cdef void roi_pooling_FLOAT32_reduce(const RegionReduce* a, const Strip* strip, float empty) noexcept nogil:
    cdef int64_t low = strip.bins[0].start
    cdef int64_t end = strip.bins[strip.count - 1].end
    cdef int64_t high, first, size, n, x, i
    cdef int doubtful
    cdef Bin bin
    cdef float maxima[(COLUMNS + VECTOR) * LANES]
    cdef float best[LANES]
    if low >= end or strip.rows.start >= strip.rows.end:
        roi_pooling_FLOAT32_set(best, empty)
        for n in range(strip.count):
            roi_pooling_FLOAT32_write(a, strip, n, best)
        return
    roi_pooling_FLOAT32_set(best, -INFINITY)
    while low < end:
        high = min(low + COLUMNS, end)
        size = min((high - low + VECTOR - 1) // VECTOR * VECTOR, a.input.sizes[3])
        first = min(low, a.input.sizes[3] - size)
        if strip.channels == LANES and a.input.strides[1] == sizeof(float):
            roi_pooling_FLOAT32_reduce_rows_of_lanes(a, strip, first, size, maxima)
        else:
            roi_pooling_FLOAT32_reduce_rows(a, strip, first, size, maxima)
        for n in range(strip.count):
            bin = strip.bins[n]
            for x in range(max(bin.start, low) - first, min(bin.end, high) - first):
                for i in range(LANES):
                    best[i] = roi_pooling_FLOAT32_max(best[i], maxima[x * LANES + i])
            if high < end:
                continue
            doubtful = 0
            for i in range(LANES):
                doubtful |= (best[i] == 0) | (best[i] == -INFINITY)
            if bin.start >= bin.end:
                roi_pooling_FLOAT32_set(best, empty)
            elif doubtful:
                for i in range(strip.channels):
                    if best[i] == 0 or best[i] == -INFINITY:
                        best[i] = roi_pooling_FLOAT32_exact(
                            a, strip.input + i * a.input.strides[1], strip.rows, bin, best[i])
            roi_pooling_FLOAT32_write(a, strip, n, best)
            roi_pooling_FLOAT32_set(best, -INFINITY)
        low = high


# Bin i of `count` along an axis of `size` elements, of which the region has those from `first` to `last`.
cdef inline Bin roi_pooling_FLOAT32_bin(
        int64_t i, int64_t count, int64_t first, int64_t last, int64_t size) noexcept nogil:
    cdef Bin bin
    bin.start = clamp(floor_div(i * (last - first + 1), count) + first, size)
    bin.end = clamp(floor_div((i + 1) * (last - first + 1) + count - 1, count) + first, size)
    return bin


cdef int roi_pooling_FLOAT32_work(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const RegionReduce* a = <const RegionReduce*> args
    cdef const RoiPooling* attributes = <const RoiPooling*> a.attributes
    cdef float spatial_scale = attributes.spatial_scale
    cdef int64_t height = a.output.sizes[2]
    cdef int64_t width = a.output.sizes[3]
    cdef int64_t region, channel, batch, y, x, first_height, last_height, first_width, last_width
    cdef float row0, row1, row2, row3, row4
    cdef const char* entry
    cdef char* output
    cdef Strip strip
    while begin < end:              # region by region in the same channels: they stay in the cache
        region = begin % a.output.sizes[0]
        channel = begin // a.output.sizes[0] * LANES
        entry = a.regions.data + region * a.regions.strides[2]
        row0 = <float> roi_pooling_FLOAT32_at(entry)
        row1 = <float> roi_pooling_FLOAT32_at(entry + 1 * a.regions.strides[3])
        row2 = <float> roi_pooling_FLOAT32_at(entry + 2 * a.regions.strides[3])
        row3 = <float> roi_pooling_FLOAT32_at(entry + 3 * a.regions.strides[3])
        row4 = <float> roi_pooling_FLOAT32_at(entry + 4 * a.regions.strides[3])
        # The rows were checked, but another thread may have written to them since: nothing may lead out of the input.
        batch = whole(row0, a.input.sizes[0] - 1)
        first_height = round_away(row2 * spatial_scale)
        last_height = max(round_away(row4 * spatial_scale), first_height)
        first_width = round_away(row1 * spatial_scale)
        last_width = max(round_away(row3 * spatial_scale), first_width)
        strip.input = a.input.data + batch * a.input.strides[0] + channel * a.input.strides[1]
        strip.channels = min(a.input.sizes[1] - channel, LANES)
        output = a.output.data + region * a.output.strides[0] + channel * a.output.strides[1]
        x = 0
        while x < width:
            strip.count = 0
            while strip.count < BINS and x + strip.count < width:
                strip.bins[strip.count] = roi_pooling_FLOAT32_bin(
                    x + strip.count, width, first_width, last_width, a.input.sizes[3])
                if strip.count > 0 and strip.bins[strip.count].end - strip.bins[0].start > COLUMNS:
                    break
                strip.count += 1
            for y in range(height):
                strip.rows = roi_pooling_FLOAT32_bin(y, height, first_height, last_height, a.input.sizes[2])
                strip.output = output + y * a.output.strides[2] + x * a.output.strides[3]
                roi_pooling_FLOAT32_reduce(a, &strip, 0)
            x += strip.count
        begin += 1
    return 0


cdef int roi_pooling_FLOAT32(RegionReduce* a) noexcept nogil:
    return run_regions(roi_pooling_FLOAT32_work, a)


# ROI_POOLING

cdef struct RoiPooling:
    Tensor input
    Tensor roi
    Tensor output
    float spatial_scale
    int64_t pooled_size_height
    int64_t pooled_size_width
    int64_t N
    int64_t C
    int64_t regions
    int64_t broken

# By feature level, the values allowed (bit n: value n): data types, ranks, enum members.
cdef uint32_t[15] ROI_POOLING_T = [
    0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6,
    0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6,
]
cdef uint32_t[15] ROI_POOLING_R_RANKS = [
    0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
    0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
]


# Whether the operator and its inputs hold at the level.
cdef bint roi_pooling_inputs_hold(RoiPooling* a, int level) noexcept nogil:
    if a.roi.rank > 4 or not set_rank(&a.roi, 4):
        return False
    return (
        level >= 0
        and tensor_holds(&a.input, ROI_POOLING_T[level], ROI_POOLING_R_RANKS[level])
        and tensor_holds(&a.roi, ROI_POOLING_T[level], ROI_POOLING_R_RANKS[level])
        and a.roi.dtype == a.input.dtype
    )


# Takes the attributes from Python; 0 where one is not acceptable.
cdef int roi_pooling_take(
    RoiPooling* a,
    int level,
    object spatial_scale,
    object pooled_size,
) except -1:
    if not take_float(spatial_scale, &a.spatial_scale):
        return 0
    if not take_size_2d(pooled_size, 1, 2147483647, &a.pooled_size_height, &a.pooled_size_width):
        return 0
    return 1


# Computes the lets and the sizes of the output; whether every rule holds. An int64 that overflows does not hold.
cdef bint roi_pooling_holds(RoiPooling* a, int level) noexcept nogil:
    cdef Tensor expected
    # spatial_scale-positive
    if not (a.spatial_scale > 0):
        return False
    a.regions = a.roi.sizes[2]
    expected.rank = 0
    if not append_size(&expected, 1):
        return False
    if not append_size(&expected, 1):
        return False
    if not append_size(&expected, a.regions):
        return False
    if not append_size(&expected, 5):
        return False
    if not same_sizes(&a.roi, &expected):
        return False
    a.C = a.input.sizes[1]
    a.output.dtype = a.input.dtype
    a.output.item = a.input.item
    a.output.rank = 0
    if not append_size(&a.output, a.regions):
        return False
    if not append_size(&a.output, a.C):
        return False
    if not append_size(&a.output, a.pooled_size_height):
        return False
    if not append_size(&a.output, a.pooled_size_width):
        return False
    if not tensor_holds(&a.output, ROI_POOLING_T[level], ROI_POOLING_R_RANKS[level]):
        return False
    a.N = a.input.sizes[0]
    return True


# Whether the values of the tensors are acceptable; `broken` is the first index at which a rule does not hold.
cdef bint roi_pooling_data_holds(RoiPooling* a) noexcept nogil:
    cdef int64_t r
    cdef int64_t k
    # roi-finite
    for r in range(a.regions):
        for k in range(5):
            if not (isfinite(element4(&a.roi, 0, 0, r, k))):
                a.broken = r
                return False
    # roi-batch
    for r in range(a.regions):
        if not (element4(&a.roi, 0, 0, r, 0) == floor(element4(&a.roi, 0, 0, r, 0))):
            a.broken = r
            return False
        if not (0 <= element4(&a.roi, 0, 0, r, 0)):
            a.broken = r
            return False
        if not (element4(&a.roi, 0, 0, r, 0) < a.N):
            a.broken = r
            return False
    # roi-ordered
    for r in range(a.regions):
        if not (element4(&a.roi, 0, 0, r, 1) <= element4(&a.roi, 0, 0, r, 3)):
            a.broken = r
            return False
        if not (element4(&a.roi, 0, 0, r, 2) <= element4(&a.roi, 0, 0, r, 4)):
            a.broken = r
            return False
    return True


cdef int roi_pooling_run(const RoiPooling* a) noexcept nogil:
    cdef RegionReduce work
    work.input = a.input
    work.regions = a.roi
    work.output = a.output
    work.attributes = a
    if a.input.dtype == 2:
        return roi_pooling_FLOAT16(&work)
    return roi_pooling_FLOAT32(&work)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object roi_pooling_call(RoiPooling* a, ndarray input_array, ndarray roi_array, object out):
    cdef ndarray output_array, result
    cdef object recordings = current_recordings()
    cdef int status
    if out is None:
        output_array = result = new_array(&a.output)
    else:
        output_array = out_array(out, &a.output)
        if (
            output_array is None
            or overlaps_itself(output_array, &a.output)
            or overlap(output_array, &a.output, input_array, &a.input)
            or overlap(output_array, &a.output, roi_array, &a.roi)
        ):
            return None
        result = aligned(output_array, &a.output)
    if not unchanged(input_array, &a.input):
        raise RuntimeError("roi_pooling(): input was changed during the call")
    if not unchanged(roi_array, &a.roi):
        raise RuntimeError("roi_pooling(): roi was changed during the call")
    if recordings is None:
        input_array = aligned(input_array, &a.input)
        roi_array = aligned(roi_array, &a.roi)
    else:
        input_array = packed(input_array, &a.input)
        roi_array = packed(roi_array, &a.roi)
    if is_brief(&a.input) and is_brief(&a.roi) and is_brief(&a.output):
        status = roi_pooling_run(a)
    else:
        with nogil:
            status = roi_pooling_run(a)
    if status != 0:
        raise MemoryError("roi_pooling: no memory for scratch rows")
    write_back(output_array, result)
    if recordings is not None:
        keep(recordings, "ROI_POOLING", {
            "input": input_array,
            "roi": roi_array,
            "output": packed(result, &a.output),
            "spatial_scale": a.spatial_scale,
            "pooled_size": (a.pooled_size_height, a.pooled_size_width),
        })
    return output_array if out is None else out


def roi_pooling(
    input,
    roi,
    *,
    spatial_scale,
    pooled_size,
    out=None,
):
    """Divide each region of interest into a grid of bins and take the maximum of each bin.

    Parameters
    ----------
    input : array_like, FLOAT32, FLOAT16; rank 4
        Feature map of sizes {N, C, H, W}.
    roi : array_like, FLOAT32, FLOAT16; rank 4
        One row per region: batch index, then x1, y1, x2, y2, the corners inclusive, in units of 1 / SpatialScale
        elements.
    spatial_scale : float
        Factor from the coordinates of the regions to elements of the input.
    pooled_size : (height, width), or an int for both, 1 to 2147483647
        Bins along the height and the width of a region.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the result, no memory shared with an input.

    Returns
    -------
    array
        The maximum of each bin of each region.
        Sizes ``[regions, C, pooled_size.Height, pooled_size.Width]``.

    Notes
    -----
    N = sizes(input)[0]
        Batch size.
    C = sizes(input)[1]
        Channels.
    regions = sizes(roi)[2]
        Number of regions.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError, InvalidDataError
        With every violation in ``.violations``: those of each field (data type, rank, range, length), and

        ``DML-ROI_POOLING-spatial_scale-positive``
            spatial_scale is not positive. Must hold:
            ``spatial_scale > 0``
        ``DML-ROI_POOLING-roi-finite``
            roi is not finite. Must hold for r in regions:
            ``all(isfinite(roi[0, 0, r, k]) for k in 5)``
        ``DML-ROI_POOLING-roi-batch``
            roi names a batch that does not exist. Must hold for r in regions:
            ``roi[0, 0, r, 0] == floor(roi[0, 0, r, 0]) and 0 <= roi[0, 0, r, 0] and roi[0, 0, r, 0] < N``
        ``DML-ROI_POOLING-roi-ordered``
            roi has its corners in the wrong order. Must hold for r in regions:
            ``roi[0, 0, r, 1] <= roi[0, 0, r, 3] and roi[0, 0, r, 2] <= roi[0, 0, r, 4]``

    References
    ----------
    ROI_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_roi_pooling_operator_desc
    """
    cdef RoiPooling a
    cdef int level = current_level()
    a.broken = 0
    cdef ndarray input_array = as_array(input)
    cdef ndarray roi_array = as_array(roi)
    cdef object result
    if (
        view(input_array, &a.input)
        and view(roi_array, &a.roi)
        and roi_pooling_inputs_hold(&a, level)
        and roi_pooling_take(
            &a, level, spatial_scale, pooled_size
        )
        and roi_pooling_holds(&a, level)
        and roi_pooling_data_holds(&a)
    ):
        result = roi_pooling_call(&a, input_array, roi_array, out)
        if result is not None:
            return result
    return refuse("ROI_POOLING", {
        "input": input,
        "roi": roi,
        "spatial_scale": spatial_scale,
        "pooled_size": pooled_size,
        "out": out,
    }, level, a.broken)


cdef class RoiPoolingOperator(CompiledOperator):
    """ROI_POOLING, checked once: called with arrays of the sizes and data types of its desc."""

    cdef RoiPooling fields

    def __cinit__(self, *args, **kwargs):
        self.inputs = 2

    def __init__(self, desc, int level):
        cdef RoiPooling a
        cdef Tensor computed
        if not (
            describe(desc.input, &a.input)
            and describe(desc.roi, &a.roi)
            and roi_pooling_inputs_hold(&a, level)
            and roi_pooling_take(
                &a, level, desc.spatial_scale, desc.pooled_size
            )
            and roi_pooling_holds(&a, level)
        ):
            refuse_desc(desc, level)
        computed = a.output
        if not (
            describe(desc.output, &a.output)
            and as_computed(&a.output, &computed)
        ):
            refuse_desc(desc, level)
        self.fields = a
        self.desc = desc
        self.level = level

    def __call__(
        self,
        input,
        roi,
        *,
        out=None,
    ):
        cdef PyObject** inputs = [
            <PyObject*>input,
            <PyObject*>roi,
        ]
        return self.run(inputs, out)

    cdef object run(self, PyObject* const* inputs, object out):
        cdef RoiPooling a = self.fields
        a.broken = 0
        cdef ndarray input_array = match(<object>inputs[0], &a.input)
        cdef ndarray roi_array = match(<object>inputs[1], &a.roi)
        cdef object result
        if (
            input_array is not None
            and roi_array is not None
            and roi_pooling_data_holds(&a)
        ):
            result = roi_pooling_call(&a, input_array, roi_array, out)
            if result is not None:
                return result
        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "roi": <object>inputs[1],
            "out": out,
        }, a.broken)


take_vectorcalls(RoiPoolingOperator)
