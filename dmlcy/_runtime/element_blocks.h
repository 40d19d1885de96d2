/* The loop of element_rows.h for one level. */
DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_ROW)(
    const void *const *inputs, void *const *outputs, int64_t n, const void *attributes)
{
    DMLCY_INPUTS(DMLCY_ROW_OF)
    DMLCY_ELEMENT *const y = (DMLCY_ELEMENT *)outputs[0];
    DMLCY_MORE(DMLCY_ROW_FOR)
    int64_t begin, end, i;
    DMLCY_LOCALS
    (void)attributes;
#if DMLCY_FUNCTIONS
    n &= -(int64_t)DMLCY_LANES; /* for the compiler, which needs no text for the last elements then */
#endif
#ifdef DMLCY_SPECIAL
    for (begin = 0; begin < n; begin = end) {
        uint32_t special = 0;
        end = n - begin < DMLCY_CHOSEN ? n : begin + DMLCY_CHOSEN;
        for (i = begin; i < end; i++) {
            DMLCY_INPUTS(DMLCY_NUMBER_OF)
            special |= DMLCY_SPECIAL;
        }
        if (special >> 31) {
            DMLCY_MADE_OF(DMLCY_RESULT)
        } else {
            DMLCY_MADE_OF(DMLCY_ORDINARY)
        }
    }
#else
    begin = 0;
    end = n;
    DMLCY_MADE_OF(DMLCY_RESULT)
#endif
}
