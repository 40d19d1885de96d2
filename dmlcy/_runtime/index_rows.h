/* Rows of indices of the type DMLCY_INDEX; DMLCY_OF_INDEX(name) is the name of a loop for it. */

/* Adds to each offset `step` for each unit of an index, which counts from the end of `size` where it is negative. */
static void DMLCY_OF_INDEX(dmlcy_offsets)(
    int64_t *offsets, int64_t n, const char *indices, int64_t stride, int64_t size, int64_t step)
{
    int64_t i;
    for (i = 0; i < n; i++)
        offsets[i] += DMLCY_PLACE(*(const DMLCY_INDEX *)(indices + i * stride));
}

/* The highest bit: whether an element, which need not be aligned, is not from `least` to `most`. No difference of a number
 * inside wraps around, and one of a number outside is negative. */
static inline uint64_t DMLCY_OF_INDEX(dmlcy_outside)(const char *element, uint64_t least, uint64_t most)
{
    DMLCY_INDEX index;
    memcpy(&index, element, sizeof index);
    return ((uint64_t)(int64_t)index - least) | (most - (uint64_t)(int64_t)index);
}

/* Whether any of n elements is not in low <= element < high. Both ends are sizes of tensors, or such with a minus. */
static int DMLCY_OF_INDEX(dmlcy_any_outside)(const char *elements, int64_t n, int64_t stride, int64_t low, int64_t high)
{
    const uint64_t least = (uint64_t)((DMLCY_INDEX)-1 > 0 && low < 0 ? 0 : low), most = (uint64_t)high - 1;
    uint64_t outside = 0;
    int64_t i;
    if (stride == (int64_t)sizeof(DMLCY_INDEX))
        for (i = 0; i < n; i++)
            outside |= DMLCY_OF_INDEX(dmlcy_outside)(elements + i * (int64_t)sizeof(DMLCY_INDEX), least, most);
    else
        for (i = 0; i < n; i++)
            outside |= DMLCY_OF_INDEX(dmlcy_outside)(elements + i * stride, least, most);
    return outside >> 63;
}

#define DMLCY_TEXT "indexed_elements.h"
#include "each_size.h"
