/* Loops over rows of whole numbers that maxima and means under windows are made of. sums.pyx repeats these
 * declarations. */
#ifndef DMLCY_SUMS_H
#define DMLCY_SUMS_H

#include <stdint.h>

/* Quotients of sums, in the data type of an output. */
typedef struct {
    const double *sums;
    const double *counts;   /* elements under each window along the row, and those of `divisors` count */
    const double *divisors;
    double taken;           /* what each element lacks, times the rows under a window */
    double scale;
    double divisor;
    double added;
    double least;           /* of the data type */
    double most;
    uint8_t *target;
    int64_t step;
    int64_t size;
} SumQuotients;

typedef struct {
    /* Elements as whole numbers in the same order: NaN is the least of all, -0 is less than +0. */
    void (*keys)(int dtype, const char *source, int64_t step, int32_t *keys, int64_t n);
    /* Takes what is greater, with the number of its row. */
    void (*greater)(const int32_t *keys, int32_t row, int32_t *best, int32_t *rows, int64_t n);
    /* The same of floats that are neighbours. */
    void (*greater_floats)(const float *source, int32_t row, int32_t *best, int32_t *rows, int64_t n);
    /* A key, and below it the row and the column, which have `bits` bits: of two, the first is the greater one. */
    void (*placed)(const int32_t *best, const int32_t *rows, int bits, int64_t *keys, int64_t n);
    void (*most)(const int64_t *keys, int64_t step, int64_t *best, int64_t n);
    /* The same at once, of the greatest of so many rows of floats, which are `step` bytes apart. */
    void (*columns)(const char *source, int64_t step, int32_t rows, int bits, int64_t *keys, int64_t n);
    /* The greatest keys of windows that begin `step` keys apart, of so many taps each. */
    void (*most_inside)(
        const int64_t *keys, int64_t step, int64_t dilation, int64_t taps, int64_t *best, int64_t n);
    /* Adds each number to the sum at the place of its key; the least key has none. The same of floats, each alone at its
     * place: rows of the target are `row` bytes apart, columns `column` bytes. */
    void (*give)(const int64_t *keys, const double *numbers, double *sums, int64_t n);
    void (*give_floats)(const int64_t *keys, int bits, const float *numbers, char *target, int64_t row, int64_t column,
                        int64_t n);
    /* Windows of two by two floats side by side: writes two rows, each number where the greatest of its window is, and
     * zeros elsewhere. */
    void (*fours)(const float *first, const float *second, const float *numbers, float *above, float *below, int64_t n);
    void (*count)(int is_signed, const char *source, int64_t step, int32_t sign, int32_t *sums, int64_t n);
    /* Sums of two by two bytes side by side. */
    void (*twos)(int is_signed, const char *first, const char *second, double *sums, int64_t n);
    void (*widen)(const int32_t *sums, double *target, int64_t n);
    void (*plus)(const double *sums, int64_t step, double *target, int64_t n);
    void (*quotients)(const SumQuotients *work);
} SumLoops;

#endif
