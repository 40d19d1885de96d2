# Rows of cells: contiguous elements that move together.

cdef inline void copy_cells(const PadRows* rows, dmlcy_stream* stream, const char* source, char* target,
                            int64_t count) noexcept nogil:
    if stream == NULL:
        dmlcy_copy(target, source, count * rows.cell)
    else:
        dmlcy_stream_put(stream, source, count * rows.cell)


# There is an index map: no row is one of `word`.
cdef void rows_of_cells(const PadRows* rows, const PadPiece* piece, dmlcy_stream* stream, int64_t count,
                        const char* source, char* target) noexcept nogil:
    cdef int64_t step = rows.row.step, out_step = rows.row.out_step
    cdef int64_t run = piece.body if step == rows.cell and out_step == rows.cell else 1
    cdef char* to
    cdef int64_t line, i
    for line in range(count):
        to = target + line * rows.line.out_step
        if stream != NULL:
            dmlcy_stream_seek(stream, to)
        for i in range(piece.before):
            copy_cells(rows, stream, source + piece.edges[i], to + i * out_step, 1)
        to += piece.before * out_step
        i = 0
        while i < piece.body:
            copy_cells(rows, stream, source + piece.first + i * step, to + i * out_step, run)
            i += run
        to += piece.body * out_step
        for i in range(piece.after):
            copy_cells(rows, stream, source + piece.edges[piece.before + i], to + i * out_step, 1)
        source += rows.line.step
