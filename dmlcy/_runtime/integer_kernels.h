/* The kernels of integer_products.h for one set of instructions. DMLCY_VNNI: products of bytes are an instruction. */

#if DMLCY_X86 && DMLCY_IS_WIDEST
#define DMLCY_WORDS __m512i
#define DMLCY_LANES 16
#define DMLCY_SUM(x, y) _mm512_add_epi32(x, y)
#define DMLCY_READ(from) _mm512_loadu_si512((const void *)(from))
#define DMLCY_WRITE(to, x) _mm512_storeu_si512((void *)(to), x)
#define DMLCY_EACH(word) _mm512_set1_epi32(word)
#define DMLCY_PAIRS(x, y) _mm512_madd_epi16(x, y)
#define DMLCY_EVEN(x) _mm512_and_si512(x, _mm512_set1_epi32(0x00ff00ff))
#define DMLCY_ODD(x) _mm512_srli_epi16(x, 8)
#define DMLCY_DOT(sum, y, x) _mm512_dpbusd_epi32(sum, y, x)
#elif DMLCY_X86 && DMLCY_IS_WIDE
#define DMLCY_WORDS __m256i
#define DMLCY_LANES 8
#define DMLCY_SUM(x, y) _mm256_add_epi32(x, y)
#define DMLCY_READ(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define DMLCY_WRITE(to, x) _mm256_storeu_si256((__m256i *)(void *)(to), x)
#define DMLCY_EACH(word) _mm256_set1_epi32(word)
#define DMLCY_PAIRS(x, y) _mm256_madd_epi16(x, y)
#define DMLCY_EVEN(x) _mm256_and_si256(x, _mm256_set1_epi32(0x00ff00ff))
#define DMLCY_ODD(x) _mm256_srli_epi16(x, 8)
#define DMLCY_DOT(sum, y, x) _mm256_dpbusd_avx_epi32(sum, y, x)
#elif DMLCY_X86
#define DMLCY_WORDS __m128i
#define DMLCY_LANES 4
#define DMLCY_SUM(x, y) _mm_add_epi32(x, y)
#define DMLCY_READ(from) _mm_loadu_si128((const __m128i *)(const void *)(from))
#define DMLCY_WRITE(to, x) _mm_storeu_si128((__m128i *)(void *)(to), x)
#define DMLCY_EACH(word) _mm_set1_epi32(word)
#define DMLCY_PAIRS(x, y) _mm_madd_epi16(x, y)
#define DMLCY_EVEN(x) _mm_and_si128(x, _mm_set1_epi32(0x00ff00ff))
#define DMLCY_ODD(x) _mm_srli_epi16(x, 8)
#endif

#if DMLCY_X86
#if DMLCY_VNNI
#define DMLCY_WORD_BYTES 4  /* of a row, for four k */
#else
#define DMLCY_WORD_BYTES 8
#endif

/* Adds the products of the words of one row and those of two vectors of columns. */
DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_add_words)(DMLCY_WORDS *sums, const char *a, const DMLCY_WORDS *y)
{
    int32_t word;
    memcpy(&word, a, 4);
#if DMLCY_VNNI
    sums[0] = DMLCY_DOT(sums[0], y[0], DMLCY_EACH(word));
    sums[1] = DMLCY_DOT(sums[1], y[1], DMLCY_EACH(word));
#else
    sums[0] = DMLCY_SUM(sums[0], DMLCY_PAIRS(y[0], DMLCY_EACH(word)));
    sums[1] = DMLCY_SUM(sums[1], DMLCY_PAIRS(y[1], DMLCY_EACH(word)));
    memcpy(&word, a + 4, 4);
    sums[0] = DMLCY_SUM(sums[0], DMLCY_PAIRS(y[2], DMLCY_EACH(word)));
    sums[1] = DMLCY_SUM(sums[1], DMLCY_PAIRS(y[3], DMLCY_EACH(word)));
#endif
}

DMLCY_TARGET DMLCY_INLINE void DMLCY_LEVEL(dmlcy_read_words)(const char *b, DMLCY_WORDS *y)
{
    y[0] = DMLCY_READ(b);
    y[1] = DMLCY_READ(b + 4 * DMLCY_LANES);
#if !DMLCY_VNNI
    y[2] = DMLCY_ODD(y[0]);
    y[3] = DMLCY_ODD(y[1]);
    y[0] = DMLCY_EVEN(y[0]);
    y[1] = DMLCY_EVEN(y[1]);
#endif
}

/* Up to 12 rows, which four places address; compilers would make more of them. Few rows have several sums for each
 * column, of every so many words, as each instruction would wait for the one before. */
#define DMLCY_INTEGER_KERNEL(rows, turns)                                                                              \
    DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_integer_##rows)(                                                        \
        int64_t words, const char *a, int64_t a_row, const char *b, const int64_t *at, int adds, int32_t *to,          \
        int64_t to_row)                                                                                                \
    {                                                                                                                  \
        DMLCY_WORDS sums[turns][rows][2], y[4];                                                                        \
        const char *a0 = a, *a3 = (rows) > 3 ? a + 3 * a_row : a, *a6 = (rows) > 6 ? a + 6 * a_row : a;                \
        const char *a9 = (rows) > 9 ? a + 9 * a_row : a;                                                               \
        int64_t k;                                                                                                     \
        int i, t;                                                                                                      \
        DMLCY_UNROLL for (t = 0; t < (turns); t++)                                                                     \
            DMLCY_UNROLL for (i = 0; i < (rows); i++) {                                                                \
                sums[t][i][0] = sums[t][i][1] = DMLCY_EACH(0);                                                         \
                if (t == 0 && adds) {                                                                                  \
                    sums[t][i][0] = DMLCY_READ(to + i * to_row);                                                       \
                    sums[t][i][1] = DMLCY_READ(to + i * to_row + DMLCY_LANES);                                         \
                }                                                                                                      \
            }                                                                                                          \
        for (k = 0; k + (turns) <= words; k += (turns)) {                                                              \
            DMLCY_KEEP(a0, a3, a6, a9)                                                                                 \
            DMLCY_UNROLL for (t = 0; t < (turns); t++) {                                                               \
                DMLCY_LEVEL(dmlcy_read_words)(b + at[k + t], y);                                                       \
                DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                              \
                    DMLCY_LEVEL(dmlcy_add_words)(                                                                      \
                        sums[t][i], (i < 3 ? a0 : i < 6 ? a3 : i < 9 ? a6 : a9) + i % 3 * a_row + t * DMLCY_WORD_BYTES, y); \
            }                                                                                                          \
            a0 += (turns) * DMLCY_WORD_BYTES;                                                                          \
            a3 += (turns) * DMLCY_WORD_BYTES;                                                                          \
            a6 += (turns) * DMLCY_WORD_BYTES;                                                                          \
            a9 += (turns) * DMLCY_WORD_BYTES;                                                                          \
        }                                                                                                              \
        for (; (turns) > 1 && k < words; k++) {                                                                        \
            DMLCY_LEVEL(dmlcy_read_words)(b + at[k], y);                                                               \
            DMLCY_UNROLL for (i = 0; i < (rows); i++)                                                                  \
                DMLCY_LEVEL(dmlcy_add_words)(sums[0][i], a + i * a_row + k * DMLCY_WORD_BYTES, y);                     \
        }                                                                                                              \
        DMLCY_UNROLL for (i = 0; i < (rows); i++) {                                                                    \
            DMLCY_UNROLL for (t = 1; t < (turns); t++) {                                                               \
                sums[0][i][0] = DMLCY_SUM(sums[0][i][0], sums[t][i][0]);                                               \
                sums[0][i][1] = DMLCY_SUM(sums[0][i][1], sums[t][i][1]);                                               \
            }                                                                                                          \
            DMLCY_WRITE(to + i * to_row, sums[0][i][0]);                                                               \
            DMLCY_WRITE(to + i * to_row + DMLCY_LANES, sums[0][i][1]);                                                 \
        }                                                                                                              \
    }

#if DMLCY_IS_WIDEST && DMLCY_VNNI
DMLCY_INTEGER_KERNEL(12, 1)
#endif
#if DMLCY_IS_WIDEST
DMLCY_INTEGER_KERNEL(8, 1)
#endif
#if DMLCY_IS_WIDE && !DMLCY_IS_WIDEST && DMLCY_VNNI
DMLCY_INTEGER_KERNEL(6, 1)
#endif
DMLCY_INTEGER_KERNEL(4, 1)
DMLCY_INTEGER_KERNEL(2, 2)
DMLCY_INTEGER_KERNEL(1, 4)

static const IntegerKernels DMLCY_LEVEL(dmlcy_integer) = {
    2 * DMLCY_LANES, DMLCY_WORD_BYTES / 4,
#if DMLCY_IS_WIDEST && DMLCY_VNNI
    {12, 8, 4, 2, 1},
    {DMLCY_LEVEL(dmlcy_integer_12), DMLCY_LEVEL(dmlcy_integer_8),
#elif DMLCY_IS_WIDEST
    {8, 4, 2, 1, 0},
    {DMLCY_LEVEL(dmlcy_integer_8),
#elif DMLCY_IS_WIDE && DMLCY_VNNI
    {6, 4, 2, 1, 0},
    {DMLCY_LEVEL(dmlcy_integer_6),
#else
    {4, 2, 1, 0, 0},
    {
#endif
     DMLCY_LEVEL(dmlcy_integer_4), DMLCY_LEVEL(dmlcy_integer_2), DMLCY_LEVEL(dmlcy_integer_1)},
};
#undef DMLCY_WORDS
#undef DMLCY_LANES
#undef DMLCY_SUM
#undef DMLCY_READ
#undef DMLCY_WRITE
#undef DMLCY_EACH
#undef DMLCY_PAIRS
#undef DMLCY_EVEN
#undef DMLCY_ODD
#undef DMLCY_DOT
#undef DMLCY_WORD_BYTES
#undef DMLCY_INTEGER_KERNEL
#else

#define DMLCY_COLUMNS 16 /* of a strip */

static void DMLCY_LEVEL(dmlcy_integer_1)(
    int64_t words, const char *a, int64_t a_row, const char *b, const int64_t *at, int adds, int32_t *to,
    int64_t to_row)
{
    uint32_t sums[DMLCY_COLUMNS] = {0};
    int64_t k;
    int j;
    (void)a_row, (void)to_row;
    if (adds)
        memcpy(sums, to, sizeof sums);
    for (k = 0; k < words; k++) {
        const uint8_t *const y = (const uint8_t *)b + at[k];
        int16_t x[4];
        memcpy(x, a + 8 * k, sizeof x);
        for (j = 0; j < DMLCY_COLUMNS; j++)
            sums[j] += (uint32_t)(x[0] * y[4 * j] + x[1] * y[4 * j + 2] + x[2] * y[4 * j + 1] + x[3] * y[4 * j + 3]);
    }
    memcpy(to, sums, sizeof sums);
}

static const IntegerKernels DMLCY_LEVEL(dmlcy_integer) = {
    DMLCY_COLUMNS, 2, {1, 0, 0, 0, 0}, {DMLCY_LEVEL(dmlcy_integer_1), 0, 0, 0, 0},
};
#undef DMLCY_COLUMNS
#endif
