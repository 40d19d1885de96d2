/* The loop of element_rows.h for one instruction set. */
DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_ROW)(
    const void *const *inputs, void *output, int64_t n, const void *attributes)
{
    const DMLCY_ELEMENT *const a0 = (const DMLCY_ELEMENT *)inputs[0];
#if DMLCY_INPUTS > 1
    const DMLCY_ELEMENT *const a1 = (const DMLCY_ELEMENT *)inputs[1];
#endif
#if DMLCY_INPUTS > 2
    const DMLCY_ELEMENT *const a2 = (const DMLCY_ELEMENT *)inputs[2];
#endif
    DMLCY_ELEMENT *const y = (DMLCY_ELEMENT *)output;
    int64_t i;
    DMLCY_LOCALS
    (void)attributes;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++) {
        const DMLCY_WORK x0 = (DMLCY_WORK)a0[i];
#if DMLCY_INPUTS > 1
        const DMLCY_WORK x1 = (DMLCY_WORK)a1[i];
#endif
#if DMLCY_INPUTS > 2
        const DMLCY_WORK x2 = (DMLCY_WORK)a2[i];
#endif
        y[i] = (DMLCY_ELEMENT)DMLCY_STORE(DMLCY_RESULT);
    }
}
