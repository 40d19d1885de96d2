/* The loops of conversions.h that two levels of instructions have. */

#if DMLCY_X86 && DMLCY_IS_WIDE
#define DMLCY_CUT_FLOATS(to, type)                                                  \
    case DMLCY_PAIR(DMLCY_##to, DMLCY_FLOAT32):                                     \
        dmlcy_cut_row_##type((type *)target, (const float *)source, n);             \
        return 1;
#else
#define DMLCY_CUT_FLOATS(to, type) DMLCY_CONVERTED(to, type, FLOAT32, float, dmlcy_cut_##type(x))
#endif

/* Converts the elements of a pair of data types. 0: no loop does. */
DMLCY_TARGET DMLCY_APART int DMLCY_LEVEL(dmlcy_convert)(int pair, void *target, const void *source, int64_t n)
{
    int64_t i;
    switch (pair) {
    DMLCY_KEPT(UINT8, uint8_t, UINT16, uint16_t)
    DMLCY_KEPT(UINT8, uint8_t, UINT32, uint32_t)
    DMLCY_KEPT(UINT16, uint16_t, UINT32, uint32_t)
    DMLCY_KEPT(UINT32, uint32_t, UINT64, uint64_t)
    DMLCY_KEPT(UINT16, uint16_t, UINT8, uint8_t)
    DMLCY_KEPT(UINT32, uint32_t, UINT8, uint8_t)
    DMLCY_KEPT(UINT32, uint32_t, UINT16, uint16_t)
    DMLCY_KEPT(UINT64, uint64_t, UINT32, uint32_t)
    DMLCY_KEPT(UINT16, uint16_t, INT8, int8_t)
    DMLCY_KEPT(UINT32, uint32_t, INT8, int8_t)
    DMLCY_KEPT(UINT32, uint32_t, INT16, int16_t)
    DMLCY_KEPT(UINT64, uint64_t, INT32, int32_t)

    DMLCY_CONVERTED(UINT8, uint8_t, UINT4, uint8_t, x & 15)
    DMLCY_CONVERTED(UINT8, uint8_t, INT4, uint8_t, (uint8_t)(((x & 15) ^ 8) - 8)) /* with a sign */
    DMLCY_CONVERTED(UINT4, uint8_t, UINT8, uint8_t, x < 15 ? x : 15)
    DMLCY_CONVERTED(INT4, int8_t, INT8, int8_t, (x < -8 ? -8 : x > 7 ? 7 : x) & 15)

    DMLCY_KEPT(FLOAT32, float, UINT8, uint8_t)
    DMLCY_KEPT(FLOAT32, float, INT8, int8_t)
    DMLCY_KEPT(FLOAT32, float, INT32, int32_t)
    DMLCY_CONVERTED(FLOAT32, float, UINT32, uint32_t, (float)(int32_t)(x >> 16) * 0x1p16f + (float)(int32_t)(x & 0xffffu))
    DMLCY_KEPT(FLOAT32, float, FLOAT64, double)
    DMLCY_KEPT(FLOAT64, double, FLOAT32, float)
    DMLCY_KEPT(FLOAT64, double, INT32, int32_t)
    DMLCY_CONVERTED(FLOAT64, double, UINT32, uint32_t, (double)(int32_t)(x ^ 0x80000000u) + 0x1p31)

    DMLCY_CUT_FLOATS(UINT8, uint8_t)
    DMLCY_CUT_FLOATS(INT8, int8_t)
    DMLCY_CUT_FLOATS(UINT16, uint16_t)
    DMLCY_CUT_FLOATS(INT16, int16_t)
    DMLCY_CUT_FLOATS(INT32, int32_t)
    DMLCY_SATURATED(UINT8, uint8_t, FLOAT64, double)
    DMLCY_SATURATED(INT8, int8_t, FLOAT64, double)
    DMLCY_SATURATED(UINT16, uint16_t, FLOAT64, double)
    DMLCY_SATURATED(INT16, int16_t, FLOAT64, double)
    DMLCY_SATURATED(INT32, int32_t, FLOAT64, double)
    }
    return 0;
}

#undef DMLCY_CUT_FLOATS

/* The floats that become the FLOAT16 of the doubles. */
DMLCY_TARGET DMLCY_APART void DMLCY_LEVEL(dmlcy_odd_floats)(float *target, const double *source, int64_t n)
{
    int64_t i;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++)
        target[i] = dmlcy_odd(source[i]);
}
