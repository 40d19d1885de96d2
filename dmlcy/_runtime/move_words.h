/* The loops of move_rows.h for elements of one size. */
#define DMLCY_SIDE (16 / DMLCY_ITEM)
#define DMLCY_ROW(k) ((DMLCY_WORD *)(target + (k) * pitch))
#define DMLCY_AT(place) (*(const DMLCY_WORD *)(source + (place)))

/* Loops with a constant step are vectorized. */
#define DMLCY_KNOWN(known)                                                                                             \
    else if (step == (known) * DMLCY_ITEM) for (i = 0; i < count; i++) out[i] = elements[(known) * i];

static inline void DMLCY_OF(dmlcy_gather_row)(const char *source, int64_t step, char *target, int64_t count)
{
    const DMLCY_WORD *const elements = (const DMLCY_WORD *)source;
    DMLCY_WORD *const out = (DMLCY_WORD *)target;
    int64_t i = 0;
    if (step == DMLCY_ITEM)
        dmlcy_copy(target, source, count * DMLCY_ITEM);
    else if (step == 0) {
        const DMLCY_WORD element = *elements;
        for (i = 0; i < count; i++)
            out[i] = element;
    }
    DMLCY_KNOWN(2)
    DMLCY_KNOWN(3)
    DMLCY_KNOWN(4)
    else if (step == -DMLCY_ITEM)
        for (i = DMLCY_OF(dmlcy_reverse)(source, count, target); i < count; i++)
            out[i] = elements[-i];
    else
        for (i = 0; i < count; i++)
            out[i] = DMLCY_AT(i * step);
}

static void DMLCY_OF(dmlcy_gather)(
    const char *source, int64_t row_step, int64_t step, char *target, int64_t pitch, int64_t rows, int64_t count)
{
    int64_t row;
    for (row = 0; row < rows; row++) {
        DMLCY_OF(dmlcy_gather_row)(source, step, target, count);
        source += row_step;
        target += pitch;
    }
}

/* Transposes rows of `width` elements, 2 to 4, that follow each other. */
static inline void DMLCY_OF(dmlcy_split)(
    const char *source, int64_t height, int64_t width, char *target, int64_t pitch)
{
    const DMLCY_WORD *const elements = (const DMLCY_WORD *)source;
    int64_t i = 0;
    if (width == 2)
        for (; i < height; i++) {
            DMLCY_ROW(0)[i] = elements[2 * i];
            DMLCY_ROW(1)[i] = elements[2 * i + 1];
        }
    else if (width == 3) {
#if DMLCY_ITEM < 8
        i = DMLCY_OF(dmlcy_split_3)(source, height, target, pitch);
#endif
        for (; i < height; i++) {
            DMLCY_ROW(0)[i] = elements[3 * i];
            DMLCY_ROW(1)[i] = elements[3 * i + 1];
            DMLCY_ROW(2)[i] = elements[3 * i + 2];
        }
    } else
        for (; i < height; i++) {
            DMLCY_ROW(0)[i] = elements[4 * i];
            DMLCY_ROW(1)[i] = elements[4 * i + 1];
            DMLCY_ROW(2)[i] = elements[4 * i + 2];
            DMLCY_ROW(3)[i] = elements[4 * i + 3];
        }
}

/* Whether compilers vectorise that, or moves.h has a faster loop. */
#define DMLCY_SPLITS(width) ((width) == 2 || (width) == 3 || ((width) == 4 && DMLCY_ITEM != 2))

static void DMLCY_OF(dmlcy_transpose)(
    const char *source, const int64_t *rows, int64_t height, int64_t width, char *target, int64_t pitch)
{
    const int64_t cols = dmlcy_turned_columns(DMLCY_ITEM, height, width);
    int64_t i = 0, j, col, some;
    if (DMLCY_SPLITS(width) && height > 1 && rows[1] - rows[0] == width * DMLCY_ITEM
        && rows[height - 1] - rows[0] == (height - 1) * width * DMLCY_ITEM) {
        DMLCY_OF(dmlcy_split)(source + rows[0], height, width, target, pitch);
        return;
    }
    if (!cols) {
        for (j = 0; j < width; j++)
            for (i = 0; i < height; i++)
                DMLCY_ROW(j)[i] = ((const DMLCY_WORD *)(source + rows[i]))[j];
        return;
    }
    /* A few rows at a time, whose cache lines stay for all columns. The last rows and columns overlap others. */
    while (i < height) {
        i = i < height - DMLCY_SIDE ? i : height - DMLCY_SIDE;
        some = DMLCY_SIDE > 8 ? DMLCY_SIDE : 8;
        some = (height - i < some ? height - i : some) / DMLCY_SIDE * DMLCY_SIDE;
        for (j = 0; j < width; j += cols) {
            col = j < width - cols ? j : width - cols;
            DMLCY_OF(dmlcy_turn)(source + col * DMLCY_ITEM, rows + i, some, cols,
                                 target + col * pitch + i * DMLCY_ITEM, pitch);
        }
        i += some;
    }
}

#define DMLCY_PLANE_AT(k) ((const DMLCY_WORD *)(planes + (k) * pitch))

static void DMLCY_OF(dmlcy_weave)(
    const char *planes, int64_t pitch, int64_t few, int64_t grain, int64_t count, char *target)
{
    DMLCY_WORD *const out = (DMLCY_WORD *)target;
    int64_t i = 0, k;
    (void)grain;
    if (few == 2)
        for (; i < count; i++) {
            out[2 * i] = DMLCY_PLANE_AT(0)[i];
            out[2 * i + 1] = DMLCY_PLANE_AT(1)[i];
        }
    else if (few == 3) {
#if DMLCY_ITEM <= 2
        i = DMLCY_OF(dmlcy_weave_3)(planes, pitch, count, target);
#endif
        for (; i < count; i++) {
            out[3 * i] = DMLCY_PLANE_AT(0)[i];
            out[3 * i + 1] = DMLCY_PLANE_AT(1)[i];
            out[3 * i + 2] = DMLCY_PLANE_AT(2)[i];
        }
    } else if (few == 4)
        for (; i < count; i++) {
            out[4 * i] = DMLCY_PLANE_AT(0)[i];
            out[4 * i + 1] = DMLCY_PLANE_AT(1)[i];
            out[4 * i + 2] = DMLCY_PLANE_AT(2)[i];
            out[4 * i + 3] = DMLCY_PLANE_AT(3)[i];
        }
    else
        for (k = 0; k < few; k++)
            for (i = 0; i < count; i++)
                out[few * i + k] = DMLCY_PLANE_AT(k)[i];
}

static void DMLCY_OF(dmlcy_copy_strided)(
    const char *source, int64_t row_step, int64_t step, char *target, int64_t row_pitch, int64_t pitch, int64_t rows,
    int64_t count)
{
    int64_t row, i;
    for (row = 0; row < rows; row++) {
        for (i = 0; i < count; i++)
            *DMLCY_ROW(i) = DMLCY_AT(i * step);
        source += row_step;
        target += row_pitch;
    }
}

static void DMLCY_OF(dmlcy_clear)(char *target, int64_t pitch, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++)
        *DMLCY_ROW(i) = 0;
}

#undef DMLCY_SIDE
#undef DMLCY_ROW
#undef DMLCY_AT
#undef DMLCY_KNOWN
#undef DMLCY_SPLITS
#undef DMLCY_PLANE_AT
