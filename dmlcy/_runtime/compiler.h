/* Features of the compiler beyond C11. Other headers ask for these names, and for no compiler by its own name.
 *
 * DMLCY_GNU  1: GCC or clang, with vector types, attributes and assembler. 0 for other compilers, and where DMLCY_PORTABLE
 *            is defined: then everything is C11, and the results are the same bits.
 * DMLCY_X86  1: the processor is an x86-64, and instructions of it can be named: those of the baseline (SSE2) anywhere,
 *            others in DMLCY_WIDE and DMLCY_WIDEST functions (isa.h).
 * DMLCY_BASELINE_FUSED  1: every processor of this kind has a fused multiply-add. The value is 0 on x86-64 whatever the
 *            flags of the compiler say: the bits at the baseline are the same in each build.
 */
#ifndef DMLCY_COMPILER_H
#define DMLCY_COMPILER_H

#if (defined(__GNUC__) || defined(__clang__)) && !defined(DMLCY_PORTABLE)
#define DMLCY_GNU 1
#define DMLCY_INLINE static inline __attribute__((always_inline))
#define DMLCY_APART static __attribute__((noinline, unused))
#else
#define DMLCY_GNU 0
#define DMLCY_INLINE static inline
#define DMLCY_APART static
#endif

#if DMLCY_GNU && defined(__x86_64__)
#define DMLCY_X86 1
#else
#define DMLCY_X86 0
#endif

/* DMLCY_AVX_VNNI  1: it knows these instructions, as GCC 11 and clang 12 do. */
#if DMLCY_X86 && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#define DMLCY_AVX_VNNI 1
#else
#define DMLCY_AVX_VNNI 0
#endif

#if defined(__aarch64__) || defined(_M_ARM64)
#define DMLCY_BASELINE_FUSED 1
#else
#define DMLCY_BASELINE_FUSED 0
#endif

/* Asks for vectors of 512 bits in a target attribute. Clang uses them without, and ignores an attribute with this. */
#if defined(__clang__)
#define DMLCY_PREFER_512
#else
#define DMLCY_PREFER_512 ",prefer-vector-width=512"
#endif

/* Before a loop each of whose elements depends on those at the same place only, wherever they are. */
#if defined(__clang__) && DMLCY_GNU
#define DMLCY_APART_EACH _Pragma("clang loop vectorize(assume_safety)")
#elif DMLCY_GNU
#define DMLCY_APART_EACH _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define DMLCY_APART_EACH
#endif

/* Before a loop of few turns whose number is a constant: none is left. */
#if DMLCY_GNU
#define DMLCY_UNROLL _Pragma("GCC unroll 16")
#else
#define DMLCY_UNROLL
#endif

/* Keeps four pointers in registers of their own: no compiler makes others of them here. */
#if DMLCY_GNU
#define DMLCY_KEEP(a, b, c, d) __asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
#else
#define DMLCY_KEEP(a, b, c, d)
#endif

#ifdef _MSC_VER
#define DMLCY_RESTRICT __restrict
#define DMLCY_THREAD_LOCAL __declspec(thread)
#else
#define DMLCY_RESTRICT restrict
#define DMLCY_THREAD_LOCAL _Thread_local
#endif

#if defined(__clang__)
#define DMLCY_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define DMLCY_COMPILER "gcc " __VERSION__
#elif defined(_MSC_FULL_VER)
#define DMLCY_TEXT_OF(x) #x
#define DMLCY_VALUE_OF(x) DMLCY_TEXT_OF(x)
#define DMLCY_COMPILER "msvc " DMLCY_VALUE_OF(_MSC_FULL_VER)
#else
#define DMLCY_COMPILER "unknown"
#endif

#endif
