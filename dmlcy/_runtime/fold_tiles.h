/* The loops of fold_rows.h for one level. Loops over columns are functions of their own: the compiler would take
 * several rounds of the loop over rows at once, and columns one by one. */
DMLCY_TARGET DMLCY_INLINE DMLCY_ACC DMLCY_AT(_step)(DMLCY_NUMBER element, float top, int64_t flip)
{
    const DMLCY_WORK x = (DMLCY_WORK)element;
    (void)top, (void)flip;
    return DMLCY_STEP;
}

#if DMLCY_TURNED
/* The numbers of a row in lanes, joined until DMLCY_FOLD_PARTS are left. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_AT(_row)(
    const DMLCY_NUMBER *x, int64_t n, float top, int64_t flip, DMLCY_ACC *parts)
{
    DMLCY_ACC lanes[DMLCY_FOLD_LANES];
    const int64_t whole = n & -(int64_t)DMLCY_FOLD_LANES;
    int64_t i;
    int j;
#if DMLCY_COMMON
    dmlcy_ask_ahead(x, DMLCY_FOLD_AHEAD, DMLCY_FOLD_LANES * (int64_t)sizeof(DMLCY_NUMBER));
#endif
    if (whole) {
        DMLCY_ROLLED
        for (j = 0; j < DMLCY_FOLD_LANES; j++)
            lanes[j] = DMLCY_AT(_step)(x[j], top, flip);
    } else
        for (j = 0; j < DMLCY_FOLD_LANES; j++)
            lanes[j] = DMLCY_NONE;
    for (i = DMLCY_FOLD_LANES; i < whole; i += DMLCY_FOLD_LANES) {
#if DMLCY_COMMON
        dmlcy_ask_ahead(x + i, DMLCY_FOLD_AHEAD, DMLCY_FOLD_LANES * (int64_t)sizeof(DMLCY_NUMBER));
#endif
        DMLCY_ROLLED
        for (j = 0; j < DMLCY_FOLD_LANES; j++)
            lanes[j] = DMLCY_TWO(lanes[j], DMLCY_AT(_step)(x[i + j], top, flip));
    }
    if (n > whole) {
        DMLCY_NUMBER rest[DMLCY_FOLD_LANES] = {0};
        memcpy(rest, x + whole, (size_t)(n - whole) * sizeof rest[0]);
        DMLCY_ROLLED
        for (j = 0; j < DMLCY_FOLD_LANES; j++) {
            const DMLCY_ACC more = DMLCY_TWO(lanes[j], DMLCY_AT(_step)(rest[j], top, flip));
            lanes[j] = j < n - whole ? more : lanes[j];
        }
    }
    DMLCY_ROLLED
    for (j = 0; j < 2 * DMLCY_FOLD_PARTS; j++)
        lanes[j] = DMLCY_TWO(lanes[j], lanes[j + 2 * DMLCY_FOLD_PARTS]);
    for (j = 0; j < DMLCY_FOLD_PARTS; j++)
        parts[j] = DMLCY_TWO(lanes[j], lanes[j + DMLCY_FOLD_PARTS]);
}

#if !DMLCY_COMMON
#define DMLCY_FOUR(a, at) DMLCY_TWO(DMLCY_TWO((a)[at], (a)[at + 4]), DMLCY_TWO((a)[at + 2], (a)[at + 6]))
#endif

DMLCY_TARGET DMLCY_INLINE void DMLCY_AT(_rows)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, DMLCY_ACC *result)
{
    DMLCY_ACC parts[DMLCY_FOLD_ROWS][DMLCY_FOLD_PARTS], some[DMLCY_FOLD_ROWS], *to;
    const float *const tops = args->tops;
    const int64_t flip = args->flip;
    int64_t begin, i;
    (void)tops;
    for (begin = 0; begin < count; begin += DMLCY_FOLD_ROWS) {
        const int64_t left = count - begin < DMLCY_FOLD_ROWS ? count - begin : DMLCY_FOLD_ROWS;
        for (i = 0; i < left; i++)
            DMLCY_AT(_row)(rows[begin + i], n, DMLCY_TOP(begin + i), flip, parts[i]);
        for (; i < DMLCY_FOLD_ROWS; i++)
            memcpy(parts[i], parts[0], sizeof parts[0]);
        to = left == DMLCY_FOLD_ROWS ? result + begin : some;
#if DMLCY_COMMON
        DMLCY_LEVEL(dmlcy_join_parts)(parts, to);
#else
        for (i = 0; i < DMLCY_FOLD_ROWS; i++)
            to[i] = DMLCY_TWO(DMLCY_NONE, DMLCY_TWO(DMLCY_FOUR(parts[i], 0), DMLCY_FOUR(parts[i], 1)));
#endif
        if (left < DMLCY_FOLD_ROWS)
            memcpy(result + begin, some, (size_t)left * sizeof(DMLCY_ACC));
    }
}

#undef DMLCY_FOUR
#else
DMLCY_TARGET DMLCY_INLINE void DMLCY_AT(_rows)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, DMLCY_ACC *result)
{
    const int64_t flip = args->flip;
    int64_t row, i;
    for (row = 0; row < count; row++) {
        const DMLCY_NUMBER *const x = rows[row];
        DMLCY_ACC acc = DMLCY_NONE;
        int64_t begin = 0;
        for (; begin + DMLCY_FOLD_BLOCK <= n; begin += DMLCY_FOLD_BLOCK) {
            dmlcy_ask_ahead(x + begin, DMLCY_FOLD_AHEAD, DMLCY_FOLD_BLOCK * (int64_t)sizeof(DMLCY_NUMBER));
            DMLCY_ROLLED
            for (i = 0; i < DMLCY_FOLD_BLOCK; i++)
                acc = DMLCY_TWO(acc, DMLCY_AT(_step)(x[begin + i], 0.0f, flip));
        }
#if DMLCY_COMMON
        dmlcy_ask_ahead(x + begin, DMLCY_FOLD_AHEAD, (n - begin) * (int64_t)sizeof(DMLCY_NUMBER));
#endif
        DMLCY_ROLLED
        for (i = begin; i < n; i++)
            acc = DMLCY_TWO(acc, DMLCY_AT(_step)(x[i], 0.0f, flip));
        result[row] = acc;
    }
}
#endif

DMLCY_TARGET static void DMLCY_AT(_along)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, void *results)
{
#if DMLCY_COMMON && DMLCY_IS_WIDE
    if (n == DMLCY_FOLD_LANES) {
        DMLCY_AT(_rows)(rows, count, DMLCY_FOLD_LANES, args, results);
        return;
    }
    if (n == 2 * DMLCY_FOLD_LANES) {
        DMLCY_AT(_rows)(rows, count, 2 * DMLCY_FOLD_LANES, args, results);
        return;
    }
#endif
    DMLCY_AT(_rows)(rows, count, n, args, results);
}

DMLCY_TARGET DMLCY_APART void DMLCY_AT(_next)(
    const DMLCY_NUMBER *DMLCY_RESTRICT x, int64_t n, const float *DMLCY_RESTRICT tops, int64_t flip,
    DMLCY_ACC *DMLCY_RESTRICT lane)
{
    int64_t i;
    (void)tops;
    for (i = 0; i < n; i++)
        lane[i] = DMLCY_TWO(lane[i], DMLCY_AT(_step)(x[i], DMLCY_TOP(i), flip));
}

#if DMLCY_TURNED
DMLCY_TARGET DMLCY_APART void DMLCY_AT(_first)(
    const DMLCY_NUMBER *DMLCY_RESTRICT x, int64_t n, const float *DMLCY_RESTRICT tops, int64_t flip,
    DMLCY_ACC *DMLCY_RESTRICT lane)
{
    int64_t i;
    (void)tops;
    for (i = 0; i < n; i++)
        lane[i] = DMLCY_AT(_step)(x[i], DMLCY_TOP(i), flip);
}

DMLCY_TARGET DMLCY_APART void DMLCY_AT(_lanes)(
    DMLCY_ACC *DMLCY_RESTRICT to, const DMLCY_ACC *DMLCY_RESTRICT of, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        to[i] = DMLCY_TWO(to[i], of[i]);
}

#if DMLCY_COMMON && DMLCY_IS_WIDE
#define DMLCY_ELEMENT_OF(row) DMLCY_AT(_step)(((const DMLCY_NUMBER *)rows[row])[i], 0.0f, flip)
#define DMLCY_OF_2(row) DMLCY_TWO(DMLCY_ELEMENT_OF(row), DMLCY_ELEMENT_OF(row + 16))
#define DMLCY_OF_4(row) DMLCY_TWO(DMLCY_OF_2(row), DMLCY_OF_2(row + 8))
#define DMLCY_OF_8(row) DMLCY_TWO(DMLCY_OF_4(row), DMLCY_OF_4(row + 4))
#define DMLCY_OF_16(row) DMLCY_TWO(DMLCY_OF_8(row), DMLCY_OF_8(row + 2))

/* Lines of as many elements as there are lanes. */
DMLCY_TARGET DMLCY_APART void DMLCY_AT(_at_once)(
    const void *const *rows, int64_t n, int64_t flip, DMLCY_ACC *DMLCY_RESTRICT result)
{
    int64_t i;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++)
        result[i] = DMLCY_TWO(DMLCY_NONE, DMLCY_TWO(DMLCY_OF_16(0), DMLCY_OF_16(1)));
}

#undef DMLCY_ELEMENT_OF
#undef DMLCY_OF_2
#undef DMLCY_OF_4
#undef DMLCY_OF_8
#undef DMLCY_OF_16
#endif

DMLCY_TARGET static void DMLCY_AT(_turned)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, void *results)
{
    DMLCY_ACC *const lanes = args->room, *const result = results;
    int64_t row, i, size = DMLCY_FOLD_LANES;
#if DMLCY_COMMON && DMLCY_IS_WIDE
    if (count == DMLCY_FOLD_LANES && args->begins && args->ends) {
        DMLCY_AT(_at_once)(rows, n, args->flip, result);
        return;
    }
#endif
    for (row = 0; row < count; row++) {
        const int64_t number = args->first + row;
        DMLCY_ACC *const lane = lanes + number % DMLCY_FOLD_LANES * n;
        if (number < DMLCY_FOLD_LANES)
            DMLCY_AT(_first)(rows[row], n, args->tops, args->flip, lane);
        else
            DMLCY_AT(_next)(rows[row], n, args->tops, args->flip, lane);
    }
    if (!args->ends)
        return;
    while (size / 2 >= args->first + count)
        size /= 2;
    for (i = (args->first + count) * n; i < size * n; i++)
        lanes[i] = DMLCY_NONE;
    for (size /= 2; size > 0; size /= 2)
        DMLCY_AT(_lanes)(lanes, lanes + size * n, size * n);
    for (i = 0; i < n; i++)
        result[i] = DMLCY_TWO(DMLCY_NONE, lanes[i]);
}
#endif

#define DMLCY_OF(row) DMLCY_AT(_step)(x##row[i], top, flip)
DMLCY_TARGET DMLCY_APART void DMLCY_AT(_group)(
    const void *const *rows, int64_t n, const float *DMLCY_RESTRICT tops, int64_t flip, int fresh,
    DMLCY_ACC *DMLCY_RESTRICT acc)
{
    const DMLCY_NUMBER *DMLCY_RESTRICT const x0 = rows[0], *DMLCY_RESTRICT const x1 = rows[1];
    const DMLCY_NUMBER *DMLCY_RESTRICT const x2 = rows[2], *DMLCY_RESTRICT const x3 = rows[3];
    const DMLCY_NUMBER *DMLCY_RESTRICT const x4 = rows[4], *DMLCY_RESTRICT const x5 = rows[5];
    const DMLCY_NUMBER *DMLCY_RESTRICT const x6 = rows[6], *DMLCY_RESTRICT const x7 = rows[7];
    int64_t i;
    (void)tops;
    for (i = 0; i < n; i++) {
        const float top = DMLCY_TOP(i);
        const DMLCY_ACC near = DMLCY_TWO(DMLCY_TWO(DMLCY_OF(0), DMLCY_OF(1)), DMLCY_TWO(DMLCY_OF(2), DMLCY_OF(3)));
        const DMLCY_ACC far = DMLCY_TWO(DMLCY_TWO(DMLCY_OF(4), DMLCY_OF(5)), DMLCY_TWO(DMLCY_OF(6), DMLCY_OF(7)));
        acc[i] = DMLCY_TWO(fresh ? DMLCY_NONE : acc[i], DMLCY_TWO(near, far));
    }
}

DMLCY_TARGET DMLCY_APART void DMLCY_AT(_half_group)(
    const void *const *rows, int64_t n, const float *DMLCY_RESTRICT tops, int64_t flip, int fresh,
    DMLCY_ACC *DMLCY_RESTRICT acc)
{
    const DMLCY_NUMBER *DMLCY_RESTRICT const x0 = rows[0], *DMLCY_RESTRICT const x1 = rows[1];
    const DMLCY_NUMBER *DMLCY_RESTRICT const x2 = rows[2], *DMLCY_RESTRICT const x3 = rows[3];
    int64_t i;
    (void)tops;
    for (i = 0; i < n; i++) {
        const float top = DMLCY_TOP(i);
        const DMLCY_ACC near = DMLCY_TWO(DMLCY_TWO(DMLCY_OF(0), DMLCY_OF(1)), DMLCY_TWO(DMLCY_OF(2), DMLCY_OF(3)));
        acc[i] = DMLCY_TWO(fresh ? DMLCY_NONE : acc[i], near);
    }
}

#undef DMLCY_OF

DMLCY_TARGET static void DMLCY_AT(_across)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, void *results)
{
    DMLCY_ACC *const acc = results;
    int64_t row, i;
    if (args->begins && count < DMLCY_FOLD_GROUP / 2)
        for (i = 0; i < n; i++)
            acc[i] = DMLCY_NONE;
    for (row = 0; row + DMLCY_FOLD_GROUP <= count; row += DMLCY_FOLD_GROUP)
        DMLCY_AT(_group)(rows + row, n, args->tops, args->flip, args->begins && row == 0, acc);
    for (; row + DMLCY_FOLD_GROUP / 2 <= count; row += DMLCY_FOLD_GROUP / 2)
        DMLCY_AT(_half_group)(rows + row, n, args->tops, args->flip, args->begins && row == 0, acc);
    for (; row < count; row++)
        DMLCY_AT(_next)(rows[row], n, args->tops, args->flip, acc);
}

#if DMLCY_TURNED
#if DMLCY_COMMON
#define DMLCY_JOIN_NEAR DMLCY_LEVEL(dmlcy_join_near)
#else
#define DMLCY_JOIN_NEAR DMLCY_AT(_near)
DMLCY_TARGET DMLCY_INLINE void DMLCY_AT(_near)(DMLCY_ACC (*parts)[DMLCY_FOLD_PARTS], DMLCY_ACC *sums)
{
    int row;
    for (row = 0; row < DMLCY_FOLD_ROWS; row++) {
        const DMLCY_ACC *const x = parts[row];
        const DMLCY_ACC near = DMLCY_TWO(DMLCY_TWO(x[0], x[1]), DMLCY_TWO(x[2], x[3]));
        sums[row] = DMLCY_TWO(near, DMLCY_TWO(DMLCY_TWO(x[4], x[5]), DMLCY_TWO(x[6], x[7])));
    }
}
#endif

DMLCY_TARGET static void DMLCY_AT(_upright)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, void *results)
{
    DMLCY_ACC *const result = results;
    const float *const tops = args->tops;
    const int64_t flip = args->flip, whole = n & -(int64_t)DMLCY_FOLD_GROUP;
    int64_t begin, at, i;
    int j;
    (void)tops;
    for (begin = 0; begin < count; begin += DMLCY_FOLD_ROWS) {
        const int64_t left = count - begin < DMLCY_FOLD_ROWS ? count - begin : DMLCY_FOLD_ROWS;
        const DMLCY_NUMBER *x[DMLCY_FOLD_ROWS];
        DMLCY_ACC parts[DMLCY_FOLD_ROWS][DMLCY_FOLD_PARTS], some[DMLCY_FOLD_ROWS], acc[DMLCY_FOLD_ROWS];
        float top[DMLCY_FOLD_ROWS];
        for (i = 0; i < DMLCY_FOLD_ROWS; i++) {
            const int64_t row = begin + (i < left ? i : 0);
            x[i] = rows[row];
            top[i] = DMLCY_TOP(row);
            acc[i] = DMLCY_NONE;
        }
        for (at = 0; at < whole; at += DMLCY_FOLD_GROUP) {
            for (i = 0; i < DMLCY_FOLD_ROWS; i++)
                for (j = 0; j < DMLCY_FOLD_PARTS; j++)
                    parts[i][j] = DMLCY_AT(_step)(x[i][at + j], top[i], flip);
            DMLCY_JOIN_NEAR(parts, some);
            for (i = 0; i < DMLCY_FOLD_ROWS; i++)
                acc[i] = DMLCY_TWO(acc[i], some[i]);
        }
        for (i = 0; i < left; i++) {
            at = whole;
            if (at + DMLCY_FOLD_GROUP / 2 <= n) {
                for (j = 0; j < DMLCY_FOLD_GROUP / 2; j++)
                    parts[0][j] = DMLCY_AT(_step)(x[i][at + j], top[i], flip);
                acc[i] = DMLCY_TWO(
                    acc[i], DMLCY_TWO(DMLCY_TWO(parts[0][0], parts[0][1]), DMLCY_TWO(parts[0][2], parts[0][3])));
                at += DMLCY_FOLD_GROUP / 2;
            }
            for (; at < n; at++)
                acc[i] = DMLCY_TWO(acc[i], DMLCY_AT(_step)(x[i][at], top[i], flip));
            result[begin + i] = acc[i];
        }
    }
}

#undef DMLCY_JOIN_NEAR
#endif
