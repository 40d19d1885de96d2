/* Keys of rows of elements, and the keys below a limit: the text of loops for each level. */

#define DMLCY_KEY_ROW(name, type, key)                                                                               \
    DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_keys_##name)(                                                         \
        const char *from, int64_t step, void *keys, int64_t n, int64_t flip)                                         \
    {                                                                                                                \
        const type *DMLCY_RESTRICT source = (const type *)from;                                                      \
        key *DMLCY_RESTRICT to = (key *)keys;                                                                        \
        const key other = (key)flip;                                                                                 \
        int64_t i;                                                                                                   \
        if (step == (int64_t)sizeof(type))                                                                           \
            for (i = 0; i < n; i++)                                                                                  \
                to[i] = dmlcy_order_of_##name(source[i], other);                                                     \
        else                                                                                                         \
            for (i = 0; i < n; i++)                                                                                  \
                to[i] = dmlcy_order_of_##name(*(const type *)(from + i * step), other);                              \
    }
DMLCY_ORDERED_SHORT(DMLCY_KEY_ROW, int32_t)
DMLCY_ORDERED_LONG(DMLCY_KEY_ROW)
#undef DMLCY_KEY_ROW

/* Which of DMLCY_HITS keys are below a limit: a bit each. */
DMLCY_TARGET static inline uint32_t DMLCY_LEVEL(dmlcy_hits_short)(const int32_t *keys, int32_t limit)
{
#if DMLCY_X86 && DMLCY_IS_WIDE
    const __m256i than = _mm256_set1_epi32(limit);
    const __m256i first = _mm256_cmpgt_epi32(than, _mm256_loadu_si256((const __m256i *)keys));
    const __m256i second = _mm256_cmpgt_epi32(than, _mm256_loadu_si256((const __m256i *)(keys + 8)));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(first))
        | (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(second)) << 8;
#elif DMLCY_X86
    const __m128i than = _mm_set1_epi32(limit);
    uint32_t bits = 0;
    int k;
    for (k = 0; k < 4; k++) {
        const __m128i below = _mm_cmplt_epi32(_mm_loadu_si128((const __m128i *)(keys + 4 * k)), than);
        bits |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(below)) << 4 * k;
    }
    return bits;
#else
    uint32_t bits = 0;
    int k;
    for (k = 0; k < DMLCY_HITS; k++)
        bits |= (uint32_t)(keys[k] < limit) << k;
    return bits;
#endif
}

DMLCY_TARGET static inline uint32_t DMLCY_LEVEL(dmlcy_hits_long)(const int64_t *keys, int64_t limit)
{
    uint32_t bits = 0;
    int k;
#if DMLCY_X86 && DMLCY_IS_WIDE
    const __m256i than = _mm256_set1_epi64x(limit);
    for (k = 0; k < 4; k++) {
        const __m256i below = _mm256_cmpgt_epi64(than, _mm256_loadu_si256((const __m256i *)(keys + 4 * k)));
        bits |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(below)) << 4 * k;
    }
#else
    for (k = 0; k < DMLCY_HITS; k++)
        bits |= (uint32_t)(keys[k] < limit) << k;
#endif
    return bits;
}

/* From key i on, the next group of DMLCY_HITS keys with some below the limit: its first key, and which; n: there is none. */
#define DMLCY_NEXT(of, key)                                                                                     \
    DMLCY_TARGET static int64_t DMLCY_LEVEL(dmlcy_next_##of)(                                                   \
        const key *keys, int64_t i, int64_t n, key limit, uint32_t *hits)                                       \
    {                                                                                                           \
        for (; i < n; i += DMLCY_HITS)                                                                          \
            if ((*hits = DMLCY_LEVEL(dmlcy_hits_##of)(keys + i, limit)) != 0)                                   \
                return i;                                                                                       \
        return n;                                                                                               \
    }
DMLCY_NEXT(short, int32_t)
DMLCY_NEXT(long, int64_t)
#undef DMLCY_NEXT
