/* Rows of elements of one size: every element to or from its offset. The others lie `stride` bytes apart. */
static void DMLCY_OF(dmlcy_take)(const char *places, const int64_t *offsets, char *others, int64_t stride, int64_t n)
{
    int64_t i;
    if (stride == DMLCY_ITEM)
        for (i = 0; i < n; i++)
            ((DMLCY_WORD *)others)[i] = *(const DMLCY_WORD *)(places + offsets[i]);
    else
        for (i = 0; i < n; i++)
            *(DMLCY_WORD *)(others + i * stride) = *(const DMLCY_WORD *)(places + offsets[i]);
}

static void DMLCY_OF(dmlcy_give)(char *places, const int64_t *offsets, const char *others, int64_t stride, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        *(DMLCY_WORD *)(places + offsets[i]) = *(const DMLCY_WORD *)(others + i * stride);
}
