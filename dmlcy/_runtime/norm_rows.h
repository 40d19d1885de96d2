/* The loops that normalize lines, for the levels of isa.h.
 *
 * To be included once for each operator, with these macros, which the end of the file takes back. N is the number of a
 * sweep, from 0 on, or is left out for the results:
 *
 * DMLCY_NORM            the name of the loops
 * DMLCY_SWEEPS          how many sweeps there are, at most 3
 * DMLCY_STATES          how many numbers the state of a line has, at least 1
 * DMLCY_ROWS_N(each)    each(0) each(2) …: the numbers of the tensors whose elements are read
 * DMLCY_ATTRIBUTES_N    declares the attributes that are read
 * DMLCY_LINES_N(each)   each(double, top, DMLCY_S(0)) …: the type, the name and the value of a number of a line.
 *                       DMLCY_S is a number of the state, DMLCY_ONE that of a tensor with one for a line
 * DMLCY_ACCS_N(each)    each(0, double, parts, x0 * x0, f0 * f0) …: a number of the state, its type, how it is joined,
 *                       and what it is joined of, over the elements x0, x1 … of tensors, which are double, the same as
 *                       floats, f0 …, and the number `at` of an element in its line. Of `parts`, a float comes last: a
 *                       lane adds up DMLCY_NORM_PARTS of these before it adds the sum to others in double
 * DMLCY_PARTS_N         1: the sweep has parts
 * DMLCY_QUICK_N(each)   each(float, once0_quick, (float)once0) …: the numbers of a line that floats are made with
 * DMLCY_CHECKS_N        whether these are ordinary: otherwise, numbers are double
 * DMLCY_FINISH_N        statements that make numbers of the state of the joined ones, and of `count`
 * DMLCY_EXPS_N          1: they have DMLCY_NORM_EXP, which takes fewer steps where the number of the state
 *                       DMLCY_LARGEST is small
 * DMLCY_SAVES_N         1: the sweep writes DMLCY_SAVED to the row of DMLCY_SAVED_ROW
 * DMLCY_SAVED           a float that results are made of, too; left out, no sweep writes any. Accumulators and results
 *                       call it `saved`
 * DMLCY_SAVED_ROW       the number of the output whose row has it
 * DMLCY_RESULTS(each)   each(1, x0 - top, f0 - top_quick) …: the number of a tensor, its element, and that in floats
 * DMLCY_HAS_QUICK       1: there are floats. Where one is not finite, the double is taken
 * DMLCY_ENDS(each)      the same of tensors that have one for a line, with DMLCY_ATTRIBUTES_ENDS and DMLCY_LINES_ENDS
 */
#include "functions.h"
#include "named.h"
#include "norms.h"

#ifndef DMLCY_NORM_ROW
/* A row of a line; one of its elements; and elements behind its last one, which nobody looks at. */
#define DMLCY_NORM_ROW(t)                                                                                              \
    const float *p##t = rows->rows[t] + line * rows->steps[t];                                                         \
    const int64_t pace##t = rows->paces[t];                                                                            \
    float pad##t[DMLCY_NORM_LANES];
#define DMLCY_NORM_NUMBER(t)                                                                                           \
    const float f##t = p##t[i * pace##t + j];                                                                          \
    const double x##t = (double)f##t;                                                                                  \
    (void)f##t, (void)x##t;
#define DMLCY_NORM_PAD(t)                                                                                              \
    dmlcy_norm_pad(pad##t, p##t + end * pace##t, rest);                                                                \
    p##t = pad##t;

#define DMLCY_S(number) s[(number) * step]
#define DMLCY_ONE(t) ((double)rows->rows[t][line * rows->steps[t]])
/* e^(element - number), for the number of a line. */
#define DMLCY_NORM_EXP(element, number)                                                                                \
    (ordinary ? dmlcy_exp_less_ordinary(DMLCY_FUSED, element, number, number##_whole, number##_rest)                   \
              : dmlcy_exp_less(DMLCY_FUSED, element, number))
#define DMLCY_NORM_LINE(kind, name, value)                                                                             \
    const kind name = value;                                                                                           \
    (void)name;

#define DMLCY_NORM_BEGIN(number, kind, join, element, quick)                                                           \
    kind acc##number[DMLCY_NORM_LANES], old##number[DMLCY_NORM_LANES];                                                 \
    DMLCY_EACH_LANE(j)                                                                                                 \
        acc##number[j] = DMLCY_NONE_##join;
#define DMLCY_NORM_PART(number, kind, join, element, quick) DMLCY_PART_##join(number)
#define DMLCY_PART_parts(number)                                                                                       \
    float part##number[DMLCY_NORM_LANES];                                                                              \
    DMLCY_EACH_LANE(j)                                                                                                 \
        part##number[j] = 0.0f;
#define DMLCY_NORM_STEP(number, kind, join, element, quick) DMLCY_STEP_##join(number, kind, join, element, quick)
#define DMLCY_STEP_WHOLE(number, kind, join, element)                                                                  \
    {                                                                                                                  \
        const kind next = (kind)(element);                                                                             \
        acc##number[j] = DMLCY_BOTH_##join(acc##number[j], next);                                                      \
    }
#define DMLCY_STEP_parts(number, kind, join, element, quick)                                                           \
    if (in_parts)                                                                                                      \
        part##number[j] += (quick);                                                                                    \
    else                                                                                                               \
        acc##number[j] += (element);
#define DMLCY_NORM_FLUSH(number, kind, join, element, quick) DMLCY_FLUSH_##join(number)
#define DMLCY_FLUSH_parts(number)                                                                                      \
    for (j = 0; j < DMLCY_NORM_LANES && in_parts; j++)                                                                 \
        acc##number[j] += (double)part##number[j];
#define DMLCY_NORM_KEEP(number, kind, join, element, quick) memcpy(old##number, acc##number, sizeof old##number);
#define DMLCY_NORM_BACK(number, kind, join, element, quick)                                                            \
    for (j = rest; j < DMLCY_NORM_LANES; j++)                                                                          \
        acc##number[j] = old##number[j];
#define DMLCY_NORM_HALVE(number, kind, join, element, quick)                                                           \
    DMLCY_HALVE(acc##number, join, 16)                                                                                 \
    DMLCY_HALVE(acc##number, join, 8)                                                                                  \
    DMLCY_HALVE(acc##number, join, 4)                                                                                  \
    DMLCY_HALVE(acc##number, join, 2)                                                                                  \
    DMLCY_HALVE(acc##number, join, 1)
#define DMLCY_HALVE(acc, join, half)                                                                                   \
    for (j = 0; j < (half); j++)                                                                                       \
        acc[j] = DMLCY_BOTH_##join(acc[j], acc[j + (half)]);
#define DMLCY_NORM_GOOD(number, kind, join, element, quick) &DMLCY_GOOD_##join(acc##number[0])
#define DMLCY_NORM_END(number, kind, join, element, quick)                                                             \
    DMLCY_S(number) =                                                                                                  \
        fresh ? (double)acc##number[0] : DMLCY_BOTH_##join(DMLCY_S(number), (double)acc##number[0]);
#define DMLCY_NORM_JOIN_OF(number, kind, join, element, quick)                                                         \
    s[number] = DMLCY_BOTH_##join(s[number], others[number]);

#define DMLCY_NORM_TARGET(t, element, quick)                                                                           \
    float *q##t = rows->rows[t] + line * rows->steps[t];                                                               \
    float end##t[DMLCY_NORM_LANES];
#define DMLCY_NORM_ROOM(t, element, quick) float made##t[DMLCY_NORM_LANES];
#define DMLCY_NORM_MAKE(t, element, quick) made##t[j] = (float)(element);
#define DMLCY_NORM_MAKE_QUICK(t, element, quick) made##t[j] = (quick);
#define DMLCY_NORM_MAKE_REST(t, element, quick)                                                                        \
    made##t[j] = is_quick && DMLCY_NORM_FINITE(made##t[j]) ? made##t[j] : (float)(element);
#define DMLCY_NORM_FAR(t, element, quick) | DMLCY_LEVEL(dmlcy_norm_is_far)(made##t)
#define DMLCY_NORM_STORE(t, element, quick) memcpy(q##t + i, made##t, sizeof made##t);
#define DMLCY_NORM_ASIDE(t, element, quick) q##t = end##t;
#define DMLCY_NORM_STORE_LAST(t, element, quick)                                                                       \
    memcpy(rows->rows[t] + line * rows->steps[t] + rows->n - rest, end##t, (size_t)rest * sizeof(float));
#define DMLCY_NORM_STORE_SIDE(t, element, quick) memcpy(q##t, made##t, sizeof made##t);
#define DMLCY_NORM_PLACES(t, element, quick)                                                                           \
    float *const top##t = rows->rows[t];                                                                               \
    const int64_t down##t = rows->across[t];
#define DMLCY_NORM_PLACE(t, element, quick) float *const q##t = top##t + i * down##t;

/* The same of DMLCY_NORM_LANES lines side by side: a number of each line, and an accumulator for each of as many groups
 * of elements as a line alone has. */
#define DMLCY_NORM_ARRAY(kind, name, value) kind name##_of[DMLCY_NORM_LANES];
#define DMLCY_NORM_COMPUTE(kind, name, value)                                                                          \
    const kind name = value;                                                                                           \
    name##_of[line] = name;
#define DMLCY_NORM_OF_LINE(kind, name, value)                                                                          \
    const kind name = name##_of[j];                                                                                    \
    (void)name;
#define DMLCY_NORM_SIDES(t)                                                                                            \
    const float *const first##t = rows->rows[t];                                                                       \
    const int64_t across##t = rows->across[t];
#define DMLCY_NORM_SIDE(t) const float *const p##t = first##t + i * across##t;
#define DMLCY_NORM_SIDE_NUMBER(t)                                                                                      \
    const float f##t = p##t[j];                                                                                        \
    const double x##t = (double)f##t;                                                                                  \
    (void)f##t, (void)x##t;
#define DMLCY_NORM_GROUPS(number, kind, join, element, quick) DMLCY_GROUPS_##join(number, kind, join)
#define DMLCY_GROUPS_parts(number, kind, join)                                                                         \
    double acc##number[DMLCY_NORM_LANES][DMLCY_NORM_LANES];                                                            \
    float part##number[DMLCY_NORM_LANES][DMLCY_NORM_LANES];                                                            \
    memset(part##number, 0, (size_t)used * sizeof part##number[0]);                                                    \
    if (!alone || !in_parts)                                                                                           \
        memset(acc##number, 0, sizeof acc##number);
#define DMLCY_GROUPS_sum(number, kind, join)                                                                           \
    double acc##number[DMLCY_NORM_LANES][DMLCY_NORM_LANES];                                                            \
    memset(acc##number, 0, (size_t)used * sizeof acc##number[0]);
#define DMLCY_NORM_SIDE_STEP(number, kind, join, element, quick)                                                       \
    DMLCY_SIDE_STEP_##join(number, kind, join, element, quick)
#define DMLCY_SIDE_STEP_parts(number, kind, join, element, quick)                                                      \
    if (in_parts)                                                                                                      \
        part##number[group][j] += (quick);                                                                             \
    else                                                                                                               \
        acc##number[group][j] += (element);
#define DMLCY_SIDE_STEP_sum(number, kind, join, element, quick) acc##number[group][j] += (element);
#define DMLCY_NORM_SIDE_FLUSH(number, kind, join, element, quick) DMLCY_SIDE_FLUSH_##join(number)
#define DMLCY_SIDE_FLUSH_parts(number)                                                                                 \
    for (row = 0; row < used; row++)                                                                                   \
        DMLCY_EACH_LANE(j) {                                                                                           \
            acc##number[row][j] += (double)part##number[row][j];                                                       \
            part##number[row][j] = 0.0f;                                                                               \
        }
#define DMLCY_NORM_SIDE_END(number, kind, join, element, quick)                                                        \
    DMLCY_SIDE_END_##join(number)                                                                                      \
    DMLCY_EACH_LANE(j)                                                                                                 \
        s[number * DMLCY_NORM_LANES + j] = (double)acc##number[0][j];
#define DMLCY_SIDE_HALVES(number, first)                                                                               \
    for (half = (first); half > 0; half /= 2)                                                                          \
        for (i = 0; i < half && i + half < used; i++)                                                                  \
            DMLCY_EACH_LANE(j)                                                                                         \
                acc##number[i][j] += acc##number[i + half][j];
#define DMLCY_SIDE_END_sum(number) DMLCY_SIDE_HALVES(number, DMLCY_NORM_LANES / 2)
#define DMLCY_SIDE_END_parts(number)                                                                                   \
    if (alone && in_parts) {                                                                                           \
        for (i = 0; i < used && i < DMLCY_NORM_LANES / 2; i++)                                                         \
            if (i + DMLCY_NORM_LANES / 2 < used)                                                                       \
                DMLCY_EACH_LANE(j)                                                                                     \
                    acc##number[i][j] =                                                                                \
                        (double)part##number[i][j] + (double)part##number[i + DMLCY_NORM_LANES / 2][j];                \
            else                                                                                                       \
                DMLCY_EACH_LANE(j)                                                                                     \
                    acc##number[i][j] = (double)part##number[i][j];                                                    \
        DMLCY_SIDE_HALVES(number, DMLCY_NORM_LANES / 4)                                                                \
    } else {                                                                                                           \
        DMLCY_SIDE_HALVES(number, DMLCY_NORM_LANES / 2)                                                                \
    }
#define DMLCY_NORM_SIDE_GOOD(number, kind, join, element, quick)                                                       \
    DMLCY_EACH_LANE(j)                                                                                                 \
        good[j] &= DMLCY_GOOD_##join(acc##number[0][j]);
#define DMLCY_NORM_AGAIN(number, kind, join, element, quick)                                                           \
    DMLCY_EACH_LANE(line)                                                                                              \
        if (!good[line])                                                                                               \
            states[number * DMLCY_NORM_LANES + line] = again[number * DMLCY_NORM_LANES + line];

/* Of what has no parts; and of what is the same in any order, so that lines side by side need no groups. */
#define DMLCY_PART_sum(number)
#define DMLCY_FLUSH_sum(number)
#define DMLCY_SIDE_FLUSH_sum(number)
#define DMLCY_GOOD_sum(number) 1
#define DMLCY_STEP_sum(number, kind, join, element, quick) DMLCY_STEP_WHOLE(number, kind, join, element)
#define DMLCY_PART_greatest(number)
#define DMLCY_FLUSH_greatest(number)
#define DMLCY_SIDE_FLUSH_greatest(number)
#define DMLCY_GOOD_greatest(number) 1
#define DMLCY_STEP_greatest(number, kind, join, element, quick) DMLCY_STEP_WHOLE(number, kind, join, element)
#define DMLCY_PART_least(number)
#define DMLCY_FLUSH_least(number)
#define DMLCY_SIDE_FLUSH_least(number)
#define DMLCY_GOOD_least(number) 1
#define DMLCY_STEP_least(number, kind, join, element, quick) DMLCY_STEP_WHOLE(number, kind, join, element)
#define DMLCY_PART_bits(number)
#define DMLCY_FLUSH_bits(number)
#define DMLCY_SIDE_FLUSH_bits(number)
#define DMLCY_GOOD_bits(number) 1
#define DMLCY_STEP_bits(number, kind, join, element, quick) DMLCY_STEP_WHOLE(number, kind, join, element)
#define DMLCY_PART_whole(number)
#define DMLCY_FLUSH_whole(number)
#define DMLCY_SIDE_FLUSH_whole(number)
#define DMLCY_GOOD_whole(number) 1
#define DMLCY_STEP_whole(number, kind, join, element, quick) DMLCY_STEP_WHOLE(number, kind, join, element)
#define DMLCY_GROUPS_FREE(number, kind, join)                                                                          \
    kind acc##number[1][DMLCY_NORM_LANES];                                                                             \
    DMLCY_EACH_LANE(j)                                                                                                 \
        acc##number[0][j] = DMLCY_NONE_##join;
#define DMLCY_SIDE_STEP_FREE(number, kind, join, element)                                                              \
    {                                                                                                                  \
        const kind next = (kind)(element);                                                                             \
        acc##number[0][j] = DMLCY_BOTH_##join(acc##number[0][j], next);                                                \
    }
#define DMLCY_GROUPS_greatest(number, kind, join) DMLCY_GROUPS_FREE(number, kind, join)
#define DMLCY_SIDE_STEP_greatest(number, kind, join, element, quick) DMLCY_SIDE_STEP_FREE(number, kind, join, element)
#define DMLCY_SIDE_END_greatest(number)
#define DMLCY_GROUPS_least(number, kind, join) DMLCY_GROUPS_FREE(number, kind, join)
#define DMLCY_SIDE_STEP_least(number, kind, join, element, quick) DMLCY_SIDE_STEP_FREE(number, kind, join, element)
#define DMLCY_SIDE_END_least(number)
#define DMLCY_GROUPS_bits(number, kind, join) DMLCY_GROUPS_FREE(number, kind, join)
#define DMLCY_SIDE_STEP_bits(number, kind, join, element, quick) DMLCY_SIDE_STEP_FREE(number, kind, join, element)
#define DMLCY_SIDE_END_bits(number)
#define DMLCY_GROUPS_whole(number, kind, join) DMLCY_GROUPS_FREE(number, kind, join)
#define DMLCY_SIDE_STEP_whole(number, kind, join, element, quick) DMLCY_SIDE_STEP_FREE(number, kind, join, element)
#define DMLCY_SIDE_END_whole(number)
#define DMLCY_GOOD_parts(number) (dmlcy_is_ordinary(number) & ((number) != 0.0))

#define DMLCY_NORM_STORE_ONE(t, element, quick) rows->rows[t][line * rows->steps[t]] = (float)(element);
#endif

#if DMLCY_SWEEPS > 0
static void DMLCY_NAMED(DMLCY_NORM, _finish_0)(double *s, int64_t step, double count)
{
    (void)s, (void)step, (void)count;
    DMLCY_FINISH_0
}
#endif
#if DMLCY_SWEEPS > 1
static void DMLCY_NAMED(DMLCY_NORM, _finish_1)(double *s, int64_t step, double count)
{
    (void)s, (void)step, (void)count;
    DMLCY_FINISH_1
}
#endif
#if DMLCY_SWEEPS > 2
static void DMLCY_NAMED(DMLCY_NORM, _finish_2)(double *s, int64_t step, double count)
{
    (void)s, (void)step, (void)count;
    DMLCY_FINISH_2
}
#endif

/* Code that computes lines in double that are not ordinary: of the baseline, for all levels. */
#if DMLCY_SWEEPS > 0 && DMLCY_PARTS_0 && !DMLCY_EXPS_0
static void DMLCY_NAMED(DMLCY_NORM, _exact_0)(const NormRows *rows, int64_t line, double *s, int fresh);
static void DMLCY_NAMED(DMLCY_NORM, _exact_side_0)(const NormRows *rows, double *states, int *good);
#endif
#if DMLCY_SWEEPS > 1 && DMLCY_PARTS_1 && !DMLCY_EXPS_1
static void DMLCY_NAMED(DMLCY_NORM, _exact_1)(const NormRows *rows, int64_t line, double *s, int fresh);
static void DMLCY_NAMED(DMLCY_NORM, _exact_side_1)(const NormRows *rows, double *states, int *good);
#endif
#if DMLCY_SWEEPS > 2 && DMLCY_PARTS_2 && !DMLCY_EXPS_2
static void DMLCY_NAMED(DMLCY_NORM, _exact_2)(const NormRows *rows, int64_t line, double *s, int fresh);
static void DMLCY_NAMED(DMLCY_NORM, _exact_side_2)(const NormRows *rows, double *states, int *good);
#endif

#ifndef DMLCY_LARGEST
#define DMLCY_LARGEST 0
#endif
#define DMLCY_TEXT "norm_levels.h"
#include "levels.h"

#undef DMLCY_NORM
#undef DMLCY_SWEEPS
#undef DMLCY_STATES
#undef DMLCY_ROWS_0
#undef DMLCY_ROWS_1
#undef DMLCY_ROWS_2
#undef DMLCY_ATTRIBUTES_0
#undef DMLCY_EXPS_0
#undef DMLCY_LINES_0
#undef DMLCY_ATTRIBUTES_1
#undef DMLCY_EXPS_1
#undef DMLCY_LINES_1
#undef DMLCY_ATTRIBUTES_2
#undef DMLCY_EXPS_2
#undef DMLCY_LINES_2
#undef DMLCY_ACCS_0
#undef DMLCY_ACCS_1
#undef DMLCY_ACCS_2
#undef DMLCY_FINISH_0
#undef DMLCY_FINISH_1
#undef DMLCY_FINISH_2
#undef DMLCY_QUICK_0
#undef DMLCY_QUICK_1
#undef DMLCY_QUICK_2
#undef DMLCY_CHECKS_0
#undef DMLCY_CHECKS_1
#undef DMLCY_CHECKS_2
#undef DMLCY_PARTS_0
#undef DMLCY_PARTS_1
#undef DMLCY_PARTS_2
#undef DMLCY_QUICK
#undef DMLCY_CHECKS
#undef DMLCY_HAS_QUICK
#undef DMLCY_SAVES_0
#undef DMLCY_SAVES_1
#undef DMLCY_SAVES_2
#undef DMLCY_SAVED
#undef DMLCY_LARGEST
#undef DMLCY_SAVED_ROW
#undef DMLCY_ROWS
#undef DMLCY_ATTRIBUTES
#undef DMLCY_EXPS
#undef DMLCY_LINES
#undef DMLCY_ATTRIBUTES_ENDS
#undef DMLCY_LINES_ENDS
#undef DMLCY_RESULTS
#undef DMLCY_ENDS
