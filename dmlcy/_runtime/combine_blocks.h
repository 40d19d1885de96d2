/* The loops of combine_rows.h for one instruction set, block by block; DMLCY_LEVEL names them, DMLCY_TARGET declares
 * them.
 *
 * Each number of rows has a loop of its own, in which this number is a constant, so that no branch is between the
 * loads. Where DMLCY_COMPACT, one loop takes any number: to load or to combine a block takes much longer than a branch,
 * or the loop rarely runs.
 */
#define DMLCY_COMPACT (DMLCY_COSTLY > DMLCY_IS_WIDE)
#define DMLCY_OWN(end) DMLCY_LEVEL(DMLCY_NAMED(DMLCY_ROWS, end))
#define DMLCY_LOAD_BLOCK DMLCY_LEVEL(DMLCY_NAMED(dmlcy_load_, DMLCY_STORED))

#if DMLCY_COMPACT
/* Not inlined: its text would be there once for each row. */
DMLCY_TARGET DMLCY_APART DMLCY_BLOCK_OF DMLCY_OWN(_elements)(const DMLCY_ELEMENT *source)
{
    return DMLCY_LOAD_BLOCK(source);
}
#define DMLCY_ELEMENTS DMLCY_OWN(_elements)
#else
#define DMLCY_ELEMENTS DMLCY_LOAD_BLOCK
#endif

/* A block that is joined with an accumulator, as the first of the two. */
#if DMLCY_COMPACT
#define DMLCY_LATER DMLCY_ELEMENTS
#else
#define DMLCY_LATER DMLCY_LEVEL(DMLCY_NAMED(dmlcy_load_, DMLCY_AFTER))
#endif

/* A block of up to two rows. */
#define DMLCY_PAIR(n, at)                                                                                              \
    (rows > n + 1 ? DMLCY_JOIN(DMLCY_LATER(row##n + at), DMLCY_ELEMENTS(next##n + at)) : DMLCY_ELEMENTS(row##n + at))

#define DMLCY_COMBINED(acc, at)                                                                                        \
    acc = fresh ? DMLCY_PAIR(0, at) : DMLCY_JOIN(acc, DMLCY_PAIR(0, at));                                              \
    if (rows > 2)                                                                                                      \
        acc = DMLCY_JOIN(acc, DMLCY_PAIR(2, at));                                                                      \
    if (rows > 4)                                                                                                      \
        acc = DMLCY_JOIN(acc, DMLCY_PAIR(4, at));                                                                      \
    if (rows > 6)                                                                                                      \
        acc = DMLCY_JOIN(acc, DMLCY_PAIR(6, at));

/* A block of a row of a plane, and of two rows. */
#define DMLCY_ROW_AT(row, at) DMLCY_ELEMENTS((const DMLCY_ELEMENT *)(row) + at)
#define DMLCY_ROWS_AT(row, at) DMLCY_JOIN(DMLCY_ROW_AT(row, at), DMLCY_ROW_AT((row) + step, at))

/* Sums and two pairs of rows, in this order. */
#define DMLCY_PAIRS_AT(sums, row, at)                                                                                  \
    DMLCY_JOIN(DMLCY_JOIN(sums, DMLCY_ROWS_AT(row, at)), DMLCY_ROWS_AT((row) + 2 * step, at))

#define DMLCY_ROW(n) ((const DMLCY_ELEMENT *)sum->row[n < rows ? n : 0] + moved)

/* Neighbours in pairs, then the pairs in ascending order. The last block overlaps the one before. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_OWN(_pass)(
    const WindowSum *sum, DMLCY_ACC *target, int64_t moved, const int rows, const int fresh)
{
    const DMLCY_ELEMENT *const row0 = DMLCY_ROW(0), *const next0 = DMLCY_ROW(1);
    const DMLCY_ELEMENT *const row2 = DMLCY_ROW(2), *const next2 = DMLCY_ROW(3);
    const DMLCY_ELEMENT *const row4 = DMLCY_ROW(4), *const next4 = DMLCY_ROW(5);
    const DMLCY_ELEMENT *const row6 = DMLCY_ROW(6), *const next6 = DMLCY_ROW(7);
    const int64_t last = sum->size - DMLCY_SIZE;
    DMLCY_BLOCK_OF acc = {0}, end = {0};
    int64_t i;
    if (!fresh)
        end = DMLCY_LOADED(target + last);
    for (i = 0; i < last; i += DMLCY_SIZE) {
        if (!fresh)
            acc = DMLCY_LOADED(target + i);
        DMLCY_COMBINED(acc, i)
        DMLCY_PUT(target + i, acc);
    }
    DMLCY_COMBINED(end, last)
    DMLCY_PUT(target + last, end);
}

#define DMLCY_PASS(rows)                                                                                               \
    case rows:                                                                                                         \
        if (fresh)                                                                                                     \
            DMLCY_OWN(_pass)(sum, target, moved, rows, 1);                                                             \
        else                                                                                                           \
            DMLCY_OWN(_pass)(sum, target, moved, rows, 0);                                                             \
        break;

DMLCY_TARGET static void DMLCY_OWN()(const void *args)
{
    const WindowSum *const sum = args;
    int64_t line, number;
    for (line = 0; line < sum->lines; line++) {
        DMLCY_ACC *const target = (DMLCY_ACC *)sum->target + line * sum->target_step;
        for (number = 0; number < sum->passes; number++) {
            const int fresh = sum->fresh && number == 0;
            const int64_t moved = line * sum->line_step + number * sum->pass_step;
            if (sum->size < DMLCY_SIZE) {
                DMLCY_NAMED(DMLCY_ROWS, _short)(sum, target, moved, fresh);
                continue;
            }
#if DMLCY_COMPACT
            DMLCY_OWN(_pass)(sum, target, moved, (int)sum->waiting, fresh);
#else
            switch (sum->waiting) {
            DMLCY_PASS(1)
            DMLCY_PASS(2)
            DMLCY_PASS(3)
            DMLCY_PASS(4)
            DMLCY_PASS(5)
            DMLCY_PASS(6)
            DMLCY_PASS(7)
            DMLCY_PASS(8)
            }
#endif
        }
    }
}

#if DMLCY_NEAR
/* Combines neighbours in a row: two for each element of the target, or three. The last of three is the first of the
 * next ones. */
DMLCY_TARGET static void DMLCY_OWN(_near)(const void *args)
{
    const WindowSum *const sum = args;
    const DMLCY_ACC *const row = sum->row[0];
    DMLCY_ACC *const target = sum->target;
    const int64_t size = sum->size;
    int64_t i;
    if (sum->waiting == 2) {
        for (i = 0; i < size; i++) {
            const DMLCY_ACC first = row[2 * i], second = row[2 * i + 1];
            target[i] = DMLCY_TWO(first, second);
        }
        return;
    }
    for (i = 0; i < size; i++) {
        const DMLCY_ACC first = row[2 * i], second = row[2 * i + 1], third = row[2 * i + 2];
        const DMLCY_ACC two = DMLCY_TWO(first, second);
        target[i] = DMLCY_TWO(two, third);
    }
}
#endif

#if DMLCY_DIRECT
/* Combines three rows into each line of the target. The rows are one row further on for each line, and each row is
 * loaded once. */
DMLCY_TARGET static void DMLCY_OWN(_slide)(const void *args)
{
    const WindowSum *const sum = args;
    const int64_t line_step = sum->line_step, target_step = sum->target_step, lines = sum->lines, size = sum->size;
    const int64_t last = size - DMLCY_SIZE;
    int64_t i, line;
    for (i = 0; i < size; i += DMLCY_SIZE) {
        const int64_t at = i < last ? i : last;
        const DMLCY_ELEMENT *row = (const DMLCY_ELEMENT *)sum->row[0] + at;
        DMLCY_ACC *target = (DMLCY_ACC *)sum->target + at;
        DMLCY_BLOCK_OF first = DMLCY_ELEMENTS(row), second = DMLCY_ELEMENTS(row + line_step);
        row += 2 * line_step;
        for (line = 0; line < lines; line++) {
            const DMLCY_BLOCK_OF third = DMLCY_ELEMENTS(row);
            first = DMLCY_JOIN(first, second);
            DMLCY_PUT(target, DMLCY_JOIN(first, third));
            first = second;
            second = third;
            row += line_step;
            target += target_step;
        }
    }
}
#endif

#if DMLCY_FOLDS
/* The result of each of some rows: four blocks side by side, which are then combined. */
DMLCY_TARGET static void DMLCY_OWN(_fold)(const void *args)
{
    const WindowFold *const fold = args;
    const int64_t parts = 4 * DMLCY_SIZE < DMLCY_FOLDED ? 4 : DMLCY_FOLDED / DMLCY_SIZE, step = parts * DMLCY_SIZE;
    const int64_t last = fold->size - step;
    DMLCY_ACC each[DMLCY_SIZE];
    int64_t line, i, half;
    for (line = 0; line < fold->lines; line++) {
        const DMLCY_ELEMENT *const row = (const DMLCY_ELEMENT *)(fold->input + line * fold->line_step);
        DMLCY_BLOCK_OF a = DMLCY_ELEMENTS(row), b = DMLCY_ELEMENTS(row + DMLCY_SIZE), c = a, d = b;
        if (parts > 2) {
            c = DMLCY_ELEMENTS(row + 2 * DMLCY_SIZE);
            d = DMLCY_ELEMENTS(row + 3 * DMLCY_SIZE);
        }
        for (i = step; i < fold->size; i += step) {
            const DMLCY_ELEMENT *const from = row + (i < last ? i : last);
            a = DMLCY_JOIN(DMLCY_LATER(from), a);
            b = DMLCY_JOIN(DMLCY_LATER(from + DMLCY_SIZE), b);
            if (parts > 2) {
                c = DMLCY_JOIN(DMLCY_LATER(from + 2 * DMLCY_SIZE), c);
                d = DMLCY_JOIN(DMLCY_LATER(from + 3 * DMLCY_SIZE), d);
            }
        }
        a = DMLCY_JOIN(a, b);
        c = DMLCY_JOIN(c, d);
        DMLCY_PUT(each, DMLCY_JOIN(a, c));
        for (half = DMLCY_SIZE / 2; half > 0; half /= 2)
            for (i = 0; i < half; i++)
                each[i] = DMLCY_TWO(each[i], each[half + i]);
        ((DMLCY_ACC *)fold->results)[line] = each[0];
    }
}
#endif

#if DMLCY_DIRECT && !DMLCY_FOLDS
/* Combines the rows of a plane, block by block. A block of a short row has elements of the next row too, which are not
 * taken. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_OWN(_down)(const WindowFold *fold, const char *plane, DMLCY_ACC *sums)
{
    const int64_t rows = fold->rows, step = fold->row_step;
    const int64_t last = fold->size > DMLCY_SIZE ? fold->size - DMLCY_SIZE : 0;
    int64_t i, n;
    for (i = 0; i < fold->size; i += DMLCY_SIZE) {
        const int64_t at = i < last ? i : last;
        const char *row = plane + at * (int64_t)sizeof(DMLCY_ELEMENT);
        DMLCY_BLOCK_OF acc = DMLCY_ROWS_AT(row, 0);
        for (n = 3; n < rows; n += 2) {
            row += 2 * step;
            acc = DMLCY_JOIN(acc, DMLCY_ROWS_AT(row, 0));
        }
        if (n == rows)
            acc = DMLCY_JOIN(acc, DMLCY_ROW_AT(row + 2 * step, 0));
        DMLCY_PUT(sums + at, acc);
    }
}

/* The same for rows of many blocks, two rows after two rows. Processors fetch bytes early where they are read in their
 * order. So the first row, if it is long, comes into the cache before the second one is read beside it. The last block
 * overlaps the one before: it is not stored in between, for a load of what two stores have written waits for both. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_OWN(_along)(const WindowFold *fold, const char *plane, DMLCY_ACC *sums)
{
    const int64_t rows = fold->rows, step = fold->row_step, last = fold->size - DMLCY_SIZE;
    const int64_t bytes = fold->size * (int64_t)sizeof(DMLCY_ELEMENT);
    const int far = fold->far && bytes > DMLCY_NEAR_ROWS;
    const char *row = plane;
    DMLCY_BLOCK_OF end;
    int64_t i, n;
    if (far)
        dmlcy_touch(row, bytes);
    for (i = 0; i < last; i += DMLCY_SIZE)
        DMLCY_PUT(sums + i, DMLCY_ROWS_AT(row, i));
    end = DMLCY_ROWS_AT(row, last);
    n = 3;
    for (; !far && n + 2 < rows; n += 4) {      /* two pairs of rows: the sums are loaded and stored half as often */
        row += 2 * step;
        for (i = 0; i < last; i += DMLCY_SIZE)
            DMLCY_PUT(sums + i, DMLCY_PAIRS_AT(DMLCY_LOADED(sums + i), row, i));
        end = DMLCY_PAIRS_AT(end, row, last);
        row += 2 * step;
    }
    for (; n < rows; n += 2) {
        row += 2 * step;
        if (far)
            dmlcy_touch(row, bytes);
        for (i = 0; i < last; i += DMLCY_SIZE)
            DMLCY_PUT(sums + i, DMLCY_JOIN(DMLCY_LOADED(sums + i), DMLCY_ROWS_AT(row, i)));
        end = DMLCY_JOIN(end, DMLCY_ROWS_AT(row, last));
    }
    if (n == rows) {
        row += 2 * step;
        for (i = 0; i < last; i += DMLCY_SIZE)
            DMLCY_PUT(sums + i, DMLCY_JOIN(DMLCY_LOADED(sums + i), DMLCY_ROW_AT(row, i)));
        end = DMLCY_JOIN(end, DMLCY_ROW_AT(row, last));
    }
    DMLCY_PUT(sums + last, end);
}

/* The result of each of some planes: rows are combined, then the columns. */
DMLCY_TARGET static void DMLCY_OWN(_fold)(const void *args)
{
    const WindowFold *const fold = args;
    const int64_t size = fold->size;
    const int64_t most_down = fold->far ? DMLCY_MOST_DOWN / 2 : DMLCY_MOST_DOWN;
    const int apart = fold->line_step < fold->rows * fold->row_step;
    union {
        DMLCY_BLOCK_OF aligned;
        DMLCY_ACC acc[DMLCY_MOST_FOLDED];
    } room;
    DMLCY_ACC *const sums = room.acc;
    int64_t line, i;
    for (line = 0; line < fold->lines; line++) {
        const char *const plane = fold->input + line * fold->line_step;
        DMLCY_ACC result;
        if (size > most_down)
            DMLCY_OWN(_along)(fold, plane, sums);
        else if (size < DMLCY_SIZE && (apart || line + 1 == fold->lines))   /* perhaps no row follows the last one */
            DMLCY_NAMED(DMLCY_ROWS, _plane)(fold, plane, sums);
        else
            DMLCY_OWN(_down)(fold, plane, sums);
        result = DMLCY_TWO(sums[0], sums[1]);
        for (i = 3; i < size; i += 2) {
            const DMLCY_ACC two = DMLCY_TWO(sums[i - 1], sums[i]);
            result = DMLCY_TWO(result, two);
        }
        if (i == size)
            result = DMLCY_TWO(result, sums[i - 1]);
        ((DMLCY_ACC *)fold->results)[line] = result;
    }
}
#endif

#undef DMLCY_COMPACT
#undef DMLCY_OWN
#undef DMLCY_ROW_AT
#undef DMLCY_ROWS_AT
#undef DMLCY_PAIRS_AT
#undef DMLCY_ELEMENTS
#undef DMLCY_LOAD_BLOCK
#undef DMLCY_LATER
#undef DMLCY_PAIR
#undef DMLCY_COMBINED
#undef DMLCY_ROW
#undef DMLCY_PASS
