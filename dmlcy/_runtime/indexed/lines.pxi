# Lines along an axis, of which as many elements as an index says are reversed.

cdef inline int64_t length_at(const Indexed* a, const char* at) noexcept nogil:
    cdef uint64_t length = (<const uint32_t*>at)[0] if a.index_item == 4 else (<const uint64_t*>at)[0]
    return <int64_t>min(length, <uint64_t>a.counted[0])


cdef void reverse_lines(const Indexed* a, Progress* progress, const char* source, char* target, const char* indices,
                        int64_t n) noexcept nogil:
    """Lines side by side: those of one length are moved together."""
    cdef int middle = a.rank - 2
    cdef int64_t step = a.index_steps[middle], first = 0, end, length
    while first < n:
        length = length_at(a, indices + first * step)
        end = first + 1
        while end < n and length_at(a, indices + end * step) == length:
            end += 1
        reverse(a, progress, source + first * a.own[middle], target + first * a.steps[middle], end - first, length)
        first = end


cdef void reverse(const Indexed* a, Progress* progress, const char* source, char* target, int64_t lines,
                  int64_t length) noexcept nogil:
    cdef int middle = a.rank - 2
    cdef int64_t size = a.counted[0], along = a.place_steps[0], out_along = a.coordinate_step
    cdef int64_t own = a.own[middle], step = a.steps[middle], k
    cdef Moves moves = moves_of(a.item)
    cdef const char* row
    if lines > 1 and own == a.item and step == a.item:
        for k in range(size):
            row = source + (length - 1 - k if k < length else k) * along
            if a.streams:
                dmlcy_stream_seek(&progress.stream, target + k * out_along)
                dmlcy_stream_put(&progress.stream, row, lines * a.item)
            else:
                dmlcy_copy(target + k * out_along, row, lines * a.item)
        return
    source += length * along
    if out_along == a.item:
        moves.gather(source - along, own, -along, target, step, lines, length)
        moves.gather(source, own, along, target + length * out_along, step, lines, size - length)
    else:
        moves.copy_strided(source - along, own, -along, target, step, out_along, lines, length)
        moves.copy_strided(source, own, along, target + length * out_along, step, out_along, lines, size - length)
