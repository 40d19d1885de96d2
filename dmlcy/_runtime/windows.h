/* What the loops over windows are given. The loops for each type are C: combine_rows.h, load_rows.h, finish_rows.h and
 * take_lanes.h have their texts. What no type changes is Cython, compiled once: windows.pyx.
 */
#ifndef DMLCY_WINDOWS_H
#define DMLCY_WINDOWS_H

#include "isa.h"
#include "places.h"
#include "window_moves.h"

#define DMLCY_GROUP 8           /* rows that one pass combines */
#define DMLCY_SLIDE 3           /* rows of windows that loops of their own slide down */
#define DMLCY_FOLDED 64         /* elements of a row under one window, at least, that is combined in any order */
#define DMLCY_FEWEST_FOLDED 4   /* columns of a plane under one window: with the row behind it a row fills a block */
#define DMLCY_MOST_FOLDED 1024
#define DMLCY_MOST_DOWN 32      /* columns of a plane that is combined block by block; half of it where planes are far */
#define DMLCY_NEAR_ROWS 256     /* bytes from a row to the next one, at most, that processors take for one stream */
#define DMLCY_HALVES 256        /* that are converted at once */
#define DMLCY_MOST_TAPS 32      /* of windows that are taken whole, lane by lane */

/* Takes one of the structs below. */
typedef void (*WindowLoop)(const void *args);

/* Rows that wait to be combined into the target. */
typedef struct {
    WindowLoop loop;
    void *target;
    int64_t target_step;        /* elements between lines */
    int64_t line_step;          /* the same of the rows */
    int64_t lines;
    int64_t passes;             /* how often all this is repeated */
    int64_t pass_step;          /* elements to the rows of the next pass */
    int64_t size;
    int64_t item;               /* bytes of an element */
    int64_t ahead;              /* bytes from a row to the one that will be needed a band later; 0: all are near */
    int fresh;                  /* there is nothing in the target yet */
    int64_t waiting;
    const void *row[DMLCY_GROUP];
} WindowSum;

/* Lines of neighbours that are under one window each: a row of at least DMLCY_FOLDED, or a plane. */
typedef struct {
    const char *input;
    int64_t line_step;          /* bytes between lines */
    int64_t lines;
    int64_t rows;
    int64_t row_step;           /* bytes */
    int64_t size;               /* elements of a row */
    int far;                    /* planes come from memory */
    void *results;
} WindowFold;

/* Elements that become accumulators: a row of each line. */
typedef struct {
    const char *input;          /* these three change from row to row */
    void *target;
    int64_t number;             /* of the element at `input`, if the input were packed */
    int64_t lines;
    int64_t line_step;          /* bytes of the input between lines */
    int64_t target_step;        /* accumulators between them */
    int64_t number_line_step;
    int64_t width;
    int64_t column_step;
    int64_t number_step;        /* from column to column */
    int64_t run;                /* lanes */
    int64_t lane_step;          /* of numbers */
    const int64_t *lane_at;     /* where lanes are whose columns are neighbours in memory; NULL: lanes are */
    void *spare;                /* for the elements of a row that is turned */
    const void *attributes;
} WindowLoad;

typedef struct {
    char *target;
    const void *results;
    const void *counts;
    int64_t size;
    int64_t lines;
    int64_t target_step;        /* bytes between lines */
    int64_t line_step;          /* elements between lines of results, and of counts */
    int64_t taps;               /* along the columns, that are still to be combined: 1 or DMLCY_SLIDE */
    int64_t tap_step;           /* elements between them */
    double volume;
    const void *attributes;
    int doubtful;               /* a result may be another number: the band is computed again, exactly */
} WindowFinish;

/* Windows that follow each other along the columns and have the same taps inside the input. */
typedef struct {
    const char *input;
    char *output;
    char *indices;
    int64_t columns;
    int64_t input_step;         /* bytes from window to window */
    int64_t output_step;
    int64_t indices_step;
    int indices_item;
    int64_t lanes;              /* a block of them, or more */
    uint32_t number;            /* of the element at `input`, if the input were packed */
    uint32_t number_step;       /* from window to window */
    uint32_t lane_step;         /* from lane to lane */
    int taps;
    int64_t at[DMLCY_MOST_TAPS];        /* bytes from `input` to the elements under a tap */
    uint32_t numbers[DMLCY_MOST_TAPS];  /* from `number` to theirs */
} WindowLanes;

/* The loops for one instruction set; NULL: what is computed never needs it. */
typedef struct {
    WindowLoop load;            /* WindowLoad */
    WindowLoop sums;            /* WindowSum: rows of accumulators */
    WindowLoop near;            /* a row of them with itself */
    WindowLoop elements;        /* rows of the tensor */
    WindowLoop slide;
    WindowLoop fold;            /* WindowFold */
    WindowLoop finish;          /* WindowFinish */
    WindowLoop indices[2];      /* the same for indices of 4 and of 8 bytes */
    WindowLoop lanes;           /* WindowLanes */
} WindowLoops;

/* What is computed of one data type. */
typedef struct WindowKernel {
    int64_t item;               /* bytes of an element */
    int64_t acc;                /* bytes of an accumulator */
    int own;                    /* elements are accumulators as they are, */
    int converted;              /* but for a conversion that `elements` makes, */
    int folds;                  /* and are combined in any order */
    int placed;                 /* accumulators are elements with their number */
    void (*clear)(void *target, int64_t bytes);     /* makes all accumulators those of no element */
    /* Puts what a result is divided by, or is made of besides: `taps` is the elements of its window inside the input. */
    void (*count)(void *target, int64_t size, int64_t taps, double volume, const void *attributes);
    const struct WindowKernel *exact;   /* the same, slower, where a result is doubtful */
    WindowLoops loops[2];       /* the second ones where dmlcy_wide() */
} WindowKernel;

/* Names made of others, which may be macros. */
#define DMLCY_PASTE(first, second) first##second
#define DMLCY_NAMED(first, second) DMLCY_PASTE(first, second)

/* An element that is its own accumulator, whatever the attributes. */
#define DMLCY_ITSELF(x, attributes) (x)

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

#endif
