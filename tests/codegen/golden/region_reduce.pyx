# cython: language_level=3
"""region_reduce: ROI_POOLING."""

from cpython.object cimport PyObject
from libc.math cimport floor, isfinite, roundf
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t
from libc.string cimport memcpy
from numpy cimport ndarray
from dmlcy._runtime.arguments cimport take_float, take_size_2d
from dmlcy._runtime.checks cimport append_size, element4, floor_div, same_sizes, tensor_holds
from dmlcy._runtime.compiled cimport CompiledOperator, as_computed, describe, match, take_vectorcalls, unchanged
from dmlcy._runtime.half cimport dmlcy_float_of_half, dmlcy_half_of_float
from dmlcy._runtime.level cimport current_level
from dmlcy._runtime.recording cimport current_recordings, packed
from dmlcy._runtime.tensor cimport (
    FLOAT16, Tensor, aligned, as_array, is_brief, new_array, out_array, overlap, overlaps_itself, set_rank, view,
    write_back,
)
from dmlcy._runtime.threads cimport Work, grain_of, parallel_for

cdef enum:
    LEVEL_1_0 = 0
    LEVELS = 15


cdef enum:
    CHANNELS = 16                   # of a region that are an item of work
    COLUMNS = 256                   # columns of the input that are reduced together
    BINS = 64                       # bins that are reduced together
    GROUP = 8                       # rows that are copied together

cdef extern from "lanes.h" nogil:
    enum:
        LANES "DMLCY_LANES"
        LEAST "DMLCY_LEAST"
    ctypedef struct Bin "dmlcy_span":       # elements along an axis of the input; the end is exclusive
        int64_t start
        int64_t end
    void dmlcy_max_bins(
        const int32_t* lanes, int64_t low, int64_t high, const Bin* bins, int64_t count, int32_t* best) noexcept
    int32_t dmlcy_key_2(const void* element) noexcept
    void dmlcy_element_2(int32_t key, void* element) noexcept
    void dmlcy_max_rows_2(
        const char* source, const int64_t* steps, int64_t columns_step, int64_t size, int64_t row_step, int64_t rows,
        bint turned, bint fresh, int32_t* target) noexcept
    bint dmlcy_put_2(
        const int32_t* best, int64_t count, char* target, int64_t channel_step, int64_t channels) noexcept
    int32_t dmlcy_key_4(const void* element) noexcept
    void dmlcy_element_4(int32_t key, void* element) noexcept
    void dmlcy_max_rows_4(
        const char* source, const int64_t* steps, int64_t columns_step, int64_t size, int64_t row_step, int64_t rows,
        bint turned, bint fresh, int32_t* target) noexcept
    bint dmlcy_put_4(
        const int32_t* best, int64_t count, char* target, int64_t channel_step, int64_t channels) noexcept

cdef struct RegionReduce:
    Tensor input                    # N, C, H, W
    Tensor regions                  # 1, 1, R, 5
    Tensor output                   # R, C, bins along the height, bins along the width
    const void* attributes          # struct of the operator

# Bins of a region that are made together. Either they have few columns, or there is one bin along the width only.
cdef struct RegionTile:
    const char* input               # of the first channel
    char* output                    # of the first channel and bin
    int64_t channels                # at most LANES
    int64_t height                  # bins; height * width is at most BINS
    int64_t width
    Bin rows[BINS]
    Bin columns[BINS]


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


cdef inline int64_t channel_blocks(const RegionReduce* a) noexcept nogil:
    return (a.input.sizes[1] + CHANNELS - 1) // CHANNELS


cdef int run_regions(Work work, const RegionReduce* a) noexcept nogil:
    cdef int64_t elements = max(a.output.sizes[2] * a.output.sizes[3], a.input.sizes[2] * a.input.sizes[3] // 4)
    elements *= min(CHANNELS, a.input.sizes[1])
    return parallel_for(work, a, a.output.sizes[0] * channel_blocks(a), grain_of(elements * a.input.item))


# roi_pooling_FLOAT16

cdef inline float roi_pooling_FLOAT16_at(const char* element) noexcept nogil:
    return dmlcy_float_of_half((<const uint16_t*> element)[0])


# The maxima over the rows, which are copied first: for any layout and size.
cdef void roi_pooling_FLOAT16_max_copied_rows(
        const RegionReduce* a, const RegionTile* tile, Bin rows,
        int64_t first, int64_t size, int32_t* lanes) noexcept nogil:
    cdef uint16_t copied[GROUP][LANES][LANES]
    cdef int64_t steps[LANES]
    cdef int64_t column_step[LANES]
    cdef int64_t column, row, count, n, channel, i
    cdef const char* source
    for i in range(LANES):
        steps[i] = i * LANES * 2
    column = 0
    while column < size:
        for i in range(LANES):
            column_step[i] = (first + min(column + i, size - 1)) * a.input.strides[3]
        row = rows.start
        while row < rows.end:
            count = min(rows.end - row, GROUP)
            for n in range(count):
                for channel in range(LANES):
                    source = tile.input + (row + n) * a.input.strides[2]
                    source += min(channel, tile.channels - 1) * a.input.strides[1]
                    for i in range(LANES):
                        copied[n][channel][i] = (<const uint16_t*> (source + column_step[i]))[0]
            dmlcy_max_rows_2(
                <const char*> copied, steps, 0, LANES, sizeof(copied[0]), count, True, row == rows.start,
                lanes + column * LANES)
            row += count
        column += LANES


# The maxima over the rows: in columns from the one that is returned on, which include those from `low` to `high`. Where
# LANES columns are next to each other, or LANES channels are, they are read as they are.
cdef int64_t roi_pooling_FLOAT16_max_rows(
        const RegionReduce* a, const RegionTile* tile, Bin rows,
        int64_t low, int64_t high, int32_t* lanes) noexcept nogil:
    cdef int64_t size = max(high - low, LANES)
    cdef int64_t first = min(low, a.input.sizes[3] - size)
    cdef const char* source = tile.input + first * a.input.strides[3] + rows.start * a.input.strides[2]
    cdef bint columns_near = a.input.strides[3] == 2
    cdef bint channels_near = a.input.strides[1] == 2 and tile.channels == LANES
    cdef int64_t steps[LANES]
    cdef int64_t i
    if first < 0 or not (columns_near or channels_near):
        roi_pooling_FLOAT16_max_copied_rows(a, tile, rows, low, high - low, lanes)
        return low
    for i in range(LANES):
        steps[i] = min(i, tile.channels - 1) * a.input.strides[1] if columns_near else i * a.input.strides[3]
    dmlcy_max_rows_2(
        source, steps, a.input.strides[3], size, a.input.strides[2], rows.end - rows.start, columns_near, True, lanes)
    return first


cdef void roi_pooling_FLOAT16_write(const RegionReduce* a, const RegionTile* tile, const int32_t* best) noexcept nogil:
    cdef int64_t width = tile.width
    cdef int64_t height = tile.height
    cdef int64_t y, x, channel
    cdef char* output
    if a.output.strides[2] == width * a.output.strides[3]:
        width *= height
        height = 1
    for y in range(height):
        output = tile.output + y * a.output.strides[2]
        if a.output.strides[3] != 2 or width < LANES or not dmlcy_put_2(
                best, width, output, a.output.strides[1], tile.channels):
            for channel in range(tile.channels):
                for x in range(width):
                    dmlcy_element_2(
                        best[x * LANES + channel], output + channel * a.output.strides[1] + x * a.output.strides[3])
        best += width * LANES


cdef void roi_pooling_FLOAT16_reduce(const RegionReduce* a, const RegionTile* tile, int32_t empty) noexcept nogil:
    cdef int32_t lanes[(COLUMNS + LANES) * LANES]   # keys; LANES channels of each column
    cdef int32_t best[BINS * LANES]
    cdef int64_t end = tile.columns[tile.width - 1].end
    cdef int64_t y, x, i, low, high, first
    cdef int32_t* row = best
    cdef Bin rows
    for y in range(tile.height):
        rows = tile.rows[y]
        for x in range(tile.width):
            for i in range(LANES):
                row[x * LANES + i] = empty if max(rows.end - rows.start, 0) * max(
                    tile.columns[x].end - tile.columns[x].start, 0) == 0 else LEAST
        low = tile.columns[0].start if rows.start < rows.end else end
        while low < end:
            high = min(low + COLUMNS, end)
            first = roi_pooling_FLOAT16_max_rows(a, tile, rows, low, high, lanes)
            dmlcy_max_bins(lanes, first, high, tile.columns, tile.width, row)
            low = high
        row += tile.width * LANES
    roi_pooling_FLOAT16_write(a, tile, best)


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
    cdef int64_t region, channel, end_channel, batch, y, x, n, c
    cdef int64_t first_height, last_height, first_width, last_width
    cdef float row0, row1, row2, row3, row4
    cdef uint16_t empty = dmlcy_half_of_float(0)
    cdef const char* entry
    cdef RegionTile tile
    while begin < end:              # region by region in the same channels: they stay in the cache
        region = begin % a.output.sizes[0]
        channel = begin // a.output.sizes[0] * CHANNELS
        end_channel = min(channel + CHANNELS, a.input.sizes[1])
        entry = a.regions.data + region * a.regions.strides[2]
        row0 = roi_pooling_FLOAT16_at(entry)
        row1 = roi_pooling_FLOAT16_at(entry + 1 * a.regions.strides[3])
        row2 = roi_pooling_FLOAT16_at(entry + 2 * a.regions.strides[3])
        row3 = roi_pooling_FLOAT16_at(entry + 3 * a.regions.strides[3])
        row4 = roi_pooling_FLOAT16_at(entry + 4 * a.regions.strides[3])
        # The rows were checked, but another thread may have written to them since: nothing may lead out of the input.
        batch = whole(row0, a.input.sizes[0] - 1)
        first_height = round_away(row2 * spatial_scale)
        last_height = max(round_away(row4 * spatial_scale), first_height)
        first_width = round_away(row1 * spatial_scale)
        last_width = max(round_away(row3 * spatial_scale), first_width)
        x = 0
        while x < width:
            tile.width = 0
            while tile.width < min(BINS, width - x):
                tile.columns[tile.width] = roi_pooling_FLOAT16_bin(
                    x + tile.width, width, first_width, last_width, a.input.sizes[3])
                if tile.width > 0 and tile.columns[tile.width].end - tile.columns[0].start > COLUMNS:
                    break
                tile.width += 1
            y = 0
            while y < height:
                tile.height = min(BINS // tile.width, height - y)
                for n in range(tile.height):
                    tile.rows[n] = roi_pooling_FLOAT16_bin(y + n, height, first_height, last_height, a.input.sizes[2])
                c = channel
                while c < end_channel:
                    tile.channels = min(end_channel - c, LANES)
                    tile.input = a.input.data + batch * a.input.strides[0] + c * a.input.strides[1]
                    tile.output = (
                        a.output.data + region * a.output.strides[0] + c * a.output.strides[1]
                        + y * a.output.strides[2] + x * a.output.strides[3])
                    roi_pooling_FLOAT16_reduce(a, &tile, dmlcy_key_2(&empty))
                    c += LANES
                y += tile.height
            x += tile.width
        begin += 1
    return 0


cdef int roi_pooling_FLOAT16(RegionReduce* a) noexcept nogil:
    return run_regions(roi_pooling_FLOAT16_work, a)


# roi_pooling_FLOAT32

cdef inline float roi_pooling_FLOAT32_at(const char* element) noexcept nogil:
    return (<const float*> element)[0]


# The maxima over the rows, which are copied first: for any layout and size.
cdef void roi_pooling_FLOAT32_max_copied_rows(
        const RegionReduce* a, const RegionTile* tile, Bin rows,
        int64_t first, int64_t size, int32_t* lanes) noexcept nogil:
    cdef float copied[GROUP][LANES][LANES]
    cdef int64_t steps[LANES]
    cdef int64_t column_step[LANES]
    cdef int64_t column, row, count, n, channel, i
    cdef const char* source
    for i in range(LANES):
        steps[i] = i * LANES * 4
    column = 0
    while column < size:
        for i in range(LANES):
            column_step[i] = (first + min(column + i, size - 1)) * a.input.strides[3]
        row = rows.start
        while row < rows.end:
            count = min(rows.end - row, GROUP)
            for n in range(count):
                for channel in range(LANES):
                    source = tile.input + (row + n) * a.input.strides[2]
                    source += min(channel, tile.channels - 1) * a.input.strides[1]
                    for i in range(LANES):
                        copied[n][channel][i] = (<const float*> (source + column_step[i]))[0]
            dmlcy_max_rows_4(
                <const char*> copied, steps, 0, LANES, sizeof(copied[0]), count, True, row == rows.start,
                lanes + column * LANES)
            row += count
        column += LANES


# The maxima over the rows: in columns from the one that is returned on, which include those from `low` to `high`. Where
# LANES columns are next to each other, or LANES channels are, they are read as they are.
cdef int64_t roi_pooling_FLOAT32_max_rows(
        const RegionReduce* a, const RegionTile* tile, Bin rows,
        int64_t low, int64_t high, int32_t* lanes) noexcept nogil:
    cdef int64_t size = max(high - low, LANES)
    cdef int64_t first = min(low, a.input.sizes[3] - size)
    cdef const char* source = tile.input + first * a.input.strides[3] + rows.start * a.input.strides[2]
    cdef bint columns_near = a.input.strides[3] == 4
    cdef bint channels_near = a.input.strides[1] == 4 and tile.channels == LANES
    cdef int64_t steps[LANES]
    cdef int64_t i
    if first < 0 or not (columns_near or channels_near):
        roi_pooling_FLOAT32_max_copied_rows(a, tile, rows, low, high - low, lanes)
        return low
    for i in range(LANES):
        steps[i] = min(i, tile.channels - 1) * a.input.strides[1] if columns_near else i * a.input.strides[3]
    dmlcy_max_rows_4(
        source, steps, a.input.strides[3], size, a.input.strides[2], rows.end - rows.start, columns_near, True, lanes)
    return first


cdef void roi_pooling_FLOAT32_write(const RegionReduce* a, const RegionTile* tile, const int32_t* best) noexcept nogil:
    cdef int64_t width = tile.width
    cdef int64_t height = tile.height
    cdef int64_t y, x, channel
    cdef char* output
    if a.output.strides[2] == width * a.output.strides[3]:
        width *= height
        height = 1
    for y in range(height):
        output = tile.output + y * a.output.strides[2]
        if a.output.strides[3] != 4 or width < LANES or not dmlcy_put_4(
                best, width, output, a.output.strides[1], tile.channels):
            for channel in range(tile.channels):
                for x in range(width):
                    dmlcy_element_4(
                        best[x * LANES + channel], output + channel * a.output.strides[1] + x * a.output.strides[3])
        best += width * LANES


cdef void roi_pooling_FLOAT32_reduce(const RegionReduce* a, const RegionTile* tile, int32_t empty) noexcept nogil:
    cdef int32_t lanes[(COLUMNS + LANES) * LANES]   # keys; LANES channels of each column
    cdef int32_t best[BINS * LANES]
    cdef int64_t end = tile.columns[tile.width - 1].end
    cdef int64_t y, x, i, low, high, first
    cdef int32_t* row = best
    cdef Bin rows
    for y in range(tile.height):
        rows = tile.rows[y]
        for x in range(tile.width):
            for i in range(LANES):
                row[x * LANES + i] = empty if max(rows.end - rows.start, 0) * max(
                    tile.columns[x].end - tile.columns[x].start, 0) == 0 else LEAST
        low = tile.columns[0].start if rows.start < rows.end else end
        while low < end:
            high = min(low + COLUMNS, end)
            first = roi_pooling_FLOAT32_max_rows(a, tile, rows, low, high, lanes)
            dmlcy_max_bins(lanes, first, high, tile.columns, tile.width, row)
            low = high
        row += tile.width * LANES
    roi_pooling_FLOAT32_write(a, tile, best)


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
    cdef int64_t region, channel, end_channel, batch, y, x, n, c
    cdef int64_t first_height, last_height, first_width, last_width
    cdef float row0, row1, row2, row3, row4
    cdef float empty = 0
    cdef const char* entry
    cdef RegionTile tile
    while begin < end:              # region by region in the same channels: they stay in the cache
        region = begin % a.output.sizes[0]
        channel = begin // a.output.sizes[0] * CHANNELS
        end_channel = min(channel + CHANNELS, a.input.sizes[1])
        entry = a.regions.data + region * a.regions.strides[2]
        row0 = roi_pooling_FLOAT32_at(entry)
        row1 = roi_pooling_FLOAT32_at(entry + 1 * a.regions.strides[3])
        row2 = roi_pooling_FLOAT32_at(entry + 2 * a.regions.strides[3])
        row3 = roi_pooling_FLOAT32_at(entry + 3 * a.regions.strides[3])
        row4 = roi_pooling_FLOAT32_at(entry + 4 * a.regions.strides[3])
        # The rows were checked, but another thread may have written to them since: nothing may lead out of the input.
        batch = whole(row0, a.input.sizes[0] - 1)
        first_height = round_away(row2 * spatial_scale)
        last_height = max(round_away(row4 * spatial_scale), first_height)
        first_width = round_away(row1 * spatial_scale)
        last_width = max(round_away(row3 * spatial_scale), first_width)
        x = 0
        while x < width:
            tile.width = 0
            while tile.width < min(BINS, width - x):
                tile.columns[tile.width] = roi_pooling_FLOAT32_bin(
                    x + tile.width, width, first_width, last_width, a.input.sizes[3])
                if tile.width > 0 and tile.columns[tile.width].end - tile.columns[0].start > COLUMNS:
                    break
                tile.width += 1
            y = 0
            while y < height:
                tile.height = min(BINS // tile.width, height - y)
                for n in range(tile.height):
                    tile.rows[n] = roi_pooling_FLOAT32_bin(y + n, height, first_height, last_height, a.input.sizes[2])
                c = channel
                while c < end_channel:
                    tile.channels = min(end_channel - c, LANES)
                    tile.input = a.input.data + batch * a.input.strides[0] + c * a.input.strides[1]
                    tile.output = (
                        a.output.data + region * a.output.strides[0] + c * a.output.strides[1]
                        + y * a.output.strides[2] + x * a.output.strides[3])
                    roi_pooling_FLOAT32_reduce(a, &tile, dmlcy_key_4(&empty))
                    c += LANES
                y += tile.height
            x += tile.width
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
cdef extern from *:
    """
    static const uint32_t dmlcy_ROI_POOLING_T[15] = {
        0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6,
        0x6, 0x6, 0x6, 0x6, 0x6, 0x6, 0x6,
    };
    static const uint32_t dmlcy_ROI_POOLING_R_RANKS[15] = {
        0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
        0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10,
    };
    """
    const uint32_t* ROI_POOLING_T "dmlcy_ROI_POOLING_T"
    const uint32_t* ROI_POOLING_R_RANKS "dmlcy_ROI_POOLING_R_RANKS"


# Whether the operator and its inputs hold at the level.
cdef bint roi_pooling_inputs_hold(RoiPooling* a, int level) noexcept nogil:
    if a.roi.rank > 4 or not set_rank(&a.roi, 4):
        return False
    return (
        level >= LEVEL_1_0
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
    if not take_float(spatial_scale, False, &a.spatial_scale):
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
    if not (
        append_size(&expected, 1)
        and append_size(&expected, 1)
        and append_size(&expected, a.regions)
        and append_size(&expected, 5)
        and same_sizes(&a.roi, &expected)
    ):
        return False
    a.C = a.input.sizes[1]
    a.output.dtype = a.input.dtype
    a.output.item = a.input.item
    a.output.rank = 0
    if not (
        append_size(&a.output, a.regions)
        and append_size(&a.output, a.C)
        and append_size(&a.output, a.pooled_size_height)
        and append_size(&a.output, a.pooled_size_width)
        and tensor_holds(&a.output, ROI_POOLING_T[level], ROI_POOLING_R_RANKS[level])
    ):
        return False
    a.N = a.input.sizes[0]
    return True


# Whether the values of the tensors are acceptable; `broken` is the first index at which a rule does not hold.
cdef bint roi_pooling_data_holds(RoiPooling* a) noexcept nogil:
    cdef int64_t r
    cdef int64_t k
    cdef double value0
    # roi-finite
    for r in range(a.regions):
        for k in range(5):
            if not (isfinite(element4(&a.roi, 0, 0, r, k))):
                a.broken = r
                return False
    # roi-batch
    for r in range(a.regions):
        value0 = element4(&a.roi, 0, 0, r, 0)
        if not (value0 == floor(value0)):
            a.broken = r
            return False
        if not (0 <= value0):
            a.broken = r
            return False
        if not (value0 < a.N):
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
    if a.input.dtype == FLOAT16:
        return roi_pooling_FLOAT16(&work)
    return roi_pooling_FLOAT32(&work)


# Runs on checked fields. None: `out` is not acceptable, and nothing was written.
cdef object roi_pooling_call(RoiPooling* a, ndarray input_array, ndarray roi_array, object out):
    cdef ndarray output_array = None
    cdef ndarray output_result = None
    cdef object recordings = current_recordings()
    cdef int status
    if out is None:
        output_array = output_result = new_array(&a.output)
    else:
        output_array = out_array(out, &a.output)
        if (
            output_array is None
            or overlaps_itself(output_array, &a.output)
            or overlap(output_array, &a.output, input_array, &a.input)
            or overlap(output_array, &a.output, roi_array, &a.roi)
        ):
            return None
        output_result = aligned(output_array, &a.output)
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
    write_back(output_array, output_result)
    if recordings is not None:
        from dmlcy._record import keep

        keep(recordings, "ROI_POOLING", {
            "input": input_array,
            "roi": roi_array,
            "output": packed(output_result, &a.output),
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
    """Divide each region of interest into a grid of bins and take the maximum of
    each bin (RoI max pooling).

    Parameters
    ----------
    input : array
        The feature map. Its sizes are {N, C, H, W}. Rank 4; data type FLOAT32
        or FLOAT16.
    roi : array
        One row per region: batch index, then x1, y1, x2, y2, the corners
        inclusive, in units of 1 / SpatialScale elements. Rank 4; data type
        FLOAT32 or FLOAT16.
    spatial_scale : float
        Factor from the coordinates of the regions to elements of the input.
    pooled_size : (height, width), or an int for both
        Bins along the height and the width of a region. From 1 to 2147483647.
    out : array, optional
        Where the result is written: any layout, the data type and sizes of the
        result, no memory shared with an input.

    Returns
    -------
    numpy.ndarray
        The maximum of each bin of each region.
        Sizes ``[regions, C, pooled_size.Height, pooled_size.Width]``.
        Data type of ``input``.
        ``out`` itself where it is given.

    Raises
    ------
    InvalidDescError, InvalidDataTypeError, FeatureLevelError, InvalidDataError
        With every violation in ``.violations``: those of each field (data type,
        rank, range, length), and these:

        ``DML-ROI_POOLING-spatial_scale-positive``
            spatial_scale is not positive. Must hold:
            ``spatial_scale > 0``

        ``DML-ROI_POOLING-roi-finite``
            roi is not finite. Must hold for r in regions:
            ``all(isfinite(roi[0, 0, r, k]) for k in 5)``

        ``DML-ROI_POOLING-roi-batch``
            roi names a batch that does not exist. Must hold for r in regions:
            ``roi[0, 0, r, 0] == floor(roi[0, 0, r, 0]) and 0 <= roi[0, 0, r, 0]
            and roi[0, 0, r, 0] < N``

        ``DML-ROI_POOLING-roi-ordered``
            roi has its corners in the wrong order. Must hold for r in regions:
            ``roi[0, 0, r, 1] <= roi[0, 0, r, 3] and roi[0, 0, r, 2] <= roi[0,
            0, r, 4]``

    See Also
    --------
    dmlcy.desc.RoiPooling : Its desc, for ``check`` and ``compile``.

    Notes
    -----
    The formulas read:

    ``N = sizes(input)[0]``
        Batch size.
    ``C = sizes(input)[1]``
        Channels.
    ``regions = sizes(roi)[2]``
        Number of regions.

    References
    ----------
    ROI_POOLING, feature level 1_0:
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_roi_pooling_operator_desc

    Examples
    --------
    >>> import numpy as np
    >>> import dmlcy as dml
    >>> x = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
    >>> roi = np.array([[[[0, 0, 0, 3, 3],
    ...                   [0, 2, 4, 7, 7]]]], dtype=np.float32)
    >>> dml.roi_pooling(x, roi, spatial_scale=1.0, pooled_size=(2, 2))
    array([[[[ 9., 11.],
             [25., 27.]]],
           [[[44., 47.],
             [60., 63.]]]], dtype=float32)
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
    from dmlcy._desc.check import refuse

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
        from dmlcy._desc.check import refuse_desc

        cdef RoiPooling a
        cdef Tensor computed
        if not (
            level < LEVELS
            and describe(desc.input, &a.input)
            and describe(desc.roi, &a.roi)
            and roi_pooling_inputs_hold(&a, level)
            and roi_pooling_take(
                &a,
                level,
                desc.spatial_scale,
                desc.pooled_size,
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
        cdef RoiPooling a
        cdef ndarray input_array
        cdef ndarray roi_array
        cdef object result
        memcpy(&a, &self.fields, sizeof(a))     # an assignment would copy twice
        a.broken = 0
        input_array = match(<object>inputs[0], &a.input)
        roi_array = match(<object>inputs[1], &a.roi)
        if (
            input_array is not None
            and roi_array is not None
            and roi_pooling_data_holds(&a)
        ):
            result = roi_pooling_call(&a, input_array, roi_array, out)
            if result is not None:
                return result
        from dmlcy._desc.check import refuse_call

        return refuse_call(self.desc, {
            "input": <object>inputs[0],
            "roi": <object>inputs[1],
            "out": out,
        }, a.broken)


take_vectorcalls(RoiPoolingOperator)
