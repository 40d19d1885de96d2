/* The loops of scan_rows.h for one level. */
#define DMLCY_SCAN_LINE(line)                                                       \
    {                                                                               \
        const DMLCY_ACC before = acc##line;                                         \
        acc##line = DMLCY_TWO(before, (DMLCY_ACC) * (const DMLCY_NUMBER *)(x##line + i * step)); \
        *(DMLCY_NUMBER *)(y##line + i * pitch) = (DMLCY_NUMBER)(exclusive ? before : acc##line); \
    }

/* Four lines at once: a sum waits for the one before it. */
DMLCY_TARGET static void DMLCY_AT(_lines)(
    const char *const *inputs, char *const *outputs, int64_t count, int64_t n, int64_t step, int64_t pitch,
    int exclusive)
{
    int64_t line, i;
    for (line = 0; line + 4 <= count; line += 4) {
        const char *const x0 = inputs[line], *const x1 = inputs[line + 1];
        const char *const x2 = inputs[line + 2], *const x3 = inputs[line + 3];
        char *const y0 = outputs[line], *const y1 = outputs[line + 1];
        char *const y2 = outputs[line + 2], *const y3 = outputs[line + 3];
        DMLCY_ACC acc0 = DMLCY_NONE, acc1 = DMLCY_NONE, acc2 = DMLCY_NONE, acc3 = DMLCY_NONE;
        for (i = 0; i < n; i++) {
            DMLCY_SCAN_LINE(0)
            DMLCY_SCAN_LINE(1)
            DMLCY_SCAN_LINE(2)
            DMLCY_SCAN_LINE(3)
        }
    }
    for (; line < count; line++) {
        const char *const x0 = inputs[line];
        char *const y0 = outputs[line];
        DMLCY_ACC acc0 = DMLCY_NONE;
        for (i = 0; i < n; i++)
            DMLCY_SCAN_LINE(0)
    }
}

#undef DMLCY_SCAN_LINE

DMLCY_TARGET DMLCY_APART void DMLCY_AT(_row)(
    const DMLCY_NUMBER *x, DMLCY_NUMBER *y, int64_t n, int exclusive, DMLCY_ACC *acc)
{
    int64_t i;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++) {
        const DMLCY_ACC before = acc[i], after = DMLCY_TWO(before, (DMLCY_ACC)x[i]);
        acc[i] = after;
        y[i] = (DMLCY_NUMBER)(exclusive ? before : after);
    }
}

/* Four rows at once. */
DMLCY_TARGET DMLCY_APART void DMLCY_AT(_group)(
    const void *const *inputs, void *const *outputs, int64_t n, int exclusive, DMLCY_ACC *acc)
{
    const DMLCY_NUMBER *const x0 = inputs[0], *const x1 = inputs[1], *const x2 = inputs[2], *const x3 = inputs[3];
    DMLCY_NUMBER *const y0 = outputs[0], *const y1 = outputs[1], *const y2 = outputs[2], *const y3 = outputs[3];
    int64_t i;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++) {
        const DMLCY_ACC a = acc[i], b = DMLCY_TWO(a, (DMLCY_ACC)x0[i]), c = DMLCY_TWO(b, (DMLCY_ACC)x1[i]);
        const DMLCY_ACC d = DMLCY_TWO(c, (DMLCY_ACC)x2[i]), e = DMLCY_TWO(d, (DMLCY_ACC)x3[i]);
        acc[i] = e;
        y0[i] = (DMLCY_NUMBER)(exclusive ? a : b);
        y1[i] = (DMLCY_NUMBER)(exclusive ? b : c);
        y2[i] = (DMLCY_NUMBER)(exclusive ? c : d);
        y3[i] = (DMLCY_NUMBER)(exclusive ? d : e);
    }
}

DMLCY_TARGET static void DMLCY_AT(_columns)(
    const void *const *inputs, void *const *outputs, int64_t rows, int64_t n, int exclusive, void *state)
{
    DMLCY_ACC *const acc = state;
    int64_t row;
    for (row = 0; row + 4 <= rows; row += 4)
        DMLCY_AT(_group)(inputs + row, outputs + row, n, exclusive, acc);
    for (; row < rows; row++)
        DMLCY_AT(_row)(inputs[row], outputs[row], n, exclusive, acc);
}
