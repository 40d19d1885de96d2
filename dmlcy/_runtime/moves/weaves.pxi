# Chooses how planes are woven.

# Weaves planes of grains of any size.
cdef void weave_grains(const char* planes, int64_t pitch, int64_t few, int64_t grain, int64_t count,
                       char* target) noexcept nogil:
    cdef int64_t k, j
    for _ in range(count):
        for k in range(few):
            if grain % 16 == 0:
                for j in range(0, grain, 16):
                    memcpy(target + j, planes + k * pitch + j, 16)
            else:
                dmlcy_copy(target, planes + k * pitch, grain)
            target += grain
        planes += grain


# Weaving wider elements is faster.
cdef void choose_weave(MovePlan* plan) noexcept nogil:
    cdef int64_t grain = plan.block.grain.size * plan.item
    cdef int64_t all = <int64_t> plan.output | plan.block.line.out_step | plan.block.within.out_step
    cdef int d
    for d in range(plan.outers):
        all |= plan.outer[d].out_step
    plan.weave = weave_grains
    if grain in (1, 2, 4, 8) and all % grain == 0:
        plan.weave = moves_of(grain).weave
