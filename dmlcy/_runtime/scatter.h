/* The arguments of the loops that add columns to the image, each column where its window lies. scatter_rows.h has the
 * text of these loops; scatter.pyx plans what they do, and scatter.pxd repeats these declarations.
 */
#ifndef DMLCY_SCATTER_H
#define DMLCY_SCATTER_H

#include "half.h"
#include "joins.h"

/* The elements that an element of the window (a tap) adds to a slab, which is some rows of the output: a run of the
 * input for each row. */
typedef struct {
    int64_t rows;
    int64_t size;               /* of a run */
    const char *input;
    int64_t input_row;          /* bytes from run to run */
    int64_t input_step;         /* and from element to element */
    char *sums;
    int64_t sums_row;
    int64_t sums_step;
} ScatterRun;

/* Rows in which each element of the output is one element of the input. A block is `width` elements of the output, of
 * which element k of block i lies at input + at[k] + i * step. If `step` is the size of an element, `width` is 2 to 4.
 * Otherwise the elements of a block are neighbours in the input. */
typedef struct {
    int64_t rows;
    char *output;
    int64_t output_row;         /* bytes from row to row */
    const char *input;
    int64_t input_row;
    const int64_t *at;
    int64_t width;
    int64_t blocks;
    int64_t step;
} ScatterRows;

/* The loops for one instruction set. */
typedef struct {
    void (*add)(const ScatterRun *run);
    void (*weave)(const ScatterRows *rows);
    /* Makes sums of the elements of a copied row: 0 + -0 is +0. NULL: every element is its own sum. */
    void (*alone)(char *row, int64_t size);
} ScatterLoops;

/* How elements of some data types are added. */
typedef struct {
    int64_t item;               /* bytes of an element */
    int64_t sum;                /* bytes of a sum */
    void (*narrow)(const float *sums, uint16_t *target, ptrdiff_t step, size_t count); /* NULL: sums are elements */
    ScatterLoops loops[2];      /* for all processors; where dmlcy_wide() */
} ScatterKernel;

#endif
