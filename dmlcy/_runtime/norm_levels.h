/* The loops of norm_rows.h for one level. */
/* For each lane. At the baseline of x86-64, registers do not hold them all: there, a loop has much less text. */
#if DMLCY_X86 && !DMLCY_IS_WIDE
#define DMLCY_EACH_LANE(j) _Pragma("GCC unroll 1") for (j = 0; j < DMLCY_NORM_LANES; j++)
#else
#define DMLCY_EACH_LANE(j) for (j = 0; j < DMLCY_NORM_LANES; j++)
#endif

#if DMLCY_SWEEPS > 0
#define DMLCY_SWEEP_NUMBER 0
#include "norm_sweep.h"
#endif
#if DMLCY_SWEEPS > 1
#define DMLCY_SWEEP_NUMBER 1
#include "norm_sweep.h"
#endif
#if DMLCY_SWEEPS > 2
#define DMLCY_SWEEP_NUMBER 2
#include "norm_sweep.h"
#endif

#define DMLCY_FROM_SAVED 0
#include "norm_results.h"
#ifdef DMLCY_SAVED
#define DMLCY_FROM_SAVED 1
#include "norm_results.h"
#endif

#define DMLCY_HERE(end) DMLCY_LEVEL(DMLCY_NAMED(DMLCY_NORM, end))

DMLCY_TARGET static void DMLCY_HERE(_ends)(const NormRows *rows, int64_t line, const double *s, int64_t step)
{
    const double count = rows->count;
    (void)rows, (void)line, (void)s, (void)step, (void)count;
    DMLCY_ATTRIBUTES_ENDS
    DMLCY_LINES_ENDS(DMLCY_NORM_LINE)
    DMLCY_ENDS(DMLCY_NORM_STORE_ONE)
}

DMLCY_TARGET static void DMLCY_HERE(_results)(const NormRows *rows, int64_t line, const double *s)
{
#ifdef DMLCY_SAVED
    if (rows->saved) {
        DMLCY_HERE(_results_1)(rows, line, s);
        return;
    }
#endif
    DMLCY_HERE(_results_0)(rows, line, s);
}

#define DMLCY_NORM_SWEEP_OF(number)                                                                                    \
    if (step == DMLCY_NORM_SWEEP) {                                                                                    \
        DMLCY_HERE(_sweep_##number)(rows, line, s, rows->fresh);                                                       \
    } else if (step == DMLCY_NORM_FINISH) {                                                                            \
        DMLCY_NAMED(DMLCY_NORM, _finish_##number)(s, 1, rows->count);                                                  \
    } else {                                                                                                           \
        DMLCY_ACCS_##number(DMLCY_NORM_JOIN_OF)                                                                        \
    }

/* Everything of lines side by side. */
DMLCY_TARGET static void DMLCY_HERE(_side)(const NormRows *rows)
{
    double states[DMLCY_STATES * DMLCY_NORM_LANES];
    int64_t line;
#if DMLCY_SWEEPS > 0
    DMLCY_HERE(_side_0)(rows, states);
    for (line = 0; line < DMLCY_NORM_LANES; line++)
        DMLCY_NAMED(DMLCY_NORM, _finish_0)(states + line, DMLCY_NORM_LANES, rows->count);
#endif
#if DMLCY_SWEEPS > 1
    DMLCY_HERE(_side_1)(rows, states);
    for (line = 0; line < DMLCY_NORM_LANES; line++)
        DMLCY_NAMED(DMLCY_NORM, _finish_1)(states + line, DMLCY_NORM_LANES, rows->count);
#endif
#if DMLCY_SWEEPS > 2
    DMLCY_HERE(_side_2)(rows, states);
    for (line = 0; line < DMLCY_NORM_LANES; line++)
        DMLCY_NAMED(DMLCY_NORM, _finish_2)(states + line, DMLCY_NORM_LANES, rows->count);
#endif
    DMLCY_HERE(_results_side)(rows, states);
    for (line = 0; line < DMLCY_NORM_LANES; line++)
        DMLCY_HERE(_ends)(rows, line, states + line, DMLCY_NORM_LANES);
}

DMLCY_TARGET static void DMLCY_HERE()(const NormRows *rows, int step, int sweep)
{
    int64_t line;
    if (step == DMLCY_NORM_SIDE_BY_SIDE) {
        DMLCY_HERE(_side)(rows);
        return;
    }
    for (line = 0; line < rows->lines; line++) {
        double own[DMLCY_STATES], *const s = step == DMLCY_NORM_ALL ? own : rows->states + line * DMLCY_STATES;
        const double *const others = rows->others + line * DMLCY_STATES;
        (void)others, (void)sweep;
        if (step == DMLCY_NORM_ALL) {
#if DMLCY_SWEEPS > 0
            DMLCY_HERE(_sweep_0)(rows, line, s, 1);
            DMLCY_NAMED(DMLCY_NORM, _finish_0)(s, 1, rows->count);
#endif
#if DMLCY_SWEEPS > 1
            DMLCY_HERE(_sweep_1)(rows, line, s, 1);
            DMLCY_NAMED(DMLCY_NORM, _finish_1)(s, 1, rows->count);
#endif
#if DMLCY_SWEEPS > 2
            DMLCY_HERE(_sweep_2)(rows, line, s, 1);
            DMLCY_NAMED(DMLCY_NORM, _finish_2)(s, 1, rows->count);
#endif
            DMLCY_HERE(_results)(rows, line, s);
            DMLCY_HERE(_ends)(rows, line, s, 1);
        } else if (step == DMLCY_NORM_RESULTS) {
            DMLCY_HERE(_results)(rows, line, s);
        } else if (step == DMLCY_NORM_ENDS) {
            DMLCY_HERE(_ends)(rows, line, s, 1);
#if DMLCY_SWEEPS > 0
        } else if (sweep == 0) {
            DMLCY_NORM_SWEEP_OF(0)
#endif
#if DMLCY_SWEEPS > 1
        } else if (sweep == 1) {
            DMLCY_NORM_SWEEP_OF(1)
#endif
#if DMLCY_SWEEPS > 2
        } else if (sweep == 2) {
            DMLCY_NORM_SWEEP_OF(2)
#endif
        }
    }
}

#undef DMLCY_NORM_SWEEP_OF
#undef DMLCY_HERE
#undef DMLCY_EACH_LANE
