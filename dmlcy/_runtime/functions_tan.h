/* tan over FLOAT32. */
#ifndef DMLCY_FUNCTIONS_TAN_H
#define DMLCY_FUNCTIONS_TAN_H

#include "functions_turns.h"

/* tan(r + low), or -1 / tan(r + low) where n is odd, for |r| <= 0.79 and a `low` of at most half a unit of r:
 * r + r^3 P(r^2), relatively to 1.5e-9, and low (1 + r^2). */
DMLCY_INLINE float dmlcy_quarter_turn(int fused, float r, float low, uint32_t n)
{
    const float z = r * r;
    const int odd = (n & 1u) != 0;
    float p = 0x1.249a5ep-8f, t;
    p = DMLCY_NEAR(p, z, -0x1.6ee064p-14f);
    p = DMLCY_NEAR(p, z, 0x1.67940ep-7f);
    p = DMLCY_NEAR(p, z, 0x1.5bd4a0p-6f);
    p = DMLCY_NEAR(p, z, 0x1.baf0c0p-5f);
    p = DMLCY_NEAR(p, z, 0x1.110d1ap-3f);
    p = DMLCY_NEAR(p, z, 0x1.555562p-2f);
    t = DMLCY_FMA(p, z * r, DMLCY_NEAR(low, z, low)) + r;
    return (odd ? -1.0f : t) / (odd ? t : 1.0f);
}

/* |x| = n pi / 2 + r + low. The first two differences are exact. */
DMLCY_INLINE float dmlcy_tan_ordinary(int fused, float x)
{
    const float a = dmlcy_abs(x), y = DMLCY_NEAR(a, 2.0f * DMLCY_INVERSE_PI, DMLCY_SHIFT), n = y - DMLCY_SHIFT;
    const float first = DMLCY_FMA(n, -0.5f * DMLCY_PI_1, a), r = first - n * (0.5f * DMLCY_PI_2), lost = first - r;
    const float low = DMLCY_FMA(n, -0.5f * DMLCY_PI_3, DMLCY_FMA(n, -0.5f * DMLCY_PI_2, lost));
    const float t = dmlcy_quarter_turn(fused, r, low, dmlcy_bits_of(y));
    return dmlcy_of_bits(dmlcy_bits_of(t) ^ (dmlcy_bits_of(x) & DMLCY_SIGN));
}

DMLCY_INLINE uint32_t dmlcy_tan_special(float x)
{
    return dmlcy_turns_special(x);
}

/* tan(x) for |x| >= 2^6 or NaN. */
DMLCY_INLINE float dmlcy_tan_large(int fused, float x)
{
    const uint64_t quarters = dmlcy_turns_of(x) << 1;
    const uint32_t n = (uint32_t)((quarters + ((uint64_t)1 << 62)) >> 63);
    const double r = (double)(int64_t)(quarters << 1) * 0x1.921fb54442d18p-64;
    const float near = (float)r, t = dmlcy_quarter_turn(fused, near, (float)(r - near), n);
    return x - x == 0.0f ? dmlcy_of_bits(dmlcy_bits_of(t) ^ (dmlcy_bits_of(x) & DMLCY_SIGN)) : x - x;
}

/* 1.97 ULP, at 64904.5195 */
DMLCY_INLINE float dmlcy_tan(int fused, float x)
{
    return dmlcy_turns_special(x) >> 31 ? dmlcy_tan_large(fused, x) : dmlcy_tan_ordinary(fused, x);
}

#endif
