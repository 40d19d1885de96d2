/* The kernels of products for one level; product_blocks.h includes them. */

/* A kernel of some rows and vectors. Four places, of every third row, address up to 12 rows. A compiler that may choose
 * makes more of them, which do not fit into the registers. */
#define DMLCY_KERNEL_OF(name, rows, vectors, steps, row, next, ahead, ask, load, take, put, gives, before, after)      \
    DMLCY_TARGET static gives DMLCY_LEVEL(name##_##rows##x##vectors)(                                                   \
        int64_t depth, const float *a, int64_t a_row, const float *b, steps, const float *from, int64_t from_row,      \
        float *to, int64_t to_row)                                                                                     \
    {                                                                                                                  \
        DMLCY_LEVEL(dmlcy_lanes) sums[rows][vectors], y[vectors];                                                      \
        const float *a0 = a, *a3 = (rows) > 3 ? a + 3 * a_row : a, *a6 = (rows) > 6 ? a + 6 * a_row : a;               \
        const float *a9 = (rows) > 9 ? a + 9 * a_row : a;                                                              \
        const int64_t asked = ahead;                                                                                   \
        int64_t k;                                                                                                     \
        int i, j;                                                                                                      \
        if (from) {                                                                                                    \
            DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                                  \
                DMLCY_UNROLL for (j = 0; j < (vectors); j++)                                                           \
                    sums[i][j] = load(from + i * from_row + j * DMLCY_VECTOR, j == (vectors) - 1);                     \
        } else {                                                                                                       \
            const DMLCY_LEVEL(dmlcy_lanes) zeros = {0};                                                                \
            DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                                  \
                DMLCY_UNROLL for (j = 0; j < (vectors); j++)                                                           \
                    sums[i][j] = zeros;                                                                                \
        }                                                                                                              \
        for (k = 0; k < depth; k++) {                                                                                  \
            DMLCY_KEEP(a0, a3, a6, a9)                                                                                 \
            DMLCY_UNROLL for (j = 0; j < (vectors); j++)                                                               \
                y[j] = take((row) + j * DMLCY_VECTOR, j == (vectors) - 1);                                             \
            DMLCY_UNROLL for (j = 0; j < (vectors); j++)                                                               \
                ask((row) + asked + j * DMLCY_VECTOR);                                                                 \
            DMLCY_UNROLL for (i = 0; i < (rows); i++) {                                                                \
                const float x = (i < 3 ? a0 : i < 6 ? a3 : i < 9 ? a6 : a9)[i % 3 * a_row];                            \
                DMLCY_UNROLL for (j = 0; j < (vectors); j++)                                                           \
                    sums[i][j] = DMLCY_ADD_PRODUCT(x, y[j], sums[i][j]);                                               \
            }                                                                                                          \
            a0++;                                                                                                      \
            a3++;                                                                                                      \
            a6++;                                                                                                      \
            a9++;                                                                                                      \
            next;                                                                                                      \
        }                                                                                                              \
        before(rows, vectors)                                                                                          \
        DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                                      \
            DMLCY_UNROLL for (j = 0; j < (vectors); j++)                                                               \
                put(to + i * to_row + j * DMLCY_VECTOR, sums[i][j], j == (vectors) - 1);                               \
        after;                                                                                                         \
    }

/* How far ahead columns are asked for: some rows where these are short, as packed ones are; else the next strip. */
#define DMLCY_AHEAD(vectors) (step <= DMLCY_STRIP ? 16 * step : (vectors) * DMLCY_VECTOR)
#define DMLCY_AT_ONCE(rows, vectors)
#define DMLCY_WHOLE(place, last) DMLCY_FROM(place)
#define DMLCY_PUT_WHOLE(place, x, last) DMLCY_AT(place) = (x)
#define DMLCY_KERNEL(rows, vectors)                                                                                    \
    DMLCY_KERNEL_OF(dmlcy_product, rows, vectors, int64_t step, b, b += step, DMLCY_AHEAD(vectors), DMLCY_ASK,              \
        DMLCY_WHOLE, DMLCY_WHOLE, DMLCY_PUT_WHOLE, void, DMLCY_AT_ONCE, (void)0)
#define DMLCY_KERNEL_AT(rows, vectors)                                                                                 \
    DMLCY_KERNEL_OF(                                                                                                   \
        dmlcy_spread, rows, vectors, const int64_t *at, b + at[k], (void)b, 0, (void), DMLCY_WHOLE, DMLCY_WHOLE,       \
        DMLCY_PUT_WHOLE, void, DMLCY_AT_ONCE, (void)0)
#define DMLCY_BY(rows, vectors) DMLCY_LEVEL(dmlcy_product_##rows##x##vectors)
#define DMLCY_AT_BY(rows, vectors) DMLCY_LEVEL(dmlcy_spread_##rows##x##vectors)

#if DMLCY_X86 && DMLCY_IS_WIDEST
/* Of the last vector, the first `some` columns are read and written. */
#define DMLCY_OWN ((__mmask16)((1u << some) - 1))
#define DMLCY_SOME(place, last) ((last) ? (DMLCY_LEVEL(dmlcy_lanes))dmlcy_masked(DMLCY_OWN, place) : DMLCY_FROM(place))
#define DMLCY_PUT_SOME(place, x, last)                                                                                 \
    if (last)                                                                                                          \
        dmlcy_masked_put(place, DMLCY_OWN, (__m512)(x));                                                               \
    else                                                                                                               \
        DMLCY_AT(place) = (x)
#define DMLCY_AND ,
#define DMLCY_KERNEL_SOME(rows, vectors)                                                                               \
    DMLCY_KERNEL_OF(                                                                                                   \
        dmlcy_some, rows, vectors, int64_t step DMLCY_AND int64_t some, b, b += step, DMLCY_AHEAD(vectors), DMLCY_ASK, \
        DMLCY_SOME, DMLCY_SOME, DMLCY_PUT_SOME, void, DMLCY_AT_ONCE, (void)0)
#define DMLCY_SOME_BY(rows, vectors) DMLCY_LEVEL(dmlcy_some_##rows##x##vectors)

/* The same of the last k: if all sums are finite, what is stored is within the limits, and the result is 0. */
#define DMLCY_LIMIT(rows, vectors)                                                                                     \
    __m512i largest = _mm512_setzero_si512();                                                                          \
    const __m512 least = _mm512_set1_ps(limits[0]), greatest = _mm512_set1_ps(limits[1]);                              \
    int odd;                                                                                                           \
    DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                                          \
        DMLCY_UNROLL for (j = 0; j < (vectors); j++)                                                                   \
            largest = _mm512_max_epu32(                                                                                \
                largest, _mm512_and_si512((__m512i)sums[i][j], _mm512_set1_epi32(0x7fffffff)));                        \
    odd = _mm512_cmpge_epu32_mask(largest, _mm512_set1_epi32(0x7f800000)) != 0;                                        \
    (void)some;                                                                                                        \
    if (!odd)                                                                                                          \
        DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                                      \
            DMLCY_UNROLL for (j = 0; j < (vectors); j++)                                                               \
                sums[i][j] = (DMLCY_LEVEL(dmlcy_lanes))_mm512_max_ps(                                                  \
                    _mm512_min_ps((__m512)sums[i][j], greatest), least);
#define DMLCY_LAST_STEPS int64_t step DMLCY_AND int64_t some DMLCY_AND const float *limits
#define DMLCY_KERNEL_LAST(rows, vectors)                                                                               \
    DMLCY_KERNEL_OF(                                                                                                   \
        dmlcy_last, rows, vectors, DMLCY_LAST_STEPS, b, b += step, DMLCY_AHEAD(vectors), DMLCY_ASK, DMLCY_WHOLE,       \
        DMLCY_WHOLE, DMLCY_PUT_WHOLE, int, DMLCY_LIMIT, return odd)                                                                 \
    DMLCY_KERNEL_OF(                                                                                                   \
        dmlcy_last_some, rows, vectors, DMLCY_LAST_STEPS, b, b += step, DMLCY_AHEAD(vectors), DMLCY_ASK, DMLCY_SOME,   \
        DMLCY_SOME, DMLCY_PUT_SOME, int, DMLCY_LIMIT, return odd)
#define DMLCY_LAST_BY(rows) {DMLCY_LEVEL(dmlcy_last_##rows##x1), DMLCY_LEVEL(dmlcy_last_##rows##x2)}
#define DMLCY_LAST_SOME_BY(rows) {DMLCY_LEVEL(dmlcy_last_some_##rows##x1), DMLCY_LEVEL(dmlcy_last_some_##rows##x2)}

DMLCY_KERNEL_LAST(12, 1)
DMLCY_KERNEL_LAST(12, 2)
DMLCY_KERNEL_LAST(8, 1)
DMLCY_KERNEL_LAST(8, 2)
DMLCY_KERNEL_LAST(4, 1)
DMLCY_KERNEL_LAST(4, 2)
DMLCY_KERNEL_LAST(2, 1)
DMLCY_KERNEL_LAST(2, 2)
DMLCY_KERNEL_LAST(1, 1)
DMLCY_KERNEL_LAST(1, 2)

DMLCY_KERNEL_SOME(12, 1)
DMLCY_KERNEL_SOME(12, 2)
DMLCY_KERNEL_SOME(8, 1)
DMLCY_KERNEL_SOME(8, 2)
DMLCY_KERNEL_SOME(4, 1)
DMLCY_KERNEL_SOME(4, 2)
DMLCY_KERNEL_SOME(2, 1)
DMLCY_KERNEL_SOME(2, 2)
DMLCY_KERNEL_SOME(1, 1)
DMLCY_KERNEL_SOME(1, 2)
#endif

#if DMLCY_X86 && DMLCY_IS_WIDEST
DMLCY_KERNEL(12, 1)
DMLCY_KERNEL(12, 2)
DMLCY_KERNEL(8, 1)
DMLCY_KERNEL(8, 2)
DMLCY_KERNEL(4, 1)
DMLCY_KERNEL(4, 2)
DMLCY_KERNEL(4, 4)
DMLCY_KERNEL(2, 1)
DMLCY_KERNEL(2, 2)
DMLCY_KERNEL(2, 4)
DMLCY_KERNEL(2, 8)
DMLCY_KERNEL(1, 1)
DMLCY_KERNEL(1, 2)
DMLCY_KERNEL(1, 4)
DMLCY_KERNEL(1, 8)
#elif DMLCY_X86 && DMLCY_IS_WIDE
DMLCY_KERNEL(6, 1)
DMLCY_KERNEL(6, 2)
DMLCY_KERNEL(4, 1)
DMLCY_KERNEL(4, 2)
DMLCY_KERNEL(2, 1)
DMLCY_KERNEL(2, 2)
DMLCY_KERNEL(2, 4)
DMLCY_KERNEL(1, 1)
DMLCY_KERNEL(1, 2)
DMLCY_KERNEL(1, 4)
DMLCY_KERNEL(1, 8)
#else
DMLCY_KERNEL(4, 1)
DMLCY_KERNEL(4, 3)
DMLCY_KERNEL(2, 1)
DMLCY_KERNEL(2, 3)
DMLCY_KERNEL(2, 4)
DMLCY_KERNEL(1, 1)
DMLCY_KERNEL(1, 3)
DMLCY_KERNEL(1, 4)
DMLCY_KERNEL(1, 8)
#endif

#if DMLCY_X86 && DMLCY_IS_WIDE
/* The same where columns are elements of two bytes, although `b` is no pointer to these. */
#if DMLCY_IS_WIDEST
#define DMLCY_OF_HALVES(place, last)                                                                                   \
    (DMLCY_LEVEL(dmlcy_lanes)) _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(place)))
#else
#define DMLCY_OF_HALVES(place, last) (DMLCY_LEVEL(dmlcy_lanes)) _mm256_cvtph_ps(_mm_loadu_si128((const void *)(place)))
#endif
#define DMLCY_KERNEL_HALVES(rows, vectors)                                                                             \
    DMLCY_KERNEL_OF(dmlcy_halves, rows, vectors, int64_t step, (const uint16_t *)b,                                    \
        b = (const float *)((const uint16_t *)b + step), DMLCY_AHEAD(vectors), DMLCY_ASK, DMLCY_WHOLE,                 \
        DMLCY_OF_HALVES, DMLCY_PUT_WHOLE, void, DMLCY_AT_ONCE, (void)0)
#define DMLCY_HALVES_BY(rows, vectors) DMLCY_LEVEL(dmlcy_halves_##rows##x##vectors)

#if DMLCY_IS_WIDEST
DMLCY_KERNEL_HALVES(12, 1)
DMLCY_KERNEL_HALVES(12, 2)
DMLCY_KERNEL_HALVES(8, 1)
DMLCY_KERNEL_HALVES(8, 2)
DMLCY_KERNEL_HALVES(4, 4)
#else
DMLCY_KERNEL_HALVES(6, 1)
DMLCY_KERNEL_HALVES(6, 2)
#endif
DMLCY_KERNEL_HALVES(4, 1)
DMLCY_KERNEL_HALVES(4, 2)
DMLCY_KERNEL_HALVES(2, 1)
DMLCY_KERNEL_HALVES(2, 2)
DMLCY_KERNEL_HALVES(2, 4)
DMLCY_KERNEL_HALVES(1, 1)
DMLCY_KERNEL_HALVES(1, 2)
DMLCY_KERNEL_HALVES(1, 4)
#endif

DMLCY_KERNEL_AT(4, 1)
DMLCY_KERNEL_AT(2, 1)
DMLCY_KERNEL_AT(1, 1)
#if DMLCY_X86 && DMLCY_IS_WIDEST
DMLCY_KERNEL_AT(12, 1)
DMLCY_KERNEL_AT(12, 2)
DMLCY_KERNEL_AT(8, 1)
DMLCY_KERNEL_AT(8, 2)
DMLCY_KERNEL_AT(4, 4)
DMLCY_KERNEL_AT(2, 4)
DMLCY_KERNEL_AT(1, 4)
DMLCY_KERNEL_AT(2, 8)
DMLCY_KERNEL_AT(1, 8)
#else
#if DMLCY_X86 && DMLCY_IS_WIDE
DMLCY_KERNEL_AT(6, 1)
DMLCY_KERNEL_AT(6, 2)
DMLCY_KERNEL_AT(4, 2)
#endif
DMLCY_KERNEL_AT(2, 4)
DMLCY_KERNEL_AT(1, 4)
#endif

/* Sums of some taps for `n` places of a vector of channels. */
#define DMLCY_PLACES(n)                                                                                                \
    {                                                                                                                  \
        DMLCY_LEVEL(dmlcy_lanes) sums[n];                                                                              \
        DMLCY_UNROLL for (i = 0; i < (n); i++)                                                                         \
            sums[i] = DMLCY_FROM(begin + v);                                                                           \
        for (t = 0; t < taps; t++) {                                                                                   \
            const float *const from = x + p * step + at[t] + v;                                                        \
            const DMLCY_LEVEL(dmlcy_lanes) y = DMLCY_FROM(filters + t * DMLCY_CHANNELS + v);                           \
            DMLCY_UNROLL for (i = 0; i < (n); i++)                                                                     \
                sums[i] = DMLCY_ADD_PRODUCTS(DMLCY_FROM(from + i * step), y, sums[i]);                                 \
        }                                                                                                              \
        DMLCY_UNROLL for (i = 0; i < (n); i++)                                                                         \
            DMLCY_AT(to + (p + i) * DMLCY_CHANNELS + v) = sums[i];                                                     \
    }

/* Sums of some taps for places of DMLCY_CHANNELS channels, which lie side by side: each has filters of its own. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_channels)(
    const float *x, int64_t step, const int64_t *at, int64_t taps, const float *filters, const float *begin,
    int64_t places, float *to)
{
    int64_t v, p, t;
    int i;
    for (v = 0; v < DMLCY_CHANNELS; v += DMLCY_VECTOR) {
        for (p = 0; p + 8 <= places; p += 8)
            DMLCY_PLACES(8)
        switch (places - p) { /* of each number, so that few chains do not wait for one another */
        case 7: DMLCY_PLACES(7) break;
        case 6: DMLCY_PLACES(6) break;
        case 5: DMLCY_PLACES(5) break;
        case 4: DMLCY_PLACES(4) break;
        case 3: DMLCY_PLACES(3) break;
        case 2: DMLCY_PLACES(2) break;
        case 1: DMLCY_PLACES(1) break;
        default: break;
        }
    }
}
