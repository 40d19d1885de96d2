/* The loops of sum_loops.h for one level of isa.h; DMLCY_LEVEL names them, DMLCY_TARGET declares them. */
#define DMLCY_HALVES_AT_ONCE 256
#define DMLCY_WHOLE 0x1.8p23f /* added and taken away again, it rounds to a whole number, halves to the even one */

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_keys_of)(
    const float *DMLCY_RESTRICT source, int32_t *DMLCY_RESTRICT keys, int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(keys[i] = dmlcy_sum_key(source[i]);)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_keys)(
    int dtype, const char *source, int64_t step, int32_t *keys, int64_t n)
{
    float some[DMLCY_HALVES_AT_ONCE];
    int64_t i, j;
    if (dtype == DMLCY_FLOAT32 && step == sizeof(float)) {
        DMLCY_LEVEL(dmlcy_sum_keys_of)((const float *)source, keys, n);
        return;
    }
    for (i = 0; i < n; i += DMLCY_HALVES_AT_ONCE) {
        const int64_t count = n - i < DMLCY_HALVES_AT_ONCE ? n - i : DMLCY_HALVES_AT_ONCE;
        if (dtype == DMLCY_FLOAT32)
            for (j = 0; j < count; j++)
                some[j] = *(const float *)(source + (i + j) * step);
        else
            dmlcy_half_to_float((const uint16_t *)(source + i * step), (ptrdiff_t)step, some, (size_t)count);
        DMLCY_LEVEL(dmlcy_sum_keys_of)(some, keys + i, count);
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_greater)(
    const int32_t *DMLCY_RESTRICT keys, int32_t row, int32_t *DMLCY_RESTRICT best, int32_t *DMLCY_RESTRICT rows,
    int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(const int32_t key = keys[i]; const int32_t old = best[i]; const int32_t at = rows[i];
                   rows[i] = key > old ? row : at; best[i] = key > old ? key : old;)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_greater_floats)(
    const float *DMLCY_RESTRICT source, int32_t row, int32_t *DMLCY_RESTRICT best, int32_t *DMLCY_RESTRICT rows,
    int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(const int32_t key = dmlcy_sum_key(source[i]); const int32_t old = best[i];
                   const int32_t at = rows[i]; rows[i] = key > old ? row : at; best[i] = key > old ? key : old;)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_placed)(
    const int32_t *DMLCY_RESTRICT best, const int32_t *DMLCY_RESTRICT rows, int bits, int64_t *DMLCY_RESTRICT keys,
    int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(const uint32_t place = (uint32_t)rows[i] << bits | (uint32_t)i;
                   keys[i] = (int64_t)best[i] * ((int64_t)1 << 32) + (int64_t)~place;)
}

DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_sum_columns_of)(
    const char *source, int64_t step, int32_t rows, int bits, int64_t *keys, int64_t first, const int lanes)
{
    int32_t best[DMLCY_STEPS], at[DMLCY_STEPS], row;
    int j;
    DMLCY_APART_EACH
    for (j = 0; j < lanes; j++) {
        best[j] = dmlcy_sum_key(((const float *)source)[first + j]);
        at[j] = 0;
    }
    for (row = 1; row < rows; row++) {
        const float *const next = (const float *)(source + row * step) + first;
        DMLCY_APART_EACH
        for (j = 0; j < lanes; j++) {
            const int32_t key = dmlcy_sum_key(next[j]), old = best[j], place = at[j];
            at[j] = key > old ? row : place;
            best[j] = key > old ? key : old;
        }
    }
    DMLCY_APART_EACH
    for (j = 0; j < lanes; j++) {
        const uint32_t place = (uint32_t)at[j] << bits | (uint32_t)(first + j);
        keys[first + j] = (int64_t)best[j] * ((int64_t)1 << 32) + (int64_t)~place;
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_columns)(
    const char *source, int64_t step, int32_t rows, int bits, int64_t *keys, int64_t n)
{
    int64_t i, block;
    if (n < DMLCY_STEPS) {
        for (i = 0; i < n; i++)
            DMLCY_LEVEL(dmlcy_sum_columns_of)(source, step, rows, bits, keys, i, 1);
        return;
    }
    for (i = 0; i < n; i += DMLCY_STEPS) {
        block = i > n - DMLCY_STEPS ? n - DMLCY_STEPS : i;
        DMLCY_LEVEL(dmlcy_sum_columns_of)(source, step, rows, bits, keys, block, DMLCY_STEPS);
    }
}

/* Of `lanes` windows along a row, whose keys begin `step` apart. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_sum_most_of)(
    const int64_t *keys, int64_t step, int64_t dilation, int64_t taps, int64_t *best, const int lanes)
{
    int64_t most[DMLCY_STEPS], tap;
    int j;
    DMLCY_APART_EACH
    for (j = 0; j < lanes; j++)
        most[j] = keys[j * step];
    for (tap = 1; tap < taps; tap++) {
        const int64_t *const next = keys + tap * dilation;
        DMLCY_APART_EACH
        for (j = 0; j < lanes; j++)
            most[j] = next[j * step] > most[j] ? next[j * step] : most[j];
    }
    DMLCY_APART_EACH
    for (j = 0; j < lanes; j++)
        best[j] = most[j];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_most_inside)(
    const int64_t *keys, int64_t step, int64_t dilation, int64_t taps, int64_t *best, int64_t n)
{
    int64_t i, block;
    if (n < DMLCY_STEPS || step > 2) {
        for (i = 0; i < n; i++)
            DMLCY_LEVEL(dmlcy_sum_most_of)(keys + step * i, step, dilation, taps, best + i, 1);
        return;
    }
    for (i = 0; i < n; i += DMLCY_STEPS) {
        block = i > n - DMLCY_STEPS ? n - DMLCY_STEPS : i;
        if (step == 1)
            DMLCY_LEVEL(dmlcy_sum_most_of)(keys + block, 1, dilation, taps, best + block, DMLCY_STEPS);
        else
            DMLCY_LEVEL(dmlcy_sum_most_of)(keys + 2 * block, 2, dilation, taps, best + block, DMLCY_STEPS);
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_most)(
    const int64_t *DMLCY_RESTRICT keys, int64_t step, int64_t *DMLCY_RESTRICT best, int64_t n)
{
    int64_t i, block;
    if (step == 1) {
        DMLCY_IN_STEPS(best[i] = keys[i] > best[i] ? keys[i] : best[i];)
    } else if (step == 2) {
        DMLCY_IN_STEPS(best[i] = keys[2 * i] > best[i] ? keys[2 * i] : best[i];)
    } else
        for (i = 0; i < n; i++)
            best[i] = keys[step * i] > best[i] ? keys[step * i] : best[i];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_give)(
    const int64_t *keys, const double *numbers, double *sums, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        if (keys[i] != INT64_MIN)
            sums[(uint32_t)~(uint64_t)keys[i]] += numbers[i];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_give_floats)(
    const int64_t *keys, int bits, const float *numbers, char *target, int64_t row, int64_t column, int64_t n)
{
    const uint32_t mask = ((uint32_t)1 << bits) - 1;
    int64_t i;
    for (i = 0; i < n; i++) {
        const uint32_t place = (uint32_t)~(uint64_t)keys[i];
        if (keys[i] != INT64_MIN)
            *(float *)(target + (place >> bits) * row + (place & mask) * column) = numbers[i] + 0.0f;
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_fours)(
    const float *first, const float *second, const float *DMLCY_RESTRICT numbers, float *DMLCY_RESTRICT above,
    float *DMLCY_RESTRICT below, int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(const int32_t a = dmlcy_sum_key(first[2 * i]); const int32_t b = dmlcy_sum_key(first[2 * i + 1]);
                   const int32_t c = dmlcy_sum_key(second[2 * i]); const int32_t d = dmlcy_sum_key(second[2 * i + 1]);
                   const int32_t upper = b > a ? b : a; const int32_t lower = d > c ? d : c;
                   const float number = numbers[i] + 0.0f; const float up = lower > upper ? 0.0f : number;
                   const float down = lower > upper ? number : 0.0f; above[2 * i] = b > a ? 0.0f : up;
                   above[2 * i + 1] = b > a ? up : 0.0f; below[2 * i] = d > c ? 0.0f : down;
                   below[2 * i + 1] = d > c ? down : 0.0f;)
}

#define DMLCY_COUNTED(type)                                                                                            \
    if (step == 1)                                                                                                     \
        for (i = 0; i < n; i++)                                                                                        \
            sums[i] += sign * ((const type *)source)[i];                                                               \
    else                                                                                                               \
        for (i = 0; i < n; i++)                                                                                        \
            sums[i] += sign * *(const type *)(source + i * step);

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_count)(
    int is_signed, const char *source, int64_t step, int32_t sign, int32_t *DMLCY_RESTRICT sums, int64_t n)
{
    int64_t i;
    if (is_signed) {
        DMLCY_COUNTED(int8_t)
    } else {
        DMLCY_COUNTED(uint8_t)
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_twos)(
    int is_signed, const char *first, const char *second, double *DMLCY_RESTRICT sums, int64_t n)
{
    const uint8_t *const above = (const uint8_t *)first, *const below = (const uint8_t *)second;
    const int32_t half = is_signed ? 128 : 0; /* signed bytes are shifted, so that none is negative */
    int64_t i, block;
    DMLCY_IN_STEPS(sums[i] = ((above[2 * i] ^ half) + (above[2 * i + 1] ^ half) + (below[2 * i] ^ half) +
                              (below[2 * i + 1] ^ half) - 4 * half);)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_widen)(const int32_t *sums, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        target[i] += sums[i];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_plus)(
    const double *sums, int64_t step, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i;
    if (step == 1)
        for (i = 0; i < n; i++)
            target[i] += sums[i];
    else if (step == 2)
        for (i = 0; i < n; i++)
            target[i] += sums[2 * i];
    else
        for (i = 0; i < n; i++)
            target[i] += sums[step * i];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_divide)(
    const SumQuotients *work, int64_t from, float *DMLCY_RESTRICT results, int64_t n)
{
    const double taken = work->taken, scale = work->scale, divisor = work->divisor;
    const double *DMLCY_RESTRICT const sums = work->sums + from, *DMLCY_RESTRICT const counts = work->counts + from;
    const double *DMLCY_RESTRICT const divisors = work->divisors + from;
    int64_t i, block;
    DMLCY_IN_STEPS(results[i] = (float)((sums[i] - taken * counts[i]) * scale / (divisors[i] * divisor));)
}

/* Results are within 1024 here, where floats have halves, and the data type has no more than 256 numbers. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_quantize)(
    const SumQuotients *work, const float *DMLCY_RESTRICT results, int32_t *DMLCY_RESTRICT whole, int64_t n)
{
    const float added = (float)work->added, least = (float)work->least, most = (float)work->most;
    int64_t i, block;
    DMLCY_IN_STEPS(float x = results[i]; const int32_t number = x == x; x = x > -1024 ? x : -1024;
                   x = x < 1024 ? x : 1024; x = (x + DMLCY_WHOLE) - DMLCY_WHOLE + added; x = x < least ? least : x;
                   x = x > most ? most : x; whole[i] = number ? (int32_t)x : 0;)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sum_quotients)(const SumQuotients *work)
{
    float results[DMLCY_HALVES_AT_ONCE];
    int32_t whole[DMLCY_HALVES_AT_ONCE];
    int64_t i, at;
    for (at = 0; at < work->size; at += DMLCY_HALVES_AT_ONCE) {
        const int64_t left = work->size - at, n = left < DMLCY_HALVES_AT_ONCE ? left : DMLCY_HALVES_AT_ONCE;
        uint8_t *const target = work->target + at * work->step;
        DMLCY_LEVEL(dmlcy_sum_divide)(work, at, results, n);
        DMLCY_LEVEL(dmlcy_sum_quantize)(work, results, whole, n);
        if (work->step == 1)
            for (i = 0; i < n; i++)
                target[i] = (uint8_t)whole[i];
        else
            for (i = 0; i < n; i++)
                target[i * work->step] = (uint8_t)whole[i];
    }
}

#undef DMLCY_HALVES_AT_ONCE
#undef DMLCY_WHOLE
#undef DMLCY_COUNTED
