/* The functions of the gates of recurrent units, for each level; gate_rows.h has the text of the loops.
 *
 * Sums and products of gates are made in double and rounded once, so that all levels give the same bits.
 */
#ifndef DMLCY_GATES_H
#define DMLCY_GATES_H

#include <stdint.h>
#include <string.h>

#include "isa.h"
#include "named.h"

/* Each function takes n numbers of every array. */
typedef struct {
    int (*are_finite)(const float *x, int64_t n);
    void (*limit)(float *x, float most, int64_t n);                         /* NaN stays */
    void (*add_products)(float *x, const float *a, const float *b, int64_t n);
    void (*multiply)(const float *a, const float *b, float *to, int64_t n); /* `to` may be one of them */
    void (*cells)(
        const float *enters, const float *forgets, const float *found, const float *before, float *to, int64_t n);
    void (*coupled)(const float *enters, const float *found, const float *before, float *to, int64_t n);
} GateLoops;

#define DMLCY_TEXT "gate_rows.h"
#include "levels.h"

static const GateLoops *const dmlcy_gate_loops[] = {&dmlcy_gates, &dmlcy_gates_wide, &dmlcy_gates_widest};

#endif
