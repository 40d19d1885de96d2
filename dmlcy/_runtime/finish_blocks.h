/* The loops of finish_rows.h for one instruction set; DMLCY_LEVEL names them, DMLCY_TARGET declares them. */
#define DMLCY_OWN(end) DMLCY_LEVEL(DMLCY_NAMED(DMLCY_FINISH, end))

#if DMLCY_FINISHED != DMLCY_FINISHED_placed
/* The taps that are left, of one column, and of a block of them. */
DMLCY_TARGET DMLCY_INLINE DMLCY_ACC DMLCY_OWN(_tap)(const DMLCY_ACC *results, int64_t step, const int taps)
{
    DMLCY_ACC acc = *results;
    if (taps > 1) {
        const DMLCY_ACC second = results[step], third = results[2 * step];
        acc = DMLCY_TWO(acc, second);
        acc = DMLCY_TWO(acc, third);
    }
    return acc;
}
#endif

#if DMLCY_FINISHED == DMLCY_FINISHED_plain || DMLCY_FINISHED == DMLCY_FINISHED_quotient
#if DMLCY_FINISHED == DMLCY_FINISHED_quotient
#define DMLCY_MADE(acc, none, count) (((none) + (acc)) / (count))
#else
#define DMLCY_MADE(acc, none, count) (acc)
#endif

DMLCY_TARGET DMLCY_INLINE void DMLCY_OWN(_line)(
    DMLCY_ELEMENT *target, const DMLCY_ACC *results, const DMLCY_ACC *counts, WindowFinish *finish,
    dmlcy_int32_t_block *doubts, const int taps)
{
    const int64_t step = finish->tap_step, size = finish->size, last = size - DMLCY_SIZE;
    int64_t i;
    (void)counts, (void)doubts;
    if (last < 0) {
#if DMLCY_EXACT
        int doubtful = 0;
#endif
        for (i = 0; i < size; i++) {
            const DMLCY_ACC acc = DMLCY_OWN(_tap)(results + i, step, taps);
#if DMLCY_EXACT
            doubtful |= dmlcy_is_doubtful(acc);
#endif
            target[i] = DMLCY_NARROW(DMLCY_MADE(acc, (DMLCY_ACC)DMLCY_NONE, counts[i]));
        }
#if DMLCY_EXACT
        finish->doubtful |= doubtful;
#endif
    } else {
#if DMLCY_FINISHED == DMLCY_FINISHED_quotient
        const DMLCY_BLOCK_OF none = DMLCY_LEVEL(DMLCY_NAMED(dmlcy_each_, DMLCY_ACC))(DMLCY_NONE);
#endif
        for (i = 0; i < size; i += DMLCY_SIZE) {
            const int64_t at = i < last ? i : last;
            DMLCY_BLOCK_OF acc = DMLCY_LOADED(results + at);
            if (taps > 1) {
                acc = DMLCY_JOIN(acc, DMLCY_LOADED(results + step + at));
                acc = DMLCY_JOIN(acc, DMLCY_LOADED(results + 2 * step + at));
            }
#if DMLCY_EXACT
            *doubts = *doubts + DMLCY_LEVEL(dmlcy_doubts)(acc);
#endif
            DMLCY_LEVEL(DMLCY_NAMED(dmlcy_store_, DMLCY_STORED))(
                target + at, DMLCY_MADE(acc, none, DMLCY_LOADED(counts + at)));
        }
    }
}
#undef DMLCY_MADE

#elif DMLCY_FINISHED == DMLCY_FINISHED_result || DMLCY_FINISHED == DMLCY_FINISHED_halves
DMLCY_TARGET DMLCY_INLINE void DMLCY_OWN(_line)(
    DMLCY_ELEMENT *target, const DMLCY_ACC *results, const DMLCY_ACC *counts, WindowFinish *finish,
    dmlcy_int32_t_block *doubts, const int taps)
{
    const int64_t step = finish->tap_step, size = finish->size;
    const DMLCY_ACC volume = (DMLCY_ACC)finish->volume;
    const void *const attributes = finish->attributes;
    int64_t i;
    (void)doubts;
#if DMLCY_FINISHED == DMLCY_FINISHED_result
    for (i = 0; i < size; i++)
        target[i] = DMLCY_RESULT(DMLCY_OWN(_tap)(results + i, step, taps), counts[i], volume, attributes);
#else
    float some[DMLCY_MOST_HALVES];
    int64_t begin;
    for (begin = 0; begin < size; begin += DMLCY_MOST_HALVES) {
        const int64_t count = size - begin < DMLCY_MOST_HALVES ? size - begin : DMLCY_MOST_HALVES;
        for (i = 0; i < count; i++)
            some[i] = DMLCY_RESULT(DMLCY_OWN(_tap)(results + begin + i, step, taps), counts[begin + i], volume, attributes);
        dmlcy_float_to_half(some, target + begin, sizeof(DMLCY_ELEMENT), count);
    }
#endif
}

#else
DMLCY_TARGET DMLCY_INLINE void DMLCY_OWN(_line)(
    DMLCY_ELEMENT *target, const DMLCY_ACC *results, const DMLCY_ACC *counts, WindowFinish *finish,
    dmlcy_int32_t_block *doubts, const int taps)
{
    const int64_t size = finish->size;
    int64_t i;
    (void)counts, (void)doubts, (void)taps;
    for (i = 0; i < size; i++)
        target[i] = DMLCY_NARROW(results[i]);
}
#endif

DMLCY_TARGET static void DMLCY_OWN()(const void *args)
{
    WindowFinish *const finish = (WindowFinish *)args;
    const DMLCY_ACC *results = finish->results, *counts = finish->counts;
    dmlcy_int32_t_block doubts = DMLCY_LEVEL(dmlcy_each_int32_t)(0);
    int64_t line;
    for (line = 0; line < finish->lines; line++) {
        DMLCY_ELEMENT *const target = (DMLCY_ELEMENT *)(finish->target + line * finish->target_step);
        if (finish->taps == 1)
            DMLCY_OWN(_line)(target, results, counts, finish, &doubts, 1);
#if DMLCY_FINISHED != DMLCY_FINISHED_placed
        else
            DMLCY_OWN(_line)(target, results, counts, finish, &doubts, DMLCY_SLIDE);
#endif
        results += finish->line_step;
        counts += finish->line_step;
    }
    finish->doubtful |= DMLCY_LEVEL(dmlcy_has_doubts)(doubts);
}

#undef DMLCY_OWN
