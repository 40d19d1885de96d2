/* Maxima of float32 (_4) and float16 (_2) elements: DMLCY_LANES channels at a time, side by side.
 *
 * Elements are compared as keys, whole numbers in the same order: a NaN is less than any number, -0 less than +0. So each
 * maximum is exact, whatever the order in which the elements come, and there is nothing to look up again.
 */
#ifndef DMLCY_LANES_H
#define DMLCY_LANES_H

#include <stdint.h>
#include <string.h>

#include "isa.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

#define DMLCY_LANES 8
#define DMLCY_LEAST INT32_MIN /* less than any key of an element */

typedef struct {
    int64_t start;
    int64_t end;
} dmlcy_span;

/* `tail` is what is left of 31 bits beside a magnitude; `special` is infinity, `nan` a NaN. Sign bits are extended. */
#define DMLCY_KEYS(item, type, tail, special, nan)                                                                     \
    static inline type dmlcy_bits_##item(const void *element)                                                          \
    {                                                                                                                  \
        type bits;                                                                                                     \
        memcpy(&bits, element, sizeof bits);                                                                           \
        return bits;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    static inline int32_t dmlcy_key_##item(const void *element)                                                        \
    {                                                                                                                  \
        const int32_t bits = dmlcy_bits_##item(element);                                                               \
        const int32_t key = bits ^ (int32_t)((uint32_t)(bits >> 31) >> (1 + tail));                                    \
        return key ^ -(key > special);                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static inline void dmlcy_element_##item(int32_t key, void *element)                                                \
    {                                                                                                                  \
        const int32_t bits = key ^ (int32_t)((uint32_t)(key >> 31) >> (1 + tail));                                     \
        const type result = (type)(key < ~special ? nan : bits);                                                       \
        memcpy(element, &result, sizeof result);                                                                       \
    }                                                                                                                  \
                                                                                                                       \
    static inline void dmlcy_max_rows_##item##_portable(                                                               \
        const char *source, const int64_t *steps, int64_t columns_step, int64_t size, int64_t row_step, int64_t rows,  \
        int turned, int fresh, int32_t *target)                                                                        \
    {                                                                                                                  \
        int32_t best[DMLCY_LANES][DMLCY_LANES];                                                                        \
        int64_t column, row;                                                                                           \
        int i, j;                                                                                                      \
        for (column = 0; column < size; column += DMLCY_LANES) {                                                       \
            const int64_t at = column < size - DMLCY_LANES ? column : size - DMLCY_LANES;                              \
            int32_t *const to = target + at * DMLCY_LANES;                                                             \
            for (i = 0; i < DMLCY_LANES; i++)                                                                          \
                for (j = 0; j < DMLCY_LANES; j++)                                                                      \
                    best[i][j] = fresh ? DMLCY_LEAST : to[turned ? j * DMLCY_LANES + i : i * DMLCY_LANES + j];         \
            for (row = 0; row < rows; row++)                                                                           \
                for (i = 0; i < DMLCY_LANES; i++) {                                                                    \
                    const type *const from =                                                                           \
                        (const type *)(source + steps[i] + at * columns_step + row * row_step);                        \
                    for (j = 0; j < DMLCY_LANES; j++) {                                                                \
                        const int32_t key = dmlcy_key_##item(from + j);                                                \
                        best[i][j] = key > best[i][j] ? key : best[i][j];                                              \
                    }                                                                                                  \
                }                                                                                                      \
            for (i = 0; i < DMLCY_LANES; i++)                                                                          \
                for (j = 0; j < DMLCY_LANES; j++)                                                                      \
                    to[turned ? j * DMLCY_LANES + i : i * DMLCY_LANES + j] = best[i][j];                               \
        }                                                                                                              \
    }

DMLCY_KEYS(4, int32_t, 0, 0x7f800000, 0x7fc00000)
DMLCY_KEYS(2, int16_t, 16, 0x7c00, 0x7e00)

#undef DMLCY_KEYS

static inline void dmlcy_max_bins_portable(
    const int32_t *lanes, int64_t low, int64_t high, const dmlcy_span *bins, int64_t count, int32_t *best)
{
    int64_t n, column;
    int i;
    for (n = 0; n < count; n++, best += DMLCY_LANES) {
        const int64_t start = bins[n].start > low ? bins[n].start : low, end = bins[n].end < high ? bins[n].end : high;
        for (column = start; column < end; column++)
            for (i = 0; i < DMLCY_LANES; i++) {
                const int32_t key = lanes[(column - low) * DMLCY_LANES + i];
                best[i] = key > best[i] ? key : best[i];
            }
    }
}

#if DMLCY_X86

DMLCY_WIDE static inline __m256i dmlcy_load_4(const char *source)
{
    return _mm256_loadu_si256((const __m256i *)source);
}

DMLCY_WIDE static inline __m256i dmlcy_load_2(const char *source)
{
    return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)source));
}

DMLCY_WIDE static inline void dmlcy_store_4(char *target, __m256i bits)
{
    _mm256_storeu_si256((__m256i *)target, bits);
}

DMLCY_WIDE static inline void dmlcy_store_2(char *target, __m256i bits)
{
    bits = _mm256_and_si256(bits, _mm256_set1_epi32(0xffff));
    bits = _mm256_permute4x64_epi64(_mm256_packus_epi32(bits, bits), 0x08);
    _mm_storeu_si128((__m128i *)target, _mm256_castsi256_si128(bits));
}

/* Rows become columns. */
DMLCY_WIDE static inline void dmlcy_turn(__m256i *rows)
{
    __m256i pairs[8], fours[8];
    int i;
    for (i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    for (i = 0; i < 8; i += 4) {
        fours[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
        fours[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
        fours[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
        fours[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    for (i = 0; i < 4; i++) {
        rows[i] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20);
        rows[i + 4] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31);
    }
}

#define DMLCY_WIDE_KEYS(item, tail, special, nan)                                                                      \
    DMLCY_WIDE static void dmlcy_max_rows_##item##_wide(                                                               \
        const char *source, const int64_t *steps, int64_t columns_step, int64_t size, int64_t row_step, int64_t rows,  \
        int turned, int fresh, int32_t *target)                                                                        \
    {                                                                                                                  \
        __m256i best[8], key;                                                                                          \
        int64_t column, row;                                                                                           \
        int i;                                                                                                         \
        for (column = 0; column < size; column += 8) {                                                                 \
            const int64_t at = column < size - 8 ? column : size - 8;                                                  \
            const char *from = source + at * columns_step;                                                             \
            char *const to = (char *)(target + at * 8);                                                                \
            for (i = 0; i < 8; i++)                                                                                    \
                best[i] = _mm256_set1_epi32(DMLCY_LEAST);                                                              \
            for (row = 0; row < rows; row++, from += row_step)                                                         \
                for (i = 0; i < 8; i++) {                                                                              \
                    key = dmlcy_load_##item(from + steps[i]);                                                          \
                    key = _mm256_xor_si256(key, _mm256_srli_epi32(_mm256_srai_epi32(key, 31), 1 + tail));              \
                    key = _mm256_xor_si256(key, _mm256_cmpgt_epi32(key, _mm256_set1_epi32(special)));                  \
                    best[i] = _mm256_max_epi32(best[i], key);                                                          \
                }                                                                                                      \
            if (turned)                                                                                                \
                dmlcy_turn(best);                                                                                      \
            for (i = 0; i < 8; i++)                                                                                    \
                dmlcy_store_4(to + i * 32, fresh ? best[i] : _mm256_max_epi32(best[i], dmlcy_load_4(to + i * 32)));    \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_WIDE static void dmlcy_put_##item##_wide(                                                                    \
        const int32_t *best, int64_t count, char *target, int64_t channel_step, int64_t channels)                      \
    {                                                                                                                  \
        __m256i keys[8], bits;                                                                                         \
        int64_t n, i;                                                                                                  \
        for (n = 0; n < count; n += 8) {                                                                               \
            const int64_t at = n < count - 8 ? n : count - 8;                                                          \
            for (i = 0; i < 8; i++) {                                                                                  \
                keys[i] = dmlcy_load_4((const char *)(best + (at + i) * 8));                                           \
                bits = _mm256_xor_si256(keys[i], _mm256_srli_epi32(_mm256_srai_epi32(keys[i], 31), 1 + tail));         \
                keys[i] = _mm256_blendv_epi8(bits, _mm256_set1_epi32(nan),                                             \
                                             _mm256_cmpgt_epi32(_mm256_set1_epi32(~special), keys[i]));                \
            }                                                                                                          \
            dmlcy_turn(keys);                                                                                          \
            for (i = 0; i < channels; i++)                                                                             \
                dmlcy_store_##item(target + i * channel_step + at * item, keys[i]);                                    \
        }                                                                                                              \
    }

DMLCY_WIDE_KEYS(4, 0, 0x7f800000, 0x7fc00000)
DMLCY_WIDE_KEYS(2, 16, 0x7c00, 0x7e00)

#undef DMLCY_WIDE_KEYS

DMLCY_WIDE static void dmlcy_max_bins_wide(
    const int32_t *lanes, int64_t low, int64_t high, const dmlcy_span *bins, int64_t count, int32_t *best)
{
    int64_t n, column;
    for (n = 0; n < count; n++, best += 8) {
        const int64_t start = bins[n].start > low ? bins[n].start : low, end = bins[n].end < high ? bins[n].end : high;
        __m256i keys = dmlcy_load_4((const char *)best);
        for (column = start; column < end; column++)
            keys = _mm256_max_epi32(keys, dmlcy_load_4((const char *)(lanes + (column - low) * 8)));
        dmlcy_store_4((char *)best, keys);
    }
}

#endif

/* max_rows: in each of DMLCY_LANES channels and `size` columns, at least DMLCY_LANES, the maximum over `rows` rows: into
 * the target, DMLCY_LANES keys for each column; `fresh`: there are none yet. DMLCY_LANES elements are next to each other.
 * Either these are columns (`turned`), and channel i is at steps[i]; or they are channels, and column i of any DMLCY_LANES
 * columns is at steps[i]. From column to column are `columns_step` bytes.
 *
 * put: writes the elements of `count` bins, at least DMLCY_LANES, next to each other for each channel; 0 if it cannot. */
#if DMLCY_X86
#define DMLCY_CHOOSE(function, ...) (dmlcy_wide() ? function##_wide(__VA_ARGS__) : function##_portable(__VA_ARGS__))
#define DMLCY_PUT(item, ...) (dmlcy_wide() && (dmlcy_put_##item##_wide(__VA_ARGS__), 1))
#else
#define DMLCY_CHOOSE(function, ...) function##_portable(__VA_ARGS__)
#define DMLCY_PUT(item, ...) 0
#endif

#define dmlcy_max_rows_4(...) DMLCY_CHOOSE(dmlcy_max_rows_4, __VA_ARGS__)
#define dmlcy_max_rows_2(...) DMLCY_CHOOSE(dmlcy_max_rows_2, __VA_ARGS__)
#define dmlcy_max_bins(...) DMLCY_CHOOSE(dmlcy_max_bins, __VA_ARGS__)
#define dmlcy_put_4(...) DMLCY_PUT(4, __VA_ARGS__)
#define dmlcy_put_2(...) DMLCY_PUT(2, __VA_ARGS__)

#endif
