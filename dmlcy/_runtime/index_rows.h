/* Rows of indices of the type DMLCY_INDEX; DMLCY_OF_INDEX(name) is the name of a loop for it. */

/* Adds to each offset `step` for each unit of an index, which counts from the end of `size` where it is negative. */
static void DMLCY_OF_INDEX(dmlcy_offsets)(
    int64_t *offsets, int64_t n, const char *indices, int64_t stride, int64_t size, int64_t step)
{
    int64_t i;
    for (i = 0; i < n; i++)
        offsets[i] += DMLCY_PLACE(*(const DMLCY_INDEX *)(indices + i * stride));
}

/* Whether any of n elements is not in low <= element < high, where 0 and the elements of unsigned types that may be are
 * below 2^62. No difference of a number inside wraps around, and one of a number outside is negative. */
static int DMLCY_OF_INDEX(dmlcy_any_outside)(const char *elements, int64_t n, int64_t stride, int64_t low, int64_t high)
{
    const uint64_t least = (uint64_t)((DMLCY_INDEX)-1 > 0 && low < 0 ? 0 : low), most = (uint64_t)high - 1;
    uint64_t outside = 0;
    int64_t i;
#define DMLCY_OUTSIDE(x) (((uint64_t)(int64_t)(x) - least) | (most - (uint64_t)(int64_t)(x)))
    if (stride == (int64_t)sizeof(DMLCY_INDEX))
        for (i = 0; i < n; i++)
            outside |= DMLCY_OUTSIDE(((const DMLCY_INDEX *)elements)[i]);
    else
        for (i = 0; i < n; i++)
            outside |= DMLCY_OUTSIDE(*(const DMLCY_INDEX *)(elements + i * stride));
#undef DMLCY_OUTSIDE
    return outside >> 63;
}

#define DMLCY_TEXT "indexed_elements.h"
#include "each_size.h"
