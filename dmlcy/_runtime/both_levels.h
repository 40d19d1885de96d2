/* Includes the file DMLCY_TEXT, the text of some loops, for both instruction sets: the baseline, and the wide one of
 * isa.h.
 *
 * In the text, DMLCY_LEVEL(name) is the name of a loop for this set, DMLCY_TARGET declares the loop for this set, and
 * DMLCY_IS_WIDE is 1 for the wide set. A header that defines the macros of the text includes this file.
 */
#define DMLCY_LEVEL(name) name
#define DMLCY_TARGET
#define DMLCY_IS_WIDE 0
#include DMLCY_TEXT
#undef DMLCY_LEVEL
#undef DMLCY_TARGET
#undef DMLCY_IS_WIDE

#define DMLCY_LEVEL(name) DMLCY_NAMED(name, _wide)
#define DMLCY_TARGET DMLCY_WIDE
#define DMLCY_IS_WIDE 1
#include DMLCY_TEXT
#undef DMLCY_LEVEL
#undef DMLCY_TARGET
#undef DMLCY_IS_WIDE

#undef DMLCY_TEXT
