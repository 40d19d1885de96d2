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

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define DMLCY_X86 1
#define DMLCY_WIDE __attribute__((target("avx2,fma,f16c")))
#include <cpuid.h>
#else
#define DMLCY_X86 0
#define DMLCY_WIDE
#endif

#define DMLCY_HAS_F16C 1
#define DMLCY_HAS_WIDE 2

/* DMLCY_HAS_… of this processor; the operating system must keep the wide registers. */
static inline int dmlcy_instructions(void)
{
#if DMLCY_X86
    static int known = -1;
    int has = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (has < 0) {
        const char *allowed = getenv("DMLCY_ISA");
        unsigned a, b, c = 0, d;
        __builtin_cpu_init();
        has = 0;
        if ((!allowed || strcmp(allowed, "baseline")) && __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d)
            && (c & bit_F16C))
            has = __builtin_cpu_supports("avx2") && (c & bit_FMA) ? DMLCY_HAS_F16C | DMLCY_HAS_WIDE : DMLCY_HAS_F16C;
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
