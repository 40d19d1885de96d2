# The places of elements along an axis, and which elements of the input each place takes.

# An axis of the operator, or of that whose gradient it is: `size` elements, and `count` places between them.
cdef struct Places:
    int64_t size
    int64_t count
    int64_t whole                   # the factor by which places are as in exact arithmetic; 0: places are of FLOAT32
    float factor
    float before
    float after


cdef struct ResampleAxis:
    int number                      # of the axis in the tensors
    int64_t size                    # of the input, and of the output
    int64_t count
    bint smooth                     # a place takes all elements near it
    Places places

cdef struct ResamplePlan:
    const Resampling* given
    bint moves                      # elements only move
    int axes                        # that have other places in the output
    ResampleAxis axis[MAX_RANK]


cdef inline bint is_same(const Places* p) noexcept nogil:
    cdef bint offsets = p.before == 0.5 and p.after == -0.5 or p.before == 0 and p.after == 0
    if p.size != p.count:
        return False
    return p.whole == 1 if p.whole > 0 else p.factor == 1 and offsets


# The element before the place of element i, and how far the place is behind it. Of places beyond the ends those there.
cdef inline int64_t place_of(const Places* p, int64_t i, double* rest) noexcept nogil:
    cdef float number
    cdef double place
    cdef int64_t low
    if p.whole > 0:
        low = 2 * i + 1 - p.whole
        rest[0] = <double> floor_mod(low, 2 * p.whole) / <double> (2 * p.whole)
        return (low - floor_mod(low, 2 * p.whole)) // (2 * p.whole)
    place = flat_place(p, i)
    if not place > 0:
        place = 0
    elif place > p.size - 1:
        place = p.size - 1
    low = <int64_t> place
    rest[0] = place - low
    return low


# The place of element i, in FLOAT32, step by step.
cdef inline double flat_place(const Places* p, int64_t i) noexcept nogil:
    cdef float number = <float> i
    number = number - p.after
    number = number / p.factor
    number = number - p.before
    return number


cdef inline int64_t inside(int64_t place, int64_t size) noexcept nogil:
    return min(max(place, 0), size - 1)


cdef inline int64_t nearest_of(const Places* p, int nearest, int64_t i) noexcept nogil:
    cdef double rest
    cdef int64_t low = place_of(p, i, &rest)
    if nearest == NEAREST_LOWER:
        low += rest > 0.5
    elif nearest == NEAREST_HIGHER:
        low += rest >= 0.5
    elif nearest == NEAREST_NEXT:
        low += rest > 0
    return inside(low, p.size)


# Sums of the weights of whole numbers around a place: 1 there, and less by `factor` for each step away, down to 0.
cdef struct Slopes:
    double place
    double factor
    double total


# Of the numbers at this distance and farther away, to the same side.
cdef inline double side_of(double factor, double distance) noexcept nogil:
    cdef double count = max(ceil(1 / factor - distance), <double> 0)
    return count - factor * (count * distance + count * (count - 1) / 2)


# Of this number and all less than it.
cdef inline double up_to(const Slopes* s, double number) noexcept nogil:
    if s.place < number:
        return s.total - side_of(s.factor, max(number + 1 - s.place, <double> 0))
    return side_of(s.factor, max(s.place - number, <double> 0))


# Of all numbers greater than this one.
cdef inline double beyond(const Slopes* s, double number) noexcept nogil:
    if s.place < number + 1:
        return side_of(s.factor, max(number + 1 - s.place, <double> 0))
    return s.total - side_of(s.factor, max(s.place - number, <double> 0))


cdef inline double near_place(const Places* p, int64_t i) noexcept nogil:
    cdef double reach = 1 / <double> p.factor
    cdef double place = flat_place(p, i)
    if not place > -2 * reach:
        return -2 * reach
    return min(place, p.size - 1 + 2 * reach)


# The first and the last element that a place takes. `rest`: of two how far the place is behind the first one.
cdef inline void ends_of(const ResampleAxis* axis, const Resampling* a, int64_t i, int64_t* first, int64_t* last,
                         double* rest) noexcept nogil:
    cdef const Places* p = &axis.places
    cdef double place, reach
    if not a.linear:
        first[0] = last[0] = nearest_of(p, a.nearest, i)
    elif axis.smooth:
        place = near_place(p, i)
        reach = 1 / <double> p.factor
        first[0] = <int64_t> min(max(floor(place - reach), <double> 0), <double> (p.size - 1))
        last[0] = <int64_t> min(max(ceil(place + reach), <double> 0), <double> (p.size - 1))
    else:
        first[0] = place_of(p, i, rest)
        last[0] = inside(first[0] + (rest[0] > 0), p.size)
        first[0] = inside(first[0], p.size)


# The taps of element i that count, of the elements first … last: all that are less than 1 / factor away, the ends
# repeated without end.
cdef int64_t smooth_taps(const Places* p, int64_t i, int64_t first, int64_t last, int64_t* source,
                         double* weight) noexcept nogil:
    cdef double low, scaled, found
    cdef int64_t k, count = 0
    cdef Slopes s
    s.place = near_place(p, i)
    s.factor = p.factor
    low = floor(s.place)
    s.total = side_of(s.factor, s.place - low) + side_of(s.factor, low + 1 - s.place)
    scaled = s.place * s.factor
    for k in range(first, last + 1):
        if p.size == 1:
            found = s.total
        elif k == 0:
            found = up_to(&s, 0)
        elif k == p.size - 1:
            found = beyond(&s, <double> (p.size - 2))
        else:
            found = max(min(1 - scaled + k * s.factor, 1 + scaled - k * s.factor), <double> 0)
        found = found / s.total
        if found != 0:
            source[count] = k
            weight[count] = found
            count += 1
    return count


# The taps of element i whose elements are low … high-1.
cdef inline int64_t taps_of(const ResampleAxis* axis, const Resampling* a, int64_t i, int64_t low, int64_t high,
                            int64_t* source, double* weight) noexcept nogil:
    cdef int64_t first, last, count = 0
    cdef double rest = 0
    ends_of(axis, a, i, &first, &last, &rest)
    if axis.smooth:
        return smooth_taps(&axis.places, i, max(first, low), min(last, high - 1), source, weight)
    if low <= first < high:
        source[0] = first
        weight[0] = 1 - rest if first < last else 1
        count = 1
    if first < last and low <= last < high:
        source[count] = last
        weight[count] = rest
        count += 1
    return count
