/* The loops of sums of products, for each level; product_blocks.h has their text, products.pyx says what they do.
 *
 * A strip is a product of some rows and up to 8 vectors of columns. Each sum is one chain of multiply-adds in ascending
 * k, whatever the kernel. Where a level has a fused multiply-add, it is one; elsewhere the product is rounded, too.
 */
#ifndef DMLCY_PRODUCTS_H
#define DMLCY_PRODUCTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "half.h"
#include "isa.h"
#include "masked.h"
#include "named.h"

#if DMLCY_X86
#include <immintrin.h>
#elif DMLCY_GNU && DMLCY_BASELINE_FUSED
#include <arm_neon.h>
#endif

enum {
    DMLCY_DEPTH = 256,      /* the most elements of a row that are packed and multiplied at once */
    DMLCY_HEIGHTS = 5,
    DMLCY_WIDTHS = 4,
    DMLCY_CHANNELS = 16,    /* side by side, where each has filters of its own */
    DMLCY_STRIP = 128,      /* the most columns of a strip, which kernels compute together */
    DMLCY_SUMS = 16         /* the number of partial sums of each element of a small product; they are joined
                             * pairwise */
};

/* Adds the products of some rows of `depth` floats each, and as many rows of columns, `step` floats apart, to what is
 * at `from`, or to zeros. */
typedef void (*ProductKernel)(
    int64_t depth, const float *a, int64_t a_row, const float *b, int64_t step, const float *from, int64_t from_row,
    float *to, int64_t to_row);

/* A spatial axis of a convolution. Place p and tap t read the element p * step + start + t * tap_step of the input,
 * where it is one: from place low[t] on, before place high[t]. */
typedef struct {
    int64_t places;
    int64_t size;
    int64_t step;
    int64_t start;
    int64_t taps;
    int64_t tap_step;
    int64_t stride;         /* bytes between elements of the input */
    int64_t filter_stride;  /* bytes between taps of the filter */
    int64_t output_stride;  /* bytes between places of the output */
    const int64_t *low;
    const int64_t *high;
} ProductAxis;

/* Columns are the places of all images. A row is a tap of a channel: the taps of the first channel come first. */
typedef struct {
    ProductAxis axes[3];
    int64_t item;
    int64_t taps;
    int64_t image_stride;   /* bytes of the input */
    int64_t channel_stride;
    int64_t filter_stride;  /* bytes of the filter between channels */
    int64_t output_stride;  /* bytes of the output between images */
} ProductImage;

/* Columns of a strip that are neighbours in a row of the output. */
typedef struct {
    int64_t column;
    int64_t count;
    int64_t place[3];
    int64_t from;           /* bytes from the input to the first tap of the first place, which may be outside */
    int64_t to;             /* bytes from the output to the first place */
} ProductRun;

/* The same where the rows of columns begin at places of their own. */
typedef void (*ProductSpread)(
    int64_t depth, const float *a, int64_t a_row, const float *b, const int64_t *at, const float *from,
    int64_t from_row, float *to, int64_t to_row);

/* The same where of the last vector of columns only some are read and written. */
typedef void (*ProductSome)(
    int64_t depth, const float *a, int64_t a_row, const float *b, int64_t step, int64_t some, const float *from,
    int64_t from_row, float *to, int64_t to_row);

/* The same of any number of columns, each of which lies along k, `line` floats behind the one before. */
typedef void (*ProductTurned)(
    int64_t depth, const float *a, int64_t a_row, const float *b, int64_t line, int64_t columns, const float *from,
    int64_t from_row, float *to, int64_t to_row);

/* The same of the last k: what is stored is within two limits, if all sums are finite; else 1 is returned. `some` counts
 * where a kernel reads and writes only some columns of the last vector. */
typedef int (*ProductLast)(
    int64_t depth, const float *a, int64_t a_row, const float *b, int64_t step, int64_t some, const float *limits,
    const float *from, int64_t from_row, float *to, int64_t to_row);

/* Some rows of the output of a filter of 3 by 3. */
typedef struct {
    const float *x;         /* under the first tap of the first place, which may be outside */
    int64_t line;           /* floats from a row of the input to the next one */
    int64_t low;            /* rows that are inside, from that one on */
    int64_t high;
    int64_t left;           /* and columns */
    int64_t right;
    float filter[9];
    float begin;            /* of each chain */
    float limits[2];        /* of finite sums */
    int64_t rows;
    int64_t columns;
    int64_t step;           /* of the input from a place to the next one: 1 or 2 */
    float *to;
    int64_t pitch;          /* floats */
} ProductPlane;

typedef struct {
    int64_t lanes;
    int64_t heights[DMLCY_HEIGHTS];                     /* of kernels, from the highest on; then zeros */
    int64_t widths[DMLCY_WIDTHS];                       /* of kernels, in vectors */
    ProductKernel kernels[DMLCY_HEIGHTS][DMLCY_WIDTHS]; /* NULL: a kernel of this size would not pay */
    ProductKernel halves[DMLCY_HEIGHTS][3];             /* of FLOAT16 columns, of the first widths; NULL: none */
    void (*pack)(
        const char *source, int64_t line, int64_t lines, int64_t width, const int64_t *at, int64_t step, int64_t depth,
        int64_t item, float *to, int64_t pitch);
    void (*pack_image)(
        const ProductImage *image, const char *source, const ProductRun *runs, int64_t count, int64_t first,
        int64_t step, int64_t depth, float *to, int64_t pitch);
    ProductSpread spread[DMLCY_HEIGHTS][DMLCY_WIDTHS];
    ProductSome some[DMLCY_HEIGHTS][2];                 /* of the first two widths; NULL: the level has no masks */
    ProductLast last[DMLCY_HEIGHTS][2];                 /* of the first two widths; NULL: the level has none */
    ProductLast last_some[DMLCY_HEIGHTS][2];
    ProductTurned turned[DMLCY_HEIGHTS];                /* NULL: packing columns pays, or the level does not turn */
    void (*row)(
        int64_t depth, const float *a, const float *b, int64_t step, int64_t n, const float *from, float *to);
    void (*channels)(
        const float *x, int64_t step, const int64_t *at, int64_t taps, const float *filters, const float *begin,
        int64_t places, float *to);
    void (*turn)(const char *source, int64_t line, int64_t lines, int64_t depth, float *to, int64_t pitch);
    void (*fill_rows)(
        const char *from, int64_t channel, int64_t channels, int64_t row, int64_t between, int64_t item, int64_t first,
        int64_t last, int64_t n, int64_t begin, int64_t end, int64_t rows, float *to);
    void (*put_rows)(
        const float *from, int64_t pitch, int64_t rows, int64_t n, char *to, int64_t row, int64_t step, int64_t item);
    void (*merge_rows)(
        const float *from, int64_t pitch, int64_t rows, int64_t between, int64_t turns, int64_t n, char *to,
        int64_t row, int64_t step, int64_t item);
    void (*dots)(const float *a, const float *b, int64_t line, int64_t depth, int64_t n, float *to);
    int (*plane)(const ProductPlane *plane);             /* whether all sums are finite; NULL: there is none */
    int (*are_finite)(const float *x, int64_t row, int64_t rows, int64_t n);
    void (*scale)(float *x, float alpha, int64_t n);
    void (*add)(float *x, float alpha, const float *c, float beta, int64_t n);
} ProductLevel;

/* ---- what no level changes ---- */

/* Eight bits, a zero between each and the next. */
static inline uint32_t dmlcy_apart(uint32_t bits)
{
    bits = (bits | bits << 4) & 0x0f0f;
    bits = (bits | bits << 2) & 0x3333;
    return (bits | bits << 1) & 0x5555;
}

/* How many floats come before the first line of the cache, if all lines of a matrix begin alike; `turn` are taken at
 * once. */
static inline int64_t dmlcy_head(const float *b, int64_t line, int64_t depth, int64_t turn)
{
    const int64_t before = (int64_t)(-(uintptr_t)b / sizeof(float) % 16);
    return turn == 16 && line % 16 == 0 && before < depth ? before : 0;
}

/* n elements as floats, one after the other. */
static inline void dmlcy_widen(const char *from, int64_t step, int64_t item, float *to, int64_t n)
{
    int64_t i;
    if (item == 2)
        dmlcy_half_to_float((const uint16_t *)from, (ptrdiff_t)step, to, (size_t)n);
    else if (step == 4)
        memcpy(to, from, (size_t)n * 4);
    else
        for (i = 0; i < n; i++)
            memcpy(to + i, from + i * step, 4);
}

/* And the other way round. */
static inline void dmlcy_narrow(const float *from, char *to, int64_t step, int64_t item, int64_t n)
{
    int64_t i;
    if (item == 2)
        dmlcy_float_to_half(from, (uint16_t *)to, (ptrdiff_t)step, (size_t)n);
    else if (step == 4)
        memcpy(to, from, (size_t)n * 4);
    else
        for (i = 0; i < n; i++)
            memcpy(to + i * step, from + i, 4);
}

/* Some columns from one on, as runs. Returns how many runs there are. */
static int64_t dmlcy_list_runs(const ProductImage *image, int64_t column, int64_t count, ProductRun *runs)
{
    const ProductAxis *const axes = image->axes;
    const int64_t columns = axes[2].places, rows = axes[1].places, planes = axes[0].places;
    int64_t place[3], rest = column / columns, item, done = 0, number = 0;
    int d;
    place[2] = column % columns;
    place[1] = rest % rows;
    rest /= rows;
    place[0] = rest % planes;
    item = rest / planes;
    while (done < count) {
        ProductRun *const run = &runs[number++];
        const int64_t left = columns - place[2];
        run->column = done;
        run->count = left < count - done ? left : count - done;
        run->from = item * image->image_stride;
        run->to = item * image->output_stride;
        for (d = 0; d < 3; d++) {
            run->place[d] = place[d];
            run->from += (place[d] * axes[d].step + axes[d].start) * axes[d].stride;
            run->to += place[d] * axes[d].output_stride;
        }
        done += run->count;
        place[2] = 0;
        if (++place[1] == rows) {
            place[1] = 0;
            if (++place[0] == planes) {
                place[0] = 0;
                item++;
            }
        }
    }
    return number;
}

#define DMLCY_TEXT "product_blocks.h"
#include "levels.h"

static const ProductLevel *const dmlcy_product_levels[] = {
    &dmlcy_products, &dmlcy_products_wide, &dmlcy_products_widest,
};

#endif
