/* The loops of sums of products of integers; integer_products.pyx says what they do.
 *
 * Four k of a column are a word of four bytes: a number of the column, unsigned. The four k of a row are four bytes,
 * signed, where there is an instruction for products of bytes (VNNI); else four words of 16 bits, of k 0, 2, 1 and 3.
 * The sums wrap at 32 bits, so that the order does not matter: each sum modulo 2^32 is that of the exact numbers.
 */
#ifndef DMLCY_INTEGER_PRODUCTS_H
#define DMLCY_INTEGER_PRODUCTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "half.h"
#include "isa.h"
#include "masked.h"
#include "named.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

enum {
    DMLCY_INTEGER_HEIGHTS = 5,
    DMLCY_INTEGER_BLOCK = 64    /* columns that are packed together */
};

/* Adds the products of some rows, `a_row` bytes apart, and a strip of columns, to the sums at `to`, or to zeros. The
 * words of the columns for each four k begin `at` bytes behind `b`. */
typedef void (*IntegerKernel)(
    int64_t words, const char *a, int64_t a_row, const char *b, const int64_t *at, int adds, int32_t *to,
    int64_t to_row);

typedef struct {
    int64_t strip;                                  /* columns of a strip */
    int64_t item;                                   /* bytes of a number of a row: 1 or 2 */
    int64_t heights[DMLCY_INTEGER_HEIGHTS];         /* of kernels, from the highest on; then zeros */
    IntegerKernel kernels[DMLCY_INTEGER_HEIGHTS];
} IntegerKernels;

/* The results of sums: rows of them, `sums_row` numbers apart. Arrays have an element for each row, or each column. */
typedef struct {
    int64_t rows;
    int64_t columns;
    int32_t *sums;                  /* changed */
    int64_t sums_row;
    const int32_t *row_added;       /* to each sum of a row */
    const int32_t *row_times;       /* times `column_sums`, likewise; NULL: nothing */
    const int32_t *column_sums;
    const int32_t *row_sums;        /* times `column_times`, likewise; NULL: nothing */
    const int32_t *column_times;
    const double *bias;             /* added to the exact sum */
    const double *row_scale;
    const double *column_scale;
    int columns_first;              /* sums are multiplied by the scale of their column, then by that of their row */
    int each_column;                /* columns have scales of their own; else they are in `factor` */
    const double *divisor;          /* of each row */
    const double *factor;           /* of each row: about all of this; what is not finite keeps from using it */
    const float *zero;              /* of each row */
    float least;
    float most;
    const char *added;              /* to each float; NULL: nothing */
    int64_t added_row;
    int64_t added_step;
    int64_t item;                   /* bytes of an element of the output, and of what is added */
    char *y;
    int64_t y_row;
} IntegerEnds;

typedef struct {
    void (*turn)(const uint8_t *const *rows, int64_t n, uint32_t mask, uint32_t *to, int bits, int64_t pitch);
    int64_t (*turn_short)(
        const uint8_t *from, int64_t row, int64_t rows, int64_t n, const uint8_t *end, uint32_t *to);
    int32_t (*take_bytes)(const uint8_t *from, int64_t n, int mask, char *to);
    int32_t (*take_pairs)(const uint8_t *from, int64_t n, int mask, int zero, char *to);
    void (*mend)(const IntegerEnds *ends);
    void (*put)(const IntegerEnds *ends);
    void (*quantize)(const IntegerEnds *ends);
    void (*scale)(const IntegerEnds *ends);
} IntegerLoops;

/* ---- what no level changes ---- */

/* A sum, which is a whole number, scaled and quantized: each step rounds to FLOAT64, the last but one to FLOAT32. */
static inline int32_t dmlcy_quantized(
    double sum, double first, double second, double divisor, float zero, float least, float most)
{
    const double exact = rint((double)(float)(sum * first * second / divisor)) + (double)zero;
    if (exact != exact)
        return 0;
    return exact <= (double)least ? (int32_t)least : exact < (double)most ? (int32_t)exact : (int32_t)most;
}

/* The half that is nearest to a double: an odd float between decides as the double does. */
static inline uint16_t dmlcy_half_of_double(double value)
{
    float near = (float)value;
    const double back = (double)near;
    uint32_t bits;
    memcpy(&bits, &near, sizeof bits);
    if (back != value && value == value && !(bits & 1)) {
        bits += fabs(back) > fabs(value) ? (uint32_t)-1 : 1u;
        memcpy(&near, &bits, sizeof near);
    }
    return dmlcy_half_of_float(near);
}

/* Sums of more bits, high * 2^32 + low, where low is below 2^32. */
static inline void dmlcy_long_add(int64_t *high, int64_t *low, int64_t number, int shift)
{
    if (shift < 32)
        *low += number * ((int64_t)1 << shift);
    else
        *high += number * ((int64_t)1 << (shift - 32));
    *high += *low >> 32;
    *low &= 0xffffffff;
}

/* Rounded once: an odd last bit stands for the bits that are left out. */
static inline double dmlcy_double_of_long(int64_t high, int64_t low)
{
    int64_t taken, left;
    int shift = 32;
    while (shift > 0 && (high >> (62 - shift)) != 0 && (high >> (62 - shift)) != -1)
        shift--;
    taken = high * ((int64_t)1 << shift);
    taken |= low >> (32 - shift);
    left = low & (((int64_t)1 << (32 - shift)) - 1);
    return (double)(taken | (left != 0)) * (double)((int64_t)1 << (32 - shift));
}

static inline void dmlcy_put_scaled(const IntegerEnds *ends, int64_t row, int64_t column, double sum)
{
    char *const to = ends->y + row * ends->y_row + column * ends->item;
    double scaled = sum * ends->row_scale[row] * ends->column_scale[column];
    if (ends->added)
        scaled += (double)dmlcy_element_of(ends->added + row * ends->added_row + column * ends->added_step, ends->item);
    if (ends->item == 4) {
        const float near = (float)scaled;
        memcpy(to, &near, sizeof near);
    } else {
        const uint16_t half = dmlcy_half_of_double(scaled);
        memcpy(to, &half, sizeof half);
    }
}

static inline void dmlcy_put_quantized(const IntegerEnds *ends, int64_t row, int64_t column, double sum)
{
    const double of_row = ends->row_scale[row], of_column = ends->column_scale[column];
    ends->y[row * ends->y_row + column] = (char)dmlcy_quantized(
        sum, ends->columns_first ? of_column : of_row, ends->columns_first ? of_row : of_column, ends->divisor[row],
        ends->zero[row], ends->least, ends->most);
}

#define DMLCY_TEXT "integer_rows.h"
#include "levels.h"

static const IntegerLoops *const dmlcy_integer_loops[] = {
    &dmlcy_integers, &dmlcy_integers_wide, &dmlcy_integers_widest,
};

/* ---- the kernels: of the levels, and those with VNNI ---- */

#define DMLCY_VNNI 0
#define DMLCY_TEXT "integer_kernels.h"
#include "levels.h"
#undef DMLCY_VNNI

#if DMLCY_X86
#define DMLCY_VNNI 1
#define DMLCY_LEVEL(name) DMLCY_NAMED(name, _widest_vnni)
#define DMLCY_TARGET DMLCY_WIDEST_VNNI
#define DMLCY_IS_WIDE 1
#define DMLCY_IS_WIDEST 1
#include "integer_kernels.h"
#undef DMLCY_LEVEL
#undef DMLCY_TARGET
#undef DMLCY_IS_WIDEST
#if DMLCY_AVX_VNNI
#define DMLCY_LEVEL(name) DMLCY_NAMED(name, _wide_vnni)
#define DMLCY_TARGET DMLCY_WIDE_VNNI
#define DMLCY_IS_WIDEST 0
#include "integer_kernels.h"
#undef DMLCY_LEVEL
#undef DMLCY_TARGET
#undef DMLCY_IS_WIDEST
#endif
#undef DMLCY_IS_WIDE
#undef DMLCY_VNNI
#endif

/* By number: those of the levels, then those with VNNI. */
static const IntegerKernels *const dmlcy_integer_kernels[] = {
    &dmlcy_integer, &dmlcy_integer_wide, &dmlcy_integer_widest,
#if DMLCY_X86 && DMLCY_AVX_VNNI
    &dmlcy_integer_wide_vnni,
#else
    0,
#endif
#if DMLCY_X86
    &dmlcy_integer_widest_vnni,
#else
    0,
#endif
};

/* Whether the processor may take the kernels of a number. */
static inline int dmlcy_takes_integers(int number)
{
    const int has = dmlcy_instructions(), level = dmlcy_level();
    if (number < 3)
        return level >= number;
    if (!dmlcy_integer_kernels[number])
        return 0;
    return number == 3 ? level >= DMLCY_LEVEL_WIDE && (has & DMLCY_HAS_AVX_VNNI)
                       : level == DMLCY_LEVEL_WIDEST && (has & DMLCY_HAS_AVX512_VNNI);
}

#endif
