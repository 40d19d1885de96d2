/* Loops that keep each result of a running sum or product: of lines one by one, and of columns side by side. The
 * numbers of a line are taken one after the other, in double or in whole numbers, so all ways give the same bits.
 */
#ifndef DMLCY_SCANS_H
#define DMLCY_SCANS_H

#include "elements.h"
#include "folds.h"

#define DMLCY_SCAN_PIECE 256 /* the number of elements of a line whose running products are computed at once */

typedef struct {
    /* Whole lines of `n` numbers, `step` bytes apart; results are `pitch` bytes apart. */
    void (*lines[3])(
        const char *const *inputs, char *const *outputs, int64_t count, int64_t n, int64_t step, int64_t pitch,
        int exclusive);
    void (*begin)(void *state, int64_t n);
    /* The next `rows` rows of `n` columns; `state` has what each column has come to. */
    void (*columns[3])(
        const void *const *inputs, void *const *outputs, int64_t rows, int64_t n, int exclusive, void *state);
    unsigned char number; /* the data type of numbers */
    unsigned char bits;   /* integers of this size are taken as they are */
    unsigned char apart;  /* the results of columns must not be where the numbers are */
} ScanKernel;

/* The state of a column, if it is a product of floats: an array of parts, and one of powers of two. A part without a
 * power is 0, or neither too small nor too large for DMLCY_SCAN_STEPS more factors: a double has all of these. */
#define DMLCY_SCAN_SMALL 0x1p-400
#define DMLCY_SCAN_LARGE 0x1p400
#define DMLCY_SCAN_STEPS 4 /* factors between two looks at whether a product is too small or too large */

/* Not 0 where these products may not be right. */
DMLCY_INLINE int64_t dmlcy_scan_beyond(double product)
{
    const double size = fabs(product);
    return !((size >= DMLCY_SCAN_SMALL) & (size <= DMLCY_SCAN_LARGE)) & (product != 0);
}

/* The next product of any size. */
DMLCY_INLINE void dmlcy_scan_scaled(double *part, int64_t *power, float x)
{
    const scaled_t left = dmlcy_scaled_of(*part, *power);
    scaled_t product = dmlcy_scaled_product(left, dmlcy_scaled_of((double)x, 0));
    if (product.part == 0 || product.part - product.part != 0)
        product.power = 0;
    if (product.power > -400 && product.power < 400) {
        product.part = ldexp(product.part, (int)product.power);
        product.power = 0;
    }
    *part = product.part;
    *power = product.power;
}

DMLCY_INLINE float dmlcy_scan_float(double part, int64_t power)
{
    scaled_t product;
    product.part = part;
    product.power = power;
    return (float)(power == 0 ? part : dmlcy_of_scaled(product));
}

#if DMLCY_X86
/* Four lines of floats that follow one another in memory: they are turned, and become columns in registers. Returns
 * whether a product may not be right. */
DMLCY_WIDE DMLCY_INLINE int dmlcy_scan_four_lines(
    const float *const *x, float *const *y, int64_t n, int product, int exclusive, double *part)
{
    const __m256d small = _mm256_set1_pd(DMLCY_SCAN_SMALL), large = _mm256_set1_pd(DMLCY_SCAN_LARGE);
    __m256d acc = _mm256_loadu_pd(part), beyond = _mm256_setzero_pd();
    int64_t i, j;
    int beyond_rest = 0, line;
    for (i = 0; i + 4 <= n; i += 4) {
        __m128 columns[4];
        for (line = 0; line < 4; line++)
            columns[line] = _mm_loadu_ps(x[line] + i);
        _MM_TRANSPOSE4_PS(columns[0], columns[1], columns[2], columns[3]);
        for (j = 0; j < 4; j++) {
            const __m256d before = acc, next = _mm256_cvtps_pd(columns[j]);
            acc = product ? _mm256_mul_pd(acc, next) : _mm256_add_pd(acc, next);
            columns[j] = _mm256_cvtpd_ps(exclusive ? before : acc);
        }
        _MM_TRANSPOSE4_PS(columns[0], columns[1], columns[2], columns[3]);
        for (line = 0; line < 4; line++)
            _mm_storeu_ps(y[line] + i, columns[line]);
        if (product) {
            const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), acc);
            const __m256d off = _mm256_or_pd(
                _mm256_cmp_pd(size, small, _CMP_NGE_UQ), _mm256_cmp_pd(size, large, _CMP_NLE_UQ));
            beyond = _mm256_or_pd(
                beyond, _mm256_and_pd(off, _mm256_cmp_pd(acc, _mm256_setzero_pd(), _CMP_NEQ_UQ)));
        }
    }
    _mm256_storeu_pd(part, acc);
    for (line = 0; line < 4; line++) {
        for (j = i; j < n; j++) {
            const double before = part[line], next = (double)x[line][j];
            part[line] = product ? before * next : before + next;
            y[line][j] = (float)(exclusive ? before : part[line]);
        }
        beyond_rest |= product && dmlcy_scan_beyond(part[line]);
    }
    return _mm256_movemask_pd(beyond) != 0 || beyond_rest;
}
#endif

#define DMLCY_SCAN dmlcy_sums_float
#define DMLCY_NUMBER float
#define DMLCY_ACC double
#define DMLCY_TWO(a, b) ((a) + (b))
#define DMLCY_NONE 0
#define DMLCY_WIDEST_TOO 1
#include "scan_rows.h"

/* At the levels above the baseline. Lines in other layouts, and what is left, go one number at a time. */
#if DMLCY_X86
#define DMLCY_NEAR_SUMS(level) dmlcy_sums_float_near_##level
#define DMLCY_NEAR_LINES(level, target)                                             \
    target static void dmlcy_sums_float_near_##level(                               \
        const char *const *inputs, char *const *outputs, int64_t count, int64_t n, int64_t step, int64_t pitch, \
        int exclusive)                                                              \
    {                                                                               \
        const float *const *const x = (const float *const *)inputs;                 \
        float *const *const y = (float *const *)outputs;                            \
        int64_t line = 0;                                                           \
        if (step == sizeof(float) && pitch == sizeof(float))                        \
            for (; line + 4 <= count; line += 4) {                                  \
                double part[4] = {0, 0, 0, 0};                                      \
                if (exclusive)                                                      \
                    dmlcy_scan_four_lines(x + line, y + line, n, 0, 1, part);       \
                else                                                                \
                    dmlcy_scan_four_lines(x + line, y + line, n, 0, 0, part);       \
            }                                                                       \
        dmlcy_sums_float_lines_##level(inputs + line, outputs + line, count - line, n, step, pitch, exclusive); \
    }
DMLCY_NEAR_LINES(wide, DMLCY_WIDE)
DMLCY_NEAR_LINES(widest, DMLCY_WIDEST)
#undef DMLCY_NEAR_LINES
#else
#define DMLCY_NEAR_SUMS(level) dmlcy_sums_float_lines_##level
#endif

#define DMLCY_SCAN dmlcy_sums_uint32
#define DMLCY_NUMBER uint32_t
#define DMLCY_ACC uint32_t
#define DMLCY_TWO(a, b) ((a) + (b))
#define DMLCY_NONE 0
#define DMLCY_WIDEST_TOO 0
#include "scan_rows.h"

#define DMLCY_SCAN dmlcy_sums_uint64
#define DMLCY_NUMBER uint64_t
#define DMLCY_ACC uint64_t
#define DMLCY_TWO(a, b) ((a) + (b))
#define DMLCY_NONE 0
#define DMLCY_WIDEST_TOO 0
#include "scan_rows.h"

#define DMLCY_SCAN dmlcy_products_uint32
#define DMLCY_NUMBER uint32_t
#define DMLCY_ACC uint32_t
#define DMLCY_TWO(a, b) ((a) * (b))
#define DMLCY_NONE 1
#define DMLCY_WIDEST_TOO 0
#include "scan_rows.h"

#define DMLCY_SCAN dmlcy_products_uint64
#define DMLCY_NUMBER uint64_t
#define DMLCY_ACC uint64_t
#define DMLCY_TWO(a, b) ((a) * (b))
#define DMLCY_NONE 1
#define DMLCY_WIDEST_TOO 0
#include "scan_rows.h"

#define DMLCY_TEXT "scan_products.h"
#include "levels.h"

static void dmlcy_products_float_begin(void *state, int64_t n)
{
    double *const part = state;
    int64_t *const power = (int64_t *)(part + n);
    int64_t i;
    for (i = 0; i < n; i++) {
        part[i] = 1;
        power[i] = 0;
    }
}

#define DMLCY_SCAN_OF(name, dtype, size, widest, is_apart)                          \
    {                                                                               \
        .lines = {dmlcy_##name##_lines, dmlcy_##name##_lines_wide, dmlcy_##name##_lines_##widest}, \
        .columns = {dmlcy_##name##_columns, dmlcy_##name##_columns_wide, dmlcy_##name##_columns_##widest}, \
        .begin = dmlcy_##name##_begin, .number = dtype, .bits = size, .apart = is_apart, \
    }

/* Sums, then products: of floats, of integers of up to 32 bits, and of those of 64. */
static const ScanKernel dmlcy_scans[2][3] = {
    {
        {
            .lines = {dmlcy_sums_float_lines, DMLCY_NEAR_SUMS(wide), DMLCY_NEAR_SUMS(widest)},
            .columns = {dmlcy_sums_float_columns, dmlcy_sums_float_columns_wide, dmlcy_sums_float_columns_widest},
            .begin = dmlcy_sums_float_begin, .number = DMLCY_FLOAT32,
        },
        DMLCY_SCAN_OF(sums_uint32, DMLCY_UINT32, 4, wide, 0),
        DMLCY_SCAN_OF(sums_uint64, DMLCY_UINT64, 8, wide, 0),
    },
    {
        DMLCY_SCAN_OF(products_float, DMLCY_FLOAT32, 0, widest, 1),
        DMLCY_SCAN_OF(products_uint32, DMLCY_UINT32, 4, wide, 0),
        DMLCY_SCAN_OF(products_uint64, DMLCY_UINT64, 8, wide, 0),
    },
};

#endif
