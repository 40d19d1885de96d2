/* A loop that computes elements, each from those at the same place, for the levels of isa.h.
 *
 * To be included once for each loop, with these macros, which the end of the file takes back:
 *
 * DMLCY_ROW            the name of the loop
 * DMLCY_FIRST(each)    each(0, float, double): the number of an input, the type of its elements, and the type of what the
 *                      result reads of it
 * DMLCY_OTHERS(each)   each(1, uint8_t, uint8_t) …: the same of the other inputs
 * DMLCY_ELEMENT        the type of an element of the output
 * DMLCY_LOCALS         declares the attributes that the result reads, copied: in the struct they could be in the output
 * DMLCY_RESULT         the result, of the numbers x0, x1 … and the attributes
 * DMLCY_MORE(each)     each(1, result) …: the number of another output, and its result
 * DMLCY_STORE          a function that makes an element of the result
 * DMLCY_STEADY         1: the name with _steady is a loop that reads one element of each of the others (steady_blocks.h)
 * DMLCY_STRIPS         1: the names with _strip are loops over short rows of FLOAT32, of all levels (strip_blocks.h)
 * DMLCY_HALVES         1: the name with _halves is a loop of FLOAT16 where this one has floats, or NULL (half_blocks.h)
 * DMLCY_SPECIAL        its highest bit: whether an element needs DMLCY_RESULT; left out, DMLCY_ORDINARY is, too
 * DMLCY_ORDINARY       the same result of other elements, in fewer steps
 * DMLCY_FUNCTIONS      1: the result calls functions, which take DMLCY_FUSED. Such a loop has a text for the widest level,
 *                      and takes multiples of DMLCY_LANES elements, as that of FLOAT16 does
 */
#include "elements.h"
#include "named.h"

#ifndef DMLCY_ROW_OF
#define DMLCY_ROW_OF(number, element, work) const element *const a##number = (const element *)inputs[number];
#define DMLCY_INPUTS(each) DMLCY_FIRST(each) DMLCY_OTHERS(each)
#define DMLCY_NUMBER_OF(number, element, work) const work x##number = (work)a##number[i];
#define DMLCY_NUMBER_ONCE(number, element, work) const work x##number = (work)*a##number;
#define DMLCY_ROW_FOR(number, result) DMLCY_ELEMENT *const y##number = (DMLCY_ELEMENT *)outputs[number];
#define DMLCY_ELEMENT_FOR(number, result) y##number[i] = (DMLCY_ELEMENT)DMLCY_STORE(result);
/* The elements from begin to end, by such a result. */
#define DMLCY_MADE_OF(result)                                                       \
    DMLCY_APART_EACH                                                                \
    for (i = begin; i < end; i++) {                                                 \
        DMLCY_INPUTS(DMLCY_NUMBER_OF)                                               \
        y[i] = (DMLCY_ELEMENT)DMLCY_STORE(result);                                  \
        DMLCY_MORE(DMLCY_ELEMENT_FOR)                                               \
    }
#define DMLCY_CHOSEN 1024 /* the number of elements that share one choice: the formula for ordinary elements, or the
                           * one for all */
#endif

#define DMLCY_TEXT "element_blocks.h"
#if DMLCY_FUNCTIONS
#include "levels.h"
#else
#include "both_levels.h"
#endif

#if DMLCY_STRIPS
#define DMLCY_TEXT "strip_blocks.h"
#include "levels.h"
#endif

#define DMLCY_FUSED (DMLCY_X86 | DMLCY_BASELINE_FUSED)
#if DMLCY_STEADY
#include "steady_blocks.h"
#endif
#if DMLCY_HALVES
#include "half_blocks.h"
#endif
#undef DMLCY_FUSED

#undef DMLCY_ROW
#undef DMLCY_FIRST
#undef DMLCY_OTHERS
#undef DMLCY_ELEMENT
#undef DMLCY_LOCALS
#undef DMLCY_RESULT
#undef DMLCY_MORE
#undef DMLCY_STORE
#undef DMLCY_STEADY
#undef DMLCY_HALVES
#undef DMLCY_STRIPS
#undef DMLCY_SPECIAL
#undef DMLCY_ORDINARY
#undef DMLCY_FUNCTIONS
