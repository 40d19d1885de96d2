/* The loop of load_rows.h for one instruction set; DMLCY_LEVEL names it, DMLCY_TARGET declares it. */
#define DMLCY_OWN(end) DMLCY_LEVEL(DMLCY_NAMED(DMLCY_LOAD, end))

/* `size` elements, `step` bytes apart; `number` is that of the first one, `number_step` from one to the next. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_OWN(_row)(
    const char *input, int64_t step, DMLCY_ACC *target, int64_t size, int64_t number, int64_t number_step,
    const void *attributes)
{
    int64_t i;
    (void)number, (void)number_step, (void)attributes;
#if DMLCY_LOADS == DMLCY_LOADS_same
    if (step == DMLCY_ITEM)
        dmlcy_copy((char *)target, input, size * step);
    else
        for (i = 0; i < size; i++)
            target[i] = *(const DMLCY_ELEMENT *)(input + i * step);
#elif DMLCY_LOADS == DMLCY_LOADS_each
    if (step == DMLCY_ITEM)
        for (i = 0; i < size; i++)
            target[i] = DMLCY_FIRST(DMLCY_WIDEN(((const DMLCY_ELEMENT *)input)[i]), attributes);
    else
        for (i = 0; i < size; i++)
            target[i] = DMLCY_FIRST(DMLCY_WIDEN(*(const DMLCY_ELEMENT *)(input + i * step)), attributes);
#elif DMLCY_LOADS == DMLCY_LOADS_floats
    dmlcy_half_to_float((const uint16_t *)input, step, target, size);
    for (i = 0; i < size; i++)
        target[i] = DMLCY_FIRST(target[i], attributes);
#elif DMLCY_LOADS == DMLCY_LOADS_halves
    float some[DMLCY_MOST_HALVES];
    while (size > 0) {
        const int64_t count = size < DMLCY_MOST_HALVES ? size : DMLCY_MOST_HALVES;
        dmlcy_half_to_float((const uint16_t *)input, step, some, count);
        for (i = 0; i < count; i++)
            target[i] = DMLCY_FIRST(some[i], attributes);
        input += count * step;
        target += count;
        size -= count;
    }
#else
    if (step == DMLCY_ITEM)
        DMLCY_NAMED(dmlcy_place_row_, DMLCY_STORED)((const DMLCY_ELEMENT *)input, target, size, number, number_step);
    else
        for (i = 0; i < size; i++)
            target[i] = DMLCY_WIDEN(*(const DMLCY_ELEMENT *)(input + i * step), number + i * number_step);
#endif
}

/* Lines of lanes are taken in parts: one, where all elements of a line are side by side, else one for each column. */
DMLCY_TARGET static void DMLCY_OWN()(const void *args)
{
    const WindowLoad *const load = args;
    const int64_t width = load->width, run = load->run, column_step = load->column_step;
    const int near = load->lane_at || column_step == run * DMLCY_ITEM;
    const int whole = near && DMLCY_LOADS != DMLCY_LOADS_placed;
    const int64_t parts = whole ? 1 : width, size = whole ? width * run : run;
    const int64_t part_step = near ? run * DMLCY_ITEM : column_step;
    const char *input = load->input;
    DMLCY_ACC *target = load->target;
    int64_t number = load->number, line, i;
    if (run == 1) {
        for (line = 0; line < load->lines; line++) {
            DMLCY_OWN(_row)(input, column_step, target, width, number, load->number_step, load->attributes);
            input += load->line_step;
            target += load->target_step;
            number += load->number_line_step;
        }
        return;
    }
#if DMLCY_LOADS == DMLCY_LOADS_same
    if (whole && !load->lane_at) {
        for (line = 0; line < load->lines; line++) {
            dmlcy_copy((char *)target, input, size * DMLCY_ITEM);
            input += load->line_step;
            target += load->target_step;
        }
        return;
    }
#endif
    for (line = 0; line < load->lines; line++) {
        const char *from = input;
        if (load->lane_at) {
            char *const turned = DMLCY_LOADS == DMLCY_LOADS_same ? (char *)target : load->spare;
            DMLCY_NAMED(dmlcy_turn_lanes_, DMLCY_ITEM)(input, load->lane_at, turned, width, run);
            from = turned;
        }
        if (DMLCY_LOADS != DMLCY_LOADS_same || from == input)
            for (i = 0; i < parts; i++)
                DMLCY_OWN(_row)(from + i * part_step, DMLCY_ITEM, target + i * run, size,
                                number + i * load->number_step, load->lane_step, load->attributes);
        input += load->line_step;
        target += load->target_step;
        number += load->number_line_step;
    }
}

#undef DMLCY_OWN
