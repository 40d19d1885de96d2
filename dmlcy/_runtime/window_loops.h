/* The arguments of the loops over windows. The loops for each type are C: combine_rows.h, load_rows.h, finish_rows.h
 * and take_lanes.h have their texts. Code without a type is Cython, compiled once: windows.pyx. windows.pxd repeats the
 * declarations of this file for it. docs/windows.md explains both.
 */
#ifndef DMLCY_WINDOW_LOOPS_H
#define DMLCY_WINDOW_LOOPS_H

#include <stdint.h>

#define DMLCY_GROUP 8           /* the number of rows that one pass combines */
#define DMLCY_SLIDE 3           /* the size of windows for which there are loops that combine all rows, or columns,
                                 * of a window at once */
#define DMLCY_FOLDED 64         /* the fewest elements of a row whose maximum is found by a loop for one window over
                                 * all elements */
#define DMLCY_FEWEST_FOLDED 4   /* the fewest columns of a plane that is summed by a loop for one window over all
                                 * elements: two rows fill a block */
#define DMLCY_MOST_FOLDED 1024  /* the most columns of a plane that is summed by a loop for one window over all
                                 * elements */
#define DMLCY_MOST_DOWN 32      /* the most columns of a plane whose rows are summed block by block, not row by row;
                                 * half of it for planes in memory */
#define DMLCY_NEAR_ROWS 256     /* the most bytes of a row of a plane in memory that is not read in order first:
                                 * processors foresee such rows */
#define DMLCY_MOST_HALVES 256   /* the number of FLOAT16 elements that are converted at once */
#define DMLCY_MOST_TAPS 32      /* the most elements of a window that is taken whole, lane by lane */

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
    int64_t ahead;              /* bytes from a row to the row of the next band, which is prefetched; 0: no prefetch */
    int fresh;                  /* there is nothing in the target yet */
    int64_t waiting;            /* rows in `row` */
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
    int64_t number;             /* index of the element at `input` in the packed input */
    int64_t lines;
    int64_t line_step;          /* bytes of the input between lines */
    int64_t target_step;        /* accumulators between them */
    int64_t number_line_step;
    int64_t width;
    int64_t column_step;
    int64_t number_step;        /* from column to column */
    int64_t run;                /* lanes */
    int64_t lane_step;          /* of numbers */
    const int64_t *lane_at;     /* columns are neighbours in memory: bytes to each lane; NULL: lanes are neighbours */
    void *spare;                /* memory for the elements of a row that is turned */
    const void *attributes;
} WindowLoad;

/* Accumulators that become elements of the output, or indices. */
typedef struct {
    char *target;
    const void *results;
    const void *counts;
    int64_t size;
    int64_t lines;
    int64_t target_step;        /* bytes between lines */
    int64_t line_step;          /* elements between lines of results, and of counts */
    int64_t taps;               /* accumulators along the columns that make a result: 1 or DMLCY_SLIDE */
    int64_t tap_step;           /* elements between them */
    double volume;              /* elements of a window, padding included */
    const void *attributes;
    int doubtful;               /* set if a result is -infinity or -0: the band is computed again by `exact` */
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
    uint32_t number;            /* index of the element at `input` in the packed input */
    uint32_t number_step;       /* from window to window */
    uint32_t lane_step;         /* from lane to lane */
    int taps;
    int64_t at[DMLCY_MOST_TAPS];        /* bytes from `input` to the elements under a tap */
    uint32_t numbers[DMLCY_MOST_TAPS];  /* from `number` to theirs */
} WindowLanes;

/* The loops for one instruction set, each with the struct that it takes. NULL: this kernel never needs the loop. */
typedef struct {
    WindowLoop load;            /* WindowLoad */
    WindowLoop sums;            /* WindowSum: combines rows of accumulators */
    WindowLoop near;            /* WindowSum: combines neighbouring columns of a row of accumulators */
    WindowLoop elements;        /* WindowSum: combines rows of elements of the input */
    WindowLoop slide;           /* WindowSum: the same for DMLCY_SLIDE rows, for each line one row further on */
    WindowLoop fold;            /* WindowFold */
    WindowLoop finish;          /* WindowFinish: makes elements of the output */
    WindowLoop indices[2];      /* WindowFinish: makes indices of 4 bytes, and of 8 bytes */
    WindowLoop lanes;           /* WindowLanes */
} WindowLoops;

/* How an operator is computed for one data type. */
typedef struct WindowKernel {
    int64_t item;               /* bytes of an element */
    int64_t acc;                /* bytes of an accumulator */
    int own;                    /* an element is its own accumulator, perhaps converted */
    int converted;              /* `own`, and `elements` converts each element */
    int folds;                  /* `own`, and elements may be combined in any order, an element twice too */
    int placed;                 /* an accumulator is an element with its index (places.h) */
    void (*clear)(void *target, int64_t bytes);     /* makes all accumulators those of no element */
    /* Writes `size` counts: the divisor of a result, or `taps` itself, the elements of a window inside the input. */
    void (*count)(void *target, int64_t size, int64_t taps, double volume, const void *attributes);
    const struct WindowKernel *exact;   /* slower, for bands with a doubtful result; NULL: no result is doubtful */
    WindowLoops loops[2];       /* for all processors; where dmlcy_wide() */
} WindowKernel;

/* An element that is its own accumulator, whatever the attributes. */
#define DMLCY_ITSELF(x, attributes) (x)

#endif
