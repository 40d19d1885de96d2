/* Nanoseconds since some moment, on a clock that only goes forward. */
#ifndef DMLCY_CLOCK_H
#define DMLCY_CLOCK_H

#include <stdint.h>
#include <time.h>

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
static int64_t dmlcy_nanoseconds(void) {
    LARGE_INTEGER now, each;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&each);
    return now.QuadPart / each.QuadPart * 1000000000 + now.QuadPart % each.QuadPart * 1000000000 / each.QuadPart;
}
#else
static int64_t dmlcy_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif

#endif
