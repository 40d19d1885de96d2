# Sums of gates that are no finite numbers, once more in double: no partial sum overflows.

# The terms of a sum of a gate. The terms of the state may be multiplied by a gate.
cdef struct Terms:
    const float* inputs             # a row
    const float* states             # a row; NULL: a row of another gate is multiplied, and not the sum
    double factor
    double more                     # of a peephole


cdef double term_of_bias(const Group* own, int64_t entry) noexcept nogil:
    cdef const Tensor* bias = own.to.a.bias
    if bias == NULL:
        return 0
    return element_of(row_at(bias, 0, 0, own.direction, entry), bias.item)


cdef double sum_along(const Tensor* matrix, int64_t direction, int64_t row, const float* numbers,
                      int64_t n) noexcept nogil:
    cdef const char* source = row_at(matrix, 0, direction, row, 0)
    cdef double total = 0
    cdef int64_t k
    for k in range(n):
        total += <double>numbers[k] * element_of(source + k * matrix.strides[3], matrix.item)
    return total


cdef double exact_sum(const Group* own, int gate, int64_t unit, const Terms* terms) noexcept nogil:
    cdef const Layer* to = own.to
    cdef int64_t row = gate * to.hidden + unit
    cdef double total = term_of_bias(own, row)
    cdef double state = term_of_bias(own, to.gates * to.hidden + row)
    total += sum_along(to.a.weight, own.direction, row, terms.inputs, to.inputs)
    state += sum_along(to.a.recurrence, own.direction, row, terms.states, to.hidden)
    return total + terms.factor * state + terms.more


cdef bint has_nan(const float* numbers, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        if isnan(numbers[i]):
            return True
    return False


# Computes the numbers of a gate of a part that are not finite again. `states`: the rows that its matrix is multiplied
# by; `factors`: what the product is multiplied by, or NULL; `seen`: what peepholes are multiplied by, or NULL.
cdef void mend(const Group* own, int gate, int64_t first, int64_t n, float* numbers, const float* states,
               const float* factors, const float* peepholes, const float* seen) noexcept nogil:
    cdef const Layer* to = own.to
    cdef Terms terms
    cdef int64_t row, i
    cdef float* line
    if to.loops.are_finite(numbers, own.rows * n):
        return
    for row in range(own.rows):
        line = numbers + row * n
        if own.step >= length_of(to, own.first + row) or to.loops.are_finite(line, n):
            continue
        terms.inputs = own.inputs + ((own.step - own.begin) * own.rows + row) * to.inputs
        terms.states = states + row * to.hidden
        if has_nan(terms.inputs, to.inputs) or has_nan(terms.states, to.hidden):
            continue
        for i in range(n):
            if not isfinite(line[i]):
                terms.factor = 1 if factors == NULL else factors[row * n + i]
                terms.more = 0 if seen == NULL else <double>peepholes[i] * seen[row * n + i]
                line[i] = <float>exact_sum(own, gate, first + i, &terms)
