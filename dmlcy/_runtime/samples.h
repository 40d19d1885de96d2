/* Loops over rows of double that means of elements are made of. The loops convert elements to numbers and numbers to
 * elements, and add rows with weights and the elements along a row. samples.pxd repeats these declarations.
 *
 * Products are rounded before they are added: so the bits are the same at each level of isa.h. The first product is the
 * sum to which the others are added.
 */
#ifndef DMLCY_SAMPLES_H
#define DMLCY_SAMPLES_H

#include <stdint.h>

#define DMLCY_PAIR_BLOCK 8  /* targets that pairs of taps have in common */
#define DMLCY_PAIR_ROOM 16  /* numbers behind a row that a loop over pairs may read, and write */

/* The sources of each target along an axis: taps begin[t] … begin[t+1]-1, each with the number of its source. */
typedef struct {
    int64_t *begin;
    int64_t *source;
    double *weight;
} SampleTaps;

/* Two taps for each target, in blocks of DMLCY_PAIR_BLOCK targets, of which the last one may have targets that nobody
 * reads. A source is that of the block and what `low` and `high` add. `near`: these are less than DMLCY_PAIR_ROOM. A
 * target of one element takes half of it twice. */
typedef struct {
    int64_t *base;
    int64_t *low;
    int64_t *high;
    double *first;
    double *second;
    int near;
} SamplePairs;

typedef struct {
    /* Elements `step` bytes apart. */
    void (*load)(int dtype, const char *source, int64_t step, double *target, int64_t n);
    /* The numbers plus `zero`, rounded once; those of integers are rounded to float, and their fractions dropped. */
    void (*store)(int dtype, const double *source, double zero, char *target, int64_t step, int64_t n);
    void (*times)(const double *a, double weight, double *target, int64_t n);
    void (*plus)(const double *a, double weight, double *target, int64_t n);
    void (*blend)(const double *a, double first, const double *b, double second, double *target, int64_t n);
    void (*blend_floats)(
        const double *a, double first, const double *b, double second, double zero, float *target, int64_t n);
    /* Sums of two by two elements of two rows, and of `zero`: those of the rows are added first. */
    void (*fours)(const float *first, const float *second, double zero, float *target, int64_t n);
    void (*add)(const double *a, double *target, int64_t n);
    void (*sum)(const double *a, const double *b, double *target, int64_t n);
    /* Adds four rows, one after the other. */
    void (*sum_four)(const double *const *rows, double *target, int64_t n);
    /* Adds a row to the sum before it; the target is this sum and that of the rows behind. */
    void (*slide)(const double *row, double *before, const double *behind, float *target, int64_t n);
    /* Times a weight, and times those of each element. */
    void (*scale)(const double *each, double weight, double *target, int64_t n);
    /* The elements of two rows at some places, added. */
    void (*take)(const double *a, const int64_t *at, const double *b, const int64_t *also, double *target, int64_t n);
    /* Targets first … end-1 of a row whose sources begin with number `from`. */
    void (*along)(const SampleTaps *taps, int64_t first, int64_t end, const double *row, int64_t start, double *target);
    /* The same of blocks. */
    void (*along_pairs)(
        const SamplePairs *pairs, int64_t first, int64_t end, const double *row, int64_t start, double *target);
} SampleLoops;

#endif
