/* The loops of conversions.h between floats and integers of 64 bits, for which the widest level has instructions. */

/* Converts the elements of a pair of data types. 0: no loop does. */
DMLCY_TARGET DMLCY_APART int DMLCY_LEVEL(dmlcy_convert_longs)(int pair, void *target, const void *source, int64_t n)
{
    int64_t i;
    switch (pair) {
    DMLCY_KEPT(FLOAT32, float, UINT64, uint64_t)
    DMLCY_KEPT(FLOAT32, float, INT64, int64_t)
    DMLCY_KEPT(FLOAT64, double, UINT64, uint64_t)
    DMLCY_KEPT(FLOAT64, double, INT64, int64_t)
    DMLCY_SATURATED(INT64, int64_t, FLOAT32, float)
    DMLCY_SATURATED(INT64, int64_t, FLOAT64, double)
    DMLCY_SATURATED(UINT64, uint64_t, FLOAT64, double)
    DMLCY_SATURATED(UINT32, uint32_t, FLOAT64, double)
    }
    return 0;
}
