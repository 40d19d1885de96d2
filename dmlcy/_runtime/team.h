/* How many threads OpenMP may be asked for. A library that cannot start one (a limit on processes or on memory) ends the
   process, so others are started first, to see. */

#ifndef DMLCY_TEAM_H
#define DMLCY_TEAM_H

#include "compiler.h"

#if defined(_OPENMP) && !defined(_WIN32)

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *dmlcy_pass(void *gate) {
    pthread_mutex_lock((pthread_mutex_t *)gate);
    pthread_mutex_unlock((pthread_mutex_t *)gate);
    return NULL;
}

/* Whether so many more threads can be there at once. Their stacks are given back: a library would keep some. */
static int dmlcy_can_start(int count) {
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *threads = (pthread_t *)malloc((size_t)count * (sizeof(pthread_t) + sizeof(void *)));
    void **stacks = (void **)(threads + count);
    pthread_attr_t attr;
    size_t size = 0;
    int started = 0, i;
    if (threads == NULL)
        return 0;
    pthread_attr_init(&attr);
    pthread_attr_getstacksize(&attr, &size);
    pthread_mutex_lock(&gate);
    for (; started < count; started++) {
        stacks[started] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (stacks[started] == MAP_FAILED)
            break;
        if (pthread_attr_setstack(&attr, stacks[started], size) != 0 ||
            pthread_create(&threads[started], &attr, dmlcy_pass, &gate) != 0) {
            munmap(stacks[started], size);
            break;
        }
    }
    pthread_mutex_unlock(&gate);
    for (i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        munmap(stacks[i], size);
    }
    pthread_attr_destroy(&attr);
    free(threads);
    return started == count;
}

/* The threads to ask for where `wanted` would be welcome: as many, or as many as the caller's own team has had. */
static int dmlcy_team(int wanted) {
    static DMLCY_THREAD_LOCAL int known = 1;
    void *tables = malloc(16384 + 1024 * (size_t)wanted);   /* for the library's own */
    free(tables);
    if (tables == NULL)
        return 1;
    /* Twice as many: those that have just ended may still count. */
    if (wanted > known && dmlcy_can_start(2 * (wanted - known)))
        known = wanted;
    return wanted < known ? wanted : known;
}

#else
#define dmlcy_team(wanted) (wanted)
#endif

#endif
