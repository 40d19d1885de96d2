/* Asking for memory before loops come to it. Worth it where a loop reads several rows at once: then processors do not see
 * that the lines of each follow one another. */
#ifndef DMLCY_AHEAD_H
#define DMLCY_AHEAD_H

#include <stdint.h>

#include "compiler.h"

/* Asks for memory of `n` bytes, which may be no memory at all. */
#if DMLCY_GNU
DMLCY_INLINE void dmlcy_ask_ahead(const void *near, int64_t ahead, int64_t n)
{
    const uintptr_t begin = (uintptr_t)near + (uintptr_t)ahead;
    int64_t i;
    for (i = 0; i < n; i += 64)
        __builtin_prefetch((const void *)(begin + (uintptr_t)i));
}
#else
#define dmlcy_ask_ahead(near, ahead, n) ((void)(near))
#endif

#endif
