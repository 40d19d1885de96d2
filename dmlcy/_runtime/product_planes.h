/* Planes of a filter of 3 by 3 for each channel, for the widest level; product_blocks.h includes them. The sums of some
 * rows of a vector of places stay in registers, as do the taps. A row of the input is read once for all rows of the
 * output that need it. Each sum is the chain of dmlcy_channels: rows outside are left out, and columns outside are 0.
 */

#if DMLCY_X86 && DMLCY_IS_WIDEST

DMLCY_INLINE int64_t dmlcy_lane_of(int64_t column)
{
    return column < 0 ? 0 : column < 16 ? column : 16;
}

/* Which of 16 columns are inside, where those from `left` to `right` - 1 are. */
DMLCY_TARGET DMLCY_INLINE __mmask16 dmlcy_inside(int64_t left, int64_t right)
{
    return (__mmask16)(((1u << dmlcy_lane_of(right)) - 1) & ~((1u << dmlcy_lane_of(left)) - 1));
}

/* The elements under the three taps of a row, of places from one on. */
#define DMLCY_TAPS_1(x)                                                                                                \
    v[0] = dmlcy_masked(own[0], x);                                                                                    \
    v[1] = dmlcy_masked(own[1], (x) + 1);                                                                              \
    v[2] = dmlcy_masked(own[2], (x) + 2);
#define DMLCY_TAPS_2(x)                                                                                                \
    {                                                                                                                  \
        const __m512 near = dmlcy_masked(own[0], x), far = dmlcy_masked(own[1], (x) + 16);                             \
        v[0] = _mm512_permutex2var_ps(near, even, far);                                                                \
        v[1] = _mm512_permutex2var_ps(near, odd, far);                                                                 \
        v[2] = _mm512_permutex2var_ps(                                                                                 \
            dmlcy_masked(own[2], (x) + 2), even, dmlcy_masked(own[3], (x) + 18));                                      \
    }
#define DMLCY_MASKS_1(first)                                                                                           \
    own[0] = dmlcy_inside(left - (first), right - (first));                                                            \
    own[1] = dmlcy_inside(left - (first) - 1, right - (first) - 1);                                                    \
    own[2] = dmlcy_inside(left - (first) - 2, right - (first) - 2);
#define DMLCY_MASKS_2(first)                                                                                           \
    DMLCY_MASKS_1(2 * (first))                                                                                         \
    own[1] = dmlcy_inside(left - 2 * (first) - 16, right - 2 * (first) - 16);                                          \
    own[3] = dmlcy_inside(left - 2 * (first) - 18, right - 2 * (first) - 18);

/* So many rows of the output, from one on. Whether a sum is no finite number. */
#define DMLCY_PLANE_ROWS(rows, step)                                                                                   \
    DMLCY_TARGET static int dmlcy_plane_##rows##_##step(const ProductPlane *plane, int64_t row)                        \
    {                                                                                                                  \
        const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);              \
        const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));                                              \
        const int64_t line = plane->line, pitch = plane->pitch, columns = plane->columns;                              \
        const float *const x = plane->x + row * (step) * line;                                                         \
        float *const to = plane->to + row * pitch;                                                                     \
        const int64_t low = plane->low - row * (step), high = plane->high - row * (step);                              \
        const int64_t left = plane->left, right = plane->right;                                                        \
        const __m512 begin = _mm512_set1_ps(plane->begin);                                                             \
        const __m512 least = _mm512_set1_ps(plane->limits[0]), greatest = _mm512_set1_ps(plane->limits[1]);            \
        __m512 filter[9];                                                                                              \
        int64_t at;                                                                                                    \
        int i, r, k, others = 0;                                                                                       \
        (void)odd;                                                                                                     \
        DMLCY_UNROLL for (k = 0; k < 9; k++)                                                                           \
            filter[k] = _mm512_set1_ps(plane->filter[k]);                                                              \
        for (at = 0; at < columns; at += 16) {                                                                         \
            const __mmask16 made = (__mmask16)(columns - at < 16 ? (1u << (columns - at)) - 1 : 0xffffu);              \
            __m512 sums[rows], v[3];                                                                                   \
            __mmask16 own[4];                                                                                          \
            DMLCY_MASKS_##step(at)                                                                                     \
            DMLCY_UNROLL for (r = 0; r < (rows); r++)                                                                  \
                sums[r] = begin;                                                                                       \
            DMLCY_UNROLL for (i = 0; i < ((rows) - 1) * (step) + 3; i++)                                               \
                if (low <= i && i < high) {                                                                            \
                    DMLCY_TAPS_##step(x + i * line + at * (step))                                                      \
                    DMLCY_UNROLL for (r = 0; r < (rows); r++)                                                          \
                        if (0 <= i - r * (step) && i - r * (step) < 3)                                                 \
                            DMLCY_UNROLL for (k = 0; k < 3; k++)                                                       \
                                sums[r] = _mm512_fmadd_ps(v[k], filter[(i - r * (step)) * 3 + k], sums[r]);            \
                }                                                                                                      \
            DMLCY_UNROLL for (r = 0; r < (rows); r++) {                                                                \
                const __mmask16 odd = _mm512_fpclass_ps_mask(sums[r], 0x99);                                           \
                const __m512 limited = _mm512_max_ps(_mm512_min_ps(sums[r], greatest), least);                         \
                others |= odd & made;                                                                                  \
                dmlcy_masked_put(to + r * pitch + at, made, _mm512_mask_mov_ps(limited, odd, sums[r]));                \
            }                                                                                                          \
        }                                                                                                              \
        return others;                                                                                                 \
    }

DMLCY_PLANE_ROWS(8, 1)
DMLCY_PLANE_ROWS(7, 1)
DMLCY_PLANE_ROWS(4, 1)
DMLCY_PLANE_ROWS(2, 1)
DMLCY_PLANE_ROWS(1, 1)
DMLCY_PLANE_ROWS(7, 2)
DMLCY_PLANE_ROWS(4, 2)
DMLCY_PLANE_ROWS(2, 2)
DMLCY_PLANE_ROWS(1, 2)

/* Some rows of a plane. Whether all sums are finite; others are stored beyond the limits, too. */
DMLCY_TARGET static int dmlcy_plane(const ProductPlane *plane)
{
    const int64_t most = plane->step == 2 || plane->rows % 7 == 0 ? 7 : 8;
    int64_t row;
    int others = 0;
    for (row = 0; plane->rows - row >= most; row += most)
        others |= most == 8          ? dmlcy_plane_8_1(plane, row)
                  : plane->step == 1 ? dmlcy_plane_7_1(plane, row)
                                     : dmlcy_plane_7_2(plane, row);
    for (; plane->rows - row >= 4; row += 4)
        others |= plane->step == 1 ? dmlcy_plane_4_1(plane, row) : dmlcy_plane_4_2(plane, row);
    if (plane->rows - row >= 2) {
        others |= plane->step == 1 ? dmlcy_plane_2_1(plane, row) : dmlcy_plane_2_2(plane, row);
        row += 2;
    }
    if (plane->rows - row >= 1)
        others |= plane->step == 1 ? dmlcy_plane_1_1(plane, row) : dmlcy_plane_1_2(plane, row);
    return !others;
}
#undef DMLCY_TAPS_1
#undef DMLCY_TAPS_2
#undef DMLCY_MASKS_1
#undef DMLCY_MASKS_2
#undef DMLCY_PLANE_ROWS

#endif
