/* The loops for extremes and their places. */
#ifndef DMLCY_FOLD_EXTREMES_H
#define DMLCY_FOLD_EXTREMES_H

#include "elements.h"
#include "folds.h"

#define DMLCY_GREATER(a, b) ((a) > (b) ? (a) : (b))

#define DMLCY_FOLD dmlcy_extreme_float
#define DMLCY_NUMBER int32_t
#define DMLCY_WORK int32_t
#define DMLCY_ACC int32_t
#define DMLCY_STEP dmlcy_fold_key(x, (int32_t)flip)
#define DMLCY_TOPS 0
#define DMLCY_TWO DMLCY_GREATER
#define DMLCY_NONE INT32_MIN
#define DMLCY_LEVELS 2
#define DMLCY_COMMON 0
#define DMLCY_TURNED 0
#include "fold_rows.h"

/* The same in fewer steps: a NaN is greater than all numbers here, or less. */
#define DMLCY_FOLD dmlcy_extreme_fast
#define DMLCY_NUMBER int32_t
#define DMLCY_WORK int32_t
#define DMLCY_ACC int32_t
#define DMLCY_STEP ((x & INT32_MAX) ^ x >> 31 ^ (int32_t)flip)
#define DMLCY_TOPS 0
#define DMLCY_TWO DMLCY_GREATER
#define DMLCY_NONE INT32_MIN
#define DMLCY_LEVELS 3
#define DMLCY_COMMON 1
#define DMLCY_TURNED 0
#include "fold_rows.h"

#define DMLCY_FOLD dmlcy_extreme_int32
#define DMLCY_NUMBER int32_t
#define DMLCY_WORK int32_t
#define DMLCY_ACC int32_t
#define DMLCY_STEP (x ^ (int32_t)flip)
#define DMLCY_TOPS 0
#define DMLCY_TWO DMLCY_GREATER
#define DMLCY_NONE INT32_MIN
#define DMLCY_LEVELS 2
#define DMLCY_COMMON 0
#define DMLCY_TURNED 0
#include "fold_rows.h"

#define DMLCY_FOLD dmlcy_extreme_int64
#define DMLCY_NUMBER int64_t
#define DMLCY_WORK int64_t
#define DMLCY_ACC int64_t
#define DMLCY_STEP (x ^ flip)
#define DMLCY_TOPS 0
#define DMLCY_TWO DMLCY_GREATER
#define DMLCY_NONE INT64_MIN
#define DMLCY_LEVELS 2
#define DMLCY_COMMON 0
#define DMLCY_TURNED 0
#include "fold_rows.h"

#define DMLCY_FOLD dmlcy_place_float
#define DMLCY_NUMBER int32_t
#define DMLCY_KEY dmlcy_place_key(x, flip)
#define DMLCY_LEVELS 3
#define DMLCY_COMMON 1
#include "place_rows.h"

#define DMLCY_FOLD dmlcy_place_int32
#define DMLCY_NUMBER int32_t
#define DMLCY_KEY (x ^ flip)
#define DMLCY_LEVELS 2
#define DMLCY_COMMON 0
#include "place_rows.h"

#define DMLCY_FOLD dmlcy_place_int64
#define DMLCY_NUMBER int64_t
#define DMLCY_KEY (x ^ flip)
#define DMLCY_LEVELS 2
#define DMLCY_COMMON 0
#include "place_rows.h"

/* Elements of keys. */
#define DMLCY_ELEMENTS(name, type, element)                                         \
    DMLCY_INLINE void dmlcy_put_##name(const type *keys, type *to, int64_t n, type flip) \
    {                                                                               \
        int64_t i;                                                                  \
        DMLCY_APART_EACH                                                            \
        for (i = 0; i < n; i++)                                                     \
            to[i] = element;                                                        \
    }                                                                               \
                                                                                    \
    DMLCY_WIDE static void dmlcy_put_##name##_wide(const type *keys, type *to, int64_t n, type flip) \
    {                                                                               \
        dmlcy_put_##name(keys, to, n, flip);                                        \
    }                                                                               \
                                                                                    \
    static void dmlcy_elements_##name(                                              \
        const void *results, void *target, int64_t n, double count, const FoldArgs *args) \
    {                                                                               \
        (void)count;                                                                \
        if (dmlcy_wide())                                                           \
            dmlcy_put_##name##_wide(results, target, n, (type)args->flip);          \
        else                                                                        \
            dmlcy_put_##name(results, target, n, (type)args->flip);                 \
    }

DMLCY_ELEMENTS(float, int32_t, dmlcy_bits_of_fold_key(keys[i], flip))
DMLCY_ELEMENTS(int32, int32_t, keys[i] ^ flip)
DMLCY_ELEMENTS(int64, int64_t, keys[i] ^ flip)
#undef DMLCY_ELEMENTS

/* Whether there was a NaN, and a number perhaps, too. */
static int dmlcy_fold_doubts(const void *results, int64_t n)
{
    const int32_t *const keys = results;
    int64_t i;
    int doubts = 0;
    for (i = 0; i < n; i++)
        doubts |= (keys[i] > 0x7f800000) | (keys[i] < ~0x7f800000);
    return doubts;
}

#define dmlcy_elements_fast dmlcy_elements_float

#define DMLCY_EXTREME(name, size, widest, with_care)                                         \
    {                                                                               \
        .along = {dmlcy_extreme_##name##_along, dmlcy_extreme_##name##_along_wide,  \
                  dmlcy_extreme_##name##_along_##widest},                           \
        .across = {dmlcy_extreme_##name##_across, dmlcy_extreme_##name##_across_wide, \
                   dmlcy_extreme_##name##_across_##widest},                         \
        .join = dmlcy_extreme_##name##_join, \
        .finish = dmlcy_elements_##name, .item = size, .bits = size,                \
        .number = DMLCY_OF_##name, .gives = DMLCY_OF_##name, .careful = with_care, .doubts = dmlcy_fold_doubts, \
    }
#define DMLCY_PLACES_OF(name, size, widest, which)                                        \
    {                                                                               \
        .along = {dmlcy_place_##name##_along, dmlcy_place_##name##_along_wide, dmlcy_place_##name##_along_##widest}, \
        .across = {dmlcy_place_##name##_across, dmlcy_place_##name##_across_wide,   \
                   dmlcy_place_##name##_across_##widest},                           \
        .join = dmlcy_join_##which##_places, \
        .finish = dmlcy_numbers_of_places, .item = sizeof(fold_place_t), .bits = size, \
        .number = DMLCY_OF_##name, .gives = DMLCY_INT64,                            \
    }
#define DMLCY_OF_float DMLCY_FLOAT32
#define DMLCY_OF_fast DMLCY_FLOAT32
#define DMLCY_OF_int32 DMLCY_INT32
#define DMLCY_OF_int64 DMLCY_INT64

/* Floats, integers of up to 32 bits, and those of 64; places of the first and of the last one of equal elements. */
static const FoldKernel dmlcy_careful = DMLCY_EXTREME(float, 4, wide, NULL);
static const FoldKernel dmlcy_extremes[3] = {
    DMLCY_EXTREME(fast, 4, widest, &dmlcy_careful), DMLCY_EXTREME(int32, 4, wide, NULL),
    DMLCY_EXTREME(int64, 8, wide, NULL)};
static const FoldKernel dmlcy_places[2][3] = {
    {DMLCY_PLACES_OF(float, 4, widest, first), DMLCY_PLACES_OF(int32, 4, wide, first),
     DMLCY_PLACES_OF(int64, 8, wide, first)},
    {DMLCY_PLACES_OF(float, 4, widest, last), DMLCY_PLACES_OF(int32, 4, wide, last),
     DMLCY_PLACES_OF(int64, 8, wide, last)},
};

#endif
