# Lines that are under one window each: a row, whose elements are combined in any order, or a plane.

cdef const char* fold_rows(
        const WindowPlan* plan, const WindowPlace* place, const WindowScratch* scratch) noexcept nogil:
    cdef WindowFold fold
    fold.input = place.input
    fold.line_step = plan.lines.input_step
    fold.lines = place.lines
    fold.rows = plan.rows.size
    fold.row_step = plan.rows.input_step
    fold.size = plan.columns.size
    fold.far = plan.ahead > 0
    fold.results = scratch.results
    scratch.loops.fold(&fold)
    return scratch.results
