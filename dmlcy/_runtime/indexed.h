/* Elements by index.
 *
 * index_rows.h has the loops for each type of an index, and indexed_elements.h those for each size of an element, too,
 * of one index each. With several coordinates, or an index for a row of elements, the indices become offsets in bytes.
 * The function dmlcy_offsets adds those of a coordinate, dmlcy_flat_offsets those of indices that count all elements of
 * a tensor. dmlcy_take_ITEM reads elements of ITEM bytes at the offsets, dmlcy_give_ITEM writes them there, in order:
 * of two at one place, the later one stays.
 */
#ifndef DMLCY_INDEXED_H
#define DMLCY_INDEXED_H

#include <stdint.h>
#include <string.h>

#include "isa.h"
#include "moves.h"
#include "named.h"

#define DMLCY_WHOLE 32     /* bytes that are copied at once */
#define DMLCY_LONG_ROW 256 /* the fewest bytes of a row that is copied with aligned stores, so that few stores cross
                            * a cache line */
#define DMLCY_AHEAD 8      /* the number of indexed rows by which prefetches run ahead */
#define DMLCY_ASKED 4096   /* the most bytes of an indexed row that is prefetched; the processor itself prefetches
                            * longer rows */

#define DMLCY_TEXT "indexed_levels.h"
#include "both_levels.h"

#define DMLCY_PLACE(index) (((int64_t)(index) + ((index) < 0 ? size : 0)) * step)
/* Whether an index is one from the beginning: each is, where its type has no sign. */
#define DMLCY_COUNTS_ON(index) ((DMLCY_INDEX)-1 > 0 || (int64_t)(index) >= 0)
#define DMLCY_OF_INDEX(name) DMLCY_NAMED(name##_, DMLCY_INDEX)
#define DMLCY_OF_BOTH(name) DMLCY_NAMED(DMLCY_NAMED(name##_, DMLCY_INDEX), DMLCY_NAMED(_, DMLCY_ITEM))
#define DMLCY_INDEX int32_t
#include "index_rows.h"
#undef DMLCY_INDEX
#define DMLCY_INDEX uint32_t
#include "index_rows.h"
#undef DMLCY_INDEX
#define DMLCY_INDEX int64_t
#include "index_rows.h"
#undef DMLCY_INDEX
#define DMLCY_INDEX uint64_t
#include "index_rows.h"
#undef DMLCY_INDEX
#undef DMLCY_OF_BOTH
#undef DMLCY_OF_INDEX
#undef DMLCY_PLACE
#undef DMLCY_COUNTS_ON

/* Indices, none of which is negative, that count all elements of a tensor. */
static void dmlcy_flat_offsets(
    int64_t *offsets, int64_t n, const char *indices, int64_t stride, int item, int rank, const int64_t *sizes,
    const int64_t *steps)
{
    int64_t i;
    int d;
    for (i = 0; i < n; i++) {
        const char *const at = indices + i * stride;
        uint64_t rest = item == 4 ? *(const uint32_t *)at : *(const uint64_t *)at;
        for (d = rank - 1; d > 0; d--) {
            const uint64_t size = (uint64_t)sizes[d], next = rest / size;
            offsets[i] += (int64_t)(rest - next * size) * steps[d];
            rest = next;
        }
        offsets[i] += (int64_t)rest * steps[0];
    }
}

#define DMLCY_TEXT "indexed_rows.h"
#include "each_size.h"

/* The loops for a type of an index: its bytes, and 1 more where it has a sign; and for a size of an element. */
#define DMLCY_BY_INDEX(name) {[4] = name##_uint32_t, [5] = name##_int32_t, [8] = name##_uint64_t, [9] = name##_int64_t}
#define DMLCY_BY_BOTH(name)                                                           \
    {[4] = DMLCY_BY_SIZE(name##_uint32_t), [5] = DMLCY_BY_SIZE(name##_int32_t), \
     [8] = DMLCY_BY_SIZE(name##_uint64_t), [9] = DMLCY_BY_SIZE(name##_int64_t)}

typedef void (*dmlcy_offsets_row)(int64_t *, int64_t, const char *, int64_t, int64_t, int64_t);
typedef int (*dmlcy_outside_row)(const char *, int64_t, int64_t, int64_t, int64_t);
typedef void (*dmlcy_take_row)(const char *, const int64_t *, char *, int64_t, int64_t);
typedef void (*dmlcy_give_row)(char *, const int64_t *, const char *, int64_t, int64_t);
typedef void (*dmlcy_take_each)(
    const char *, int64_t, const char *, int64_t, int64_t, int64_t, char *, int64_t, int64_t);
typedef void (*dmlcy_give_each)(
    char *, int64_t, const char *, int64_t, int64_t, int64_t, const char *, int64_t, int64_t);
static const dmlcy_offsets_row dmlcy_offsets_rows[10] = DMLCY_BY_INDEX(dmlcy_offsets);
static const dmlcy_outside_row dmlcy_outside_rows[2][10] = {
    {[4] = dmlcy_any_outside_uint32_t, [5] = dmlcy_any_outside_int32_t, [8] = dmlcy_any_outside_uint64_t,
     [9] = dmlcy_any_outside_int64_t},
    {[4] = dmlcy_any_outside_uint32_t_wide, [5] = dmlcy_any_outside_int32_t_wide,
     [8] = dmlcy_any_outside_uint64_t_wide, [9] = dmlcy_any_outside_int64_t_wide},
};
static const dmlcy_take_row dmlcy_take_rows[9] = DMLCY_BY_SIZE(dmlcy_take);
static const dmlcy_give_row dmlcy_give_rows[9] = DMLCY_BY_SIZE(dmlcy_give);
static const dmlcy_take_each dmlcy_take_elements[10][9] = DMLCY_BY_BOTH(dmlcy_take_each);
static const dmlcy_give_each dmlcy_give_elements[10][9] = DMLCY_BY_BOTH(dmlcy_give_each);

typedef void (*dmlcy_take_whole)(const char *, const int64_t *, char *, int64_t, int64_t, int64_t, int);
typedef void (*dmlcy_give_whole)(char *, const int64_t *, const char *, int64_t, int64_t, int64_t);
static const dmlcy_take_whole dmlcy_take_whole_rows[2] = {dmlcy_take_wholes, dmlcy_take_wholes_wide};
static const dmlcy_give_whole dmlcy_give_whole_rows[2] = {dmlcy_give_wholes, dmlcy_give_wholes_wide};

#endif
