# Sums of rows become results: neighbouring columns are combined.

# Combines the sums under `taps` taps along the columns; the results of a line lie `result_pitch` columns apart.
cdef const char* sum_columns(
        const WindowPlan* plan, const WindowPlace* place, const WindowScratch* scratch, const char* sums, int64_t taps,
        bint last) noexcept nogil:
    cdef int64_t acc = scratch.kernel.acc
    cdef int64_t run = place.run
    cdef int64_t size = place.rows * place.lines * plan.result_pitch
    cdef int64_t pitch = run
    cdef int64_t phase = 0
    cdef WindowSum sum
    begin_sum(plan, place, scratch, scratch.results, False, &sum)
    sum.fresh = place.part == place.tap
    sum.size = (size - plan.result_pitch + place.columns) * run
    if plan.run > 1 and plan.step > 1:
        sum.lines = sum.size // run
        sum.size = sum.target_step = run
        sum.line_step = plan.step * run
    elif plan.step == 2 and 2 <= taps <= 3 and plan.columns.dilation == 1 and sum.fresh and last and (
            scratch.loops.near != NULL):
        sum.row[0] = sums
        sum.waiting = taps
        scratch.loops.near(&sum)
        return scratch.results
    elif plan.step > 1 and size > 1:
        pitch = room_of(size)
        dmlcy_split(
            acc, scratch.phases, pitch, sums, plan.step, min(plan.step, (taps - 1) * plan.columns.dilation + 1), size)
        sums = scratch.phases
    if taps == 1 and last and sum.fresh and sum.lines == 1:
        return sums
    for _ in range(taps):
        take_row(&sum, sums + phase * pitch * acc)
        phase += plan.phase_step
        sums += plan.index_step * run * acc
        if phase >= plan.step:
            phase -= plan.step
            sums += run * acc
    flush_rows(&sum)
    return scratch.results
