/* Rows of indices of the type DMLCY_INDEX; DMLCY_OF_INDEX(name) is the name of a loop for it. */

/* Adds to each offset `step` for each unit of an index, which counts from the end of `size` where it is negative. */
static void DMLCY_OF_INDEX(dmlcy_offsets)(
    int64_t *offsets, int64_t n, const char *indices, int64_t stride, int64_t size, int64_t step)
{
    int64_t i;
    for (i = 0; i < n; i++)
        offsets[i] += DMLCY_PLACE(*(const DMLCY_INDEX *)(indices + i * stride));
}

#define DMLCY_TEXT "indexed_elements.h"
#include "each_size.h"
