/* The loops that add elements of one type to sums, for both instruction sets.
 *
 * To be included once for each type, with these macros, which the end of the file takes back:
 *
 * DMLCY_SCATTER  the name of the loops, and of the ScatterKernel
 * DMLCY_ACC      the type of a sum
 * DMLCY_STORED   how elements are loaded: a type, or another word that blocks.h has
 * DMLCY_ELEMENT  the type of an element in memory
 * DMLCY_WIDEN    makes a sum of an element
 * DMLCY_NARROW   makes elements of sums; NULL: sums are elements
 * DMLCY_AS       what an element is that is the only addend of its sum. whole: the sum; floats, halves: the sum, except
 *                that -0 becomes +0
 */
#include "scatter.h"

#ifndef DMLCY_ALONE
#define DMLCY_ALONE DMLCY_NAMED(DMLCY_ALONE_, DMLCY_AS)
#define DMLCY_ALONE_whole(element) (element)
#define DMLCY_ALONE_floats(element) ((element) + 0)
#define DMLCY_ALONE_halves(element) ((element) == 0x8000 ? 0 : (element))
#define DMLCY_CHANGED DMLCY_NAMED(DMLCY_CHANGED_, DMLCY_AS)
#define DMLCY_CHANGED_whole 0
#define DMLCY_CHANGED_floats 1
#define DMLCY_CHANGED_halves 2
#endif

#define DMLCY_TEXT "scatter_blocks.h"
#include "both_levels.h"

#if DMLCY_CHANGED
#define DMLCY_LOOPS(level)                                                                                             \
    {DMLCY_NAMED(DMLCY_SCATTER, _add##level), DMLCY_NAMED(DMLCY_SCATTER, _weave##level),                               \
     DMLCY_NAMED(DMLCY_SCATTER, _alone##level)}
#else
#define DMLCY_LOOPS(level) {DMLCY_NAMED(DMLCY_SCATTER, _add##level), DMLCY_NAMED(DMLCY_SCATTER, _weave##level), NULL}
#endif

static const ScatterKernel DMLCY_SCATTER = {
    sizeof(DMLCY_ELEMENT), sizeof(DMLCY_ACC), DMLCY_NARROW, {DMLCY_LOOPS(), DMLCY_LOOPS(_wide)}};

#undef DMLCY_LOOPS
#undef DMLCY_SCATTER
#undef DMLCY_ACC
#undef DMLCY_STORED
#undef DMLCY_ELEMENT
#undef DMLCY_WIDEN
#undef DMLCY_NARROW
#undef DMLCY_AS
