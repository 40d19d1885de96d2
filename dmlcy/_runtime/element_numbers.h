/* Elements of one data type as numbers of another, and back: what loops take and give that have no text for each data
 * type. Numbers are FLOAT32, FLOAT64, INT32 or INT64; conditions are bytes.
 *
 * Every number has the elements that a loop takes as it. Of numbers that a data type does not have, floats are cut to its
 * range, and integers lose their upper bits.
 */
#ifndef DMLCY_ELEMENT_NUMBERS_H
#define DMLCY_ELEMENT_NUMBERS_H

#include "elements.h"
#include "half.h"
#include "named.h"

#define DMLCY_NARROW(each) each(UINT8, uint8_t) each(INT8, int8_t) each(UINT16, uint16_t) each(INT16, int16_t)
#define DMLCY_LONG(each) each(UINT32, uint32_t) each(INT32, int32_t)
#define DMLCY_LONGEST(each) each(UINT64, uint64_t) each(INT64, int64_t)

#define DMLCY_LOADED(name, type)                                                    \
    case DMLCY_##name:                                                              \
        for (i = 0; i < n; i++)                                                     \
            numbers[i] = (DMLCY_NUMBER)((const type *)source)[i];                   \
        return;
#define DMLCY_CUT(name, type)                                                       \
    case DMLCY_##name:                                                              \
        for (i = 0; i < n; i++)                                                     \
            ((type *)to)[i] = dmlcy_saturate_##type(numbers[i]);                    \
        return;
#define DMLCY_KEPT_BITS(name, type)                                                 \
    case DMLCY_##name:                                                              \
        for (i = 0; i < n; i++)                                                     \
            ((type *)to)[i] = (type)numbers[i];                                     \
        return;

/* ---- FLOAT32 ---- */

/* A number is at most 2^24 - 1 above the range of bytes, and is cut as a float. */
#define DMLCY_CUT_FLOATS(name, type, low, high)                                     \
    case DMLCY_##name:                                                              \
        for (i = 0; i < n; i++) {                                                   \
            const float number = DMLCY_IS_NAN(numbers[i]) ? 0 : numbers[i];         \
            const float above = number < low ? low : number;                        \
            ((type *)to)[i] = (type)(int32_t)(above > high ? high : above);         \
        }                                                                           \
        return;

#define DMLCY_TEXT "number_blocks.h"
#include "both_levels.h"

/* ---- FLOAT64 ---- */

#define DMLCY_NUMBER double
DMLCY_APART void dmlcy_load_doubles(double *numbers, const void *source, int64_t n, int dtype)
{
    int64_t i;
    switch (dtype) {
    DMLCY_NARROW(DMLCY_LOADED)
    DMLCY_LONG(DMLCY_LOADED)
    DMLCY_LONGEST(DMLCY_LOADED)
    DMLCY_LOADED(FLOAT32, float)
    DMLCY_LOADED(FLOAT64, double)
    case DMLCY_FLOAT16:
        for (i = 0; i < n; i++)
            numbers[i] = dmlcy_float_of_half(((const uint16_t *)source)[i]);
    }
}
#undef DMLCY_NUMBER

DMLCY_APART void dmlcy_store_doubles(const double *numbers, void *to, int64_t n, int dtype)
{
    int64_t i;
    switch (dtype) {
    DMLCY_NARROW(DMLCY_CUT)
    DMLCY_LONG(DMLCY_CUT)
    DMLCY_LONGEST(DMLCY_CUT)
    DMLCY_KEPT_BITS(FLOAT32, float)
    case DMLCY_FLOAT16:
        for (i = 0; i < n; i++)
            ((uint16_t *)to)[i] = dmlcy_half_of_float(dmlcy_odd(numbers[i]));
    }
}

/* x * scale + bias: of floats rounded to FLOAT32 once, of integers to FLOAT64 twice. */
DMLCY_APART void dmlcy_scale_doubles(double *x, int64_t n, float scale, float bias, int dtype)
{
    int64_t i;
    if (dtype == DMLCY_FLOAT32 || dtype == DMLCY_FLOAT16)
        for (i = 0; i < n; i++)
            x[i] = dmlcy_scaled((float)x[i], scale, bias);
    else
        for (i = 0; i < n; i++)
            x[i] = x[i] * (double)scale + (double)bias;
}

/* ---- INT32 and INT64 ---- */

#define DMLCY_NUMBER int32_t
DMLCY_APART void dmlcy_load_ints(int32_t *numbers, const void *source, int64_t n, int dtype)
{
    int64_t i;
    switch (dtype) {
    DMLCY_NARROW(DMLCY_LOADED)
    }
}
#undef DMLCY_NUMBER

DMLCY_APART void dmlcy_store_ints(const int32_t *numbers, void *to, int64_t n, int dtype)
{
    int64_t i;
    switch (dtype) {
    DMLCY_NARROW(DMLCY_KEPT_BITS)
    }
}

#define DMLCY_NUMBER int64_t
DMLCY_APART void dmlcy_load_longs(int64_t *numbers, const void *source, int64_t n, int dtype)
{
    int64_t i;
    switch (dtype) {
    DMLCY_NARROW(DMLCY_LOADED)
    DMLCY_LONG(DMLCY_LOADED)
    DMLCY_LONGEST(DMLCY_LOADED)
    }
}
#undef DMLCY_NUMBER

DMLCY_APART void dmlcy_store_longs(const int64_t *numbers, void *to, int64_t n, int dtype)
{
    int64_t i;
    switch (dtype) {
    DMLCY_NARROW(DMLCY_KEPT_BITS)
    DMLCY_LONG(DMLCY_KEPT_BITS)
    }
}

/* ---- all of them ---- */

DMLCY_APART void dmlcy_load_numbers(int number, void *to, const void *source, int64_t n, int dtype)
{
    switch (number) {
    case DMLCY_FLOAT32:
        (dmlcy_wide() ? dmlcy_load_floats_wide : dmlcy_load_floats)((float *)to, source, n, dtype);
        break;
    case DMLCY_FLOAT64:
        dmlcy_load_doubles((double *)to, source, n, dtype);
        break;
    case DMLCY_INT32:
        dmlcy_load_ints((int32_t *)to, source, n, dtype);
        break;
    case DMLCY_INT64:
        dmlcy_load_longs((int64_t *)to, source, n, dtype);
    }
}

DMLCY_APART void dmlcy_store_numbers(int number, const void *source, void *to, int64_t n, int dtype)
{
    int64_t i;
    switch (number) {
    case DMLCY_FLOAT32:
        (dmlcy_wide() ? dmlcy_store_floats_wide : dmlcy_store_floats)((const float *)source, to, n, dtype);
        break;
    case DMLCY_FLOAT64:
        dmlcy_store_doubles((const double *)source, to, n, dtype);
        break;
    case DMLCY_INT32:
        dmlcy_store_ints((const int32_t *)source, to, n, dtype);
        break;
    case DMLCY_INT64:
        dmlcy_store_longs((const int64_t *)source, to, n, dtype);
        break;
    case DMLCY_UINT8:   /* of conditions, to UINT32 */
        for (i = 0; i < n; i++)
            ((uint32_t *)to)[i] = ((const uint8_t *)source)[i];
    }
}

#endif
