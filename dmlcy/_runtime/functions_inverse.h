/* asin, acos, atan and atan2 over FLOAT32. */
#ifndef DMLCY_FUNCTIONS_INVERSE_H
#define DMLCY_FUNCTIONS_INVERSE_H

#include "functions_base.h"

#define DMLCY_HALF_PI 0x1.921fb6p+0f /* pi / 2 in one float: 4.4e-8 too large */
#define DMLCY_HALF_PI_LOW -0x1.777a5cp-25f
#define DMLCY_PI_BITS 0x40490fdbu

/* P in t + t z P(z), z = t^2 <= 1/4, which is asin(t), relatively to 4.9e-9. */
DMLCY_INLINE float dmlcy_asin_tail(int fused, float z)
{
    float p = 0x1.595c60p-5f;
    p = DMLCY_NEAR(p, z, 0x1.8c3e50p-6f);
    p = DMLCY_NEAR(p, z, 0x1.747bb8p-5f);
    p = DMLCY_NEAR(p, z, 0x1.330204p-4f);
    return DMLCY_NEAR(p, z, 0x1.5555c8p-3f);
}

/* From 1/2 on, pi / 2 - 2 asin(sqrt((1 - |x|) / 2)), with what one float lacks of pi / 2.
 * 1.66 ULP, at 0.535061598 */
DMLCY_INLINE float dmlcy_asin(int fused, float x)
{
    const float a = dmlcy_abs(x), half = DMLCY_NEAR(a, -0.5f, 0.5f);
    const int small = a < 0.5f;
    const float z = small ? a * a : half, t = small ? a : -2.0f * sqrtf(half);
    const float base = small ? 0.0f : DMLCY_HALF_PI, low = small ? 0.0f : DMLCY_HALF_PI_LOW;
    return dmlcy_signed((DMLCY_NEAR(dmlcy_asin_tail(fused, z), t * z, low) + t) + base, x);
}

/* pi / 2 - asin(x) below 1/2, from there 2 asin(sqrt((1 - |x|) / 2)) or, for a negative x, pi - that. The choice by the
 * sign is one of bits: GCC would make four cases of two choices, each with its own arithmetic.
 * 1.27 ULP, at -0.500427961 */
DMLCY_INLINE float dmlcy_acos(int fused, float x)
{
    const float a = dmlcy_abs(x), half = DMLCY_NEAR(a, -0.5f, 0.5f);
    const int small = a < 0.5f;
    const float z = small ? a * a : half, size = small ? -a : 2.0f * sqrtf(half);
    const float t = dmlcy_of_bits(dmlcy_bits_of(size) ^ (dmlcy_bits_of(x) & DMLCY_SIGN));
    const float far = dmlcy_of_bits((uint32_t)((int32_t)dmlcy_bits_of(x) >> 31) & DMLCY_PI_BITS);
    return (small ? DMLCY_HALF_PI : far) + DMLCY_NEAR(dmlcy_asin_tail(fused, z), t * z, t);
}

/* base + atan(t), for |t| <= 1 and a base of 0, pi / 2 or pi as one float, which lacks -2.8e-8 of itself:
 * t + t^3 P(t^2), relatively to 1.7e-8. */
DMLCY_INLINE float dmlcy_atan_from(int fused, float base, float t)
{
    const float z = t * t;
    float p = 0x1.7eaac4p-9f;
    p = DMLCY_NEAR(p, z, -0x1.0c194ap-6f);
    p = DMLCY_NEAR(p, z, 0x1.61ef6cp-5f);
    p = DMLCY_NEAR(p, z, -0x1.355102p-4f);
    p = DMLCY_NEAR(p, z, 0x1.b4deb6p-4f);
    p = DMLCY_NEAR(p, z, -0x1.230a94p-3f);
    p = DMLCY_NEAR(p, z, 0x1.9978ecp-3f);
    p = DMLCY_NEAR(p, z, -0x1.5554dcp-2f);
    return (DMLCY_NEAR(p, t * z, base * -0x1.de12cap-26f) + t) + base;
}

/* Beyond 1, pi / 2 - atan(1 / |x|).
 * 1.37 ULP, at 1.14586937 */
DMLCY_INLINE float dmlcy_atan(int fused, float x)
{
    const float a = dmlcy_abs(x);
    const int large = a > 1.0f;
    const float t = (large ? -1.0f : a) / (large ? a : 1.0f);
    return dmlcy_signed(dmlcy_atan_from(fused, large ? DMLCY_HALF_PI : 0.0f, t), x);
}

/* The angle of (x, y). The quotient of two zeros is taken for 0, that of two infinities for 1.
 * 1.76 ULP, 0.50 steps, in 10^9 pairs, and right in 1,024 pairs of special numbers */
DMLCY_INLINE float dmlcy_atan2(int fused, float y, float x)
{
    const float a = dmlcy_abs(x), b = dmlcy_abs(y);
    const int steep = b > a;
    const float most = steep ? b : a, least = steep ? a : b, quotient = least / most;
    const float sure = least == most ? (most == 0.0f ? 0.0f : 1.0f) : quotient;
    const uint32_t negative = dmlcy_bits_of(x) & DMLCY_SIGN;
    const float t = dmlcy_of_bits(dmlcy_bits_of(sure) ^ (steep ? DMLCY_SIGN : 0u) ^ negative);
    const float far = dmlcy_of_bits((uint32_t)((int32_t)negative >> 31) & DMLCY_PI_BITS);
    return dmlcy_signed(dmlcy_atan_from(fused, steep ? DMLCY_HALF_PI : far, t), y);
}

#endif
