/* Integers of 4 and 8 bits as FLOAT32: the difference to the zero point, which is exact, times the scale. */

#define DMLCY_DEQUANTIZE(name, type, number)                                                                           \
    DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_dequantize_##name)(                                                     \
        const char *from, int64_t step, int64_t n, const float *DMLCY_RESTRICT scale,                                  \
        const float *DMLCY_RESTRICT zero, float *DMLCY_RESTRICT to)                                                    \
    {                                                                                                                  \
        const type *const source = (const type *)(const void *)from;                                                   \
        int64_t i;                                                                                                     \
        if (step == 1)                                                                                                 \
            for (i = 0; i < n; i++) {                                                                                  \
                const type x = source[i];                                                                              \
                to[i] = ((float)(number) - zero[i]) * scale[i];                                                        \
            }                                                                                                          \
        else                                                                                                           \
            for (i = 0; i < n; i++) {                                                                                  \
                const type x = source[i * step];                                                                       \
                to[i] = ((float)(number) - zero[i]) * scale[i];                                                        \
            }                                                                                                          \
    }

DMLCY_DEQUANTIZE(uint8, uint8_t, x)
DMLCY_DEQUANTIZE(int8, int8_t, x)
DMLCY_DEQUANTIZE(uint4, uint8_t, x & 15)
DMLCY_DEQUANTIZE(int4, uint8_t, ((x & 15) ^ 8) - 8)
#undef DMLCY_DEQUANTIZE
