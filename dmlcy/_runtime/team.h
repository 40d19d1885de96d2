/* How many threads OpenMP may be asked for. A library that cannot start one (a limit on processes or on memory) ends the
   process, so others are started first, to see. */

#ifndef DMLCY_TEAM_H
#define DMLCY_TEAM_H

#include "compiler.h"

#if defined(_OPENMP) && !defined(_WIN32)

#include <pthread.h>
#include <stdlib.h>

static void *dmlcy_pass(void *gate) {
    pthread_mutex_lock((pthread_mutex_t *)gate);
    pthread_mutex_unlock((pthread_mutex_t *)gate);
    return NULL;
}

/* Whether so many more threads can be there at once. */
static int dmlcy_can_start(int count) {
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *threads = (pthread_t *)malloc((size_t)count * sizeof(pthread_t));
    int started = 0, i;
    if (threads == NULL)
        return 0;
    pthread_mutex_lock(&gate);
    while (started < count && pthread_create(&threads[started], NULL, dmlcy_pass, &gate) == 0)
        started++;
    pthread_mutex_unlock(&gate);
    for (i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
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
