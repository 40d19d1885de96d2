/* Loads and stores of those lanes of a vector that a mask has; other lanes are 0, or those of another vector. Compilers
 * do not show them to AddressSanitizer: where it watches, the last byte of each lane is read apart. */
#ifndef DMLCY_MASKED_H
#define DMLCY_MASKED_H

#include <stdint.h>

#include "isa.h"

#if DMLCY_X86
#include <immintrin.h>

DMLCY_INLINE void dmlcy_watch(uint32_t lanes, const char *from, int item)
{
#ifdef __SANITIZE_ADDRESS__
    for (; lanes; lanes >>= 1, from += item)
        if (lanes & 1)
            (void)*(const volatile char *)(from + item - 1);
#else
    (void)lanes, (void)from, (void)item;
#endif
}

DMLCY_WIDEST DMLCY_INLINE __m512 dmlcy_masked(__mmask16 lanes, const void *from)
{
    dmlcy_watch(lanes, (const char *)from, 4);
    return _mm512_maskz_loadu_ps(lanes, from);
}

DMLCY_WIDEST DMLCY_INLINE __m512 dmlcy_masked_over(__m512 others, __mmask16 lanes, const void *from)
{
    dmlcy_watch(lanes, (const char *)from, 4);
    return _mm512_mask_loadu_ps(others, lanes, from);
}

DMLCY_WIDEST DMLCY_INLINE __m256i dmlcy_masked_halves(__mmask16 lanes, const void *from)
{
    dmlcy_watch(lanes, (const char *)from, 2);
    return _mm256_maskz_loadu_epi16(lanes, from);
}

DMLCY_WIDEST DMLCY_INLINE void dmlcy_masked_put(void *to, __mmask16 lanes, __m512 x)
{
    dmlcy_watch(lanes, (const char *)to, 4);
    _mm512_mask_storeu_ps(to, lanes, x);
}

/* The lowest byte of each lane. */
DMLCY_WIDEST DMLCY_INLINE void dmlcy_masked_put_bytes(void *to, __mmask16 lanes, __m512i x)
{
    dmlcy_watch(lanes, (const char *)to, 1);
    _mm512_mask_cvtepi32_storeu_epi8(to, lanes, x);
}
#endif

#endif
