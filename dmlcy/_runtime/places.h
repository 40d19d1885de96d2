/* Elements together with their number in the tensor, for maxima with their places. The greater of two is that of the
 * greater element, and of equal ones the first.
 *
 * An element of up to 32 bits and its number are one integer. The upper half is the element, in an order of int32
 * (floats as the keys of keys.h). The lower half is 2^32-1 minus the number. Longer elements are a struct. The least
 * stands for no element; its number is 2^32-1, which no element of a tensor has.
 */
#ifndef DMLCY_PLACES_H
#define DMLCY_PLACES_H

#include "blocks.h"

#define DMLCY_NO_INDEX UINT32_MAX

static inline int64_t dmlcy_place_of(int32_t key, int64_t number)
{
    return (int64_t)((uint64_t)(uint32_t)key << 32 | (uint32_t)(DMLCY_NO_INDEX - (uint32_t)number));
}

static inline int32_t dmlcy_key_of_place(int64_t place)
{
    return (int32_t)(uint32_t)((uint64_t)place >> 32);
}

static inline uint32_t dmlcy_index_int64_t(int64_t place)
{
    return DMLCY_NO_INDEX - (uint32_t)(uint64_t)place;
}

/* Of each type of elements: its bits as they are stored, the key of one, and one of a key. */
#define DMLCY_SHORT(of)                                                                                                \
    of(float_key, int32_t, dmlcy_key_of_float(x), dmlcy_float_of_key(key))                                             \
    of(half_key, int16_t, dmlcy_key_of_half(x) * 65536, dmlcy_half_of_key((int16_t)(key >> 16)))                     \
    of(int32_t, int32_t, x, key)                                                                                       \
    of(int16_t, int16_t, x * 65536, (int16_t)(key >> 16))                                                            \
    of(int8_t, int8_t, x * 16777216, (int8_t)(key >> 24))                                                         \
    of(uint32_t, uint32_t, (int32_t)(x ^ 0x80000000u), (uint32_t)key ^ 0x80000000u)                                    \
    of(uint16_t, uint16_t, (x - 32768) * 65536, (uint16_t)((key >> 16) + 32768))                                       \
    of(uint8_t, uint8_t, (x - 128) * 16777216, (uint8_t)((key >> 24) + 128))

#define DMLCY_PLACED(name, type, to_key, from_key)                                                                     \
    static inline int64_t dmlcy_placed_##name(type x, int64_t number)                                                  \
    {                                                                                                                  \
        return dmlcy_place_of(to_key, number);                                                                         \
    }                                                                                                                  \
                                                                                                                       \
    static inline type dmlcy_of_placed_##name(int64_t place)                                                           \
    {                                                                                                                  \
        const int32_t key = dmlcy_key_of_place(place);                                                                 \
        return from_key;                                                                                               \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_INLINE void dmlcy_place_row_##name(                                                                          \
        const type *DMLCY_RESTRICT source, int64_t *DMLCY_RESTRICT target, int64_t size, int64_t number, int64_t step) \
    {                                                                                                                  \
        const uint32_t rest = DMLCY_NO_INDEX - (uint32_t)number;                                                       \
        int64_t i;                                                                                                     \
        for (i = 0; i < size; i++) {                                                                                   \
            const type x = source[i];                                                                                  \
            const uint32_t low = rest - (uint32_t)i * (uint32_t)step;                                                  \
            target[i] = (int64_t)((uint64_t)(uint32_t)(to_key) << 32 | low);                                           \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static inline void dmlcy_places_##name(                                                                            \
        const void *source, void *target, int64_t size, int64_t number, int64_t step)                                  \
    {                                                                                                                  \
        dmlcy_place_row_##name(source, target, size, number, step);                                                    \
    }                                                                                                                  \
                                                                                                                       \
    DMLCY_WIDE static inline void dmlcy_places_##name##_wide(                                                          \
        const void *source, void *target, int64_t size, int64_t number, int64_t step)                                  \
    {                                                                                                                  \
        dmlcy_place_row_##name(source, target, size, number, step);                                                    \
    }

DMLCY_SHORT(DMLCY_PLACED)
#undef DMLCY_PLACED

typedef struct {
    int64_t key;
    int64_t number;
} place_t;

typedef place_t dmlcy_place_t_block;

static const place_t dmlcy_no_place = {INT64_MIN, DMLCY_NO_INDEX};

static inline place_t dmlcy_placed_int64_t(int64_t x, int64_t number)
{
    const place_t place = {x, number};
    return place;
}

static inline int64_t dmlcy_of_placed_int64_t(place_t place)
{
    return place.key;
}

static inline place_t dmlcy_placed_uint64_t(uint64_t x, int64_t number)
{
    return dmlcy_placed_int64_t((int64_t)(x ^ 1ull << 63), number);
}

static inline uint64_t dmlcy_of_placed_uint64_t(place_t place)
{
    return (uint64_t)place.key ^ 1ull << 63;
}

#define DMLCY_PLACE_ROW(type)                                                                                          \
    DMLCY_INLINE void dmlcy_place_row_##type(                                                                          \
        const type *source, place_t *target, int64_t size, int64_t number, int64_t step)                               \
    {                                                                                                                  \
        int64_t i;                                                                                                     \
        for (i = 0; i < size; i++)                                                                                     \
            target[i] = dmlcy_placed_##type(source[i], number + i * step);                                             \
    }

DMLCY_PLACE_ROW(int64_t)
DMLCY_PLACE_ROW(uint64_t)
#undef DMLCY_PLACE_ROW

static inline uint32_t dmlcy_index_place_t(place_t place)
{
    return (uint32_t)place.number;
}

DMLCY_INLINE place_t dmlcy_first_place(place_t first, place_t second)
{
    const int later = first.key < second.key || (first.key == second.key && first.number > second.number);
    return later ? second : first;
}

DMLCY_INLINE place_t dmlcy_load_place_t(const place_t *source)
{
    return *source;
}

DMLCY_WIDE DMLCY_INLINE place_t dmlcy_load_place_t_wide(const place_t *source)
{
    return *source;
}

DMLCY_INLINE void dmlcy_store_place_t(place_t *target, place_t place)
{
    *target = place;
}

DMLCY_WIDE DMLCY_INLINE void dmlcy_store_place_t_wide(place_t *target, place_t place)
{
    *target = place;
}

/* Elements and their places can also be in blocks of their own. Takes the greater elements and their places by one
 * mask: dmlcy_max_ works on half blocks, which go through memory in a loop for the wide instruction set. */
#define DMLCY_TAKE_GREATER(type)                                                                                       \
    DMLCY_WIDE DMLCY_INLINE void dmlcy_take_greater_##type##_wide(                                                     \
        dmlcy_##type##_block *greatest, dmlcy_##type##_block *mark, dmlcy_##type##_block key,                          \
        dmlcy_##type##_block mark_of_key)                                                                              \
    {                                                                                                                  \
        const dmlcy_##type##_block mask = (dmlcy_##type##_block)DMLCY_MASK(key > *greatest);                           \
        *greatest = (key & mask) | (*greatest & ~mask);                                                                \
        *mark = (mark_of_key & mask) | (*mark & ~mask);                                                                \
    }

DMLCY_TAKE_GREATER(int8_t)
DMLCY_TAKE_GREATER(int16_t)
DMLCY_TAKE_GREATER(int32_t)
DMLCY_TAKE_GREATER(int64_t)
DMLCY_TAKE_GREATER(uint8_t)
DMLCY_TAKE_GREATER(uint16_t)
DMLCY_TAKE_GREATER(uint32_t)
DMLCY_TAKE_GREATER(uint64_t)
#undef DMLCY_TAKE_GREATER

#endif
