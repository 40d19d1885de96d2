/* Loops that fold elements: tiles of rows that become one result for each row, or for each column.
 *
 * A row is `n` numbers, one after the other. Four loops take a tile:
 *
 * along    a row is a part of a line, and becomes a result. Its numbers go to DMLCY_FOLD_LANES lanes in turn, which are
 *          joined by halves.
 * turned   a column is a part of a line, with the same order. The lanes are in args->room, for some calls.
 * across   a column is a part of a line; groups of DMLCY_FOLD_GROUP rows, and one of half as many, are joined by
 *          halves, each is added to the result.
 *
 * upright  a row is a part of a line, with the order of "across".
 *
 * fold_rows.h makes them of steps, and place_rows.h makes the loops that look for places. A line is cut into parts of
 * fixed sizes, whose results are joined in their order: no bit depends on threads or on strides.
 */
#ifndef DMLCY_FOLDS_H
#define DMLCY_FOLDS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ahead.h"
#include "functions.h"
#include "isa.h"
#include "keys.h"
#include "named.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

#define DMLCY_FOLD_LANES 32 /* the number of partial results of a line, which take its elements in turn and are
                             * joined at its end */
#define DMLCY_FOLD_GROUP 8 /* the number of rows that one pass folds into the results of their columns */
#define DMLCY_FOLD_ROWS 8 /* the number of rows whose partial results are joined together, to one result for each row */
#define DMLCY_FOLD_PARTS 8 /* lanes of each that are joined in all of them at once */

/* Before a loop of a constant number of rounds: taken apart, it would not be vectorised. */
#if DMLCY_GNU && !defined(__clang__)
#define DMLCY_ROLLED _Pragma("GCC unroll 1")
#else
#define DMLCY_ROLLED
#endif

#define DMLCY_FOLD_AHEAD 12288 /* the distance in bytes by which prefetches run ahead along a row that is folded */
#define DMLCY_FOLD_BLOCK 1024  /* the number of elements between two prefetches along a row whose least or greatest
                                * element is sought */

typedef struct {
    const float *tops; /* of each result: what the steps subtract; NULL if no step does */
    int64_t flip;      /* changes the order of integers: 0, or what keys are combined with bit by bit */
    int64_t base;      /* number of the first element of the part in the line */
    int64_t first;     /* number of the first element of the tile in the part, except for `along` */
    int last;          /* of equal extremes the last one counts */
    int begins;        /* the tile begins a part */
    int ends;          /* the tile ends a part */
    void *room;        /* aligned memory: DMLCY_FOLD_LANES accumulators for each column */
} FoldArgs;

typedef void (*FoldTile)(const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, void *results);

typedef struct FoldKernel {
    FoldTile along[3]; /* by the levels of isa.h */
    FoldTile turned[3]; /* NULL, where any order gives the same results */
    FoldTile across[3];
    FoldTile upright[3];
    void (*join)(void *results, const void *more, int64_t n);   /* joins the results of the next part */
    /* Makes of results what is stored, at their place or elsewhere. */
    void (*finish)(const void *results, void *target, int64_t n, double count, const FoldArgs *args);
    unsigned char number; /* the data type of the numbers that the loops take */
    unsigned char gives;  /* and of the numbers that `finish` gives */
    unsigned char item;   /* bytes of a result */
    unsigned char tops;   /* the steps subtract the greatest element of the line */
    unsigned char bits;   /* integers of this size are taken as they are */
    /* Where a result is doubtful, this kernel computes it. NULL: none is. */
    const struct FoldKernel *careful;
    int (*doubts)(const void *results, int64_t n);
} FoldKernel;

#define DMLCY_SUM(a, b) ((a) + (b))
#define DMLCY_TIMES(a, b) ((a) * (b))

/* ---- sums of doubles ---- */

/* The sums of some rows, by halves; -0 becomes 0. */
#define DMLCY_TWO_PARTS(row, at) (parts[row][at] + parts[row][at + 4])
#define DMLCY_FOUR_PARTS(row, at) (DMLCY_TWO_PARTS(row, at) + DMLCY_TWO_PARTS(row, at + 2))
static inline void dmlcy_join_parts(double (*parts)[DMLCY_FOLD_PARTS], double *sums)
{
    int row;
    for (row = 0; row < DMLCY_FOLD_ROWS; row++)
        sums[row] = 0.0 + (DMLCY_FOUR_PARTS(row, 0) + DMLCY_FOUR_PARTS(row, 1));
}
#undef DMLCY_TWO_PARTS
#undef DMLCY_FOUR_PARTS

/* The same of neighbours first: of elements of eight rows, one after the other. */
static inline void dmlcy_join_near(double (*parts)[DMLCY_FOLD_PARTS], double *sums)
{
    int row;
    for (row = 0; row < DMLCY_FOLD_ROWS; row++) {
        const double *const x = parts[row];
        sums[row] = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
    }
}

#if DMLCY_X86
DMLCY_WIDE DMLCY_INLINE __m256d dmlcy_add_halves(__m256d a, __m256d b)
{
    return _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
}

DMLCY_WIDE DMLCY_INLINE __m256d dmlcy_join_four(double (*parts)[DMLCY_FOLD_PARTS])
{
    __m256d halves[4], low, high;
    int row;
    for (row = 0; row < 4; row++)
        halves[row] = _mm256_add_pd(_mm256_loadu_pd(parts[row]), _mm256_loadu_pd(parts[row] + 4));
    low = dmlcy_add_halves(halves[0], halves[2]);
    high = dmlcy_add_halves(halves[1], halves[3]);
    return _mm256_add_pd(_mm256_unpacklo_pd(low, high), _mm256_unpackhi_pd(low, high));
}

DMLCY_WIDE DMLCY_INLINE void dmlcy_join_parts_wide(double (*parts)[DMLCY_FOLD_PARTS], double *sums)
{
    _mm256_storeu_pd(sums, _mm256_add_pd(_mm256_setzero_pd(), dmlcy_join_four(parts)));
    _mm256_storeu_pd(sums + 4, _mm256_add_pd(_mm256_setzero_pd(), dmlcy_join_four(parts + 4)));
}

DMLCY_WIDEST DMLCY_INLINE __m512d dmlcy_join_two(const double *first, const double *second)
{
    const __m512d a = _mm512_loadu_pd(first), b = _mm512_loadu_pd(second);
    return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xee));
}

DMLCY_WIDEST DMLCY_INLINE __m512d dmlcy_join_halves(__m512d a, __m512d b)
{
    return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd));
}

DMLCY_WIDEST DMLCY_INLINE void dmlcy_join_parts_widest(double (*parts)[DMLCY_FOLD_PARTS], double *sums)
{
    const __m512d near = dmlcy_join_halves(dmlcy_join_two(parts[0], parts[2]), dmlcy_join_two(parts[4], parts[6]));
    const __m512d far = dmlcy_join_halves(dmlcy_join_two(parts[1], parts[3]), dmlcy_join_two(parts[5], parts[7]));
    const __m512d all = _mm512_add_pd(_mm512_unpacklo_pd(near, far), _mm512_unpackhi_pd(near, far));
    _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_setzero_pd(), all));
}
DMLCY_WIDE DMLCY_INLINE __m256d dmlcy_join_near_four(double (*parts)[DMLCY_FOLD_PARTS])
{
    __m256d near[2], far[2];
    int two;
    for (two = 0; two < 2; two++) { /* rows 0 and 1, then 2 and 3 */
        const __m256d a = _mm256_loadu_pd(parts[2 * two]), b = _mm256_loadu_pd(parts[2 * two + 1]);
        const __m256d c = _mm256_loadu_pd(parts[2 * two] + 4), d = _mm256_loadu_pd(parts[2 * two + 1] + 4);
        near[two] = _mm256_add_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        far[two] = _mm256_add_pd(_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
    }
    return _mm256_add_pd(dmlcy_add_halves(near[0], near[1]), dmlcy_add_halves(far[0], far[1]));
}

DMLCY_WIDE DMLCY_INLINE void dmlcy_join_near_wide(double (*parts)[DMLCY_FOLD_PARTS], double *sums)
{
    _mm256_storeu_pd(sums, dmlcy_join_near_four(parts));
    _mm256_storeu_pd(sums + 4, dmlcy_join_near_four(parts + 4));
}

DMLCY_WIDEST DMLCY_INLINE __m512d dmlcy_join_near_two(const double *first, const double *second)
{
    const __m512d a = _mm512_loadu_pd(first), b = _mm512_loadu_pd(second);
    return _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
}

DMLCY_WIDEST DMLCY_INLINE void dmlcy_join_near_widest(double (*parts)[DMLCY_FOLD_PARTS], double *sums)
{
    const __m512d near =
        dmlcy_join_halves(dmlcy_join_near_two(parts[0], parts[1]), dmlcy_join_near_two(parts[2], parts[3]));
    const __m512d far =
        dmlcy_join_halves(dmlcy_join_near_two(parts[4], parts[5]), dmlcy_join_near_two(parts[6], parts[7]));
    _mm512_storeu_pd(sums, dmlcy_join_halves(near, far));
}
#else
#define dmlcy_join_near_wide dmlcy_join_near
#define dmlcy_join_near_widest dmlcy_join_near
#define dmlcy_join_parts_wide dmlcy_join_parts
#define dmlcy_join_parts_widest dmlcy_join_parts
#endif

/* ---- products of any size ---- */

/* `part` times 2 to `power`: a product of floats that neither overflows nor vanishes before all of it is there. The
 * absolute value of `part` is in [1, 2), or it is no normal number. */
typedef struct {
    double part;
    int64_t power;
} scaled_t;

DMLCY_INLINE scaled_t dmlcy_scaled_of(double part, int64_t power)
{
    uint64_t bits, exponent;
    scaled_t scaled;
    memcpy(&bits, &part, sizeof bits);
    exponent = bits >> 52 & 0x7ff;
    if (exponent != 0 && exponent != 0x7ff) {
        power += (int64_t)exponent - 1023;
        bits = (bits & ~(0x7ffull << 52)) | 1023ull << 52;
    }
    memcpy(&scaled.part, &bits, sizeof bits);
    scaled.power = power;
    return scaled;
}

DMLCY_INLINE scaled_t dmlcy_scaled_product(scaled_t a, scaled_t b)
{
    return dmlcy_scaled_of(a.part * b.part, a.power + b.power);
}

/* As a double, or an infinity or 0 beyond these. */
DMLCY_INLINE double dmlcy_of_scaled(scaled_t a)
{
    return ldexp(a.part, a.power > 3000 ? 3000 : a.power < -3000 ? -3000 : (int)a.power);
}

/* ---- keys ---- */

/* A NaN is less than any number, and `flip` of ones turns the order of numbers. Masks, not branches, are vectorised. */
DMLCY_INLINE int32_t dmlcy_fold_key(int32_t bits, int32_t flip)
{
    const int32_t magnitude = bits & INT32_MAX, none = -(magnitude > 0x7f800000);
    return ((magnitude ^ bits >> 31 ^ flip) & ~none) | (~0x7fc00000 & none);
}

/* The same where -0 equals +0. */
DMLCY_INLINE int32_t dmlcy_place_key(int32_t bits, int32_t flip)
{
    return dmlcy_fold_key(bits & -(bits != INT32_MIN), flip);
}

DMLCY_INLINE int32_t dmlcy_bits_of_fold_key(int32_t key, int32_t flip)
{
    const int32_t other = key ^ flip, none = -(key == ~0x7fc00000);
    return (((other & INT32_MIN) | ((other ^ other >> 31) & INT32_MAX)) & ~none) | (0x7fc00000 & none);
}

/* ---- logarithms of sums ---- */

/* The logarithm of a sum of floats, which may be larger than any of them: of 1 + f in FLOAT32, and that of the power of
 * two in double. */
DMLCY_INLINE double dmlcy_log_of_double(int fused, double x)
{
    uint64_t bits, above;
    double mantissa, power, other;
    memcpy(&bits, &x, sizeof bits);
    above = (bits - 0x3fe6a09e00000000u) & 0xfff0000000000000u;
    bits -= above;
    memcpy(&mantissa, &bits, sizeof bits);
    power = (double)(int32_t)((int64_t)above >> 52);
    power = power * 0x1.62e42fefa39efp-1 + (double)dmlcy_log_near_one(fused, (float)(mantissa - 1.0), 0.0f);
    other = x == 0 ? -(double)INFINITY : x > 0 ? x : (double)NAN;
    return (x > 0) & (x < (double)INFINITY) ? power : other;
}

#endif
