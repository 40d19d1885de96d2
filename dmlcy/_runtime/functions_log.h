/* log, log1p and pow over FLOAT32. */
#ifndef DMLCY_FUNCTIONS_LOG_H
#define DMLCY_FUNCTIONS_LOG_H

#include "functions_base.h"

/* 0.94 ULP, at 1.5662055 */
DMLCY_INLINE float dmlcy_log(int fused, float x)
{
    const int small = x < 0x1p-126f;
    const float scaled = small ? x * 0x1p23f : x;
    const uint32_t above = dmlcy_exponent_of(scaled);
    const float k = dmlcy_exponent(above) - (small ? 23.0f : 0.0f);
    const float p = dmlcy_log_near_one(fused, dmlcy_of_bits(dmlcy_bits_of(scaled) - above) - 1.0f, k);
    const float special = x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x;
    return (x > 0.0f) & (x < INFINITY) ? p : special;
}

/* Whether x is no positive normal number. */
DMLCY_INLINE uint32_t dmlcy_log_special(float x)
{
    return (dmlcy_bits_of(x) - 0x00800000u) | (DMLCY_INFINITE - 1u - dmlcy_bits_of(x));
}

DMLCY_INLINE float dmlcy_log_ordinary(int fused, float x)
{
    const uint32_t above = dmlcy_exponent_of(x);
    return dmlcy_log_near_one(fused, dmlcy_of_bits(dmlcy_bits_of(x) - above) - 1.0f, dmlcy_exponent(above));
}

/* 1 + x = 2^k (1 + f): f from x and 2^-k, rounded once.
 * 1.48 ULP, at 0.414940089 */
DMLCY_INLINE float dmlcy_log1p(int fused, float x)
{
    const uint32_t above = dmlcy_exponent_of(1.0f + x);
    const int32_t inverse = (int32_t)(0x3f800000u - above);
    const float s = dmlcy_of_bits((uint32_t)(inverse < 0 ? 0 : inverse));
    const float scaled = dmlcy_of_bits(dmlcy_bits_of(x) - above);
    const float f = above ? (s - 1.0f) + scaled : x;
    const float special = x == -1.0f ? -INFINITY : x < -1.0f ? NAN : x;
    const float p = dmlcy_log_near_one(fused, f, dmlcy_exponent(above));
    return dmlcy_abs(x) < 0x1p-26f ? x : (x > -1.0f) & (x < INFINITY) ? p : special;
}

/* ---- powers ---- */

/* x^y 2^(-y fewer), for a normal number x > 0 and a finite y; a normal number, or `large`. log2(x) is a sum of two
 * floats, of 2 atanh(s) / log(2) with s = f / (2 + f), where s has two parts, too. The product of log2(x) and y is
 * another such sum, and 2^k 2^t the result. */
DMLCY_INLINE float dmlcy_pow_positive(int fused, float x, float y, float fewer, int large)
{
    const uint32_t above = dmlcy_exponent_of(x);
    const float m = dmlcy_of_bits(dmlcy_bits_of(x) - above), k = dmlcy_exponent(above) - fewer;
    const float f = m - 1.0f, d = m + 1.0f, rest = m - (d - 1.0f), inverse = 1.0f / d;
    const float s = f * inverse, less = DMLCY_FMA(-s, rest, DMLCY_FMA(-s, d, f)) * inverse, z = s * s, cube = s * z;
    const float shift = large ? DMLCY_SHIFT + 254.0f : DMLCY_SHIFT;
    float q = 0x1.5890b8p-2f, high, low, product, t, tail, n, p;
    q = DMLCY_NEAR(q, z, 0x1.a5d044p-2f);
    q = DMLCY_NEAR(q, z, 0x1.2776e0p-1f);
    q = DMLCY_NEAR(q, z, 0x1.ec709ep-1f);
    product = s * 0x1.715476p+1f;
    low = DMLCY_FMA(s, 0x1.715476p+1f, -product);
    low = DMLCY_FMA(s, 0x1.4ae0c0p-25f, low);
    low = DMLCY_FMA(less, DMLCY_FMA(z, 0x1.715476p+1f, 0x1.715476p+1f), low);
    low = DMLCY_FMA(DMLCY_FMA(s, DMLCY_FMA(s, s, -z), DMLCY_FMA(s, z, -cube)), 0x1.ec709ep-1f, low);
    low = DMLCY_FMA(q, cube, low);
    high = k + product;
    low += product - (high - k);
    t = high + low;
    low += high - t;
    high = t * y;
    tail = DMLCY_FMA(low, y, DMLCY_FMA(t, y, -high));
    tail = large & (dmlcy_abs(high) >= 160.0f) ? 0.0f : tail;
    high = large ? dmlcy_at_least(dmlcy_at_most(high, 130.0f), -152.0f) : high;
    n = high + shift;
    t = (high - (n - shift)) + tail;
    p = 0x1.4447bep-13f;
    p = DMLCY_NEAR(p, t, 0x1.5f098ep-10f);
    p = DMLCY_NEAR(p, t, 0x1.3b2a28p-7f);
    p = DMLCY_NEAR(p, t, 0x1.c6af7ap-5f);
    p = DMLCY_NEAR(p, t, 0x1.ebfbe0p-3f);
    p = DMLCY_NEAR(p, t, 0x1.62e430p-1f);
    p = DMLCY_FMA(p, t, 1.0f);
    return large ? dmlcy_times_power(p, dmlcy_power_of(fused, n, n - shift))
                 : dmlcy_shifted(p, n);
}

/* The highest bit: whether y is no integer. Rounding takes something from such a number. */
DMLCY_INLINE uint32_t dmlcy_is_broken(float y)
{
    const float a = dmlcy_abs(y);
    const uint32_t rest = dmlcy_bits_of(a - ((a + 0x1p23f) - 0x1p23f)) << 1;
    return (rest | (0u - rest)) & (0u - (uint32_t)(a < 0x1p23f));
}

/* The highest bit: whether an integer y is odd. */
DMLCY_INLINE uint32_t dmlcy_is_odd(float y)
{
    return dmlcy_is_broken(0.5f * y);
}

DMLCY_INLINE float dmlcy_pow_ordinary(int fused, float x, float y)
{
    const float a = dmlcy_abs(x);
    const uint32_t p = dmlcy_bits_of(dmlcy_pow_positive(fused, a, y, 0.0f, 0)) & (0u - (uint32_t)(a != 0.0f));
    return dmlcy_of_bits(p | (dmlcy_is_odd(y) & dmlcy_bits_of(x) & DMLCY_SIGN));
}

/* Whether |x| is no normal number and not 0, or |y log2(|x|)| may be above 116, or x is negative and y no integer, or x is 0
 * and y not above 0. The bits of |x|, less those of 1, are its log2 in units of 2^-23, or less by up to a third. */
DMLCY_INLINE uint32_t dmlcy_pow_special(float x, float y)
{
    const float a = dmlcy_abs(x), about = (float)(int32_t)(dmlcy_bits_of(a) - 0x3f800000u) * y;
    const uint32_t other = 0u - (uint32_t)((a != 0.0f) | !(y > 0.0f));
    return ((dmlcy_log_special(a) | dmlcy_beyond(about, 0x4e200000u)) & other) | /* 80 * 2^23 */
           (dmlcy_is_broken(y) & dmlcy_bits_of(x));
}

/* x^y with all that the C standard says of zeros, infinities, NaN and negative x. Whether y is an integer, and odd, is
 * found by what rounding takes from y and from y / 2.
 * 1.57 ULP, 1.10 steps, in 400 million pairs, and right in 1,444 pairs of special numbers. */
DMLCY_INLINE float dmlcy_pow(int fused, float x, float y)
{
    const float a = dmlcy_abs(x), most = 0x1.fffffep127f;
    const int small = a < 0x1p-126f;
    const float finite = dmlcy_at_least(dmlcy_at_most(y, most), -most);
    uint32_t broken = dmlcy_is_broken(y), odd = dmlcy_is_odd(y), none;
    float p = dmlcy_pow_positive(fused, small ? a * 0x1p23f : a, finite, small ? 23.0f : 0.0f, 1);
    p = (a == 0.0f) | (a == INFINITY) ? ((a == 0.0f) ^ (y < 0.0f) ? 0.0f : INFINITY) : p;
    broken &= dmlcy_bits_of(x); /* the highest bit: y is not an integer, and x is negative; */
    odd &= dmlcy_bits_of(x) & ~broken & DMLCY_SIGN; /* y is an odd integer, and x is negative */
    none = (uint32_t)((int32_t)broken >> 31) & 0x7fc00000u;
    none = dmlcy_bits_of(a) - 1u < 0x7f7fffffu ? none : 0u;
    p = dmlcy_of_bits(dmlcy_bits_of(p) | odd | none);
    p = (x != x) | (y != y) ? x + y : p;
    return (x == 1.0f) | (y == 0.0f) ? 1.0f : p;
}

#endif
