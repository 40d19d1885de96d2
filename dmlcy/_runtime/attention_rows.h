/* The loops of attention.h for one level; DMLCY_LEVEL names them, DMLCY_TARGET declares them. */

/* e^x for x <= 0, and 0 below DMLCY_LEAST_SCORE: no weight is a denormal number. The last sum keeps a NaN. */
DMLCY_TARGET DMLCY_INLINE float DMLCY_LEVEL(dmlcy_weight_of)(float x)
{
    const float weight = dmlcy_exp_ordinary(DMLCY_FUSED, dmlcy_at_least(x, DMLCY_LEAST_SCORE));
    return x < DMLCY_LEAST_SCORE ? 0.0f : weight + (x - x);
}

DMLCY_TARGET static float DMLCY_LEVEL(dmlcy_weight)(float score)
{
    return DMLCY_LEVEL(dmlcy_weight_of)(score);
}

DMLCY_TARGET static float DMLCY_LEVEL(dmlcy_weigh)(float *scores, float greatest, int64_t n)
{
    float sums[DMLCY_SCORES] = {0};
    int64_t i, j;
    for (i = n; i % DMLCY_SCORES; i++)
        scores[i] = -INFINITY;
    for (i = 0; i < n; i += DMLCY_SCORES) {
        float weights[DMLCY_SCORES];
        for (j = 0; j < DMLCY_SCORES; j++) {
            const float weight = DMLCY_LEVEL(dmlcy_weight_of)(scores[i + j] - greatest);
            weights[j] = weight;
            sums[j] += weight;
        }
        memcpy(scores + i, weights, sizeof weights);
    }
    for (i = DMLCY_SCORES / 2; i > 0; i /= 2)
        for (j = 0; j < i; j++)
            sums[j] += sums[j + i];
    return sums[0];
}

#define DMLCY_MOST(number)                                                                                             \
    for (i = 0; i + 64 <= n; i += 64)                                                                                  \
        for (j = 0; j < 64; j++) {                                                                                     \
            const float score = (number);                                                                              \
            most[j] = score > most[j] ? score : most[j];                                                               \
        }                                                                                                              \
    for (j = 0; i + j < n; j++) {                                                                                      \
        const float score = (number);                                                                                  \
        most[j] = score > most[j] ? score : most[j];                                                                   \
    }

DMLCY_TARGET static float DMLCY_LEVEL(dmlcy_greatest)(float *scores, const float *added, const float *masks, int64_t n)
{
    float most[64];
    int64_t i, j;
    for (j = 0; j < 64; j++)
        most[j] = -INFINITY;
    if (added && masks) {
        DMLCY_MOST(scores[i + j] = (scores[i + j] + added[i + j]) + masks[i + j])
    } else if (added || masks) {
        const float *const one = added ? added : masks;
        DMLCY_MOST(scores[i + j] = scores[i + j] + one[i + j])
    } else {
        DMLCY_MOST(scores[i + j])
    }
    for (i = 32; i > 0; i /= 2)
        for (j = 0; j < i; j++)
            most[j] = most[j + i] > most[j] ? most[j + i] : most[j];
    return most[0];
}

#undef DMLCY_MOST

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_choose)(const int32_t *mask, float masked, float *to, int64_t n)
{
    int64_t i;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++)
        to[i] = mask[i] == 0 ? masked : 0.0f;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_scale_row)(float *x, float factor, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        x[i] *= factor;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_divide_row)(float *x, float divisor, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        x[i] /= divisor;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_prepare_row)(float *x, const float *bias, float factor, int64_t n)
{
    int64_t i;
    if (bias)
        for (i = 0; i < n; i++)
            x[i] = (x[i] + bias[i]) * factor;
    else if (factor != 1.0f)
        DMLCY_LEVEL(dmlcy_scale_row)(x, factor, n);
}

DMLCY_TARGET static int DMLCY_LEVEL(dmlcy_are_finite)(const float *x, int64_t n)
{
    uint32_t special = 0;
    int64_t i;
    for (i = 0; i < n; i++)
        special |= (dmlcy_bits_of(x[i]) & DMLCY_INFINITE) + (1u << 23);
    return !(special >> 31);
}

DMLCY_TARGET static int DMLCY_LEVEL(dmlcy_find_special)(
    const float *rows, int64_t step, int64_t n, int64_t size, uint8_t *special)
{
    int any = 0;
    int64_t i;
    for (i = 0; i < n; i++) {
        dmlcy_ask_ahead(rows + i * step, DMLCY_ROWS_AHEAD * step * 4, size * 4);
        special[i] = (uint8_t)!DMLCY_LEVEL(dmlcy_are_finite)(rows + i * step, size);
        any |= special[i];
    }
    return any;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_dots)(
    const float *query, const float *rows, int64_t step, int64_t n, int64_t size, float *scores)
{
    const int fused = DMLCY_FUSED;
    int64_t k, i, j;
    for (k = 0; k < n; k++, rows += step) {
        float sums[DMLCY_SCORES] = {0};
        dmlcy_ask_ahead(rows, DMLCY_ROWS_AHEAD * step * 4, size * 4);
        for (i = 0; i + DMLCY_SCORES <= size; i += DMLCY_SCORES)
            for (j = 0; j < DMLCY_SCORES; j++)
                sums[j] = DMLCY_NEAR(query[i + j], rows[i + j], sums[j]);
        for (j = 0; i + j < size; j++)
            sums[j] = DMLCY_NEAR(query[i + j], rows[i + j], sums[j]);
        for (i = DMLCY_SCORES / 2; i > 0; i /= 2)
            for (j = 0; j < i; j++)
                sums[j] += sums[j + i];
        scores[k] = sums[0];
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_add_rows)(
    const float *weights, const float *rows, int64_t step, int64_t n, int64_t size, float *results)
{
    const int fused = DMLCY_FUSED;
    int64_t k = 0, i;
    for (; k + 4 <= n; k += 4) {
        const float *const a = rows + k * step, *const b = a + step, *const c = b + step, *const d = c + step;
        const float w = weights[k], x = weights[k + 1], y = weights[k + 2], z = weights[k + 3];
        DMLCY_APART_EACH
        for (i = 0; i < size; i++)
            results[i] = DMLCY_NEAR(z, d[i], DMLCY_NEAR(y, c[i], DMLCY_NEAR(x, b[i], DMLCY_NEAR(w, a[i], results[i]))));
    }
    for (; k < n; k++) {
        const float *const a = rows + k * step;
        const float w = weights[k];
        DMLCY_APART_EACH
        for (i = 0; i < size; i++)
            results[i] = DMLCY_NEAR(w, a[i], results[i]);
    }
}

static const AttentionLevel DMLCY_LEVEL(dmlcy_attention) = {
    DMLCY_LEVEL(dmlcy_greatest),     DMLCY_LEVEL(dmlcy_choose),      DMLCY_LEVEL(dmlcy_weigh),
    DMLCY_LEVEL(dmlcy_weight),       DMLCY_LEVEL(dmlcy_scale_row),   DMLCY_LEVEL(dmlcy_divide_row),
    DMLCY_LEVEL(dmlcy_prepare_row),  DMLCY_LEVEL(dmlcy_are_finite),  DMLCY_LEVEL(dmlcy_find_special),
    DMLCY_LEVEL(dmlcy_dots),         DMLCY_LEVEL(dmlcy_add_rows),
};
