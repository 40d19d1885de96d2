/* The loops of sums.h for all levels of isa.h. */
#ifndef DMLCY_SUM_LOOPS_H
#define DMLCY_SUM_LOOPS_H

#include "elements.h"
#include "half.h"
#include "named.h"
#include "sample_blocks.h"
#include "sums.h"

/* A whole number in the order of floats: NaN is the least of all, -0 is less than +0. */
DMLCY_INLINE int32_t dmlcy_sum_key(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= (bits >> 31) & INT32_MAX;
    return x != x ? INT32_MIN : bits;
}

#define DMLCY_TEXT "sum_rows.h"
#include "levels.h"

#define DMLCY_SUM_LOOPS(level)                                                                                         \
    {dmlcy_sum_keys##level, dmlcy_sum_greater##level, dmlcy_sum_greater_floats##level, dmlcy_sum_placed##level,        \
     dmlcy_sum_most##level, dmlcy_sum_columns##level, dmlcy_sum_most_inside##level,                                    \
     dmlcy_sum_give##level, dmlcy_sum_give_floats##level, dmlcy_sum_fours##level,                                      \
     dmlcy_sum_count##level, dmlcy_sum_twos##level,   dmlcy_sum_widen##level,          dmlcy_sum_plus##level,          \
     dmlcy_sum_quotients##level}

static const SumLoops dmlcy_sum_loops[3] = {DMLCY_SUM_LOOPS(), DMLCY_SUM_LOOPS(_wide), DMLCY_SUM_LOOPS(_widest)};

#endif
