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

#if DMLCY_X86
/* Four or eight columns, as above. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_turn_few)(
    const uint8_t *const *rows, int64_t at, int n, __m128i mask, __m128i *words)
{
    __m128i x[4];
    int i;
    DMLCY_UNROLL for (i = 0; i < 4; i++) {
        int32_t four;
        if (n == 4) {
            memcpy(&four, rows[i] + at, 4);
            x[i] = _mm_cvtsi32_si128(four);
        } else
            x[i] = _mm_loadl_epi64((const __m128i *)(const void *)(rows[i] + at));
        x[i] = _mm_xor_si128(x[i], mask);
    }
    x[0] = _mm_unpacklo_epi8(x[0], x[1]);
    x[2] = _mm_unpacklo_epi8(x[2], x[3]);
    words[0] = _mm_unpacklo_epi16(x[0], x[2]);
    words[1] = _mm_unpackhi_epi16(x[0], x[2]);
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
    while (n >= 4 && i < n) {
        const int few = n >= 8 ? 8 : 4;
        __m128i words[2];
        i = i + few <= n ? i : n - few;
        DMLCY_LEVEL(dmlcy_turn_few)(rows, i, few, _mm_set1_epi32((int)mask), words);
        _mm_storeu_si128((__m128i *)(void *)(to + i), words[0]);
        if (few == 8)
            _mm_storeu_si128((__m128i *)(void *)(to + i + 4), words[1]);
        i += few;
    }
#endif
    for (; i < n; i++) {
        const uint8_t bytes[4] = {rows[0][i], rows[1][i], rows[2][i], rows[3][i]};
        uint32_t word;
        memcpy(&word, bytes, 4);
        to[(i >> bits) * pitch + (i & (((int64_t)1 << bits) - 1))] = word ^ mask;
    }
}

/* Four rows after four others, each of n elements, become words, as long as 16 elements from the last of n on are before
 * `end`; up to 60 more words are written. Returns how many rows did. */
DMLCY_TARGET static int64_t DMLCY_LEVEL(dmlcy_turn_short)(
    const uint8_t *from, int64_t row, int64_t rows, int64_t n, const uint8_t *end, uint32_t *to)
{
    int64_t done = 0;
#if DMLCY_X86
    const int64_t reach = 3 * row + (n + 15) / 16 * 16;
    for (; done + 4 <= rows && end - from >= reach; done += 4, from += 4 * row, to += n) {
        const uint8_t *const lines[4] = {from, from + row, from + 2 * row, from + 3 * row};
        int64_t i;
        for (i = 0; i < n; i += 16) {
            __m128i words[4];
            int v;
            DMLCY_LEVEL(dmlcy_turn_16)(lines, i, _mm_setzero_si128(), words);
            DMLCY_UNROLL for (v = 0; v < 4; v++)
                _mm_storeu_si128((__m128i *)(void *)(to + i + 4 * v), words[v]);
        }
    }
#else
    (void)from, (void)row, (void)rows, (void)n, (void)end, (void)to;
#endif
    return done;
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

/* Adds what zero points of each row, or column, make of the sums. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_mend_sums)(const IntegerEnds *ends)
{
    const int64_t n = ends->columns;
    int64_t row, i;
    for (row = 0; row < ends->rows; row++) {
        uint32_t *const sums = (uint32_t *)ends->sums + row * ends->sums_row;
        const uint32_t *DMLCY_RESTRICT more;
        uint32_t times;
        if (ends->row_times) {
            more = (const uint32_t *)ends->column_sums;
            times = (uint32_t)ends->row_times[row];
            for (i = 0; i < n; i++)
                sums[i] += times * more[i];
        }
        if (ends->row_sums) {
            more = (const uint32_t *)ends->column_times;
            times = (uint32_t)ends->row_sums[row];
            for (i = 0; i < n; i++)
                sums[i] += times * more[i];
        }
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_put_sums)(const IntegerEnds *ends)
{
    int64_t row, i;
    for (row = 0; row < ends->rows; row++) {
        const uint32_t *DMLCY_RESTRICT sums = (const uint32_t *)ends->sums + row * ends->sums_row;
        const uint32_t own = (uint32_t)ends->row_added[row];
        uint32_t *DMLCY_RESTRICT to = (uint32_t *)(void *)(ends->y + row * ends->y_row);
        for (i = 0; i < ends->columns; i++)
            to[i] = sums[i] + own;
    }
}

#if DMLCY_X86 && DMLCY_IS_WIDEST
/* As below, of up to 16 sums; `near` are the sums that may be another number. */
DMLCY_TARGET DMLCY_INLINE __m512i dmlcy_quantize_16(
    __m512i sums, double bias, double factor, const double *scales, __mmask16 lanes, float low, float high,
    __mmask16 *near)
{
    const __m512i low_words = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512d first = _mm512_cvtepi32_pd(_mm512_castsi512_si256(sums));
    __m512d second = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(sums, 1));
    __m512i places;
    __m512 number;
    first = _mm512_mul_pd(_mm512_add_pd(first, _mm512_set1_pd(bias)), _mm512_set1_pd(factor));
    second = _mm512_mul_pd(_mm512_add_pd(second, _mm512_set1_pd(bias)), _mm512_set1_pd(factor));
    if (scales) {
        first = _mm512_mul_pd(first, _mm512_maskz_loadu_pd((__mmask8)lanes, scales));
        second = _mm512_mul_pd(second, _mm512_maskz_loadu_pd((__mmask8)(lanes >> 8), scales + 8));
    }
    places = _mm512_permutex2var_epi32(_mm512_castpd_si512(first), low_words, _mm512_castpd_si512(second));
    places = _mm512_and_si512(
        _mm512_add_epi32(places, _mm512_set1_epi32(8 - 0x10000000)), _mm512_set1_epi32(0x1fffffff));
    *near = _mm512_cmple_epu32_mask(places, _mm512_set1_epi32(16));
    number = _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(first)), _mm512_cvtpd_ps(second), 1);
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(number, _mm512_set1_ps(low)), _mm512_set1_ps(high)));
}
#endif

/* One multiplication by all scales, whose error is a few units of FLOAT64. The error matters only where the result is
 * as near to the middle between two numbers of FLOAT32. Returns whether it may. At the widest level, a product in
 * FLOAT32 does unless it is near to the middle between two whole numbers, of those in the range. */
DMLCY_TARGET static int DMLCY_LEVEL(dmlcy_quantize_row)(
    const int32_t *sums, int64_t n, int32_t own, double bias, double factor, const double *scales, float zero,
    float least, float most, uint8_t *to)
{
    const float low = least - zero, high = most - zero;
    int64_t i;
#if DMLCY_X86 && DMLCY_IS_WIDEST
    const __m512i add = _mm512_set1_epi32(own), move = _mm512_set1_epi32((int)zero);
    const __m512 times = _mm512_set1_ps((float)factor), middle = _mm512_set1_ps(0.5f - 0x1p-13f);
    const __m512 first = _mm512_set1_ps(low), last = _mm512_set1_ps(high);
    const int by_doubles = scales || bias != 0 || !(fabs(factor) <= 0x1p127);
    __mmask16 all = 0, near, lanes = 0xffff;
    for (i = 0; i < n; i += 16) {
        __m512i x, words;
        __m512 number, whole;
        if (n - i < 16) {
            lanes = (__mmask16)((1u << (n - i)) - 1);
            x = _mm512_castps_si512(dmlcy_masked(lanes, sums + i));
        } else
            x = _mm512_loadu_si512((const void *)(sums + i));
        x = _mm512_add_epi32(x, add);
        number = _mm512_mul_ps(_mm512_cvtepi32_ps(x), times);
        number = _mm512_min_ps(_mm512_max_ps(number, first), last);
        whole = _mm512_roundscale_ps(number, _MM_FROUND_CUR_DIRECTION);
        near = _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_sub_ps(number, whole)), middle, _CMP_NLT_UQ);
        words = _mm512_cvtps_epi32(whole);
        if (by_doubles | near) {
            words = dmlcy_quantize_16(x, bias, factor, scales ? scales + i : 0, lanes, low, high, &near);
            all |= near & lanes;
        }
        words = _mm512_add_epi32(words, move);
        if (n - i < 16)
            dmlcy_masked_put_bytes(to + i, lanes, words);
        else
            _mm_storeu_si128((__m128i *)(void *)(to + i), _mm512_cvtepi32_epi8(words));
    }
    return all != 0;
#else
    const int32_t move = (int32_t)zero - 0x4b400000;
    int near = 0;
    for (i = 0; i < n; i++) {
        double scaled = ((double)(int32_t)((uint32_t)sums[i] + (uint32_t)own) + bias) * factor;
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
#endif
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_quantize_sums)(const IntegerEnds *ends)
{
    int64_t row, i;
    for (row = 0; row < ends->rows; row++) {
        const int32_t *const sums = ends->sums + row * ends->sums_row;
        const double factor = ends->factor[row];
        const uint32_t own = (uint32_t)ends->row_added[row];
        if (!(fabs(factor) <= 0x1p1000) ||
            DMLCY_LEVEL(dmlcy_quantize_row)(
                sums, ends->columns, (int32_t)own, ends->bias[row], factor, ends->each_column ? ends->column_scale : 0,
                ends->zero[row], ends->least, ends->most, (uint8_t *)ends->y + row * ends->y_row))
            for (i = 0; i < ends->columns; i++)
                dmlcy_put_quantized(ends, row, i, (double)(int32_t)((uint32_t)sums[i] + own) + ends->bias[row]);
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_scale_sums)(const IntegerEnds *ends)
{
    const int64_t n = ends->columns;
    int64_t row, i;
    for (row = 0; row < ends->rows; row++) {
        const uint32_t *DMLCY_RESTRICT sums = (const uint32_t *)ends->sums + row * ends->sums_row;
        const uint32_t more = (uint32_t)ends->row_added[row];
        const double own = ends->row_scale[row], *DMLCY_RESTRICT scales = ends->column_scale;
        float *DMLCY_RESTRICT to = (float *)(void *)(ends->y + row * ends->y_row);
        if (ends->item != 4 || (ends->added && ends->added_step != 4))
            for (i = 0; i < n; i++)
                dmlcy_put_scaled(ends, row, i, (double)(int32_t)(sums[i] + more));
        else if (ends->added) {
            const float *DMLCY_RESTRICT added = (const float *)(const void *)(ends->added + row * ends->added_row);
            for (i = 0; i < n; i++)
                to[i] = (float)((double)(int32_t)(sums[i] + more) * own * scales[i] + (double)added[i]);
        } else
            for (i = 0; i < n; i++)
                to[i] = (float)((double)(int32_t)(sums[i] + more) * own * scales[i]);
    }
}

static const IntegerLoops DMLCY_LEVEL(dmlcy_integers) = {
    DMLCY_LEVEL(dmlcy_turn_bytes), DMLCY_LEVEL(dmlcy_turn_short), DMLCY_LEVEL(dmlcy_take_bytes),
    DMLCY_LEVEL(dmlcy_take_pairs), DMLCY_LEVEL(dmlcy_mend_sums), DMLCY_LEVEL(dmlcy_put_sums),
    DMLCY_LEVEL(dmlcy_quantize_sums), DMLCY_LEVEL(dmlcy_scale_sums),
};
