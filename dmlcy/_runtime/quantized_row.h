/* Products of one row of floats and matrices of 4 bits, which become floats in registers. Each sum is one chain of
 * multiply-adds in ascending k, as in products.h. */
#ifndef DMLCY_QUANTIZED_ROW_H
#define DMLCY_QUANTIZED_ROW_H

#include <stdint.h>

#include "isa.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

enum {
    DMLCY_TOGETHER = 32,    /* rows of the matrix, each of which gives a sum */
    DMLCY_AT_ONCE = 16      /* elements of each: blocks that share factors have a multiple of them */
};

/* Rows of the matrix are `step` bytes apart. Scales and zero points lie side by side for the rows, block after block. An
 * element is exclusive-ored with `flip` before. */
typedef void (*QuantizedRow)(
    const char *from, int64_t step, int64_t depth, int64_t block, int flip, const float *scale, const float *zero,
    const float *a, float *to);

#if DMLCY_X86
/* The bytes of 16 rows of 8 bytes: those of each column side by side. */
DMLCY_WIDEST static inline void dmlcy_turn_bytes(const char *from, int64_t step, __m128i *to)
{
    __m128i a[8], b[8], c[8];
    int i;
    DMLCY_UNROLL
    for (i = 0; i < 8; i++)
        a[i] = _mm_unpacklo_epi8(
            _mm_loadl_epi64((const __m128i *)(const void *)(from + i * step)),
            _mm_loadl_epi64((const __m128i *)(const void *)(from + (i + 8) * step)));
    DMLCY_UNROLL
    for (i = 0; i < 4; i++) {
        b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 4]);
    }
    DMLCY_UNROLL
    for (i = 0; i < 2; i++) {
        c[4 * i] = _mm_unpacklo_epi8(b[2 * i], b[2 * i + 4]);
        c[4 * i + 1] = _mm_unpackhi_epi8(b[2 * i], b[2 * i + 4]);
        c[4 * i + 2] = _mm_unpacklo_epi8(b[2 * i + 1], b[2 * i + 5]);
        c[4 * i + 3] = _mm_unpackhi_epi8(b[2 * i + 1], b[2 * i + 5]);
    }
    DMLCY_UNROLL
    for (i = 0; i < 4; i++) {
        to[2 * i] = _mm_unpacklo_epi8(c[i], c[i + 4]);
        to[2 * i + 1] = _mm_unpackhi_epi8(c[i], c[i + 4]);
    }
}

/* Adds the products of 16 rows for two k, whose elements share bytes. */
DMLCY_WIDEST static inline __m512 dmlcy_add_two(__m512 sum, __m128i bytes, __m512 scale, __m512 zero, const float *a)
{
    const __m512i both = _mm512_cvtepu8_epi32(bytes);
    const __m512 low = _mm512_cvtepi32_ps(_mm512_and_si512(both, _mm512_set1_epi32(15)));
    const __m512 high = _mm512_cvtepi32_ps(_mm512_srli_epi32(both, 4));
    sum = _mm512_fmadd_ps(_mm512_set1_ps(a[0]), _mm512_mul_ps(_mm512_sub_ps(low, zero), scale), sum);
    return _mm512_fmadd_ps(_mm512_set1_ps(a[1]), _mm512_mul_ps(_mm512_sub_ps(high, zero), scale), sum);
}

DMLCY_WIDEST static void dmlcy_multiply_halves(
    const char *from, int64_t step, int64_t depth, int64_t block, int flip, const float *scale, const float *zero,
    const float *a, float *to)
{
    const __m128i flipped = _mm_set1_epi8((char)(flip | flip << 4));
    __m512 first = _mm512_setzero_ps(), second = first;
    int64_t k = 0, end;
    int i;
    for (; k < depth; scale += DMLCY_TOGETHER, zero += DMLCY_TOGETHER) {
        const __m512 s = _mm512_loadu_ps(scale), t = _mm512_loadu_ps(scale + 16);
        const __m512 y = _mm512_loadu_ps(zero), z = _mm512_loadu_ps(zero + 16);
        for (end = k + block; k < end; k += DMLCY_AT_ONCE) {
            const char *const next = from + DMLCY_TOGETHER * step + k * 16;     /* as many bytes of the next rows */
            __m128i bytes[16];
            DMLCY_UNROLL
            for (i = 0; i < 4; i++)
                _mm_prefetch(next + 64 * i, _MM_HINT_T0);
            dmlcy_turn_bytes(from + k / 2, step, bytes);
            dmlcy_turn_bytes(from + 16 * step + k / 2, step, bytes + 8);
            DMLCY_UNROLL
            for (i = 0; i < 8; i++) {
                first = dmlcy_add_two(first, _mm_xor_si128(bytes[i], flipped), s, y, a + k + 2 * i);
                second = dmlcy_add_two(second, _mm_xor_si128(bytes[i + 8], flipped), t, z, a + k + 2 * i);
            }
        }
    }
    _mm512_storeu_ps(to, first);
    _mm512_storeu_ps(to + 16, second);
}
#endif

/* NULL: none for this processor. */
static QuantizedRow dmlcy_quantized_row(void)
{
#if DMLCY_X86
    if (dmlcy_level() == DMLCY_LEVEL_WIDEST)
        return dmlcy_multiply_halves;
#endif
    return 0;
}

#endif
