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
#define DMLCY_WIDEST_TOO 1
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
#define DMLCY_WIDEST_TOO 0
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
#define DMLCY_WIDEST_TOO 0
#define DMLCY_COMMON 0
#define DMLCY_TURNED 0
#include "fold_rows.h"

#define DMLCY_FOLD dmlcy_place_float
#define DMLCY_NUMBER int32_t
#define DMLCY_KEY dmlcy_place_key(x, flip)
#define DMLCY_COMMON 1
#include "place_rows.h"

#define DMLCY_FOLD dmlcy_place_int32
#define DMLCY_NUMBER int32_t
#define DMLCY_KEY (x ^ flip)
#define DMLCY_COMMON 0
#include "place_rows.h"

#define DMLCY_FOLD dmlcy_place_int64
#define DMLCY_NUMBER int64_t
#define DMLCY_KEY (x ^ flip)
#define DMLCY_COMMON 0
#include "place_rows.h"

/* Elements of keys. */
static void dmlcy_elements_float(const void *results, void *target, int64_t n, double count, const FoldArgs *args)
{
    const int32_t *const keys = results;
    int32_t *const to = target;
    int64_t i;
    (void)count;
    for (i = 0; i < n; i++)
        to[i] = dmlcy_bits_of_fold_key(keys[i], (int32_t)args->flip);
}

static void dmlcy_elements_int32(const void *results, void *target, int64_t n, double count, const FoldArgs *args)
{
    const int32_t *const keys = results;
    int32_t *const to = target;
    int64_t i;
    (void)count;
    for (i = 0; i < n; i++)
        to[i] = keys[i] ^ (int32_t)args->flip;
}

static void dmlcy_elements_int64(const void *results, void *target, int64_t n, double count, const FoldArgs *args)
{
    const int64_t *const keys = results;
    int64_t *const to = target;
    int64_t i;
    (void)count;
    for (i = 0; i < n; i++)
        to[i] = keys[i] ^ args->flip;
}

#define DMLCY_EXTREME(name, size, widest)                                           \
    {                                                                               \
        .along = {dmlcy_extreme_##name##_along, dmlcy_extreme_##name##_along_wide,  \
                  dmlcy_extreme_##name##_along_##widest},                           \
        .across = {dmlcy_extreme_##name##_across, dmlcy_extreme_##name##_across_wide, \
                   dmlcy_extreme_##name##_across_##widest},                         \
        .join = dmlcy_extreme_##name##_join, \
        .finish = dmlcy_elements_##name, .item = size, .bits = size,                \
        .number = DMLCY_OF_##name, .gives = DMLCY_OF_##name,                        \
    }
#define DMLCY_PLACES_OF(name, size, which)                                          \
    {                                                                               \
        .along = {dmlcy_place_##name##_along, dmlcy_place_##name##_along_wide, dmlcy_place_##name##_along_widest}, \
        .across = {dmlcy_place_##name##_across, dmlcy_place_##name##_across_wide, dmlcy_place_##name##_across_widest}, \
        .join = dmlcy_join_##which##_places, \
        .finish = dmlcy_numbers_of_places, .item = sizeof(fold_place_t), .bits = size, \
        .number = DMLCY_OF_##name, .gives = DMLCY_INT64,                            \
    }
#define DMLCY_OF_float DMLCY_FLOAT32
#define DMLCY_OF_int32 DMLCY_INT32
#define DMLCY_OF_int64 DMLCY_INT64

/* Floats, integers of up to 32 bits, and those of 64; places of the first and of the last one of equal elements. */
static const FoldKernel dmlcy_extremes[3] = {
    DMLCY_EXTREME(float, 4, widest), DMLCY_EXTREME(int32, 4, wide), DMLCY_EXTREME(int64, 8, wide)};
static const FoldKernel dmlcy_places[2][3] = {
    {DMLCY_PLACES_OF(float, 4, first), DMLCY_PLACES_OF(int32, 4, first), DMLCY_PLACES_OF(int64, 8, first)},
    {DMLCY_PLACES_OF(float, 4, last), DMLCY_PLACES_OF(int32, 4, last), DMLCY_PLACES_OF(int64, 8, last)}};

#endif
