/* sinh, cosh, asinh, acosh and atanh over FLOAT32. */
#ifndef DMLCY_FUNCTIONS_HYPERBOLIC_H
#define DMLCY_FUNCTIONS_HYPERBOLIC_H

#include "functions_base.h"

/* ---- sinh and cosh: |x| = k log(2) + r ---- */

/* A quarter of 2^k, and of 2^-k where that is a normal number, otherwise 0; r; z = r^2; and of it, sinh in
 * sinh(r) = r + r z sinh, relatively to 1.4e-8, and cosh in cosh(r) = 1 + z cosh, to 1e-10. */
typedef struct {
    float up, down, r, z, sinh, cosh;
} dmlcy_hyperbola;

/* 2^(k-2) stays finite up to 89.5, where both functions are infinite. */
DMLCY_INLINE dmlcy_hyperbola dmlcy_hyperbola_at(int fused, float x)
{
    const float a = dmlcy_at_most(dmlcy_abs(x), 89.5f);
    const float y = DMLCY_FMA(a, DMLCY_LOG2E, DMLCY_SHIFT + 125.0f), k = y - (DMLCY_SHIFT + 125.0f);
    const uint32_t up = dmlcy_bits_of(y) << 23;
    const int32_t down = (int32_t)(0x7d000000u - up);
    dmlcy_hyperbola at;
    float p = 0x1.6d4f3cp-10f;
    at.up = dmlcy_of_bits(up);
    at.down = dmlcy_of_bits((uint32_t)(down < 0 ? 0 : down));
    at.r = DMLCY_FMA(k, -DMLCY_LN2_LOW, DMLCY_FMA(k, -DMLCY_LN2_HIGH, a));
    at.z = at.r * at.r;
    at.sinh = DMLCY_FMA(at.z, 0x1.1227b2p-7f, 0x1.5554b0p-3f);
    p = DMLCY_FMA(p, at.z, 0x1.5554e6p-5f);
    at.cosh = DMLCY_FMA(p, at.z, 0.5f);
    return at;
}

/* sinh(k log(2)) cosh(r) + cosh(k log(2)) sinh(r), with r twice as large: it is not halved where it is denormal.
 * 1.31 ULP, at 7.9712348 */
DMLCY_INLINE float dmlcy_sinh(int fused, float x)
{
    const dmlcy_hyperbola at = dmlcy_hyperbola_at(fused, x);
    const float sum = at.up + at.down, less = at.up - at.down, r = at.r + at.r, z = at.z + at.z;
    const float rest = DMLCY_FMA(sum, at.sinh * (at.z * r), less * (at.cosh * z));
    return dmlcy_signed(DMLCY_FMA(less, 2.0f, DMLCY_FMA(sum, r, rest)), x);
}

/* cosh(k log(2)) cosh(r) + sinh(k log(2)) sinh(r).
 * 1.30 ULP, at 4.53347683 */
DMLCY_INLINE float dmlcy_cosh(int fused, float x)
{
    const dmlcy_hyperbola at = dmlcy_hyperbola_at(fused, x);
    const float sum = at.up + at.down, less = at.up - at.down, s = DMLCY_FMA(at.sinh * at.z, at.r, at.r);
    const float half = at.up + (at.down + DMLCY_FMA(less, s, sum * (at.cosh * at.z)));
    return half + half;
}

/* ---- asinh, acosh and atanh ---- */

/* Of 1 + q = 2^k (1 + f), the k in the exponent; `half` is (1 + q) / 2, which is finite. */
DMLCY_INLINE uint32_t dmlcy_exponent_of_half(float half)
{
    return dmlcy_exponent_of(half) + 0x00800000u;
}

/* 2^-k, or 0 where that is denormal. */
DMLCY_INLINE float dmlcy_inverse_of(uint32_t above)
{
    const int32_t inverse = (int32_t)(0x3f800000u - above);
    return dmlcy_of_bits((uint32_t)(inverse < 0 ? 0 : inverse));
}

/* log(1 + q), q = |x| + (sqrt(1 + x^2) - 1) = |x| + |x| t, t = |x| / (sqrt(1 + x^2) + 1).
 * A1.31 ULP, at 7.9712348 */
DMLCY_INLINE float dmlcy_asinh(int fused, float x)
{
    const float a = dmlcy_abs(x), c = dmlcy_at_most(a, 0x1p40f), t = c / (sqrtf(DMLCY_FMA(c, c, 1.0f)) + 1.0f);
    const uint32_t above = dmlcy_exponent_of_half(DMLCY_FMA(a, 0.5f * t, DMLCY_FMA(a, 0.5f, 0.5f)));
    const float scaled = dmlcy_of_bits(dmlcy_bits_of(a) - above);
    const float f = (dmlcy_inverse_of(above) - 1.0f) + DMLCY_FMA(scaled, t, scaled);
    return dmlcy_signed(a < INFINITY ? dmlcy_log_near_one(fused, f, dmlcy_exponent(above)) : a, x);
}

/* log(1 + q), q = d + sqrt(d^2 + 2 d), d = x - 1, with what rounding takes from q.
 * A1.30 ULP, at 4.53347683 */
DMLCY_INLINE float dmlcy_acosh(int fused, float x)
{
    const float d = x - 1.0f, c = dmlcy_at_most(d, 0x1p40f), near = sqrtf(DMLCY_FMA(c, c, c + c));
    const float root = d > 0x1p40f ? d : near;
    const uint32_t above = dmlcy_exponent_of_half(DMLCY_FMA(root, 0.5f, DMLCY_FMA(d, 0.5f, 0.5f)));
    const float part = dmlcy_of_bits(dmlcy_bits_of(d) - above), most = dmlcy_of_bits(dmlcy_bits_of(root) - above);
    const float q = most + part, low = (most - q) + part, f = (dmlcy_inverse_of(above) - 1.0f) + q;
    const float p = DMLCY_FMA(dmlcy_log_tail(fused, f), f * f, low) + f, special = x < 1.0f ? NAN : x;
    return (x >= 1.0f) & (x < INFINITY) ? DMLCY_FMA(dmlcy_exponent(above), DMLCY_LN2, p) : special;
}

/* k log(2) / 2 + atanh(v), v = ((1 + a) - 2^k (1 - a)) / ((1 + a) + 2^k (1 - a)), for a k for which 2^k is next to the
 * quotient (1 + a) / (1 - a), rather too small: -0.112 < v < 0.274. It is at most 24, so that 1 - 2^k is exact; of the
 * largest a below 1, v is 1/3. atanh(v) is v + v^3 P(v^2), relatively to 5.9e-10.
 * 1.41 ULP, at 0.460428059 */
DMLCY_INLINE float dmlcy_atanh(int fused, float x)
{
    const float a = dmlcy_abs(x), d = 1.0f - a;
    const int32_t wanted = (int32_t)((dmlcy_bits_of(a + 1.0f) - dmlcy_bits_of(d) + 0x00200000u) & 0xff800000u);
    const uint32_t above = (uint32_t)(wanted > 0x0c000000 ? 0x0c000000 : wanted);
    const float s = dmlcy_of_bits(above + 0x3f800000u);
    const float v = (DMLCY_FMA(a, s, 1.0f - s) + a) / DMLCY_FMA(s, d, a + 1.0f), z = v * v;
    const float special = a == 1.0f ? INFINITY : NAN;
    float p = 0x1.094580p-3f;
    p = DMLCY_FMA(p, z, 0x1.22201ep-3f);
    p = DMLCY_FMA(p, z, 0x1.99a944p-3f);
    p = DMLCY_FMA(p, z, 0x1.555546p-2f);
    p = DMLCY_FMA(dmlcy_exponent(above), 0.5f * DMLCY_LN2, DMLCY_FMA(p, z * v, v));
    return dmlcy_signed(a < 1.0f ? p : special, x);
}

#endif
