/* The loop over windows that are taken whole: the greatest element of each lane under the taps, and its index.
 *
 * To be included once for each type, with these macros, which the end of the file takes back:
 *
 * DMLCY_LANES_OF  the name of the loop, which is for processors with the wide instruction set only
 * DMLCY_ELEMENT   an element in memory, compared as an integer of this type
 * DMLCY_STORED    how elements are loaded and stored: a type, or another word that blocks.h has
 * DMLCY_NUMBERED  1: marks are numbers of elements; 0: numbers would not fit, marks are those of the taps
 */
#include "blocks.h"
#include "named.h"
#include "window_loops.h"

#define DMLCY_MARKS DMLCY_NAMED(DMLCY_NAMED(dmlcy_, DMLCY_ELEMENT), _block)
#define DMLCY_WIDELY(what, type) DMLCY_NAMED(DMLCY_NAMED(what, type), _wide)
#define DMLCY_EACH DMLCY_WIDELY(dmlcy_each_, DMLCY_ELEMENT)
#define DMLCY_UNDER(tap)                                                                                               \
    DMLCY_WIDELY(dmlcy_load_, DMLCY_STORED)((const DMLCY_ELEMENT *)((const char *)input + lanes->at[tap]))

DMLCY_WIDE static void DMLCY_LANES_OF(const void *args)
{
    const WindowLanes *const lanes = args;
    const int64_t size = sizeof(DMLCY_MARKS) / sizeof(DMLCY_ELEMENT), last = lanes->lanes - size;
    DMLCY_MARKS greatest, first, mark;
    int64_t column, lane, i;
    int tap;
#if DMLCY_NUMBERED
    DMLCY_ELEMENT numbers[sizeof(DMLCY_MARKS) / sizeof(DMLCY_ELEMENT)];
    DMLCY_MARKS steps;
    for (i = 0; i < size; i++)
        numbers[i] = (DMLCY_ELEMENT)(i * lanes->lane_step);
    steps = DMLCY_WIDELY(dmlcy_load_, DMLCY_ELEMENT)(numbers);
#else
    DMLCY_ELEMENT taps[sizeof(DMLCY_MARKS) / sizeof(DMLCY_ELEMENT)];
    uint32_t numbers[sizeof(DMLCY_MARKS) / sizeof(DMLCY_ELEMENT)];
    const DMLCY_MARKS ones = DMLCY_EACH(1);
#endif
    for (column = 0; column < lanes->columns; column++) {
        DMLCY_ELEMENT *const output = (DMLCY_ELEMENT *)(lanes->output + column * lanes->output_step);
        char *const indices = lanes->indices + column * lanes->indices_step;
        for (lane = 0;; lane = lane + size < last ? lane + size : last) {
            const DMLCY_ELEMENT *const input = (const DMLCY_ELEMENT *)(lanes->input + column * lanes->input_step) + lane;
            const uint32_t number =
                lanes->number + (uint32_t)column * lanes->number_step + (uint32_t)lane * lanes->lane_step;
            greatest = DMLCY_UNDER(0);
#if DMLCY_NUMBERED
            mark = DMLCY_EACH((DMLCY_ELEMENT)lanes->numbers[0]);
#else
            mark = ones - ones;
#endif
            first = mark;
            for (tap = 1; tap < lanes->taps; tap++) {
#if DMLCY_NUMBERED
                mark = DMLCY_EACH((DMLCY_ELEMENT)lanes->numbers[tap]);
#else
                mark = mark + ones;
#endif
                DMLCY_WIDELY(dmlcy_take_greater_, DMLCY_ELEMENT)(&greatest, &first, DMLCY_UNDER(tap), mark);
            }
            DMLCY_WIDELY(dmlcy_store_, DMLCY_STORED)(output + lane, greatest);
#if DMLCY_NUMBERED
            first = first + DMLCY_EACH((DMLCY_ELEMENT)number) + steps;
            DMLCY_WIDELY(dmlcy_store_, DMLCY_ELEMENT)(numbers, first);
#else
            DMLCY_WIDELY(dmlcy_store_, DMLCY_ELEMENT)(taps, first);
            for (i = 0; i < size; i++)
                numbers[i] = number + lanes->numbers[taps[i]] + (uint32_t)i * lanes->lane_step;
#endif
            if (lanes->indices_item == sizeof(uint32_t))
                for (i = 0; i < size; i++)
                    ((uint32_t *)indices)[lane + i] = (uint32_t)numbers[i];
            else
                for (i = 0; i < size; i++)
                    ((uint64_t *)indices)[lane + i] = (uint32_t)numbers[i];
            if (lane == last)
                break;
        }
    }
}

#undef DMLCY_MARKS
#undef DMLCY_EACH
#undef DMLCY_WIDELY
#undef DMLCY_UNDER
#undef DMLCY_LANES_OF
#undef DMLCY_ELEMENT
#undef DMLCY_STORED
#undef DMLCY_NUMBERED
