/* Which elements are not 0: the text of loops for each level. `mask` has the bits of an element that count: not the sign of
 * a float. A flag is a byte, 1 or 0. */

#define DMLCY_FLAGS(item, type)                                                                                \
    DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_flags_##item)(                                                  \
        const char *from, int64_t step, uint8_t *DMLCY_RESTRICT flags, int64_t n, uint32_t mask)               \
    {                                                                                                          \
        const type *DMLCY_RESTRICT source = (const type *)from;                                                \
        const type counts = (type)mask;                                                                        \
        int64_t i;                                                                                             \
        if (step == item)                                                                                      \
            for (i = 0; i < n; i++)                                                                            \
                flags[i] = (source[i] & counts) != 0;                                                          \
        else                                                                                                   \
            for (i = 0; i < n; i++)                                                                            \
                flags[i] = (*(const type *)(from + i * step) & counts) != 0;                                   \
    }
DMLCY_FLAGS(1, uint8_t)
DMLCY_FLAGS(2, uint16_t)
DMLCY_FLAGS(4, uint32_t)
#undef DMLCY_FLAGS

/* The number of flags that are 1, of at most DMLCY_FLAGGED. */
DMLCY_TARGET static int64_t DMLCY_LEVEL(dmlcy_flagged)(const uint8_t *flags, int64_t n)
{
    uint32_t count = 0;
    int64_t i;
    for (i = 0; i < n; i++)
        count += flags[i];
    return count;
}
