/* Blocks of accumulators: some side by side, for loops that compute. One, where the compiler has no such types.
 *
 * block_levels.h has their functions, for two levels of isa.h: `_wide` ones may be called where it says so, and
 * from functions of that set only, since a block is passed in other registers. The results are the same bits. Loops for
 * both have one text, and ask for DMLCY_LEVEL(name).
 */
#ifndef DMLCY_BLOCKS_H
#define DMLCY_BLOCKS_H

#include <math.h>

#include "copy.h"
#include "half.h"
#include "keys.h"
#include "named.h"

#if DMLCY_GNU
#define DMLCY_BLOCK_TYPE(type) typedef type dmlcy_##type##_block __attribute__((vector_size(32)));
#define DMLCY_MASK(condition) (condition)
#else
#define DMLCY_BLOCK_TYPE(type) typedef type dmlcy_##type##_block;
#define DMLCY_MASK(condition) (-(condition))
#endif
#define DMLCY_BLOCK(type) ((int)(sizeof(dmlcy_##type##_block) / sizeof(type)))

#define DMLCY_NUMBERS(of)                                                                                              \
    of(float)                                                                                                          \
    of(double)                                                                                                         \
    DMLCY_INTEGERS(of)
#define DMLCY_INTEGERS(of)                                                                                             \
    of(int8_t)                                                                                                         \
    of(int16_t)                                                                                                        \
    of(int32_t)                                                                                                        \
    of(int64_t)                                                                                                        \
    of(uint8_t)                                                                                                        \
    of(uint16_t)                                                                                                       \
    of(uint32_t)                                                                                                       \
    of(uint64_t)

DMLCY_NUMBERS(DMLCY_BLOCK_TYPE)

#if DMLCY_X86
/* Maxima of half blocks, of types for which the baseline has none: the compiler would make them one by one. */
DMLCY_INLINE __m128i dmlcy_half_max_epi32(__m128i a, __m128i b)
{
    const __m128i greater = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(greater, a), _mm_andnot_si128(greater, b));
}

DMLCY_INLINE __m128i dmlcy_half_max_epu32(__m128i a, __m128i b)
{
    const __m128i sign = _mm_set1_epi32(INT32_MIN);
    return _mm_xor_si128(dmlcy_half_max_epi32(_mm_xor_si128(a, sign), _mm_xor_si128(b, sign)), sign);
}

DMLCY_INLINE __m128i dmlcy_half_max_epu16(__m128i a, __m128i b)
{
    return _mm_add_epi16(_mm_subs_epu16(a, b), b);
}

DMLCY_INLINE __m128i dmlcy_half_max_epi8(__m128i a, __m128i b)
{
    const __m128i sign = _mm_set1_epi8(INT8_MIN);
    return _mm_xor_si128(_mm_max_epu8(_mm_xor_si128(a, sign), _mm_xor_si128(b, sign)), sign);
}
#endif

/* Floats as numbers, for maxima without keys: a NaN becomes -infinity. A maximum of -infinity is doubtful, for all may be
 * NaN, and one of -0, for +0 may be among them; any other is what keys give. */
static inline float dmlcy_number_of_float(float x)
{
    return x > -INFINITY ? x : -INFINITY;
}

/* Whether this thread takes subnormal numbers for zeros, which makes any maximum doubtful. */
static inline int dmlcy_ignores_subnormals(void)
{
    volatile float least = 0x1p-149f;
    return !(least > 0);
}

static inline int dmlcy_is_doubtful(float maximum)
{
    int32_t bits;
    memcpy(&bits, &maximum, sizeof bits);
    return bits == INT32_MIN || maximum == -INFINITY;
}

#define DMLCY_TEXT "block_levels.h"
#include "both_levels.h"

#endif
