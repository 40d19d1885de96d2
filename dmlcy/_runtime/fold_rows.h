/* The loops of folds.h for one way to fold, for the levels of isa.h.
 *
 * To be included once for each way, with these macros, which the end of the file takes back:
 *
 * DMLCY_FOLD       the name of the loops
 * DMLCY_NUMBER     the type of the numbers of rows
 * DMLCY_WORK       the type of what a step reads of a number
 * DMLCY_ACC        the type of an accumulator, and of a result
 * DMLCY_STEP       what becomes of the number x; it may read `top` and `flip`
 * DMLCY_TOPS       1: it reads `top`
 * DMLCY_TWO(a, b)  joins two accumulators
 * DMLCY_NONE       the accumulator of no elements
 * DMLCY_LEVELS     for how many levels there is a text
 * DMLCY_COMMON     1: sums of doubles, or extremes, with a text of its own for lines of common lengths
 * DMLCY_TURNED     1: the order counts, there is a loop `turned`
 */
#include "folds.h"

#define DMLCY_OWN(end) DMLCY_NAMED(DMLCY_FOLD, end)
#define DMLCY_AT(end) DMLCY_LEVEL(DMLCY_NAMED(DMLCY_FOLD, end))

#define DMLCY_TOP(i) (DMLCY_TOPS ? tops[i] : 0.0f)

#define DMLCY_TEXT "fold_tiles.h"
#if DMLCY_LEVELS == 3
#include "levels.h"
#elif DMLCY_LEVELS == 2
#include "both_levels.h"
#else
#define DMLCY_LEVEL(name) name
#define DMLCY_TARGET
#define DMLCY_IS_WIDE 0
#define DMLCY_FUSED DMLCY_BASELINE_FUSED
#include DMLCY_TEXT
#undef DMLCY_LEVEL
#undef DMLCY_TARGET
#undef DMLCY_IS_WIDE
#undef DMLCY_FUSED
#undef DMLCY_TEXT
#endif

static void DMLCY_OWN(_join)(void *results, const void *more, int64_t n)
{
    DMLCY_ACC *const to = results;
    const DMLCY_ACC *const of = more;
    int64_t i;
    for (i = 0; i < n; i++)
        to[i] = DMLCY_TWO(to[i], of[i]);
}

#undef DMLCY_OWN
#undef DMLCY_AT
#undef DMLCY_TOP
#undef DMLCY_TOPS
#undef DMLCY_FOLD
#undef DMLCY_NUMBER
#undef DMLCY_WORK
#undef DMLCY_ACC
#undef DMLCY_STEP
#undef DMLCY_TWO
#undef DMLCY_NONE
#undef DMLCY_LEVELS
#undef DMLCY_COMMON
#undef DMLCY_TURNED
