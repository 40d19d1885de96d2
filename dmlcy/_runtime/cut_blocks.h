/* Floats as integers for the wide level, by instructions that compilers do not find: they cut integers to the range of
 * narrower ones. The loops of conversions.h give the same bits.
 *
 * Of floats that no int32_t has, and of NaN, an instruction makes the least int32_t.
 */
#ifndef DMLCY_CUT_BLOCKS_H
#define DMLCY_CUT_BLOCKS_H

#include <stdint.h>
#include <string.h>

#include "isa.h"

#if DMLCY_X86
#include <immintrin.h>

#define DMLCY_CUT_BLOCK 32

DMLCY_WIDE DMLCY_INLINE __m256 dmlcy_without_nan_wide(__m256 x)
{
    return _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
}

/* Eight floats as integers to be cut; `least`: NaN may be the least one. */
DMLCY_WIDE DMLCY_INLINE __m256i dmlcy_integers_wide(const float *source, int least)
{
    const __m256 x = _mm256_min_ps(_mm256_set1_ps(0x1.fffffep30f), _mm256_loadu_ps(source)); /* NaN stays */
    return _mm256_cvttps_epi32(least ? x : dmlcy_without_nan_wide(x));
}

/* Blocks of one instruction give their halves in turn. */
#define DMLCY_IN_ORDER(words) _mm256_permute4x64_epi64(words, 0xd8)

DMLCY_WIDE DMLCY_INLINE void dmlcy_cut_block_int32_t(int32_t *target, const float *source)
{
    int i;
    for (i = 0; i < DMLCY_CUT_BLOCK; i += 8) {
        const __m256 x = _mm256_loadu_ps(source + i), above = _mm256_cmp_ps(x, _mm256_set1_ps(0x1p31f), _CMP_GE_OQ);
        const __m256i whole = _mm256_cvttps_epi32(dmlcy_without_nan_wide(x));
        _mm256_storeu_si256((__m256i *)(target + i), _mm256_xor_si256(whole, _mm256_castps_si256(above)));
    }
}

#define DMLCY_CUT_WORDS(type, pack, least)                                                                             \
    DMLCY_WIDE DMLCY_INLINE void dmlcy_cut_block_##type(type *target, const float *source)                             \
    {                                                                                                                  \
        int i;                                                                                                         \
        for (i = 0; i < DMLCY_CUT_BLOCK; i += 16) {                                                                    \
            const __m256i words = pack(dmlcy_integers_wide(source + i, least),                                         \
                                       dmlcy_integers_wide(source + i + 8, least));                                    \
            _mm256_storeu_si256((__m256i *)(target + i), DMLCY_IN_ORDER(words));                                       \
        }                                                                                                              \
    }
DMLCY_CUT_WORDS(int16_t, _mm256_packs_epi32, 0)
DMLCY_CUT_WORDS(uint16_t, _mm256_packus_epi32, 1)
#undef DMLCY_CUT_WORDS

#define DMLCY_CUT_BYTES(type, pack, least)                                                                             \
    DMLCY_WIDE DMLCY_INLINE void dmlcy_cut_block_##type(type *target, const float *source)                             \
    {                                                                                                                  \
        const __m256i low = _mm256_packs_epi32(dmlcy_integers_wide(source, least),                                     \
                                               dmlcy_integers_wide(source + 8, least));                                \
        const __m256i high = _mm256_packs_epi32(dmlcy_integers_wide(source + 16, least),                               \
                                                dmlcy_integers_wide(source + 24, least));                              \
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);                                               \
        _mm256_storeu_si256((__m256i *)target, _mm256_permutevar8x32_epi32(pack(low, high), order));                   \
    }
DMLCY_CUT_BYTES(int8_t, _mm256_packs_epi16, 0)
DMLCY_CUT_BYTES(uint8_t, _mm256_packus_epi16, 1)
#undef DMLCY_CUT_BYTES
#undef DMLCY_IN_ORDER

#define DMLCY_CUT_ROW(type)                                                                                            \
    DMLCY_WIDE DMLCY_APART void dmlcy_cut_row_##type(type *target, const float *source, int64_t n)                     \
    {                                                                                                                  \
        int64_t i;                                                                                                     \
        for (i = 0; i + DMLCY_CUT_BLOCK <= n; i += DMLCY_CUT_BLOCK)                                                    \
            dmlcy_cut_block_##type(target + i, source + i);                                                            \
        if (i < n) {                                                                                                   \
            float rest[DMLCY_CUT_BLOCK] = {0};                                                                         \
            type last[DMLCY_CUT_BLOCK];                                                                                \
            memcpy(rest, source + i, (size_t)(n - i) * sizeof *rest);                                                  \
            dmlcy_cut_block_##type(last, rest);                                                                        \
            memcpy(target + i, last, (size_t)(n - i) * sizeof *last);                                                  \
        }                                                                                                              \
    }
DMLCY_CUT_ROW(int8_t)
DMLCY_CUT_ROW(uint8_t)
DMLCY_CUT_ROW(int16_t)
DMLCY_CUT_ROW(uint16_t)
DMLCY_CUT_ROW(int32_t)
#undef DMLCY_CUT_ROW
#endif

#endif
