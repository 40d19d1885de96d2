/* The loops of folds.h that look for the place of an extreme, for the levels of isa.h.
 *
 * To be included once for each type of keys, with these macros, which the end of the file takes back:
 *
 * DMLCY_FOLD    the name of the loops
 * DMLCY_NUMBER  the type of the numbers of rows, an integer: floats are taken as bits
 * DMLCY_LEVELS  for how many levels there is a text: 3 or 2
 * DMLCY_COMMON  1: there is a text of its own for lines of common lengths
 * DMLCY_KEY     the key of such a number x, an integer of the same size; it may read `flip`
 */
#include "folds.h"

#ifndef DMLCY_NEAR_PLACES
#define DMLCY_NEAR_PLACES 256 /* the number of elements of a row that are searched at once for the place of an
                               * extreme */

typedef struct {
    int64_t key;
    int64_t number; /* of the element in the line */
} fold_place_t;

static void dmlcy_join_first_places(void *results, const void *more, int64_t n)
{
    fold_place_t *const to = results;
    const fold_place_t *const of = more;
    int64_t i;
    for (i = 0; i < n; i++)
        to[i] = of[i].key > to[i].key ? of[i] : to[i];
}

static void dmlcy_join_last_places(void *results, const void *more, int64_t n)
{
    fold_place_t *const to = results;
    const fold_place_t *const of = more;
    int64_t i;
    for (i = 0; i < n; i++)
        to[i] = of[i].key >= to[i].key ? of[i] : to[i];
}

static void dmlcy_numbers_of_places(const void *results, void *target, int64_t n, double count, const FoldArgs *args)
{
    const fold_place_t *const of = results;
    int64_t *const to = target;
    int64_t i;
    (void)count, (void)args;
    for (i = 0; i < n; i++)
        to[i] = of[i].number;
}
#endif

#define DMLCY_AT(end) DMLCY_LEVEL(DMLCY_NAMED(DMLCY_FOLD, end))
#define DMLCY_TEXT "place_tiles.h"
#if DMLCY_LEVELS == 3
#include "levels.h"
#else
#include "both_levels.h"
#endif
#undef DMLCY_AT

#undef DMLCY_FOLD
#undef DMLCY_NUMBER
#undef DMLCY_KEY
#undef DMLCY_COMMON
#undef DMLCY_LEVELS
