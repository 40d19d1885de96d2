/* What the processor offers beyond the baseline that everything is compiled for.
 *
 * A function declared DMLCY_WIDE is compiled for processors with AVX2, FMA and F16C and may be called only where
 * dmlcy_wide() says so. Its results must be the same bits; compilers must not contract a product and a sum.
 * DMLCY_ISA=baseline in the environment forbids all of it.
 */
#ifndef DMLCY_ISA_H
#define DMLCY_ISA_H

#include <stdlib.h>
#include <string.h>

#include "compiler.h"

#if DMLCY_X86
#define DMLCY_WIDE __attribute__((target("avx2,fma,f16c")))
#include <cpuid.h>
#else
#define DMLCY_WIDE
#endif

#define DMLCY_HAS_F16C 1
#define DMLCY_HAS_WIDE 2

#if DMLCY_X86
#define DMLCY_KEPT 6u /* registers that the operating system keeps: those of SSE and of AVX */

/* Asks the processor: what compilers offer for that needs a library of theirs, which linkers of Windows do not have. */
static inline int dmlcy_ask_processor(void)
{
    const unsigned needed = bit_OSXSAVE | bit_AVX | bit_F16C;
    unsigned a, b, c, d, kept, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & needed) != needed)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if ((kept & DMLCY_KEPT) != DMLCY_KEPT)
        return 0;
    if (!(c & bit_FMA) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2))
        return DMLCY_HAS_F16C;
    return DMLCY_HAS_F16C | DMLCY_HAS_WIDE;
}
#endif

/* DMLCY_HAS_… of this processor, as far as they are allowed. */
static inline int dmlcy_instructions(void)
{
#if DMLCY_X86
    static int known = -1;
    int has = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (has < 0) {
        const char *allowed = getenv("DMLCY_ISA");
        has = allowed && strcmp(allowed, "baseline") == 0 ? 0 : dmlcy_ask_processor();
        __atomic_store_n(&known, has, __ATOMIC_RELAXED);
    }
    return has;
#else
    return 0;
#endif
}

static inline int dmlcy_has_f16c(void)
{
    return (dmlcy_instructions() & DMLCY_HAS_F16C) != 0;
}

static inline int dmlcy_wide(void)
{
    return (dmlcy_instructions() & DMLCY_HAS_WIDE) != 0;
}

#endif
