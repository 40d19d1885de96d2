# cython: embedsignature=True
"""Threads, where the system has those of POSIX, else one; the results are the same for any number of them."""

import operator
import os
import threading

cimport cython
from libc.stdint cimport int64_t

import numpy

from dmlcy._runtime.cpus import MOST_THREADS, default_threads, lingers, usable_cpus

cdef extern from *:
    """
    #include <time.h>
    #include "mode.h"
    #include "pool.h"
    static int64_t dmlcy_microseconds(void) {
    #ifdef TIME_UTC
        struct timespec now;
        timespec_get(&now, TIME_UTC);
        return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    #else    /* older libraries of Windows: whole seconds do */
        return (int64_t)time(NULL) * 1000000;
    #endif
    }
    /* Whether calls of this Python thread use no other thread. */
    static DMLCY_THREAD_LOCAL int dmlcy_alone = 0;
    /* When this Python thread had work for others. */
    static DMLCY_THREAD_LOCAL int64_t dmlcy_busy = 0;
    """
    const bint DMLCY_THREADS
    const char* DMLCY_COMPILER
    const int dmlcy_inside
    const int dmlcy_holds
    void dmlcy_hold() noexcept nogil
    void dmlcy_let_go() noexcept nogil
    bint dmlcy_awake() noexcept nogil
    void dmlcy_set_pool(int allowed, bint lingers) noexcept nogil
    int dmlcy_share(int (*chunk)(const void* args, int64_t number) noexcept nogil, const void* args, int64_t chunks,
                    int threads) noexcept nogil
    int64_t dmlcy_mode() noexcept nogil
    void dmlcy_set_mode(int64_t mode) noexcept nogil
    int dmlcy_alone
    int64_t dmlcy_busy
    int64_t dmlcy_microseconds() noexcept nogil

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() noexcept nogil
    int PyErr_CheckSignals() noexcept

cdef enum:
    CHUNK_BYTES = 256 * 1024        # the fewest bytes to move that are worth another thread
    PATIENCE = 100000               # microseconds of work between two looks for a signal
    # the microseconds after a call for threads during which the next call wakes threads up for less work
    AWAKE = 1000
    # the divisor of the least work that is worth another thread, if that thread is awake
    AWAKE_PART = 8

# The common state of the threads of a call.
cdef struct Shared:
    Work work
    const void* args
    int64_t total
    int64_t grain
    int64_t mode                    # of the caller
    Watch* watch

# Only the main thread gets signals.
cdef unsigned long main_thread = threading.main_thread().ident
cdef int most_threads = default_threads()
cdef int usable = usable_cpus()
cdef bint forked = False


def _after_fork():
    # Other threads do not survive a fork.
    global forked, main_thread
    forked = True
    main_thread = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


cdef void start_watch(Watch* watch) noexcept nogil:
    watch.looked = dmlcy_microseconds()
    watch.stopped = False


cdef bint is_stopped(Watch* watch) noexcept nogil:
    cdef int64_t now
    if not watch.stopped and PyThread_get_thread_ident() == main_thread:
        now = dmlcy_microseconds()
        if now - watch.looked >= PATIENCE:
            watch.looked = now
            with gil:
                watch.stopped = PyErr_CheckSignals() != 0
    return watch.stopped


cdef inline int do_chunk(Work work, const void* args, int64_t chunk, int64_t total, int64_t grain) noexcept nogil:
    cdef int64_t begin = chunk * grain
    return work(args, begin, begin + min(grain, total - begin)) != 0


# The same on any thread, in the mode of the caller's.
cdef int do_shared(const void* args, int64_t chunk) noexcept nogil:
    cdef const Shared* a = <const Shared*> args
    cdef int64_t own = dmlcy_mode()
    cdef int failed
    if is_stopped(a.watch):
        return 1
    dmlcy_set_mode(a.mode)
    failed = do_chunk(a.work, a.args, chunk, a.total, a.grain)
    dmlcy_set_mode(own)
    return failed


cdef int parallel_for(Work work, const void* args, int64_t total, int64_t grain) noexcept nogil:
    cdef int64_t chunk, chunks
    cdef int failed = 0, threads
    cdef Watch watch
    cdef Shared shared
    if total <= 0:
        return 0
    if total <= grain:
        return -do_chunk(work, args, 0, total, total)
    grain = max(grain, 1)
    chunks = (total - 1) // grain + 1
    threads = 1
    threads = <int>min(chunks, <int64_t>threads_here())
    start_watch(&watch)
    if threads == 1:
        for chunk in range(chunks):
            if is_stopped(&watch) or do_chunk(work, args, chunk, total, grain):
                return -1
    else:
        shared = Shared(work=work, args=args, total=total, grain=grain, mode=dmlcy_mode(), watch=&watch)
        failed = dmlcy_share(do_shared, &shared, chunks, threads)
        dmlcy_busy = dmlcy_microseconds()
    return -failed


cdef int thread_limit() noexcept nogil:
    return most_threads


cdef int threads_here() noexcept nogil:
    return 1 if forked or dmlcy_alone or dmlcy_inside else most_threads


# Whether others would help at once, or had work just now: then they are woken up for more.
cdef inline bint are_near() noexcept nogil:
    global dmlcy_busy
    cdef int64_t before = dmlcy_busy
    dmlcy_busy = dmlcy_microseconds()
    return dmlcy_awake() or 0 <= dmlcy_busy - before < AWAKE


cdef bint is_serial(int64_t bytes) noexcept nogil:
    return bytes <= AWAKE_BYTES or (bytes <= SERIAL_BYTES and not are_near())


cdef int64_t enough(int64_t work) noexcept nogil:
    if most_threads > 1 and (dmlcy_awake() or (dmlcy_holds > 0 and are_near())):
        return work // AWAKE_PART
    return work


cdef void hold_threads() noexcept nogil:
    dmlcy_hold()


cdef void let_threads_go() noexcept nogil:
    dmlcy_let_go()


cdef int64_t grain_of(int64_t bytes) noexcept nogil:
    return max(CHUNK_BYTES // max(bytes, 1), 1)


def _set_pool():
    # Of all Python threads together: more than a quota allows would only stop each other.
    dmlcy_set_pool(max(usable, most_threads) - 1, lingers())


_set_pool()


def set_num_threads(n):
    """Set how many threads a call may use, from 1 to 1024. Forked child processes always use one."""
    global most_threads
    if isinstance(n, (bool, numpy.bool)):  # NumPy before 2.3 warns, and takes its own as an index
        raise TypeError("the number of threads must be an int, not bool")
    try:
        number = operator.index(n)
    except TypeError:
        raise TypeError(f"the number of threads must be an int, not {type(n).__name__}") from None
    if not 1 <= number <= MOST_THREADS:
        raise ValueError(f"the number of threads must be from 1 to {MOST_THREADS}, not {number}")
    most_threads = number
    _set_pool()


def get_num_threads():
    """Return how many threads a call may use at most: 1 in a forked child process, and if there are no threads."""
    return most_threads if DMLCY_THREADS and not forked else 1


@cython.final
cdef class one_thread:
    """Calls of this Python thread use no other thread inside the block: their caller runs many of them at once."""

    cdef bint on
    cdef bint before

    def __init__(self, on=True):
        self.on = on

    def __enter__(self):
        global dmlcy_alone
        self.before = dmlcy_alone
        dmlcy_alone = self.before or self.on

    def __exit__(self, *error):
        global dmlcy_alone
        dmlcy_alone = self.before


def threads_available():
    """Return whether the package was built with threads."""
    return bool(DMLCY_THREADS)


def compiler():
    """Return the C compiler that the package was built with, and its version."""
    return DMLCY_COMPILER.decode("ascii", "replace").strip()
