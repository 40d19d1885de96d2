/* The loops of products.h for one level; DMLCY_LEVEL names them, DMLCY_TARGET declares them. */

#if DMLCY_X86 && DMLCY_IS_WIDEST
#define DMLCY_VECTOR 16
#define DMLCY_ADD_PRODUCTS(x, y, sum)                                                                                  \
    (DMLCY_LEVEL(dmlcy_lanes)) _mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(sum))
#define DMLCY_ADD_PRODUCT(x, y, sum) DMLCY_ADD_PRODUCTS(_mm512_set1_ps(x), y, sum)
#elif DMLCY_X86 && DMLCY_IS_WIDE
#define DMLCY_VECTOR 8
#define DMLCY_ADD_PRODUCTS(x, y, sum)                                                                                  \
    (DMLCY_LEVEL(dmlcy_lanes)) _mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(sum))
#define DMLCY_ADD_PRODUCT(x, y, sum) DMLCY_ADD_PRODUCTS(_mm256_set1_ps(x), y, sum)
#elif DMLCY_GNU && DMLCY_BASELINE_FUSED
#define DMLCY_VECTOR 4
#define DMLCY_ADD_PRODUCTS(x, y, sum)                                                                                  \
    (DMLCY_LEVEL(dmlcy_lanes)) vfmaq_f32((float32x4_t)(sum), (float32x4_t)(y), (float32x4_t)(x))
#define DMLCY_ADD_PRODUCT(x, y, sum) (DMLCY_LEVEL(dmlcy_lanes)) vfmaq_n_f32((float32x4_t)(sum), (float32x4_t)(y), (x))
#elif DMLCY_GNU
#define DMLCY_VECTOR 4
#define DMLCY_ADD_PRODUCT(x, y, sum) ((sum) + (x) * (y))
#define DMLCY_ADD_PRODUCTS DMLCY_ADD_PRODUCT
#else
#define DMLCY_VECTOR 1
#define DMLCY_ADD_PRODUCT(x, y, sum) (DMLCY_FUSED ? fmaf((x), (y), (sum)) : (sum) + (x) * (y))
#define DMLCY_ADD_PRODUCTS DMLCY_ADD_PRODUCT
#endif

#if DMLCY_GNU
typedef float DMLCY_LEVEL(dmlcy_lanes) __attribute__((vector_size(4 * DMLCY_VECTOR), aligned(4), may_alias));
#else
typedef float DMLCY_LEVEL(dmlcy_lanes);
#endif

/* Asks for the columns of the next strip, which the processor does not see coming where rows are long. Kernels of short
 * vectors ask so often that they would wait for it. */
#if DMLCY_X86 && DMLCY_IS_WIDE
#define DMLCY_ASK(place) _mm_prefetch((const char *)(place), _MM_HINT_T1)
#else
#define DMLCY_ASK(place) (void)(place)
#endif

#define DMLCY_AT(place) (*(DMLCY_LEVEL(dmlcy_lanes) *)(place))
#define DMLCY_FROM(place) (*(const DMLCY_LEVEL(dmlcy_lanes) *)(place))

#include "product_kernels.h"
#include "product_packs.h"
#include "product_lines.h"
#include "product_planes.h"

/* Rows of n floats for each of some channels: elements first … last - 1 of rows begin … end - 1, and zeros elsewhere.
 * Up to a vector behind the last row is written, too. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_fill_rows)(
    const char *from, int64_t channel, int64_t channels, int64_t row, int64_t between, int64_t item, int64_t first,
    int64_t last, int64_t n, int64_t begin, int64_t end, int64_t rows, float *to)
{
    int64_t r, i;
#if DMLCY_X86 && DMLCY_IS_WIDEST
    if (item == 4 && (between == 4 || between == 8) && n <= 1024) {
        const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
        __mmask16 own[64], high[64];
        for (i = 0; i < n; i += 16) {
            const int64_t low = first > i ? first - i : 0, behind = last < i + 16 ? last - i : 16;
            const uint32_t all = behind > low ? (1u << behind) - (1u << low) : 0;
            own[i / 16] = (__mmask16)(between == 4 ? all : dmlcy_apart(all & 0xff));
            high[i / 16] = (__mmask16)dmlcy_apart(all >> 8 & 0xff);
        }
        for (; channels > 0; channels--, from += channel) {
            const char *place = from;
            for (r = 0; r < rows; r++, place += row, to += n) {
                if (r < begin || r >= end)
                    for (i = 0; i < n; i += 16)
                        _mm512_storeu_ps(to + i, _mm512_setzero_ps());
                else if (between == 4)
                    for (i = 0; i < n; i += 16)
                        _mm512_storeu_ps(to + i, dmlcy_masked(own[i / 16], place + i * 4));
                else
                    for (i = 0; i < n; i += 16) {
                        const __m512 x = dmlcy_masked(own[i / 16], place + i * 8);
                        const __m512 y = dmlcy_masked(high[i / 16], place + i * 8 + 64);
                        _mm512_storeu_ps(to + i, _mm512_permutex2var_ps(x, even, y));
                    }
            }
        }
        return;
    }
#endif
    for (; channels > 0; channels--, from += channel)
        for (r = 0; r < rows; r++, to += n) {
            const int64_t low = r < begin || r >= end || last <= first ? n : first, behind = low < n ? last : n;
            for (i = 0; i < low; i++)
                to[i] = 0;
            if (behind > low)
                dmlcy_widen(from + r * row + low * between, between, item, to + low, behind - low);
            for (i = behind; i < n; i++)
                to[i] = 0;
        }
}

/* Some rows of n sums become rows of elements. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_put_rows)(
    const float *from, int64_t pitch, int64_t rows, int64_t n, char *to, int64_t row, int64_t step, int64_t item)
{
    for (; rows > 0; rows--, from += pitch, to += row) {
#if DMLCY_X86 && DMLCY_IS_WIDEST
        if (item == 4 && step == 4) {
            int64_t i = 0;
            for (; i + 16 <= n; i += 16)
                _mm512_storeu_ps(to + i * 4, _mm512_loadu_ps(from + i));
            if (i < n)
                dmlcy_masked_put(to + i * 4, (__mmask16)((1u << (n - i)) - 1), _mm512_loadu_ps(from + i));
            continue;
        }
#endif
        dmlcy_narrow(from, to, step, item, n);
    }
}

/* Rows of n elements, from one of each of some rows of sums in turn, which are `between` apart. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_merge_rows)(
    const float *from, int64_t pitch, int64_t rows, int64_t between, int64_t turns, int64_t n, char *to, int64_t row,
    int64_t step, int64_t item)
{
    const int whole = item == 4 && step == 4;
    const int64_t most = 2 * DMLCY_STRIP / turns * turns;
    float numbers[2 * DMLCY_STRIP];
    int64_t i, j, done, left;
    for (; rows > 0; rows--, from += pitch, to += row)
        for (done = 0; done < n; done += left) {
            float *const target = whole ? (float *)(void *)to + done : numbers;
            left = n - done < most ? n - done : most;
            if (turns == 2) {
                const float *const even = from + done / 2, *const odd = even + between;
                for (i = 0; i < left / 2; i++) {
                    target[2 * i] = even[i];
                    target[2 * i + 1] = odd[i];
                }
                if (left % 2)
                    target[left - 1] = even[left / 2];
            } else
                for (j = 0; j < turns; j++) {
                    const float *own = from + j * between + done / turns;
                    for (i = j; i < left; i += turns)
                        target[i] = *own++;
                }
            if (!whole)
                dmlcy_narrow(numbers, to + done * step, step, item, left);
        }
}

/* Whether all of n elements of some rows are finite. */
DMLCY_TARGET static int DMLCY_LEVEL(dmlcy_are_finite)(const float *x, int64_t row, int64_t rows, int64_t n)
{
    int64_t i;
    int others = 0;
#if DMLCY_X86 && DMLCY_IS_WIDEST
    for (; rows > 0; rows--, x += row)
        for (i = 0; i < n; i += 16) {
            const __mmask16 own = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffffu);
            others |= _mm512_fpclass_ps_mask(dmlcy_masked(own, x + i), 0x99); /* NaN, infinities */
        }
#endif
    for (; rows > 0; rows--, x += row)
        for (i = 0; i < n; i++)
            others |= !(fabsf(x[i]) <= 0x1.fffffep127f);
    return !others;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_scale_sums)(float *x, float alpha, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        x[i] *= alpha;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_add_to_sums)(float *x, float alpha, const float *c, float beta, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        x[i] = x[i] * alpha + c[i] * beta;
}

static const ProductLevel DMLCY_LEVEL(dmlcy_products) = {
    .lanes = DMLCY_VECTOR,
#if DMLCY_X86 && DMLCY_IS_WIDEST
    .heights = {12, 8, 4, 2, 1},
    .widths = {1, 2, 4, 8},
    .kernels =
        {
            {DMLCY_BY(12, 1), DMLCY_BY(12, 2), NULL, NULL},
            {DMLCY_BY(8, 1), DMLCY_BY(8, 2), NULL, NULL},
            {DMLCY_BY(4, 1), DMLCY_BY(4, 2), DMLCY_BY(4, 4), NULL},
            {DMLCY_BY(2, 1), DMLCY_BY(2, 2), DMLCY_BY(2, 4), DMLCY_BY(2, 8)},
            {DMLCY_BY(1, 1), DMLCY_BY(1, 2), DMLCY_BY(1, 4), DMLCY_BY(1, 8)},
        },
    .halves =
        {
            {DMLCY_HALVES_BY(12, 1), DMLCY_HALVES_BY(12, 2), NULL},
            {DMLCY_HALVES_BY(8, 1), DMLCY_HALVES_BY(8, 2), NULL},
            {DMLCY_HALVES_BY(4, 1), DMLCY_HALVES_BY(4, 2), DMLCY_HALVES_BY(4, 4)},
            {DMLCY_HALVES_BY(2, 1), DMLCY_HALVES_BY(2, 2), DMLCY_HALVES_BY(2, 4)},
            {DMLCY_HALVES_BY(1, 1), DMLCY_HALVES_BY(1, 2), DMLCY_HALVES_BY(1, 4)},
        },
    .spread =
        {
            {DMLCY_AT_BY(12, 1), DMLCY_AT_BY(12, 2), NULL, NULL},
            {DMLCY_AT_BY(8, 1), DMLCY_AT_BY(8, 2), NULL, NULL},
            {DMLCY_AT_BY(4, 1), NULL, DMLCY_AT_BY(4, 4), NULL},
            {DMLCY_AT_BY(2, 1), NULL, DMLCY_AT_BY(2, 4), DMLCY_AT_BY(2, 8)},
            {DMLCY_AT_BY(1, 1), NULL, DMLCY_AT_BY(1, 4), DMLCY_AT_BY(1, 8)},
        },
    .some =
        {
            {DMLCY_SOME_BY(12, 1), DMLCY_SOME_BY(12, 2)},
            {DMLCY_SOME_BY(8, 1), DMLCY_SOME_BY(8, 2)},
            {DMLCY_SOME_BY(4, 1), DMLCY_SOME_BY(4, 2)},
            {DMLCY_SOME_BY(2, 1), DMLCY_SOME_BY(2, 2)},
            {DMLCY_SOME_BY(1, 1), DMLCY_SOME_BY(1, 2)},
        },
    .last = {DMLCY_LAST_BY(12), DMLCY_LAST_BY(8), DMLCY_LAST_BY(4), DMLCY_LAST_BY(2), DMLCY_LAST_BY(1)},
    .last_some =
        {DMLCY_LAST_SOME_BY(12), DMLCY_LAST_SOME_BY(8), DMLCY_LAST_SOME_BY(4), DMLCY_LAST_SOME_BY(2),
         DMLCY_LAST_SOME_BY(1)},
    .plane = dmlcy_plane,
    .turned =
        {NULL, DMLCY_LEVEL(dmlcy_turned_8), DMLCY_LEVEL(dmlcy_turned_4), DMLCY_LEVEL(dmlcy_turned_2),
         DMLCY_LEVEL(dmlcy_turned_1)},
#elif DMLCY_X86 && DMLCY_IS_WIDE
    .heights = {6, 4, 2, 1, 0},
    .widths = {1, 2, 4, 8},
    .kernels =
        {
            {DMLCY_BY(6, 1), DMLCY_BY(6, 2), NULL, NULL},
            {DMLCY_BY(4, 1), DMLCY_BY(4, 2), NULL, NULL},
            {DMLCY_BY(2, 1), DMLCY_BY(2, 2), DMLCY_BY(2, 4), NULL},
            {DMLCY_BY(1, 1), DMLCY_BY(1, 2), DMLCY_BY(1, 4), DMLCY_BY(1, 8)},
            {NULL, NULL, NULL, NULL},
        },
    .halves =
        {
            {DMLCY_HALVES_BY(6, 1), DMLCY_HALVES_BY(6, 2), NULL},
            {DMLCY_HALVES_BY(4, 1), DMLCY_HALVES_BY(4, 2), NULL},
            {DMLCY_HALVES_BY(2, 1), DMLCY_HALVES_BY(2, 2), DMLCY_HALVES_BY(2, 4)},
            {DMLCY_HALVES_BY(1, 1), DMLCY_HALVES_BY(1, 2), DMLCY_HALVES_BY(1, 4)},
            {NULL, NULL, NULL},
        },
    .spread =
        {
            {DMLCY_AT_BY(6, 1), DMLCY_AT_BY(6, 2), NULL, NULL},
            {DMLCY_AT_BY(4, 1), DMLCY_AT_BY(4, 2), NULL, NULL},
            {DMLCY_AT_BY(2, 1), NULL, DMLCY_AT_BY(2, 4), NULL},
            {DMLCY_AT_BY(1, 1), NULL, DMLCY_AT_BY(1, 4), NULL},
            {NULL, NULL, NULL, NULL},
        },
    .turned =
        {NULL, DMLCY_LEVEL(dmlcy_turned_4), DMLCY_LEVEL(dmlcy_turned_2), DMLCY_LEVEL(dmlcy_turned_1), NULL},
#else
    .heights = {4, 2, 1, 0, 0},
    .widths = {1, 3, 4, 8},
    .kernels =
        {
            {DMLCY_BY(4, 1), DMLCY_BY(4, 3), NULL, NULL},
            {DMLCY_BY(2, 1), DMLCY_BY(2, 3), DMLCY_BY(2, 4), NULL},
            {DMLCY_BY(1, 1), DMLCY_BY(1, 3), DMLCY_BY(1, 4), DMLCY_BY(1, 8)},
            {NULL, NULL, NULL, NULL},
            {NULL, NULL, NULL, NULL},
        },
    .spread =
        {
            {DMLCY_AT_BY(4, 1), NULL, NULL, NULL},
            {DMLCY_AT_BY(2, 1), NULL, DMLCY_AT_BY(2, 4), NULL},
            {DMLCY_AT_BY(1, 1), NULL, DMLCY_AT_BY(1, 4), NULL},
            {NULL, NULL, NULL, NULL},
            {NULL, NULL, NULL, NULL},
        },
#endif
    .pack = DMLCY_LEVEL(dmlcy_pack),
    .pack_image = DMLCY_LEVEL(dmlcy_pack_image),
    .channels = DMLCY_LEVEL(dmlcy_channels),
    .turn = DMLCY_LEVEL(dmlcy_pack_turned),
    .fill_rows = DMLCY_LEVEL(dmlcy_fill_rows),
    .put_rows = DMLCY_LEVEL(dmlcy_put_rows),
    .merge_rows = DMLCY_LEVEL(dmlcy_merge_rows),
    .row = DMLCY_LEVEL(dmlcy_product_row),
    .dots = DMLCY_LEVEL(dmlcy_dots),
    .are_finite = DMLCY_LEVEL(dmlcy_are_finite),
    .scale = DMLCY_LEVEL(dmlcy_scale_sums),
    .add = DMLCY_LEVEL(dmlcy_add_to_sums),
};

#undef DMLCY_VECTOR
#undef DMLCY_ADD_PRODUCT
#undef DMLCY_ADD_PRODUCTS
#undef DMLCY_AT
#undef DMLCY_ASK
#undef DMLCY_FROM
#undef DMLCY_KERNEL
#undef DMLCY_KERNEL_OF
#undef DMLCY_KERNEL_AT
#undef DMLCY_AT_BY
#undef DMLCY_BY
#undef DMLCY_WHOLE
#undef DMLCY_PUT_WHOLE
#undef DMLCY_SOME
#undef DMLCY_PUT_SOME
#undef DMLCY_SOME_BY
#undef DMLCY_KERNEL_SOME
#undef DMLCY_OF_HALVES
#undef DMLCY_KERNEL_HALVES
#undef DMLCY_HALVES_BY
#undef DMLCY_OWN
#undef DMLCY_AND
#undef DMLCY_PLACES
