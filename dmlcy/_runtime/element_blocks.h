/* The loop of element_rows.h for one level. */
DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_ROW)(
    const void *const *inputs, void *output, int64_t n, const void *attributes)
{
    DMLCY_INPUTS(DMLCY_ROW_OF)
    DMLCY_ELEMENT *const y = (DMLCY_ELEMENT *)output;
    int64_t i;
    DMLCY_LOCALS
    (void)attributes;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++) {
        DMLCY_INPUTS(DMLCY_NUMBER_OF)
        y[i] = (DMLCY_ELEMENT)DMLCY_STORE(DMLCY_RESULT);
    }
}
