/* The text of some loops, DMLCY_TEXT, for both instruction sets: what every processor has, and wide blocks.
 *
 * DMLCY_LEVEL names a loop of the one set, DMLCY_TARGET declares it, DMLCY_IS_WIDE says which set it is. To be included by
 * the header that has the macros of the text.
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
