/* Elements of one size, each to or from where an index of one type says. Nothing lies next to each other of necessity: the
 * strides are bytes, and `own` is what another coordinate adds from each place to the next. Of rows that follow each other,
 * indices up to the first one that counts from the end need no correction. */
static void DMLCY_OF_BOTH(dmlcy_take_each)(
    const char *places, int64_t own, const char *indices, int64_t index_stride, int64_t size, int64_t step, char *others,
    int64_t stride, int64_t n)
{
    int64_t i = 0;
    if (index_stride == (int64_t)sizeof(DMLCY_INDEX) && stride == DMLCY_ITEM) {
        const DMLCY_INDEX *const row = (const DMLCY_INDEX *)indices;
        DMLCY_WORD *const to = (DMLCY_WORD *)others;
        if (own == 0 && step == DMLCY_ITEM)
            for (; i < n && DMLCY_COUNTS_ON(row[i]); i++)
                to[i] = ((const DMLCY_WORD *)places)[row[i]];
        else
            for (; i < n && DMLCY_COUNTS_ON(row[i]); i++)
                to[i] = *(const DMLCY_WORD *)(places + i * own + (int64_t)row[i] * step);
    }
    for (; i < n; i++) {
        const DMLCY_INDEX index = *(const DMLCY_INDEX *)(indices + i * index_stride);
        *(DMLCY_WORD *)(others + i * stride) = *(const DMLCY_WORD *)(places + i * own + DMLCY_PLACE(index));
    }
}

static void DMLCY_OF_BOTH(dmlcy_give_each)(
    char *places, int64_t own, const char *indices, int64_t index_stride, int64_t size, int64_t step, const char *others,
    int64_t stride, int64_t n)
{
    int64_t i = 0;
    if (index_stride == (int64_t)sizeof(DMLCY_INDEX) && stride == DMLCY_ITEM) {
        const DMLCY_INDEX *const row = (const DMLCY_INDEX *)indices;
        const DMLCY_WORD *const from = (const DMLCY_WORD *)others;
        if (own == 0 && step == DMLCY_ITEM)
            for (; i < n && DMLCY_COUNTS_ON(row[i]); i++)
                ((DMLCY_WORD *)places)[row[i]] = from[i];
        else
            for (; i < n && DMLCY_COUNTS_ON(row[i]); i++)
                *(DMLCY_WORD *)(places + i * own + (int64_t)row[i] * step) = from[i];
    }
    for (; i < n; i++) {
        const DMLCY_INDEX index = *(const DMLCY_INDEX *)(indices + i * index_stride);
        *(DMLCY_WORD *)(places + i * own + DMLCY_PLACE(index)) = *(const DMLCY_WORD *)(others + i * stride);
    }
}
