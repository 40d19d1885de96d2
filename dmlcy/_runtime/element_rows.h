/* A loop that computes elements, each from those at the same place, for the levels of isa.h.
 *
 * To be included once for each loop, with these macros, which the end of the file takes back:
 *
 * DMLCY_ROW            the name of the loop
 * DMLCY_INPUTS(each)   each(0, float, double) each(1, uint8_t, uint8_t) …: the number of an input, the type of its
 *                      elements, and the type of what the result reads of it
 * DMLCY_ELEMENT        the type of an element of the output
 * DMLCY_LOCALS         declares the attributes that the result reads, copied: in the struct they could be in the output
 * DMLCY_RESULT         the result, of the numbers x0, x1 … and the attributes
 * DMLCY_STORE          a function that makes an element of the result
 * DMLCY_SPECIAL        whether an element needs DMLCY_RESULT; left out, DMLCY_ORDINARY is, too
 * DMLCY_ORDINARY       the same result of other elements, in fewer steps
 * DMLCY_FUNCTIONS      1: the result calls functions, which take DMLCY_FUSED. Such a loop has a text for the widest level
 */
#include "elements.h"
#include "named.h"

#ifndef DMLCY_ROW_OF
#define DMLCY_ROW_OF(number, element, work) const element *const a##number = (const element *)inputs[number];
#define DMLCY_NUMBER_OF(number, element, work) const work x##number = (work)a##number[i];
/* The elements from begin to end, by such a result. */
#define DMLCY_MADE_OF(result)                                                       \
    DMLCY_APART_EACH                                                                \
    for (i = begin; i < end; i++) {                                                 \
        DMLCY_INPUTS(DMLCY_NUMBER_OF)                                               \
        y[i] = (DMLCY_ELEMENT)DMLCY_STORE(result);                                  \
    }
#define DMLCY_CHOSEN 1024 /* elements between two choices of a result */
#endif

#define DMLCY_TEXT "element_blocks.h"
#if DMLCY_FUNCTIONS
#include "levels.h"
#else
#include "both_levels.h"
#endif

#undef DMLCY_ROW
#undef DMLCY_INPUTS
#undef DMLCY_ELEMENT
#undef DMLCY_LOCALS
#undef DMLCY_RESULT
#undef DMLCY_STORE
#undef DMLCY_SPECIAL
#undef DMLCY_ORDINARY
#undef DMLCY_FUNCTIONS
