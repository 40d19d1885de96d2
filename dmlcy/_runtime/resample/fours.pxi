# Gradients that are sums of two by two elements, as those of nearest elements at twice the size: in one pass.

cdef enum:
    # about the number of results of a piece of work, each of which is the sum of two by two elements
    FOURS = 8192

cdef struct FourSums:
    const Tensor* input
    const Tensor* output
    const SampleLoops* loops
    int64_t tall                    # rows of a part
    int64_t parts                   # of a plane


# Whether each element is the sum of two along an axis.
cdef bint sums_twos(const ResampleAxis* axis, const Resampling* a) noexcept nogil:
    cdef int64_t t, first, last
    cdef double rest
    if axis.size != 2 * axis.count:
        return False
    for t in range(axis.size):
        ends_of(axis, a, t, &first, &last, &rest)
        if first != t // 2 or last != first:
            return False
    return True


cdef bint is_of_fours(const ResamplePlan* plan) noexcept nogil:
    cdef const Tensor* input = plan.given.input
    cdef const Tensor* output = plan.given.output
    cdef int last = output.rank - 1
    if not plan.given.gradient or plan.axes != 2 or output.dtype != FLOAT32:
        return False
    if plan.axis[0].number != last - 1 or plan.axis[1].number != last:
        return False
    if input.strides[last] != input.item or output.strides[last] != output.item:
        return False
    return sums_twos(&plan.axis[0], plan.given) and sums_twos(&plan.axis[1], plan.given)


cdef int four_parts(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const FourSums* a = <const FourSums*> args
    cdef int rows = a.output.rank - 2, d
    cdef int64_t number, rest, place, first, row
    cdef int64_t step = a.input.strides[rows], target_step = a.output.strides[rows]
    cdef const char* source
    cdef char* target
    for number in range(begin, end):
        source = a.input.data
        target = a.output.data
        rest = number // a.parts
        for d in range(rows - 1, -1, -1):
            place = rest % a.output.sizes[d]
            rest //= a.output.sizes[d]
            source += place * a.input.strides[d]
            target += place * a.output.strides[d]
        first = number % a.parts * a.tall
        for row in range(first, min(first + a.tall, a.output.sizes[rows])):
            a.loops.fours(
                <const float*> (source + 2 * row * step), <const float*> (source + (2 * row + 1) * step), 0.0,
                <float*> (target + row * target_step), a.output.sizes[rows + 1])
    return 0


cdef int run_fours(const ResamplePlan* plan) noexcept nogil:
    cdef FourSums work
    cdef const Tensor* output = plan.given.output
    cdef int64_t items, bytes = plan.given.input.bytes + output.bytes
    cdef int d
    work.input = plan.given.input
    work.output = output
    work.loops = sample_loops()
    work.tall = min(max(FOURS // plan.axis[1].count, 1), plan.axis[0].count)
    work.parts = ceil_div(plan.axis[0].count, work.tall)
    items = work.parts
    for d in range(output.rank - 2):
        items *= output.sizes[d]
    return parallel_for(four_parts, &work, items, items if bytes <= SERIAL_BYTES else grain_of(bytes // items))
