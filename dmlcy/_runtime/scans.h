/* Loops that keep each result of a running sum or product: of lines one by one, and of columns side by side. The numbers
 * of a line are taken one after the other, in double or in whole numbers, so all ways give the same bits.
 */
#ifndef DMLCY_SCANS_H
#define DMLCY_SCANS_H

#include "elements.h"
#include "folds.h"

#define DMLCY_SCAN_PIECE 256 /* numbers of a line for which a product is computed at once */

typedef struct {
    /* Whole lines of `n` numbers, `step` bytes apart; results are `pitch` bytes apart. */
    void (*lines[3])(
        const char *const *inputs, char *const *outputs, int64_t count, int64_t n, int64_t step, int64_t pitch,
        int exclusive);
    void (*begin)(void *state, int64_t n);
    /* The next `rows` rows of `n` columns; `state` has what each column has come to. */
    void (*columns[3])(
        const void *const *inputs, void *const *outputs, int64_t rows, int64_t n, int exclusive, void *state);
    unsigned char number; /* the data type of numbers */
    unsigned char bits;   /* integers of this size are taken as they are */
    unsigned char apart;  /* the results of columns must not be where the numbers are */
} ScanKernel;

/* What a column has come to, if it is a product of floats: an array of parts, and one of powers of two. A part without a
 * power is 0, or neither too small nor too large for DMLCY_SCAN_STEPS more factors: then a double has all of the product. */
#define DMLCY_SCAN_SMALL 0x1p-400
#define DMLCY_SCAN_LARGE 0x1p400
#define DMLCY_SCAN_STEPS 4

/* Not 0 where these products may not be right. */
DMLCY_INLINE int64_t dmlcy_scan_beyond(double product)
{
    const double size = fabs(product);
    return !((size >= DMLCY_SCAN_SMALL) & (size <= DMLCY_SCAN_LARGE)) & (product != 0);
}

/* The next product of any size. */
DMLCY_INLINE void dmlcy_scan_scaled(double *part, int64_t *power, float x)
{
    const scaled_t left = dmlcy_scaled_of(*part, *power);
    scaled_t product = dmlcy_scaled_product(left, dmlcy_scaled_of((double)x, 0));
    if (product.part == 0 || product.part - product.part != 0)
        product.power = 0;
    if (product.power > -400 && product.power < 400) {
        product.part = ldexp(product.part, (int)product.power);
        product.power = 0;
    }
    *part = product.part;
    *power = product.power;
}

DMLCY_INLINE float dmlcy_scan_float(double part, int64_t power)
{
    scaled_t product;
    product.part = part;
    product.power = power;
    return (float)(power == 0 ? part : dmlcy_of_scaled(product));
}

#define DMLCY_SCAN dmlcy_sums_float
#define DMLCY_NUMBER float
#define DMLCY_ACC double
#define DMLCY_TWO(a, b) ((a) + (b))
#define DMLCY_NONE 0
#define DMLCY_WIDEST_TOO 1
#include "scan_rows.h"

#define DMLCY_SCAN dmlcy_sums_uint32
#define DMLCY_NUMBER uint32_t
#define DMLCY_ACC uint32_t
#define DMLCY_TWO(a, b) ((a) + (b))
#define DMLCY_NONE 0
#define DMLCY_WIDEST_TOO 0
#include "scan_rows.h"

#define DMLCY_SCAN dmlcy_sums_uint64
#define DMLCY_NUMBER uint64_t
#define DMLCY_ACC uint64_t
#define DMLCY_TWO(a, b) ((a) + (b))
#define DMLCY_NONE 0
#define DMLCY_WIDEST_TOO 0
#include "scan_rows.h"

#define DMLCY_SCAN dmlcy_products_uint32
#define DMLCY_NUMBER uint32_t
#define DMLCY_ACC uint32_t
#define DMLCY_TWO(a, b) ((a) * (b))
#define DMLCY_NONE 1
#define DMLCY_WIDEST_TOO 0
#include "scan_rows.h"

#define DMLCY_SCAN dmlcy_products_uint64
#define DMLCY_NUMBER uint64_t
#define DMLCY_ACC uint64_t
#define DMLCY_TWO(a, b) ((a) * (b))
#define DMLCY_NONE 1
#define DMLCY_WIDEST_TOO 0
#include "scan_rows.h"

#define DMLCY_TEXT "scan_products.h"
#include "levels.h"

static void dmlcy_products_float_begin(void *state, int64_t n)
{
    double *const part = state;
    int64_t *const power = (int64_t *)(part + n);
    int64_t i;
    for (i = 0; i < n; i++) {
        part[i] = 1;
        power[i] = 0;
    }
}

#define DMLCY_SCAN_OF(name, dtype, size, widest, is_apart)                          \
    {                                                                               \
        .lines = {dmlcy_##name##_lines, dmlcy_##name##_lines_wide, dmlcy_##name##_lines_##widest}, \
        .columns = {dmlcy_##name##_columns, dmlcy_##name##_columns_wide, dmlcy_##name##_columns_##widest}, \
        .begin = dmlcy_##name##_begin, .number = dtype, .bits = size, .apart = is_apart, \
    }

/* Sums, then products: of floats, of integers of up to 32 bits, and of those of 64. */
static const ScanKernel dmlcy_scans[2][3] = {
    {
        DMLCY_SCAN_OF(sums_float, DMLCY_FLOAT32, 0, widest, 0),
        DMLCY_SCAN_OF(sums_uint32, DMLCY_UINT32, 4, wide, 0),
        DMLCY_SCAN_OF(sums_uint64, DMLCY_UINT64, 8, wide, 0),
    },
    {
        DMLCY_SCAN_OF(products_float, DMLCY_FLOAT32, 0, widest, 1),
        DMLCY_SCAN_OF(products_uint32, DMLCY_UINT32, 4, wide, 0),
        DMLCY_SCAN_OF(products_uint64, DMLCY_UINT64, 8, wide, 0),
    },
};

#endif
