/* The level of instructions of this processor: baseline, for which everything is compiled, wide or widest.
 *
 * A function declared DMLCY_WIDE is compiled for AVX2, FMA and F16C, and may be called where dmlcy_level() is at least
 * DMLCY_LEVEL_WIDE. A function declared DMLCY_WIDEST is compiled for AVX-512 F, DQ, BW and VL, too, and may be called
 * where the level is DMLCY_LEVEL_WIDEST. Compilers must not contract a product and a sum: where a level has a fused
 * multiply-add, the text asks for it by name. DMLCY_ISA in the environment names the highest level that may be taken.
 */
#ifndef DMLCY_ISA_H
#define DMLCY_ISA_H

#include <stdlib.h>
#include <string.h>

#include "compiler.h"

#define DMLCY_LEVEL_WIDE 1
#define DMLCY_LEVEL_WIDEST 2

/* The features of a processor beyond the baseline. isa.py has the names, in this order. */
#define DMLCY_HAS_F16C 0x1
#define DMLCY_HAS_FMA 0x2
#define DMLCY_HAS_AVX2 0x4
#define DMLCY_HAS_AVX512F 0x8
#define DMLCY_HAS_AVX512DQ 0x10
#define DMLCY_HAS_AVX512BW 0x20
#define DMLCY_HAS_AVX512VL 0x40
#define DMLCY_HAS_AVX512_VNNI 0x80
#define DMLCY_HAS_AVX_VNNI 0x100
#define DMLCY_NEEDS_WIDE (DMLCY_HAS_F16C | DMLCY_HAS_FMA | DMLCY_HAS_AVX2)
#define DMLCY_NEEDS_WIDEST                                                                                             \
    (DMLCY_NEEDS_WIDE | DMLCY_HAS_AVX512F | DMLCY_HAS_AVX512DQ | DMLCY_HAS_AVX512BW | DMLCY_HAS_AVX512VL)

/* DMLCY_HAS_… of an x86-64 by its answers: `c1` is register c of leaf 1, `b7` and `c7` are registers b and c of leaf 7,
 * `a7` is register a of leaf 7, subleaf 1, and `kept` says which registers the operating system keeps. */
static inline int dmlcy_has_of(unsigned c1, unsigned b7, unsigned c7, unsigned a7, unsigned kept)
{
    const int keeps_ymm = (kept & 0x6u) == 0x6u, keeps_zmm = (kept & 0xe6u) == 0xe6u; /* those of masks, too */
    int has = 0;
    if (!keeps_ymm || !(c1 >> 28 & 1))
        return 0;
    has |= c1 >> 29 & 1 ? DMLCY_HAS_F16C : 0;
    has |= c1 >> 12 & 1 ? DMLCY_HAS_FMA : 0;
    has |= b7 >> 5 & 1 ? DMLCY_HAS_AVX2 : 0;
    has |= a7 >> 4 & 1 ? DMLCY_HAS_AVX_VNNI : 0;
    if (!keeps_zmm || !(b7 >> 16 & 1))
        return has;
    has |= DMLCY_HAS_AVX512F;
    has |= b7 >> 17 & 1 ? DMLCY_HAS_AVX512DQ : 0;
    has |= b7 >> 30 & 1 ? DMLCY_HAS_AVX512BW : 0;
    has |= b7 >> 31 & 1 ? DMLCY_HAS_AVX512VL : 0;
    has |= c7 >> 11 & 1 ? DMLCY_HAS_AVX512_VNNI : 0;
    return has;
}

static inline int dmlcy_level_of(int has)
{
    return ((has & DMLCY_NEEDS_WIDE) == DMLCY_NEEDS_WIDE) + ((has & DMLCY_NEEDS_WIDEST) == DMLCY_NEEDS_WIDEST);
}

#if DMLCY_X86
#include <cpuid.h>

#define DMLCY_COMPILED_LEVEL DMLCY_LEVEL_WIDEST /* the highest that loops are compiled for */
#define DMLCY_WIDE __attribute__((target("avx2,fma,f16c")))
#define DMLCY_WIDEST __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl" DMLCY_PREFER_512)))
/* With the instructions for products of bytes, which no level has: who calls one asks for them, too. */
#define DMLCY_WIDE_VNNI __attribute__((target("avx2,fma,f16c,avxvnni")))
#define DMLCY_WIDEST_VNNI                                                                                              \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512vnni" DMLCY_PREFER_512)))

/* DMLCY_HAS_… of this processor. The functions of compilers for that need a library, which linkers of Windows lack. */
static inline int dmlcy_ask_processor(void)
{
    unsigned a, b, c, d, kept, high, c1, b7 = 0, c7 = 0, a7 = 0;
    if (!__get_cpuid(1, &a, &b, &c1, &d) || !(c1 & bit_OSXSAVE))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    if (__get_cpuid_count(7, 0, &a, &b7, &c7, &d) && a > 0)
        __cpuid_count(7, 1, a7, b, c, d);
    return dmlcy_has_of(c1, b7, c7, a7, kept);
}
#else
#define DMLCY_COMPILED_LEVEL 0
#define DMLCY_WIDE
#define DMLCY_WIDEST

static inline int dmlcy_ask_processor(void)
{
    return 0;
}
#endif

/* The part of DMLCY_HAS_… that may be used. */
static inline int dmlcy_allowed(int has)
{
    const char *asked = getenv("DMLCY_ISA");
    if (!asked)
        return has;
    if (strcmp(asked, "baseline") == 0)
        return 0;
    return strcmp(asked, "wide") == 0 ? has & DMLCY_NEEDS_WIDE : has;
}

/* DMLCY_HAS_… of this processor that may be used. */
static inline int dmlcy_instructions(void)
{
#if DMLCY_X86
    static int known = -1;
    int has = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (has < 0) {
        has = dmlcy_allowed(dmlcy_ask_processor());
        __atomic_store_n(&known, has, __ATOMIC_RELAXED);
    }
    return has;
#else
    return 0;
#endif
}

static inline int dmlcy_level(void)
{
    return dmlcy_level_of(dmlcy_instructions());
}

static inline int dmlcy_has_f16c(void)
{
    return (dmlcy_instructions() & DMLCY_HAS_F16C) != 0;
}

static inline int dmlcy_wide(void)
{
    return dmlcy_level() >= DMLCY_LEVEL_WIDE;
}

#endif
