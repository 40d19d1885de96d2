/* The loops of scans.h for one type of numbers, except products of floats.
 *
 * To be included once for each type, with these macros, which the end of the file takes back:
 *
 * DMLCY_SCAN       the name of the loops
 * DMLCY_NUMBER     the type of the numbers
 * DMLCY_ACC        the type of the running result
 * DMLCY_TWO(a, b)  the next one, of the last one and of a number
 * DMLCY_NONE       the one before the first number
 * DMLCY_WIDEST_TOO 1: there is a text for the widest level
 */
#define DMLCY_AT(end) DMLCY_LEVEL(DMLCY_NAMED(DMLCY_SCAN, end))
#define DMLCY_TEXT "scan_lines.h"
#if DMLCY_WIDEST_TOO
#include "levels.h"
#else
#include "both_levels.h"
#endif
#undef DMLCY_AT

static void DMLCY_NAMED(DMLCY_SCAN, _begin)(void *state, int64_t n)
{
    DMLCY_ACC *const acc = state;
    int64_t i;
    for (i = 0; i < n; i++)
        acc[i] = DMLCY_NONE;
}

#undef DMLCY_SCAN
#undef DMLCY_NUMBER
#undef DMLCY_ACC
#undef DMLCY_TWO
#undef DMLCY_NONE
#undef DMLCY_WIDEST_TOO
