/* The mode in which a thread computes: how results are rounded, and whether subnormal numbers are taken for zeros. Threads
   keep the one of the thread that started them, whatever that one does later. */

#ifndef DMLCY_MODE_H
#define DMLCY_MODE_H

#include <stdint.h>

#include "compiler.h"

#if DMLCY_X86 || defined(_M_X64)

#include <xmmintrin.h>

#define DMLCY_EVENTS 0x3fu     /* what has happened, in the same register */

static inline int64_t dmlcy_mode(void)
{
    return _mm_getcsr() & ~DMLCY_EVENTS;
}

static inline void dmlcy_set_mode(int64_t mode)
{
    if (dmlcy_mode() != mode)
        _mm_setcsr((unsigned)mode | (_mm_getcsr() & DMLCY_EVENTS));
}

#elif DMLCY_GNU && defined(__aarch64__)

static inline int64_t dmlcy_mode(void)
{
    int64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

static inline void dmlcy_set_mode(int64_t mode)
{
    if (dmlcy_mode() != mode)
        __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

#else

/* C11 knows how results are rounded, and no more. */
#include <fenv.h>

static inline int64_t dmlcy_mode(void)
{
    return fegetround();
}

static inline void dmlcy_set_mode(int64_t mode)
{
    if (dmlcy_mode() != mode)
        fesetround((int)mode);
}

#endif

#endif
