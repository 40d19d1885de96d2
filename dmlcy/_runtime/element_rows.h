/* A loop that computes elements, each from those at the same place, for both instruction sets.
 *
 * To be included once for each loop, with these macros, which the end of the file takes back:
 *
 * DMLCY_ROW        the name of the loop
 * DMLCY_ELEMENT    the type of an element
 * DMLCY_WORK       the type in which the result is computed
 * DMLCY_INPUTS     1, 2 or 3
 * DMLCY_ATTRIBUTES the struct of the attributes; may be left out
 * DMLCY_LOCALS     declares the attributes that the result reads, copied: in the struct they could be in the output
 * DMLCY_RESULT     the result, of the elements x0, x1, x2 and the attributes
 * DMLCY_STORE      a function from DMLCY_WORK to DMLCY_ELEMENT
 */
#include "elements.h"
#include "named.h"

#define DMLCY_TEXT "element_blocks.h"
#include "both_levels.h"

#undef DMLCY_ROW
#undef DMLCY_ELEMENT
#undef DMLCY_WORK
#undef DMLCY_INPUTS
#undef DMLCY_LOCALS
#undef DMLCY_RESULT
#undef DMLCY_STORE
