# Convolutions of one filter of 3 by 3 for each channel: sums of some rows of a vector of places stay in registers.

# Whether loops of planes compute a convolution with a filter for each channel, with the same sums.
cdef bint are_planes(const Products* to) noexcept nogil:
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef int d
    # Of shorter rows, most of a vector would have no place.
    if 3 * axes[2].places < 2 * rounded_up(axes[2].places, to.level.lanes):
        return False
    for d in range(1, 3):
        if axes[d].taps != 3 or axes[d].tap_step != 1 or not 1 <= axes[d].step <= 2:
            return False
    return (
        to.level.plane != NULL and to.item == sizeof(float) and to.fused == NULL and axes[1].step == axes[2].step
        and axes[2].stride == to.item and to.y_step == to.item
    )


# Computes the sums that are no finite numbers again. Such sums are beyond the limits of the others.
cdef void mend_planes(const Products* to, Tile* tile, const ProductPlane* plane, int64_t image, int64_t group,
                      int64_t first) noexcept nogil:
    cdef int64_t row, column
    cdef float* sums = plane.to
    for row in range(plane.rows):
        for column in range(plane.columns):
            if not isfinite(sums[column]):
                sums[column] = exact_place(to, tile, image, group, first + row, column)
                if to.limited:
                    store_rows(to, sums + column, 0, <char*>(sums + column), 0, 1, 1)
        sums += plane.pitch


# Lets a plane have the filter of a channel, and what is added to it.
cdef inline void take_plane(const Planes* own, ProductPlane* plane, int64_t group) noexcept nogil:
    cdef const Products* to = own.to
    cdef const char* a = to.a + group * to.a_batch[0]
    cdef int64_t tap
    for tap in range(9):
        plane.filter[tap] = (<const float*>(a + own.taps[tap]))[0]
    plane.begin = 0 if to.c == NULL else (<const float*>(to.c + group * to.c_batch[0]))[0]


# Computes some bands of rows. -1: memory ran out.
cdef int compute_planes(const void* args, int64_t begin, int64_t end) noexcept nogil:
    cdef const Planes* own = <const Planes*>args
    cdef const Products* to = own.to
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef float[PLANE] near
    cdef ProductPlane plane
    cdef Tile tile
    cdef int64_t number, group, image, row, top, held = -1
    cdef bint stays = not to.limited and own.high * axes[2].places <= PLANE
    cdef char* y
    plane.columns = axes[2].places
    plane.step = axes[2].step
    plane.line = axes[1].stride // <int64_t>sizeof(float)
    plane.left = -axes[2].start
    plane.right = axes[2].size - axes[2].start
    plane.limits[0] = to.limits[0] if to.limited else -INFINITY
    plane.limits[1] = to.limits[1] if to.limited else INFINITY
    for number in range(begin, end):
        row = number % own.bands * own.high
        group = number // own.bands % to.batch[0]
        image = number // own.bands // to.batch[0]
        if group != held:
            take_plane(own, &plane, group)
            held = group
        plane.rows = min(own.high, axes[1].places - row)
        top = axes[1].start + row * axes[1].step
        plane.low = -top
        plane.high = axes[1].size - top
        plane.x = <const float*>(to.b + group * to.b_batch[0] + image * to.image.image_stride + top * axes[1].stride)
        plane.x += axes[2].start
        y = to.y + group * to.y_batch[0] + image * to.image.output_stride + row * axes[1].output_stride
        if stays:
            plane.to, plane.pitch = near, plane.columns
        else:
            plane.to, plane.pitch = <float*>y, axes[1].output_stride // <int64_t>sizeof(float)
        if not to.level.plane(&plane):
            mend_planes(to, &tile, &plane, image, group, row)
        if to.limited:
            pass                    # kernels have done it
        elif stays and axes[1].output_stride == plane.columns * to.item:
            store_rows(to, near, 0, y, 0, 1, plane.rows * plane.columns)
        else:
            store_rows(to, plane.to, plane.pitch, y, axes[1].output_stride, plane.rows, plane.columns)
        if to.after != NULL and follow_places(to, y, 1, to.y_batch[0], plane.rows):
            return -1
    return 0


cdef int run_planes(Products* to) noexcept nogil:
    cdef const ProductAxis* axes = &to.image.axes[0]
    cdef Planes own
    cdef int64_t work, tap
    own.to = to
    for tap in range(9):
        own.taps[tap] = filter_at(to.image, tap)
    own.high = min(max(PLANE // axes[2].places // PLANE_ROWS * PLANE_ROWS, <int64_t>8), axes[1].places)
    own.bands = ceil_div(axes[1].places, own.high)
    to.after = take_epilogue(to.followed, row_of_places(to, own.high))
    work = own.high * rounded_up(axes[2].places, to.level.lanes) * PLANE_WORK
    return parallel_for(compute_planes, &own, own.bands * to.batch[0] * to.images, max(enough(SPREAD_WORK) // work, 1))
