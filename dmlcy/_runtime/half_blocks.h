/* The loop of element_rows.h for FLOAT16: elements that it takes or gives as floats are FLOAT16 in memory, and become floats
 * in registers. The results are the bits of the loop of floats between two conversions. Of loops with functions it is at the
 * level widest, of others, which wait for memory, at the level wide.
 */
#if DMLCY_X86
#ifndef DMLCY_HALF_BLOCK
#include <immintrin.h>

#define DMLCY_HALF_BLOCK DMLCY_LANES

DMLCY_WIDE static inline void dmlcy_load_halves_wide(float *target, const void *source)
{
    _mm256_storeu_ps(target, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source)));
    _mm256_storeu_ps(target + 8, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source + 1)));
}

DMLCY_WIDEST static inline void dmlcy_load_halves_widest(float *target, const void *source)
{
    _mm512_storeu_ps(target, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)source)));
}

/* The block of an input, and the place of that of the output, by the type that the loop has. */
#define DMLCY_BYTES_float 2
#define DMLCY_BYTES_uint8_t 1
#define DMLCY_TAKE_float(block, source)                                                                                \
    float block[DMLCY_HALF_BLOCK];                                                                                     \
    DMLCY_AT_LEVEL(dmlcy_load_halves)(block, source);
#define DMLCY_TAKE_uint8_t(block, source) const uint8_t *const block = (const uint8_t *)(source);

DMLCY_WIDE static inline void dmlcy_give_float_wide(char *target, const float *block)
{
    _mm_storeu_si128((__m128i *)target, _mm256_cvtps_ph(_mm256_loadu_ps(block), _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128((__m128i *)target + 1, _mm256_cvtps_ph(_mm256_loadu_ps(block + 8), _MM_FROUND_TO_NEAREST_INT));
}

DMLCY_WIDEST static inline void dmlcy_give_float_widest(char *target, const float *block)
{
    _mm256_storeu_si256((__m256i *)target, _mm512_cvtps_ph(_mm512_loadu_ps(block), _MM_FROUND_TO_NEAREST_INT));
}

/* Compilers do not make bytes of comparisons in registers. */
DMLCY_WIDE static inline void dmlcy_give_uint8_t_wide(char *target, const int32_t *block)
{
    const __m256i words = _mm256_packs_epi32(_mm256_loadu_si256((const __m256i *)block),
                                             _mm256_loadu_si256((const __m256i *)block + 1));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    _mm_storeu_si128((__m128i *)target,
                     _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
}

/* Whether the highest bit of a number is set. */
DMLCY_WIDE static inline int dmlcy_any_wide(const uint32_t *block)
{
    const __m256i one = _mm256_loadu_si256((const __m256i *)block), two = _mm256_loadu_si256((const __m256i *)block + 1);
    return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(one, two)));
}

DMLCY_WIDEST static inline int dmlcy_any_widest(const uint32_t *block)
{
    return _mm512_movepi32_mask(_mm512_loadu_si512(block));
}

/* The number that a loop writes for an element. */
typedef float dmlcy_given_float;
typedef int32_t dmlcy_given_uint8_t;

#define DMLCY_BLOCK_OF(number, element, work)                                                                          \
    DMLCY_TAKE_##element(a##number, (const char *)inputs[number] + i * DMLCY_BYTES_##element)
#define DMLCY_NUMBER_IN(number, element, work) const work x##number = (work)a##number[j];
#define DMLCY_BLOCK_BY(target, result)                                                                                 \
    for (j = 0; j < DMLCY_HALF_BLOCK; j++) {                                                                           \
        DMLCY_INPUTS(DMLCY_NUMBER_IN)                                                                                  \
        target[j] = result;                                                                                            \
    }
#endif

#if DMLCY_FUNCTIONS
#define DMLCY_AT_LEVEL(name) DMLCY_NAMED(name, _widest)
DMLCY_WIDEST
#else
#define DMLCY_AT_LEVEL(name) DMLCY_NAMED(name, _wide)
DMLCY_WIDE
#endif
static void DMLCY_NAMED(DMLCY_ROW, _halves)(
    const void *const *inputs, void *const *outputs, int64_t n, const void *attributes)
{
    int64_t i;
    int j;
    DMLCY_LOCALS
    (void)attributes;
    for (i = 0; i < n; i += DMLCY_HALF_BLOCK) {
        DMLCY_NAMED(dmlcy_given_, DMLCY_ELEMENT) y[DMLCY_HALF_BLOCK];
        DMLCY_INPUTS(DMLCY_BLOCK_OF)
#ifdef DMLCY_SPECIAL
        uint32_t special[DMLCY_HALF_BLOCK];
        DMLCY_BLOCK_BY(special, DMLCY_SPECIAL)
        if (!DMLCY_AT_LEVEL(dmlcy_any)(special))
            DMLCY_BLOCK_BY(y, DMLCY_STORE(DMLCY_ORDINARY))
        else
#endif
            DMLCY_BLOCK_BY(y, DMLCY_STORE(DMLCY_RESULT))
        DMLCY_AT_LEVEL(DMLCY_NAMED(dmlcy_give_, DMLCY_ELEMENT))
        ((char *)outputs[0] + i * DMLCY_NAMED(DMLCY_BYTES_, DMLCY_ELEMENT), y);
    }
}
#undef DMLCY_AT_LEVEL

#endif
