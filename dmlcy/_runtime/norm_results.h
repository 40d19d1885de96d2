/* The results of norm_rows.h for one level, and for each element. DMLCY_FROM_SAVED: they are made of what a sweep has
 * written.
 */
#define DMLCY_QUICK_HERE (DMLCY_HAS_QUICK && !DMLCY_FROM_SAVED)
#define DMLCY_RESULTS_HERE DMLCY_NAMED(DMLCY_NAMED(DMLCY_NORM, _results_), DMLCY_FROM_SAVED)

DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_RESULTS_HERE)(const NormRows *rows, int64_t line, const double *s)
{
    const double count = rows->count;
    const int64_t step = 1;
    int64_t end = rows->n & -(int64_t)DMLCY_NORM_LANES, i;
    const int rest = (int)(rows->n - end);
    double start = (double)rows->first;
    int j, last = 0;
    DMLCY_ROWS(DMLCY_NORM_ROW)
#if DMLCY_EXPS
    const int ordinary = s[DMLCY_LARGEST] <= DMLCY_EXP_LESS_ORDINARY;
#endif
    DMLCY_ATTRIBUTES
    DMLCY_LINES(DMLCY_NORM_LINE)
#if DMLCY_QUICK_HERE
    DMLCY_QUICK(DMLCY_NORM_LINE)
    const int is_quick = DMLCY_CHECKS;
#endif
    DMLCY_RESULTS(DMLCY_NORM_TARGET)
#if DMLCY_FROM_SAVED
    const float *kept = rows->rows[DMLCY_SAVED_ROW] + line * rows->steps[DMLCY_SAVED_ROW];
    float pad[DMLCY_NORM_LANES];
#endif
    (void)count, (void)start, (void)s, (void)step;
#if DMLCY_EXPS
    (void)ordinary;
#endif
    for (;;) {
        for (i = 0; i < end; i += DMLCY_NORM_LANES) {
            DMLCY_RESULTS(DMLCY_NORM_ROOM)
#if DMLCY_QUICK_HERE
            int far = 1;
            if (is_quick) {
                DMLCY_EACH_LANE(j) {
                    DMLCY_ROWS(DMLCY_NORM_NUMBER)
                    DMLCY_RESULTS(DMLCY_NORM_MAKE_QUICK)
                }
                far = 0 DMLCY_RESULTS(DMLCY_NORM_FAR);
            }
            for (j = 0; far && j < DMLCY_NORM_LANES; j++) {
                DMLCY_ROWS(DMLCY_NORM_NUMBER)
                DMLCY_RESULTS(DMLCY_NORM_MAKE_REST)
            }
#else
            DMLCY_EACH_LANE(j) {
                const double at = start + (double)j;
#if DMLCY_FROM_SAVED
                const float saved = kept[i + j];
#else
                DMLCY_ROWS(DMLCY_NORM_NUMBER)
#ifdef DMLCY_SAVED
                const float saved = DMLCY_SAVED;
#endif
#endif
                (void)at;
                DMLCY_RESULTS(DMLCY_NORM_MAKE)
            }
#endif
            start += DMLCY_NORM_LANES;
            DMLCY_RESULTS(DMLCY_NORM_STORE)
        }
        if (last || rest == 0)
            break;
        DMLCY_ROWS(DMLCY_NORM_PAD)
#if DMLCY_FROM_SAVED
        dmlcy_norm_pad(pad, kept + end, rest);
        kept = pad;
#endif
        DMLCY_RESULTS(DMLCY_NORM_ASIDE)
        end = DMLCY_NORM_LANES;
        last = 1;
    }
    if (last) {
        DMLCY_RESULTS(DMLCY_NORM_STORE_LAST)
    }
}

#if DMLCY_FROM_SAVED || !defined(DMLCY_SAVED)
/* The same of lines side by side. */
DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_NAMED(DMLCY_NORM, _results_side))(const NormRows *rows, const double *states)
{
    const double count = rows->count;
    const int64_t step = DMLCY_NORM_LANES;
    const double *s;
    int64_t i, line;
    int j;
    DMLCY_ATTRIBUTES
    DMLCY_LINES(DMLCY_NORM_ARRAY)
#if DMLCY_QUICK_HERE
    int all = 1, is_quick_of[DMLCY_NORM_LANES];
    DMLCY_QUICK(DMLCY_NORM_ARRAY)
#endif
    (void)count, (void)step, (void)s;
    for (line = 0; line < DMLCY_NORM_LANES; line++) {
        s = states + line;
        DMLCY_LINES(DMLCY_NORM_COMPUTE)
#if DMLCY_QUICK_HERE
        DMLCY_QUICK(DMLCY_NORM_COMPUTE)
        is_quick_of[line] = DMLCY_CHECKS;
        all &= is_quick_of[line];
#endif
    }
    DMLCY_RESULTS(DMLCY_NORM_PLACES)
#if !DMLCY_FROM_SAVED
    DMLCY_ROWS(DMLCY_NORM_SIDES)
#endif
    for (i = 0; i < rows->n; i++) {
        const double at = (double)i;
        DMLCY_RESULTS(DMLCY_NORM_ROOM)
        DMLCY_RESULTS(DMLCY_NORM_PLACE)
#if DMLCY_FROM_SAVED
        const float *const kept = rows->rows[DMLCY_SAVED_ROW] + i * rows->across[DMLCY_SAVED_ROW];
#else
        DMLCY_ROWS(DMLCY_NORM_SIDE)
#endif
        (void)at;
#if DMLCY_QUICK_HERE
        DMLCY_EACH_LANE(j) {
            DMLCY_QUICK(DMLCY_NORM_OF_LINE)
            DMLCY_LINES(DMLCY_NORM_OF_LINE)
            DMLCY_ROWS(DMLCY_NORM_SIDE_NUMBER)
            DMLCY_RESULTS(DMLCY_NORM_MAKE_QUICK)
        }
        if (all && !(0 DMLCY_RESULTS(DMLCY_NORM_FAR))) {
            DMLCY_RESULTS(DMLCY_NORM_STORE_SIDE)
            continue;
        }
#endif
        DMLCY_EACH_LANE(j) {
            DMLCY_LINES(DMLCY_NORM_OF_LINE)
#if DMLCY_FROM_SAVED
            const float saved = kept[j];
#else
            DMLCY_ROWS(DMLCY_NORM_SIDE_NUMBER)
#endif
#if DMLCY_QUICK_HERE
            const int is_quick = is_quick_of[j];
            DMLCY_RESULTS(DMLCY_NORM_MAKE_REST)
#else
            DMLCY_RESULTS(DMLCY_NORM_MAKE)
#endif
        }
        DMLCY_RESULTS(DMLCY_NORM_STORE_SIDE)
    }
}
#endif
#undef DMLCY_QUICK_HERE
#undef DMLCY_RESULTS_HERE
#undef DMLCY_FROM_SAVED
