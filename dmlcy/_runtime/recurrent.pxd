# Recurrent layers: a state that is computed step by step.

from libc.stdint cimport int64_t

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.strided cimport Tensor

# The equations of a unit.
cdef enum:
    SIMPLE_UNIT                     # one gate, which is the state
    GATED_UNIT                      # gates z (update), r (reset), h
    MEMORY_UNIT                     # gates i (input), o (output), f (forget), c; and a cell state

# A layer. Of a tensor that is left out, the pointer is NULL.
cdef struct Recurrent:
    int unit
    const Tensor* input             # {1, steps, sequences, elements of a step}
    const Tensor* weight            # {1, directions, gates * units, elements of a step}
    const Tensor* recurrence        # {1, directions, gates * units, units}
    const Tensor* bias
    const Tensor* hidden
    const Tensor* lengths
    const Tensor* sequence
    const Tensor* last
    const Activation* activations   # of the first direction, then those of the second
    bint backward                   # the first direction is
    bint reset_after                # of a gated unit: the gate r applies to the product of the state
    const Tensor* cell              # this and what follows are of a unit with memory
    const Tensor* peephole
    const Tensor* last_cell
    bint coupled
    bint limited
    float limit

# -1: memory ran out.
cdef int run_recurrent(const Recurrent* a) noexcept nogil

# Packs the matrices of the state, or of the input, if memory is given. Returns the bytes of what is packed.
cdef int64_t prepare_recurrent(const Recurrent* a, bint of_state, void* packed) noexcept nogil
