/* The loops of norm_near.h for one level. */
#define DMLCY_STEP_NUMBER 0
#include "norm_near_step.h"
#if DMLCY_GIVES
#define DMLCY_STEP_NUMBER 1
#include "norm_near_step.h"
#endif
#define DMLCY_STEP_NUMBER 2
#include "norm_near_step.h"

DMLCY_TARGET static void DMLCY_LEVEL(DMLCY_NEIGHBORS)(const NearRows *rows, int step)
{
    if (step == 0)
        DMLCY_LEVEL(DMLCY_NAMED(DMLCY_NEIGHBORS, _step_0))(rows);
#if DMLCY_GIVES
    else if (step == 1)
        DMLCY_LEVEL(DMLCY_NAMED(DMLCY_NEIGHBORS, _step_1))(rows);
#endif
    else
        DMLCY_LEVEL(DMLCY_NAMED(DMLCY_NEIGHBORS, _step_2))(rows);
}
