/* Includes the file DMLCY_TEXT, the text of some loops, for two levels of isa.h: baseline and wide.
 *
 * In the text, DMLCY_LEVEL(name) is the name of a loop for this level, and DMLCY_TARGET declares the loop for this
 * level. DMLCY_IS_WIDE is 1 for levels above the baseline, DMLCY_IS_WIDEST for the widest one, and DMLCY_FUSED is 1
 * where the level has a fused multiply-add. A header that defines the macros of the text includes this file, or
 * levels.h for all levels.
 */
#define DMLCY_LEVEL(name) name
#define DMLCY_TARGET
#define DMLCY_IS_WIDE 0
#define DMLCY_IS_WIDEST 0
#define DMLCY_FUSED DMLCY_BASELINE_FUSED
#include DMLCY_TEXT
#undef DMLCY_LEVEL
#undef DMLCY_TARGET
#undef DMLCY_IS_WIDE
#undef DMLCY_IS_WIDEST
#undef DMLCY_FUSED

#define DMLCY_LEVEL(name) DMLCY_NAMED(name, _wide)
#define DMLCY_TARGET DMLCY_WIDE
#define DMLCY_IS_WIDE 1
#define DMLCY_IS_WIDEST 0
#define DMLCY_FUSED 1
#include DMLCY_TEXT
#undef DMLCY_LEVEL
#undef DMLCY_TARGET
#undef DMLCY_IS_WIDE
#undef DMLCY_IS_WIDEST
#undef DMLCY_FUSED

#undef DMLCY_TEXT
