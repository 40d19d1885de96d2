/* The loops of attention over rows of scores, for each level; attention_rows.h has their text. */
#ifndef DMLCY_ATTENTION_H
#define DMLCY_ATTENTION_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ahead.h"
#include "functions_exp.h"
#include "isa.h"
#include "named.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

enum {
    DMLCY_SCORES = 16,          /* the number of partial sums of a dot product, or of the weights of a query; they
                                 * are joined pairwise */
    DMLCY_ROWS_AHEAD = 16,      /* the number of keys or values by which prefetches run ahead: processors do not
                                 * foresee such short rows */
    DMLCY_SCORE_ROOM = 16       /* floats behind a row of scores that loops may write */
};

#define DMLCY_LEAST_SCORE -87.0f /* e^-87 is a normal number */

typedef struct {
    /* Adds `added`, and then the masks, where they are not NULL, and returns the greatest score that is no NaN. */
    float (*greatest)(float *scores, const float *added, const float *masks, int64_t n);
    /* The addend of scores: `masked` where an element of a mask is 0. */
    void (*choose)(const int32_t *mask, float masked, float *to, int64_t n);
    /* Scores become weights, e^(score - greatest). Returns their sum. */
    float (*weigh)(float *scores, float greatest, int64_t n);
    /* One weight; its score is at most 0. */
    float (*weight)(float score);
    void (*scale)(float *x, float factor, int64_t n);
    void (*divide)(float *x, float divisor, int64_t n);
    /* (x + bias) * factor; without a bias that is NULL. */
    void (*prepare)(float *x, const float *bias, float factor, int64_t n);
    int (*are_finite)(const float *x, int64_t n);
    /* Says of each row whether an element is infinite or NaN, and returns whether there is one. */
    int (*find_special)(const float *rows, int64_t step, int64_t n, int64_t size, uint8_t *special);
    /* The products of a query and some rows of keys, each in DMLCY_SCORES chains, which are joined pairwise. */
    void (*dots)(const float *query, const float *rows, int64_t step, int64_t n, int64_t size, float *scores);
    /* Adds rows by their weights to the results, one after the other. */
    void (*add_rows)(
        const float *weights, const float *rows, int64_t step, int64_t n, int64_t size, float *results);
} AttentionLevel;

#define DMLCY_TEXT "attention_rows.h"
#include "levels.h"

static const AttentionLevel *const dmlcy_attention_levels[] = {
    &dmlcy_attention, &dmlcy_attention_wide, &dmlcy_attention_widest,
};

#endif
