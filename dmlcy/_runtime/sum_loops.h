/* The loops of sums.h for all levels of isa.h. */
#ifndef DMLCY_SUM_LOOPS_H
#define DMLCY_SUM_LOOPS_H

#include "elements.h"
#include "half.h"
#include "named.h"
#include "sums.h"

#define DMLCY_TEXT "sum_rows.h"
#include "levels.h"

#define DMLCY_SUM_LOOPS(level)                                                                                         \
    {dmlcy_sum_keys##level,  dmlcy_sum_greater##level, dmlcy_sum_placed##level, dmlcy_sum_most##level,                 \
     dmlcy_sum_count##level, dmlcy_sum_widen##level,   dmlcy_sum_plus##level,   dmlcy_sum_quotients##level}

static const SumLoops dmlcy_sum_loops[3] = {DMLCY_SUM_LOOPS(), DMLCY_SUM_LOOPS(_wide), DMLCY_SUM_LOOPS(_widest)};

#endif
