/* How rows and columns are packed for the kernels of one level; product_blocks.h includes this text. */

#if DMLCY_X86 && DMLCY_IS_WIDEST
/* Each four vectors: their elements of one place modulo 4 become a vector, for each quarter. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_turn_fours)(__m512 *x)
{
    __m512 y[16];
    int i;
    DMLCY_UNROLL for (i = 0; i < 16; i += 2) {
        y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
    }
    DMLCY_UNROLL for (i = 0; i < 16; i += 4) {
        x[i] = _mm512_shuffle_ps(y[i], y[i + 2], 0x44);
        x[i + 1] = _mm512_shuffle_ps(y[i], y[i + 2], 0xee);
        x[i + 2] = _mm512_shuffle_ps(y[i + 1], y[i + 3], 0x44);
        x[i + 3] = _mm512_shuffle_ps(y[i + 1], y[i + 3], 0xee);
    }
}

/* Up to 16 elements of up to 16 lines become rows. The elements of a line are read at once: lines may displace each
 * other. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_turn)(
    const char *source, int64_t line, int64_t lines, int64_t depth, float *to, int64_t pitch)
{
    const __mmask16 read = (__mmask16)((1u << depth) - 1), write = (__mmask16)((1u << lines) - 1);
    __m512 x[16], y[16];
    int i;
    DMLCY_UNROLL for (i = 0; i < 16; i++)
        if (i < lines)
            _mm_prefetch(source + i * line + 256, _MM_HINT_T0); /* the processor does not see so many lines coming */
    DMLCY_UNROLL for (i = 0; i < 16; i++)
        x[i] = i < lines ? dmlcy_masked(read, source + i * line) : _mm512_setzero_ps();
    DMLCY_LEVEL(dmlcy_turn_fours)(x);
    DMLCY_UNROLL for (i = 0; i < 4; i++) {
        y[i] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0x88);
        y[i + 4] = _mm512_shuffle_f32x4(x[i], x[i + 4], 0xdd);
        y[i + 8] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0x88);
        y[i + 12] = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0xdd);
    }
    DMLCY_UNROLL for (i = 0; i < 8; i++) {
        x[i] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0x88);
        x[i + 8] = _mm512_shuffle_f32x4(y[i], y[i + 8], 0xdd);
    }
    DMLCY_UNROLL for (i = 0; i < 16; i++)
        if (i < depth)
            dmlcy_masked_put(to + i * pitch, write, x[i]);
}
#elif DMLCY_X86 && DMLCY_IS_WIDE
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_turn)(const float *const *rows, int64_t k, float *to, int64_t pitch)
{
    __m256 x[4], y[4];
    int i;
    DMLCY_UNROLL for (i = 0; i < 4; i++)
        x[i] = _mm256_insertf128_ps(
            _mm256_castps128_ps256(_mm_loadu_ps(rows[i] + k)), _mm_loadu_ps(rows[i + 4] + k), 1);
    y[0] = _mm256_unpacklo_ps(x[0], x[1]);
    y[1] = _mm256_unpackhi_ps(x[0], x[1]);
    y[2] = _mm256_unpacklo_ps(x[2], x[3]);
    y[3] = _mm256_unpackhi_ps(x[2], x[3]);
    _mm256_storeu_ps(to, _mm256_shuffle_ps(y[0], y[2], 0x44));
    _mm256_storeu_ps(to + pitch, _mm256_shuffle_ps(y[0], y[2], 0xee));
    _mm256_storeu_ps(to + 2 * pitch, _mm256_shuffle_ps(y[1], y[3], 0x44));
    _mm256_storeu_ps(to + 3 * pitch, _mm256_shuffle_ps(y[1], y[3], 0xee));
}
#endif

/* Some lines whose elements follow one another, for `depth` k: a group of lines for few k, then the next group, so that
 * the rows of the target stay near. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_pack_turned)(
    const char *source, int64_t line, int64_t lines, int64_t depth, float *to, int64_t pitch)
{
#if DMLCY_X86 && DMLCY_IS_WIDEST
    int64_t i, k;
    for (i = 0; i < lines; i += 16)
        for (k = 0; k < depth; k += 16)
            DMLCY_LEVEL(dmlcy_turn)(
                source + i * line + k * 4, line, lines - i < 16 ? lines - i : 16, depth - k < 16 ? depth - k : 16,
                to + i + k * pitch, pitch);
#else
    const float *rows[8];
    int64_t i, j, k, begin, end;
    for (begin = 0; begin < depth; begin = end) {
        end = depth - begin > 32 ? begin + 32 : depth;
        for (i = 0; i < lines; i += j) {
            const int64_t left = lines - i;
            const int64_t group = left >= 8 && DMLCY_VECTOR == 8 ? 8 : left >= 4 ? 4 : 1;
            for (j = 0; j < group; j++)
                rows[j] = (const float *)(const void *)(source + (i + j) * line);
            k = begin;
#if DMLCY_X86
#if DMLCY_IS_WIDE
            if (group == 8)
                for (; k + 4 <= end; k += 4)
                    DMLCY_LEVEL(dmlcy_turn)(rows, k, to + i + k * pitch, pitch);
#endif
            if (group == 4)
                for (; k + 4 <= end; k += 4) {
                    __m128 a = _mm_loadu_ps(rows[0] + k), b = _mm_loadu_ps(rows[1] + k);
                    __m128 c = _mm_loadu_ps(rows[2] + k), d = _mm_loadu_ps(rows[3] + k);
                    _MM_TRANSPOSE4_PS(a, b, c, d);
                    _mm_storeu_ps(to + i + k * pitch, a);
                    _mm_storeu_ps(to + i + (k + 1) * pitch, b);
                    _mm_storeu_ps(to + i + (k + 2) * pitch, c);
                    _mm_storeu_ps(to + i + (k + 3) * pitch, d);
                }
#endif
            for (; k < end; k++)
                for (j = 0; j < group; j++)
                    to[i + j + k * pitch] = rows[j][k];
        }
    }
#endif
}

/* Element k of each of some lines, side by side, and zeros up to `width`; for one k after the other, `pitch` floats
 * apart. `at` has the bytes to each k; if `step` is not 0, it is always between one and the next. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_pack)(
    const char *source, int64_t line, int64_t lines, int64_t width, const int64_t *at, int64_t step, int64_t depth,
    int64_t item, float *to, int64_t pitch)
{
    float numbers[16][DMLCY_DEPTH];
    int64_t i = 0, j, k;
    if (line == item && lines > 1) {
        for (k = 0; k < depth; k++, to += pitch) {
            const char *const from = source + at[k];
            DMLCY_ASK(from + lines * item);
            DMLCY_ASK(from + lines * item + 64);
            if (item == 4) {
                for (i = 0; i + DMLCY_VECTOR <= lines; i += DMLCY_VECTOR)
                    DMLCY_AT(to + i) = DMLCY_FROM((const float *)(const void *)from + i);
#if DMLCY_X86 && DMLCY_IS_WIDEST
                if (i < lines) {
                    _mm512_storeu_ps(
                        to + i, dmlcy_masked((__mmask16)((1u << (lines - i)) - 1), from + 4 * i));
                    i += DMLCY_VECTOR;
                }
#endif
                for (; i < lines; i++)
                    to[i] = ((const float *)(const void *)from)[i];
            } else {
#if DMLCY_X86 && DMLCY_IS_WIDEST
                for (i = 0; i < lines; i += 16) {
                    const __mmask16 own = (__mmask16)(lines - i < 16 ? (1u << (lines - i)) - 1 : 0xffffu);
                    _mm512_storeu_ps(to + i, _mm512_cvtph_ps(dmlcy_masked_halves(own, from + 2 * i)));
                }
#else
                dmlcy_widen(from, item, item, to, lines);
                i = lines;
#endif
            }
            for (; i < width; i++)
                to[i] = 0;
        }
        return;
    }
    if (lines < width)
        for (k = 0; k < depth; k++)
            for (i = lines; i < width; i++)
                to[i + k * pitch] = 0;
    i = 0;
    if (step == item && item == 4 && (lines > 1 || pitch == 1)) {
        if (pitch == 1)
            memcpy(to, source + at[0], (size_t)depth * 4);
        else
            DMLCY_LEVEL(dmlcy_pack_turned)(source + at[0], line, lines, depth, to, pitch);
        return;
    }
    if (step == item)
        for (; i < lines; i += j) {
            for (j = 0; j < 16 && i + j < lines; j++)
                dmlcy_widen(source + at[0] + (i + j) * line, item, item, numbers[j], depth);
            DMLCY_LEVEL(dmlcy_pack_turned)(
                (const char *)numbers, DMLCY_DEPTH * sizeof(float), j, depth, to + i, pitch);
        }
    for (; i < lines; i++) {
        const char *const from = source + i * line;
        if (item == 4)
            for (k = 0; k < depth; k++)
                memcpy(to + i + k * pitch, from + at[k], 4);
        else
            for (k = 0; k < depth; k++)
                to[i + k * pitch] = dmlcy_element_of(from + at[k], item);
    }
}

#if DMLCY_X86 && DMLCY_IS_WIDEST
/* Part of a vector of columns: its elements lie at `from` + 4, or 8, times their number. */
typedef struct {
    int64_t from;
    __mmask16 columns;
    __mmask16 low; /* where two vectors are read: the elements of each */
    __mmask16 high;
} dmlcy_part;

/* Lists the parts of each vector; some[v] is the number of the first one of vector v. */
static void dmlcy_list_parts(
    const ProductRun *runs, int64_t count, const int64_t *begin, const int64_t *length, const int64_t *from,
    int64_t between, int64_t vectors, dmlcy_part *parts, int64_t *some)
{
    int64_t v, r = 0, number = 0;
    for (v = 0; v < vectors; v++) {
        some[v] = number;
        while (r > 0 && runs[r - 1].column + begin[r - 1] + length[r - 1] > 16 * v)
            r--;
        for (; r < count && runs[r].column < 16 * v + 16; r++) {
            int64_t first = runs[r].column + begin[r] - 16 * v, last = first + length[r];
            const int64_t start = from[r] - first * between;
            uint32_t columns;
            first = first > 0 ? first : 0;
            last = last < 16 ? last : 16;
            if (first >= last)
                continue;
            columns = (1u << last) - (1u << first);
            parts[number].from = start;
            parts[number].columns = (__mmask16)columns;
            if (between == 8) {
                parts[number].low = (__mmask16)dmlcy_apart(columns & 0xff);
                parts[number].high = (__mmask16)dmlcy_apart(columns >> 8 & 0xff);
            }
            number++;
        }
    }
    some[vectors] = number;
}

/* Packs some rows of one tap. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_pack_few)(
    const char *source, int64_t channel, const int rows, const dmlcy_part *parts, const int64_t *some, int64_t between,
    int64_t vectors, float *to, int64_t pitch)
{
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    int64_t v, p;
    int i;
    for (v = 0; v < vectors; v++) {
        __m512 x[4];
        DMLCY_UNROLL for (i = 0; i < rows; i++)
            x[i] = _mm512_setzero_ps();
        if (between == 4)
            for (p = some[v]; p < some[v + 1]; p++)
                DMLCY_UNROLL for (i = 0; i < rows; i++)
                    x[i] = dmlcy_masked_over(x[i], parts[p].columns, source + i * channel + parts[p].from);
        else
            for (p = some[v]; p < some[v + 1]; p++)
                DMLCY_UNROLL for (i = 0; i < rows; i++) {
                    const char *const from = source + i * channel + parts[p].from;
                    const __m512 low = dmlcy_masked(parts[p].low, from);
                    const __m512 high = dmlcy_masked(parts[p].high, from + 64);
                    x[i] = _mm512_or_ps(x[i], _mm512_permutex2var_ps(low, even, high));
                }
        DMLCY_UNROLL for (i = 0; i < rows; i++)
            _mm512_storeu_ps(to + i * pitch + 16 * v, x[i]);
    }
}

/* Packs the rows of one tap. Four at a time share what says which elements they take. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_pack_parts)(
    const char *source, int64_t channel, int64_t rows, const dmlcy_part *parts, const int64_t *some, int64_t between,
    int64_t vectors, float *to, int64_t pitch)
{
    for (; rows >= 4; rows -= 4, source += 4 * channel, to += 4 * pitch)
        DMLCY_LEVEL(dmlcy_pack_few)(source, channel, 4, parts, some, between, vectors, to, pitch);
    for (; rows > 0; rows--, source += channel, to += pitch)
        DMLCY_LEVEL(dmlcy_pack_few)(source, channel, 1, parts, some, between, vectors, to, pitch);
}
#endif

/* The same of the columns of some runs, up to `pitch` columns. Elements outside the input are 0. */
DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_pack_image)(
    const ProductImage *image, const char *source, const ProductRun *runs, int64_t count, int64_t first, int64_t step,
    int64_t depth, float *to, int64_t pitch)
{
    const ProductAxis *const axes = image->axes;
    const int64_t taps = image->taps, between = axes[2].step * axes[2].stride;
    int64_t r, begin[DMLCY_STRIP], length[DMLCY_STRIP], from[DMLCY_STRIP], k, next, tap, i;
    /* All taps, if k goes from one to the next; then the channels of each. Otherwise one k after the other. */
    const int64_t turns = step == 1 ? (taps < depth ? taps : depth) : depth;
    const int64_t stride = step == 1 ? taps : depth;
    for (next = 0; next < turns; next++) {
        const int64_t at = first + next * step;
        int64_t channel = at / taps;
        int64_t place[3];
        tap = at % taps;
        place[2] = tap % axes[2].taps;
        place[1] = tap / axes[2].taps % axes[1].taps;
        place[0] = tap / axes[2].taps / axes[1].taps;
        for (r = 0; r < count; r++) {
            const ProductRun *const run = &runs[r];
            int64_t low = axes[2].low[place[2]] - run->place[2], high = axes[2].high[place[2]] - run->place[2];
            int d;
            low = low > 0 ? low : 0;
            high = high < run->count ? high : run->count;
            for (d = 0; d < 2; d++)
                if (run->place[d] < axes[d].low[place[d]] || run->place[d] >= axes[d].high[place[d]])
                    high = low;
            begin[r] = low;
            length[r] = high > low ? high - low : 0;
            from[r] = run->from + low * between;
            for (d = 0; d < 3; d++)
                from[r] += place[d] * axes[d].tap_step * axes[d].stride;
        }
#if DMLCY_X86 && DMLCY_IS_WIDEST
        if (image->item == 4 && (between == 4 || between == 8)) {
            dmlcy_part parts[2 * DMLCY_STRIP];
            int64_t some[DMLCY_STRIP / 16 + 2];
            dmlcy_list_parts(runs, count, begin, length, from, between, pitch / 16, parts, some);
            DMLCY_LEVEL(dmlcy_pack_parts)(
                source + channel * image->channel_stride, image->channel_stride, (depth - next + stride - 1) / stride,
                parts, some, between, pitch / 16, to + next * pitch, stride * pitch);
            continue;
        }
#endif
        for (k = next; k < depth; k += stride, channel++) {
            const char *const here = source + channel * image->channel_stride;
            float *const row = to + k * pitch;
            for (i = runs[count - 1].column + runs[count - 1].count; i < pitch; i++)
                row[i] = 0;
            for (r = 0; r < count; r++) {
                float *const target = row + runs[r].column;
                if (length[r] < runs[r].count)
                    for (i = 0; i < runs[r].count; i++)
                        target[i] = 0;
                if (image->item == 2)
                    dmlcy_widen(here + from[r], between, 2, target + begin[r], length[r]);
                else if (between == 4) {
                    const float *const elements = (const float *)(const void *)(here + from[r]);
                    for (i = 0; i < length[r]; i++)
                        target[begin[r] + i] = elements[i];
                } else
                    for (i = 0; i < length[r]; i++)
                        memcpy(target + begin[r] + i, here + from[r] + i * between, 4);
            }
        }
    }
}
