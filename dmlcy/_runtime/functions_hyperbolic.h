/* sinh, cosh, asinh, acosh and atanh over FLOAT32. */
#ifndef DMLCY_FUNCTIONS_HYPERBOLIC_H
#define DMLCY_FUNCTIONS_HYPERBOLIC_H

#include "functions_base.h"

/* ---- sinh and cosh: |x| = k log(2) + r ---- */

/* A quarter of 2^k, and of 2^-k where that is a normal number, otherwise 0; r; z = r^2; and of it, sinh in
 * sinh(r) = r + r z sinh, relatively to 1.4e-8, and cosh in cosh(r) = 1 + z cosh / 2, to 1e-10. */
typedef struct {
    float up, down, r, z, sinh, cosh;
} dmlcy_hyperbola;

/* 2^(k-2) stays finite up to 89.5, where both functions are infinite. */
DMLCY_INLINE dmlcy_hyperbola dmlcy_hyperbola_at(int fused, float x)
{
    const float a = dmlcy_at_most(dmlcy_abs(x), 89.5f);
    const float y = DMLCY_NEAR(a, DMLCY_LOG2E, DMLCY_SHIFT + 125.0f), k = y - (DMLCY_SHIFT + 125.0f);
    const uint32_t up = dmlcy_bits_of(y) << 23;
    const int32_t down = (int32_t)(0x7d000000u - up);
    dmlcy_hyperbola at;
    float p = 0x1.6d4f3cp-9f;
    at.up = dmlcy_of_bits(up);
    at.down = dmlcy_of_bits((uint32_t)(down < 0 ? 0 : down));
    at.r = DMLCY_NEAR(k, -DMLCY_LN2_LOW, DMLCY_NEAR(k, -DMLCY_LN2_HIGH, a));
    at.z = at.r * at.r;
    at.sinh = DMLCY_NEAR(at.z, 0x1.1227b2p-7f, 0x1.5554b0p-3f);
    p = DMLCY_NEAR(p, at.z, 0x1.5554e6p-4f);
    at.cosh = DMLCY_NEAR(p, at.z, 1.0f);
    return at;
}

/* sinh(k log(2)) cosh(r) + cosh(k log(2)) sinh(r), with r twice as large: it is not halved where it is denormal.
 * Of the largest results, 2 `less` alone is infinite.
 * 1.60 ULP, at 7.97286034 */
DMLCY_INLINE float dmlcy_sinh(int fused, float x)
{
    const dmlcy_hyperbola at = dmlcy_hyperbola_at(fused, x);
    const float less = at.up - at.down, s = (at.up + at.down) * (at.r + at.r);
    return dmlcy_signed(DMLCY_NEAR(at.z, DMLCY_NEAR(less, at.cosh, s * at.sinh), DMLCY_FMA(less, 2.0f, s)), x);
}

/* cosh(k log(2)) cosh(r) + sinh(k log(2)) sinh(r), with 2^-k, which the sum of both powers loses, added apart.
 * 1.28 ULP, at 3.86194944 */
DMLCY_INLINE float dmlcy_cosh(int fused, float x)
{
    const dmlcy_hyperbola at = dmlcy_hyperbola_at(fused, x);
    const float sum = at.up + at.down, s = (at.up - at.down) * (at.r + at.r);
    const float rest = DMLCY_NEAR(at.z, DMLCY_NEAR(sum, at.cosh, s * at.sinh), s);
    return DMLCY_FMA(at.up, 2.0f, DMLCY_NEAR(at.down, 2.0f, rest));
}

/* ---- asinh and acosh: log(1 + q), 1 + q = 2^k (1 + f) ----
 *
 * 1 + f is between 3/4 and 3/2, so that the sum f of 2^-k - 1 and 2^-k q is exact. */

/* The k in the exponent; `half` is (1 + q) / 2, which is finite. */
DMLCY_INLINE uint32_t dmlcy_exponent_of_half(float half)
{
    return (dmlcy_bits_of(half) - 0x3ec00000u) & 0xff800000u;
}

/* 2^-k - 1, with 0 for a denormal 2^-k. */
DMLCY_INLINE float dmlcy_inverse_less_one(uint32_t above)
{
    const int32_t inverse = (int32_t)(0x3f800000u - above);
    return dmlcy_of_bits((uint32_t)(inverse < 0 ? 0 : inverse)) - 1.0f;
}

/* log(1 + f) + low + k log(2): f + f^2 P(f) is log(1 + f), relatively to 2.9e-9 where it is the result. */
DMLCY_INLINE float dmlcy_log_of_sum(int fused, float f, float low, uint32_t above)
{
    float p = -0x1.53901cp-5f;
    p = DMLCY_NEAR(p, f, 0x1.9ca2dap-4f);
    p = DMLCY_NEAR(p, f, -0x1.0c5f78p-3f);
    p = DMLCY_NEAR(p, f, 0x1.29b17ep-3f);
    p = DMLCY_NEAR(p, f, -0x1.553ebep-3f);
    p = DMLCY_NEAR(p, f, 0x1.995b9ep-3f);
    p = DMLCY_NEAR(p, f, -0x1.fffc34p-3f);
    p = DMLCY_NEAR(p, f, 0x1.5555bep-2f);
    p = DMLCY_NEAR(p, f, -0x1.000004p-1f);
    return DMLCY_FMA(dmlcy_exponent(above), DMLCY_LN2, DMLCY_NEAR(p, f * f, low) + f);
}

/* q = |x| + (sqrt(1 + x^2) - 1) = |x| + |x| t, t = |x| / (sqrt(1 + x^2) + 1).
 * 1.71 ULP, at 0.520460784 */
DMLCY_INLINE float dmlcy_asinh(int fused, float x)
{
    const float a = dmlcy_abs(x), c = dmlcy_at_most(a, 0x1p40f), t = c / (sqrtf(DMLCY_FMA(c, c, 1.0f)) + 1.0f);
    const uint32_t above = dmlcy_exponent_of_half(DMLCY_NEAR(a, 0.5f * t, DMLCY_NEAR(a, 0.5f, 0.5f)));
    const float scaled = dmlcy_of_bits(dmlcy_bits_of(a) - above);
    const float f = dmlcy_inverse_less_one(above) + DMLCY_FMA(scaled, t, scaled);
    return dmlcy_signed(a < INFINITY ? dmlcy_log_of_sum(fused, f, 0.0f, above) : a, x);
}

/* q = d + sqrt(d^2 + 2 d), d = x - 1, with what rounding takes from it.
 * 1.82 ULP, at 1.03138602 */
DMLCY_INLINE float dmlcy_acosh(int fused, float x)
{
    const float d = x - 1.0f, c = dmlcy_at_most(d, 0x1p40f), near = sqrtf(DMLCY_FMA(c, c, c + c));
    const float root = d > 0x1p40f ? d : near;
    const uint32_t above = dmlcy_exponent_of_half(DMLCY_NEAR(root, 0.5f, DMLCY_NEAR(d, 0.5f, 0.5f)));
    const float part = dmlcy_of_bits(dmlcy_bits_of(d) - above), most = dmlcy_of_bits(dmlcy_bits_of(root) - above);
    const float q = most + part, low = (most - q) + part;
    const float p = dmlcy_log_of_sum(fused, dmlcy_inverse_less_one(above) + q, low, above);
    const float special = x < 1.0f ? NAN : x;
    return (x >= 1.0f) & (x < INFINITY) ? p : special;
}

/* ---- atanh ---- */

/* k log(2) / 2 + atanh(v), v = ((1 + a) - 2^k (1 - a)) / ((1 + a) + 2^k (1 - a)), for a k for which 2^k is next to the
 * quotient (1 + a) / (1 - a), rather too small: -0.112 < v < 0.274. The number k is at most 24, so that 1 - 2^k is
 * exact; of the largest a below 1, v is 1/3. atanh(v) is v + v^3 P(v^2), relatively to 5.9e-10.
 * 1.41 ULP, at 0.460428059 */
DMLCY_INLINE float dmlcy_atanh(int fused, float x)
{
    const float a = dmlcy_abs(x), d = 1.0f - a;
    const int32_t wanted = (int32_t)((dmlcy_bits_of(a + 1.0f) - dmlcy_bits_of(d) + 0x00200000u) & 0xff800000u);
    const uint32_t above = (uint32_t)(wanted > 0x0c000000 ? 0x0c000000 : wanted);
    const float s = dmlcy_of_bits(above + 0x3f800000u);
    const float v = (DMLCY_NEAR(a, s, 1.0f - s) + a) / DMLCY_NEAR(s, d, a + 1.0f), z = v * v;
    const float special = a == 1.0f ? INFINITY : NAN;
    float p = 0x1.094580p-3f;
    p = DMLCY_NEAR(p, z, 0x1.22201ep-3f);
    p = DMLCY_NEAR(p, z, 0x1.99a944p-3f);
    p = DMLCY_NEAR(p, z, 0x1.555546p-2f);
    p = DMLCY_FMA(dmlcy_exponent(above), 0.5f * DMLCY_LN2, DMLCY_NEAR(p, z * v, v));
    return dmlcy_signed(a < 1.0f ? p : special, x);
}

#endif
