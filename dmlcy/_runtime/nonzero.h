/* Elements that are not 0: flags of some elements at a time, the places of the flags, and rows of coordinates. */
#ifndef DMLCY_NONZERO_H
#define DMLCY_NONZERO_H

#include <stdint.h>
#include <string.h>

#include "isa.h"
#include "named.h"

#define DMLCY_FLAGGED 1024 /* the number of elements that are compared with zero at once */

#define DMLCY_TEXT "nonzero_rows.h"
#include "both_levels.h"

typedef void (*dmlcy_flags_row)(const char *, int64_t, uint8_t *, int64_t, uint32_t);
typedef int64_t (*dmlcy_flagged_row)(const uint8_t *, int64_t);
static const dmlcy_flags_row dmlcy_flags_rows[2][5] = {
    {[1] = dmlcy_flags_1, [2] = dmlcy_flags_2, [4] = dmlcy_flags_4},
    {[1] = dmlcy_flags_1_wide, [2] = dmlcy_flags_2_wide, [4] = dmlcy_flags_4_wide},
};
static const dmlcy_flagged_row dmlcy_flagged_rows[2] = {dmlcy_flagged, dmlcy_flagged_wide};

/* The places of the flags that are 1; behind the flags are 7 bytes of 0, and behind the places is room for 8 more. */
static int64_t dmlcy_found(const uint8_t *flags, int64_t n, uint16_t *places)
{
    int64_t i, count = 0;
    for (i = 0; i < n; i += 8) {
        uint64_t eight;
        int k;
        memcpy(&eight, flags + i, 8);
        if (eight == 0)
            continue;
        for (k = 0; k < 8; k++) {
            places[count] = (uint16_t)(i + k);
            count += flags[i + k];
        }
    }
    return count;
}

/* Rows of coordinates: that at `last` is a place and `more`, the others are those of `row`. */
#define DMLCY_ROWS(columns)                                                                                         \
    static void dmlcy_rows_##columns(                                                                               \
        uint32_t *DMLCY_RESTRICT to, const uint32_t *DMLCY_RESTRICT row, int last, const uint16_t *places, int64_t n, \
        uint32_t more)                                                                                              \
    {                                                                                                               \
        uint32_t own[columns];                                                                                      \
        int64_t i;                                                                                                  \
        int c;                                                                                                      \
        memcpy(own, row, sizeof own);                                                                               \
        for (i = 0; i < n; i++, to += columns) {                                                                    \
            for (c = 0; c < columns; c++)                                                                           \
                to[c] = own[c];                                                                                     \
            to[last] = places[i] + more;                                                                            \
        }                                                                                                           \
    }
DMLCY_ROWS(1)
DMLCY_ROWS(2)
DMLCY_ROWS(3)
DMLCY_ROWS(4)
DMLCY_ROWS(5)
DMLCY_ROWS(6)
DMLCY_ROWS(7)
DMLCY_ROWS(8)
#undef DMLCY_ROWS

typedef void (*dmlcy_rows_row)(uint32_t *, const uint32_t *, int, const uint16_t *, int64_t, uint32_t);
static const dmlcy_rows_row dmlcy_rows_of[9] = {
    [1] = dmlcy_rows_1, [2] = dmlcy_rows_2, [3] = dmlcy_rows_3, [4] = dmlcy_rows_4,
    [5] = dmlcy_rows_5, [6] = dmlcy_rows_6, [7] = dmlcy_rows_7, [8] = dmlcy_rows_8,
};

#endif
