/* Copies and fills of rows.
 *
 * Short rows are copied without a call, and long rows without the library's memcpy. On some processors, memcpy copies a
 * long row with one instruction, which is ten times slower where target and source lie a few bytes apart modulo 4096.
 *
 * dmlcy_spread copies rows that lie `step` bytes apart to where they lie `gap` bytes apart, each at least DMLCY_SPREAD bytes
 * long, and fills the gaps between them. A gap is filled in steps of 16 bytes, which spill into the next row before it is
 * copied: no branch asks how long it is.
 */
#ifndef DMLCY_COPY_H
#define DMLCY_COPY_H

#include <stdint.h>
#include <string.h>

#include "compiler.h"

#if DMLCY_X86
#include <emmintrin.h>
#endif

/* Copies fewer than 64 bytes; the two halves may overlap. */
DMLCY_INLINE void dmlcy_copy_short(char *target, const char *source, int64_t n)
{
#define DMLCY_HALVES(width)                                                                                            \
    if (n >= width) {                                                                                                  \
        char low[width], high[width];                                                                                  \
        memcpy(low, source, width);                                                                                    \
        memcpy(high, source + n - width, width);                                                                       \
        memcpy(target, low, width);                                                                                    \
        memcpy(target + n - width, high, width);                                                                       \
        return;                                                                                                        \
    }
    DMLCY_HALVES(32)
    DMLCY_HALVES(16)
    DMLCY_HALVES(8)
    DMLCY_HALVES(4)
    DMLCY_HALVES(2)
#undef DMLCY_HALVES
    if (n > 0)
        *target = *source;
}

DMLCY_INLINE void dmlcy_copy(char *target, const char *source, int64_t n)
{
    int64_t i;
    if (n < 64) {
        dmlcy_copy_short(target, source, n);
        return;
    }
    memcpy(target, source, 32);
    /* Stores that do not lie across cache lines. */
    for (i = 32 - (uintptr_t)target % 32; i < n - 64; i += 64)
        memcpy(target + i, source + i, 64);
    memcpy(target + n - 64, source + n - 64, 64);
}

DMLCY_INLINE void dmlcy_fill_16(char *target, uint64_t word)
{
    memcpy(target, &word, 8);
    memcpy(target + 8, &word, 8);
}

/* Fills with an element of 1, 2, 4 or 8 bytes, to whose size the target is aligned; `word` repeats it. */
DMLCY_INLINE void dmlcy_fill(char *target, uint64_t word, int64_t n)
{
    const char *end = target + n;
#define DMLCY_ENDS(width)                                                                                              \
    if (n >= width) {                                                                                                  \
        memcpy(target, &word, width);                                                                                  \
        memcpy(target + n - width, &word, width);                                                                      \
        return;                                                                                                        \
    }
    if (n < 16) {
        DMLCY_ENDS(8)
        DMLCY_ENDS(4)
        DMLCY_ENDS(2)
        DMLCY_ENDS(1)
        return;
    }
#undef DMLCY_ENDS
    dmlcy_fill_16(target, word);
    for (target += 16 - (uintptr_t)target % 16; end - target >= 64; target += 64) {
        dmlcy_fill_16(target, word);
        dmlcy_fill_16(target + 16, word);
        dmlcy_fill_16(target + 32, word);
        dmlcy_fill_16(target + 48, word);
    }
    for (; end - target >= 16; target += 16)
        dmlcy_fill_16(target, word);
    dmlcy_fill_16((char *)end - 16, word);
}

#define DMLCY_SPREAD 16 /* bytes that one store writes, which may spill over into the next row */

static inline void dmlcy_spread(char *target, uint64_t word, int64_t gap, const char *source, int64_t step, int64_t n,
                                int64_t rows)
{
    int64_t i;
    for (;; source += step) {
        if (n < 64) {
            for (i = 0; i < n - 16; i += 16)
                memcpy(target + i, source + i, 16);
            memcpy(target + n - 16, source + n - 16, 16);
        } else {
            dmlcy_copy(target, source, n);
        }
        if (--rows <= 0)
            return;
        for (i = 0; i < gap; i += 16)
            dmlcy_fill_16(target + n + i, word);
        target += n + gap;
    }
}

#endif
