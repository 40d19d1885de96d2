/* Rows of quantized integers as FLOAT32. Of elements of 4 bits, a byte has two, the first in its low half. */
#ifndef DMLCY_DEQUANTIZE_H
#define DMLCY_DEQUANTIZE_H

#include <stdint.h>
#include <string.h>

#include "isa.h"
#include "named.h"

/* n elements of a row, from the element `first` on. So many elements share a scale and a zero point: `block`, or 1. */
typedef void (*DequantizeRow)(
    const char *from, int64_t first, int64_t n, int64_t block, const float *scale, const float *zero, float *to);

#if DMLCY_GNU
typedef float dmlcy_eight_floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t dmlcy_eight_integers __attribute__((vector_size(32)));
typedef uint32_t dmlcy_eight_words __attribute__((vector_size(32)));
#endif

/* An element of 4 bits. */
static inline int dmlcy_half_byte(const char *from, int64_t place)
{
    return (uint8_t)from[place >> 1] >> (place & 1) * 4 & 15;
}

#define DMLCY_TEXT "dequantize_rows.h"
#include "both_levels.h"

enum { DMLCY_OF_UINT8, DMLCY_OF_INT8, DMLCY_OF_UINT4, DMLCY_OF_INT4 };

/* By what is above. */
static DequantizeRow dmlcy_dequantize(int of)
{
    static const DequantizeRow rows[2][4] = {
        {dmlcy_dequantize_uint8, dmlcy_dequantize_int8, dmlcy_dequantize_uint4, dmlcy_dequantize_int4},
        {dmlcy_dequantize_uint8_wide, dmlcy_dequantize_int8_wide, dmlcy_dequantize_uint4_wide,
         dmlcy_dequantize_int4_wide},
    };
    return rows[dmlcy_wide()][of];
}

#endif
