# Convolutions: for each group, the filters times the elements under them, at all places of all images.

# Some places of the output, and their taps: of each axis, every so many of them.
cdef struct Piece:
    ProductAxis axes[3]
    int64_t filter_start
    int64_t output_start
    const Tensor* followed          # the output, if the piece is all of it


cdef void collect_spatial(const Windows* a, Spatial* axes) noexcept nogil:
    cdef Spatial* axis
    cdef int rank = a.input.rank - 2, d, own
    for d in range(3):
        axis = &axes[d]
        own = d - 3 + rank
        axis.input = axis.output = axis.window = axis.stride = axis.dilation = 1
        axis.input_stride = axis.output_stride = axis.filter_stride = 0
        axis.filter_start = axis.start = axis.appended = 0
        if own < 0:
            continue
        axis.input = a.input.sizes[2 + own]
        axis.input_stride = a.input.strides[2 + own]
        axis.output = a.output.sizes[2 + own]
        axis.output_stride = a.output.strides[2 + own]
        axis.window = a.filter.sizes[2 + own]
        axis.filter_stride = a.filter.strides[2 + own]
        axis.stride = a.strides[own]
        axis.dilation = a.dilations[own]
        axis.start = a.start[own]
        if a.appended != NULL and not a.backward:
            axis.appended = a.appended[own]
        if a.reversed:
            axis.filter_start = (axis.window - 1) * axis.filter_stride
            axis.filter_stride = -axis.filter_stride


# The places from one on, which no tap reaches.
cdef void take_rest(const Spatial* axis, int64_t first, int64_t places, ProductAxis* to) noexcept nogil:
    to.places = places
    to.size = axis.input
    to.step = 1
    to.start = to.taps = to.tap_step = to.filter_stride = 0
    to.stride = axis.input_stride
    to.output_stride = axis.output_stride


# All places, forward. Of an input that is spread over the output, the places that have one remainder modulo the stride:
# they have the same taps. Returns the first of these.
cdef int64_t take_places(const Spatial* axis, bint backward, int64_t remainder, ProductAxis* to) noexcept nogil:
    cdef int64_t tap = 0, period, common, rest
    to.size = axis.input
    to.stride = axis.input_stride
    if not backward:
        to.places = axis.output - axis.appended
        to.step = axis.stride
        to.start = -axis.start
        to.taps = axis.window
        to.tap_step = axis.dilation
        to.filter_stride = axis.filter_stride
        to.output_stride = axis.output_stride
        return 0
    common = axis.stride
    rest = axis.dilation
    while rest:
        common, rest = rest, common % rest
    period = axis.stride // common
    while tap < min(period, axis.window) and (remainder + axis.start - tap * axis.dilation) % axis.stride != 0:
        tap += 1
    to.places = ceil_div(axis.output - remainder, axis.stride)
    to.step = 1
    to.taps = ceil_div(axis.window - tap, period) if tap < min(period, axis.window) else 0
    to.start = (remainder + axis.start - tap * axis.dilation) // axis.stride if to.taps else 0
    to.tap_step = -(axis.dilation // common)
    to.filter_stride = axis.filter_stride * period
    to.output_stride = axis.output_stride * axis.stride
    return tap


# The places at which each tap is inside the input.
cdef void list_limits(ProductAxis* axis, int64_t* low, int64_t* high) noexcept nogil:
    cdef int64_t tap, start
    for tap in range(axis.taps):
        start = axis.start + tap * axis.tap_step
        low[tap] = min(ceil_div(-start, axis.step), axis.places) if start < 0 else 0
        high[tap] = min((axis.size - 1 - start) // axis.step + 1, axis.places) if start < axis.size else 0
    axis.low = low
    axis.high = high


# Whether an axis has one place for each element, and these follow those of the next one.
cdef inline bint joins(const ProductAxis* axis, const ProductAxis* following) noexcept nogil:
    return (
        axis.taps == 1 and axis.step == 1 and axis.start == 0 and axis.places == axis.size
        and following.taps == 1 and following.step == 1 and following.start == 0 and following.places == following.size
        and axis.stride == following.stride * following.size
        and axis.output_stride == following.output_stride * following.size
    ) or (axis.places == 1 and axis.size == 1 and axis.taps == 1 and axis.start == 0)


# A filter of one tap: axes that follow one another become one.
cdef void join_spatial(ProductAxis* axes) noexcept nogil:
    cdef int d
    for d in range(1, -1, -1):
        if not (axes[2].taps == 1 and axes[d].taps == 1 and joins(&axes[d], &axes[2])):
            return
        if axes[d].places > 1:
            axes[2].places *= axes[d].places
            axes[2].size = axes[2].places
            axes[d].places = axes[d].size = 1
            axes[d].stride = axes[d].output_stride = 0


# Whether the elements of a filter follow one another.
cdef bint are_even(const ProductImage* image, int64_t channels) noexcept nogil:
    cdef int64_t expected = image.item
    cdef int d
    for d in range(2, -1, -1):
        if image.axes[d].taps > 1 and image.axes[d].filter_stride != expected:
            return False
        expected *= image.axes[d].taps
    return channels == 1 or image.filter_stride == expected


# Whether a filter has one tap, and its places are the elements of a row.
cdef bint is_matrix(const ProductImage* image) noexcept nogil:
    cdef const ProductAxis* axis
    cdef int d
    for d in range(3):
        axis = &image.axes[d]
        if axis.taps != 1 or axis.step != 1 or axis.start != 0 or axis.places != axis.size or (d < 2 and axis.size > 1):
            return False
    return True


# Lets each image be a matrix: a row for each channel.
cdef void take_matrix(Products* to) noexcept nogil:
    cdef const ProductImage* image = to.image
    to.image = NULL
    to.columns = image.axes[2].places
    to.a_step = image.filter_stride
    to.b_line = image.axes[2].stride
    to.b_step = image.channel_stride
    to.batch_axes = 2
    to.batch[1] = to.images
    to.a_batch[1] = to.c_batch[1] = 0
    to.b_batch[1] = image.image_stride
    to.y_batch[1] = image.output_stride


# Whether the only place of the only tap is inside the input.
cdef bint is_inside(const ProductImage* image) noexcept nogil:
    cdef int d
    for d in range(3):
        if not 0 <= image.axes[d].start < image.axes[d].size:
            return False
    return True


# Where each image has one place: lets images be the rows of a product, and filters its columns.
cdef void turn_around(Products* to) noexcept nogil:
    cdef const ProductImage* image = to.image
    cdef const char* a = to.a
    cdef int axis
    to.image = NULL
    to.across = False
    to.floats = NULL
    to.by_column = True
    to.columns = to.rows
    to.rows = to.images
    to.a = to.b
    for axis in range(3):
        to.a += image.axes[axis].start * image.axes[axis].stride
    to.a_step = image.channel_stride
    to.b = a
    to.b_line = to.a_line
    to.b_step = image.filter_stride
    to.a_line = image.image_stride
    to.c_step = to.c_line
    to.c_line = 0
    to.y_step = to.y_line
    to.y_line = image.output_stride
    to.a_batch[0], to.b_batch[0] = to.b_batch[0], to.a_batch[0]


# Describes some places of the output, except their limits.
cdef void describe_piece(const Windows* a, const Piece* piece, ProductImage* image, Products* to) noexcept nogil:
    cdef int64_t channels = a.input.sizes[1] // a.groups, places = 1
    cdef int d
    cdef int across = 1 if a.backward else 0
    image.taps = 1
    for d in range(3):
        image.axes[d] = piece.axes[d]
        image.taps *= piece.axes[d].taps
        places *= piece.axes[d].places
    image.item = a.input.item
    image.image_stride = a.input.strides[0]
    image.channel_stride = a.input.strides[1]
    image.output_stride = a.output.strides[0]
    image.filter_stride = a.filter.strides[1 - across]
    to.image = image
    to.packed = NULL
    to.floats = NULL
    to.across = to.by_column = False
    to.item = a.output.item
    to.rows = a.output.sizes[1] // a.groups
    to.images = a.input.sizes[0]
    to.elements = to.rows * places
    to.biased = True
    to.columns = a.input.sizes[0] * places
    to.depth = channels * image.taps
    to.a = a.filter.data + piece.filter_start
    to.a_line = a.filter.strides[across]
    to.a_step = to.item if are_even(image, channels) else 0
    to.b = a.input.data
    to.b_line = to.b_step = 0
    to.c = NULL
    to.c_line = to.c_step = 0
    if a.added != NULL:
        to.c = a.added.data
        to.c_line = a.added.strides[1]
    to.alpha = to.beta = 1
    to.fused = a.fused
    to.followed = piece.followed
    to.y = a.output.data + piece.output_start
    to.y_line = a.output.strides[1]
    to.y_step = image.axes[2].output_stride
    to.batch_axes = 1
    to.batch[0] = a.groups
    to.a_batch[0] = (channels if a.backward else to.rows) * a.filter.strides[0]
    to.b_batch[0] = channels * a.input.strides[1]
    to.c_batch[0] = to.rows * to.c_line
    to.y_batch[0] = to.rows * to.y_line


# Lists the limits of all axes. Returns their memory; NULL: memory ran out.
cdef int64_t* take_limits(ProductImage* image) noexcept nogil:
    cdef int64_t* limits
    cdef int64_t* next_limits
    cdef int64_t bytes
    cdef int d
    bytes = 2 * (image.axes[0].taps + image.axes[1].taps + image.axes[2].taps) * <int64_t>sizeof(int64_t)
    limits = <int64_t*>malloc(bytes + 1)
    if limits == NULL:
        return NULL
    next_limits = limits
    for d in range(3):
        list_limits(&image.axes[d], next_limits, next_limits + image.axes[d].taps)
        next_limits += 2 * image.axes[d].taps
    return limits


# Computes some places of the output. `packed` is behind the filters that were packed for other places. -1: memory ran
# out.
cdef int run_piece(const Windows* a, Piece* piece, const char** packed) noexcept nogil:
    cdef ProductImage image
    cdef Products to
    cdef int64_t* limits
    cdef int64_t places
    cdef int status
    join_spatial(piece.axes)
    describe_piece(a, piece, &image, &to)
    limits = take_limits(&image)
    if limits == NULL:
        return -1
    choose_sums(&to)
    if packed != NULL and packed[0] != NULL:
        packed[0] += place_filters(&to, packed[0])
    to.after = NULL
    places = to.columns // to.images
    if places == 1 and image.taps == 1 and to.columns <= FLAT and is_inside(&image):
        turn_around(&to)
    elif is_matrix(&image) and (to.images == 1 or places >= LARGE):
        take_matrix(&to)
    take_stores(&to, a.output, to.y_step)
    choose_sums(&to)
    if to.image == NULL or to.across:
        status = run_products(&to)
    elif is_depthwise(&to):
        status = run_planes(&to) if are_planes(&to) else run_depthwise(&to)
    elif are_spread(&to):
        status = run_spread(&to)
    else:
        status = run_products(&to)
    free(limits)
    return status


# The elements that OutputPadding appends.
cdef int run_appended(const Windows* a, const Spatial* axes) noexcept nogil:
    cdef Piece piece
    cdef int d, other
    cdef int64_t first, last
    for d in range(3):
        if axes[d].appended == 0:
            continue
        piece.filter_start = piece.output_start = 0
        piece.followed = NULL
        for other in range(3):
            first = axes[other].output - axes[other].appended if other == d else 0
            last = axes[other].output - axes[other].appended if other < d else axes[other].output
            take_rest(&axes[other], first, last - first, &piece.axes[other])
            piece.output_start += first * axes[other].output_stride
        if run_piece(a, &piece, NULL):
            return -1
    return 0


# The remainders along each axis that are computed one by one.
cdef inline void count_turns(const Windows* a, const Spatial* axes, int64_t* turns) noexcept nogil:
    cdef int d
    for d in range(3):
        turns[d] = min(axes[d].stride, axes[d].output) if a.backward else 1


# The places of one remainder modulo the strides, along each axis; or all places.
cdef void take_remainder(const Windows* a, const Spatial* axes, const int64_t* turn, Piece* piece) noexcept nogil:
    cdef int64_t tap
    cdef int d
    piece.filter_start = piece.output_start = 0
    for d in range(3):
        tap = take_places(&axes[d], a.backward, turn[d], &piece.axes[d])
        piece.filter_start += axes[d].filter_start
        if piece.axes[d].taps > 0:
            piece.filter_start += tap * axes[d].filter_stride
        piece.output_start += turn[d] * axes[d].output_stride


# Describes all remainders that are computed together; those of fewer places have as many as the others.
cdef void describe_remainders(const Windows* a, const Spatial* axes, const ProductAxis* shifts, Merged* merged,
                              ProductImage* images) noexcept nogil:
    cdef Products all_shifts
    cdef Piece piece
    cdef int64_t turn[3]
    cdef int64_t i
    cdef int d
    merged.axes = axes
    merged.image = &images[REMAINDERS]
    merged.count = 0
    merged.channels = a.input.sizes[1] // a.groups
    for d in range(3):
        merged.turns[d] = min(axes[d].stride, axes[d].output)
        piece.axes[d] = shifts[d]
    piece.filter_start = piece.output_start = 0
    piece.followed = NULL
    describe_piece(a, &piece, &images[REMAINDERS], &all_shifts)
    for turn[0] in range(merged.turns[0]):
        for turn[1] in range(merged.turns[1]):
            for turn[2] in range(merged.turns[2]):
                i = merged.count
                take_remainder(a, axes, turn, &piece)
                for d in range(3):
                    piece.axes[d].places = shifts[d].places
                describe_piece(a, &piece, &images[i], &merged.pieces[i])
                choose_sums(&merged.pieces[i])
                merged.pieces[i].y = a.output.data
                merged.count += 1
    plan_merged(merged)


# Computes all remainders together. -1: memory ran out.
cdef int run_all_remainders(const Windows* a, const Spatial* axes, const ProductAxis* shifts,
                            Merged* merged) noexcept nogil:
    cdef Products pieces[REMAINDERS]
    cdef ProductImage images[REMAINDERS + 1]
    cdef int64_t* limits[REMAINDERS + 1]
    cdef int64_t i
    cdef int status = 0
    merged.pieces = pieces
    describe_remainders(a, axes, shifts, merged, images)
    pieces[0].followed = a.output
    take_stores(pieces, a.output, axes[2].output_stride)
    limits[REMAINDERS] = take_limits(&images[REMAINDERS])
    for i in range(merged.count):
        limits[i] = take_limits(&images[i])
        status = -1 if limits[i] == NULL else status
    if status == 0 and limits[REMAINDERS] != NULL:
        status = run_merged(merged, <const float*>a.filter.prepared)
    else:
        status = -1
    for i in range(merged.count):
        free(limits[i])
    free(limits[REMAINDERS])
    return status


cdef int run_windows_of_products(const Windows* a) noexcept nogil:
    cdef Spatial axes[3]
    cdef ProductAxis shifts[3]
    cdef Merged merged
    cdef Piece piece
    cdef int64_t turn[3]
    cdef int64_t turns[3]
    cdef const char* packed = <const char*>a.filter.prepared
    collect_spatial(a, axes)
    if are_merged(a, axes, shifts, &merged):
        return run_all_remainders(a, axes, shifts, &merged)
    # Backwards, the places of a remainder are far from one another.
    count_turns(a, axes, turns)
    piece.followed = a.output
    for d in range(3):
        if turns[d] > 1 or axes[d].appended > 0:
            piece.followed = NULL
    for turn[0] in range(turns[0]):
        for turn[1] in range(turns[1]):
            for turn[2] in range(turns[2]):
                take_remainder(a, axes, turn, &piece)
                if run_piece(a, &piece, &packed):
                    return -1
    return run_appended(a, axes)
