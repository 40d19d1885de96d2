/* Elements of one data type as elements of another.
 *
 * Floats become integers without their fractions, cut to the range; NaN becomes 0. Of integers the lowest bits are kept.
 * To floats, the nearest number is taken, ties to even; beyond the range it is an infinity.
 *
 * An element of 4 bits has a byte, of which the other half is 0 and is not read. Bytes become such elements only after
 * floats became bytes, so they are cut, too.
 *
 * A loop converts elements of some pairs of data types at once. Of the others, so many as some bytes hold are converted to
 * a third data type first, which has each number or one that becomes the same.
 */
#ifndef DMLCY_CONVERSIONS_H
#define DMLCY_CONVERSIONS_H

#include "cut_blocks.h"
#include "elements.h"
#include "half.h"
#include "named.h"

#define DMLCY_PAIR(to, from) ((to) * DMLCY_DTYPES + (from))

/* The elements that become `made` of `x`. */
#define DMLCY_CONVERTED(to, to_type, from, from_type, made)                         \
    case DMLCY_PAIR(DMLCY_##to, DMLCY_##from):                                      \
        DMLCY_APART_EACH                                                            \
        for (i = 0; i < n; i++) {                                                   \
            const from_type x = ((const from_type *)source)[i];                     \
            ((to_type *)target)[i] = made;                                          \
        }                                                                           \
        return 1;
#define DMLCY_KEPT(to, to_type, from, from_type) DMLCY_CONVERTED(to, to_type, from, from_type, (to_type)x)
#define DMLCY_SATURATED(to, to_type, from, from_type)                               \
    DMLCY_CONVERTED(to, to_type, from, from_type, dmlcy_saturate_##to_type(x))

#define DMLCY_TEXT "conversion_loops.h"
#include "both_levels.h"
#define DMLCY_TEXT "conversion_longs.h"
#include "levels.h"

#undef DMLCY_CONVERTED
#undef DMLCY_KEPT
#undef DMLCY_SATURATED

static inline int dmlcy_is_float(int dtype)
{
    return dtype == DMLCY_FLOAT32 || dtype == DMLCY_FLOAT16 || dtype == DMLCY_FLOAT64;
}

/* Bytes of an element. */
static inline int dmlcy_item(int dtype)
{
    switch (dtype) {
    case DMLCY_UINT8:
    case DMLCY_INT8:
    case DMLCY_UINT4:
    case DMLCY_INT4:
        return 1;
    case DMLCY_FLOAT16:
    case DMLCY_UINT16:
    case DMLCY_INT16:
        return 2;
    case DMLCY_FLOAT64:
    case DMLCY_UINT64:
    case DMLCY_INT64:
        return 8;
    default:
        return 4;
    }
}

/* The unsigned integers of the size of others: what has the same bits is converted alike. */
static inline int dmlcy_unsigned(int dtype)
{
    switch (dtype) {
    case DMLCY_INT8:
        return DMLCY_UINT8;
    case DMLCY_INT16:
        return DMLCY_UINT16;
    case DMLCY_INT32:
        return DMLCY_UINT32;
    case DMLCY_INT64:
        return DMLCY_UINT64;
    default:
        return dtype;
    }
}

/* Whether the elements of two data types have the same bits. */
static inline int dmlcy_same_bits(int to, int from)
{
    return dmlcy_unsigned(to) == dmlcy_unsigned(from);
}

/* The data type between two; 0: a loop converts at once. */
static inline int dmlcy_between(int to, int from)
{
    const int target = dmlcy_item(to), source = dmlcy_item(from);
    if (from == DMLCY_UINT4 || to == DMLCY_UINT4)
        return from == DMLCY_UINT8 || to == DMLCY_UINT8 ? 0 : DMLCY_UINT8;
    if (from == DMLCY_INT4 || to == DMLCY_INT4)
        return from == DMLCY_INT8 || to == DMLCY_INT8 ? 0 : DMLCY_INT8;
    if (from == DMLCY_FLOAT16)
        return to == DMLCY_FLOAT32 ? 0 : DMLCY_FLOAT32;
    if (to == DMLCY_FLOAT16)        /* FLOAT64 has all integers that do not become an infinity */
        return dmlcy_is_float(from) ? 0 : source < 4 ? DMLCY_FLOAT32 : DMLCY_FLOAT64;
    if (dmlcy_is_float(from))
        return from == DMLCY_FLOAT32 && (to == DMLCY_UINT32 || to == DMLCY_UINT64) ? DMLCY_FLOAT64 : 0;
    if (!dmlcy_is_float(to))
        return (target == 8 && source < 4) || (source == 8 && target < 4) ? DMLCY_INT32 : 0;
    return source == 2 || (source == 1 && to == DMLCY_FLOAT64) ? DMLCY_INT32 : 0;
}

/* At once, by a loop. */
static inline void dmlcy_convert_at_once(void *to, int to_dtype, const void *from, int from_dtype, int64_t n)
{
    const int level = dmlcy_level();
    const int narrower = dmlcy_item(to_dtype) < dmlcy_item(from_dtype);
    int pair = DMLCY_PAIR(to_dtype, from_dtype);
    if (!dmlcy_is_float(to_dtype) && !dmlcy_is_float(from_dtype))
        pair = DMLCY_PAIR(dmlcy_unsigned(to_dtype), narrower ? dmlcy_unsigned(from_dtype) : from_dtype);
    if (dmlcy_same_bits(to_dtype, from_dtype))
        memcpy(to, from, (size_t)(n * dmlcy_item(to_dtype)));
    else if (to_dtype == DMLCY_FLOAT16)
        dmlcy_float_to_half((const float *)from, (uint16_t *)to, 2, (size_t)n);
    else if (from_dtype == DMLCY_FLOAT16)
        dmlcy_half_to_float((const uint16_t *)from, 2, (float *)to, (size_t)n);
    else if (!(level ? dmlcy_convert_wide : dmlcy_convert)(pair, to, from, n))
        (level == DMLCY_LEVEL_WIDEST ? dmlcy_convert_longs_widest : dmlcy_convert_longs)(pair, to, from, n);
}

#define DMLCY_BETWEEN 1024 /* the number of elements that are converted at once where two conversions follow one
                            * another */

/* Makes of n elements of a data type those of another. The two are apart, or elements of one size at the same place. */
DMLCY_APART void dmlcy_convert_elements(void *to, int to_dtype, const void *from, int from_dtype, int64_t n)
{
    const int between = to_dtype == from_dtype ? 0 : dmlcy_between(to_dtype, from_dtype);
    const int odd = to_dtype == DMLCY_FLOAT16 && from_dtype == DMLCY_FLOAT64;
    uint64_t some[DMLCY_BETWEEN];
    int64_t count;
    if (!between && !odd) {
        dmlcy_convert_at_once(to, to_dtype, from, from_dtype, n);
        return;
    }
    for (; n > 0; n -= count) {
        count = n < DMLCY_BETWEEN ? n : DMLCY_BETWEEN;
        if (odd) {
            (dmlcy_wide() ? dmlcy_odd_floats_wide : dmlcy_odd_floats)((float *)some, (const double *)from, count);
            dmlcy_convert_at_once(to, to_dtype, some, DMLCY_FLOAT32, count);
        } else {
            dmlcy_convert_elements(some, between, from, from_dtype, count);
            dmlcy_convert_elements(to, to_dtype, some, between, count);
        }
        to = (char *)to + count * dmlcy_item(to_dtype);
        from = (const char *)from + count * dmlcy_item(from_dtype);
    }
}

/* ---- a loop of elements.h ---- */

typedef struct {
    int to;
    int of;
} DmlcyDataTypes;

static void dmlcy_conversion_row(const void *const *inputs, void *const *outputs, int64_t n, const void *attributes)
{
    const DmlcyDataTypes *dtypes = (const DmlcyDataTypes *)attributes;
    dmlcy_convert_elements(outputs[0], dtypes->to, inputs[0], dtypes->of, n);
}

static const ElementKernel dmlcy_conversion = {
    .rows = {dmlcy_conversion_row, dmlcy_conversion_row, dmlcy_conversion_row},
    .lanes = 1,
};

#endif
