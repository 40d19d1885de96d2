/* Blocks of accumulators: DMLCY_BLOCK elements side by side, for loops that compute. One, where the compiler has no such
 * types. `_wide` functions may be called where isa.h says so; the results are the same bits.
 */
#ifndef DMLCY_BLOCKS_H
#define DMLCY_BLOCKS_H

#include "copy.h"
#include "half.h"

#if defined(__GNUC__) || defined(__clang__)
#define DMLCY_BLOCK 8
typedef float dmlcy_float_block __attribute__((vector_size(32)));
typedef double dmlcy_double_block __attribute__((vector_size(64)));
#else
#define DMLCY_BLOCK 1
typedef float dmlcy_float_block;
typedef double dmlcy_double_block;
#endif

#define DMLCY_BLOCKS_OF(type)                                                                                          \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_load_##type(const type *source)                                            \
    {                                                                                                                  \
        dmlcy_##type##_block block;                                                                                    \
        memcpy(&block, source, sizeof block);                                                                          \
        return block;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE dmlcy_##type##_block dmlcy_each_##type(type element)                                                  \
    {                                                                                                                  \
        type elements[DMLCY_BLOCK];                                                                                    \
        int i;                                                                                                         \
        for (i = 0; i < DMLCY_BLOCK; i++)                                                                              \
            elements[i] = element;                                                                                     \
        return dmlcy_load_##type(elements);                                                                            \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE void dmlcy_store_##type(type *target, dmlcy_##type##_block block)                                     \
    {                                                                                                                  \
        memcpy(target, &block, sizeof block);                                                                          \
    }

DMLCY_BLOCKS_OF(float)
DMLCY_BLOCKS_OF(double)
#undef DMLCY_BLOCKS_OF

DMLCY_INLINE dmlcy_float_block dmlcy_load_half(const uint16_t *source)
{
    float elements[DMLCY_BLOCK];
    int i;
    for (i = 0; i < DMLCY_BLOCK; i++)
        elements[i] = dmlcy_float_of_half(source[i]);
    return dmlcy_load_float(elements);
}

DMLCY_INLINE void dmlcy_store_half(uint16_t *target, dmlcy_float_block block)
{
    float elements[DMLCY_BLOCK];
    int i;
    dmlcy_store_float(elements, block);
    for (i = 0; i < DMLCY_BLOCK; i++)
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
