/* Functions of loops over elements: bounds, numbers that are cut to integers, quotients and remainders. */
#ifndef DMLCY_ELEMENT_ARITHMETIC_H
#define DMLCY_ELEMENT_ARITHMETIC_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "compiler.h"

/* ---- bounds: extremes of a number and of one that is the same for all ---- */

/* The lesser of x and `bound` is x up to this number, and else `bound`: of two zeros, which are equal, -0 is the lesser
 * one, and NaN is no bound. The greater one is x down to the other number. */
#define DMLCY_BOUND(type, smallest)                                                 \
    DMLCY_INLINE type dmlcy_least_up_to_##type(type bound)                          \
    {                                                                               \
        return bound != bound ? (type)INFINITY : bound == 0 && signbit(bound) ? -smallest : bound; \
    }                                                                               \
    DMLCY_INLINE type dmlcy_most_up_to_##type(type bound)                           \
    {                                                                               \
        return bound != bound ? -(type)INFINITY : bound == 0 && !signbit(bound) ? smallest : bound; \
    }
DMLCY_BOUND(float, 0x1p-149f)
DMLCY_BOUND(double, 0x1p-1074)
#undef DMLCY_BOUND

/* ---- integers of floats ---- */

/* The integer that is nearest to a number without its fraction; 0 for NaN. */
#define DMLCY_NEAREST(name, number, type, between, low, high)                       \
    DMLCY_INLINE type dmlcy_##name##_##type(number x)                               \
    {                                                                               \
        const number any = DMLCY_IS_NAN(x) ? 0 : x;                                 \
        const number above = any < low ? low : any;                                 \
        return (type)(between)(above > high ? high : above);                        \
    }
DMLCY_NEAREST(saturate, double, int8_t, int32_t, -128.0, 127.0)
DMLCY_NEAREST(saturate, double, int16_t, int32_t, -32768.0, 32767.0)
DMLCY_NEAREST(saturate, double, int32_t, int32_t, -2147483648.0, 2147483647.0)
DMLCY_NEAREST(saturate, double, uint8_t, int32_t, 0.0, 255.0)
DMLCY_NEAREST(saturate, double, uint16_t, int32_t, 0.0, 65535.0)
DMLCY_NEAREST(saturate, double, uint32_t, int64_t, 0.0, 4294967295.0)
DMLCY_NEAREST(cut, float, int8_t, int32_t, -128.0f, 127.0f)
DMLCY_NEAREST(cut, float, int16_t, int32_t, -32768.0f, 32767.0f)
DMLCY_NEAREST(cut, float, uint8_t, int32_t, 0.0f, 255.0f)
DMLCY_NEAREST(cut, float, uint16_t, int32_t, 0.0f, 65535.0f)
DMLCY_NEAREST(below_2_31, float, int32_t, int32_t, -0x1p31f, 0x1.fffffep30f)
#undef DMLCY_NEAREST

DMLCY_INLINE int32_t dmlcy_cut_int32_t(float x)
{
    const int32_t below = dmlcy_below_2_31_int32_t(x);
    return x >= 0x1p31f ? INT32_MAX : below;
}

DMLCY_INLINE int64_t dmlcy_saturate_int64_t(double x)
{
    return x >= 0x1p63 ? INT64_MAX : x >= -0x1p63 ? (int64_t)x : x < 0 ? INT64_MIN : 0;
}

DMLCY_INLINE uint64_t dmlcy_saturate_uint64_t(double x)
{
    return x >= 0x1p64 ? UINT64_MAX : x > 0 ? (uint64_t)x : 0;
}

/* ---- quotients and remainders ---- */

/* Without its fraction; 0 where the divisor is 0. The quotient of FLOAT64 is so near to that of integers of 32 bits
 * that no other integer is between them. The quotient of the least integer and -1 wraps around. */
DMLCY_INLINE int32_t dmlcy_div_trunc_int32_t(int32_t a, int32_t b)
{
    const int32_t divisor = (b == 0) | (b == -1) ? 1 : b;
    const int32_t quotient = (int32_t)((double)a / (double)divisor);
    return b == 0 ? 0 : b == -1 ? (int32_t)(0 - (uint32_t)a) : quotient;
}

/* With a divisor of 2 or more, the quotient is an int32_t, to which doubles are converted side by side. */
DMLCY_INLINE uint32_t dmlcy_div_trunc_uint32_t(uint32_t a, uint32_t b)
{
    const uint32_t divisor = b < 2 ? 2 : b;
    const double dividend = (double)(int32_t)(a ^ 0x80000000u) + 0x1p31;
    const double size = (double)(int32_t)(divisor ^ 0x80000000u) + 0x1p31;
    const uint32_t quotient = (uint32_t)(int32_t)(dividend / size);
    return b == 0 ? 0 : b == 1 ? a : quotient;
}

DMLCY_INLINE int64_t dmlcy_div_trunc_int64_t(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

DMLCY_INLINE uint64_t dmlcy_div_trunc_uint64_t(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : a / b;
}

/* The remainder of the dividend; 0 where the divisor is 0. */
#define DMLCY_REMAINDERS(type, wide)                                                \
    DMLCY_INLINE type dmlcy_mod_trunc_##type(type a, type b)                        \
    {                                                                               \
        const type rest = (type)((wide)a - (wide)dmlcy_div_trunc_##type(a, b) * (wide)b); \
        return b == 0 ? 0 : rest;                                                   \
    }                                                                               \
    DMLCY_INLINE type dmlcy_mod_floor_##type(type a, type b)                        \
    {                                                                               \
        const type rest = dmlcy_mod_trunc_##type(a, b);                             \
        return rest != 0 && (rest < 0) != (b < 0) ? (type)((wide)rest + (wide)b) : rest; \
    }
DMLCY_REMAINDERS(int32_t, uint32_t)
DMLCY_REMAINDERS(uint32_t, uint32_t)
DMLCY_REMAINDERS(int64_t, uint64_t)
DMLCY_REMAINDERS(uint64_t, uint64_t)
#undef DMLCY_REMAINDERS

/* Whether the quotient of floats is not below 2^29, or the divisor not finite. */
DMLCY_INLINE uint32_t dmlcy_mod_trunc_special(float a, float b)
{
    return 0u - (uint32_t)!((fabsf(a) < fabsf(b) * 0x1p29f) & (fabsf(b) < INFINITY));
}

/* Between any other quotient and the nearest one of FLOAT64 is no integer. The product with the divisor is exact. */
DMLCY_INLINE float dmlcy_mod_trunc_ordinary(float a, float b)
{
    const double quotient = (double)(int32_t)((double)a / b);
    return copysignf((float)((double)a - quotient * b), a);
}

DMLCY_INLINE float dmlcy_mod_trunc(float a, float b)
{
    return dmlcy_mod_trunc_special(a, b) >> 31 ? fmodf(a, b) : dmlcy_mod_trunc_ordinary(a, b);
}

DMLCY_INLINE float dmlcy_with_sign_of_divisor(float rest, float b)
{
    const float moved = (rest < 0) != (b < 0) ? rest + b : rest;
    return rest == 0 ? copysignf(rest, b) : moved;
}

DMLCY_INLINE uint32_t dmlcy_mod_floor_special(float a, float b)
{
    return dmlcy_mod_trunc_special(a, b);
}

DMLCY_INLINE float dmlcy_mod_floor_ordinary(float a, float b)
{
    return dmlcy_with_sign_of_divisor(dmlcy_mod_trunc_ordinary(a, b), b);
}

DMLCY_INLINE float dmlcy_mod_floor(float a, float b)
{
    return dmlcy_with_sign_of_divisor(dmlcy_mod_trunc(a, b), b);
}

/* ---- powers of integers ---- */

/* Modulo 2^64; a negative power of another integer than 1 and -1 is 0. */
DMLCY_INLINE int64_t dmlcy_int_pow_int64_t(int64_t a, int64_t n)
{
    uint64_t base = (uint64_t)a, power = 1, left;
    if (n < 0 && a != 1 && a != -1)
        return 0;
    for (left = n < 0 ? (uint64_t)n & 1 : (uint64_t)n; left; left >>= 1) {
        power *= left & 1 ? base : 1;
        base *= base;
    }
    return (int64_t)power;
}

#endif
