/* The loops of scatter_rows.h for one instruction set; DMLCY_LEVEL names them, DMLCY_TARGET declares them. */
#define DMLCY_OWN(end) DMLCY_LEVEL(DMLCY_NAMED(DMLCY_SCATTER, end))
#define DMLCY_LOAD_BLOCK DMLCY_LEVEL(DMLCY_NAMED(dmlcy_load_, DMLCY_STORED))

DMLCY_TARGET static void DMLCY_OWN(_add)(const ScatterRun *run)
{
    const int dense = run->input_step == sizeof(DMLCY_ELEMENT) && run->sums_step == sizeof(DMLCY_ACC);
    const int64_t last = run->size - DMLCY_SIZE;
    int64_t row, i;
    for (row = 0; row < run->rows; row++) {
        const DMLCY_ELEMENT *const elements = (const DMLCY_ELEMENT *)(run->input + row * run->input_row);
        DMLCY_ACC *const sums = (DMLCY_ACC *)(run->sums + row * run->sums_row);
        if (dense && last >= 0) {
            /* The last block may overlap the one before, so it is computed from the sums as they are now. */
            const DMLCY_BLOCK_OF end = DMLCY_LOADED(sums + last) + DMLCY_LOAD_BLOCK(elements + last);
            for (i = 0; i < last; i += DMLCY_SIZE)
                DMLCY_PUT(sums + i, DMLCY_LOADED(sums + i) + DMLCY_LOAD_BLOCK(elements + i));
            DMLCY_PUT(sums + last, end);
            continue;
        }
        for (i = 0; i < run->size; i++)
            *(DMLCY_ACC *)((char *)sums + i * run->sums_step) +=
                DMLCY_WIDEN(*(const DMLCY_ELEMENT *)((const char *)elements + i * run->input_step));
    }
}

/* One row, from taps whose blocks are neighbours. Each width is a constant, so that compilers make a loop for it. */
#define DMLCY_TAPS(width)                                                                                              \
    for (i = 0; i < blocks; i++) {                                                                                     \
        output[width * i] = DMLCY_ALONE(tap0[i]);                                                                      \
        output[width * i + 1] = DMLCY_ALONE(tap1[i]);                                                                  \
        if (width > 2)                                                                                                 \
            output[width * i + 2] = DMLCY_ALONE(tap2[i]);                                                              \
        if (width > 3)                                                                                                 \
            output[width * i + 3] = DMLCY_ALONE(tap3[i]);                                                              \
    }

/* The same, from blocks whose elements are neighbours. */
#define DMLCY_BLOCKS(width)                                                                                            \
    for (i = 0; i < blocks; i++) {                                                                                     \
        const DMLCY_ELEMENT *const elements = (const DMLCY_ELEMENT *)(input + i * step);                               \
        for (k = 0; k < width; k++)                                                                                    \
            output[width * i + k] = DMLCY_ALONE(elements[k]);                                                          \
    }

DMLCY_TARGET DMLCY_INLINE void DMLCY_OWN(_row)(
    DMLCY_ELEMENT *output, const char *input, const int64_t *at, int64_t width, int64_t blocks, int64_t step)
{
    int64_t i, k;
    if (step == sizeof(DMLCY_ELEMENT)) {
        const DMLCY_ELEMENT *const tap0 = (const DMLCY_ELEMENT *)(input + at[0]);
        const DMLCY_ELEMENT *const tap1 = (const DMLCY_ELEMENT *)(input + at[1]);
        const DMLCY_ELEMENT *const tap2 = (const DMLCY_ELEMENT *)(input + at[width > 2 ? 2 : 1]);
        const DMLCY_ELEMENT *const tap3 = (const DMLCY_ELEMENT *)(input + at[width > 3 ? 3 : 1]);
        if (width == 2) {
            DMLCY_TAPS(2)
        } else if (width == 3) {
            DMLCY_TAPS(3)
        } else {
            DMLCY_TAPS(4)
        }
        return;
    }
    if (width == 2) {
        DMLCY_BLOCKS(2)
    } else if (width == 3) {
        DMLCY_BLOCKS(3)
    } else if (width == 4) {
        DMLCY_BLOCKS(4)
    } else {
        for (i = 0; i < blocks; i++) {
            const DMLCY_ELEMENT *const elements = (const DMLCY_ELEMENT *)(input + i * step);
            k = 0;
#if DMLCY_CHANGED != DMLCY_CHANGED_halves
            for (; k <= width - DMLCY_SIZE; k += DMLCY_SIZE)
                DMLCY_PUT(output + i * width + k, DMLCY_ALONE(DMLCY_LOADED(elements + k)));
#endif
            for (; k < width; k++)
                output[i * width + k] = DMLCY_ALONE(elements[k]);
        }
    }
}

DMLCY_TARGET static void DMLCY_OWN(_weave)(const ScatterRows *rows)
{
    int64_t row;
    for (row = 0; row < rows->rows; row++)
        DMLCY_OWN(_row)((DMLCY_ELEMENT *)(rows->output + row * rows->output_row), rows->input + row * rows->input_row,
                        rows->at, rows->width, rows->blocks, rows->step);
}

#if DMLCY_CHANGED
DMLCY_TARGET static void DMLCY_OWN(_alone)(char *row, int64_t size)
{
    DMLCY_ELEMENT *const output = (DMLCY_ELEMENT *)row;
    int64_t i;
    for (i = 0; i < size; i++)
        output[i] = DMLCY_ALONE(output[i]);
}
#endif

#undef DMLCY_OWN
#undef DMLCY_LOAD_BLOCK
#undef DMLCY_TAPS
#undef DMLCY_BLOCKS
