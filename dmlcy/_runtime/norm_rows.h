/* The loops that normalize lines, for the levels of isa.h.
 *
 * To be included once for each operator, with these macros, which the end of the file takes back. N is the number of a
 * sweep, from 0 on, or is left out for the results:
 *
 * DMLCY_NORM            the name of the loops
 * DMLCY_SWEEPS          how many sweeps there are, at most 3
 * DMLCY_STATES          how many numbers the state of a line has, at least 1
 * DMLCY_ROWS_N(each)    each(0) each(2) …: the numbers of the tensors whose elements are read
 * DMLCY_LOCALS_N        declares the numbers of a line that are read: attributes, states, tensors with one for a line
 * DMLCY_ACCS_N(each)    each(0, double, sum, x0 * x0) …: a number of the state, its type, how it is joined, and what it is
 *                       joined of, over the elements x0, x1 … of tensors, which are double, the same as floats, f0 …, and
 *                       the number `at` of an element in its line
 * DMLCY_FINISH_N        statements that make numbers of the state s of the joined ones, and of `count`
 * DMLCY_SAVES_N         1: the sweep writes DMLCY_SAVED to the row of DMLCY_SAVED_ROW
 * DMLCY_SAVED           a float that results are made of, too; left out, no sweep writes any. Accumulators and results
 *                       call it `saved`
 * DMLCY_SAVED_ROW       the number of the output whose row has it
 * DMLCY_RESULTS(each)   each(1, x0 - top) …: the number of a tensor, and its element
 * DMLCY_ENDS(each)      the same of tensors that have one for a line, with DMLCY_LOCALS_ENDS
 */
#include "functions.h"
#include "named.h"
#include "norms.h"

#ifndef DMLCY_NORM_ROW
/* A row of a line; one of its elements; and elements behind its last one, which nobody looks at. */
#define DMLCY_NORM_ROW(t)                                                                                              \
    const float *p##t = rows->rows[t] + line * rows->steps[t];                                                         \
    float pad##t[DMLCY_NORM_LANES];
#define DMLCY_NORM_NUMBER(t)                                                                                           \
    const float f##t = p##t[i + j];                                                                                    \
    const double x##t = (double)f##t;                                                                                  \
    (void)f##t, (void)x##t;
#define DMLCY_NORM_PAD(t)                                                                                              \
    for (j = 0; j < DMLCY_NORM_LANES; j++)                                                                             \
        pad##t[j] = p##t[end + (j < rest ? j : rest - 1)];                                                             \
    p##t = pad##t;
#define DMLCY_NORM_ONE(t) const double x##t = (double)rows->rows[t][line * rows->steps[t]];

#define DMLCY_NORM_BEGIN(number, kind, join, element)                                                                  \
    kind acc##number[DMLCY_NORM_LANES], old##number[DMLCY_NORM_LANES];                                                 \
    for (j = 0; j < DMLCY_NORM_LANES; j++)                                                                             \
        acc##number[j] = DMLCY_NONE_##join;
#define DMLCY_NORM_STEP(number, kind, join, element)                                                                   \
    {                                                                                                                  \
        const kind next = (kind)(element);                                                                             \
        acc##number[j] = DMLCY_BOTH_##join(acc##number[j], next);                                                      \
    }
#define DMLCY_NORM_KEEP(number, kind, join, element) memcpy(old##number, acc##number, sizeof old##number);
#define DMLCY_NORM_BACK(number, kind, join, element)                                                                   \
    for (j = rest; j < DMLCY_NORM_LANES; j++)                                                                          \
        acc##number[j] = old##number[j];
#define DMLCY_NORM_END(number, kind, join, element)                                                                    \
    for (half = DMLCY_NORM_LANES / 2; half > 0; half /= 2)                                                             \
        for (j = 0; j < half; j++)                                                                                     \
            acc##number[j] = DMLCY_BOTH_##join(acc##number[j], acc##number[j + half]);                                 \
    s[number] = fresh ? (double)acc##number[0] : DMLCY_BOTH_##join(s[number], (double)acc##number[0]);
#define DMLCY_NORM_JOIN_OF(number, kind, join, element) s[number] = DMLCY_BOTH_##join(s[number], others[number]);

#define DMLCY_NORM_TARGET(t, element)                                                                                  \
    float *q##t = rows->rows[t] + line * rows->steps[t];                                                               \
    float end##t[DMLCY_NORM_LANES];
#define DMLCY_NORM_ROOM(t, element) float made##t[DMLCY_NORM_LANES];
#define DMLCY_NORM_MAKE(t, element) made##t[j] = (float)(element);
#define DMLCY_NORM_STORE(t, element) memcpy(q##t + i, made##t, sizeof made##t);
#define DMLCY_NORM_ASIDE(t, element) q##t = end##t;
#define DMLCY_NORM_STORE_LAST(t, element)                                                                              \
    memcpy(rows->rows[t] + line * rows->steps[t] + rows->n - rest, end##t, (size_t)rest * sizeof(float));
#define DMLCY_NORM_STORE_ONE(t, element) rows->rows[t][line * rows->steps[t]] = (float)(element);
#endif

#if DMLCY_SWEEPS > 0
static void DMLCY_NAMED(DMLCY_NORM, _finish_0)(double *s, double count)
{
    (void)s, (void)count;
    DMLCY_FINISH_0
}
#endif
#if DMLCY_SWEEPS > 1
static void DMLCY_NAMED(DMLCY_NORM, _finish_1)(double *s, double count)
{
    (void)s, (void)count;
    DMLCY_FINISH_1
}
#endif
#if DMLCY_SWEEPS > 2
static void DMLCY_NAMED(DMLCY_NORM, _finish_2)(double *s, double count)
{
    (void)s, (void)count;
    DMLCY_FINISH_2
}
#endif

#define DMLCY_TEXT "norm_levels.h"
#include "levels.h"

#undef DMLCY_NORM
#undef DMLCY_SWEEPS
#undef DMLCY_STATES
#undef DMLCY_ROWS_0
#undef DMLCY_ROWS_1
#undef DMLCY_ROWS_2
#undef DMLCY_LOCALS_0
#undef DMLCY_LOCALS_1
#undef DMLCY_LOCALS_2
#undef DMLCY_ACCS_0
#undef DMLCY_ACCS_1
#undef DMLCY_ACCS_2
#undef DMLCY_FINISH_0
#undef DMLCY_FINISH_1
#undef DMLCY_FINISH_2
#undef DMLCY_SAVES_0
#undef DMLCY_SAVES_1
#undef DMLCY_SAVES_2
#undef DMLCY_SAVED
#undef DMLCY_SAVED_ROW
#undef DMLCY_ROWS
#undef DMLCY_LOCALS
#undef DMLCY_LOCALS_ENDS
#undef DMLCY_RESULTS
#undef DMLCY_ENDS
