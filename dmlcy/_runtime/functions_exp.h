/* Functions of exponentials over FLOAT32: exp, expm1, tanh, sigmoid, softplus, erf, gelu. Products of them are for
 * functions that alone would be too large or too small, or whose argument would be rounded.
 */
#ifndef DMLCY_FUNCTIONS_EXP_H
#define DMLCY_FUNCTIONS_EXP_H

#include "functions_base.h"

#define DMLCY_EXP_MOST 195.0f /* no float times e^-195 is as large as half of the least float */
#define DMLCY_EXP_ORDINARY 0x42ae0000u /* 87: e^-87 and e^87 are normal numbers, and so are the powers of two in them */
#define DMLCY_SIGMOID_ONE 20.0f /* from here on, 1 / (1 + e^-t) is 1, and log(1 + e^t) is t */

/* 0.91 ULP, at 5.19979858; 0.86 steps */
DMLCY_INLINE float dmlcy_exp(int fused, float x)
{
    return dmlcy_exp_between(fused, dmlcy_at_least(dmlcy_at_most(x, 89.0f), -104.0f));
}

/* e^(a - b) for a <= b, with what rounding takes from the difference. */
DMLCY_INLINE float dmlcy_exp_less(int fused, float a, float b)
{
    const float d = a - b, part = d - a, rest = (a - (d - part)) - (b + part);
    const float x = dmlcy_at_least(d, -104.0f), low = dmlcy_abs(d) < 104.0f ? rest : 0.0f;
    const float y = DMLCY_NEAR(x, DMLCY_LOG2E, DMLCY_SHIFT + 254.0f), k = y - (DMLCY_SHIFT + 254.0f);
    const float mantissa = dmlcy_exp_near_zero(fused, dmlcy_exp_rest(fused, x, low, k));
    return dmlcy_times_power(mantissa, dmlcy_power_of(fused, y, k));
}

/* The same for |a| and |b| up to 43.5: b is `whole` times log(2), and `rest`. */
#define DMLCY_EXP_LESS_ORDINARY 0x422e0000
DMLCY_INLINE float dmlcy_exp_less_whole(float b)
{
    return (b * DMLCY_LOG2E + DMLCY_SHIFT) - DMLCY_SHIFT;
}

DMLCY_INLINE float dmlcy_exp_less_rest(float b)
{
    return (float)((double)b - (double)dmlcy_exp_less_whole(b) * 0x1.62e42fefa39efp-1);
}

DMLCY_INLINE float dmlcy_exp_less_ordinary(int fused, float a, float b, float whole, float rest)
{
    const float y = DMLCY_NEAR(a - b, DMLCY_LOG2E, DMLCY_SHIFT), k = (y - DMLCY_SHIFT) + whole;
    const float r = DMLCY_NEAR(k, -DMLCY_LN2_LOW, DMLCY_NEAR(k, -DMLCY_LN2_HIGH, a)) - rest;
    return dmlcy_shifted(dmlcy_exp_near_zero(fused, r), y);
}

DMLCY_INLINE uint32_t dmlcy_exp_special(float x)
{
    return dmlcy_beyond(x, DMLCY_EXP_ORDINARY);
}

DMLCY_INLINE float dmlcy_exp_ordinary(int fused, float x)
{
    const float y = DMLCY_NEAR(x, DMLCY_LOG2E, DMLCY_SHIFT), k = y - DMLCY_SHIFT;
    return dmlcy_shifted(dmlcy_exp_near_zero(fused, dmlcy_exp_rest(fused, x, -0.0f, k)), y);
}

/* e^r - 1 for |r| <= 0.3472 */
DMLCY_INLINE float dmlcy_expm1_near_zero(int fused, float r)
{
    float p = 0x1.6b8b1ep-10f;
    p = DMLCY_NEAR(p, r, 0x1.1226b2p-7f);
    p = DMLCY_NEAR(p, r, 0x1.555702p-5f);
    p = DMLCY_NEAR(p, r, 0x1.5554b2p-3f);
    p = DMLCY_NEAR(p, r, 0x1.fffffep-2f);
    return DMLCY_FMA(p, r * r, r);
}

/* 2 (2^(k-1) (e^r - 1) + 2^(k-1) - 1/2).
 * 1.53 ULP, at 0.391851902 */
DMLCY_INLINE float dmlcy_expm1(int fused, float x)
{
    const float b = dmlcy_at_least(dmlcy_at_most(x, 89.0f), -18.0f);
    const float y = DMLCY_NEAR(b, DMLCY_LOG2E, DMLCY_SHIFT + 126.0f), k = y - (DMLCY_SHIFT + 126.0f);
    const float s = dmlcy_of_bits(dmlcy_bits_of(y) << 23);
    float p = dmlcy_expm1_near_zero(fused, dmlcy_exp_rest(fused, b, -0.0f, k));
    p = DMLCY_FMA(s, p, s - 0.5f);
    return dmlcy_abs(x) < 0x1p-26f ? x : p + p;
}

DMLCY_INLINE uint32_t dmlcy_expm1_special(float x)
{
    return dmlcy_beyond(x, DMLCY_EXP_ORDINARY);
}

/* 2^k (e^r - 1) + 2^k - 1 */
DMLCY_INLINE float dmlcy_expm1_ordinary(int fused, float x)
{
    const float y = DMLCY_NEAR(x, DMLCY_LOG2E, DMLCY_SHIFT), k = y - DMLCY_SHIFT, s = dmlcy_shifted(1.0f, y);
    const float p = dmlcy_expm1_near_zero(fused, dmlcy_exp_rest(fused, x, -0.0f, k));
    return dmlcy_signed(DMLCY_FMA(s, p, s - 1.0f), x);
}

/* a (e^(b / a) - 1), for a finite a: b where b / a is small, and a 2^k e^r where it is large.
 * With what rounding took from the quotient; both numbers of it are as large as that needs. */
DMLCY_INLINE float dmlcy_scaled_expm1(int fused, float a, float b)
{
    const float up = dmlcy_abs(a) < 1.0f ? 0x1p64f : 1.0f, divisor = a * up, t = b / a;
    const float left = DMLCY_FMA(-t, divisor, b * up) * (1.0f / divisor);
    const float low = dmlcy_abs(t) < DMLCY_EXP_MOST ? left : 0.0f;
    const float x = dmlcy_at_least(dmlcy_at_most(t, DMLCY_EXP_MOST), -18.0f);
    const float y = DMLCY_NEAR(x, DMLCY_LOG2E, DMLCY_SHIFT + 381.0f), k = y - (DMLCY_SHIFT + 381.0f);
    const float s = dmlcy_of_bits((dmlcy_bits_of(y) - 255u) << 23);
    const float p = dmlcy_expm1_near_zero(fused, dmlcy_exp_rest(fused, x, low, k)), q = DMLCY_NEAR(s, p, s - 0.5f);
    const dmlcy_power power = dmlcy_large_power_of(fused, y, k);
    const float large = DMLCY_NEAR(divisor, p, divisor) * (power.one / up) * power.one * power.two;
    const float ordinary = dmlcy_abs(t) < 0x1p-26f ? b : a * (q + q);
    return t > DMLCY_EXP_MOST ? a * INFINITY : t > 64.0f ? large : ordinary;
}

/* w / v, where w = (1 - e) / 2, v = (1 + e) / 2, e = e^(-2|x|). The exponent is halved throughout:
 * -|x| = k log(2) / 2 + d.
 * 1.96 ULP, at 0.519323409 */
DMLCY_INLINE float dmlcy_tanh(int fused, float x)
{
    const float a = dmlcy_at_most(dmlcy_abs(x), 9.1f);
    const float y = DMLCY_NEAR(a, -2.0f * DMLCY_LOG2E, DMLCY_SHIFT + 127.0f), k = y - (DMLCY_SHIFT + 127.0f);
    const float s = dmlcy_of_bits(dmlcy_bits_of(y) << 23), d = DMLCY_FMA(k, -0.5f * DMLCY_LN2, -a);
    float p = 0x1.6b8b1ep-5f, w, v;
    p = DMLCY_NEAR(p, d, 0x1.1226b2p-3f);
    p = DMLCY_NEAR(p, d, 0x1.555702p-2f);
    p = DMLCY_NEAR(p, d, 0x1.5554b2p-1f);
    p = DMLCY_NEAR(p, d, 0x1.fffffep-1f);
    p = DMLCY_FMA(p, d * d, d);
    w = DMLCY_FMA(-s, p, DMLCY_FMA(s, -0.5f, 0.5f));
    v = DMLCY_FMA(s, p, DMLCY_FMA(s, 0.5f, 0.5f));
    return dmlcy_signed(w / v, x);
}

/* The rounding error of the product t of a and b; 0 where a function is at an end anyway. */
DMLCY_INLINE float dmlcy_lost(int fused, float a, float b, float t)
{
    const float low = DMLCY_FMA(a, b, -t);
    return dmlcy_abs(t) < DMLCY_EXP_MOST ? low : 0.0f;
}

/* tanh(x) for |x| < 0.1733, where the quotient of dmlcy_tanh would round more: 0.5 ULP. */
DMLCY_INLINE float dmlcy_tanh_near_zero(int fused, float x)
{
    const float z = x * x;
    float p = 0x1.664f48p-6f; /* 62 / 2835, -17 / 315, 2 / 15, -1 / 3 */
    p = DMLCY_NEAR(p, z, -0x1.ba1ba2p-5f);
    p = DMLCY_NEAR(p, z, 0x1.111112p-3f);
    p = DMLCY_NEAR(p, z, -0x1.555556p-2f);
    return DMLCY_FMA(p, x * z, x);
}

/* c tanh(a b): tanh(t + low) is tanh(t) + low (1 - tanh(t)^2), and a b below 2^-13. */
DMLCY_INLINE float dmlcy_tanh_times(int fused, float c, float a, float b)
{
    const float t = a * b, y = dmlcy_abs(t) < 0.1733f ? dmlcy_tanh_near_zero(fused, t) : dmlcy_tanh(fused, t);
    const float more = c * dmlcy_lost(fused, a, b, t) * DMLCY_NEAR(-y, y, 1.0f);
    return dmlcy_abs(t) < 0x1p-13f ? dmlcy_product(a, b, c) : DMLCY_FMA(c, y, more);
}

/* ---- the logistic function and its integral ---- */

/* 1 / (1 + (e + q)), which is 2^-k / (1 + e^(|x| + low)) with e^(|x| + low) = 2^-k (1 + q) and e = 2^k. */
DMLCY_INLINE float dmlcy_logistic(int fused, float size, float low, float k, float e)
{
    const float r = dmlcy_exp_rest(fused, size, low, -k);
    return 1.0f / (1.0f + (e + DMLCY_NEAR(dmlcy_exp_tail(fused, r), r * r, r)));
}

/* v = 1 / (1 + e^|x|), or 1 - v.
 * 2.00 ULP (1.9991), at -0.0003449918; 1.22 steps */
DMLCY_INLINE float dmlcy_sigmoid(int fused, float x)
{
    const float a = dmlcy_at_most(dmlcy_abs(x), 104.0f);
    const float y = DMLCY_NEAR(a, -DMLCY_LOG2E, DMLCY_SHIFT + 254.0f), k = y - (DMLCY_SHIFT + 254.0f);
    const dmlcy_power power = dmlcy_power_of(fused, y, k);
    const float v = dmlcy_times_power(dmlcy_logistic(fused, a, -0.0f, k, power.one * power.two), power);
    return x > 0.0f ? 1.0f - v : v;
}

DMLCY_INLINE uint32_t dmlcy_sigmoid_special(float x)
{
    return dmlcy_beyond(x, DMLCY_EXP_ORDINARY);
}

DMLCY_INLINE float dmlcy_sigmoid_ordinary(int fused, float x)
{
    const float a = dmlcy_abs(x);
    const float y = DMLCY_NEAR(a, -DMLCY_LOG2E, DMLCY_SHIFT), k = y - DMLCY_SHIFT;
    const float e = dmlcy_shifted(1.0f, y), v = dmlcy_logistic(fused, a, -0.0f, k, e) * e;
    return x > 0.0f ? 1.0f - v : v;
}

/* c / (1 + e^(-a b)), which is c - c / (1 + e^(a b)); NaN where it is an infinity divided by one. */
DMLCY_INLINE float dmlcy_sigmoid_times(int fused, float c, float a, float b)
{
    const float t = a * b, size = dmlcy_at_most(dmlcy_abs(t), DMLCY_EXP_MOST);
    const float y = DMLCY_NEAR(size, -DMLCY_LOG2E, DMLCY_SHIFT + 381.0f), k = y - (DMLCY_SHIFT + 381.0f);
    const dmlcy_power power = dmlcy_large_power_of(fused, y, k);
    const float e = dmlcy_times_large_power(1.0f, power);
    const float v = dmlcy_logistic(fused, size, dmlcy_signs(dmlcy_lost(fused, a, b, t), t), k, e);
    const float above = t > DMLCY_SIGMOID_ONE ? c : DMLCY_FMA(c, -(v * e), c);
    const float below = t < -DMLCY_EXP_MOST ? c * 0.0f : c * power.one * v * power.one * power.two;
    return t > 0.0f ? above : below;
}

/* P in e + e^2 P(e), which is log(1 + e) for 0 <= e <= 1. */
DMLCY_INLINE float dmlcy_log1p_tail(int fused, float e)
{
    float p = 0x1.113634p-9f;
    p = DMLCY_NEAR(p, e, -0x1.c0a200p-7f);
    p = DMLCY_NEAR(p, e, 0x1.58ff44p-5f);
    p = DMLCY_NEAR(p, e, -0x1.54f16cp-4f);
    p = DMLCY_NEAR(p, e, 0x1.ff28d8p-4f);
    p = DMLCY_NEAR(p, e, -0x1.4a72b2p-3f);
    p = DMLCY_NEAR(p, e, 0x1.978b54p-3f);
    p = DMLCY_NEAR(p, e, -0x1.ffc59ep-3f);
    p = DMLCY_NEAR(p, e, 0x1.5553b6p-2f);
    return DMLCY_NEAR(p, e, -0x1.fffff8p-2f);
}

/* log(1 + e^t) = (max(t, 0) + low) + part * power, for the product t of a and b; low is what rounding took from it. */
typedef struct {
    float t, low, part;
    dmlcy_power power;
} dmlcy_softplus_sum;

DMLCY_INLINE dmlcy_softplus_sum dmlcy_softplus_of(int fused, float a, float b)
{
    const float t = a * b, size = dmlcy_at_most(dmlcy_abs(t), DMLCY_EXP_MOST), low = dmlcy_lost(fused, a, b, t);
    const float y = DMLCY_NEAR(size, -DMLCY_LOG2E, DMLCY_SHIFT + 381.0f), k = y - (DMLCY_SHIFT + 381.0f);
    const float m = dmlcy_exp_near_zero(fused, dmlcy_exp_rest(fused, -size, -dmlcy_signs(low, t), k));
    dmlcy_softplus_sum sum;
    float e;
    sum.t = t;
    sum.low = low;
    sum.power = dmlcy_large_power_of(fused, y, k);
    e = dmlcy_times_large_power(m, sum.power);
    sum.part = t < -DMLCY_EXP_MOST ? 0.0f : DMLCY_FMA(dmlcy_log1p_tail(fused, e), e * m, m);
    return sum;
}

/* c log(1 + e^(a b)) */
DMLCY_INLINE float dmlcy_softplus_times(int fused, float c, float a, float b)
{
    const dmlcy_softplus_sum sum = dmlcy_softplus_of(fused, a, b);
    const float near = c * (sum.t + (dmlcy_times_large_power(sum.part, sum.power) + sum.low));
    const float below = c * sum.power.one * sum.part * sum.power.one * sum.power.two;
    return sum.t > DMLCY_SIGMOID_ONE ? dmlcy_product(a, b, c) : sum.t > 0.0f ? near : below;
}

/* log(1 + e^(a b)) / a */
DMLCY_INLINE float dmlcy_softplus_over(int fused, float a, float b)
{
    const dmlcy_softplus_sum sum = dmlcy_softplus_of(fused, a, b);
    const float near = sum.t + (dmlcy_times_large_power(sum.part, sum.power) + sum.low);
    const float quotient = (sum.t > 0.0f ? near : sum.part * sum.power.one) / a;
    return sum.t > DMLCY_SIGMOID_ONE ? b : sum.t > 0.0f ? quotient : quotient * sum.power.one * sum.power.two;
}

/* ---- the normal distribution ---- */

/* Below 1: x + x P(x^2). From there: 1 - 2^L(|x|), with L of degree 6 near log2(erfc).
 * 1.27 ULP, at 1.02611005; 0.51 steps */
DMLCY_INLINE float dmlcy_erf(int fused, float x)
{
    const float a = dmlcy_at_most(dmlcy_abs(x), 3.95f), z = a * a;
    float p = 0x1.4771fcp-14f, q = 0x1.18bb6ap-12f, y, r, e;
    p = DMLCY_NEAR(p, z, -0x1.a3515ep-11f);
    p = DMLCY_NEAR(p, z, 0x1.53f224p-8f);
    p = DMLCY_NEAR(p, z, -0x1.b7f71ap-6f);
    p = DMLCY_NEAR(p, z, 0x1.ce2ce6p-4f);
    p = DMLCY_NEAR(p, z, -0x1.81273ep-2f);
    p = DMLCY_NEAR(p, z, 0x1.06eba8p-3f);
    p = DMLCY_NEAR(p, a, a);
    q = DMLCY_NEAR(q, a, -0x1.15ef6ep-8f);
    q = DMLCY_NEAR(q, a, 0x1.01b514p-5f);
    q = DMLCY_NEAR(q, a, -0x1.307032p-3f);
    q = DMLCY_NEAR(q, a, -0x1.d76e82p-1f);
    q = DMLCY_NEAR(q, a, -0x1.a03fe8p+0f);
    q = DMLCY_NEAR(q, a, -0x1.0b88eep-11f);
    y = q + (DMLCY_SHIFT + 127.0f);
    r = q - (y - (DMLCY_SHIFT + 127.0f));
    e = 0x1.5fa14ep-10f;
    e = DMLCY_NEAR(e, r, 0x1.3cebc0p-7f);
    e = DMLCY_NEAR(e, r, 0x1.c6add8p-5f);
    e = DMLCY_NEAR(e, r, 0x1.ebf9b8p-3f);
    e = DMLCY_NEAR(e, r, 0x1.62e432p-1f);
    e = DMLCY_NEAR(e, r, 1.0f);
    e = DMLCY_NEAR(dmlcy_of_bits(dmlcy_bits_of(y) << 23), -e, 1.0f);
    return dmlcy_signed(a < 1.0f ? p : e, x);
}

/* max(x, 0) - w, where w = |x| Q(|x|), Q(a) = erfc(a / sqrt(2)) / 2 = e^(-a^2 / 2) (1 + t) / (2.25 a + 2), and t is a
 * polynomial of z = a / (a + 4) - 1/2, to 2.3e-9. The exponent is -a^2 / 2 = h + low exactly, and k log(2) + r,
 * with e^r = 1 + q. The quotient a (1 + t) (1 + q) / (2.25 a + 2) is corrected by what it leaves, so that it rounds
 * about once; 2^k comes last. NaN for -infinity.
 * 1.83 ULP, at -5.72430658; 1.15 steps */
DMLCY_INLINE float dmlcy_gelu_of(int fused, float x, int large)
{
    const float shift = large ? DMLCY_SHIFT + 254.0f : DMLCY_SHIFT, size = dmlcy_abs(x);
    const float a = large ? dmlcy_at_most(size, 14.8f) : size, half = -0.5f * a, h = a * half;
    const float low = DMLCY_FMA(a, half, -h), y = DMLCY_NEAR(h, DMLCY_LOG2E, shift), k = y - shift;
    const float d = DMLCY_FMA(a, 2.25f, 2.0f), lost = DMLCY_FMA(a, 2.25f, 2.0f - d), e = a + 4.0f;
    const float inverse = 1.0f / (d * e), over = e * inverse, z = DMLCY_NEAR(d * inverse, a, -0.5f);
    float r = dmlcy_exp_rest(fused, h, low, k), t = -0x1.5998a6p-3f, u, w, left;
    r = DMLCY_NEAR(dmlcy_exp_tail(fused, r), r * r, r);
    t = DMLCY_NEAR(t, z, -0x1.08f33ap-4f);
    t = DMLCY_NEAR(t, z, 0x1.a3d04ep-2f);
    t = DMLCY_NEAR(t, z, -0x1.b9ae16p-4f);
    t = DMLCY_NEAR(t, z, -0x1.750b48p-1f);
    t = DMLCY_NEAR(t, z, 0x1.5c1080p+0f);
    t = DMLCY_NEAR(t, z, -0x1.48568cp+0f);
    t = DMLCY_NEAR(t, z, 0x1.51017cp-1f);
    t = DMLCY_NEAR(t, z, 0x1.a7fab6p-10f);
    t = DMLCY_NEAR(t, z, -0x1.665daep-2f);
    t = DMLCY_NEAR(t, z, 0x1.3b881ep-5f);
    u = DMLCY_NEAR(t, r, t + r);
    w = DMLCY_NEAR(a, u, a) * over;
    left = DMLCY_FMA(-w, lost, DMLCY_FMA(a, u, DMLCY_FMA(-w, d, a)));
    w = DMLCY_NEAR(left, over, w);
    w = large ? dmlcy_times_power(w, dmlcy_power_of(fused, y, k)) : dmlcy_shifted(w, y);
    return (large ? x < 0.0f ? 0.0f * x : x : dmlcy_above(x)) - w;
}

DMLCY_INLINE float dmlcy_gelu(int fused, float x)
{
    return dmlcy_gelu_of(fused, x, 1);
}

DMLCY_INLINE uint32_t dmlcy_gelu_special(float x)
{
    return dmlcy_beyond(x, 0x41500000u); /* 13: e^(-x^2 / 2) is a normal number */
}

DMLCY_INLINE float dmlcy_gelu_ordinary(int fused, float x)
{
    return dmlcy_gelu_of(fused, x, 0);
}

#endif
