/* Copies rows of `n` bytes that lie `step` bytes apart to where they lie `pitch` bytes apart: in registers of 32 bytes where
 * the processor has them. No row is written over one that is still to be read.
 */
#ifndef DMLCY_COPY_ROWS_H
#define DMLCY_COPY_ROWS_H

#include "copy.h"
#include "isa.h"

#if DMLCY_X86
#include <immintrin.h>

DMLCY_WIDE static inline void dmlcy_copy_32(char *target, const char *source)
{
    _mm256_storeu_si256((__m256i *)target, _mm256_loadu_si256((const __m256i *)source));
}

DMLCY_WIDE static inline void dmlcy_copy_128(char *target, const char *source)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)source);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(source + 32));
    const __m256i c = _mm256_loadu_si256((const __m256i *)(source + 64));
    const __m256i d = _mm256_loadu_si256((const __m256i *)(source + 96));
    _mm256_storeu_si256((__m256i *)target, a);
    _mm256_storeu_si256((__m256i *)(target + 32), b);
    _mm256_storeu_si256((__m256i *)(target + 64), c);
    _mm256_storeu_si256((__m256i *)(target + 96), d);
}

/* A row of 32 bytes and more; stores in the middle do not lie across cache lines. */
DMLCY_WIDE static inline void dmlcy_copy_long(char *target, const char *source, int64_t n)
{
    int64_t i = 32 - (int64_t)((uintptr_t)target % 32);
    dmlcy_copy_32(target, source);
    for (; i + 128 <= n; i += 128)
        dmlcy_copy_128(target + i, source + i);
    for (; i + 32 < n; i += 32)
        dmlcy_copy_32(target + i, source + i);
    dmlcy_copy_32(target + n - 32, source + n - 32);
}

#define DMLCY_EACH_ROW(copy)                                                                                           \
    for (; rows > 0; rows--, source += step, target += pitch) {                                                        \
        copy;                                                                                                          \
    }

DMLCY_WIDE static void dmlcy_copy_rows_wide(
    const char *source, int64_t step, char *target, int64_t pitch, int64_t n, int64_t rows)
{
    if (n == 16)
        DMLCY_EACH_ROW(memcpy(target, source, 16))
    else if (n == 32)
        DMLCY_EACH_ROW(dmlcy_copy_32(target, source))
    else if (n == 64)
        DMLCY_EACH_ROW(dmlcy_copy_32(target, source); dmlcy_copy_32(target + 32, source + 32))
    else if (n == 128)
        DMLCY_EACH_ROW(dmlcy_copy_128(target, source))
    else if (n < 64)
        DMLCY_EACH_ROW(dmlcy_copy_short(target, source, n))
    else
        DMLCY_EACH_ROW(dmlcy_copy_long(target, source, n))
}

#undef DMLCY_EACH_ROW

#endif

static inline void dmlcy_copy_rows(
    const char *source, int64_t step, char *target, int64_t pitch, int64_t n, int64_t rows)
{
#if DMLCY_X86
    if (dmlcy_wide()) {
        dmlcy_copy_rows_wide(source, step, target, pitch, n, rows);
        return;
    }
#endif
    for (; rows > 0; rows--, source += step, target += pitch)
        dmlcy_copy(target, source, n);
}

#endif
