# Where what is under a window is one row of neighbours, of which any may be combined first.

cdef const char* fold_rows(
        const WindowPlan* plan, const WindowPlace* place, const WindowScratch* scratch) noexcept nogil:
    cdef WindowFold fold
    fold.input = place.input
    fold.line_step = plan.lines.input_step
    fold.lines = place.lines
    fold.size = plan.columns.size
    fold.results = scratch.results
    scratch.loops.fold(&fold)
    return scratch.results
