/* Chunks of work, shared by the threads of OpenMP. Each thread has a part of its own, the same in each call with as many
   chunks: what it wrote in the call before is still in its cache. A thread that is done takes chunks of the others' parts,
   such as those of one that has to be woken up. */

#ifndef DMLCY_SHARE_H
#define DMLCY_SHARE_H

#include <stdint.h>

#include "compiler.h"

#ifdef _OPENMP

#include <omp.h>
#include <stdlib.h>

#ifdef _MSC_VER
#include <intrin.h>
typedef volatile __int64 dmlcy_counter;
#define DMLCY_COUNT(counter) _InterlockedExchangeAdd64(&(counter), 1)
#define DMLCY_COUNT_FROM(counter, first) ((counter) = (first))
#else
#include <stdatomic.h>
typedef _Atomic int64_t dmlcy_counter;
#define DMLCY_COUNT(counter) atomic_fetch_add_explicit(&(counter), 1, memory_order_relaxed)
#define DMLCY_COUNT_FROM(counter, first) atomic_init(&(counter), first)
#endif

#define DMLCY_COUNTERS 8 /* counters of a part that lie in a cache line, of which one counts */

/* Does all chunks on some threads. 1: one of them failed, or memory ran out. */
static int dmlcy_share(int (*chunk)(const void *args, int64_t number), const void *args, int64_t chunks, int threads) {
    dmlcy_counter *const next = malloc((size_t)threads * DMLCY_COUNTERS * sizeof *next);
    int failed = 0, part;
    if (next == NULL)
        return 1;
    for (part = 0; part < threads; part++)
        DMLCY_COUNT_FROM(next[part * DMLCY_COUNTERS], chunks * part / threads);
#pragma omp parallel num_threads(threads) reduction(| : failed)
    {
        const int own = omp_get_thread_num();
        int k;
        for (k = 0; k < threads; k++) {
            const int of = (own + k) % threads;
            const int64_t end = chunks * (of + 1) / threads;
            int64_t number;
            while ((number = DMLCY_COUNT(next[of * DMLCY_COUNTERS])) < end)
                failed |= chunk(args, number);
        }
    }
    free(next);
    return failed;
}

#else

static int dmlcy_share(int (*chunk)(const void *args, int64_t number), const void *args, int64_t chunks, int threads) {
    int failed = 0;
    int64_t number;
    (void)threads;
    for (number = 0; number < chunks; number++)
        failed |= chunk(args, number);
    return failed;
}

#endif

#endif
