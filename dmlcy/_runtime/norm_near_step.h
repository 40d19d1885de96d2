/* One step of norm_near.h for one level: DMLCY_STEP_NUMBER. */
#include "named.h"
#define DMLCY_OF_STEP(name) DMLCY_NAMED(name, DMLCY_STEP_NUMBER)

DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_OF_STEP(DMLCY_NAMED(DMLCY_NEIGHBORS, _step_)))(const NearRows *rows)
{
    int64_t i;
    int j;
    DMLCY_LOCALS
    for (i = 0; i < rows->n; i += DMLCY_NORM_LANES) {
        const float *const a0 = rows->x[0] + i, *const a1 = rows->x[1] + i;
        const double *const sums = rows->around + i, *const others = rows->from + i;
#if DMLCY_STEP_NUMBER == 2
        float *const target = rows->results + i;
        float made[DMLCY_NORM_LANES];
#else
        double *const target = rows->terms + i;
        double made[DMLCY_NORM_LANES];
#endif
#if DMLCY_OF_STEP(DMLCY_POWERS_)
        double powers[DMLCY_NORM_LANES], bases[DMLCY_NORM_LANES];
        uint32_t special = 0;
        for (j = 0; j < DMLCY_NORM_LANES; j++) {
            const double around = sums[j], x0 = (double)a0[j], x1 = (double)a1[j];
            (void)around, (void)x0, (void)x1;
            bases[j] = DMLCY_BASE;
        }
        for (j = 0; j < DMLCY_NORM_LANES; j++) {
            const float base = (float)bases[j];
            special |= dmlcy_pow_special(base, (float)DMLCY_EXPONENT);
            powers[j] = (double)dmlcy_pow_ordinary(DMLCY_FUSED, base, (float)DMLCY_EXPONENT);
        }
        if (special >> 31)
            for (j = 0; j < DMLCY_NORM_LANES; j++)
                if (dmlcy_pow_special((float)bases[j], (float)DMLCY_EXPONENT) >> 31)
                    powers[j] = pow(bases[j], DMLCY_EXPONENT);
#endif
        for (j = 0; j < DMLCY_NORM_LANES; j++) {
            const double around = sums[j], from = others[j], x0 = (double)a0[j], x1 = (double)a1[j];
#if DMLCY_OF_STEP(DMLCY_POWERS_)
            const double power = powers[j];
#endif
            (void)around, (void)from, (void)x0, (void)x1;
#if DMLCY_STEP_NUMBER == 2
            made[j] = (float)(DMLCY_TERM_2);
#else
            made[j] = DMLCY_OF_STEP(DMLCY_TERM_);
#endif
        }
        memcpy(target, made, sizeof made);
    }
}
#undef DMLCY_OF_STEP
#undef DMLCY_STEP_NUMBER
