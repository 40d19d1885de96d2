/* The functions of blocks.h for one instruction set; DMLCY_LEVEL names them, DMLCY_TARGET declares them. */

#define DMLCY_BLOCKS_OF(type)                                                                                          \
    DMLCY_TARGET DMLCY_INLINE dmlcy_##type##_block DMLCY_LEVEL(dmlcy_load_##type)(const type *source)                  \
    {                                                                                                                  \
        dmlcy_##type##_block block;                                                                                    \
        memcpy(&block, source, sizeof block);                                                                          \
        return block;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_store_##type)(type *target, dmlcy_##type##_block block)           \
    {                                                                                                                  \
        memcpy(target, &block, sizeof block);                                                                          \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_TARGET DMLCY_INLINE dmlcy_##type##_block DMLCY_LEVEL(dmlcy_each_##type)(type element)                        \
    {                                                                                                                  \
        type elements[DMLCY_BLOCK(type)];                                                                              \
        int i;                                                                                                         \
        for (i = 0; i < DMLCY_BLOCK(type); i++)                                                                        \
            elements[i] = element;                                                                                     \
        return DMLCY_LEVEL(dmlcy_load_##type)(elements);                                                               \
    }

DMLCY_NUMBERS(DMLCY_BLOCKS_OF)
#undef DMLCY_BLOCKS_OF

/* ---- maxima ---- */

#define DMLCY_MAX_HEAD(type)                                                                                           \
    DMLCY_TARGET DMLCY_INLINE dmlcy_##type##_block DMLCY_LEVEL(dmlcy_max_##type)(                                      \
        dmlcy_##type##_block first, dmlcy_##type##_block second)

#define DMLCY_MAX_OF(type)                                                                                             \
    DMLCY_MAX_HEAD(type)                                                                                               \
    {                                                                                                                  \
        type a[DMLCY_BLOCK(type)], b[DMLCY_BLOCK(type)];                                                               \
        int i;                                                                                                         \
        DMLCY_LEVEL(dmlcy_store_##type)(a, first);                                                                     \
        DMLCY_LEVEL(dmlcy_store_##type)(b, second);                                                                    \
        for (i = 0; i < DMLCY_BLOCK(type); i++)                                                                        \
            a[i] = a[i] > b[i] ? a[i] : b[i];                                                                          \
        return DMLCY_LEVEL(dmlcy_load_##type)(a);                                                                      \
    }

#if DMLCY_X86 && DMLCY_IS_WIDE
#define DMLCY_MAX_BY(type, instruction)                                                                                \
    DMLCY_MAX_HEAD(type)                                                                                               \
    {                                                                                                                  \
        return (dmlcy_##type##_block)instruction((__m256i)first, (__m256i)second);                                     \
    }

DMLCY_TARGET DMLCY_INLINE __m256i dmlcy_max_epi64(__m256i first, __m256i second)
{
    return _mm256_blendv_epi8(second, first, _mm256_cmpgt_epi64(first, second));
}

DMLCY_TARGET DMLCY_INLINE __m256i dmlcy_max_epu64(__m256i first, __m256i second)
{
    const __m256i least = _mm256_set1_epi64x(INT64_MIN);
    const __m256i greater = _mm256_cmpgt_epi64(_mm256_xor_si256(first, least), _mm256_xor_si256(second, least));
    return _mm256_blendv_epi8(second, first, greater);
}

DMLCY_MAX_BY(int8_t, _mm256_max_epi8)
DMLCY_MAX_BY(int16_t, _mm256_max_epi16)
DMLCY_MAX_BY(int32_t, _mm256_max_epi32)
DMLCY_MAX_BY(int64_t, dmlcy_max_epi64)
DMLCY_MAX_BY(uint8_t, _mm256_max_epu8)
DMLCY_MAX_BY(uint16_t, _mm256_max_epu16)
DMLCY_MAX_BY(uint32_t, _mm256_max_epu32)
DMLCY_MAX_BY(uint64_t, dmlcy_max_epu64)
#undef DMLCY_MAX_BY
#elif DMLCY_X86
#define DMLCY_MAX_BY_HALVES(type, maximum)                                                                             \
    DMLCY_MAX_HEAD(type)                                                                                               \
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
DMLCY_MAX_OF(int64_t)
DMLCY_MAX_BY_HALVES(uint8_t, _mm_max_epu8)
DMLCY_MAX_BY_HALVES(uint16_t, dmlcy_half_max_epu16)
DMLCY_MAX_BY_HALVES(uint32_t, dmlcy_half_max_epu32)
DMLCY_MAX_OF(uint64_t)
#undef DMLCY_MAX_BY_HALVES
#else
DMLCY_INTEGERS(DMLCY_MAX_OF)
#endif

/* The second one where it is equal, or either is a NaN: as instructions do, which compilers do not find by themselves. */
#if DMLCY_X86 && DMLCY_IS_WIDE
DMLCY_MAX_HEAD(float)
{
    return (dmlcy_float_block)_mm256_max_ps((__m256)first, (__m256)second);
}
#elif DMLCY_X86
DMLCY_MAX_HEAD(float)
{
    float a[DMLCY_BLOCK(float)], b[DMLCY_BLOCK(float)];
    int i;
    dmlcy_store_float(a, first);
    dmlcy_store_float(b, second);
    for (i = 0; i < DMLCY_BLOCK(float); i += 4)
        _mm_storeu_ps(a + i, _mm_max_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i)));
    return dmlcy_load_float(a);
}
#else
DMLCY_MAX_OF(float)
#endif

#undef DMLCY_MAX_OF
#undef DMLCY_MAX_HEAD

/* ---- floats by their keys, and as numbers ---- */

/* Where an instruction takes half a block, GCC makes a comparison of blocks for each element by itself. So differences say
 * there which elements are NaN, and which keys stand for no element: their magnitude is beyond any NaN's. */
#if DMLCY_IS_WIDE
#define DMLCY_NANS(bits, type, last, least, infinity) DMLCY_MASK((bits & (type)~least) > (type)infinity)
#else
#define DMLCY_NANS(bits, type, last, least, infinity) (((type)infinity - (bits & (type)~least)) >> last)
#endif

#define DMLCY_KEY_BLOCKS(name, type, last, least, infinity, nan)                                                       \
    DMLCY_TARGET DMLCY_INLINE dmlcy_##type##_block DMLCY_LEVEL(dmlcy_load_##name##_key)(const type *source)            \
    {                                                                                                                  \
        const dmlcy_##type##_block bits = DMLCY_LEVEL(dmlcy_load_##type)(source);                                      \
        const dmlcy_##type##_block nans = DMLCY_NANS(bits, type, last, least, infinity);                               \
        return (((bits & (type)~least) ^ bits >> last) & ~nans) | ((type)~nan & nans);                                 \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_store_##name##_key)(type *target, dmlcy_##type##_block key)       \
    {                                                                                                                  \
        const dmlcy_##type##_block magnitude = key ^ key >> last, none = ((type)nan - magnitude) >> last;              \
        const dmlcy_##type##_block bits = (key & (type)least) | magnitude;                                             \
        DMLCY_LEVEL(dmlcy_store_##type)(target, (bits & ~none) | ((type)(least | infinity) & none));                   \
    }

DMLCY_KEYS(DMLCY_KEY_BLOCKS)
#undef DMLCY_KEY_BLOCKS
#undef DMLCY_NANS

DMLCY_TARGET DMLCY_INLINE dmlcy_float_block DMLCY_LEVEL(dmlcy_load_number)(const float *source)
{
    return DMLCY_LEVEL(dmlcy_max_float)(DMLCY_LEVEL(dmlcy_load_float)(source), DMLCY_LEVEL(dmlcy_each_float)(-INFINITY));
}

DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_store_number)(float *target, dmlcy_float_block block)
{
    DMLCY_LEVEL(dmlcy_store_float)(target, block);
}

/* -1 for each maximum that is doubtful, otherwise 0. The two masks are added: if they were joined by `|`, GCC would choose
 * between two blocks instead, which is slower. */
DMLCY_TARGET DMLCY_INLINE dmlcy_int32_t_block DMLCY_LEVEL(dmlcy_doubts)(dmlcy_float_block maxima)
{
    dmlcy_int32_t_block bits;
    memcpy(&bits, &maxima, sizeof bits);
    return DMLCY_MASK(bits == INT32_MIN) + DMLCY_MASK(maxima == -INFINITY);
}

DMLCY_TARGET DMLCY_INLINE int DMLCY_LEVEL(dmlcy_has_doubts)(dmlcy_int32_t_block doubts)
{
    int32_t elements[DMLCY_BLOCK(int32_t)], any = 0;
    int i;
    DMLCY_LEVEL(dmlcy_store_int32_t)(elements, doubts);
    for (i = 0; i < DMLCY_BLOCK(int32_t); i++)
        any |= elements[i];
    return any;
}

/* ---- float16 ---- */

DMLCY_TARGET DMLCY_INLINE dmlcy_float_block DMLCY_LEVEL(dmlcy_load_half)(const uint16_t *source)
{
#if DMLCY_X86 && DMLCY_IS_WIDE
    return (dmlcy_float_block)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source));
#else
    float elements[DMLCY_BLOCK(float)];
    int i;
    for (i = 0; i < DMLCY_BLOCK(float); i++)
        elements[i] = dmlcy_float_of_half(source[i]);
    return DMLCY_LEVEL(dmlcy_load_float)(elements);
#endif
}

DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_store_half)(uint16_t *target, dmlcy_float_block block)
{
#if DMLCY_X86 && DMLCY_IS_WIDE
    _mm_storeu_si128((__m128i *)target, _mm256_cvtps_ph((__m256)block, _MM_FROUND_TO_NEAREST_INT));
#else
    float elements[DMLCY_BLOCK(float)];
    int i;
    DMLCY_LEVEL(dmlcy_store_float)(elements, block);
    for (i = 0; i < DMLCY_BLOCK(float); i++)
        target[i] = dmlcy_half_of_float(elements[i]);
#endif
}
