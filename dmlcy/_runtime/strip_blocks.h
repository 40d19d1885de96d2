/* The loop of element_rows.h over short rows of FLOAT32, for one level: products call it for what they have just stored.
 * DMLCY_LANES elements are computed together; fewer, at the end of a row, in room for as many.
 */
#ifndef DMLCY_STRIP_OF
#include "masked.h"

#define DMLCY_STRIP_OF(number, element, work) const float *const s##number = inputs[number] + row * steps[number];
#define DMLCY_BLOCK_AT(number, element, work) const float *const a##number = s##number + begin;
#define DMLCY_LAST_OF(number, element, work)                                                                           \
    float a##number[DMLCY_LANES];                                                                                      \
    DMLCY_TAKE_SOME(a##number, s##number + begin, n - begin);
/* The elements of a block. */
#define DMLCY_STRIP_MADE                                                                                               \
    DMLCY_APART_EACH                                                                                                   \
    for (i = 0; i < DMLCY_LANES; i++) {                                                                                \
        DMLCY_INPUTS(DMLCY_NUMBER_OF)                                                                                  \
        made[i] = (float)DMLCY_STORE(DMLCY_RESULT);                                                                    \
    }

/* Some floats, and zeros behind them. */
static inline void dmlcy_take_some(float *to, const float *from, int64_t n)
{
    int64_t i;
    for (i = 0; i < DMLCY_LANES; i++)
        to[i] = i < n ? from[i] : 0;
}

static inline void dmlcy_put_some(float *to, const float *from, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        to[i] = from[i];
}

#if DMLCY_X86
DMLCY_WIDEST static inline void dmlcy_take_some_widest(float *to, const float *from, int64_t n)
{
    _mm512_storeu_ps(to, dmlcy_masked((__mmask16)((1u << n) - 1), from));
}

DMLCY_WIDEST static inline void dmlcy_put_some_widest(float *to, const float *from, int64_t n)
{
    dmlcy_masked_put(to, (__mmask16)((1u << n) - 1), _mm512_loadu_ps(from));
}
#endif
#endif

#if DMLCY_X86 && DMLCY_IS_WIDEST
#define DMLCY_TAKE_SOME dmlcy_take_some_widest
#define DMLCY_PUT_SOME dmlcy_put_some_widest
#else
#define DMLCY_TAKE_SOME dmlcy_take_some
#define DMLCY_PUT_SOME dmlcy_put_some
#endif

DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_NAMED(DMLCY_ROW, _strip))(
    const float *const *inputs, const int64_t *steps, float *output, int64_t step, int64_t rows, int64_t n,
    const void *attributes)
{
    float made[DMLCY_LANES];
    int64_t row, begin;
    int i;
    DMLCY_LOCALS
    (void)attributes;
    for (row = 0; row < rows; row++) {
        DMLCY_INPUTS(DMLCY_STRIP_OF)
        for (begin = 0; begin + DMLCY_LANES <= n; begin += DMLCY_LANES) {
            DMLCY_INPUTS(DMLCY_BLOCK_AT)
            DMLCY_STRIP_MADE
            memcpy(output + row * step + begin, made, sizeof made);
        }
        if (begin < n) {
            DMLCY_INPUTS(DMLCY_LAST_OF)
            DMLCY_STRIP_MADE
            DMLCY_PUT_SOME(output + row * step + begin, made, n - begin);
        }
    }
}

#undef DMLCY_TAKE_SOME
#undef DMLCY_PUT_SOME
