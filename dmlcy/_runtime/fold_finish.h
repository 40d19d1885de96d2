/* A function that makes doubles of the results of folds.h, for the levels of isa.h.
 *
 * To be included once for each function, with these macros, which the end of the file takes back:
 *
 * DMLCY_FINISH  the name of the function
 * DMLCY_ACC     the type of a result of the loops
 * DMLCY_VALUE   a function that makes a double of one, or nothing
 * DMLCY_RESULT  what is stored, of the double `acc`, of `count`, how many elements a line has, and of `top`
 * DMLCY_TOPS    1: it reads `top`
 */
#include "folds.h"

#define DMLCY_TEXT "fold_finish_rows.h"
#include "levels.h"

static void DMLCY_FINISH(const void *results, void *target, int64_t n, double count, const FoldArgs *args)
{
    const int level = dmlcy_level();
    if (level == DMLCY_LEVEL_WIDEST)
        DMLCY_NAMED(DMLCY_FINISH, _rows_widest)(results, target, n, count, args->tops);
    else if (level == DMLCY_LEVEL_WIDE)
        DMLCY_NAMED(DMLCY_FINISH, _rows_wide)(results, target, n, count, args->tops);
    else
        DMLCY_NAMED(DMLCY_FINISH, _rows)(results, target, n, count, args->tops);
}

#undef DMLCY_FINISH
#undef DMLCY_ACC
#undef DMLCY_VALUE
#undef DMLCY_RESULT
#undef DMLCY_TOPS
