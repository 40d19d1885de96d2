/* Blocks of accumulators: some side by side, for loops that compute. One, where the compiler has no such types. `_wide`
 * functions may be called where isa.h says so; the results are the same bits.
 */
#ifndef DMLCY_BLOCKS_H
#define DMLCY_BLOCKS_H

#include "copy.h"
#include "half.h"
#include "keys.h"

#if defined(__GNUC__) || defined(__clang__)
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
    DMLCY_INLINE void dmlcy_store_##type(type *target, dmlcy_##type##_block block)                                     \
    {                                                                                                                  \
        memcpy(target, &block, sizeof block);                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_each_##type(type element)                                                  \
    {                                                                                                                  \
        type elements[DMLCY_BLOCK(type)];                                                                              \
        int i;                                                                                                         \
        for (i = 0; i < DMLCY_BLOCK(type); i++)                                                                        \
            elements[i] = element;                                                                                     \
        return dmlcy_load_##type(elements);                                                                            \
    }                                                                                                                  \
                                                                                                                       \
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

#define DMLCY_KEY_BLOCKS(name, type, last, least, infinity, nan)                                                       \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_load_##name##_key(const type *source)                                      \
    {                                                                                                                  \
        const dmlcy_##type##_block bits = dmlcy_load_##type(source), magnitude = bits & (type)~least;                  \
        const dmlcy_##type##_block nans = DMLCY_MASK(magnitude > (type)infinity);                                      \
        return ((magnitude ^ bits >> last) & ~nans) | ((type)~nan & nans);                                             \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE void dmlcy_store_##name##_key(type *target, dmlcy_##type##_block key)                                 \
    {                                                                                                                  \
        const dmlcy_##type##_block none = DMLCY_MASK(key == (type)least);                                              \
        const dmlcy_##type##_block bits = (key & (type)least) | (key ^ key >> last);                                   \
        dmlcy_store_##type(target, (bits & ~none) | ((type)(least | infinity) & none));                                \
    }

DMLCY_KEYS(DMLCY_KEY_BLOCKS)
#undef DMLCY_KEY_BLOCKS

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
DMLCY_WIDE DMLCY_INLINE dmlcy_float_block dmlcy_load_half_wide(const uint16_t *source)
{
    return (dmlcy_float_block)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source));
}

DMLCY_WIDE DMLCY_INLINE void dmlcy_store_half_wide(uint16_t *target, dmlcy_float_block block)
{
    _mm_storeu_si128((__m128i *)target, _mm256_cvtps_ph((__m256)block, _MM_FROUND_TO_NEAREST_INT));
}
#else
#define dmlcy_load_half_wide dmlcy_load_half
#define dmlcy_store_half_wide dmlcy_store_half
#endif

#endif
