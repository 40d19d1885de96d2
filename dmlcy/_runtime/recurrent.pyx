"""Recurrent layers: the products with the input for many steps at once, then step by step those with the state."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport int64_t, uint16_t, uint32_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dmlcy._runtime.activation cimport Activation, activate
from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.half cimport dmlcy_float_of_half, dmlcy_float_to_half, dmlcy_half_to_float
from dmlcy._runtime.processor cimport dmlcy_level
from dmlcy._runtime.products cimport multiply_packed, pack_matrix, packed_floats
from dmlcy._runtime.strided cimport Tensor
from dmlcy._runtime.threads cimport (
    Watch,
    hold_threads,
    is_stopped,
    let_threads_go,
    parallel_for,
    start_watch,
    threads_here,
)

cdef extern from "gates.h" nogil:
    ctypedef struct GateLoops:
        bint (*are_finite)(const float* x, int64_t n) noexcept nogil
        void (*limit)(float* x, float most, int64_t n) noexcept nogil
        void (*add_products)(float* x, const float* a, const float* b, int64_t n) noexcept nogil
        void (*multiply)(const float* a, const float* b, float* to, int64_t n) noexcept nogil
        void (*cells)(const float* enters, const float* forgets, const float* found, const float* before, float* to,
                      int64_t n) noexcept nogil
        void (*coupled)(const float* enters, const float* found, const float* before, float* to,
                        int64_t n) noexcept nogil

    const GateLoops* dmlcy_gate_loops[3]

cdef enum:
    LINE = 16                       # floats of a cache line
    PART = 64                       # units: a multiple of the columns that products take at once, at every level
    # the number of sequences that one thread takes of a small batch, which has at least twice as many
    FEW = 12
    # the number of sequences that one thread takes of a large batch, which has at least twice as many
    SOME = 24
    # the fewest rows of the input whose products are made at once: a multiple of the rows of a kernel
    ROWS = 192
    # the most floats of gates that are made from the input at once; a least number of rows may have more
    BLOCK = 8192
    WORK = 4194304                  # the fewest multiplications with the input that are worth another thread
    # the fewest multiplications of one step that are worth another thread, which is awake
    STEP_WORK = 1048576
    # the fewest groups of sequences for each thread if threads take whole groups; of fewer, threads share the steps
    MANY = 4

# A layer, and how it is cut: each direction into groups of sequences, each step into parts of the units.
cdef struct Layer:
    const Recurrent* a
    Watch* watch                    # of a run
    const GateLoops* loops
    int gates
    int functions                   # activations of a direction
    int64_t directions
    int64_t steps
    int64_t batch
    int64_t inputs
    int64_t hidden
    int64_t part                    # units of a part
    int64_t parts
    int64_t group                   # sequences of a group
    int64_t groups
    int64_t team                    # groups that make a step at the same time, in parts; else 1
    int64_t block                   # steps whose products with the input are made at once
    float* weights                  # packed matrices: by direction, part and gate
    float* recurrences
    float* begins                   # of each gate and unit, by direction: what its sum begins with
    float* behind                   # of a gated unit with `reset_after`: the biases of the product of the state
    float* peepholes

# A group, and its numbers. The numbers of a part are together: gate by gate, then row by row.
cdef struct Group:
    const Layer* to
    int64_t direction
    bint backward
    int64_t first                   # sequence
    int64_t rows                    # sequences
    int64_t begin                   # the first step of the block
    int64_t count                   # steps of the block
    int64_t step
    bint active                     # whether a sequence has the step
    float* inputs                   # rows of the block, step by step
    float* gates
    float* states                   # rows, before the step
    float* after                    # and after it
    float* cells                    # by part
    float* found                    # what a step computes, by part
    float* beside                   # the products of the state by part, or rows of r * state

# Groups that make each step at the same time. Threads take parts of all of them, and wait for each other behind it.
cdef struct Team:
    const Layer* to
    Group* groups
    int64_t count

include "recurrent/tensors.pxi"
include "recurrent/exact.pxi"
include "recurrent/units.pxi"
include "recurrent/groups.pxi"
include "recurrent/layers.pxi"
