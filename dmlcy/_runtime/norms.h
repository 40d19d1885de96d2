/* Loops that normalize lines of elements: what they are given, and what their expressions call. norm_rows.h has their
 * text.
 *
 * A line is all elements that a sum or an extreme is made of. A sweep goes over the elements of a line and makes some
 * sums and extremes. A later sweep may read those of earlier ones. The results come last. Long lines are in chunks:
 * each has sums of its own, which are joined in the order of the chunks. So the order of additions follows from the
 * length of a line only.
 */
#ifndef DMLCY_NORMS_H
#define DMLCY_NORMS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "isa.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

#define DMLCY_NORM_LANES 32 /* the number of partial sums of a line, or of lines that are computed side by side */
#define DMLCY_NORM_CHUNK 4096 /* the most elements of a line that are computed at once; the sums of such parts are
                               * joined */
#define DMLCY_NORM_TENSORS 8
#define DMLCY_NORM_PARTS 4 /* the number of floats that are added up in FLOAT32 before their sum is added in double */

/* The work of a call of the loops: everything for lines of one chunk, or one step for a chunk of each line. */
enum {
    DMLCY_NORM_ALL,
    DMLCY_NORM_SIDE_BY_SIDE, /* everything for DMLCY_NORM_LANES lines of one chunk, which alternate in memory */
    DMLCY_NORM_SWEEP,   /* the sums of a chunk, joined with those of the chunks before it */
    DMLCY_NORM_JOIN,    /* the sums of other chunks are joined */
    DMLCY_NORM_FINISH,  /* sums become what later sweeps read */
    DMLCY_NORM_RESULTS, /* results for each element */
    DMLCY_NORM_ENDS     /* results for each line */
};

/* Rows of floats: the inputs, and then the outputs. A tensor with one element for each line has that as its row. */
typedef struct {
    float *rows[DMLCY_NORM_TENSORS];
    int64_t steps[DMLCY_NORM_TENSORS];  /* floats to the next line */
    int64_t paces[DMLCY_NORM_TENSORS];  /* floats to the next element of a line: 0 where it has the same one
                                         * DMLCY_NORM_LANES times for all its elements */
    int64_t across[DMLCY_NORM_TENSORS]; /* floats to the next element of a line, where lines are side by side */
    int64_t lines;
    int64_t n;              /* elements of each line that are here */
    int64_t first;          /* the number of the first of them in its line */
    double count;           /* elements of a whole line */
    double *states;         /* some for each line, where that is not here as a whole */
    const double *others;   /* the states to join */
    int fresh;              /* no chunk was before this one */
    int saved;              /* a sweep writes numbers to the first output, which the results are made of */
    const void *attributes;
} NormRows;

typedef void (*NormLoop)(const NormRows *rows, int step, int sweep);

typedef struct {
    NormLoop levels[3];
    int sweeps;
    int states;             /* numbers of the state of a line */
    int saves;
    uint32_t single;        /* a bit for each tensor: it has one element for each line */
    uint32_t reads[4];      /* a bit for each tensor that a sweep reads; those of the results come last */
} NormKernel;

/* ---- sums over neighbors ---- */

/* A block of elements; all rows have room for DMLCY_NORM_LANES more. */
typedef struct {
    const float *x[2];      /* the inputs */
    double *terms;          /* what is added up */
    const double *around;   /* sums around the elements */
    const double *from;     /* sums of what the elements get from others */
    float *results;
    int64_t n;
    const void *attributes;
} NearRows;

typedef void (*NearLoop)(const NearRows *rows, int step);

typedef struct {
    NearLoop levels[3];
    int from;               /* there are two sums */
} NearKernel;

/* ---- what is joined ---- */

#define DMLCY_NONE_sum 0
#define DMLCY_NONE_parts 0
#define DMLCY_NONE_whole 0
#define DMLCY_NONE_greatest (-INFINITY)
#define DMLCY_NONE_least INFINITY
#define DMLCY_NONE_bits 0
#define DMLCY_BOTH_sum(a, b) ((a) + (b))
#define DMLCY_BOTH_parts(a, b) ((a) + (b))
#define DMLCY_BOTH_whole(a, b) ((a) + (b)) /* whole numbers, exact in any order */
#define DMLCY_BOTH_bits(a, b) ((b) > (a) ? (b) : (a)) /* without a sign: infinities and NaN are the greatest */
#define DMLCY_BOTH_greatest(a, b) ((b) > (a) ? (b) : (a)) /* a number, unless there is none */
#define DMLCY_BOTH_least(a, b) ((b) < (a) ? (b) : (a))

/* The rounding error of the mean, the quotient of a sum and a count. */
static inline double dmlcy_mean_rest(double sum, double count)
{
    const double mean = sum / count;
    return fma(-mean, count, sum) / count;
}

/* ---- floats instead of doubles ---- */

#define DMLCY_NORM_HUGE 0x1p62
#define DMLCY_NORM_FINITE(x) ((x) - (x) == 0)

DMLCY_INLINE int dmlcy_is_not_huge(double x)
{
    return (x <= DMLCY_NORM_HUGE) & (x >= -DMLCY_NORM_HUGE);
}

/* Whether a number of a line is 0, or neither huge nor tiny: products with it lose nothing in floats. */
DMLCY_INLINE int dmlcy_is_ordinary(double x)
{
    const int is_tiny = (x < 1 / DMLCY_NORM_HUGE) & (x > -1 / DMLCY_NORM_HUGE);
    return (x == 0.0) | (dmlcy_is_not_huge(x) & !is_tiny);
}

/* Whether some of DMLCY_NORM_LANES floats are not finite. */
DMLCY_INLINE int dmlcy_norm_is_far(const float *x)
{
    int i, far = 0;
    for (i = 0; i < DMLCY_NORM_LANES; i++)
        far |= !DMLCY_NORM_FINITE(x[i]);
    return far;
}

#if DMLCY_X86
DMLCY_WIDE DMLCY_INLINE int dmlcy_norm_is_far_wide(const float *x)
{
    const __m256i infinite = _mm256_set1_epi32(0x7f000000);
    __m256i far = _mm256_setzero_si256();
    int i;
    for (i = 0; i < DMLCY_NORM_LANES; i += 8) {
        const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(x + i));
        far = _mm256_or_si256(far, _mm256_cmpgt_epi32(_mm256_slli_epi32(bits, 1), infinite));
    }
    return !_mm256_testz_si256(far, far);
}

DMLCY_WIDEST DMLCY_INLINE int dmlcy_norm_is_far_widest(const float *x)
{
    const int first = _mm512_fpclass_ps_mask(_mm512_loadu_ps(x), 0x99); /* infinities and NaN */
    return (first | _mm512_fpclass_ps_mask(_mm512_loadu_ps(x + 16), 0x99)) != 0;
}
#else
#define dmlcy_norm_is_far_wide dmlcy_norm_is_far
#define dmlcy_norm_is_far_widest dmlcy_norm_is_far
#endif

/* The last elements of a line, and zeros. Apart, since compilers make of it more text than of a loop over a line. */
DMLCY_APART void dmlcy_norm_pad(float *pad, const float *source, int rest)
{
    memset(pad, 0, DMLCY_NORM_LANES * sizeof(float));
    memcpy(pad, source, (size_t)rest * sizeof(float));
}

/* An integer in a range; 0 for NaN. */
static inline double dmlcy_cut_to(double x, double least, double most)
{
    const double number = x == x ? x : 0;
    return number < least ? least : number > most ? most : number;
}

DMLCY_INLINE float dmlcy_cut_float(float x, float least, float most)
{
    const float number = x == x ? x : 0.0f;
    const float above = number < least ? least : number;
    return above > most ? most : above;
}

#endif
