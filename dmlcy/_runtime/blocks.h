/* Blocks of accumulators: some side by side, for loops that compute. One, where the compiler has no such types. `_wide`
 * functions may be called where isa.h says so; the results are the same bits. Loops for both have one text, and ask for
 * either name: so loads, stores and maxima of all types have both.
 */
#ifndef DMLCY_BLOCKS_H
#define DMLCY_BLOCKS_H

#include <math.h>

#include "copy.h"
#include "half.h"
#include "keys.h"

#if DMLCY_GNU
#define DMLCY_BLOCK_TYPE(type) typedef type dmlcy_##type##_block __attribute__((vector_size(32)));
#define DMLCY_MASK(condition) (condition)
#else
#define DMLCY_BLOCK_TYPE(type) typedef type dmlcy_##type##_block;
#define DMLCY_MASK(condition) (-(condition))
#endif
#define DMLCY_BLOCK(type) ((int)(sizeof(dmlcy_##type##_block) / sizeof(type)))

#define DMLCY_BLOCKS_OF(type)                                                                                          \
    DMLCY_BLOCK_TYPE(type)                                                                                             \
                                                                                                                       \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_load_##type(const type *source)                                            \
    {                                                                                                                  \
        dmlcy_##type##_block block;                                                                                    \
        memcpy(&block, source, sizeof block);                                                                          \
        return block;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_WIDE DMLCY_INLINE dmlcy_##type##_block dmlcy_load_##type##_wide(const type *source)                          \
    {                                                                                                                  \
        return dmlcy_load_##type(source);                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE void dmlcy_store_##type(type *target, dmlcy_##type##_block block)                                     \
    {                                                                                                                  \
        memcpy(target, &block, sizeof block);                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_WIDE DMLCY_INLINE void dmlcy_store_##type##_wide(type *target, dmlcy_##type##_block block)                   \
    {                                                                                                                  \
        dmlcy_store_##type(target, block);                                                                             \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_each_##type(type element)                                                  \
    {                                                                                                                  \
        type elements[DMLCY_BLOCK(type)];                                                                              \
        int i;                                                                                                         \
        for (i = 0; i < DMLCY_BLOCK(type); i++)                                                                        \
            elements[i] = element;                                                                                     \
        return dmlcy_load_##type(elements);                                                                            \
    }

DMLCY_BLOCKS_OF(float)
DMLCY_BLOCKS_OF(double)
DMLCY_BLOCKS_OF(int8_t)
DMLCY_BLOCKS_OF(int16_t)
DMLCY_BLOCKS_OF(int32_t)
DMLCY_BLOCKS_OF(int64_t)
DMLCY_BLOCKS_OF(uint8_t)
DMLCY_BLOCKS_OF(uint16_t)
DMLCY_BLOCKS_OF(uint32_t)
DMLCY_BLOCKS_OF(uint64_t)

#define DMLCY_MAX_OF(type)                                                                                             \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_max_##type(dmlcy_##type##_block first, dmlcy_##type##_block second)        \
    {                                                                                                                  \
        type a[DMLCY_BLOCK(type)], b[DMLCY_BLOCK(type)];                                                               \
        int i;                                                                                                         \
        dmlcy_store_##type(a, first);                                                                                  \
        dmlcy_store_##type(b, second);                                                                                 \
        for (i = 0; i < DMLCY_BLOCK(type); i++)                                                                        \
            a[i] = a[i] > b[i] ? a[i] : b[i];                                                                          \
        return dmlcy_load_##type(a);                                                                                   \
    }

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

#define DMLCY_MAX_BY_HALVES(type, maximum)                                                                             \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_max_##type(dmlcy_##type##_block first, dmlcy_##type##_block second)        \
    {                                                                                                                  \
        __m128i a[2], b[2];                                                                                            \
        memcpy(a, &first, sizeof a);                                                                                   \
        memcpy(b, &second, sizeof b);                                                                                  \
        a[0] = maximum(a[0], b[0]);                                                                                    \
        a[1] = maximum(a[1], b[1]);                                                                                    \
        memcpy(&first, a, sizeof first);                                                                               \
        return first;                                                                                                  \
    }

DMLCY_MAX_BY_HALVES(int8_t, dmlcy_half_max_epi8)
DMLCY_MAX_BY_HALVES(int16_t, _mm_max_epi16)
DMLCY_MAX_BY_HALVES(int32_t, dmlcy_half_max_epi32)
DMLCY_MAX_BY_HALVES(uint8_t, _mm_max_epu8)
DMLCY_MAX_BY_HALVES(uint16_t, dmlcy_half_max_epu16)
DMLCY_MAX_BY_HALVES(uint32_t, dmlcy_half_max_epu32)
#undef DMLCY_MAX_BY_HALVES
#else
DMLCY_MAX_OF(int8_t)
DMLCY_MAX_OF(int16_t)
DMLCY_MAX_OF(int32_t)
DMLCY_MAX_OF(uint8_t)
DMLCY_MAX_OF(uint16_t)
DMLCY_MAX_OF(uint32_t)
#endif

DMLCY_MAX_OF(int64_t)
DMLCY_MAX_OF(uint64_t)
#undef DMLCY_MAX_OF

/* The second one where it is equal, or either is a NaN: as instructions do, which compilers do not find by themselves. */
DMLCY_INLINE dmlcy_float_block dmlcy_max_float(dmlcy_float_block first, dmlcy_float_block second)
{
    float a[DMLCY_BLOCK(float)], b[DMLCY_BLOCK(float)];
    int i;
    dmlcy_store_float(a, first);
    dmlcy_store_float(b, second);
#if DMLCY_X86
    for (i = 0; i < DMLCY_BLOCK(float); i += 4)
        _mm_storeu_ps(a + i, _mm_max_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i)));
#else
    for (i = 0; i < DMLCY_BLOCK(float); i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
#endif
    return dmlcy_load_float(a);
}

/* Where an instruction takes half a block, GCC makes a comparison of blocks for each element by itself. So differences say
 * there which elements are NaN, and which keys stand for no element: their magnitude is beyond any NaN's. */
#define DMLCY_KEY_BLOCKS(name, type, last, least, infinity, nan)                                                       \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_##name##_keys(dmlcy_##type##_block bits, dmlcy_##type##_block nans)        \
    {                                                                                                                  \
        return (((bits & (type)~least) ^ bits >> last) & ~nans) | ((type)~nan & nans);                                 \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_load_##name##_key(const type *source)                                      \
    {                                                                                                                  \
        const dmlcy_##type##_block bits = dmlcy_load_##type(source);                                                   \
        return dmlcy_##name##_keys(bits, ((type)infinity - (bits & (type)~least)) >> last);                            \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_WIDE DMLCY_INLINE dmlcy_##type##_block dmlcy_load_##name##_key_wide(const type *source)                      \
    {                                                                                                                  \
        const dmlcy_##type##_block bits = dmlcy_load_##type(source);                                                   \
        return dmlcy_##name##_keys(bits, DMLCY_MASK((bits & (type)~least) > (type)infinity));                          \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE void dmlcy_store_##name##_key(type *target, dmlcy_##type##_block key)                                 \
    {                                                                                                                  \
        const dmlcy_##type##_block magnitude = key ^ key >> last, none = ((type)nan - magnitude) >> last;              \
        const dmlcy_##type##_block bits = (key & (type)least) | magnitude;                                             \
        dmlcy_store_##type(target, (bits & ~none) | ((type)(least | infinity) & none));                                \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_WIDE DMLCY_INLINE void dmlcy_store_##name##_key_wide(type *target, dmlcy_##type##_block key)                 \
    {                                                                                                                  \
        dmlcy_store_##name##_key(target, key);                                                                         \
    }

DMLCY_KEYS(DMLCY_KEY_BLOCKS)
#undef DMLCY_KEY_BLOCKS

/* Floats as numbers, for maxima without keys: a NaN becomes -infinity. A maximum of -infinity is doubtful, for all may be
 * NaN, and one of -0, for +0 may be among them; any other is what keys give. */
static inline float dmlcy_number_of_float(float x)
{
    return x > -INFINITY ? x : -INFINITY;
}

DMLCY_INLINE dmlcy_float_block dmlcy_load_number(const float *source)
{
    return dmlcy_max_float(dmlcy_load_float(source), dmlcy_each_float(-INFINITY));
}

DMLCY_INLINE void dmlcy_store_number(float *target, dmlcy_float_block block)
{
    dmlcy_store_float(target, block);
}

DMLCY_WIDE DMLCY_INLINE void dmlcy_store_number_wide(float *target, dmlcy_float_block block)
{
    dmlcy_store_float(target, block);
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

/* -1 for each maximum that is doubtful, otherwise 0. The two masks are added: if they were joined by `|`, GCC would choose
 * between two blocks instead, which is slower. */
DMLCY_INLINE dmlcy_int32_t_block dmlcy_doubts(dmlcy_float_block maxima)
{
    dmlcy_int32_t_block bits;
    memcpy(&bits, &maxima, sizeof bits);
    return DMLCY_MASK(bits == INT32_MIN) + DMLCY_MASK(maxima == -INFINITY);
}

DMLCY_INLINE int dmlcy_has_doubts(dmlcy_int32_t_block doubts)
{
    int32_t elements[DMLCY_BLOCK(int32_t)], any = 0;
    int i;
    dmlcy_store_int32_t(elements, doubts);
    for (i = 0; i < DMLCY_BLOCK(int32_t); i++)
        any |= elements[i];
    return any;
}

DMLCY_INLINE dmlcy_float_block dmlcy_load_half(const uint16_t *source)
{
    float elements[DMLCY_BLOCK(float)];
    int i;
    for (i = 0; i < DMLCY_BLOCK(float); i++)
        elements[i] = dmlcy_float_of_half(source[i]);
    return dmlcy_load_float(elements);
}

DMLCY_INLINE void dmlcy_store_half(uint16_t *target, dmlcy_float_block block)
{
    float elements[DMLCY_BLOCK(float)];
    int i;
    dmlcy_store_float(elements, block);
    for (i = 0; i < DMLCY_BLOCK(float); i++)
        target[i] = dmlcy_half_of_float(elements[i]);
}

#if DMLCY_X86
#define DMLCY_WIDE_MAX(type, instruction)                                                                              \
    DMLCY_WIDE DMLCY_INLINE dmlcy_##type##_block dmlcy_max_##type##_wide(                                              \
        dmlcy_##type##_block first, dmlcy_##type##_block second)                                                       \
    {                                                                                                                  \
        return (dmlcy_##type##_block)instruction((__m256i)first, (__m256i)second);                                     \
    }

DMLCY_WIDE DMLCY_INLINE __m256i dmlcy_max_epi64(__m256i first, __m256i second)
{
    return _mm256_blendv_epi8(second, first, _mm256_cmpgt_epi64(first, second));
}

DMLCY_WIDE DMLCY_INLINE __m256i dmlcy_max_epu64(__m256i first, __m256i second)
{
    const __m256i least = _mm256_set1_epi64x(INT64_MIN);
    const __m256i greater = _mm256_cmpgt_epi64(_mm256_xor_si256(first, least), _mm256_xor_si256(second, least));
    return _mm256_blendv_epi8(second, first, greater);
}

DMLCY_WIDE_MAX(int8_t, _mm256_max_epi8)
DMLCY_WIDE_MAX(int16_t, _mm256_max_epi16)
DMLCY_WIDE_MAX(int32_t, _mm256_max_epi32)
DMLCY_WIDE_MAX(int64_t, dmlcy_max_epi64)
DMLCY_WIDE_MAX(uint8_t, _mm256_max_epu8)
DMLCY_WIDE_MAX(uint16_t, _mm256_max_epu16)
DMLCY_WIDE_MAX(uint32_t, _mm256_max_epu32)
DMLCY_WIDE_MAX(uint64_t, dmlcy_max_epu64)
#undef DMLCY_WIDE_MAX

DMLCY_WIDE DMLCY_INLINE dmlcy_float_block dmlcy_load_half_wide(const uint16_t *source)
{
    return (dmlcy_float_block)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source));
}

DMLCY_WIDE DMLCY_INLINE void dmlcy_store_half_wide(uint16_t *target, dmlcy_float_block block)
{
    _mm_storeu_si128((__m128i *)target, _mm256_cvtps_ph((__m256)block, _MM_FROUND_TO_NEAREST_INT));
}

DMLCY_WIDE DMLCY_INLINE dmlcy_float_block dmlcy_max_float_wide(dmlcy_float_block first, dmlcy_float_block second)
{
    return (dmlcy_float_block)_mm256_max_ps((__m256)first, (__m256)second);
}

DMLCY_WIDE DMLCY_INLINE dmlcy_float_block dmlcy_load_number_wide(const float *source)
{
    return (dmlcy_float_block)_mm256_max_ps(_mm256_loadu_ps(source), _mm256_set1_ps(-INFINITY));
}
#else
#define dmlcy_max_int8_t_wide dmlcy_max_int8_t
#define dmlcy_max_int16_t_wide dmlcy_max_int16_t
#define dmlcy_max_int32_t_wide dmlcy_max_int32_t
#define dmlcy_max_int64_t_wide dmlcy_max_int64_t
#define dmlcy_max_uint8_t_wide dmlcy_max_uint8_t
#define dmlcy_max_uint16_t_wide dmlcy_max_uint16_t
#define dmlcy_max_uint32_t_wide dmlcy_max_uint32_t
#define dmlcy_max_uint64_t_wide dmlcy_max_uint64_t
#define dmlcy_max_float_wide dmlcy_max_float
#define dmlcy_load_number_wide dmlcy_load_number
#define dmlcy_load_half_wide dmlcy_load_half
#define dmlcy_store_half_wide dmlcy_store_half
#endif

#endif
