/* Whether elements of rows are outside: the text of loops for each level. */

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
