/* The loop of element_rows.h for rows in which each input but the first repeats an element. */
DMLCY_WIDE static void DMLCY_NAMED(DMLCY_ROW, _steady)(
    const void *const *inputs, void *const *outputs, int64_t n, const void *attributes)
{
    DMLCY_INPUTS(DMLCY_ROW_OF)
    DMLCY_OTHERS(DMLCY_NUMBER_ONCE)
    DMLCY_ELEMENT *const y = (DMLCY_ELEMENT *)outputs[0];
    int64_t i;
    DMLCY_LOCALS
    (void)attributes;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++) {
        DMLCY_FIRST(DMLCY_NUMBER_OF)
        y[i] = (DMLCY_ELEMENT)DMLCY_STORE(DMLCY_RESULT);
    }
}
