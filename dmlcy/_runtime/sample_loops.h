/* The loops of samples.h for all levels of isa.h. */
#ifndef DMLCY_SAMPLE_LOOPS_H
#define DMLCY_SAMPLE_LOOPS_H

#include "ahead.h"
#include "elements.h"
#include "half.h"
#include "named.h"
#include "sample_blocks.h"
#include "samples.h"

#define DMLCY_TEXT "sample_rows.h"
#include "levels.h"

#if DMLCY_X86
/* The sources of a block lie in two registers. */
DMLCY_WIDEST static void dmlcy_sample_along_near(
    const SamplePairs *pairs, int64_t first, int64_t end, const double *row, int64_t start, double *target)
{
    int64_t b;
    if (!pairs->near) {
        dmlcy_sample_along_pairs_widest(pairs, first, end, row, start, target);
        return;
    }
    for (b = first; b < end; b++) {
        const int64_t at = b * DMLCY_PAIR_BLOCK;
        const double *const source = row + (pairs->base[b] - start);
        const __m512d near = _mm512_loadu_pd(source), far = _mm512_loadu_pd(source + 8);
        const __m512d low = _mm512_permutex2var_pd(near, _mm512_loadu_si512(pairs->low + at), far);
        const __m512d high = _mm512_permutex2var_pd(near, _mm512_loadu_si512(pairs->high + at), far);
        const __m512d a = _mm512_mul_pd(_mm512_loadu_pd(pairs->first + at), low);
        const __m512d c = _mm512_mul_pd(_mm512_loadu_pd(pairs->second + at), high);
        _mm512_storeu_pd(target + (at - first * DMLCY_PAIR_BLOCK), _mm512_add_pd(a, c));
    }
}
#define DMLCY_SAMPLE_NEAR dmlcy_sample_along_near
#else
#define DMLCY_SAMPLE_NEAR dmlcy_sample_along_pairs_widest
#endif

#define DMLCY_SAMPLE_LOOPS(level, pairs)                                                                               \
    {dmlcy_sample_load##level,    dmlcy_sample_store##level, dmlcy_sample_times##level,                                \
     dmlcy_sample_plus##level,    dmlcy_sample_blend##level, dmlcy_sample_blend_floats##level,                         \
     dmlcy_sample_fours##level,   dmlcy_sample_add##level,   dmlcy_sample_sum##level,                                  \
     dmlcy_sample_sum_four##level, dmlcy_sample_slide##level, dmlcy_sample_scale##level,                               \
     dmlcy_sample_take##level,    dmlcy_sample_along##level, pairs}

static const SampleLoops dmlcy_sample_loops[3] = {
    DMLCY_SAMPLE_LOOPS(, dmlcy_sample_along_pairs),
    DMLCY_SAMPLE_LOOPS(_wide, dmlcy_sample_along_pairs_wide),
    DMLCY_SAMPLE_LOOPS(_widest, DMLCY_SAMPLE_NEAR),
};

#endif
