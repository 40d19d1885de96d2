/* Conversions of element_numbers.h from and to floats, for one level of instructions. */

#define DMLCY_NUMBER float
DMLCY_TARGET DMLCY_APART void DMLCY_LEVEL(dmlcy_load_floats)(float *numbers, const void *source, int64_t n, int dtype)
{
    int64_t i;
    switch (dtype) {
    DMLCY_NARROW(DMLCY_LOADED)
    case DMLCY_FLOAT16:
        dmlcy_half_to_float((const uint16_t *)source, 2, numbers, (size_t)n);
    }
}
#undef DMLCY_NUMBER

DMLCY_TARGET DMLCY_APART void DMLCY_LEVEL(dmlcy_store_floats)(const float *numbers, void *to, int64_t n, int dtype)
{
    int64_t i;
    switch (dtype) {
    DMLCY_CUT_FLOATS(UINT8, uint8_t, 0.0f, 255.0f)
    DMLCY_CUT_FLOATS(INT8, int8_t, -128.0f, 127.0f)
    case DMLCY_FLOAT16:
        dmlcy_float_to_half(numbers, (uint16_t *)to, 2, (size_t)n);
    }
}
