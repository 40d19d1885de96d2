/* What the loops over windows are given: compiled loops for each type, and the Cython that calls them, share it. */
#ifndef DMLCY_WINDOWS_H
#define DMLCY_WINDOWS_H

#include "isa.h"
#include "places.h"

#define DMLCY_GROUP 8       /* rows that one pass combines */
#define DMLCY_FOLDED 64     /* elements of a row under one window, at least, that is combined in any order */

/* Rows that wait to be combined into the target. */
typedef struct dmlcy_window_sum {
    void (*loop)(const void *args);
    void *target;
    int64_t target_step;    /* elements between lines */
    int64_t line_step;      /* the same of the rows */
    int64_t lines;
    int64_t passes;         /* how often all this is repeated */
    int64_t pass_step;      /* elements to the rows of the next pass */
    int64_t size;
    int64_t item;           /* bytes of an element */
    int64_t ahead;          /* bytes from a row to the one that will be needed a band later; 0: all are near */
    int fresh;              /* there is nothing in the target yet */
    int64_t waiting;
    const void *row[DMLCY_GROUP];
} WindowSum;

/* Rows of neighbours, each of which is under one window. */
typedef struct dmlcy_window_fold {
    const char *input;
    int64_t line_step;      /* bytes between rows */
    int64_t lines;
    int64_t size;           /* elements of a row, at least DMLCY_FOLDED */
    void *results;
} WindowFold;

/* Names made of others, which may be macros. */
#define DMLCY_PASTE(first, second) first##second
#define DMLCY_NAMED(first, second) DMLCY_PASTE(first, second)

#endif
