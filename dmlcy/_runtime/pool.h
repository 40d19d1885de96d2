/* Threads that help callers with their chunks. The threads start when a caller first wants them, and never end.
 *
 * A caller takes threads that no other one has, and gives each the same job. When nothing is left to do, the caller
 * does not wait for a thread that has not begun. Such a thread has to be woken up, or has no processor. A thread
 * without a job waits in a loop for a short time, and then sleeps. So that it does not sleep between the jobs of a long
 * call, this one may hold its threads: dmlcy_hold, dmlcy_let_go.
 */

#ifndef DMLCY_POOL_H
#define DMLCY_POOL_H

#include <stdint.h>

#include "compiler.h"

typedef int (*dmlcy_chunk)(const void *args, int64_t number);

/* Windows has no POSIX threads, some compilers have no atomics: there, one thread does all. */
#if defined(DMLCY_ALONE) || defined(_WIN32) || defined(__STDC_NO_ATOMICS__)

#define DMLCY_THREADS 0
#define dmlcy_inside 0
#define dmlcy_holds 0
#define dmlcy_hold()
#define dmlcy_let_go()
#define dmlcy_awake() 0
#define dmlcy_set_pool(most, lingers)

static int dmlcy_share(dmlcy_chunk chunk, const void *args, int64_t chunks, int threads) {
    int failed = 0;
    int64_t number;
    (void)threads;
    for (number = 0; number < chunks; number++)
        failed |= chunk(args, number);
    return failed;
}

#else

#define DMLCY_THREADS 1

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "clock.h"

#if DMLCY_GNU && defined(__x86_64__)
#define DMLCY_PAUSE() __builtin_ia32_pause()
#elif DMLCY_GNU && defined(__aarch64__)
#define DMLCY_PAUSE() __asm__ volatile("yield")
#else
#define DMLCY_PAUSE() (void)0
#endif

/* A thread's own memory is there when it starts: glibc ends a process that has no memory for it later. Musl gets it at the
   start anyway, and loads no module that asks. */
#if DMLCY_GNU && defined(__GLIBC__)
#define DMLCY_OWN static DMLCY_THREAD_LOCAL __attribute__((tls_model("initial-exec")))
#else
#define DMLCY_OWN static DMLCY_THREAD_LOCAL
#endif

enum {
    DMLCY_MOST = 1023,          /* threads in all */
    DMLCY_COUNTERS = 8,         /* the number of counters for the chunks of a thread: one counts, and the others fill
                                 * its cache line */
    DMLCY_NEAR_PARTS = 16,      /* the most threads of a job whose counters are on the stack */
    DMLCY_LOOKS = 64,           /* the number of pauses of a waiting thread between two looks at the clock */
    DMLCY_KEEN = 100000,        /* the nanoseconds that a waiting thread keeps its processor; then it lets others run
                                 * between its looks */
    DMLCY_LINGER = 200000,      /* the nanoseconds that a thread waits in a loop for another job before it sleeps */
    DMLCY_HELD = 1000000,       /* the nanoseconds that a thread waits in a loop before it sleeps, while a call holds
                                 * the thread */
    DMLCY_STACK = 2097152,      /* bytes, at least */
    DMLCY_SPARE = 134217728     /* that the process can still get when a thread starts: results need memory, too */
};

/* Each thread has a part of the chunks for its own, the same in each job with as many chunks. So the results of the job
 * before are still in its cache. A thread that is done takes chunks of the others' parts. */
typedef struct {
    dmlcy_chunk chunk;
    const void *args;
    int64_t chunks;
    int parts;
    _Atomic int64_t *next;      /* the first chunk of each part that nobody has taken */
    atomic_int failed;
} dmlcy_job;

typedef struct dmlcy_helper {
    _Atomic(dmlcy_job *) job;   /* NULL: it has none; &dmlcy_taken: it is at work */
    int part;                   /* of its job */
    atomic_int claimed;         /* a caller has it */
    atomic_int held;            /* and has more for it soon */
    atomic_int asleep;
    atomic_int awaited;         /* its caller sleeps until it is done */
    struct dmlcy_helper *next;  /* of the same caller */
    pthread_mutex_t lock;
    pthread_cond_t given;
    pthread_cond_t done;
    char apart[128];            /* from what others write */
} dmlcy_helper;

static dmlcy_job dmlcy_taken;
static _Atomic(dmlcy_helper *) dmlcy_helpers[DMLCY_MOST];
static atomic_int dmlcy_started;                /* how many there are */
static atomic_int dmlcy_allowed;                /* how many there may be */
static atomic_int dmlcy_lingers;                /* whether they wait in a loop between calls */
static pthread_mutex_t dmlcy_starting = PTHREAD_MUTEX_INITIALIZER;

DMLCY_OWN int dmlcy_inside;                     /* whether this thread computes a chunk */
DMLCY_OWN int dmlcy_holds;                      /* how many of its calls hold threads */
DMLCY_OWN dmlcy_helper *dmlcy_own_helpers;      /* the helpers that it has */

static void dmlcy_do_part(dmlcy_job *job, int own) {
    int failed = 0, k;
    for (k = 0; k < job->parts; k++) {
        const int of = (own + k) % job->parts;
        const int64_t end = job->chunks * (of + 1) / job->parts;
        int64_t number;
        while ((number = atomic_fetch_add_explicit(&job->next[of * DMLCY_COUNTERS], 1, memory_order_relaxed)) < end)
            failed |= job->chunk(job->args, number);
    }
    if (failed)
        atomic_store_explicit(&job->failed, 1, memory_order_relaxed);
}

/* Looks for a while whether a helper has a job, or has none: whether it came to that. Once it has looked since `start` for
   some time, programs that wait for a processor get this one. */
static int dmlcy_look(dmlcy_helper *helper, int has, int64_t start) {
    int k;
    for (k = 0; k < DMLCY_LOOKS; k++) {
        if ((atomic_load_explicit(&helper->job, memory_order_acquire) != NULL) == has)
            return 1;
        DMLCY_PAUSE();
    }
    if (dmlcy_nanoseconds() - start > DMLCY_KEEN)
        sched_yield();
    return 0;
}

/* How long a helper without a job looks for one, in nanoseconds. */
static int64_t dmlcy_patience(dmlcy_helper *helper) {
    if (atomic_load_explicit(&helper->held, memory_order_relaxed))
        return DMLCY_HELD;
    return atomic_load_explicit(&dmlcy_lingers, memory_order_relaxed) ? DMLCY_LINGER : 0;
}

/* The next job of a helper. */
static dmlcy_job *dmlcy_next_job(dmlcy_helper *own) {
    int64_t start = dmlcy_nanoseconds();
    for (;;) {
        dmlcy_job *job = atomic_load_explicit(&own->job, memory_order_acquire);
        if (job != NULL) {
            if (atomic_compare_exchange_strong(&own->job, &job, &dmlcy_taken))
                return job;
            start = dmlcy_nanoseconds();
        }
        if (dmlcy_look(own, 1, start) || dmlcy_nanoseconds() - start < dmlcy_patience(own))
            continue;
        pthread_mutex_lock(&own->lock);
        atomic_store(&own->asleep, 1);
        while (atomic_load(&own->job) == NULL)
            pthread_cond_wait(&own->given, &own->lock);
        atomic_store(&own->asleep, 0);
        pthread_mutex_unlock(&own->lock);
        start = dmlcy_nanoseconds();
    }
}

static void *dmlcy_help(void *argument) {
    dmlcy_helper *const own = argument;
    dmlcy_inside = 1;
    for (;;) {
        dmlcy_job *const job = dmlcy_next_job(own);
        dmlcy_do_part(job, own->part);
        atomic_store(&own->job, NULL);
        if (atomic_load(&own->awaited)) {
            pthread_mutex_lock(&own->lock);
            pthread_mutex_unlock(&own->lock);
            pthread_cond_signal(&own->done);
        }
    }
    return NULL;
}

static void dmlcy_give_job(dmlcy_helper *helper, dmlcy_job *job, int part) {
    helper->part = part;
    atomic_store(&helper->job, job);
    if (atomic_load(&helper->asleep)) {
        pthread_mutex_lock(&helper->lock);      /* it waits, or looks again */
        pthread_mutex_unlock(&helper->lock);
        pthread_cond_signal(&helper->given);
    }
}

/* Takes a job back that a helper has not begun, or waits until it is done. */
static void dmlcy_end_job(dmlcy_helper *helper, dmlcy_job *job) {
    const int64_t start = dmlcy_nanoseconds();
    if (atomic_compare_exchange_strong(&helper->job, &job, NULL))
        return;
    while (dmlcy_nanoseconds() - start < DMLCY_LINGER)
        if (dmlcy_look(helper, 0, start))
            return;
    pthread_mutex_lock(&helper->lock);
    atomic_store(&helper->awaited, 1);
    while (atomic_load(&helper->job) != NULL)
        pthread_cond_wait(&helper->done, &helper->lock);
    atomic_store(&helper->awaited, 0);
    pthread_mutex_unlock(&helper->lock);
}

/* Starts a thread, which gets no signals: 0 where the system refuses. */
static int dmlcy_start(dmlcy_helper *helper) {
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;
    size_t stack = 0;
    void *volatile spare = malloc(DMLCY_SPARE);
    int failed;
    free(spare);
    if (spare == NULL || pthread_attr_init(&attr) != 0)
        return 0;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (pthread_attr_getstacksize(&attr, &stack) == 0 && stack < DMLCY_STACK)
        pthread_attr_setstacksize(&attr, DMLCY_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, &attr, dmlcy_help, helper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return !failed;
}

/* A new helper, which is claimed. NULL: there are as many as may be, or the system has no more. */
static dmlcy_helper *dmlcy_new_helper(void) {
    dmlcy_helper *helper = NULL;
    int count;
    pthread_mutex_lock(&dmlcy_starting);
    count = atomic_load(&dmlcy_started);
    if (count < DMLCY_MOST && count < atomic_load(&dmlcy_allowed))
        helper = calloc(1, sizeof *helper);
    if (helper != NULL) {
        pthread_mutex_init(&helper->lock, NULL);
        pthread_cond_init(&helper->given, NULL);
        pthread_cond_init(&helper->done, NULL);
        atomic_store(&helper->claimed, 1);
        if (dmlcy_start(helper)) {
            atomic_store(&dmlcy_helpers[count], helper);
            atomic_store(&dmlcy_started, count + 1);
        } else {
            free(helper);
            helper = NULL;
        }
    }
    pthread_mutex_unlock(&dmlcy_starting);
    return helper;
}

/* A helper that nobody has; NULL: there is none. */
static dmlcy_helper *dmlcy_claim(void) {
    const int count = atomic_load(&dmlcy_started);
    int k;
    for (k = 0; k < count; k++) {
        dmlcy_helper *const helper = atomic_load_explicit(&dmlcy_helpers[k], memory_order_acquire);
        int claimed = 0;
        if (!atomic_load_explicit(&helper->claimed, memory_order_relaxed) &&
            atomic_compare_exchange_strong(&helper->claimed, &claimed, 1))
            return helper;
    }
    return dmlcy_new_helper();
}

/* Claims helpers until this thread has so many. Returns how many there are, `wanted` at most. */
static int dmlcy_gather(int wanted) {
    dmlcy_helper **end = &dmlcy_own_helpers;
    int count = 0;
    for (; count < wanted; count++) {
        if (*end == NULL) {
            dmlcy_helper *const helper = dmlcy_claim();
            if (helper == NULL)
                break;
            helper->next = NULL;
            atomic_store_explicit(&helper->held, dmlcy_holds > 0, memory_order_relaxed);
            *end = helper;
        }
        end = &(*end)->next;
    }
    return count;
}

static void dmlcy_release(void) {
    while (dmlcy_own_helpers != NULL) {
        dmlcy_helper *const helper = dmlcy_own_helpers;
        dmlcy_own_helpers = helper->next;
        atomic_store_explicit(&helper->held, 0, memory_order_relaxed);
        atomic_store_explicit(&helper->claimed, 0, memory_order_release);
    }
}

/* Until the call that ends it, this thread keeps the helpers that it takes, and these wait in a loop between jobs. */
static void dmlcy_hold(void) {
    dmlcy_holds++;
}

static void dmlcy_let_go(void) {
    if (--dmlcy_holds == 0)
        dmlcy_release();
}

/* Whether another thread would begin with a job at once. */
static int dmlcy_awake(void) {
    dmlcy_helper *helper = dmlcy_own_helpers;
    if (helper == NULL && atomic_load_explicit(&dmlcy_started, memory_order_acquire) > 0)
        helper = atomic_load_explicit(&dmlcy_helpers[0], memory_order_acquire);
    return helper != NULL && !atomic_load_explicit(&helper->asleep, memory_order_relaxed) && (
        helper == dmlcy_own_helpers || !atomic_load_explicit(&helper->claimed, memory_order_relaxed));
}

static void dmlcy_set_pool(int allowed, int lingers) {
    atomic_store(&dmlcy_allowed, allowed);
    atomic_store(&dmlcy_lingers, lingers);
}

/* Does all chunks on this thread and on others, `threads` in all at most. 1: one of them failed, or memory ran out. */
static int dmlcy_share(dmlcy_chunk chunk, const void *args, int64_t chunks, int threads) {
    _Atomic int64_t near[DMLCY_NEAR_PARTS * DMLCY_COUNTERS];
    dmlcy_helper *helper;
    dmlcy_job job;
    int part;
    job.chunk = chunk;
    job.args = args;
    job.chunks = chunks;
    job.parts = 1 + dmlcy_gather(threads - 1);
    job.next = near;
    atomic_init(&job.failed, 0);
    if (job.parts > DMLCY_NEAR_PARTS)
        job.next = malloc((size_t)job.parts * DMLCY_COUNTERS * sizeof *job.next);
    if (job.next == NULL) {
        job.next = near;
        job.parts = DMLCY_NEAR_PARTS;
    }
    for (part = 0; part < job.parts; part++)
        atomic_init(&job.next[part * DMLCY_COUNTERS], chunks * part / job.parts);
    for (helper = dmlcy_own_helpers, part = 1; part < job.parts; helper = helper->next, part++)
        dmlcy_give_job(helper, &job, part);
    dmlcy_inside = 1;
    dmlcy_do_part(&job, 0);
    dmlcy_inside = 0;
    for (helper = dmlcy_own_helpers, part = 1; part < job.parts; helper = helper->next, part++)
        dmlcy_end_job(helper, &job);
    if (job.next != near)
        free(job.next);
    if (dmlcy_holds == 0)
        dmlcy_release();
    return atomic_load_explicit(&job.failed, memory_order_relaxed);
}

#endif

#endif
