/* Conversion between float16 (as uint16_t) and float: round to nearest even, NaN stays NaN (and becomes quiet).
 *
 * The portable functions have no branches, so that compilers vectorise the loops over them, and never produce a float32
 * subnormal, so that flush-to-zero modes do not change a result. On x86-64 the row functions use F16C when the processor
 * has it; its results are the same bits.
 */
#ifndef DMLCY_HALF_H
#define DMLCY_HALF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "isa.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

/* ---- one element ---- */

static inline float dmlcy_float_of_half(uint16_t half)
{
    const uint32_t magnitude = half & 0x7fffu;
    const float subnormal = (float)(int32_t)magnitude * 0x1p-24f;
    const uint32_t rebias = magnitude < 0x7c00u ? 112u << 23 : 224u << 23;  /* infinity and NaN: exponent 31 to 255 */
    const uint32_t quiet = magnitude > 0x7c00u ? 1u << 22 : 0u;
    uint32_t bits;
    float result;
    memcpy(&bits, &subnormal, sizeof bits);
    bits = magnitude < 0x0400u ? bits : ((magnitude << 13) + rebias) | quiet;
    bits |= (uint32_t)(half & 0x8000u) << 16;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* An element of 2 or 4 bytes. */
static inline float dmlcy_element_of(const char *from, int64_t item)
{
    uint16_t half;
    float number;
    if (item == 4) {
        memcpy(&number, from, sizeof number);
        return number;
    }
    memcpy(&half, from, sizeof half);
    return dmlcy_float_of_half(half);
}

static inline uint16_t dmlcy_half_of_float(float value)
{
    uint32_t bits, magnitude, aligned, normal, special, subnormal;
    float absolute, sum;
    memcpy(&bits, &value, sizeof bits);
    magnitude = bits & 0x7fffffffu;

    /* Above 2^-14: round the mantissa to 10 bits; a carry runs on into the exponent, up to infinity. */
    normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;

    /* Below 2^-14: the units of 1/2 + x are 2^-24, which are those of a float16 subnormal. */
    aligned = magnitude < 0x38800000u ? magnitude : 0u;
    memcpy(&absolute, &aligned, sizeof absolute);
    sum = absolute + 0.5f;
    memcpy(&subnormal, &sum, sizeof subnormal);
    subnormal -= 0x3f000000u;

    special = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x03ffu) : 0x7c00u;
    normal = magnitude < 0x38800000u ? subnormal : normal;
    normal = magnitude < 0x47800000u ? normal : special;
    return (uint16_t)(normal | (bits >> 16 & 0x8000u));
}

/* ---- rows: `stride_bytes` is the distance of neighbouring float16 elements, a multiple of 2 ---- */

static inline void dmlcy_half_to_float_portable(const uint16_t *src, ptrdiff_t stride_bytes, float *dst, size_t n)
{
    const ptrdiff_t stride = stride_bytes / 2;
    size_t i;
    if (stride == 1)
        for (i = 0; i < n; i++)
            dst[i] = dmlcy_float_of_half(src[i]);
    else
        for (i = 0; i < n; i++, src += stride)
            dst[i] = dmlcy_float_of_half(*src);
}

static inline void dmlcy_float_to_half_portable(const float *src, uint16_t *dst, ptrdiff_t stride_bytes, size_t n)
{
    const ptrdiff_t stride = stride_bytes / 2;
    size_t i;
    if (stride == 1)
        for (i = 0; i < n; i++)
            dst[i] = dmlcy_half_of_float(src[i]);
    else
        for (i = 0; i < n; i++, dst += stride)
            *dst = dmlcy_half_of_float(src[i]);
}

#if DMLCY_X86

__attribute__((target("avx,f16c")))
static inline void dmlcy_half_to_float_f16c(const uint16_t *src, ptrdiff_t stride_bytes, float *dst, size_t n)
{
    const ptrdiff_t stride = stride_bytes / 2;
    size_t i = 0;
    if (stride == 1)
        for (; i + 8 <= n; i += 8)
            _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + i))));
    for (src += (ptrdiff_t)i * stride; i < n; i++, src += stride)
        dst[i] = _cvtsh_ss(*src);
}

__attribute__((target("avx,f16c")))
static inline void dmlcy_float_to_half_f16c(const float *src, uint16_t *dst, ptrdiff_t stride_bytes, size_t n)
{
    const ptrdiff_t stride = stride_bytes / 2;
    size_t i = 0;
    if (stride == 1)
        for (; i + 8 <= n; i += 8)
            _mm_storeu_si128((__m128i *)(dst + i), _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
    for (dst += (ptrdiff_t)i * stride; i < n; i++, dst += stride)
        *dst = _cvtss_sh(src[i], _MM_FROUND_TO_NEAREST_INT);
}

#endif

static inline void dmlcy_half_to_float(const uint16_t *src, ptrdiff_t stride_bytes, float *dst, size_t n)
{
#if DMLCY_X86
    if (dmlcy_has_f16c()) {
        dmlcy_half_to_float_f16c(src, stride_bytes, dst, n);
        return;
    }
#endif
    dmlcy_half_to_float_portable(src, stride_bytes, dst, n);
}

static inline void dmlcy_float_to_half(const float *src, uint16_t *dst, ptrdiff_t stride_bytes, size_t n)
{
#if DMLCY_X86
    if (dmlcy_has_f16c()) {
        dmlcy_float_to_half_f16c(src, dst, stride_bytes, n);
        return;
    }
#endif
    dmlcy_float_to_half_portable(src, dst, stride_bytes, n);
}

#endif
