/* The loops of sample_loops.h for one level of isa.h; DMLCY_LEVEL names them, DMLCY_TARGET declares them. */
#define DMLCY_HALVES_AT_ONCE 256
#define DMLCY_ROWS_AHEAD 8192 /* bytes */

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_load)(
    int dtype, const char *source, int64_t step, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i, j, block;
    if (dtype == DMLCY_FLOAT32) {
        if (step == sizeof(float)) {
            DMLCY_IN_STEPS(target[i] = ((const float *)source)[i];)
        } else
            for (i = 0; i < n; i++)
                target[i] = *(const float *)(source + i * step);
    } else if (dtype == DMLCY_FLOAT16) {
        float some[DMLCY_HALVES_AT_ONCE];
        for (i = 0; i < n; i += DMLCY_HALVES_AT_ONCE) {
            const int64_t count = n - i < DMLCY_HALVES_AT_ONCE ? n - i : DMLCY_HALVES_AT_ONCE;
            dmlcy_half_to_float((const uint16_t *)(source + i * step), (ptrdiff_t)step, some, (size_t)count);
            for (j = 0; j < count; j++)
                target[i + j] = some[j];
        }
    } else if (dtype == DMLCY_INT8) {
        for (i = 0; i < n; i++)
            target[i] = *(const int8_t *)(source + i * step);
    } else {
        for (i = 0; i < n; i++)
            target[i] = *(const uint8_t *)(source + i * step);
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_store)(
    int dtype, const double *source, double zero, char *target, int64_t step, int64_t n)
{
    int64_t i, j, block;
    if (dtype == DMLCY_FLOAT32) {
        if (step == sizeof(float)) {
            float *DMLCY_RESTRICT const row = (float *)target;
            DMLCY_IN_STEPS(row[i] = (float)(source[i] + zero);)
        } else {
            for (i = 0; i < n; i++)
                *(float *)(target + i * step) = (float)(source[i] + zero);
        }
    } else if (dtype == DMLCY_FLOAT16) {
        float some[DMLCY_HALVES_AT_ONCE];
        for (i = 0; i < n; i += DMLCY_HALVES_AT_ONCE) {
            const int64_t count = n - i < DMLCY_HALVES_AT_ONCE ? n - i : DMLCY_HALVES_AT_ONCE;
            for (j = 0; j < count; j++)
                some[j] = dmlcy_odd(source[i + j] + zero);
            dmlcy_float_to_half(some, (uint16_t *)(target + i * step), (ptrdiff_t)step, (size_t)count);
        }
    } else {
        for (i = 0; i < n; i++)
            *(uint8_t *)(target + i * step) = (uint8_t)(int32_t)(float)source[i];
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_times)(
    const double *a, double weight, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(target[i] = weight * a[i];)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_plus)(
    const double *a, double weight, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        target[i] += weight * a[i];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_blend)(
    const double *a, double first, const double *b, double second, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(target[i] = first * a[i] + second * b[i];)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_blend_floats)(
    const double *a, double first, const double *b, double second, double zero, float *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(target[i] = (float)(first * a[i] + second * b[i] + zero);)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_fours)(
    const float *first, const float *second, double zero, float *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i, block;
    dmlcy_ask_ahead(first, DMLCY_ROWS_AHEAD, 2 * n * (int64_t)sizeof(float));
    dmlcy_ask_ahead(second, DMLCY_ROWS_AHEAD, 2 * n * (int64_t)sizeof(float));
    DMLCY_IN_STEPS(const double left = (double)first[2 * i] + second[2 * i];
                   const double right = (double)first[2 * i + 1] + second[2 * i + 1];
                   target[i] = (float)(left + right + zero);)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_add)(const double *a, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        target[i] += a[i];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_sum)(
    const double *a, const double *b, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i, block;
    DMLCY_IN_STEPS(target[i] = a[i] + b[i];)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_sum_four)(
    const double *const *rows, double *DMLCY_RESTRICT target, int64_t n)
{
    const double *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
    int64_t i, block;
    DMLCY_IN_STEPS(target[i] = a[i] + b[i] + c[i] + d[i];)
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_slide)(
    const double *DMLCY_RESTRICT row, double *DMLCY_RESTRICT before, const double *DMLCY_RESTRICT behind,
    float *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++) {
        const double sum = before[i] + row[i];
        before[i] = sum;
        target[i] = (float)(behind[i] + sum + 0.0);
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_scale)(
    const double *DMLCY_RESTRICT each, double weight, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        target[i] = target[i] * (weight * each[i]);
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_take)(
    const double *a, const int64_t *at, const double *b, const int64_t *also, double *DMLCY_RESTRICT target, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        target[i] = a[at[i]] + b[also[i]];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_along)(
    const SampleTaps *taps, int64_t first, int64_t end, const double *row, int64_t start, double *target)
{
    int64_t t, k;
    for (t = first; t < end; t++) {
        const int64_t last = taps->begin[t + 1];
        double sum = 0;
        k = taps->begin[t];
        if (k < last) {
            sum = taps->weight[k] * row[taps->source[k] - start];
            for (k++; k < last; k++)
                sum += taps->weight[k] * row[taps->source[k] - start];
        }
        target[t - first] = sum;
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_sample_along_pairs)(
    const SamplePairs *pairs, int64_t first, int64_t end, const double *row, int64_t start, double *target)
{
    int64_t b, i;
    for (b = first; b < end; b++) {
        const int64_t at = b * DMLCY_PAIR_BLOCK;
        const double *const source = row + (pairs->base[b] - start);
        double *const sums = target + (at - first * DMLCY_PAIR_BLOCK);
        for (i = 0; i < DMLCY_PAIR_BLOCK; i++)
            sums[i] = pairs->first[at + i] * source[pairs->low[at + i]] +
                      pairs->second[at + i] * source[pairs->high[at + i]];
    }
}

#undef DMLCY_HALVES_AT_ONCE
#undef DMLCY_ROWS_AHEAD
