# The window elements that reach a position, and their blocks.


# The first of the taps that have a block at q, or would if the axis had more; another one follows at each period.
cdef inline int64_t first_tap(const ScatterAxis* axis, int64_t q) noexcept nogil:
    if axis.period == 1:
        return 0
    return <int64_t> (<uint64_t> (q // axis.common % axis.period) * <uint64_t> axis.inverse % <uint64_t> axis.period)


# The taps that have a block at q are `first`, `first` + period and so on, before `end`.
cdef inline void taps_at(const ScatterAxis* axis, int64_t q, int64_t* first, int64_t* end) noexcept nogil:
    cdef int64_t low = max(0, ceil_div(q - (axis.blocks - 1) * axis.stride, axis.dilation))
    end[0] = min(axis.window, (q if axis.dilation == 1 else q // axis.dilation) + 1)
    first[0] = low
    if axis.common > 1 and q % axis.common != 0:
        first[0] = end[0]
    elif axis.period > 1:
        first[0] += floor_mod(first_tap(axis, q) - low, axis.period)


# The blocks that a tap gives to positions low … high-1.
cdef inline void blocks_at(const ScatterAxis* axis, int64_t tap, int64_t low, int64_t high, int64_t* begin,
                           int64_t* end) noexcept nogil:
    low -= tap * axis.dilation
    high -= tap * axis.dilation
    if axis.stride > 1:
        low = ceil_div(low, axis.stride)
        high = ceil_div(high, axis.stride)
    begin[0] = max(0, low)
    end[0] = min(axis.blocks, high)


# The taps that may give something to positions low … high-1; of one position, each `period` of them does.
cdef inline void taps_over(const ScatterAxis* axis, int64_t low, int64_t high, int64_t* first, int64_t* end,
                           int64_t* step) noexcept nogil:
    step[0] = 1
    if low + 1 == high:
        taps_at(axis, low, first, end)
        step[0] = axis.period
        return
    first[0] = max(0, ceil_div(low - (axis.blocks - 1) * axis.stride, axis.dilation))
    end[0] = min(axis.window, (high - 1) // axis.dilation + 1)
