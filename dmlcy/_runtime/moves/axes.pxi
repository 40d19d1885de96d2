# Axes: sorted and joined, and taken out of the outer ones.

# The axes of more than one element, the one with the largest step of the output first. Axes that the output runs
# through backwards are turned round.
cdef void collect_axes(MovePlan* plan, const Move* a) noexcept nogil:
    cdef MoveAxis axis
    cdef int d, to
    plan.input = a.input
    plan.output = a.output
    plan.item = a.item
    plan.outers = 0
    for d in range(a.rank):
        if a.sizes[d] == 1:
            continue
        axis.size = a.sizes[d]
        axis.step = a.input_strides[d]
        axis.out_step = a.output_strides[d]
        if axis.out_step < 0:
            plan.input += (axis.size - 1) * axis.step
            plan.output += (axis.size - 1) * axis.out_step
            axis.step = -axis.step
            axis.out_step = -axis.out_step
        to = plan.outers
        while to > 0 and plan.outer[to - 1].out_step < axis.out_step:
            plan.outer[to] = plan.outer[to - 1]
            to -= 1
        plan.outer[to] = axis
        plan.outers += 1


# Joins axes that lie one after the other in both tensors.
cdef void merge_axes(MovePlan* plan) noexcept nogil:
    cdef MoveAxis* last
    cdef MoveAxis axis
    cdef int kept = 0
    cdef int d
    for d in range(plan.outers):
        axis = plan.outer[d]
        last = &plan.outer[kept - 1] if kept > 0 else NULL
        if last != NULL and last.step == axis.size * axis.step and last.out_step == axis.size * axis.out_step:
            last.size *= axis.size
            last.step = axis.step
            last.out_step = axis.out_step
        else:
            plan.outer[kept] = axis
            kept += 1
    plan.outers = kept


# Whether the elements lie one after the other in both tensors.
cdef bint is_one_run(const MovePlan* plan) noexcept nogil:
    return plan.outers == 0 or (
        plan.outers == 1 and plan.outer[0].step == plan.item and plan.outer[0].out_step == plan.item)


# Takes axis d out of the outer axes; -1 is an axis of one element.
cdef MoveAxis take_axis(MovePlan* plan, int d) noexcept nogil:
    cdef MoveAxis axis
    if d < 0:
        axis.size = 1
        axis.step = axis.out_step = 0
        return axis
    axis = plan.outer[d]
    plan.outers -= 1
    while d < plan.outers:
        plan.outer[d] = plan.outer[d + 1]
        d += 1
    return axis


# The outer axis along which the input advances by `step`; -1: there is none.
cdef int axis_of_step(const MovePlan* plan, int64_t step) noexcept nogil:
    cdef int d
    for d in range(plan.outers - 1, -1, -1):
        if plan.outer[d].step == step:
            return d
    return -1


cdef int axis_of_out_step(const MovePlan* plan, int64_t out_step) noexcept nogil:
    cdef int d
    for d in range(plan.outers - 1, -1, -1):
        if plan.outer[d].out_step == out_step:
            return d
    return -1


# Whether everything is a multiple of `wide` bytes, the elements of the innermost axis together too.
cdef bint fits_wide(const MovePlan* plan, int64_t wide) noexcept nogil:
    cdef int64_t all = <int64_t> plan.input | <int64_t> plan.output | plan.outer[plan.outers - 1].size * plan.item
    cdef int d
    for d in range(plan.outers - 1):
        all |= plan.outer[d].step | plan.outer[d].out_step
    return all % wide == 0


# Elements that lie together in both tensors, but only a few of them, are moved as wider elements.
cdef void widen(MovePlan* plan) noexcept nogil:
    cdef MoveAxis* last
    cdef int64_t wide = 8
    if plan.outers < 2:
        return
    last = &plan.outer[plan.outers - 1]
    if last.step != plan.item or last.out_step != plan.item or last.size * plan.item > SHORT_RUN:
        return
    while wide > plan.item and not fits_wide(plan, wide):
        wide //= 2
    last.size = last.size * plan.item // wide
    last.step = last.out_step = plan.item = wide
    if last.size == 1:
        plan.outers -= 1


# Sorts the outer axes so that the next block reads the cache lines that this one has read.
cdef void sort_by_input(MovePlan* plan) noexcept nogil:
    cdef MoveAxis axis
    cdef int d, to
    for d in range(1, plan.outers):
        axis = plan.outer[d]
        to = d
        while to > 0 and magnitude(plan.outer[to - 1].step) < magnitude(axis.step):
            plan.outer[to] = plan.outer[to - 1]
            to -= 1
        plan.outer[to] = axis
