/* The bits of float32 and float16 elements as keys: whole numbers in the same order, for maxima that are exact.
 *
 * A NaN is less than any number, -0 less than +0. The least integer is no key: it stands for no element, and becomes
 * -infinity.
 */
#ifndef DMLCY_KEYS_H
#define DMLCY_KEYS_H

#include <stdint.h>

/* Of each type of elements: the integers, their last bit, the least of them, and the bits of infinity and of a NaN. */
#define DMLCY_KEYS(of)                                                                                                 \
    of(float, int32_t, 31, INT32_MIN, 0x7f800000, 0x7fc00000)                                                          \
    of(half, int16_t, 15, INT16_MIN, 0x7c00, 0x7e00)

#define DMLCY_KEY(name, type, last, least, infinity, nan)                                                              \
    static inline type dmlcy_key_of_##name(type bits)                                                                  \
    {                                                                                                                  \
        const type magnitude = (type)(bits & ~least);                                                                  \
        return (type)(magnitude > infinity ? ~nan : magnitude ^ bits >> last);                                         \
    }                                                                                                                  \
                                                                                                                       \
    static inline type dmlcy_##name##_of_key(type key)                                                                 \
    {                                                                                                                  \
        return (type)(key == least ? least | infinity : (key & least) | (key ^ key >> last));                          \
    }

DMLCY_KEYS(DMLCY_KEY)
#undef DMLCY_KEY

#endif
