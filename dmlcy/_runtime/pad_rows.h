/* The loops that write padded rows, for each size of elements. pad.pyx plans what they do, and repeats the declarations. */
#ifndef DMLCY_PAD_ROWS_H
#define DMLCY_PAD_ROWS_H

#include "stream.h"

#define DMLCY_EDGES 1024        /* the most padding positions of a row whose sources are looked up at once, on the
                                 * stack */

typedef struct {
    int64_t n;                  /* positions of the input */
    int64_t size;               /* of the output */
    int64_t start;              /* where the input begins in the output */
    int64_t step;               /* bytes, in the input */
    int64_t out_step;
} PadAxis;

/* The element of an axis of n elements that position p reads; p may be negative, or n and more. */
typedef int64_t (*IndexMap)(int64_t p, int64_t n);

/* The common numbers of all rows of an output. */
typedef struct {
    PadAxis row;
    PadAxis line;               /* along which rows follow each other */
    IndexMap index;             /* NULL: padding takes `word` */
    uint64_t word;              /* an element, repeated */
    int64_t cell;               /* bytes that move together at each position of the row */
    int turned;                 /* the input is contiguous along the lines, the output along the row */
    int dense;                  /* the output has no gaps, and rows lie in it in the order of writing */
} PadRows;

/* The positions of a row that are written at once. */
typedef struct {
    int64_t before;             /* padding positions before the input */
    int64_t body;               /* positions of the input */
    int64_t after;              /* padding positions after it */
    int64_t first;              /* offset of the first position of the body, in bytes of the input */
    int64_t edges[DMLCY_EDGES]; /* offsets of what the positions before and after read */
} PadPiece;

/* Writes a piece of `count` rows, which follow each other along the lines, in the input too; a source of NULL means rows
 * of `word`. The stream, unless NULL, writes the output. */
typedef void (*PadWrite)(
    const PadRows *rows, const PadPiece *piece, dmlcy_stream *stream, int64_t count, const char *source, char *target);

/* Whether whole rows with `word` around them follow each other. */
static inline int dmlcy_spreads(const PadRows *rows, const PadPiece *piece)
{
    return rows->dense && !rows->index && rows->row.step == rows->cell && piece->body * rows->cell >= DMLCY_SPREAD
           && piece->before + piece->body + piece->after == rows->row.size;
}

/* Writes such rows: the gaps between them are the padding after a row and before the next. */
static void dmlcy_pad_spread(
    const PadRows *rows, const PadPiece *piece, int64_t count, const char *source, char *target)
{
    const int64_t body = piece->before * rows->cell, size = piece->body * rows->cell, after = piece->after * rows->cell;
    const int64_t step = rows->line.out_step;
    dmlcy_fill(target, rows->word, body);
    dmlcy_spread(target + body, rows->word, step - size, source + piece->first, rows->line.step, size, count);
    dmlcy_fill(target + (count - 1) * step + body + size, rows->word, after);
}

#define DMLCY_TEXT "pad_words.h"
#include "each_size.h"

static const PadWrite dmlcy_pad_rows[] = DMLCY_BY_SIZE(dmlcy_pad_rows);
static void (*const dmlcy_pad_copy[])(
    const char *source, int64_t step, char *target, int64_t out_step, int64_t count) = DMLCY_BY_SIZE(dmlcy_pad_copy);
static void (*const dmlcy_pad_pick[])(const char *source, const int64_t *offsets, char *target, int64_t out_step,
                                      int64_t count) = DMLCY_BY_SIZE(dmlcy_pad_pick);

/* The stream takes a part of the row at a time. */
static void dmlcy_pad_stream_edge(
    const PadRows *rows, dmlcy_stream *stream, const char *source, const int64_t *offsets, int64_t count)
{
    const int64_t item = rows->cell;
    int64_t part;
    if (!rows->index) {
        dmlcy_stream_fill(stream, rows->word, count * item);
        return;
    }
    for (; count > 0; count -= part, offsets += part) {
        part = count < DMLCY_ROOM / item ? count : DMLCY_ROOM / item;
        dmlcy_pad_pick[item](source, offsets, dmlcy_stream_room(stream), item, part);
        dmlcy_stream_advance(stream, part * item);
    }
}

static void dmlcy_pad_stream_body(const PadRows *rows, dmlcy_stream *stream, const char *source, int64_t count)
{
    const int64_t item = rows->cell, step = rows->row.step;
    int64_t part;
    if (step == item) {
        dmlcy_stream_put(stream, source, count * item);
        return;
    }
    for (; count > 0; count -= part, source += part * step) {
        part = count < DMLCY_ROOM / item ? count : DMLCY_ROOM / item;
        dmlcy_pad_copy[item](source, step, dmlcy_stream_room(stream), item, part);
        dmlcy_stream_advance(stream, part * item);
    }
}

/* Rows of an output that is streamed; a cell is an element. */
static void dmlcy_pad_stream(
    const PadRows *rows, const PadPiece *piece, dmlcy_stream *stream, int64_t count, const char *source, char *target)
{
    int64_t i;
    for (i = 0; i < count; i++) {
        dmlcy_stream_seek(stream, target + i * rows->line.out_step);
        if (!source) {
            dmlcy_stream_fill(stream, rows->word, (piece->before + piece->body + piece->after) * rows->cell);
            continue;
        }
        dmlcy_pad_stream_edge(rows, stream, source, piece->edges, piece->before);
        dmlcy_pad_stream_body(rows, stream, source + piece->first, piece->body);
        dmlcy_pad_stream_edge(rows, stream, source, piece->edges + piece->before, piece->after);
        source += rows->line.step;
    }
}

#endif
