/* Loops that compute elements from those at the same place: what one computes is said to elements.pyx by these structs,
 * which elements.pxd repeats. element_rows.h has the text of the loops.
 */
#ifndef DMLCY_ELEMENTS_H
#define DMLCY_ELEMENTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "isa.h"

/* Computes n elements. All rows are contiguous and hold numbers as the loop takes them; an output may be an input. */
typedef void (*ElementRow)(const void *const *inputs, void *const *outputs, int64_t n, const void *attributes);

/* Computes rows of n FLOAT32; those of an input and of the output are so many floats apart. The output may be an input. */
typedef void (*ElementStrip)(
    const float *const *inputs, const int64_t *steps, float *output, int64_t step, int64_t rows, int64_t n,
    const void *attributes);

/* Values of DML_TENSOR_DATA_TYPE. */
enum {
    DMLCY_FLOAT32 = 1, DMLCY_FLOAT16, DMLCY_UINT32, DMLCY_UINT16, DMLCY_UINT8, DMLCY_INT32, DMLCY_INT16, DMLCY_INT8,
    DMLCY_FLOAT64, DMLCY_UINT64, DMLCY_INT64, DMLCY_UINT4, DMLCY_INT4, DMLCY_DTYPES
};

/* Some loops take multiples of so many elements: they have no text for the last elements of a row. */
#define DMLCY_LANES 16

typedef struct {
    ElementRow rows[3];     /* by level; a loop that has no text for the widest level has the wide one there */
    ElementRow steady;      /* reads one element of each input but the first, where there is the wide one, or no other */
    ElementRow halves;      /* takes multiples of DMLCY_LANES elements, FLOAT16 as it is in memory; NULL: there is none */
    uint8_t halves_from;    /* the lowest level that has it */
    uint8_t lanes;          /* `rows` take multiples of so many elements */
    uint8_t gives;          /* the data type of the numbers that it gives; 0: elements as they are */
    uint8_t takes[5];       /* the same of the numbers that it takes of each input */
    uint8_t attributes;     /* bytes of the attributes that `strips` read */
    ElementStrip strips[3]; /* by level; NULL: there are none */
    void (*limits)(const void *attributes, float *limits); /* the result is the element within two limits; NULL: it is not */
} ElementKernel;

#if DMLCY_X86
#define DMLCY_HALF_ROW(row) row
#else
#define DMLCY_HALF_ROW(row) NULL
#endif

/* ---- numbers ---- */

#define DMLCY_IS_NAN(x) ((x) != (x))
#define DMLCY_IS_FINITE(x) ((x) - (x) == 0)

/* The smaller and the larger of two numbers: -0 is below +0, and any number is preferred to a NaN. Equal numbers have
 * the same bits, except zeros: one negative zero makes the smaller one negative, and two the larger one. */
#define DMLCY_EXTREMES(type, whole)                                                 \
    DMLCY_INLINE type dmlcy_least_##type(type a, type b)                            \
    {                                                                               \
        const whole equal = a == b ? (whole)-1 : 0;                                 \
        type least = (a < b) | DMLCY_IS_NAN(b) ? a : b;                             \
        whole bits, more;                                                           \
        memcpy(&bits, &least, sizeof bits);                                         \
        memcpy(&more, &a, sizeof more);                                             \
        bits |= more & equal;                                                       \
        memcpy(&least, &bits, sizeof bits);                                         \
        return least;                                                               \
    }                                                                               \
    DMLCY_INLINE type dmlcy_most_##type(type a, type b)                             \
    {                                                                               \
        const whole unequal = a == b ? 0 : (whole)-1;                               \
        type most = (a > b) | DMLCY_IS_NAN(b) ? a : b;                              \
        whole bits, more;                                                           \
        memcpy(&bits, &most, sizeof bits);                                          \
        memcpy(&more, &a, sizeof more);                                             \
        bits &= more | unequal;                                                     \
        memcpy(&most, &bits, sizeof bits);                                          \
        return most;                                                                \
    }
DMLCY_EXTREMES(float, uint32_t)
DMLCY_EXTREMES(double, uint64_t)
#undef DMLCY_EXTREMES

/* The float beside a double whose last bit is odd, or the double itself: rounded again, to float16, it gives what the
 * double would give. */
DMLCY_INLINE float dmlcy_odd(double x)
{
    const float near = (float)x;
    const double size = fabs(x), rounded = fabs((double)near);
    uint32_t bits;
    float result;
    memcpy(&bits, &near, sizeof bits);
    bits -= rounded > size;                 /* towards zero */
    bits |= (rounded != size) & (size == size);
    memcpy(&result, &bits, sizeof result);
    return result;
}

#define DMLCY_SAME(x) (x)

/* Whether an instruction that takes the limit where both are equal gives the right results. Right results are the
 * larger of a finite number and the lower limit, and the smaller of that and the upper one. Equal numbers are zeros of
 * any signs.
 */
static inline int dmlcy_are_plain_limits(const float *limits)
{
    return !DMLCY_IS_NAN(limits[0]) && !DMLCY_IS_NAN(limits[1]) && !(limits[0] == 0 && signbit(limits[0]))
           && !(limits[1] == 0 && !signbit(limits[1]));
}

/* ---- bits ---- */

/* A shift by n modulo the bits is defined for every n, so a block of elements is shifted at once. The bits of an
 * element are counted in bytes, whose sums are then added up by shifts. Of a multiplication here, GCC makes an
 * instruction that counts the bits of one element. */
#define DMLCY_BITS(type)                                                            \
    DMLCY_INLINE type dmlcy_shift_left_##type(type a, type n)                       \
    {                                                                               \
        const type shifted = (type)(a << (n & (8 * sizeof(type) - 1)));             \
        return n < 8 * sizeof(type) ? shifted : (type)0;                            \
    }                                                                               \
    DMLCY_INLINE type dmlcy_shift_right_##type(type a, type n)                      \
    {                                                                               \
        const type shifted = (type)(a >> (n & (8 * sizeof(type) - 1)));             \
        return n < 8 * sizeof(type) ? shifted : (type)0;                            \
    }                                                                               \
    DMLCY_INLINE uint8_t dmlcy_bit_count_##type(type a)                             \
    {                                                                               \
        const type every = (type)-1;                                                \
        a = (type)(a - (a >> 1 & every / 3));                                       \
        a = (type)((a & every / 15 * 3) + (a >> 2 & every / 15 * 3));               \
        a = (type)((a + (a >> 4)) & every / 255 * 15);                              \
        a = (type)(a + dmlcy_shift_right_##type(a, 32));                            \
        a = (type)(a + dmlcy_shift_right_##type(a, 16));                            \
        return (uint8_t)((type)(a + dmlcy_shift_right_##type(a, 8)) & 0x7f);        \
    }
DMLCY_BITS(uint8_t)
DMLCY_BITS(uint16_t)
DMLCY_BITS(uint32_t)
DMLCY_BITS(uint64_t)
#undef DMLCY_BITS

#include "element_arithmetic.h"

/* ---- scale and bias ---- */

/* x * scale + bias, rounded once. The product is exact in double. */
DMLCY_INLINE float dmlcy_scaled(float x, float scale, float bias)
{
    const double product = (double)x * scale, sum = product + bias, part = sum - product;
    const double lost = (product - (sum - part)) + (bias - part);
    int64_t bits;
    double odd;
    memcpy(&bits, &sum, sizeof bits);
    /* The double beside the sum towards what it lost, whose last bit is odd. */
    bits += (lost != 0) & ((bits & 1) == 0) & DMLCY_IS_FINITE(sum) ? ((lost > 0) == (sum > 0) ? 1 : -1) : 0;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}

/* ---- rows ---- */

/* Eight bytes of a repeated element of 1, 2, 4 or 8 bytes. */
DMLCY_INLINE uint64_t dmlcy_word_of(const char *source, int item)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (item) {
    case 1:
        memcpy(&one, source, 1);
        return one * (UINT64_MAX / UINT8_MAX);
    case 2:
        memcpy(&two, source, 2);
        return two * (UINT64_MAX / UINT16_MAX);
    case 4:
        memcpy(&four, source, 4);
        return four * (UINT64_MAX / UINT32_MAX);
    default:
        memcpy(&eight, source, 8);
        return eight;
    }
}

/* An element so many times. */
#define DMLCY_REPEAT(name, target_of)                                                               \
    target_of static inline void name(char *target, const char *source, int64_t n, int item)        \
    {                                                                                               \
        const uint64_t word = dmlcy_word_of(source, item);                                          \
        const int64_t size = n * item;                                                              \
        int64_t i;                                                                                  \
        for (i = 0; i < size / 8; i++)                                                              \
            memcpy(target + 8 * i, &word, 8);                                                       \
        memcpy(target + 8 * i, &word, (size_t)(size % 8));                                          \
    }
DMLCY_REPEAT(dmlcy_repeat_all, )
#if DMLCY_X86
DMLCY_REPEAT(dmlcy_repeat_wide, DMLCY_WIDE)
#endif

static inline void dmlcy_repeat(char *target, const char *source, int64_t n, int item)
{
#if DMLCY_X86
    if (dmlcy_wide()) {
        dmlcy_repeat_wide(target, source, n, item);
        return;
    }
#endif
    dmlcy_repeat_all(target, source, n, item);
}

/* a * b + c, rounded once; `fused` says whether the level has an instruction for that. */
DMLCY_INLINE float dmlcy_fused(int fused, float a, float b, float c)
{
    return fused ? fmaf(a, b, c) : dmlcy_scaled(a, b, c);
}

static inline void dmlcy_scale_all(float *x, int64_t n, float scale, float bias)
{
    int64_t i;
    for (i = 0; i < n; i++)
        x[i] = dmlcy_scaled(x[i], scale, bias);
}

#if DMLCY_X86
DMLCY_WIDE static inline void dmlcy_scale_wide(float *x, int64_t n, float scale, float bias)
{
    int64_t i;
    for (i = 0; i < n; i++)
        x[i] = fmaf(x[i], scale, bias);
}
#endif

static inline void dmlcy_scale(float *x, int64_t n, float scale, float bias)
{
#if DMLCY_X86
    if (dmlcy_wide()) {
        dmlcy_scale_wide(x, n, scale, bias);
        return;
    }
#endif
    dmlcy_scale_all(x, n, scale, bias);
}

/* x * scale + bias: of floats rounded to FLOAT32 once, of integers to FLOAT64 twice. */
static inline void dmlcy_scale_doubles(double *x, int64_t n, float scale, float bias, int dtype)
{
    int64_t i;
    if (dtype == DMLCY_FLOAT32 || dtype == DMLCY_FLOAT16)
        for (i = 0; i < n; i++)
            x[i] = dmlcy_scaled((float)x[i], scale, bias);
    else
        for (i = 0; i < n; i++)
            x[i] = x[i] * (double)scale + (double)bias;
}

#endif
