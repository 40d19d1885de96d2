/* Streaming stores: an output that is larger than the cache goes to memory in full cache lines, which the processor then
 * neither reads first nor keeps. Worth it when `stream_pays` (processor.pxd) says so; a thread then writes its part of the
 * output through a dmlcy_stream, from front to back:
 *
 *     dmlcy_stream s;
 *     dmlcy_stream_begin(&s, target);
 *     dmlcy_stream_put(&s, source, n);            n bytes from anywhere
 *     dmlcy_stream_fill(&s, word, n);             n bytes of one repeated element
 *     dmlcy_stream_seek(&s, elsewhere);           no cost where the next byte is the one that would follow anyway
 *     ... write up to DMLCY_ROOM bytes at dmlcy_stream_room(&s) ...; dmlcy_stream_advance(&s, n);
 *     dmlcy_stream_end(&s);                       before another thread may read what was written
 *
 * Only the bytes that were put are written, so that threads may share a cache line. Elsewhere than on x86-64 lines are
 * copied as usual.
 */
#ifndef DMLCY_STREAM_H
#define DMLCY_STREAM_H

#include "copy.h"

#if DMLCY_X86
#include <cpuid.h>
#endif

#define DMLCY_LINE 64
#define DMLCY_ROOM 1024 /* the most bytes that are put together in a buffer before they are streamed to memory */

/* Within a page: with the bytes that wait across two of them, streaming was up to ten times slower. */
#if DMLCY_X86
#define DMLCY_ONE_PAGE __attribute__((aligned(2048)))
#else
#define DMLCY_ONE_PAGE
#endif

typedef struct DMLCY_ONE_PAGE {
    char *line;     /* where the first byte that waits belongs: the start of a cache line */
    int64_t held;   /* bytes that wait for their line to be full: fewer than a line */
    int64_t skip;   /* the first of them are not ours: the target began inside a line */
    char buffer[3 * DMLCY_LINE + DMLCY_ROOM];   /* they follow its first line; whole lines may spill over at both ends */
} dmlcy_stream;

/* ---- full lines ---- */

/* Copies lines to an aligned target; `n` is a multiple of DMLCY_LINE. */
static inline void dmlcy_stream_lines(char *target, const char *source, int64_t n)
{
#if DMLCY_X86
    int64_t i;
    for (i = 0; i < n; i += DMLCY_LINE) {
        const __m128i a = _mm_loadu_si128((const __m128i *)(source + i));
        const __m128i b = _mm_loadu_si128((const __m128i *)(source + i + 16));
        const __m128i c = _mm_loadu_si128((const __m128i *)(source + i + 32));
        const __m128i d = _mm_loadu_si128((const __m128i *)(source + i + 48));
        _mm_stream_si128((__m128i *)(target + i), a);
        _mm_stream_si128((__m128i *)(target + i + 16), b);
        _mm_stream_si128((__m128i *)(target + i + 32), c);
        _mm_stream_si128((__m128i *)(target + i + 48), d);
    }
#else
    memcpy(target, source, (size_t)n);
#endif
}

/* Fills lines of an aligned target with a word; `n` is a multiple of DMLCY_LINE. */
static inline void dmlcy_stream_fill_lines(char *target, uint64_t word, int64_t n)
{
    int64_t i;
#if DMLCY_X86
    const __m128i words = _mm_set1_epi64x((long long)word);
    for (i = 0; i < n; i += 16)
        _mm_stream_si128((__m128i *)(target + i), words);
#else
    for (i = 0; i < n; i += 8)
        memcpy(target + i, &word, 8);
#endif
}

/* The bytes streamed so far come before the bytes that this thread writes from now on. */
static inline void dmlcy_stream_fence(void)
{
#if DMLCY_X86
    _mm_sfence();
#endif
}

/* ---- any bytes ---- */

static inline char *dmlcy_stream_bytes(dmlcy_stream *s)
{
    return s->buffer + DMLCY_LINE;
}

static inline void dmlcy_stream_begin(dmlcy_stream *s, char *target)
{
    s->held = s->skip = (int64_t)((uintptr_t)target % DMLCY_LINE);
    s->line = target - s->held;
}

/* Where the next bytes may be written, at most DMLCY_ROOM; dmlcy_stream_advance then says how many they were. */
static inline char *dmlcy_stream_room(dmlcy_stream *s)
{
    return dmlcy_stream_bytes(s) + s->held;
}

static inline void dmlcy_stream_advance(dmlcy_stream *s, int64_t n)
{
    char *bytes = dmlcy_stream_bytes(s);
    int64_t full, first = 0;
    s->held += n;
    if (s->held < DMLCY_LINE)
        return;
    full = s->held / DMLCY_LINE * DMLCY_LINE;
    if (s->skip) {
        memcpy(s->line + s->skip, bytes + s->skip, (size_t)(DMLCY_LINE - s->skip));
        first = DMLCY_LINE;
        s->skip = 0;
    }
    dmlcy_stream_lines(s->line + first, bytes + first, full - first);
    memcpy(bytes, bytes + full, DMLCY_LINE);
    s->line += full;
    s->held -= full;
}

static inline void dmlcy_stream_put(dmlcy_stream *s, const char *source, int64_t n)
{
    int64_t lead = (DMLCY_LINE - s->held) % DMLCY_LINE, full, rest;
    if (n < DMLCY_LINE) {
        dmlcy_copy_short(dmlcy_stream_room(s), source, n);
        dmlcy_stream_advance(s, n);
        return;
    }
    /* From here on both ends of the source are worth a line, and copies of any part of one are copies of all of it. */
    if (lead) {
        memcpy(dmlcy_stream_room(s), source, DMLCY_LINE);
        dmlcy_stream_advance(s, lead);
    }
    full = (n - lead) / DMLCY_LINE * DMLCY_LINE;
    rest = n - lead - full;
    dmlcy_stream_lines(s->line, source + lead, full);
    memcpy(dmlcy_stream_bytes(s) + rest - DMLCY_LINE, source + n - DMLCY_LINE, DMLCY_LINE);
    s->line += full;
    s->held = rest;
}

/* `word` repeats an element; the target of the stream is aligned to that element. */
static inline void dmlcy_stream_fill(dmlcy_stream *s, uint64_t word, int64_t n)
{
    const int64_t lead = (DMLCY_LINE - s->held) % DMLCY_LINE;
    const int64_t head = n < lead ? n : lead;
    char *bytes = dmlcy_stream_bytes(s);
    int64_t full, i;
    for (i = 0; i < head; i += 8)
        memcpy(bytes + s->held + i, &word, 8);
    dmlcy_stream_advance(s, head);
    if (n == head)
        return;
    full = (n - head) / DMLCY_LINE * DMLCY_LINE;
    dmlcy_stream_fill_lines(s->line, word, full);
    for (i = 0; i < DMLCY_LINE; i += 8)
        memcpy(bytes + i, &word, 8);
    s->line += full;
    s->held = n - head - full;
}

/* Writes what waits. */
static inline void dmlcy_stream_flush(dmlcy_stream *s)
{
    memcpy(s->line + s->skip, dmlcy_stream_bytes(s) + s->skip, (size_t)(s->held - s->skip));
}

/* The next byte goes to `target`. */
static inline void dmlcy_stream_seek(dmlcy_stream *s, char *target)
{
    if (target == s->line + s->held)
        return;
    dmlcy_stream_flush(s);
    dmlcy_stream_begin(s, target);
}

static inline void dmlcy_stream_end(dmlcy_stream *s)
{
    dmlcy_stream_flush(s);
    dmlcy_stream_fence();
}

/* ---- the cache ---- */

/* Bytes of the last-level cache that the processor at hand has, or 0: not known, or streaming is not possible. */
static inline int64_t dmlcy_last_level_cache(void)
{
#if DMLCY_X86
    const unsigned leaves[] = {4u, 0x8000001du};    /* of Intel; of AMD, which leaves the other one empty */
    int64_t size, last = 0;
    unsigned a, b, c, d, leaf, i;
    for (leaf = 0; leaf < 2; leaf++)
        for (i = 0; i < 16; i++) {
            if (!__get_cpuid_count(leaves[leaf], i, &a, &b, &c, &d) || !(a & 31u))
                break;
            size = (int64_t)((b >> 22) + 1) * ((b >> 12 & 0x3ffu) + 1) * ((b & 0xfffu) + 1) * ((int64_t)c + 1);
            if ((a & 31u) != 2u && size > last)     /* 2 is a cache of instructions */
                last = size;
        }
    return last;
#else
    return 0;
#endif
}

#endif
