/* sin and cos over FLOAT32. */
#ifndef DMLCY_FUNCTIONS_TURNS_H
#define DMLCY_FUNCTIONS_TURNS_H

#include "functions_base.h"

/* pi as a sum. Up to 2^17, three products with n take enough of it. */
#define DMLCY_PI_1 0x1.921fb6p+1f
#define DMLCY_PI_2 -0x1.777a5cp-24f
#define DMLCY_PI_3 -0x1.ee59dap-49f
#define DMLCY_INVERSE_PI 0x1.45f306p-2f
#define DMLCY_TURNS_MOST 0x48000000u /* 2^17, as bits */

/* sin(r) for |r| <= pi / 2, with another sign where the highest bit of flip is set: r + r^3 P(r^2), relatively 1.2e-8,
 * near pi / 2: 2e-9. Rounding would lead it beyond 1. */
DMLCY_INLINE float dmlcy_half_turn(int fused, float r, uint32_t flip)
{
    const float z = r * r;
    uint32_t bits, size;
    float p = 0x1.5bc6fcp-19f;
    p = DMLCY_NEAR(p, z, -0x1.9f49acp-13f);
    p = DMLCY_NEAR(p, z, 0x1.110df2p-7f);
    p = DMLCY_NEAR(p, z, -0x1.555546p-3f);
    bits = dmlcy_bits_of(DMLCY_FMA(p, r * z, r));
    size = bits & ~DMLCY_SIGN;
    size = (int32_t)size > 0x3f800000 ? 0x3f800000u : size;
    return dmlcy_of_bits(size | ((bits ^ flip) & DMLCY_SIGN));
}

/* a - n pi */
DMLCY_INLINE float dmlcy_less_turns(int fused, float a, float n)
{
    a = DMLCY_FMA(n, -DMLCY_PI_1, a);
    a = DMLCY_FMA(n, -DMLCY_PI_2, a);
    return DMLCY_FMA(n, -DMLCY_PI_3, a);
}

/* Whether |x| is too large, an infinity or a NaN. */
DMLCY_INLINE uint32_t dmlcy_turns_special(float x)
{
    return dmlcy_beyond(x, DMLCY_TURNS_MOST);
}

/* |x| / pi modulo 2 in units of 2^-63, for |x| >= 2^6: |x| is an integer of 24 bits times a power of two, and is
 * multiplied by the 96 bits of 1 / pi that matter. Any number where x is not finite. */
DMLCY_INLINE uint64_t dmlcy_turns_of(float x)
{
    static const uint32_t inverse[] = {
        0x00000000u, 0x517cc1b7u, 0x27220a94u, 0xfe13abe8u, 0xfa9a6ee0u,
        0x6db14accu, 0x9e21c820u, 0xff28b1d5u, 0xef5de2b0u,
    };
    const uint32_t bits = dmlcy_bits_of(x), at = ((bits >> 23) & 255u) - 150u + 31u, word = at / 32, by = at % 32;
    const uint64_t whole = (bits & 0x7fffffu) | 0x800000u;
    uint64_t first = (uint64_t)inverse[word] << 32 | inverse[word + 1];
    uint64_t next = (uint64_t)inverse[word + 2] << 32 | inverse[word + 3];
    if (by) {
        first = first << by | next >> (64 - by);
        next <<= by;
    }
    return whole * first + (whole * (next >> 32) >> 32);
}

/* sin(x), or cos(x), for |x| >= 2^6 or NaN. */
DMLCY_INLINE float dmlcy_turns_large(int fused, float x, int cosine)
{
    const uint64_t turns = dmlcy_turns_of(x) - (cosine ? (uint64_t)1 << 62 : 0);
    const float r = (float)((double)(int64_t)(turns << 1) * 0x1.921fb54442d18p-63);
    const uint32_t flips = (uint32_t)((turns >> 63) + (turns >> 62)) + (cosine ? 1u : dmlcy_bits_of(x) >> 31);
    return x - x == 0.0f ? dmlcy_half_turn(fused, r, flips << 31) : x - x;
}

/* |x| = n pi + r; (-1)^n sin(r), with the sign of x. */
DMLCY_INLINE float dmlcy_sin_ordinary(int fused, float x)
{
    const float a = dmlcy_abs(x), y = DMLCY_NEAR(a, DMLCY_INVERSE_PI, DMLCY_SHIFT), n = y - DMLCY_SHIFT;
    return dmlcy_half_turn(fused, dmlcy_less_turns(fused, a, n), (dmlcy_bits_of(y) << 31) ^ dmlcy_bits_of(x));
}

DMLCY_INLINE uint32_t dmlcy_sin_special(float x)
{
    return dmlcy_turns_special(x);
}

/* 1.70 ULP, at 5.13032231e+20 */
DMLCY_INLINE float dmlcy_sin(int fused, float x)
{
    return dmlcy_turns_special(x) >> 31 ? dmlcy_turns_large(fused, x, 0) : dmlcy_sin_ordinary(fused, x);
}

/* |x| = (n + 1/2) pi + r; (-1)^(n + 1) sin(r). */
DMLCY_INLINE float dmlcy_cos_ordinary(int fused, float x)
{
    const float a = dmlcy_abs(x), y = DMLCY_NEAR(a, DMLCY_INVERSE_PI, -0.5f) + (DMLCY_SHIFT + 1.0f);
    const float n = (y - (DMLCY_SHIFT + 1.0f)) + 0.5f;
    return dmlcy_half_turn(fused, dmlcy_less_turns(fused, a, n), dmlcy_bits_of(y) << 31);
}

DMLCY_INLINE uint32_t dmlcy_cos_special(float x)
{
    return dmlcy_turns_special(x);
}

/* 1.78 ULP, at 0.153753221 */
DMLCY_INLINE float dmlcy_cos(int fused, float x)
{
    return dmlcy_turns_special(x) >> 31 ? dmlcy_turns_large(fused, x, 1) : dmlcy_cos_ordinary(fused, x);
}

#endif
