/* Rows under windows that change their order and nothing else; an element is so many bytes, whatever its type. */
#ifndef DMLCY_WINDOW_MOVES_H
#define DMLCY_WINDOW_MOVES_H

#include "moves.h"

/* turn_lanes: takes `run` lanes of `width` columns in, lane by lane; they become neighbours. turn_back: puts a block of
 * results back, as many lanes as columns. */
#define DMLCY_TURNED(item)                                                                                             \
    static inline void dmlcy_turn_lanes_##item(                                                                        \
        const char *input, const int64_t *lane_at, char *target, int64_t width, int64_t run)                           \
    {                                                                                                                  \
        const int64_t turned = DMLCY_TURNS && width > 1 && width * item >= 8 ? run / (16 / item) * (16 / item) : 0;    \
        int64_t side = 16 / item, column = 0, lane;                                                                    \
        while (side > width)                                                                                           \
            side /= 2;                                                                                                 \
        while (turned > 0 && column < width) {                                                                         \
            column = column < width - side ? column : width - side;                                                    \
            dmlcy_turn_##item(input + column * item, lane_at, turned, side, target + column * run * item, run * item); \
            column += side;                                                                                            \
        }                                                                                                              \
        for (lane = turned; lane < run; lane++)                                                                        \
            for (column = 0; column < width; column++)                                                                 \
                memcpy(target + (column * run + lane) * item, input + lane_at[lane] + column * item, item);            \
    }                                                                                                                  \
                                                                                                                       \
    static inline void dmlcy_turn_back_##item(char *output, int64_t lane_step, const char *results, int64_t run)       \
    {                                                                                                                  \
        int64_t column_at[16 / item], column;                                                                          \
        for (column = 0; column < 16 / item; column++)                                                                 \
            column_at[column] = column * run * item;                                                                   \
        dmlcy_turn_##item(results, column_at, 16 / item, 16 / item, output, lane_step);                                \
    }                                                                                                                  \
                                                                                                                       \
    /* Puts lines of results, each `columns` times `run` and `pitch` from the next one, where they belong. */            \
    static inline void dmlcy_scatter_##item(                                                                           \
        char *output, int64_t lines, int64_t line_step, int64_t column_step, int64_t lane_step, const char *results,   \
        int64_t pitch, int64_t columns, int64_t run)                                                                   \
    {                                                                                                                  \
        const int64_t side = 16 / item;                                                                                \
        int64_t line, column, lane;                                                                                    \
        for (line = 0; line < lines; line++, output += line_step, results += pitch * item) {                           \
            if (run == 1 && column_step == item) {                                                                     \
                dmlcy_copy(output, results, columns * item);                                                           \
                continue;                                                                                              \
            }                                                                                                          \
            if (run > 1 && lane_step == item) {                                                                        \
                for (column = 0; column < columns; column++)                                                           \
                    dmlcy_copy(output + column * column_step, results + column * run * item, run * item);              \
                continue;                                                                                              \
            }                                                                                                          \
            lane = 0;                                                                                                  \
            while (DMLCY_TURNS && run > 1 && column_step == item && columns >= side && run - lane >= side) {           \
                for (column = 0; column < columns; column += side) {                                                   \
                    column = column < columns - side ? column : columns - side;                                        \
                    dmlcy_turn_back_##item(output + lane * lane_step + column * item, lane_step,                       \
                                           results + (column * run + lane) * item, run);                               \
                }                                                                                                      \
                lane += side;                                                                                          \
            }                                                                                                          \
            for (; lane < run; lane++)                                                                                 \
                for (column = 0; column < columns; column++)                                                           \
                    memcpy(output + lane * lane_step + column * column_step,                                           \
                           results + (column * run + lane) * item, item);                                              \
        }                                                                                                              \
    }

DMLCY_TURNED(1)
DMLCY_TURNED(2)
DMLCY_TURNED(4)
DMLCY_TURNED(8)
#undef DMLCY_TURNED

DMLCY_INLINE void dmlcy_scatter(
    int64_t item, char *output, int64_t lines, int64_t line_step, int64_t column_step, int64_t lane_step,
    const char *results, int64_t pitch, int64_t columns, int64_t run)
{
    if (item == 4)
        dmlcy_scatter_4(output, lines, line_step, column_step, lane_step, results, pitch, columns, run);
    else if (item == 2)
        dmlcy_scatter_2(output, lines, line_step, column_step, lane_step, results, pitch, columns, run);
    else if (item == 1)
        dmlcy_scatter_1(output, lines, line_step, column_step, lane_step, results, pitch, columns, run);
    else
        dmlcy_scatter_8(output, lines, line_step, column_step, lane_step, results, pitch, columns, run);
}

/* Repeats 16 bytes, which are a whole number of elements. */
DMLCY_INLINE void dmlcy_repeat(char *target, const char *bytes, int64_t n)
{
    uint64_t words[2];
    int64_t i = 0;
    memcpy(words, bytes, 16);
    for (; i + 16 <= n; i += 16)
        memcpy(target + i, words, 16);
    if (i + 8 <= n) {
        memcpy(target + i, words, 8);
        i += 8;
    }
    if (i + 4 <= n) {
        memcpy(target + i, words, 4);
        i += 4;
    }
    for (; i < n; i++)
        target[i] = bytes[i % 4];
}

/* Puts every `step`-th of `size` times `step` columns into one phase, the columns behind them into the next ones. */
#define DMLCY_SPLIT(item)                                                                                              \
    static inline void dmlcy_split_##item(                                                                             \
        char *DMLCY_RESTRICT phases, int64_t pitch, const char *DMLCY_RESTRICT sums, int64_t step, int64_t used,       \
        int64_t size)                                                                                                  \
    {                                                                                                                  \
        int64_t i, phase;                                                                                              \
        if (step == 2) {                                                                                               \
            for (i = 0; i < size; i++) {                                                                               \
                memcpy(phases + i * item, sums + 2 * i * item, item);                                                  \
                memcpy(phases + (pitch + i) * item, sums + (2 * i + 1) * item, item);                                  \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (phase = 0; phase < used; phase++)                                                                         \
            for (i = 0; i < size; i++)                                                                                 \
                memcpy(phases + (phase * pitch + i) * item, sums + (i * step + phase) * item, item);                   \
    }

DMLCY_SPLIT(1)
DMLCY_SPLIT(2)
DMLCY_SPLIT(4)
DMLCY_SPLIT(8)
DMLCY_SPLIT(16)
#undef DMLCY_SPLIT

DMLCY_INLINE void dmlcy_split(
    int64_t item, char *phases, int64_t pitch, const char *sums, int64_t step, int64_t used, int64_t size)
{
    if (item == 4)
        dmlcy_split_4(phases, pitch, sums, step, used, size);
    else if (item == 8)
        dmlcy_split_8(phases, pitch, sums, step, used, size);
    else if (item == 2)
        dmlcy_split_2(phases, pitch, sums, step, used, size);
    else if (item == 1)
        dmlcy_split_1(phases, pitch, sums, step, used, size);
    else
        dmlcy_split_16(phases, pitch, sums, step, used, size);
}

#endif
