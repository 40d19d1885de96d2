/* The loop of fold_finish.h for one level. */
DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_NAMED(DMLCY_FINISH, _rows))(
    const DMLCY_ACC *results, double *target, int64_t n, double count, const float *tops)
{
    int64_t i;
    (void)count, (void)tops;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++) {
        const double acc = DMLCY_VALUE(results[i]);
        const double top = DMLCY_TOPS ? (double)tops[i] : 0;
        (void)top;
        target[i] = DMLCY_RESULT;
    }
}
