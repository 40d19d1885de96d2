/* The loop that makes accumulators of rows of elements, where these are not combined at once.
 *
 * To be included once for each type, with these macros, which the end of the file takes back:
 *
 * DMLCY_LOAD     the name of the loop
 * DMLCY_ACC      the type of an accumulator
 * DMLCY_ELEMENT  the type of an element in memory
 * DMLCY_ITEM     the bytes of an element, as a number
 * DMLCY_STORED   how elements are loaded: a type, or another word that places.h has
 * DMLCY_WIDEN    makes of an element what DMLCY_FIRST takes
 * DMLCY_FIRST    makes an accumulator of this and of the attributes
 * DMLCY_AS       how accumulators are made. same: elements are copied; each: one by one; floats: float16 elements
 *                become float, the type of accumulators; halves: float16 elements become float, and then accumulators
 *                of another type; placed: an element becomes an accumulator with its number
 */
#include "named.h"
#include "places.h"
#include "window_loops.h"
#include "window_moves.h"

#ifndef DMLCY_LOADS
#define DMLCY_LOADS DMLCY_NAMED(DMLCY_LOADS_, DMLCY_AS)
#define DMLCY_LOADS_same 1
#define DMLCY_LOADS_each 2
#define DMLCY_LOADS_floats 3
#define DMLCY_LOADS_halves 4
#define DMLCY_LOADS_placed 5
#endif

#define DMLCY_TEXT "load_lines.h"
#include "both_levels.h"

#undef DMLCY_LOAD
#undef DMLCY_ACC
#undef DMLCY_ELEMENT
#undef DMLCY_ITEM
#undef DMLCY_STORED
#undef DMLCY_WIDEN
#undef DMLCY_FIRST
#undef DMLCY_AS
