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

#define DMLCY_NORM_LANES 32
#define DMLCY_NORM_CHUNK 4096 /* elements */
#define DMLCY_NORM_TENSORS 8

/* What a call of the loops does: everything for lines of one chunk, or one step for a chunk of each line. */
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
#define DMLCY_NONE_greatest (-INFINITY)
#define DMLCY_NONE_least INFINITY
#define DMLCY_NONE_bits 0
#define DMLCY_BOTH_sum(a, b) ((a) + (b))
#define DMLCY_BOTH_bits(a, b) ((b) > (a) ? (b) : (a)) /* without a sign: infinities and NaN are the greatest */
#define DMLCY_BOTH_greatest(a, b) ((b) > (a) ? (b) : (a)) /* a number, unless there is none */
#define DMLCY_BOTH_least(a, b) ((b) < (a) ? (b) : (a))

/* What rounding took from the mean, the quotient of a sum and a count. */
static inline double dmlcy_mean_rest(double sum, double count)
{
    const double mean = sum / count;
    return fma(-mean, count, sum) / count;
}

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
