/* Selection: the elements of a line that come first in an order, and where they are.
 *
 * The key of an element is an integer, the least for the first one: those of all NaN are the greatest, those of both zeros
 * are equal. A key of 32 bits and the place of its element are one word, a key of 64 bits and a place are a struct. Of
 * equal keys, the one at the first place is less. selection_keys.h has the loops over keys for each level of
 * instructions, selection_words.h those over words for each kind of words.
 */
#ifndef DMLCY_SELECTION_H
#define DMLCY_SELECTION_H

#include <stdint.h>
#include <string.h>

#include "isa.h"
#include "named.h"

#if DMLCY_X86
#include <immintrin.h>
#endif

#define DMLCY_CHUNK 512 /* the number of keys of a line, integers in the order of its elements, that are made at once */
#define DMLCY_HITS 16   /* keys that are compared at once; so many are behind those of a chunk */
#define DMLCY_PITCH (DMLCY_CHUNK + DMLCY_HITS)
#define DMLCY_FEW 16      /* the most chosen elements that are kept in order all the time; more are sorted at the end */
#define DMLCY_BESIDE 16 /* the most lines side by side that are gone through at once */

/* ---- the key of an element; `flip` is 0 for an ascending order, -1 for a descending one ---- */

/* Numbers in order: a negative one is less by its magnitude. */
#define DMLCY_ORDER_OF_SHORT(name)                                           \
    static inline int32_t dmlcy_order_of_##name(name x, int32_t flip)         \
    {                                                                         \
        return (int32_t)x ^ flip;                                             \
    }
static inline int32_t dmlcy_order_of_float(int32_t x, int32_t flip)
{
    const int32_t sign = x >> 31, magnitude = x & INT32_MAX;
    return magnitude > 0x7f800000 ? INT32_MAX : ((magnitude ^ sign) - sign) ^ flip;
}
static inline int32_t dmlcy_order_of_half(int16_t x, int32_t flip)
{
    const int32_t sign = (int32_t)x >> 15, magnitude = x & INT16_MAX;
    return magnitude > 0x7c00 ? INT32_MAX : ((magnitude ^ sign) - sign) ^ flip;
}
DMLCY_ORDER_OF_SHORT(int8_t)
DMLCY_ORDER_OF_SHORT(int16_t)
DMLCY_ORDER_OF_SHORT(int32_t)
DMLCY_ORDER_OF_SHORT(uint8_t)
DMLCY_ORDER_OF_SHORT(uint16_t)
static inline int32_t dmlcy_order_of_uint32_t(uint32_t x, int32_t flip)
{
    return (int32_t)(x ^ 0x80000000u) ^ flip;
}
static inline int64_t dmlcy_order_of_int64_t(int64_t x, int64_t flip)
{
    return x ^ flip;
}
static inline int64_t dmlcy_order_of_uint64_t(uint64_t x, int64_t flip)
{
    return (int64_t)(x ^ 0x8000000000000000u) ^ flip;
}
#undef DMLCY_ORDER_OF_SHORT

/* Of each type of elements: its bits, and the type of its keys. */
#define DMLCY_ORDERED_SHORT(of, key)                                                                            \
    of(float, int32_t, key) of(half, int16_t, key) of(int8_t, int8_t, key) of(int16_t, int16_t, key)             \
    of(int32_t, int32_t, key) of(uint8_t, uint8_t, key) of(uint16_t, uint16_t, key) of(uint32_t, uint32_t, key)
#define DMLCY_ORDERED_LONG(of) of(int64_t, int64_t, int64_t) of(uint64_t, uint64_t, int64_t)

typedef void (*dmlcy_keys_row)(const char *from, int64_t step, void *keys, int64_t n, int64_t flip);

/* Keys of 64 bits for short elements: of lines in which a place needs more than 32 bits. */
#define DMLCY_WIDER(name, type, key)                                                                          \
    static void dmlcy_wider_##name(const char *from, int64_t step, void *keys, int64_t n, int64_t flip)       \
    {                                                                                                         \
        int64_t i;                                                                                            \
        for (i = 0; i < n; i++)                                                                               \
            ((key *)keys)[i] = dmlcy_order_of_##name(*(const type *)(from + i * step), (int32_t)flip);        \
    }
DMLCY_ORDERED_SHORT(DMLCY_WIDER, int64_t)
#undef DMLCY_WIDER

#define DMLCY_TEXT "selection_keys.h"
#include "both_levels.h"

static inline int dmlcy_first_of(uint32_t bits)
{
#if DMLCY_GNU
    return __builtin_ctz(bits);
#else
    int at = 0;
    for (; !(bits & 1); bits >>= 1)
        at++;
    return at;
#endif
}

static inline int dmlcy_last_of(uint32_t bits)
{
#if DMLCY_GNU
    return 31 - __builtin_clz(bits);
#else
    int at = 0;
    for (; bits > 1; bits >>= 1)
        at++;
    return at;
#endif
}

typedef struct {
    int64_t key;
    int64_t place;
} dmlcy_pair;

/* The common numbers of all lines of a call. Steps are bytes. */
typedef struct {
    dmlcy_keys_row keys;
    int64_t flip;
    int64_t n;    /* elements of a line */
    int64_t k;    /* the elements that come first */
    int64_t room; /* words of a line that are kept, at least k and DMLCY_HITS more, or n */
    int64_t step;
    int64_t value_step;
    int64_t place_step;
    int item;
    int place_item;
    int wide;
} dmlcy_selection;

/* Some lines side by side, and how far one is from the next. */
typedef struct {
    const char *from;
    char *values;
    char *places;
    int64_t apart;
    int64_t values_apart;
    int64_t places_apart;
    int count;
} dmlcy_lines;

static inline void dmlcy_put_element(char *to, const char *from, int item)
{
    switch (item) {
    case 1:
        *to = *from;
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
    }
}

/* A chosen element, and where it is. */
static inline void dmlcy_put_chosen(const dmlcy_selection *a, const char *line, char *value, char *at, int64_t place)
{
    const uint64_t wide = (uint64_t)place;
    const uint32_t narrow = (uint32_t)wide;
    dmlcy_put_element(value, line + place * a->step, a->item);
    if (a->place_item == 8)
        memcpy(at, &wide, 8);
    else
        memcpy(at, &narrow, 4);
}

#define DMLCY_OF_WORDS(name) DMLCY_NAMED(name, _short)
#define DMLCY_KEY int32_t
#define DMLCY_GREATEST INT32_MAX
#define DMLCY_WORD int64_t
#define DMLCY_WORD_OF(key, place) ((int64_t)((uint64_t)(uint32_t)(key) << 32 | (uint32_t)(place)))
#define DMLCY_KEY_OF(word) ((int32_t)(uint32_t)((uint64_t)(word) >> 32))
#define DMLCY_PLACE_OF(word) ((int64_t)(uint32_t)(uint64_t)(word))
#define DMLCY_LESS(a, b) ((a) < (b))
#include "selection_words.h"
#undef DMLCY_OF_WORDS
#undef DMLCY_KEY
#undef DMLCY_GREATEST
#undef DMLCY_WORD
#undef DMLCY_WORD_OF
#undef DMLCY_KEY_OF
#undef DMLCY_PLACE_OF
#undef DMLCY_LESS

#define DMLCY_OF_WORDS(name) DMLCY_NAMED(name, _long)
#define DMLCY_KEY int64_t
#define DMLCY_GREATEST INT64_MAX
#define DMLCY_WORD dmlcy_pair
#define DMLCY_WORD_OF(key, place) ((dmlcy_pair){(key), (place)})
#define DMLCY_KEY_OF(word) ((word).key)
#define DMLCY_PLACE_OF(word) ((word).place)
#define DMLCY_LESS(a, b) ((a).key < (b).key || ((a).key == (b).key && (a).place < (b).place))
#include "selection_words.h"
#undef DMLCY_OF_WORDS
#undef DMLCY_KEY
#undef DMLCY_GREATEST
#undef DMLCY_WORD
#undef DMLCY_WORD_OF
#undef DMLCY_KEY_OF
#undef DMLCY_PLACE_OF
#undef DMLCY_LESS

/* ---- the loops for a data type: value of DML_TENSOR_DATA_TYPE ---- */

#define DMLCY_BY_DTYPE(prefix, ending)                                                                            \
    {[1] = prefix##float##ending, [2] = prefix##half##ending, [3] = prefix##uint32_t##ending,                     \
     [4] = prefix##uint16_t##ending, [5] = prefix##uint8_t##ending, [6] = prefix##int32_t##ending,                \
     [7] = prefix##int16_t##ending, [8] = prefix##int8_t##ending, [10] = dmlcy_keys_uint64_t##ending,             \
     [11] = dmlcy_keys_int64_t##ending}
static const dmlcy_keys_row dmlcy_keys_all[12] = DMLCY_BY_DTYPE(dmlcy_keys_, );
static const dmlcy_keys_row dmlcy_keys_wide[12] = DMLCY_BY_DTYPE(dmlcy_keys_, _wide);

/* Of long words, short elements too have long keys. */
static inline dmlcy_keys_row dmlcy_wider_of(int dtype)
{
    static const dmlcy_keys_row rows[12] = DMLCY_BY_DTYPE(dmlcy_wider_, );
    return rows[dtype];
}

#endif
