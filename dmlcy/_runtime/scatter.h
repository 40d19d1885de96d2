/* What the loops that add columns where their windows lie are given; scatter_rows.h has their text. */
#ifndef DMLCY_SCATTER_H
#define DMLCY_SCATTER_H

#include "half.h"
#include "joins.h"

/* What a tap gives to a slab: a run of the input for each row. */
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

/* Rows where each position takes one element, of `width` to a block: element k of block i lies at
 * input + at[k] + i * step. Where blocks are neighbours, `width` is 2 to 4; elsewhere their elements are. */
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
    /* Makes a row that was copied one of sums: +0 of -0. NULL: they are the same. */
    void (*alone)(char *row, int64_t size);
} ScatterLoops;

/* How elements of some data types are added. */
typedef struct {
    int64_t item;               /* bytes of an element */
    int64_t sum;                /* and of a sum */
    void (*narrow)(const float *sums, uint16_t *target, ptrdiff_t step, size_t count); /* NULL: sums are elements */
    ScatterLoops loops[2];      /* for all processors, and with wide blocks */
} ScatterKernel;

#endif
