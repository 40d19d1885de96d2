/* The loops of scans.h for products of floats, for one level. A row, or a piece of a line, is computed in double first,
 * and once more by parts and powers if a product was beyond what doubles are safe for. The bits are the same. */
DMLCY_TARGET DMLCY_APART int64_t DMLCY_LEVEL(dmlcy_products_float_row)(
    const float *x, float *y, int64_t n, int exclusive, const double *part, double *more)
{
    int64_t beyond = 0, i;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++) {
        const double before = part[i], after = before * (double)x[i];
        more[i] = after;
        y[i] = (float)(exclusive ? before : after);
        beyond |= dmlcy_scan_beyond(after);
    }
    return beyond;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_products_float_columns)(
    const void *const *inputs, void *const *outputs, int64_t rows, int64_t n, int exclusive, void *state)
{
    double *const part = state, *const more = part + 2 * n;
    int64_t *const power = (int64_t *)(part + n);
    int64_t row, i;
    for (row = 0; row < rows; row++) {
        const float *const x = inputs[row];
        float *const y = outputs[row];
        int64_t powers = 0;
        for (i = 0; i < n; i++)
            powers |= power[i];
        if (!powers && !DMLCY_LEVEL(dmlcy_products_float_row)(x, y, n, exclusive, part, more)) {
            memcpy(part, more, (size_t)n * sizeof(double));
            continue;
        }
        for (i = 0; i < n; i++) {
            const float before = dmlcy_scan_float(part[i], power[i]);
            dmlcy_scan_scaled(&part[i], &power[i], x[i]);
            y[i] = exclusive ? before : dmlcy_scan_float(part[i], power[i]);
        }
    }
}

#define DMLCY_PRODUCT(line)                                                         \
    {                                                                               \
        const double before = after##line;                                          \
        after##line = before * (double)*(const float *)(x##line + i * step);        \
        y[line][i] = (float)(exclusive ? before : after##line);                     \
    }

/* A piece of four lines, in double. */
DMLCY_TARGET DMLCY_INLINE int64_t DMLCY_LEVEL(dmlcy_products_float_four)(
    const char *const *inputs, int64_t n, int64_t step, int exclusive, double *part, float *const *y)
{
    const char *const x0 = inputs[0], *const x1 = inputs[1], *const x2 = inputs[2], *const x3 = inputs[3];
    double after0 = part[0], after1 = part[1], after2 = part[2], after3 = part[3];
    int64_t beyond = 0, begin, i;
#if DMLCY_X86 && DMLCY_IS_WIDE
    if (step == sizeof(float)) {
        const float *const near[4] = {(const float *)x0, (const float *)x1, (const float *)x2, (const float *)x3};
        double more[4] = {after0, after1, after2, after3};
        if (exclusive ? dmlcy_scan_four_lines(near, y, n, 1, 1, more)
                      : dmlcy_scan_four_lines(near, y, n, 1, 0, more))
            return 1;
        memcpy(part, more, sizeof more);
        return 0;
    }
#endif
    for (begin = 0; begin < n; begin += DMLCY_SCAN_STEPS) {
        const int64_t end = n - begin < DMLCY_SCAN_STEPS ? n : begin + DMLCY_SCAN_STEPS;
        for (i = begin; i < end; i++) {
            DMLCY_PRODUCT(0)
            DMLCY_PRODUCT(1)
            DMLCY_PRODUCT(2)
            DMLCY_PRODUCT(3)
        }
        beyond |= dmlcy_scan_beyond(after0) | dmlcy_scan_beyond(after1);
        beyond |= dmlcy_scan_beyond(after2) | dmlcy_scan_beyond(after3);
    }
    if (!beyond) {
        part[0] = after0;
        part[1] = after1;
        part[2] = after2;
        part[3] = after3;
    }
    return beyond;
}

#undef DMLCY_PRODUCT

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_products_float_lines)(
    const char *const *inputs, char *const *outputs, int64_t count, int64_t n, int64_t step, int64_t pitch,
    int exclusive)
{
    float some[4][DMLCY_SCAN_PIECE];
    int64_t line, at, i;
    int j;
    for (line = 0; line < count; line += 4) {
        const int some_lines = count - line < 4 ? (int)(count - line) : 4;
        /* Elements that may have to be computed once more must still be there. */
        const int direct = some_lines == 4 && pitch == sizeof(float) && inputs[line] != outputs[line];
        const char *x[4];
        float *y[4];
        double part[4] = {1, 1, 1, 1};
        int64_t power[4] = {0, 0, 0, 0};
        for (at = 0; at < n; at += DMLCY_SCAN_PIECE) {
            const int64_t size = n - at < DMLCY_SCAN_PIECE ? n - at : DMLCY_SCAN_PIECE;
            for (j = 0; j < 4; j++) {
                x[j] = inputs[line + (j < some_lines ? j : 0)] + at * step;
                y[j] = direct ? (float *)(outputs[line + j] + at * pitch) : some[j];
            }
            if ((power[0] | power[1] | power[2] | power[3])
                || DMLCY_LEVEL(dmlcy_products_float_four)(x, size, step, exclusive, part, y))
                for (j = 0; j < some_lines; j++)
                    for (i = 0; i < size; i++) {
                        const float before = dmlcy_scan_float(part[j], power[j]);
                        dmlcy_scan_scaled(&part[j], &power[j], *(const float *)(x[j] + i * step));
                        y[j][i] = exclusive ? before : dmlcy_scan_float(part[j], power[j]);
                    }
            for (j = 0; j < some_lines && !direct; j++) {
                char *const to = outputs[line + j] + at * pitch;
                if (pitch == sizeof(float))
                    memcpy(to, y[j], (size_t)size * sizeof(float));
                else
                    for (i = 0; i < size; i++)
                        *(float *)(to + i * pitch) = y[j][i];
            }
        }
    }
}
