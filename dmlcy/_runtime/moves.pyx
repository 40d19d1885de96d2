"""Loops that only move elements: which of them are for elements of a size, and where elements lie."""

from libc.stdint cimport int64_t

cdef extern from "move_rows.h" nogil:
    # The loops by the size of an element in bytes.
    const Gather dmlcy_gather[9]
    const Transpose dmlcy_transpose[9]
    const TurnTiles dmlcy_turn_tiles[9]
    const Weave dmlcy_weave[9]
    const CopyStrided dmlcy_copy_strided[9]
    const Clear dmlcy_clear[9]


cdef Moves moves_of(int64_t item) noexcept nogil:
    cdef Moves moves
    moves.gather = dmlcy_gather[item]
    moves.transpose = dmlcy_transpose[item]
    moves.turn_tiles = dmlcy_turn_tiles[item]
    moves.weave = dmlcy_weave[item]
    moves.copy_strided = dmlcy_copy_strided[item]
    moves.clear = dmlcy_clear[item]
    return moves


cdef void list_offsets(int64_t first, int64_t count, int64_t step, int64_t size, int64_t inner_step,
                       int64_t* offsets) noexcept nogil:
    cdef int64_t inner = first % size
    cdef int64_t outer = first // size * step
    cdef int64_t i
    for i in range(count):
        offsets[i] = outer + inner * inner_step
        inner += 1
        if inner == size:
            inner = 0
            outer += step
