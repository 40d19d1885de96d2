/* Integers of 4 and 8 bits as FLOAT32: the difference to the zero point, which is exact, times the scale. */

#define DMLCY_DEQUANTIZE(name, type)                                                                                   \
    DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_dequantize_##name)(                                                     \
        const char *from, int64_t first, int64_t n, int64_t block, const float *DMLCY_RESTRICT scale,                  \
        const float *DMLCY_RESTRICT zero, float *DMLCY_RESTRICT to)                                                    \
    {                                                                                                                  \
        const type *const source = (const type *)(const void *)from + first;                                           \
        int64_t done, i;                                                                                               \
        if (block == 1)                                                                                                \
            for (i = 0; i < n; i++)                                                                                    \
                to[i] = ((float)source[i] - zero[i]) * scale[i];                                                       \
        else                                                                                                           \
            for (done = 0; done < n; done += block, scale++, zero++) {                                                 \
                const int64_t end = n - done < block ? n : done + block;                                               \
                const float s = *scale, z = *zero;                                                                     \
                for (i = done; i < end; i++)                                                                           \
                    to[i] = ((float)source[i] - z) * s;                                                                \
            }                                                                                                          \
    }

DMLCY_DEQUANTIZE(uint8, uint8_t)
DMLCY_DEQUANTIZE(int8, int8_t)
#undef DMLCY_DEQUANTIZE

/* Eight elements that four whole bytes have, for DMLCY_HALVES. */
#if DMLCY_GNU && DMLCY_IS_WIDE
#define DMLCY_EIGHT(number, z, s)                                                                                      \
    for (bytes = from + ((first + i) >> 1); ((first + i) & 1) == 0 && i <= end - 8; i += 8, bytes += 4) {              \
        const dmlcy_eight_words shifts = {0, 4, 8, 12, 16, 20, 24, 28};                                                \
        uint32_t word;                                                                                                 \
        dmlcy_eight_words words;                                                                                       \
        dmlcy_eight_integers x;                                                                                        \
        memcpy(&word, bytes, sizeof word);                                                                             \
        words = (dmlcy_eight_words){word, word, word, word, word, word, word, word};                                   \
        x = (dmlcy_eight_integers)(words >> shifts & 15);                                                              \
        *(dmlcy_eight_floats *)(to + i) = (__builtin_convertvector(number, dmlcy_eight_floats) - (z)) * (s);           \
    }
#else
#define DMLCY_EIGHT(number, z, s) (void)bytes;
#endif

#define DMLCY_HALVES(name, number)                                                                                     \
    DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_dequantize_##name)(                                                     \
        const char *from, int64_t first, int64_t n, int64_t block, const float *scale, const float *zero, float *to)   \
    {                                                                                                                  \
        const char *bytes = from;                                                                                      \
        int64_t done, i = 0, end = n;                                                                                  \
        if (block == 1) {                                                                                              \
            DMLCY_EIGHT(number, *(const dmlcy_eight_floats *)(zero + i), *(const dmlcy_eight_floats *)(scale + i))     \
            for (; i < n; i++) {                                                                                       \
                const int x = dmlcy_half_byte(from, first + i);                                                        \
                to[i] = ((float)(number) - zero[i]) * scale[i];                                                        \
            }                                                                                                          \
        }                                                                                                              \
        else                                                                                                           \
            for (done = 0; done < n; done += block, scale++, zero++) {                                                 \
                const float s = *scale, z = *zero;                                                                     \
                end = n - done < block ? n : done + block;                                                             \
                DMLCY_EIGHT(number, z, s)                                                                              \
                for (; i < end; i++) {                                                                                 \
                    const int x = dmlcy_half_byte(from, first + i);                                                    \
                    to[i] = ((float)(number) - z) * s;                                                                 \
                }                                                                                                      \
            }                                                                                                          \
    }

DMLCY_HALVES(uint4, x)
DMLCY_HALVES(int4, (x ^ 8) - 8)
#undef DMLCY_HALVES
#undef DMLCY_EIGHT
