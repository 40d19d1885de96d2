/* The loops of pad_rows.h for elements of one size. */
#define DMLCY_READ(place) (*(const DMLCY_WORD *)(source + (place)))
#define DMLCY_WRITTEN(place) (*(DMLCY_WORD *)(target + (place)))

/* Loops with a constant step are vectorized. */
static void DMLCY_OF(dmlcy_pad_copy)(
    const char *source, int64_t step, char *target, int64_t out_step, int64_t count)
{
    const DMLCY_WORD *const elements = (const DMLCY_WORD *)source;
    DMLCY_WORD *const out = (DMLCY_WORD *)target;
    int64_t i;
    if (out_step != DMLCY_ITEM)
        for (i = 0; i < count; i++)
            DMLCY_WRITTEN(i * out_step) = DMLCY_READ(i * step);
    else if (step == DMLCY_ITEM)
        dmlcy_copy(target, source, count * DMLCY_ITEM);
    else if (step == 2 * DMLCY_ITEM)
        for (i = 0; i < count; i++)
            out[i] = elements[2 * i];
    else if (step == -DMLCY_ITEM)
        for (i = 0; i < count; i++)
            out[i] = elements[-i];
    else
        for (i = 0; i < count; i++)
            out[i] = DMLCY_READ(i * step);
}

static void DMLCY_OF(dmlcy_pad_pick)(
    const char *source, const int64_t *offsets, char *target, int64_t out_step, int64_t count)
{
    int64_t i;
    for (i = 0; i < count; i++)
        DMLCY_WRITTEN(i * out_step) = DMLCY_READ(offsets[i]);
}

static inline void DMLCY_OF(dmlcy_pad_fill)(uint64_t word, char *target, int64_t out_step, int64_t count)
{
    int64_t i;
    if (out_step == DMLCY_ITEM) {
        dmlcy_fill(target, word, count * DMLCY_ITEM);
        return;
    }
    for (i = 0; i < count; i++)
        DMLCY_WRITTEN(i * out_step) = (DMLCY_WORD)word;
}

/* Transposes as many positions of as many lines as a cache line has elements; these are contiguous across in the input
 * and along in the output. Each cache line is read and written once, by way of a buffer: lines a power of two apart would
 * push each other out of the cache. Some positions are woven into words of 8 bytes, and the words are transposed. */
#define DMLCY_SQUARE (64 / DMLCY_ITEM)
#define DMLCY_WOVEN_IN (8 / DMLCY_ITEM)
#if DMLCY_ITEM == 1
#define DMLCY_EACH(text) text(0) text(1) text(2) text(3) text(4) text(5) text(6) text(7)
#elif DMLCY_ITEM == 2
#define DMLCY_EACH(text) text(0) text(1) text(2) text(3)
#elif DMLCY_ITEM == 4
#define DMLCY_EACH(text) text(0) text(1)
#else
#define DMLCY_EACH(text) text(0)
#endif
#define DMLCY_POSITION(k)                                                                                              \
    const DMLCY_WORD *const at##k = (const DMLCY_WORD *)(source + (DMLCY_WOVEN_IN * j + k) * step);
#define DMLCY_WOVE(k) tile[j][DMLCY_WOVEN_IN * i + k] = at##k[i];

static inline void DMLCY_OF(dmlcy_pad_square)(const char *source, int64_t step, char *target, int64_t line_out_step)
{
    DMLCY_WORD tile[8][DMLCY_SQUARE * DMLCY_WOVEN_IN];
    int64_t i, j;
    for (j = 0; j < 8; j++) {
        DMLCY_EACH(DMLCY_POSITION)
        for (i = 0; i < DMLCY_SQUARE; i++) {
            DMLCY_EACH(DMLCY_WOVE)
        }
    }
    for (i = 0; i < DMLCY_SQUARE; i++)
        for (j = 0; j < 8; j++)
            memcpy(target + i * line_out_step + 8 * j, &tile[j][DMLCY_WOVEN_IN * i], 8);
}

static void DMLCY_OF(dmlcy_pad_turn)(
    const PadRows *rows, int64_t count, int64_t lines, const char *source, char *target)
{
    const int64_t step = rows->row.step, out_step = rows->line.out_step;
    const int64_t tiled = count / DMLCY_SQUARE * DMLCY_SQUARE;
    const int64_t left = lines % DMLCY_SQUARE;
    int64_t at, i;
    for (i = 0; i < lines - left; i += DMLCY_SQUARE)
        for (at = 0; at < tiled; at += DMLCY_SQUARE)
            DMLCY_OF(dmlcy_pad_square)(source + at * step + i * DMLCY_ITEM, step,
                                       target + at * DMLCY_ITEM + i * out_step, out_step);
    for (i = 0; i < lines; i++) {
        at = i < lines - left ? tiled : 0;
        DMLCY_OF(dmlcy_pad_copy)(source + at * step + i * DMLCY_ITEM, step,
                                 target + at * DMLCY_ITEM + i * out_step, DMLCY_ITEM, count - at);
    }
}

static void DMLCY_OF(dmlcy_pad_filled)(const PadRows *rows, const PadPiece *piece, int64_t count, char *target)
{
    const int64_t positions = piece->before + piece->body + piece->after;
    int64_t i;
    if (rows->dense && positions == rows->row.size) {
        dmlcy_fill(target, rows->word, count * positions * DMLCY_ITEM);
        return;
    }
    for (i = 0; i < count; i++)
        DMLCY_OF(dmlcy_pad_fill)(rows->word, target + i * rows->line.out_step, rows->row.out_step, positions);
}

static inline void DMLCY_OF(dmlcy_pad_edge)(
    const PadRows *rows, const char *source, const int64_t *offsets, char *target, int64_t count)
{
    if (!rows->index)
        DMLCY_OF(dmlcy_pad_fill)(rows->word, target, rows->row.out_step, count);
    else
        DMLCY_OF(dmlcy_pad_pick)(source, offsets, target, rows->row.out_step, count);
}

static void DMLCY_OF(dmlcy_pad_rows)(
    const PadRows *rows, const PadPiece *piece, dmlcy_stream *stream, int64_t count, const char *source, char *target)
{
    const int64_t body = piece->before * rows->row.out_step;
    const int64_t after = body + piece->body * rows->row.out_step;
    const int dense = rows->row.step == DMLCY_ITEM && rows->row.out_step == DMLCY_ITEM;
    int64_t line;
    (void)stream;
    if (!source) {
        DMLCY_OF(dmlcy_pad_filled)(rows, piece, count, target);
        return;
    }
    if (dmlcy_spreads(rows, piece)) {
        dmlcy_pad_spread(rows, piece, count, source, target);
        return;
    }
    if (rows->turned) /* never where the row is dense */
        DMLCY_OF(dmlcy_pad_turn)(rows, piece->body, count, source + piece->first, target + body);
    for (line = 0; line < count; line++) { /* the body first: processors fetch what follows when it is read in order */
        if (dense)
            dmlcy_copy(target + body, source + piece->first, piece->body * DMLCY_ITEM);
        else if (!rows->turned)
            DMLCY_OF(dmlcy_pad_copy)(source + piece->first, rows->row.step, target + body, rows->row.out_step,
                                     piece->body);
        DMLCY_OF(dmlcy_pad_edge)(rows, source, piece->edges, target, piece->before);
        DMLCY_OF(dmlcy_pad_edge)(rows, source, piece->edges + piece->before, target + after, piece->after);
        source += rows->line.step;
        target += rows->line.out_step;
    }
}

#undef DMLCY_READ
#undef DMLCY_WRITTEN
#undef DMLCY_SQUARE
#undef DMLCY_WOVEN_IN
#undef DMLCY_EACH
#undef DMLCY_POSITION
#undef DMLCY_WOVE
