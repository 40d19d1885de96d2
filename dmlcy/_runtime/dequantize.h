/* Rows of quantized integers as FLOAT32. An element of 4 bits is the low half of a byte. */
#ifndef DMLCY_DEQUANTIZE_H
#define DMLCY_DEQUANTIZE_H

#include <stdint.h>

#include "isa.h"
#include "named.h"

/* n elements, `step` bytes apart; scales and zero points have one for each. */
typedef void (*DequantizeRow)(
    const char *from, int64_t step, int64_t n, const float *scale, const float *zero, float *to);

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
