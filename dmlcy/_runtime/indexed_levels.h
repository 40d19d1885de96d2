/* Whether elements of rows are outside, and rows of elements by offsets: the text of loops for each level. */

/* The highest bit: whether an element, which need not be aligned, is not from `least` to `most`. No difference of a number
 * inside wraps around, and one of a number outside is negative. */
#define DMLCY_OUTSIDE(type)                                                                                           \
    DMLCY_TARGET static inline uint64_t DMLCY_LEVEL(dmlcy_outside_##type)(                                            \
        const char *element, uint64_t least, uint64_t most)                                                           \
    {                                                                                                                 \
        type index;                                                                                                   \
        memcpy(&index, element, sizeof index);                                                                        \
        return ((uint64_t)(int64_t)index - least) | (most - (uint64_t)(int64_t)index);                                \
    }                                                                                                                 \
                                                                                                                      \
    /* Whether any of n elements is not in low <= element < high. Both ends are sizes of tensors, or such with a minus. */ \
    DMLCY_TARGET static int DMLCY_LEVEL(dmlcy_any_outside_##type)(                                                    \
        const char *elements, int64_t n, int64_t stride, int64_t low, int64_t high)                                   \
    {                                                                                                                 \
        const uint64_t least = (uint64_t)((type)-1 > 0 && low < 0 ? 0 : low), most = (uint64_t)high - 1;              \
        uint64_t outside = 0;                                                                                         \
        int64_t i;                                                                                                    \
        if (stride == (int64_t)sizeof(type))                                                                          \
            for (i = 0; i < n; i++)                                                                                   \
                outside |= DMLCY_LEVEL(dmlcy_outside_##type)(elements + i * (int64_t)sizeof(type), least, most);      \
        else                                                                                                          \
            for (i = 0; i < n; i++)                                                                                   \
                outside |= DMLCY_LEVEL(dmlcy_outside_##type)(elements + i * stride, least, most);                     \
        return outside >> 63;                                                                                         \
    }
DMLCY_OUTSIDE(int32_t)
DMLCY_OUTSIDE(uint32_t)
DMLCY_OUTSIDE(int64_t)
DMLCY_OUTSIDE(uint64_t)
#undef DMLCY_OUTSIDE

#if DMLCY_X86 && DMLCY_IS_WIDE
#define DMLCY_COPY_WHOLE(target, source)                                                                              \
    _mm256_storeu_si256((__m256i *)(target), _mm256_loadu_si256((const __m256i *)(source)))
#else
#define DMLCY_COPY_WHOLE(target, source) memcpy(target, source, DMLCY_WHOLE)
#endif

/* Copies DMLCY_WHOLE bytes or more. */
DMLCY_TARGET static inline void DMLCY_LEVEL(dmlcy_copy_wholes)(char *target, const char *source, int64_t n)
{
    int64_t k = 0;
    if (n >= DMLCY_LONG_ROW) { /* then no store lies across cache lines */
        DMLCY_COPY_WHOLE(target, source);
        k = DMLCY_WHOLE - (int64_t)((uintptr_t)target % DMLCY_WHOLE);
    }
    for (; k < n - DMLCY_WHOLE; k += DMLCY_WHOLE)
        DMLCY_COPY_WHOLE(target + k, source + k);
    DMLCY_COPY_WHOLE(target + n - DMLCY_WHOLE, source + n - DMLCY_WHOLE);
}
#undef DMLCY_COPY_WHOLE

/* Rows of `row` bytes, DMLCY_WHOLE or more, from their offsets; `asks` says whether they are far
 * away. The others lie `step` bytes apart. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_take_wholes)(
    const char *places, const int64_t *offsets, char *others, int64_t step, int64_t row, int64_t n, int asks)
{
    int64_t i;
    for (i = 0; i < n; i++) {
        if (asks && i + DMLCY_AHEAD < n)
            dmlcy_ask(places + offsets[i + DMLCY_AHEAD], row);
        DMLCY_LEVEL(dmlcy_copy_wholes)(others + i * step, places + offsets[i], row);
    }
}

/* The same to their offsets, in order. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_give_wholes)(
    char *places, const int64_t *offsets, const char *others, int64_t step, int64_t row, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        DMLCY_LEVEL(dmlcy_copy_wholes)(places + offsets[i], others + i * step, row);
}
