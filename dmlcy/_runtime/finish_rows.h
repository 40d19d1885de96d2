/* The loops that make results of accumulators.
 *
 * To be included once for each type, with these macros, which the end of the file takes back:
 *
 * DMLCY_FINISH   the name of the loops
 * DMLCY_COMBINE  sum, max or first_place, for taps that are not combined yet
 * DMLCY_ACC      the type of an accumulator
 * DMLCY_ELEMENT  the type of an element in memory
 * DMLCY_STORED   how elements are stored: a type, or another word that blocks.h has
 * DMLCY_NARROW   makes an element of a result
 * DMLCY_RESULT   makes a result of an accumulator, a count, the volume and the attributes; for `result` and `halves`
 * DMLCY_AS       how results are made. plain: accumulators are results; quotient: accumulators are divided by counts;
 *                result: by DMLCY_RESULT; halves: by DMLCY_RESULT, and then float16; placed: accumulators have the
 *                number of an element too, and DMLCY_NARROW takes the element or the index
 * DMLCY_NONE     is added to an accumulator before the division; for `quotient`
 * DMLCY_EXACT    1: the loop says whether a result is doubtful
 */
#include "joins.h"
#include "window_loops.h"

#ifndef DMLCY_FINISHED
#define DMLCY_FINISHED DMLCY_NAMED(DMLCY_FINISHED_, DMLCY_AS)
#define DMLCY_FINISHED_plain 1
#define DMLCY_FINISHED_quotient 2
#define DMLCY_FINISHED_result 3
#define DMLCY_FINISHED_halves 4
#define DMLCY_FINISHED_placed 5
#endif

#define DMLCY_TEXT "finish_blocks.h"
#include "both_levels.h"

#undef DMLCY_FINISH
#undef DMLCY_COMBINE
#undef DMLCY_ACC
#undef DMLCY_ELEMENT
#undef DMLCY_STORED
#undef DMLCY_NARROW
#undef DMLCY_RESULT
#undef DMLCY_NONE
#undef DMLCY_AS
#undef DMLCY_EXACT
