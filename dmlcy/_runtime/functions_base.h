/* The parts of functions over FLOAT32: bits, a fused multiply-add, exponentials and logarithms.
 *
 * A function `DMLCY_INLINE float dmlcy_NAME(int fused, float x)` computes its result from the bits of its argument,
 * polynomials and a division or two, in FLOAT32. The function has no branches, so that the compiler vectorises the loop
 * that it is inlined in. The function has no target attribute: the loop has one. `fused` is a constant, 1 where the
 * level of the loop has a fused multiply-add: all such levels give the same bits. Elsewhere DMLCY_FMA and DMLCY_NEAR
 * round twice, and a result may have other bits within the same bound.
 *
 * A function that is complete only with a branch, or that is slow so, has three functions. The first,
 * dmlcy_NAME_ordinary, is right for ordinary arguments. The highest bit of dmlcy_NAME_special(x) is set where an
 * argument is none. The last, dmlcy_NAME, is right for all and gives the same bits for ordinary ones. element_blocks.h
 * chooses.
 *
 * A NaN gives a NaN. Zeros, infinities and denormal numbers are arguments and results like others. Errors that are told
 * are the largest over all 2^32 arguments with a fused multiply-add: in ULP where the result is a normal number, in
 * steps of 2^-149 where it is denormal.
 *
 * Some code keeps GCC 12 from vectorising a loop: a conversion of a choice to an integer, and a chain of choices that
 * it makes branches of. Polynomials are minimax fits, whose coefficients were rounded to float from the lowest power
 * on, each time with the rest fitted again.
 */
#ifndef DMLCY_FUNCTIONS_BASE_H
#define DMLCY_FUNCTIONS_BASE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"

/* a * b + c of floats. The product is exact in double. */
#define DMLCY_FMA(a, b, c) (fused ? fmaf((a), (b), (c)) : (float)((double)(a) * (b) + (c)))
/* The same where a rounding of the product does no harm, or there is none: several times as fast as doubles. */
#define DMLCY_NEAR(a, b, c) (fused ? fmaf((a), (b), (c)) : (a) * (b) + (c))

#define DMLCY_LOG2E 0x1.715476p+0f
#define DMLCY_LN2 0x1.62e430p-1f      /* log(2) in one float: 1.9e-9 too large */
#define DMLCY_LN2_HIGH 0x1.62e400p-1f /* 15 bits: its product with an integer of 9 bits is exact; and the rest */
#define DMLCY_LN2_LOW 0x1.7f7d1cp-20f
#define DMLCY_SHIFT 0x1.8p23f /* added to a number, rounds it to an integer, which is then in the lowest bits */
#define DMLCY_SIGN 0x80000000u
#define DMLCY_INFINITE 0x7f800000u

DMLCY_INLINE uint32_t dmlcy_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

DMLCY_INLINE float dmlcy_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

DMLCY_INLINE float dmlcy_abs(float x)
{
    return dmlcy_of_bits(dmlcy_bits_of(x) & ~DMLCY_SIGN);
}

/* |x| with the sign of y, for x that is a NaN, is not negative, or has this sign. */
DMLCY_INLINE float dmlcy_signed(float x, float y)
{
    return dmlcy_of_bits(dmlcy_bits_of(x) | (dmlcy_bits_of(y) & DMLCY_SIGN));
}

/* x, with another sign if y is negative. */
DMLCY_INLINE float dmlcy_signs(float x, float y)
{
    return dmlcy_of_bits(dmlcy_bits_of(x) ^ (dmlcy_bits_of(y) & DMLCY_SIGN));
}

/* x, or -0 where it is negative. */
DMLCY_INLINE float dmlcy_above(float x)
{
    const uint32_t negative = (uint32_t)((int32_t)dmlcy_bits_of(x) >> 31);
    return dmlcy_of_bits(dmlcy_bits_of(x) & (DMLCY_SIGN | ~negative));
}

/* The smaller and the larger of x and a constant; a NaN stays. */
DMLCY_INLINE float dmlcy_at_most(float x, float most)
{
    return most < x ? most : x;
}

DMLCY_INLINE float dmlcy_at_least(float x, float least)
{
    return least > x ? least : x;
}

/* a * b * c, rounded once: no product of two of them overflows or vanishes. */
DMLCY_INLINE float dmlcy_product(float a, float b, float c)
{
    return (float)((double)a * b * c);
}

/* Its highest bit is set where |x| is above a number, of these bits, or x is a NaN. */
DMLCY_INLINE uint32_t dmlcy_beyond(float x, uint32_t most)
{
    return most - (dmlcy_bits_of(x) & ~DMLCY_SIGN);
}

/* ---- exponentials ---- */

/* A power of two as two factors, or one of them twice. A result that is multiplied by one after the other rounds once,
 * whether it becomes denormal, infinite or none of these. The power itself may be no normal number. */
typedef struct {
    float one, two;
} dmlcy_power;

/* x 2^k, of y = k + DMLCY_SHIFT: both are normal numbers, or k is 0. */
DMLCY_INLINE float dmlcy_shifted(float x, float y)
{
    return dmlcy_of_bits(dmlcy_bits_of(x) + (dmlcy_bits_of(y) << 23));
}

/* 2^k = one * two, of y = k + 254 + DMLCY_SHIFT: |k| <= 252. */
DMLCY_INLINE dmlcy_power dmlcy_power_of(int fused, float y, float k)
{
    const uint32_t half = dmlcy_bits_of(DMLCY_NEAR(k, 0.5f, DMLCY_SHIFT + 127.0f));
    dmlcy_power power;
    power.one = dmlcy_of_bits(half << 23);
    power.two = dmlcy_of_bits((dmlcy_bits_of(y) - half) << 23);
    return power;
}

/* 2^k = one * one * two, of y = k + 381 + DMLCY_SHIFT: |k| <= 376. */
DMLCY_INLINE dmlcy_power dmlcy_large_power_of(int fused, float y, float k)
{
    const uint32_t third = dmlcy_bits_of(DMLCY_NEAR(k, 0x1.555556p-2f, DMLCY_SHIFT + 127.0f));
    dmlcy_power power;
    power.one = dmlcy_of_bits(third << 23);
    power.two = dmlcy_of_bits((dmlcy_bits_of(y) - 2u * third) << 23);
    return power;
}

DMLCY_INLINE float dmlcy_times_power(float x, dmlcy_power power)
{
    return x * power.one * power.two;
}

DMLCY_INLINE float dmlcy_times_large_power(float x, dmlcy_power power)
{
    return x * power.one * power.one * power.two;
}

/* x + low - k log(2), for a low of at most half a unit of x; -0.0f is none. */
DMLCY_INLINE float dmlcy_exp_rest(int fused, float x, float low, float k)
{
    return DMLCY_NEAR(k, -DMLCY_LN2_LOW, DMLCY_NEAR(k, -DMLCY_LN2_HIGH, x)) + low;
}

/* P in 1 + r + r^2 P(r), which is e^r for |r| <= 0.3472, relatively to 3.2e-9. */
DMLCY_INLINE float dmlcy_exp_tail(int fused, float r)
{
    float p = 0x1.6d7cb0p-10f;
    p = DMLCY_NEAR(p, r, 0x1.123af8p-7f);
    p = DMLCY_NEAR(p, r, 0x1.5554bep-5f);
    p = DMLCY_NEAR(p, r, 0x1.555490p-3f);
    return DMLCY_NEAR(p, r, 0.5f);
}

/* e^r for such an r. */
DMLCY_INLINE float dmlcy_exp_near_zero(int fused, float r)
{
    return DMLCY_NEAR(DMLCY_NEAR(dmlcy_exp_tail(fused, r), r, 1.0f), r, 1.0f);
}

/* e^x for -174 <= x <= 174 or NaN. */
DMLCY_INLINE float dmlcy_exp_between(int fused, float x)
{
    const float y = DMLCY_NEAR(x, DMLCY_LOG2E, DMLCY_SHIFT + 254.0f), k = y - (DMLCY_SHIFT + 254.0f);
    const float mantissa = dmlcy_exp_near_zero(fused, dmlcy_exp_rest(fused, x, -0.0f, k));
    return dmlcy_times_power(mantissa, dmlcy_power_of(fused, y, k));
}

/* ---- logarithms ---- */

/* log(1 + f) + k log(2), for 1 + f between sqrt(1/2) and sqrt(2): f - f^2 / 2 + f^3 P(f) + k log(2). */
DMLCY_INLINE float dmlcy_log_near_one(int fused, float f, float k)
{
    float p = -0x1.38c9cep-4f;
    p = DMLCY_NEAR(p, f, 0x1.055ec8p-3f);
    p = DMLCY_NEAR(p, f, -0x1.0d8244p-3f);
    p = DMLCY_NEAR(p, f, 0x1.22d92ep-3f);
    p = DMLCY_NEAR(p, f, -0x1.54728ap-3f);
    p = DMLCY_NEAR(p, f, 0x1.99a01cp-3f);
    p = DMLCY_NEAR(p, f, -0x1.000226p-2f);
    p = DMLCY_NEAR(p, f, 0x1.555554p-2f);
    p = DMLCY_NEAR(p, f, -0.5f);
    p = DMLCY_NEAR(p, f * f, f);
    return DMLCY_NEAR(k, DMLCY_LN2, p);
}

/* The k of x = 2^k (1 + f), in the exponent: x - k as bits is 1 + f. For normal numbers. */
DMLCY_INLINE uint32_t dmlcy_exponent_of(float x)
{
    return (dmlcy_bits_of(x) - 0x3f3504f3u) & 0xff800000u;
}

DMLCY_INLINE float dmlcy_exponent(uint32_t above)
{
    return (float)((int32_t)above >> 23);
}

#endif
