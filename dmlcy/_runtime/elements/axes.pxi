# The axes of all tensors: joined, brought into an order, and cut into tiles.

# Bytes between elements along a part of an axis of the output, behind which `parts` of the axis are. A tensor with
# fewer elements repeats one.
cdef inline int64_t step_of(const Tensor* tensor, int axis, int64_t parts) noexcept nogil:
    cdef int64_t size = tensor.sizes[axis]
    return tensor.strides[axis] * (size // parts) if size >= parts else 0


# Joins axes that lie one after the other in all tensors. An axis along which a tensor has an element for each block has
# two parts: the blocks, and the elements of each.
cdef void join_axes(const Elements* a, Axes* to) noexcept nogil:
    cdef const Tensor* output = a.tensors[a.inputs]
    cdef int axis, t, last, count = 0
    cdef int64_t size, parts, before
    cdef bint joined
    for axis in range(output.rank):
        parts = 1
        while parts != output.sizes[axis]:
            before = parts
            parts = output.sizes[axis]
            for t in range(a.inputs):
                if before < a.tensors[t].sizes[axis] < parts:
                    parts = a.tensors[t].sizes[axis]
            size = parts // before
            joined = count > 0
            for t in range(to.tensors):
                joined = joined and to.step[count - 1][t] == size * step_of(a.tensors[t], axis, parts)
            if joined:
                to.size[count - 1] *= size
            else:
                to.size[count] = size
                count += 1
            for t in range(to.tensors):
                to.step[count - 1][t] = step_of(a.tensors[t], axis, parts)
    last = count - 1
    to.axes = max(last, 0)
    to.length = to.size[last] if count else 1
    for t in range(to.tensors):
        to.row_step[t] = to.step[last][t] if count else a.tensors[t].item


# Brings to the end of the axes before the row the one along which a tensor lies in memory whose rows do not. Returns
# that tensor; -1: there is none.
cdef int turn(Axes* to) noexcept nogil:
    cdef int64_t size
    cdef int axis, t, other
    for t in range(to.tensors):
        if to.row_step[t] == 0 or to.row_step[t] == to.a.tensors[t].item:
            continue
        for axis in range(to.axes):
            if to.step[axis][t] == to.a.tensors[t].item:
                size = to.size[axis]
                to.size[axis] = to.size[to.axes - 1]
                to.size[to.axes - 1] = size
                for other in range(to.tensors):
                    to.step[axis][other], to.step[to.axes - 1][other] = (
                        to.step[to.axes - 1][other], to.step[axis][other])
                return t
    return -1


# Takes the loop `steady` of the kernel, if there is one and each input but the first repeats an element in a row.
cdef bint take_steady(const ElementKernel* kernel, Axes* to) noexcept nogil:
    cdef int t
    if kernel.steady == NULL or not to.fast or to.halves:
        return False
    for t in range(1, to.last):
        if to.row_step[t] != 0:
            return False
    to.steady = True
    to.row = kernel.steady
    for t in range(1, to.last):
        to.near[t] = to.same[t]
    return True


# Says how many rows and elements of them are a tile. Rows are packed where they are too short for a call each, or where
# packing costs little: they follow one another, or repeat an element or a row.
cdef void cut(const ElementKernel* kernel, Axes* to) noexcept nogil:
    cdef int turned = turn(to)
    cdef int outer = to.axes - 1
    cdef int64_t rows = to.size[outer] if to.axes > 0 else 1
    cdef bint packed = turned >= 0 or (to.length <= SHORT and rows > 1)
    cdef bint easy = to.length <= MEDIUM and rows > 1
    cdef bint near = not to.streamed
    cdef int t
    if turned < 0 and to.length > SHORT and take_steady(kernel, to):
        easy = False
    to.direct = not to.streamed
    for t in range(to.tensors):
        near = near and to.near[t]
        if t >= to.last:
            to.direct = to.direct and to.near[t]
        else:
            to.direct = to.direct and (to.near[t] or (to.row_step[t] == 0 and to.same[t]))
        easy = easy and (to.row_step[t] == 0 or (to.near[t] and (
            to.step[outer][t] == 0 or to.step[outer][t] == to.length * to.a.tensors[t].item)))
    to.packed = packed or easy
    to.block = min(to.length, FUSED_BLOCK if to.a.fused != NULL else NEAR_BLOCK)
    if turned >= 0:
        to.height = min(rows, LINE // to.a.tensors[turned].item)
        to.block = min(to.length, BLOCK // to.height)
    else:
        to.height = min(rows, max((BLOCK if to.packed else NEAR_BLOCK) // to.block, 1))
    to.piece = to.block if to.packed or near else BLOCK
    to.blocks = ceil_div(to.length, to.block)
    to.tiles = ceil_div(rows, to.height)


# Whether so many rows of n elements follow one another in memory, as the loop takes or gives them.
cdef inline bint is_packed(const Axes* to, int t, int64_t rows, int64_t n) noexcept nogil:
    return to.near[t] and (rows == 1 or to.step[to.axes - 1][t] == n * to.a.tensors[t].item)
