/* The loops of place_rows.h for one level. */
DMLCY_TARGET DMLCY_INLINE DMLCY_NUMBER DMLCY_AT(_key)(DMLCY_NUMBER x, DMLCY_NUMBER flip)
{
    return DMLCY_KEY;
}

/* The place of a key in a row that has it. */
DMLCY_TARGET DMLCY_INLINE int64_t DMLCY_AT(_find)(
    const DMLCY_NUMBER *x, int64_t n, DMLCY_NUMBER flip, DMLCY_NUMBER key, int last)
{
    int64_t begin;
    for (begin = 0; begin < n; begin += DMLCY_NEAR_PLACES) {
        const DMLCY_NUMBER size = (DMLCY_NUMBER)(n - begin < DMLCY_NEAR_PLACES ? n - begin : DMLCY_NEAR_PLACES);
        const DMLCY_NUMBER *const near = last ? x + n - begin - size : x + begin;
        DMLCY_NUMBER first = size, final = -1, i;
        DMLCY_ROLLED
        for (i = 0; i < size; i++) {
            const DMLCY_NUMBER other = -(DMLCY_NUMBER)(DMLCY_AT(_key)(near[i], flip) != key);
            const DMLCY_NUMBER early = (i & ~other) | (size & other), late = i | other;
            first = early < first ? early : first;
            final = late > final ? late : final;
        }
        if (final >= 0)
            return near - x + (last ? final : first);
    }
    return 0;
}

DMLCY_TARGET DMLCY_INLINE void DMLCY_AT(_rows)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, fold_place_t *result)
{
    const DMLCY_NUMBER flip = (DMLCY_NUMBER)args->flip;
    int64_t row, i;
    for (row = 0; row < count; row++) {
        const DMLCY_NUMBER *const x = rows[row];
        DMLCY_NUMBER best = DMLCY_AT(_key)(x[0], flip);
        DMLCY_ROLLED
        for (i = 0; i < n; i++) {
            const DMLCY_NUMBER key = DMLCY_AT(_key)(x[i], flip);
            best = key > best ? key : best;
        }
        result[row].key = best;
        result[row].number = args->base + DMLCY_AT(_find)(x, n, flip, best, args->last);
    }
}

DMLCY_TARGET static void DMLCY_AT(_along)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, void *results)
{
#if DMLCY_COMMON && DMLCY_IS_WIDE
    if (n == 32) {
        DMLCY_AT(_rows)(rows, count, 32, args, results);
        return;
    }
    if (n == 64) {
        DMLCY_AT(_rows)(rows, count, 64, args, results);
        return;
    }
#endif
    DMLCY_AT(_rows)(rows, count, n, args, results);
}

#define DMLCY_SEE(row, better)                                                      \
    {                                                                               \
        const DMLCY_NUMBER key = DMLCY_AT(_key)(x##row[i], flip);                   \
        place = key better most ? first + row : place;                              \
        most = key better most ? key : most;                                        \
    }
#define DMLCY_SEEN(better)                                                          \
    for (i = 0; i < n; i++) {                                                       \
        DMLCY_NUMBER most = best[i], place = at[i];                                 \
        DMLCY_SEE(0, better)                                                        \
        DMLCY_SEE(1, better)                                                        \
        DMLCY_SEE(2, better)                                                        \
        DMLCY_SEE(3, better)                                                        \
        best[i] = most;                                                             \
        at[i] = place;                                                              \
    }

/* Four rows, from the number `first` on. */
DMLCY_TARGET DMLCY_APART void DMLCY_AT(_group)(
    const void *const *rows, int64_t n, DMLCY_NUMBER flip, int last, DMLCY_NUMBER first,
    DMLCY_NUMBER *DMLCY_RESTRICT best, DMLCY_NUMBER *DMLCY_RESTRICT at)
{
    const DMLCY_NUMBER *DMLCY_RESTRICT const x0 = rows[0], *DMLCY_RESTRICT const x1 = rows[1];
    const DMLCY_NUMBER *DMLCY_RESTRICT const x2 = rows[2], *DMLCY_RESTRICT const x3 = rows[3];
    int64_t i;
    if (last)
        DMLCY_SEEN(>=)
    else
        DMLCY_SEEN(>)
}

#undef DMLCY_SEE
#undef DMLCY_SEEN

DMLCY_TARGET DMLCY_APART void DMLCY_AT(_one)(
    const DMLCY_NUMBER *DMLCY_RESTRICT x, int64_t n, DMLCY_NUMBER flip, int last, DMLCY_NUMBER number,
    DMLCY_NUMBER *DMLCY_RESTRICT best, DMLCY_NUMBER *DMLCY_RESTRICT at)
{
    int64_t i;
    for (i = 0; i < n; i++) {
        const DMLCY_NUMBER key = DMLCY_AT(_key)(x[i], flip);
        const int better = (key > best[i]) | (last & (key == best[i]));
        best[i] = better ? key : best[i];
        at[i] = better ? number : at[i];
    }
}

DMLCY_TARGET static void DMLCY_AT(_across)(
    const void *const *rows, int64_t count, int64_t n, const FoldArgs *args, void *results)
{
    const DMLCY_NUMBER flip = (DMLCY_NUMBER)args->flip;
    DMLCY_NUMBER *const best = args->room, *const at = best + n;
    fold_place_t *const result = results;
    int64_t row = 0, i;
    if (args->begins) {
        const DMLCY_NUMBER *const x = rows[0];
        for (i = 0; i < n; i++) {
            best[i] = DMLCY_AT(_key)(x[i], flip);
            at[i] = 0;
        }
        row = 1;
    }
    for (; row + 4 <= count; row += 4)
        DMLCY_AT(_group)(rows + row, n, flip, args->last, (DMLCY_NUMBER)(args->first + row), best, at);
    for (; row < count; row++)
        DMLCY_AT(_one)(rows[row], n, flip, args->last, (DMLCY_NUMBER)(args->first + row), best, at);
    if (args->ends)
        for (i = 0; i < n; i++) {
            result[i].key = best[i];
            result[i].number = args->base + at[i];
        }
}
