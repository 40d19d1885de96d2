/* The loops that combine rows of elements of one type into a row of accumulators, for both instruction sets.
 *
 * To be included once for each type, with these macros, which the end of the file takes back:
 *
 * DMLCY_ROWS     the name of the loops
 * DMLCY_COMBINE  sum, max or first_place
 * DMLCY_ACC      the type of an accumulator
 * DMLCY_STORED   how elements are loaded: a type, or another word that blocks.h has
 * DMLCY_AFTER    the same for elements that are joined with an accumulator: a maximum with a number ignores NaN
 * DMLCY_ELEMENT  the type of an element in memory
 * DMLCY_WIDEN    makes an accumulator of an element
 * DMLCY_NONE     the accumulator of no element; only for DMLCY_SUMS
 * DMLCY_SUMS     1: the loops combine rows of accumulators, such as sums of rows, and the file makes `_clear`
 * DMLCY_NEAR     1: the file makes `_near`, which combines neighbours in a row of accumulators
 * DMLCY_DIRECT   1: the loops combine rows of the input where they are, and the file makes `_slide` and `_fold`
 * DMLCY_COSTLY   1: without the wide instruction set, to convert or to combine a block takes many instructions; 2: with
 *                this set too, or the loops run only where a result is doubtful. These loops are kept small
 * DMLCY_FOLDS    1: `_fold` may combine elements in any order, and an element twice; only for DMLCY_DIRECT
 */
#include "joins.h"
#include "moves.h"
#include "window_loops.h"

/* One element after the other, where they are fewer than a block. */
static void DMLCY_NAMED(DMLCY_ROWS, _short)(const WindowSum *sum, DMLCY_ACC *target, int64_t moved, int fresh)
{
    int64_t i, n;
    for (i = 0; i < sum->size; i++)
        for (n = 0; n < sum->waiting; n += 2) {
            DMLCY_ACC other = DMLCY_WIDEN(((const DMLCY_ELEMENT *)sum->row[n])[moved + i]);
            if (n + 1 < sum->waiting) {
                const DMLCY_ACC next = DMLCY_WIDEN(((const DMLCY_ELEMENT *)sum->row[n + 1])[moved + i]);
                other = DMLCY_TWO(other, next);
            }
            target[i] = fresh && n == 0 ? other : DMLCY_TWO(target[i], other);
        }
}

#if DMLCY_DIRECT && !DMLCY_FOLDS
/* The same for all rows of a plane. */
static void DMLCY_NAMED(DMLCY_ROWS, _plane)(const WindowFold *fold, const char *plane, DMLCY_ACC *target)
{
    int64_t i, n;
    for (i = 0; i < fold->size; i++)
        for (n = 0; n < fold->rows; n += 2) {
            const DMLCY_ELEMENT *const row = (const DMLCY_ELEMENT *)(plane + n * fold->row_step) + i;
            DMLCY_ACC other = DMLCY_WIDEN(*row);
            if (n + 1 < fold->rows) {
                const DMLCY_ACC next = DMLCY_WIDEN(*(const DMLCY_ELEMENT *)((const char *)row + fold->row_step));
                other = DMLCY_TWO(other, next);
            }
            target[i] = n == 0 ? other : DMLCY_TWO(target[i], other);
        }
}
#endif

#if DMLCY_SUMS
static void DMLCY_NAMED(DMLCY_ROWS, _clear)(void *target, int64_t bytes)
{
    DMLCY_ACC *const sums = target;
    int64_t i;
    for (i = 0; i < bytes / (int64_t)sizeof(DMLCY_ACC); i++)
        sums[i] = DMLCY_NONE;
}
#endif

#define DMLCY_TEXT "combine_blocks.h"
#include "both_levels.h"

#undef DMLCY_ROWS
#undef DMLCY_COMBINE
#undef DMLCY_ACC
#undef DMLCY_STORED
#undef DMLCY_AFTER
#undef DMLCY_ELEMENT
#undef DMLCY_WIDEN
#undef DMLCY_NONE
#undef DMLCY_SUMS
#undef DMLCY_NEAR
#undef DMLCY_DIRECT
#undef DMLCY_FOLDS
#undef DMLCY_COSTLY
