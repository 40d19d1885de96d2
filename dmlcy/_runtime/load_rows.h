/* The loop that makes accumulators of rows of elements, where these are not combined at once.
 *
 * To be included once for each type, with these macros, which the end of the file takes back:
 *
 * DMLCY_LOAD     the name of the loop
 * DMLCY_ACC      an accumulator
 * DMLCY_ELEMENT  an element in memory
 * DMLCY_ITEM     its bytes
 * DMLCY_STORED   how elements are loaded, a type or another word of places.h
 * DMLCY_WIDEN    makes of an element what DMLCY_FIRST takes
 * DMLCY_FIRST    makes an accumulator of it and of the attributes
 * DMLCY_AS       same: elements are accumulators; each: they are made one by one; floats, halves: float16 is made float
 *                first, which accumulators are or are not; placed: accumulators have the number of the element too
 */
#include "windows.h"

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
