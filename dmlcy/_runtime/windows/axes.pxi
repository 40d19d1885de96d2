# Axes, and the taps of a window along one of them.

cdef struct WindowAxis:
    int64_t size                    # elements of the input
    int64_t results                 # elements of the output
    int64_t input_step              # bytes between elements
    int64_t output_step
    int64_t indices_step
    int64_t number_step             # elements of the packed input between them
    int64_t window                  # 1 on an axis that is not pooled
    int64_t stride
    int64_t dilation
    int64_t start


# The taps of the window at `index` that are inside the input.
cdef inline void valid_taps(const WindowAxis* axis, int64_t index, int64_t* first, int64_t* end) noexcept nogil:
    cdef int64_t outside = axis.start - index * axis.stride
    first[0] = 0
    end[0] = axis.window
    if outside > 0:
        first[0] = min(axis.window, ceil_div(outside, axis.dilation))
    outside += axis.size
    if outside <= (axis.window - 1) * axis.dilation:
        end[0] = first[0] if outside <= 0 else max(first[0], ceil_div(outside, axis.dilation))


# Whether no tap at `index` is outside the input.
cdef inline bint is_whole(const WindowAxis* axis, int64_t index) noexcept nogil:
    cdef int64_t first = index * axis.stride - axis.start
    return first >= 0 and first + (axis.window - 1) * axis.dilation < axis.size


# Whether each index has one element, inside the input: the axis then has a window and a stride of 1.
cdef bint not_pooled(WindowAxis* axis) noexcept nogil:
    if axis.window > 1 or axis.start > 0 or (axis.results - 1) * axis.stride >= axis.size:
        return False
    axis.input_step *= axis.stride
    axis.number_step *= axis.stride
    axis.stride = 1
    axis.size = axis.results
    return True


cdef bint merge(WindowAxis* outer, const WindowAxis* inner) noexcept nogil:
    if outer.input_step != inner.size * inner.input_step or outer.output_step != inner.size * inner.output_step:
        return False
    if outer.number_step != inner.size * inner.number_step or outer.indices_step != inner.size * inner.indices_step:
        return False
    outer.size *= inner.size
    outer.results = outer.size
    outer.input_step = inner.input_step
    outer.output_step = inner.output_step
    outer.indices_step = inner.indices_step
    outer.number_step = inner.number_step
    return True


# Whether one window has all elements of the axis under it.
cdef inline bint spanned(const WindowAxis* axis) noexcept nogil:
    return axis.results == 1 and axis.dilation == 1 and axis.start + axis.size <= axis.window


cdef bint merge_spanned(WindowAxis* outer, const WindowAxis* inner) noexcept nogil:
    if not spanned(outer) or not spanned(inner) or outer.input_step != inner.size * inner.input_step:
        return False
    outer.size *= inner.size
    outer.window = outer.size
    outer.start = 0
    outer.input_step = inner.input_step
    outer.number_step = inner.number_step
    return True


# Whether it is certain that there is an element under each window.
cdef inline bint covers(const WindowAxis* axis) noexcept nogil:
    cdef int64_t last = (axis.results - 1) * axis.stride - axis.start
    return axis.start <= (axis.window - 1) * axis.dilation and axis.dilation <= axis.size and last < axis.size
