# Splitting a range of independent work items over threads.

from libc.stdint cimport int64_t

cdef enum:
    SERIAL_BYTES = 2097152      # the most bytes that one thread writes alone: waking another one up takes some 0.1 ms
    AWAKE_BYTES = 262144        # the most bytes that one thread writes alone even if other threads are awake

# Does the items begin … end-1. Returns 0, or -1 when memory ran out.
ctypedef int (*Work)(const void* args, int64_t begin, int64_t end) noexcept nogil

# Calls work over 0 … total-1 in chunks of `grain` items, whatever the number of threads. One thread does all when one
# chunk suffices, inside another parallel region, and in a forked child process. -1 when a chunk returned that, or when
# the handler of a signal has raised an exception, which is set then: the main thread looks for signals between two
# chunks.
cdef int parallel_for(Work work, const void* args, int64_t total, int64_t grain) noexcept nogil

# How many threads a call may use.
cdef int thread_limit() noexcept nogil

# The same here: one in a forked child process, in a call that may use no other thread, and in a chunk of work.
cdef int threads_here() noexcept nogil

# When signals were looked for, and whether one has raised an exception.
cdef struct Watch:
    int64_t looked
    int stopped

# Looks for signals from now on.
cdef void start_watch(Watch* watch) noexcept nogil
# Whether what is watched ends early: the handler of a signal, such as Ctrl-C, has raised an exception.
cdef bint is_stopped(Watch* watch) noexcept nogil

# Whether one thread has moved so many bytes before others would help it: fewer bytes where the call before, which had
# work for others, ended just now.
cdef bint is_serial(int64_t bytes) noexcept nogil

# The least work of a chunk: `work`, or a part of it if other threads are awake. So it may differ from call to call.
cdef int64_t enough(int64_t work) noexcept nogil

# Between the two, the threads that help the caller stay awake between its loops, and help no one else.
cdef void hold_threads() noexcept nogil
cdef void let_threads_go() noexcept nogil

# Items per chunk when one item moves about `bytes` bytes.
cdef int64_t grain_of(int64_t bytes) noexcept nogil
