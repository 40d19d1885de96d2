/* One sweep of norm_rows.h for one level: DMLCY_SWEEP_NUMBER. */
#include "named.h"
#define DMLCY_OF_SWEEP(name) DMLCY_NAMED(name, DMLCY_SWEEP_NUMBER)
#define DMLCY_ACCS_HERE DMLCY_OF_SWEEP(DMLCY_ACCS_)
#define DMLCY_ROWS_HERE DMLCY_OF_SWEEP(DMLCY_ROWS_)
/* Sums are tried in floats, unless exponentials make them of floats anyway. */
#define DMLCY_TRIES (DMLCY_OF_SWEEP(DMLCY_PARTS_) && !DMLCY_OF_SWEEP(DMLCY_EXPS_))

/* Whether the numbers were `ordinary`, if that was said. */
DMLCY_TARGET DMLCY_INLINE int DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _along_)))(
    const NormRows *rows, int64_t line, double *s, int fresh, const int ordinary)
{
    const double count = rows->count;
    const int64_t step = 1;
    int64_t end = rows->n & -(int64_t)DMLCY_NORM_LANES, i;
    const int rest = (int)(rows->n - end);
    const int in_parts = DMLCY_OF_SWEEP(DMLCY_EXPS_) || ordinary;
    const int64_t together = DMLCY_NORM_PARTS * DMLCY_NORM_LANES;
    double start = (double)rows->first;
    int j, last = 0;
    DMLCY_ROWS_HERE(DMLCY_NORM_ROW)
    DMLCY_OF_SWEEP(DMLCY_ATTRIBUTES_)
    DMLCY_OF_SWEEP(DMLCY_LINES_)(DMLCY_NORM_LINE)
#if DMLCY_TRIES
    DMLCY_OF_SWEEP(DMLCY_QUICK_)(DMLCY_NORM_LINE)
    if (ordinary && !(DMLCY_OF_SWEEP(DMLCY_CHECKS_)))
        return 0;
#endif
    DMLCY_ACCS_HERE(DMLCY_NORM_BEGIN)
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
    float pad[DMLCY_NORM_LANES];
    float *const kept = rows->rows[DMLCY_SAVED_ROW] + line * rows->steps[DMLCY_SAVED_ROW];
    float *target = rows->saved ? kept : pad;
    int64_t pace = rows->saved ? 1 : 0;
#endif
    (void)count, (void)start, (void)step, (void)ordinary, (void)in_parts;
    for (;;) {
        for (i = 0; i < end;) {
            const int64_t stop = end - i < together ? end : i + together;
            DMLCY_ACCS_HERE(DMLCY_NORM_PART)
            for (; i < stop; i += DMLCY_NORM_LANES) {
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
                float some[DMLCY_NORM_LANES];
#endif
                DMLCY_EACH_LANE(j) {
                    const double at = start + (double)j;
                    DMLCY_ROWS_HERE(DMLCY_NORM_NUMBER)
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
                    const float saved = DMLCY_SAVED;
                    some[j] = saved;
#endif
                    (void)at;
                    DMLCY_ACCS_HERE(DMLCY_NORM_STEP)
                }
                start += DMLCY_NORM_LANES;
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
                memcpy(target + i * pace, some, sizeof some);
#endif
            }
            DMLCY_ACCS_HERE(DMLCY_NORM_FLUSH)
        }
        if (last || rest == 0)
            break;
        DMLCY_ROWS_HERE(DMLCY_NORM_PAD)
        DMLCY_ACCS_HERE(DMLCY_NORM_KEEP)
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
        target = pad;
        pace = 0;
#endif
        end = DMLCY_NORM_LANES;
        last = 1;
    }
    if (last) {
        DMLCY_ACCS_HERE(DMLCY_NORM_BACK)
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
        if (rows->saved)
            memcpy(kept + rows->n - rest, pad, (size_t)rest * sizeof(float));
#endif
    }
    DMLCY_ACCS_HERE(DMLCY_NORM_HALVE)
#if DMLCY_TRIES
    if (ordinary && !(1 DMLCY_ACCS_HERE(DMLCY_NORM_GOOD)))
        return 0;
#endif
    DMLCY_ACCS_HERE(DMLCY_NORM_END)
    return 1;
}

DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _sweep_)))(
    const NormRows *rows, int64_t line, double *s, int fresh)
{
#if DMLCY_OF_SWEEP(DMLCY_EXPS_)
    if (s[DMLCY_LARGEST] <= DMLCY_EXP_LESS_ORDINARY) {
        DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _along_)))(rows, line, s, fresh, 1);
        return;
    }
#elif DMLCY_TRIES
    if (DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _along_)))(rows, line, s, fresh, 1))
        return;
    DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _exact_))(rows, line, s, fresh);
    return;
#endif
    DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _along_)))(rows, line, s, fresh, 0);
}

/* The same of lines side by side. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _across_)))(
    const NormRows *rows, double *states, const int all, int *good)
{
    const double count = rows->count;
    const int64_t step = DMLCY_NORM_LANES, used = rows->n < DMLCY_NORM_LANES ? rows->n : DMLCY_NORM_LANES;
    const int64_t full = rows->n & -(int64_t)DMLCY_NORM_LANES;
    const int in_parts = DMLCY_OF_SWEEP(DMLCY_EXPS_) || all;
    /* Lanes have one part each. */
    const int64_t together = DMLCY_NORM_PARTS * DMLCY_NORM_LANES;
    const int alone = rows->n <= DMLCY_NORM_LANES || (full == rows->n && full <= together);
    double *s;
    int64_t i, line, row;
    int half, j;
#if DMLCY_OF_SWEEP(DMLCY_EXPS_)
    int usual[DMLCY_NORM_LANES];
    DMLCY_EACH_LANE(j)
        usual[j] = states[DMLCY_LARGEST * DMLCY_NORM_LANES + j] <= DMLCY_EXP_LESS_ORDINARY;
#endif
    DMLCY_OF_SWEEP(DMLCY_ATTRIBUTES_)
    DMLCY_OF_SWEEP(DMLCY_LINES_)(DMLCY_NORM_ARRAY)
#if DMLCY_TRIES
    DMLCY_OF_SWEEP(DMLCY_QUICK_)(DMLCY_NORM_ARRAY)
#endif
    DMLCY_ROWS_HERE(DMLCY_NORM_SIDES)
    DMLCY_ACCS_HERE(DMLCY_NORM_GROUPS)
    (void)count, (void)step, (void)s, (void)all, (void)good, (void)full, (void)row, (void)in_parts,
        (void)alone, (void)half, (void)used, (void)together;
    for (line = 0; line < DMLCY_NORM_LANES; line++) {
        s = states + line;
        DMLCY_OF_SWEEP(DMLCY_LINES_)(DMLCY_NORM_COMPUTE)
#if DMLCY_TRIES
        DMLCY_OF_SWEEP(DMLCY_QUICK_)(DMLCY_NORM_COMPUTE)
        good[line] = DMLCY_OF_SWEEP(DMLCY_CHECKS_);
#endif
    }
    for (i = 0; i < rows->n; i++) {
        const int64_t group = i % DMLCY_NORM_LANES;
        const double at = (double)i;
        (void)group;
        DMLCY_ROWS_HERE(DMLCY_NORM_SIDE)
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
        float some[DMLCY_NORM_LANES];
#endif
        (void)at;
        DMLCY_EACH_LANE(j) {
#if DMLCY_OF_SWEEP(DMLCY_EXPS_)
            const int ordinary = all | usual[j];
#endif
            DMLCY_OF_SWEEP(DMLCY_LINES_)(DMLCY_NORM_OF_LINE)
#if DMLCY_TRIES
            DMLCY_OF_SWEEP(DMLCY_QUICK_)(DMLCY_NORM_OF_LINE)
#endif
            DMLCY_ROWS_HERE(DMLCY_NORM_SIDE_NUMBER)
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
            const float saved = DMLCY_SAVED;
            some[j] = saved;
#endif
            DMLCY_ACCS_HERE(DMLCY_NORM_SIDE_STEP)
        }
#if DMLCY_OF_SWEEP(DMLCY_SAVES_)
        memcpy(rows->rows[DMLCY_SAVED_ROW] + i * rows->across[DMLCY_SAVED_ROW], some, sizeof some);
#endif
        if (in_parts && !alone && (i + 1 == rows->n || i + 1 == full || (i + 1) % together == 0)) {
            DMLCY_ACCS_HERE(DMLCY_NORM_SIDE_FLUSH)
        }
    }
    s = states;
    DMLCY_ACCS_HERE(DMLCY_NORM_SIDE_END)
#if DMLCY_TRIES
    DMLCY_ACCS_HERE(DMLCY_NORM_SIDE_GOOD)
#endif
}

DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _side_)))(
    const NormRows *rows, double *states)
{
#if DMLCY_OF_SWEEP(DMLCY_EXPS_)
    int j, all = 1;
    DMLCY_EACH_LANE(j)
        all &= states[DMLCY_LARGEST * DMLCY_NORM_LANES + j] <= DMLCY_EXP_LESS_ORDINARY;
    if (all) {
        DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _across_)))(rows, states, 1, NULL);
        return;
    }
    DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _across_)))(rows, states, 0, NULL);
#elif DMLCY_TRIES
    double again[DMLCY_STATES * DMLCY_NORM_LANES];
    int good[DMLCY_NORM_LANES], none[DMLCY_NORM_LANES], all = 1, line;
    DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _across_)))(rows, states, 1, good);
    for (line = 0; line < DMLCY_NORM_LANES; line++)
        all &= good[line];
    if (all)
        return;
    memcpy(again, states, sizeof again);
    DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _exact_side_))(rows, again, none);
    DMLCY_ACCS_HERE(DMLCY_NORM_AGAIN)
#else
    DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _across_)))(rows, states, 0, NULL);
#endif
}

#if DMLCY_TRIES && !DMLCY_IS_WIDE
/* In double, the bits are the same at all levels; lines are seldom so. */
static void DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _exact_))(const NormRows *rows, int64_t line, double *s, int fresh)
{
    DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _along_)))(rows, line, s, fresh, 0);
}

static void DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _exact_side_))(const NormRows *rows, double *states, int *good)
{
    DMLCY_LEVEL(DMLCY_OF_SWEEP(DMLCY_NAMED(DMLCY_NORM, _across_)))(rows, states, 0, good);
}
#endif

#undef DMLCY_TRIES
#undef DMLCY_ACCS_HERE
#undef DMLCY_ROWS_HERE
#undef DMLCY_OF_SWEEP
#undef DMLCY_SWEEP_NUMBER
