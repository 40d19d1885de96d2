/* Loops of numbers that are made of sums over neighbors, for the levels of isa.h.
 *
 * To be included once for each operator, with these macros, which the end of the file takes back. The steps are 0: what
 * is added up around each element; 1: what is added up from elements to their neighbors, which reads the first sums;
 * and 2: the results.
 *
 * DMLCY_NEIGHBORS       the name of the loops
 * DMLCY_GIVES           1: there is a step 1
 * DMLCY_TERM_N          for step N, the number of an element: of x0, x1, which are double, of `around` and `from`,
 *                       and `power`
 * DMLCY_POWERS_N        1: it reads `power`, which is DMLCY_BASE to the power of DMLCY_EXPONENT
 * DMLCY_LOCALS          declares what all elements share
 */
#include "functions.h"
#include "named.h"
#include "norms.h"

#define DMLCY_TEXT "norm_near_levels.h"
#include "levels.h"

#undef DMLCY_NEIGHBORS
#undef DMLCY_GIVES
#undef DMLCY_TERM_0
#undef DMLCY_TERM_1
#undef DMLCY_TERM_2
#undef DMLCY_POWERS_0
#undef DMLCY_POWERS_1
#undef DMLCY_POWERS_2
#undef DMLCY_BASE
#undef DMLCY_EXPONENT
#undef DMLCY_LOCALS
