/* The loops that only move elements, for each size of an element; moves.pxd says what each of them does. */
#ifndef DMLCY_MOVE_ROWS_H
#define DMLCY_MOVE_ROWS_H

#include "moves.h"

#define DMLCY_TEXT "move_words.h"
#include "each_size.h"

static void (*const dmlcy_gather[])(const char *source, int64_t row_step, int64_t step, char *target, int64_t pitch,
                                    int64_t rows, int64_t count) = DMLCY_BY_SIZE(dmlcy_gather);
static void (*const dmlcy_transpose[])(const char *source, const int64_t *rows, int64_t height, int64_t width,
                                       char *target, int64_t pitch) = DMLCY_BY_SIZE(dmlcy_transpose);
static void (*const dmlcy_turn_tiles[])(const char *source, const int64_t *rows, int64_t height, int64_t cols,
                                        char *target, const int64_t *places, int64_t step) =
    DMLCY_BY_SIZE(dmlcy_turn_tiles);
static void (*const dmlcy_weave[])(const char *planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                                   char *target) = DMLCY_BY_SIZE(dmlcy_weave);
static void (*const dmlcy_copy_strided[])(const char *source, int64_t row_step, int64_t step, char *target,
                                          int64_t row_pitch, int64_t pitch, int64_t rows, int64_t count) =
    DMLCY_BY_SIZE(dmlcy_copy_strided);
static void (*const dmlcy_clear[])(char *target, int64_t pitch, int64_t count) = DMLCY_BY_SIZE(dmlcy_clear);

#endif
