/* The loop of element_rows.h for FLOAT16: elements that it takes or gives as floats are FLOAT16 in memory, and become floats
 * in registers. The results are the bits of the loop of floats between two conversions.
 */
#if DMLCY_X86
#ifndef DMLCY_HALF_BLOCK
#include <immintrin.h>

#define DMLCY_HALF_BLOCK 16

DMLCY_WIDE static inline void dmlcy_load_halves(float *target, const uint16_t *source)
{
    _mm256_storeu_ps(target, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source)));
    _mm256_storeu_ps(target + 8, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source + 1)));
}

/* What a block of an input is, and where that of the output goes, by the type that the loop has. */
#define DMLCY_BYTES_float 2
#define DMLCY_BYTES_uint8_t 1
#define DMLCY_TAKE_float(block, source)                                                                                \
    float block[DMLCY_HALF_BLOCK];                                                                                     \
    dmlcy_load_halves(block, (const uint16_t *)(source));
#define DMLCY_TAKE_uint8_t(block, source) const uint8_t *const block = (const uint8_t *)(source);

DMLCY_WIDE static inline void dmlcy_give_float(char *target, const float *block)
{
    _mm_storeu_si128((__m128i *)target, _mm256_cvtps_ph(_mm256_loadu_ps(block), _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128((__m128i *)target + 1, _mm256_cvtps_ph(_mm256_loadu_ps(block + 8), _MM_FROUND_TO_NEAREST_INT));
}

/* Compilers do not make bytes of comparisons in registers. */
DMLCY_WIDE static inline void dmlcy_give_uint8_t(char *target, const int32_t *block)
{
    const __m256i words = _mm256_packs_epi32(_mm256_loadu_si256((const __m256i *)block),
                                             _mm256_loadu_si256((const __m256i *)block + 1));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    _mm_storeu_si128((__m128i *)target,
                     _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
}

/* What a loop writes for an element. */
typedef float dmlcy_given_float;
typedef int32_t dmlcy_given_uint8_t;

#define DMLCY_ONE_OF(number, element, work) +1
#define DMLCY_BLOCK_OF(number, element, work)                                                                          \
    DMLCY_TAKE_##element(a##number, (const char *)inputs[number] + i * DMLCY_BYTES_##element)
#define DMLCY_NUMBER_IN(number, element, work) const work x##number = (work)a##number[j];
#define DMLCY_REST_OF(number, element, work)                                                                           \
    memcpy(rest[number], (const char *)inputs[number] + i * DMLCY_BYTES_##element,                                     \
           (size_t)((n - i) * DMLCY_BYTES_##element));                                                                 \
    rests[number] = rest[number];
#endif

#define DMLCY_GIVE DMLCY_NAMED(dmlcy_give_, DMLCY_ELEMENT)
#define DMLCY_GIVEN DMLCY_NAMED(dmlcy_given_, DMLCY_ELEMENT)
#define DMLCY_BYTES DMLCY_NAMED(DMLCY_BYTES_, DMLCY_ELEMENT)

DMLCY_WIDE static void DMLCY_NAMED(DMLCY_ROW, _halves)(
    const void *const *inputs, void *const *outputs, int64_t n, const void *attributes)
{
    int64_t i;
    int j;
    DMLCY_LOCALS
    for (i = 0; i + DMLCY_HALF_BLOCK <= n; i += DMLCY_HALF_BLOCK) {
        DMLCY_GIVEN y[DMLCY_HALF_BLOCK];
        DMLCY_INPUTS(DMLCY_BLOCK_OF)
        for (j = 0; j < DMLCY_HALF_BLOCK; j++) {
            DMLCY_INPUTS(DMLCY_NUMBER_IN)
            y[j] = (DMLCY_GIVEN)DMLCY_STORE(DMLCY_RESULT);
        }
        DMLCY_GIVE((char *)outputs[0] + i * DMLCY_BYTES, y);
    }
    if (i < n) {        /* the last elements, and zeros behind them */
        char rest[0 DMLCY_INPUTS(DMLCY_ONE_OF)][2 * DMLCY_HALF_BLOCK] = {{0}}, last[2 * DMLCY_HALF_BLOCK];
        const void *rests[0 DMLCY_INPUTS(DMLCY_ONE_OF)];
        void *const lasts[1] = {last};
        DMLCY_INPUTS(DMLCY_REST_OF)
        DMLCY_NAMED(DMLCY_ROW, _halves)(rests, lasts, DMLCY_HALF_BLOCK, attributes);
        memcpy((char *)outputs[0] + i * DMLCY_BYTES, last, (size_t)((n - i) * DMLCY_BYTES));
    }
}

#undef DMLCY_GIVE
#undef DMLCY_GIVEN
#undef DMLCY_BYTES

#endif
