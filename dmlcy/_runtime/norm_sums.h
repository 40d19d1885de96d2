/* Sums of neighbors along one axis of a block of numbers, `rows` times `n`: Each number becomes the sum of itself, of
 * up to `before` numbers before it and of up to `after` behind it. Few numbers are added one by one. Of more, the sums
 * of parts from both ends are joined: no number is subtracted.
 */
#ifndef DMLCY_NORM_SUMS_H
#define DMLCY_NORM_SUMS_H

#include <stdint.h>
#include <string.h>

#define DMLCY_FEW_NEIGHBORS 16 /* the most neighbors of an element that are added one by one; for more, sums of parts
                                * are joined */

static inline void dmlcy_add_row(double *target, const double *source, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        target[i] += source[i];
}

static inline void dmlcy_add_rows(double *target, const double *one, const double *other, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        target[i] = one[i] + other[i];
}

/* `room` has as many numbers as the block has, twice. Blocks of `before + 1 + after` rows are added up from their first
 * row on, and from their last one on; each sum is one of these, or made of two. */
static inline void dmlcy_sum_rows(
    const double *source, double *target, double *room, int64_t rows, int64_t n, int64_t before, int64_t after)
{
    const int64_t count = rows * n;
    const int64_t far = before < rows && after < rows ? before + 1 + after : rows;
    double *const heads = room, *const tails = room + count;
    const size_t bytes = (size_t)n * sizeof(double);
    int64_t row, each;
    if (far <= DMLCY_FEW_NEIGHBORS) {
        for (row = 0; row < rows; row++) {
            const int64_t low = row > before ? row - before : 0, high = row < rows - after ? row + after : rows - 1;
            memcpy(target + row * n, source + low * n, bytes);
            for (each = low + 1; each <= high; each++)
                dmlcy_add_row(target + row * n, source + each * n, n);
        }
        return;
    }
    for (row = 0; row < rows; row++) {
        memcpy(heads + row * n, source + row * n, bytes);
        if (row % far)
            dmlcy_add_row(heads + row * n, heads + (row - 1) * n, n);
    }
    for (row = rows - 1; row >= 0; row--) {
        memcpy(tails + row * n, source + row * n, bytes);
        if (row < rows - 1 && (row + 1) % far)
            dmlcy_add_row(tails + row * n, tails + (row + 1) * n, n);
    }
    for (row = 0; row < rows; row++) {
        const int64_t low = row > before ? row - before : 0, high = row < rows - after ? row + after : rows - 1;
        double *const to = target + row * n;
        if (low / far != high / far)
            dmlcy_add_rows(to, tails + low * n, heads + high * n, n);
        else if (low % far == 0)
            memcpy(to, heads + high * n, bytes);
        else
            memcpy(to, tails + low * n, bytes);
    }
}

/* The same along each row. */
static inline void dmlcy_sum_along(
    const double *source, double *target, double *room, int64_t rows, int64_t n, int64_t before, int64_t after)
{
    int64_t row, i, each;
    if (before < n && after < n && before + 1 + after <= DMLCY_FEW_NEIGHBORS) {
        for (row = 0; row < rows; row++) {
            const double *const from = source + row * n;
            double *const to = target + row * n;
            memset(to, 0, (size_t)n * sizeof(double));
            for (each = -before; each <= after; each++) {
                const int64_t low = each < 0 ? -each : 0, high = each > 0 ? n - each : n;
                for (i = low; i < high; i++)
                    to[i] += from[i + each];
            }
        }
        return;
    }
    for (row = 0; row < rows; row++)
        dmlcy_sum_rows(source + row * n, target + row * n, room, n, 1, before, after);
}

#endif
