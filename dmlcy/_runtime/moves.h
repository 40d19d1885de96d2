/* Functions that move elements fast, which compilers do not make of a plain loop.
 *
 * dmlcy_touch(source, n) brings bytes into the cache, in order, before they are read here and there. A processor that sees
 * the loads asks for what follows; prefetch instructions measured slower. dmlcy_ask(source, n) is for bytes that are
 * needed a little later, when what is at hand has been computed; they may lie outside any array.
 *
 * dmlcy_turn_ITEM(source, rows, height, cols, target, pitch) transposes rows of elements of ITEM bytes (1, 2, 4 or 8): row
 * i begins at source + rows[i], column j goes to target + j * pitch. `height` is a multiple of 16 / ITEM, and `cols` a power
 * of two that makes 4, 8 or 16 bytes. No alignment is needed. Only where DMLCY_TURNS. dmlcy_turn_tiles_ITEM(..., places,
 * step) puts column j at target + places[j], and each 16 / ITEM rows `step` bytes behind the ones before them, not 16.
 *
 * dmlcy_weave_3_ITEM(planes, pitch, count, target) writes an element (of 1 or 2 bytes) of each of three planes in turn.
 * The function returns for how many positions: as many as make full registers, or none where the processor cannot pick
 * bytes. dmlcy_split_3_ITEM(source, count, target, pitch) is the way back, of 1, 2 or 4 bytes.
 *
 * dmlcy_reverse_ITEM(source, count, target) writes elements that lie one before the other, from `source` on, and returns how
 * many: as many as make full registers of 32 bytes.
 */
#ifndef DMLCY_MOVES_H
#define DMLCY_MOVES_H

#include "isa.h"
#include "stream.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

static inline void dmlcy_touch(const char *source, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i += DMLCY_LINE)
        (void)*(const volatile char *)(source + i);
}

/* Always inline: compilers see no effect in a call. */
DMLCY_INLINE void dmlcy_ask(const char *source, int64_t n)
{
#if DMLCY_GNU
    int64_t i;
    for (i = 0; i < n; i += DMLCY_LINE)
        __builtin_prefetch(source + i);
#else
    (void)source, (void)n;
#endif
}

DMLCY_INLINE void dmlcy_ask_rows(const char *source, int64_t pitch, int64_t rows, int64_t n)
{
    int64_t i;
    for (i = 0; i < rows; i++)
        dmlcy_ask(source + i * pitch, n);
}

#if DMLCY_X86

#define DMLCY_TURNS 1

DMLCY_INLINE __m128i dmlcy_load(const char *source)
{
    return _mm_loadu_si128((const __m128i *)source);
}

/* The 16 bytes of one row, of two or of four. */
DMLCY_INLINE __m128i dmlcy_load_rows(const char *source, const int64_t *rows, int count)
{
    int32_t word[4];
    int k;
    if (count == 1)
        return dmlcy_load(source + rows[0]);
    if (count == 2)
        return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(source + rows[0])),
                                  _mm_loadl_epi64((const __m128i *)(source + rows[1])));
    for (k = 0; k < 4; k++)
        memcpy(&word[k], source + rows[k], 4);
    return _mm_unpacklo_epi64(_mm_unpacklo_epi32(_mm_cvtsi32_si128(word[0]), _mm_cvtsi32_si128(word[1])),
                              _mm_unpacklo_epi32(_mm_cvtsi32_si128(word[2]), _mm_cvtsi32_si128(word[3])));
}

/* All elements of `n` registers are shuffled like a pack of cards: halves, one element from each in turn. In binary, the
 * number of an element's place turns left by one digit. After as many rounds as the rows have digits, their digits have
 * changed places with those of the columns. */
#define DMLCY_SHUFFLE(item, low, high)                                                                                 \
    DMLCY_INLINE void dmlcy_shuffle_##item(__m128i *pack, int n, int rounds)                                           \
    {                                                                                                                  \
        __m128i from[16];                                                                                              \
        int k, round;                                                                                                  \
        _Pragma("GCC unroll 4") for (round = 0; round < rounds; round++) {                                             \
            _Pragma("GCC unroll 16") for (k = 0; k < n; k++)                                                           \
                from[k] = pack[k];                                                                                     \
            _Pragma("GCC unroll 8") for (k = 0; k < n / 2; k++) {                                                      \
                pack[2 * k] = low(from[k], from[k + n / 2]);                                                           \
                pack[2 * k + 1] = high(from[k], from[k + n / 2]);                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

DMLCY_SHUFFLE(1, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
DMLCY_SHUFFLE(2, _mm_unpacklo_epi16, _mm_unpackhi_epi16)
DMLCY_SHUFFLE(4, _mm_unpacklo_epi32, _mm_unpackhi_epi32)
DMLCY_SHUFFLE(8, _mm_unpacklo_epi64, _mm_unpackhi_epi64)

/* `digits` is the logarithm of 16 / item. Column k goes to target + places[k], or to target + k * pitch. */
#define DMLCY_TURN(item, digits)                                                                                       \
    DMLCY_INLINE void dmlcy_turn_##item##_(const char *source, const int64_t *rows, int64_t height, int cols,          \
                                           char *target, const int64_t *places, int64_t pitch, int64_t step)           \
    {                                                                                                                  \
        const int side = 16 / item, together = side / cols;                                                            \
        __m128i pack[16];                                                                                              \
        int64_t i;                                                                                                     \
        int k;                                                                                                         \
        for (i = 0; i < height; i += side, target += step) {                                                           \
            _Pragma("GCC unroll 16") for (k = 0; k < cols; k++)                                                        \
                pack[k] = dmlcy_load_rows(source, rows + i + k * together, together);                                  \
            dmlcy_shuffle_##item(pack, cols, digits);                                                                  \
            _Pragma("GCC unroll 16") for (k = 0; k < cols; k++)                                                        \
                _mm_storeu_si128((__m128i *)(target + (places ? places[k] : k * pitch)), pack[k]);                     \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE void dmlcy_turn_any_##item(const char *source, const int64_t *rows, int64_t height, int64_t cols,     \
                                            char *target, const int64_t *places, int64_t pitch, int64_t step)          \
    {                                                                                                                  \
        if (cols * item == 16)                                                                                         \
            dmlcy_turn_##item##_(source, rows, height, 16 / item, target, places, pitch, step);                        \
        else if (item < 8 && cols * item == 8)                                                                         \
            dmlcy_turn_##item##_(source, rows, height, item < 8 ? 8 / item : 1, target, places, pitch, step);          \
        else if (item < 4)                                                                                             \
            dmlcy_turn_##item##_(source, rows, height, item < 4 ? 4 / item : 1, target, places, pitch, step);          \
    }                                                                                                                  \
                                                                                                                       \
    static inline void dmlcy_turn_tiles_##item(const char *source, const int64_t *rows, int64_t height,                \
                                               int64_t cols, char *target, const int64_t *places, int64_t step)        \
    {                                                                                                                  \
        dmlcy_turn_any_##item(source, rows, height, cols, target, places, 0, step);                                    \
    }                                                                                                                  \
                                                                                                                       \
    static inline void dmlcy_turn_##item(const char *source, const int64_t *rows, int64_t height, int64_t cols,        \
                                         char *target, int64_t pitch)                                                  \
    {                                                                                                                  \
        dmlcy_turn_any_##item(source, rows, height, cols, target, NULL, pitch, 16);                                    \
    }

#else

#define DMLCY_TURNS 0

#define DMLCY_TURN(item, digits)                                                                                       \
    static inline void dmlcy_turn_tiles_##item(const char *source, const int64_t *rows, int64_t height,                \
                                               int64_t cols, char *target, const int64_t *places, int64_t step)        \
    {                                                                                                                  \
        (void)source, (void)rows, (void)height, (void)cols, (void)target, (void)places, (void)step;                    \
    }                                                                                                                  \
                                                                                                                       \
    static inline void dmlcy_turn_##item(const char *source, const int64_t *rows, int64_t height, int64_t cols,        \
                                         char *target, int64_t pitch)                                                  \
    {                                                                                                                  \
        (void)source, (void)rows, (void)height, (void)cols, (void)target, (void)pitch;                                 \
    }

#endif

DMLCY_TURN(1, 4)
DMLCY_TURN(2, 3)
DMLCY_TURN(4, 2)
DMLCY_TURN(8, 1)

#undef DMLCY_TURN

/* How many columns are turned at once, of `height` rows of `width` elements; 0: turning them is no faster, or impossible. */
static inline int64_t dmlcy_turned_columns(int64_t item, int64_t height, int64_t width)
{
    int64_t cols = 16 / item;
    if (!DMLCY_TURNS || height < cols)
        return 0;
    while (cols > width)
        cols /= 2;
    return cols == 1 || cols * item < 4 ? 0 : cols;
}

#if DMLCY_X86

/* Where byte `at` of 48 woven bytes comes from in plane k; a negative number is a zero. */
#define DMLCY_FROM(item, k, at) ((at) / item % 3 == (k) ? (at) / item / 3 * item + (at) % item : -128)
#define DMLCY_FROM_4(item, k, at)                                                                                      \
    DMLCY_FROM(item, k, at), DMLCY_FROM(item, k, at + 1), DMLCY_FROM(item, k, at + 2), DMLCY_FROM(item, k, at + 3)
#define DMLCY_PICK(item, k, at)                                                                                        \
    _mm_shuffle_epi8(plane##k, _mm_setr_epi8(DMLCY_FROM_4(item, k, at), DMLCY_FROM_4(item, k, at + 4),                 \
                                             DMLCY_FROM_4(item, k, at + 8), DMLCY_FROM_4(item, k, at + 12)))
#define DMLCY_WOVEN(item, at)                                                                                          \
    _mm_storeu_si128((__m128i *)(target + at), _mm_or_si128(_mm_or_si128(DMLCY_PICK(item, 0, at),                      \
                                                                         DMLCY_PICK(item, 1, at)),                     \
                                                            DMLCY_PICK(item, 2, at)))
#define DMLCY_WEAVE_3(item)                                                                                            \
    DMLCY_WIDE static inline void dmlcy_weave_3_##item##_wide(const char *planes, int64_t pitch, int64_t registers,    \
                                                              char *target)                                            \
    {                                                                                                                  \
        for (; registers; registers--) {                                                                               \
            const __m128i plane0 = _mm_loadu_si128((const __m128i *)planes);                                           \
            const __m128i plane1 = _mm_loadu_si128((const __m128i *)(planes + pitch));                                 \
            const __m128i plane2 = _mm_loadu_si128((const __m128i *)(planes + 2 * pitch));                             \
            DMLCY_WOVEN(item, 0);                                                                                      \
            DMLCY_WOVEN(item, 16);                                                                                     \
            DMLCY_WOVEN(item, 32);                                                                                     \
            planes += 16;                                                                                              \
            target += 48;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static inline int64_t dmlcy_weave_3_##item(const char *planes, int64_t pitch, int64_t count, char *target)         \
    {                                                                                                                  \
        const int64_t registers = dmlcy_wide() ? count / (16 / item) : 0;                                              \
        if (registers)                                                                                                 \
            dmlcy_weave_3_##item##_wide(planes, pitch, registers, target);                                             \
        return registers * (16 / item);                                                                                \
    }

/* Where byte `at` of 16 of plane k comes from in register r of 48 woven bytes; a negative number is a zero. */
#define DMLCY_OUT_OF(item, k, r, at)                                                                                   \
    ((((at) / item * 3 + (k)) * item + (at) % item) / 16 == (r) ? (((at) / item * 3 + (k)) * item + (at) % item) % 16  \
                                                                : -128)
#define DMLCY_OUT_OF_4(item, k, r, at)                                                                                 \
    DMLCY_OUT_OF(item, k, r, at), DMLCY_OUT_OF(item, k, r, at + 1), DMLCY_OUT_OF(item, k, r, at + 2),                  \
        DMLCY_OUT_OF(item, k, r, at + 3)
#define DMLCY_TAKE(item, k, r)                                                                                         \
    _mm_shuffle_epi8(woven##r, _mm_setr_epi8(DMLCY_OUT_OF_4(item, k, r, 0), DMLCY_OUT_OF_4(item, k, r, 4),             \
                                             DMLCY_OUT_OF_4(item, k, r, 8), DMLCY_OUT_OF_4(item, k, r, 12)))
#define DMLCY_PLANE(item, k)                                                                                           \
    _mm_storeu_si128((__m128i *)(target + k * pitch), _mm_or_si128(_mm_or_si128(DMLCY_TAKE(item, k, 0),                \
                                                                                DMLCY_TAKE(item, k, 1)),               \
                                                                   DMLCY_TAKE(item, k, 2)))
#define DMLCY_SPLIT_3(item)                                                                                            \
    DMLCY_WIDE static inline void dmlcy_split_3_##item##_wide(const char *source, int64_t registers, char *target,     \
                                                              int64_t pitch)                                           \
    {                                                                                                                  \
        for (; registers; registers--) {                                                                               \
            const __m128i woven0 = _mm_loadu_si128((const __m128i *)source);                                           \
            const __m128i woven1 = _mm_loadu_si128((const __m128i *)(source + 16));                                    \
            const __m128i woven2 = _mm_loadu_si128((const __m128i *)(source + 32));                                    \
            DMLCY_PLANE(item, 0);                                                                                      \
            DMLCY_PLANE(item, 1);                                                                                      \
            DMLCY_PLANE(item, 2);                                                                                      \
            source += 48;                                                                                              \
            target += 16;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static inline int64_t dmlcy_split_3_##item(const char *source, int64_t count, char *target, int64_t pitch)         \
    {                                                                                                                  \
        const int64_t registers = dmlcy_wide() ? count / (16 / item) : 0;                                              \
        if (registers)                                                                                                 \
            dmlcy_split_3_##item##_wide(source, registers, target, pitch);                                             \
        return registers * (16 / item);                                                                                \
    }

#else

#define DMLCY_SPLIT_3(item)                                                                                            \
    static inline int64_t dmlcy_split_3_##item(const char *source, int64_t count, char *target, int64_t pitch)         \
    {                                                                                                                  \
        (void)source, (void)count, (void)target, (void)pitch;                                                          \
        return 0;                                                                                                      \
    }

#define DMLCY_WEAVE_3(item)                                                                                            \
    static inline int64_t dmlcy_weave_3_##item(const char *planes, int64_t pitch, int64_t count, char *target)         \
    {                                                                                                                  \
        (void)planes, (void)pitch, (void)count, (void)target;                                                          \
        return 0;                                                                                                      \
    }

#endif

#if DMLCY_X86

/* The elements of a half of a register in reverse: where byte `at` comes from. */
#define DMLCY_MIRROR(item, at) (16 - item - (at) / item * item + (at) % item)
#define DMLCY_MIRROR_4(item, at)                                                                                       \
    DMLCY_MIRROR(item, at), DMLCY_MIRROR(item, at + 1), DMLCY_MIRROR(item, at + 2), DMLCY_MIRROR(item, at + 3)
#define DMLCY_MIRROR_16(item)                                                                                          \
    DMLCY_MIRROR_4(item, 0), DMLCY_MIRROR_4(item, 4), DMLCY_MIRROR_4(item, 8), DMLCY_MIRROR_4(item, 12)

#define DMLCY_REVERSE(item)                                                                                            \
    DMLCY_WIDE static inline void dmlcy_reverse_##item##_wide(const char *source, int64_t registers, char *target)     \
    {                                                                                                                  \
        const __m256i from = _mm256_setr_epi8(DMLCY_MIRROR_16(item), DMLCY_MIRROR_16(item));                           \
        for (source -= 32 - item; registers; registers--, source -= 32, target += 32) {                                \
            const __m256i halves = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)source), from);             \
            _mm256_storeu_si256((__m256i *)target, _mm256_permute2x128_si256(halves, halves, 1));                      \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static inline int64_t dmlcy_reverse_##item(const char *source, int64_t count, char *target)                        \
    {                                                                                                                  \
        const int64_t registers = dmlcy_wide() ? count / (32 / item) : 0;                                              \
        if (registers)                                                                                                 \
            dmlcy_reverse_##item##_wide(source, registers, target);                                                    \
        return registers * (32 / item);                                                                                \
    }

#else

#define DMLCY_REVERSE(item)                                                                                            \
    static inline int64_t dmlcy_reverse_##item(const char *source, int64_t count, char *target)                        \
    {                                                                                                                  \
        (void)source, (void)count, (void)target;                                                                       \
        return 0;                                                                                                      \
    }

#endif

DMLCY_REVERSE(1)
DMLCY_REVERSE(2)
DMLCY_REVERSE(4)
DMLCY_REVERSE(8)

DMLCY_WEAVE_3(1)
DMLCY_WEAVE_3(2)

DMLCY_SPLIT_3(1)
DMLCY_SPLIT_3(2)
DMLCY_SPLIT_3(4)

#undef DMLCY_WEAVE_3
#undef DMLCY_SPLIT_3
#undef DMLCY_REVERSE

#endif
