# The axes of tensors in two lists: along some axes elements are kept apart, along the others they are folded into one,
# or are computed together. A line is all elements of one position of the kept axes. There is no module, only this text.
#
#     cdef Lines lines
#     cdef const Tensor* tensors[2]
#     tensors[0] = &a.input
#     tensors[1] = &a.output
#     join_lines(&lines, tensors, 2, folded_between(&a.input, &a.output))     # or a mask: bit d for a folded axis d
#
# The first tensor has the sizes. Another one with the size 1 along an axis repeats its elements there: the step is 0.
# Both lists are in logical order, slowest first, and have at least one axis, which may be of size 1. Neighbours of a
# list are one axis if they lie so in the memory of all tensors, even where axes of the other list are between them. So
# an axis of a list says nothing about logical axes. An order of additions must not follow from the lists: it may follow
# from `positions`, `count`, `along` and `run` only, which depend on sizes and marks.
#
# A walk goes from position to position of a list, or of its first axes, and knows the offset in each tensor:
#
#     cdef Walk walk
#     begin_walk(&walk, &lines, lines.keep, lines.kept - 1, first)            # without the last axis: that is a loop
#     for number in range(first, last):
#         source = a.input.data + walk.offset[0]                              # its steps are keep[kept - 1].step
#         next_walk(&walk)

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport MAX_RANK, Tensor

cdef enum:
    LINE_TENSORS = 8

cdef struct LineAxis:
    int64_t size
    int64_t step[LINE_TENSORS]      # bytes, of any sign, or 0

cdef struct Lines:
    int tensors
    int kept                        # axes of the lists, at least 1
    int folded
    LineAxis keep[MAX_RANK]         # slowest first
    LineAxis fold[MAX_RANK]
    int64_t positions               # product of the sizes of the kept axes: how many lines there are
    int64_t count                   # the same of the folded axes: how many elements a line has
    bint along                      # the last axis with more than one element is folded
    int64_t run                     # elements along it and along the axes of the same mark right before it

cdef struct Walk:
    int tensors
    int axes
    const LineAxis* axis
    int64_t index[MAX_RANK]
    int64_t offset[LINE_TENSORS]    # bytes


# The axes along which two tensors of the same rank have other sizes.
cdef inline unsigned folded_between(const Tensor* whole, const Tensor* part) noexcept nogil:
    cdef unsigned folded = 0
    cdef int d
    for d in range(whole.rank):
        if whole.sizes[d] != part.sizes[d]:
            folded |= 1u << d
    return folded


# Adds an axis to a list of `count`, or makes it one with the last one. Returns how many there are then.
cdef inline int add_axis(LineAxis* axes, int count, const LineAxis* axis, int tensors) noexcept nogil:
    cdef bint joined = count > 0
    cdef int t
    for t in range(tensors):
        joined = joined and axes[count - 1].step[t] == axis.size * axis.step[t]
    if not joined:
        axes[count] = axis[0]
        return count + 1
    for t in range(tensors):
        axes[count - 1].step[t] = axis.step[t]
    axes[count - 1].size *= axis.size
    return count


cdef inline void join_lines(
        Lines* to, const Tensor* const* tensors, int count, unsigned folded) noexcept nogil:
    cdef const Tensor* first = tensors[0]
    cdef LineAxis axis
    cdef bint mark, ended = False
    cdef int d, t
    to.tensors = count
    to.kept = to.folded = 0
    to.positions = to.count = to.run = 1
    to.along = False
    for d in range(first.rank):
        axis.size = first.sizes[d]
        if axis.size == 1:
            continue
        for t in range(count):
            axis.step[t] = tensors[t].strides[d] if tensors[t].sizes[d] != 1 else 0
        mark = folded >> d & 1
        if mark:
            to.folded = add_axis(to.fold, to.folded, &axis, count)
            to.count *= axis.size
        else:
            to.kept = add_axis(to.keep, to.kept, &axis, count)
            to.positions *= axis.size
        to.along = mark
    for d in range(first.rank - 1, -1, -1):
        mark = folded >> d & 1
        if first.sizes[d] != 1 and not ended:
            if mark == to.along:
                to.run *= first.sizes[d]
            else:
                ended = True
    axis.size = 1
    for t in range(count):
        axis.step[t] = 0
    if to.kept == 0:
        to.keep[0] = axis
        to.kept = 1
    if to.folded == 0:
        to.fold[0] = axis
        to.folded = 1


# Begins at a position, by its number in row-major order, of the first `count` axes of a list: 0 axes have one position.
cdef inline void begin_walk(
        Walk* walk, const Lines* lines, const LineAxis* axes, int count, int64_t number) noexcept nogil:
    cdef int axis, t
    walk.tensors = lines.tensors
    walk.axes = count
    walk.axis = axes
    for t in range(walk.tensors):
        walk.offset[t] = 0
    for axis in range(count - 1, -1, -1):
        walk.index[axis] = number % axes[axis].size
        number //= axes[axis].size
        for t in range(walk.tensors):
            walk.offset[t] += walk.index[axis] * axes[axis].step[t]


# Goes on to the next position; from the last one to the first.
cdef inline void next_walk(Walk* walk) noexcept nogil:
    cdef const LineAxis* axis
    cdef int d, t
    for d in range(walk.axes - 1, -1, -1):
        axis = &walk.axis[d]
        walk.index[d] += 1
        if walk.index[d] < axis.size:
            for t in range(walk.tensors):
                walk.offset[t] += axis.step[t]
            return
        walk.index[d] = 0
        for t in range(walk.tensors):
            walk.offset[t] -= (axis.size - 1) * axis.step[t]
