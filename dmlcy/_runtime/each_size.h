/* Includes the file DMLCY_TEXT, the text of some loops, for each size of elements.
 *
 * In the text, DMLCY_ITEM is the size in bytes, DMLCY_WORD an integer of this size, and DMLCY_OF(name) the name of a
 * loop for it, such as name_4. DMLCY_BY_SIZE(name) is a table of these loops, with the loop of each size at the index
 * that is the size.
 */
#include <stdint.h>

#include "named.h"

#ifndef DMLCY_OF
#define DMLCY_OF(name) DMLCY_NAMED(name##_, DMLCY_ITEM)
#define DMLCY_BY_SIZE(name) {[1] = name##_1, [2] = name##_2, [4] = name##_4, [8] = name##_8}
#endif

#define DMLCY_ITEM 1
#define DMLCY_WORD uint8_t
#include DMLCY_TEXT
#undef DMLCY_ITEM
#undef DMLCY_WORD

#define DMLCY_ITEM 2
#define DMLCY_WORD uint16_t
#include DMLCY_TEXT
#undef DMLCY_ITEM
#undef DMLCY_WORD

#define DMLCY_ITEM 4
#define DMLCY_WORD uint32_t
#include DMLCY_TEXT
#undef DMLCY_ITEM
#undef DMLCY_WORD

#define DMLCY_ITEM 8
#define DMLCY_WORD uint64_t
#include DMLCY_TEXT
#undef DMLCY_ITEM
#undef DMLCY_WORD

#undef DMLCY_TEXT
