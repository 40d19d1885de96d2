/* Products whose columns lie along k, as those of a transposed matrix do. Some lines are turned in registers while they
 * are multiplied, for rows that are too few to pay for packing. Products of one row, whose columns lie side by side:
 * rows of the matrix are read along. And small products, whose sums are DMLCY_SUMS chains each. product_blocks.h
 * includes this text. */

#if DMLCY_X86 && DMLCY_IS_WIDE
#define DMLCY_TURN (DMLCY_IS_WIDEST ? 16 : 4) /* k that are turned at once */

/* DMLCY_TURN elements of DMLCY_VECTOR lines. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_turn_lines)(
    const float *from, int64_t line, DMLCY_LEVEL(dmlcy_lanes) *y)
{
    int i;
#if DMLCY_IS_WIDEST
    __m512 u[16];
    /* Halves of two lines each, then the steps of dmlcy_turn, except the first one. */
    DMLCY_UNROLL for (i = 0; i < 8; i++) {
        const float *const low = from + (i % 4 + i / 4 * 8) * line, *const high = low + 4 * line;
        u[i] = _mm512_insertf32x8(
            _mm512_castps256_ps512(_mm256_loadu_ps(low)), _mm256_loadu_ps(high), 1);
        u[i + 8] = _mm512_insertf32x8(
            _mm512_castps256_ps512(_mm256_loadu_ps(low + 8)), _mm256_loadu_ps(high + 8), 1);
    }
    /* u[i]: elements 0 to 7 of lines i and i + 4, or of lines i + 4 and i + 8; u[i + 8]: the next ones. */
    DMLCY_LEVEL(dmlcy_turn_fours)(u);
    /* u[i]: quarters are elements i and i + 4 of four lines, then of the next four; u[i + 4]: of the other lines. */
    DMLCY_UNROLL for (i = 0; i < 4; i++) {
        y[i] = (DMLCY_LEVEL(dmlcy_lanes))_mm512_shuffle_f32x4(u[i], u[i + 4], 0x88);
        y[i + 4] = (DMLCY_LEVEL(dmlcy_lanes))_mm512_shuffle_f32x4(u[i], u[i + 4], 0xdd);
        y[i + 8] = (DMLCY_LEVEL(dmlcy_lanes))_mm512_shuffle_f32x4(u[i + 8], u[i + 12], 0x88);
        y[i + 12] = (DMLCY_LEVEL(dmlcy_lanes))_mm512_shuffle_f32x4(u[i + 8], u[i + 12], 0xdd);
    }
#else
    __m256 u[4], v[4];
    DMLCY_UNROLL for (i = 0; i < 4; i++)
        u[i] = _mm256_insertf128_ps(
            _mm256_castps128_ps256(_mm_loadu_ps(from + i * line)), _mm_loadu_ps(from + (i + 4) * line), 1);
    v[0] = _mm256_unpacklo_ps(u[0], u[1]);
    v[1] = _mm256_unpackhi_ps(u[0], u[1]);
    v[2] = _mm256_unpacklo_ps(u[2], u[3]);
    v[3] = _mm256_unpackhi_ps(u[2], u[3]);
    y[0] = (DMLCY_LEVEL(dmlcy_lanes))_mm256_shuffle_ps(v[0], v[2], 0x44);
    y[1] = (DMLCY_LEVEL(dmlcy_lanes))_mm256_shuffle_ps(v[0], v[2], 0xee);
    y[2] = (DMLCY_LEVEL(dmlcy_lanes))_mm256_shuffle_ps(v[1], v[3], 0x44);
    y[3] = (DMLCY_LEVEL(dmlcy_lanes))_mm256_shuffle_ps(v[1], v[3], 0xee);
#endif
}

/* Some of them, and zeros. */
DMLCY_TARGET DMLCY_APART void DMLCY_LEVEL(dmlcy_turn_some)(
    const float *from, int64_t line, int64_t lines, int64_t depth, float *y)
{
#if DMLCY_IS_WIDEST
    DMLCY_LEVEL(dmlcy_turn)((const char *)from, line * 4, lines, depth, y, DMLCY_VECTOR);
#else
    int64_t i, k;
    for (k = 0; k < depth; k++)
        for (i = 0; i < DMLCY_VECTOR; i++)
            y[k * DMLCY_VECTOR + i] = i < lines ? from[i * line + k] : 0;
#endif
}

/* The products of up to 8 rows and a few columns, each a line. */
DMLCY_TARGET DMLCY_APART void DMLCY_LEVEL(dmlcy_turned_few)(
    int64_t rows, int64_t depth, const float *a, int64_t a_row, const float *b, int64_t line, int64_t columns,
    const float *from, int64_t from_row, float *to, int64_t to_row)
{
    float sums[8][DMLCY_VECTOR] = {{0}}, numbers[DMLCY_TURN * DMLCY_VECTOR];
    int64_t i, k, t;
    for (i = 0; from && i < rows; i++)
        memcpy(sums[i], from + i * from_row, (size_t)columns * sizeof(float));
    for (k = 0; k < depth; k += DMLCY_TURN) {
        const int64_t left = depth - k < DMLCY_TURN ? depth - k : DMLCY_TURN;
        DMLCY_LEVEL(dmlcy_turn_some)(b + k, line, columns, left, numbers);
        for (i = 0; i < rows; i++) {
            DMLCY_LEVEL(dmlcy_lanes) sum = DMLCY_FROM(sums[i]);
            for (t = 0; t < left; t++)
                sum = DMLCY_ADD_PRODUCT(a[i * a_row + k + t], DMLCY_FROM(numbers + t * DMLCY_VECTOR), sum);
            DMLCY_AT(sums[i]) = sum;
        }
    }
    for (i = 0; i < rows; i++)
        memcpy(to + i * to_row, sums[i], (size_t)columns * sizeof(float));
}

/* The products of some rows and any number of columns. `groups` vectors of columns are computed together, so that their
 * chains do not wait for one another. The first k are fewer, so that a line of the cache is read at once. */
#define DMLCY_TURNED_KERNEL(rows, groups)                                                                              \
    DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_turned_##rows)(                                                         \
        int64_t depth, const float *a, int64_t a_row, const float *b, int64_t line, int64_t columns, const float *from,\
        int64_t from_row, float *to, int64_t to_row)                                                                   \
    {                                                                                                                  \
        const int64_t head = dmlcy_head(b, line, depth, DMLCY_TURN);                                                   \
        int64_t k, n;                                                                                                  \
        int i, g, t;                                                                                                   \
        for (; columns >= (groups) * DMLCY_VECTOR; columns -= (groups) * DMLCY_VECTOR) {                               \
            DMLCY_LEVEL(dmlcy_lanes) sums[rows][groups], y[DMLCY_TURN];                                                \
            DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                                  \
                DMLCY_UNROLL for (g = 0; g < (groups); g++) {                                                          \
                    const DMLCY_LEVEL(dmlcy_lanes) zeros = {0};                                                        \
                    sums[i][g] = from ? DMLCY_FROM(from + i * from_row + g * DMLCY_VECTOR) : zeros;                    \
                }                                                                                                      \
            for (k = 0; k < depth; k += n) {                                                                           \
                n = k == 0 && head ? head : depth - k < DMLCY_TURN ? depth - k : DMLCY_TURN;                           \
                if (n == DMLCY_TURN)                                                                                   \
                    DMLCY_UNROLL for (g = 0; g < (groups); g++) {                                                      \
                        DMLCY_LEVEL(dmlcy_turn_lines)(b + g * DMLCY_VECTOR * line + k, line, y);                       \
                        DMLCY_UNROLL for (t = 0; t < DMLCY_TURN; t++)                                                  \
                            DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                  \
                                sums[i][g] = DMLCY_ADD_PRODUCT(a[i * a_row + k + t], y[t], sums[i][g]);                \
                    }                                                                                                  \
                else                                                                                                   \
                    DMLCY_UNROLL for (g = 0; g < (groups); g++) {                                                      \
                        float numbers[DMLCY_TURN * DMLCY_VECTOR];                                                      \
                        DMLCY_LEVEL(dmlcy_turn_some)(b + g * DMLCY_VECTOR * line + k, line, DMLCY_VECTOR, n, numbers); \
                        for (t = 0; t < n; t++)                                                                        \
                            DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                  \
                                sums[i][g] = DMLCY_ADD_PRODUCT(                                                        \
                                    a[i * a_row + k + t], DMLCY_FROM(numbers + t * DMLCY_VECTOR), sums[i][g]);         \
                    }                                                                                                  \
            }                                                                                                          \
            DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                                  \
                DMLCY_UNROLL for (g = 0; g < (groups); g++)                                                            \
                    DMLCY_AT(to + i * to_row + g * DMLCY_VECTOR) = sums[i][g];                                         \
            b += (groups) * DMLCY_VECTOR * line;                                                                       \
            to += (groups) * DMLCY_VECTOR;                                                                             \
            from = from ? from + (groups) * DMLCY_VECTOR : from;                                                       \
        }                                                                                                              \
        for (; columns > 0; columns -= DMLCY_VECTOR) {                                                                 \
            DMLCY_LEVEL(dmlcy_turned_few)(                                                                             \
                rows, depth, a, a_row, b, line, columns < DMLCY_VECTOR ? columns : DMLCY_VECTOR, from, from_row, to,   \
                to_row);                                                                                               \
            b += DMLCY_VECTOR * line;                                                                                  \
            to += DMLCY_VECTOR;                                                                                        \
            from = from ? from + DMLCY_VECTOR : from;                                                                  \
        }                                                                                                              \
    }

DMLCY_TURNED_KERNEL(1, 2)
DMLCY_TURNED_KERNEL(2, 2)
DMLCY_TURNED_KERNEL(4, 1)
#if DMLCY_IS_WIDEST
DMLCY_TURNED_KERNEL(8, 1)
#endif
#undef DMLCY_TURNED_KERNEL
#undef DMLCY_TURN
#endif

/* The products of a row of `depth` numbers and n columns, added to what is at `from`, or to zeros. Eight rows of the
 * matrix are read along, as the processor sees that coming. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_product_row)(
    int64_t depth, const float *a, const float *b, int64_t step, int64_t n, const float *from, float *to)
{
    int64_t k, j, rows;
    int i, t;
    for (k = 0; k < depth; k += rows, b += rows * step, from = to) {
        rows = depth - k < 8 ? 1 : 8;
        j = 0;
        if (rows == 8)
            for (; j + 4 * DMLCY_VECTOR <= n; j += 4 * DMLCY_VECTOR) {
                DMLCY_LEVEL(dmlcy_lanes) sums[4];
                DMLCY_UNROLL for (i = 0; i < 4; i++) {
                    const DMLCY_LEVEL(dmlcy_lanes) zeros = {0};
                    sums[i] = from ? DMLCY_FROM(from + j + i * DMLCY_VECTOR) : zeros;
                }
                DMLCY_UNROLL for (t = 0; t < 8; t++)
                    DMLCY_UNROLL for (i = 0; i < 4; i++)
                        sums[i] = DMLCY_ADD_PRODUCT(
                            a[k + t], DMLCY_FROM(b + t * step + j + i * DMLCY_VECTOR), sums[i]);
                DMLCY_UNROLL for (i = 0; i < 4; i++)
                    DMLCY_AT(to + j + i * DMLCY_VECTOR) = sums[i];
            }
        for (; j + DMLCY_VECTOR <= n; j += DMLCY_VECTOR) {
            DMLCY_LEVEL(dmlcy_lanes) sum = {0};
            if (from)
                sum = DMLCY_FROM(from + j);
            for (t = 0; t < rows; t++)
                sum = DMLCY_ADD_PRODUCT(a[k + t], DMLCY_FROM(b + t * step + j), sum);
            DMLCY_AT(to + j) = sum;
        }
        for (; j < n; j++) {
            float sum = from ? from[j] : 0;
            for (t = 0; t < rows; t++)
                sum = DMLCY_FUSED ? fmaf(a[k + t], b[t * step + j], sum) : sum + a[k + t] * b[t * step + j];
            to[j] = sum;
        }
    }
}

/* Sums of 16 places of k, each a chain, joined pairwise. */
DMLCY_TARGET static float DMLCY_LEVEL(dmlcy_dot)(const float *a, const float *b, int64_t n)
{
    float sums[DMLCY_SUMS] = {0};
    int64_t k = 0;
    int i;
#if DMLCY_VECTOR > 1 && DMLCY_X86 && DMLCY_IS_WIDE
    DMLCY_LEVEL(dmlcy_lanes) lanes[DMLCY_SUMS / DMLCY_VECTOR] = {{0}};
    for (; k + DMLCY_SUMS <= n; k += DMLCY_SUMS)
        DMLCY_UNROLL for (i = 0; i < DMLCY_SUMS / DMLCY_VECTOR; i++) {
            const DMLCY_LEVEL(dmlcy_lanes) x = DMLCY_FROM(a + k + i * DMLCY_VECTOR);
            const DMLCY_LEVEL(dmlcy_lanes) y = DMLCY_FROM(b + k + i * DMLCY_VECTOR);
#if DMLCY_IS_WIDEST
            lanes[i] = (DMLCY_LEVEL(dmlcy_lanes))_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)lanes[i]);
#else
            lanes[i] = (DMLCY_LEVEL(dmlcy_lanes))_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)lanes[i]);
#endif
        }
    memcpy(sums, lanes, sizeof sums);
#endif
    for (; k < n; k += DMLCY_SUMS)
        for (i = 0; i < DMLCY_SUMS && i < n - k; i++)
            sums[i] = DMLCY_FUSED ? fmaf(a[k + i], b[k + i], sums[i]) : sums[i] + a[k + i] * b[k + i];
    for (k = DMLCY_SUMS / 2; k > 0; k /= 2)
        for (i = 0; i < k; i++)
            sums[i] += sums[i + k];
    return sums[0];
}

/* The same of n lines of a matrix and one row. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_dots)(
    const float *a, const float *b, int64_t line, int64_t depth, int64_t n, float *to)
{
#if DMLCY_X86 && DMLCY_IS_WIDEST
    for (; n >= 4; n -= 4, b += 4 * line, to += 4) {
        __m512 sums[4];
        __m128 four[4];
        int64_t k;
        int i;
        DMLCY_UNROLL for (i = 0; i < 4; i++)
            sums[i] = _mm512_setzero_ps();
        for (k = 0; k + DMLCY_SUMS <= depth; k += DMLCY_SUMS)
            DMLCY_UNROLL for (i = 0; i < 4; i++)
                sums[i] = _mm512_fmadd_ps(_mm512_loadu_ps(a + k), _mm512_loadu_ps(b + i * line + k), sums[i]);
        if (k < depth) {
            const __mmask16 own = (__mmask16)((1u << (depth - k)) - 1);
            DMLCY_UNROLL for (i = 0; i < 4; i++)
                sums[i] = _mm512_mask3_fmadd_ps(
                    dmlcy_masked(own, a + k), dmlcy_masked(own, b + i * line + k), sums[i], own);
        }
        DMLCY_UNROLL for (i = 0; i < 4; i++) {
            const __m256 half =
                _mm256_add_ps(_mm512_castps512_ps256(sums[i]), _mm512_extractf32x8_ps(sums[i], 1));
            four[i] = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
        }
        _MM_TRANSPOSE4_PS(four[0], four[1], four[2], four[3]);
        _mm_storeu_ps(to, _mm_add_ps(_mm_add_ps(four[0], four[2]), _mm_add_ps(four[1], four[3])));
    }
#endif
    for (; n > 0; n--, b += line)
        *to++ = DMLCY_LEVEL(dmlcy_dot)(a, b, depth);
}
