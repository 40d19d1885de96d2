/* Includes the file DMLCY_TEXT for all levels of isa.h, as both_levels.h does for two. Loops that compute much for each
 * element include this file; others wait for memory, and gain nothing at the widest level. */
#define DMLCY_LEVEL(name) DMLCY_NAMED(name, _widest)
#define DMLCY_TARGET DMLCY_WIDEST
#define DMLCY_IS_WIDE 1
#define DMLCY_IS_WIDEST 1
#define DMLCY_FUSED 1
#include DMLCY_TEXT
#undef DMLCY_LEVEL
#undef DMLCY_TARGET
#undef DMLCY_IS_WIDE
#undef DMLCY_IS_WIDEST
#undef DMLCY_FUSED

#include "both_levels.h"
