/* How rows and columns are packed for the kernels of integer_products.h, and what becomes of sums, for one level. */

/* ---- packing ---- */

#if DMLCY_X86
/* Sixteen columns of four rows as words, four at a time. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_turn_16)(
    const uint8_t *const *rows, int64_t at, __m128i mask, __m128i *words)
{
    __m128i x[4], y[4];
    int i;
    DMLCY_UNROLL for (i = 0; i < 4; i++)
        x[i] = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(rows[i] + at)), mask);
    y[0] = _mm_unpacklo_epi8(x[0], x[1]);
    y[1] = _mm_unpackhi_epi8(x[0], x[1]);
    y[2] = _mm_unpacklo_epi8(x[2], x[3]);
    y[3] = _mm_unpackhi_epi8(x[2], x[3]);
    words[0] = _mm_unpacklo_epi16(y[0], y[2]);
    words[1] = _mm_unpackhi_epi16(y[0], y[2]);
    words[2] = _mm_unpacklo_epi16(y[1], y[3]);
    words[3] = _mm_unpackhi_epi16(y[1], y[3]);
}
#endif

#if DMLCY_X86 && DMLCY_IS_WIDEST
/* The same of 64 columns. The words of a lane come from the same lane, so these are put in order before. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_turn_64)(
    const uint8_t *const *rows, int64_t at, __m512i mask, __m512i *words)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    __m512i x[4], y[4];
    int i;
    DMLCY_UNROLL for (i = 0; i < 4; i++)
        x[i] = _mm512_permutexvar_epi32(
            order, _mm512_xor_si512(_mm512_loadu_si512((const void *)(rows[i] + at)), mask));
    y[0] = _mm512_unpacklo_epi8(x[0], x[1]);
    y[1] = _mm512_unpackhi_epi8(x[0], x[1]);
    y[2] = _mm512_unpacklo_epi8(x[2], x[3]);
    y[3] = _mm512_unpackhi_epi8(x[2], x[3]);
    words[0] = _mm512_unpacklo_epi16(y[0], y[2]);
    words[1] = _mm512_unpackhi_epi16(y[0], y[2]);
    words[2] = _mm512_unpacklo_epi16(y[1], y[3]);
    words[3] = _mm512_unpackhi_epi16(y[1], y[3]);
}
#endif

/* Elements of four rows become words, those of 2^bits columns together; `pitch` words behind are those of as many more.
 * Where the columns do not all follow one another, their number is a multiple of 16. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_turn_bytes)(
    const uint8_t *const *rows, int64_t n, uint32_t mask, uint32_t *to, int bits, int64_t pitch)
{
    int64_t i = 0;
#if DMLCY_X86
    const int64_t strip = (int64_t)1 << bits;
#if DMLCY_IS_WIDEST
    for (; i + 64 <= n; i += 64) {
        __m512i words[4];
        int v;
        DMLCY_LEVEL(dmlcy_turn_64)(rows, i, _mm512_set1_epi32((int)mask), words);
        if (pitch == strip)
            DMLCY_UNROLL for (v = 0; v < 4; v++)
                _mm512_storeu_si512((void *)(to + i + 16 * v), words[v]);
        else
            DMLCY_UNROLL for (v = 0; v < 4; v++) {
                const int64_t column = i + 16 * v;
                _mm512_storeu_si512((void *)(to + (column >> bits) * pitch + (column & (strip - 1))), words[v]);
            }
    }
#endif
    while (n >= 16 && i < n) {
        __m128i words[4];
        int v;
        i = i + 16 <= n ? i : n - 16;
        DMLCY_LEVEL(dmlcy_turn_16)(rows, i, _mm_set1_epi32((int)mask), words);
        for (v = 0; v < 4; v++) {
            const int64_t column = i + 4 * v;
            _mm_storeu_si128(
                (__m128i *)(void *)(pitch == strip ? to + column
                                                   : to + (column >> bits) * pitch + (column & (strip - 1))),
                words[v]);
        }
        i += 16;
    }
#endif
    for (; i < n; i++) {
        const uint8_t bytes[4] = {rows[0][i], rows[1][i], rows[2][i], rows[3][i]};
        uint32_t word;
        memcpy(&word, bytes, 4);
        to[(i >> bits) * pitch + (i & (((int64_t)1 << bits) - 1))] = word ^ mask;
    }
}

/* The numbers of a row, of as many k as words have, for kernels with VNNI. Returns their sum. */
DMLCY_TARGET static int32_t DMLCY_LEVEL(dmlcy_take_bytes)(const uint8_t *from, int64_t n, int mask, char *to)
{
    uint32_t sum = 0;
    int64_t i;
    for (i = 0; i < n; i++) {
        const int8_t number = (int8_t)(from[i] ^ mask);
        to[i] = (char)number;
        sum += (uint32_t)(int32_t)number;
    }
    return (int32_t)sum;
}

/* The same for other kernels, less the zero point. */
DMLCY_TARGET static int32_t DMLCY_LEVEL(dmlcy_take_pairs)(
    const uint8_t *from, int64_t n, int mask, int zero, char *to)
{
    uint32_t sum = 0;
    int64_t i;
    for (i = 0; i < n; i += 4) {
        int16_t numbers[4];
        int j;
        for (j = 0; j < 4; j++) {
            numbers[(j & 1) * 2 + (j >> 1)] = (int16_t)((int8_t)(from[i + j] ^ mask) - zero);
            sum += (uint32_t)(int32_t)((int8_t)(from[i + j] ^ mask) - zero);
        }
        memcpy(to + 2 * i, numbers, sizeof numbers);
    }
    return (int32_t)sum;
}

/* ---- sums ---- */

/* Adds what zero points make of the sums. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_mend_sums)(const IntegerEnds *ends)
{
    const int64_t n = ends->columns;
    int64_t row, i;
    for (row = 0; row < ends->rows; row++) {
        uint32_t *const sums = (uint32_t *)ends->sums + row * ends->sums_row;
        const uint32_t own = (uint32_t)ends->row_added[row];
        const uint32_t *DMLCY_RESTRICT more;
        uint32_t times;
        if (ends->row_times && ends->row_times[row]) {
            more = (const uint32_t *)ends->column_sums;
            times = (uint32_t)ends->row_times[row];
            for (i = 0; i < n; i++)
                sums[i] += own + times * more[i];
        } else if (own)
            for (i = 0; i < n; i++)
                sums[i] += own;
        if (ends->row_sums && ends->row_sums[row]) {
            more = (const uint32_t *)ends->column_times;
            times = (uint32_t)ends->row_sums[row];
            for (i = 0; i < n; i++)
                sums[i] += times * more[i];
        }
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_put_sums)(const IntegerEnds *ends)
{
    int64_t row;
    for (row = 0; row < ends->rows; row++)
        memcpy(ends->y + row * ends->y_row, ends->sums + row * ends->sums_row, (size_t)ends->columns * 4);
}

/* One multiplication by all scales, whose error is a few units of FLOAT64: only where the result is as near to the middle
 * between two numbers of FLOAT32 does it matter. Returns whether it may. */
DMLCY_TARGET static int DMLCY_LEVEL(dmlcy_quantize_row)(
    const int32_t *sums, int64_t n, double bias, double factor, const double *scales, float zero, float least,
    float most, uint8_t *to)
{
    const float low = least - zero, high = most - zero;
    const int32_t move = (int32_t)zero - 0x4b400000;
    int64_t i;
    int near = 0;
    for (i = 0; i < n; i++) {
        double scaled = ((double)sums[i] + bias) * factor;
        uint64_t bits;
        float number;
        int32_t whole;
        if (scales)
            scaled *= scales[i];
        memcpy(&bits, &scaled, sizeof bits);
        near |= ((bits + 8 - 0x10000000u) & 0x1fffffffu) <= 16;
        number = (float)scaled;
        number = number > low ? number : low;
        number = (number < high ? number : high) + 0x1.8p23f;
        memcpy(&whole, &number, sizeof whole);
        to[i] = (uint8_t)(whole + move);
    }
    return near;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_quantize_sums)(const IntegerEnds *ends)
{
    int64_t row, i;
    for (row = 0; row < ends->rows; row++) {
        const int32_t *const sums = ends->sums + row * ends->sums_row;
        const double factor = ends->factor[row];
        if (!(fabs(factor) <= 0x1p1000) ||
            DMLCY_LEVEL(dmlcy_quantize_row)(
                sums, ends->columns, ends->bias[row], factor, ends->each_column ? ends->column_scale : 0,
                ends->zero[row], ends->least, ends->most, (uint8_t *)ends->y + row * ends->y_row))
            for (i = 0; i < ends->columns; i++)
                dmlcy_put_quantized(ends, row, i, (double)sums[i] + ends->bias[row]);
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_scale_sums)(const IntegerEnds *ends)
{
    const int64_t n = ends->columns;
    int64_t row, i;
    for (row = 0; row < ends->rows; row++) {
        const int32_t *const sums = ends->sums + row * ends->sums_row;
        const double own = ends->row_scale[row], *DMLCY_RESTRICT scales = ends->column_scale;
        float *DMLCY_RESTRICT to = (float *)(void *)(ends->y + row * ends->y_row);
        if (ends->item != 4 || (ends->added && ends->added_step != 4))
            for (i = 0; i < n; i++)
                dmlcy_put_scaled(ends, row, i, (double)sums[i]);
        else if (ends->added) {
            const float *DMLCY_RESTRICT added = (const float *)(const void *)(ends->added + row * ends->added_row);
            for (i = 0; i < n; i++)
                to[i] = (float)((double)sums[i] * own * scales[i] + (double)added[i]);
        } else
            for (i = 0; i < n; i++)
                to[i] = (float)((double)sums[i] * own * scales[i]);
    }
}

static const IntegerLoops DMLCY_LEVEL(dmlcy_integers) = {
    DMLCY_LEVEL(dmlcy_turn_bytes), DMLCY_LEVEL(dmlcy_take_bytes), DMLCY_LEVEL(dmlcy_take_pairs),
    DMLCY_LEVEL(dmlcy_mend_sums), DMLCY_LEVEL(dmlcy_put_sums), DMLCY_LEVEL(dmlcy_quantize_sums),
    DMLCY_LEVEL(dmlcy_scale_sums),
};
