# The common part of maxima and means: windows over rows of an image, in bands of the outer axis.

# Depth, height and width; without a depth, it is 1.
cdef struct Volume:
    const WindowSums* given
    Slide axes[3]
    int64_t image_steps[3]
    int64_t position_steps[3]


cdef inline Volume volume_of(const WindowSums* a) noexcept nogil:
    cdef Volume found
    cdef int d, k
    found.given = a
    found.axes[0].size = found.axes[0].count = found.axes[0].window = found.axes[0].stride = 1
    found.axes[0].dilation = 1
    found.axes[0].start = 0
    found.image_steps[0] = found.position_steps[0] = 0
    for d in range(a.spatial):
        k = 3 - a.spatial + d
        found.axes[k] = slide_of(a, d)
        found.image_steps[k] = a.image.strides[2 + d]
        found.position_steps[k] = a.positions.strides[2 + d]
    return found


# Where an item of the batch and a channel begin.
cdef inline char* channel_of(const Tensor* tensor, int64_t number) noexcept nogil:
    cdef int64_t channels = tensor.sizes[1]
    return tensor.data + number // channels * tensor.strides[0] + number % channels * tensor.strides[1]


# The positions along a row at which an element of the window is inside: from the first to before the end.
cdef inline void positions_inside(const Slide* axis, int64_t tap, int64_t* first, int64_t* end) noexcept nogil:
    cdef int64_t place = tap * axis.dilation - axis.start
    first[0] = max(0, ceil_div(-place, axis.stride))
    end[0] = min(axis.count, floor_div(axis.size - 1 - place, axis.stride) + 1)


# The elements of the window that are inside at some position.
cdef inline void taps_somewhere(const Slide* axis, int64_t* first, int64_t* end) noexcept nogil:
    cdef int64_t last
    taps_inside(axis, axis.count - 1, first, end)
    last = first[0]
    taps_inside(axis, 0, first, end)
    first[0] = min(first[0], last)
    end[0] = min(axis.window, floor_div(axis.size - 1 + axis.start, axis.dilation) + 1)


# Whether windows are two elements side by side, all of which are inside.
cdef inline bint in_twos(const Slide* axis) noexcept nogil:
    if axis.window != 2 or axis.stride != 2 or axis.dilation != 1 or axis.start != 0:
        return False
    return 2 * axis.count <= axis.size
