/* Elements of one size, each to or from where an index of one type says. Nothing lies next to each other of necessity: the
 * strides are bytes, and `own` is what another coordinate adds from each place to the next. */
static void DMLCY_OF_BOTH(dmlcy_take_each)(
    const char *places, int64_t own, const char *indices, int64_t index_stride, int64_t size, int64_t step, char *others,
    int64_t stride, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++) {
        const DMLCY_INDEX index = *(const DMLCY_INDEX *)(indices + i * index_stride);
        *(DMLCY_WORD *)(others + i * stride) = *(const DMLCY_WORD *)(places + i * own + DMLCY_PLACE(index));
    }
}

static void DMLCY_OF_BOTH(dmlcy_give_each)(
    char *places, int64_t own, const char *indices, int64_t index_stride, int64_t size, int64_t step, const char *others,
    int64_t stride, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++) {
        const DMLCY_INDEX index = *(const DMLCY_INDEX *)(indices + i * index_stride);
        *(DMLCY_WORD *)(places + i * own + DMLCY_PLACE(index)) = *(const DMLCY_WORD *)(others + i * stride);
    }
}
