/* The loops of gates.h for one level. */
DMLCY_TARGET static int DMLCY_LEVEL(dmlcy_gates_are_finite)(const float *x, int64_t n)
{
    uint32_t most = 0;
    int64_t i;
    for (i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= 0x7fffffffu;
        most = bits > most ? bits : most;
    }
    return most < 0x7f800000u;
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_gates_limit)(float *x, float most, int64_t n)
{
    const float least = -most;
    int64_t i;
    for (i = 0; i < n; i++) {
        const float low = most < x[i] ? most : x[i];
        x[i] = least > low ? least : low;
    }
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_gates_add_products)(
    float *DMLCY_RESTRICT x, const float *DMLCY_RESTRICT a, const float *DMLCY_RESTRICT b, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        x[i] = (float)((double)a[i] * b[i] + x[i]);
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_gates_multiply)(const float *a, const float *b, float *to, int64_t n)
{
    int64_t i;
    DMLCY_APART_EACH
    for (i = 0; i < n; i++)
        to[i] = a[i] * b[i];
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_gates_cells)(
    const float *DMLCY_RESTRICT enters, const float *DMLCY_RESTRICT forgets, const float *DMLCY_RESTRICT found,
    const float *DMLCY_RESTRICT before, float *DMLCY_RESTRICT to, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        to[i] = (float)((double)forgets[i] * before[i] + (double)enters[i] * found[i]);
}

DMLCY_TARGET static void DMLCY_LEVEL(dmlcy_gates_coupled)(
    const float *DMLCY_RESTRICT enters, const float *DMLCY_RESTRICT found, const float *DMLCY_RESTRICT before,
    float *DMLCY_RESTRICT to, int64_t n)
{
    int64_t i;
    for (i = 0; i < n; i++)
        to[i] = (float)((1.0 - enters[i]) * before[i] + (double)enters[i] * found[i]);
}

static const GateLoops DMLCY_LEVEL(dmlcy_gates) = {
    .are_finite = DMLCY_LEVEL(dmlcy_gates_are_finite),
    .limit = DMLCY_LEVEL(dmlcy_gates_limit),
    .add_products = DMLCY_LEVEL(dmlcy_gates_add_products),
    .multiply = DMLCY_LEVEL(dmlcy_gates_multiply),
    .cells = DMLCY_LEVEL(dmlcy_gates_cells),
    .coupled = DMLCY_LEVEL(dmlcy_gates_coupled),
};
