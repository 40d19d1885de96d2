"""Attention: blocks of keys and values, which are packed for products, and blocks of queries, which take them."""

from libc.math cimport exp, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dmlcy._runtime.checks cimport ceil_div
from dmlcy._runtime.half cimport dmlcy_float_of_half, dmlcy_float_to_half, dmlcy_half_to_float
from dmlcy._runtime.processor cimport dmlcy_level
from dmlcy._runtime.products cimport multiply_packed, pack_matrix, packed_floats
from dmlcy._runtime.strided cimport INT32, Tensor
from dmlcy._runtime.threads cimport grain_of, parallel_for

cdef extern from "attention.h" nogil:
    enum:
        DMLCY_SCORE_ROOM

    ctypedef struct AttentionLevel:
        float (*greatest)(float* scores, const float* added, const float* masks, int64_t n) noexcept nogil
        void (*choose)(const int32_t* mask, float masked, float* to, int64_t n) noexcept nogil
        float (*weigh)(float* scores, float greatest, int64_t n) noexcept nogil
        float (*weight)(float score) noexcept nogil
        void (*scale)(float* x, float factor, int64_t n) noexcept nogil
        void (*divide)(float* x, float divisor, int64_t n) noexcept nogil
        void (*prepare)(float* x, const float* bias, float factor, int64_t n) noexcept nogil
        bint (*are_finite)(const float* x, int64_t n) noexcept nogil
        bint (*find_special)(const float* rows, int64_t step, int64_t n, int64_t size, uint8_t* special) noexcept nogil
        void (*dots)(const float* query, const float* rows, int64_t step, int64_t n, int64_t size,
                     float* scores) noexcept nogil
        void (*add_rows)(const float* weights, const float* rows, int64_t step, int64_t n, int64_t size,
                         float* results) noexcept nogil

    const AttentionLevel* dmlcy_attention_levels[3]

cdef enum:
    LINE = 16                       # floats of a cache line
    # the most keys of a block if a query sees only the keys up to its own place; later blocks are left out
    SEEN = 256
    # the most queries of a block: a multiple of the rows that the kernels of products take at once
    QUERIES = 48
    # the most keys of a block if each query sees all keys; the scores of more keys are not kept at once
    KEYS = 1024
    # the fewest heads of keys, of all items, with which threads take whole heads; threads share the queries of fewer
    MANY = 32
    # the number of keys that are taken at once where each head of keys has a single query
    SOME = 64
    # the time of a multiplication for a single query, which waits for memory, in multiplications for many
    SLOWER = 8
    # the most floats of packed keys and values that threads share at once, unless one head has more
    PACKED = 4194304
    WORK = 4194304                  # the fewest multiplications of attention that are worth another thread
    WEIGHTLESS = 750                # so far below the greatest score, double has no weight

cdef enum:                         # keys or values
    KEY
    VALUE
    ROLES

# Where elements are: bytes from item to item of the batch, and so on. A head is one of the query, or of the key.
cdef struct Rows:
    const char* data                # NULL: nowhere
    int64_t item
    int64_t head
    int64_t row
    int64_t element

cdef struct Heads:
    const Attention* a
    const AttentionLevel* level
    int64_t bytes                   # of an element
    int64_t shared                  # heads of the query for each one of the key
    int64_t past                    # earlier keys, at most
    int64_t total                   # keys, at most
    int64_t size[ROLES]             # elements of a key, and of a value
    Rows query
    Rows own[ROLES]
    Rows before[ROLES]
    Rows present[ROLES]
    int64_t room                    # keys of the outputs
    Rows output
    Rows added
    Rows mask
    int64_t mask_width              # elements along a row of the mask: 1, as many as keys, or those of this run only
    int64_t added_width
    float* biases                   # of queries, of keys and of values; or NULL
    const float* bias[ROLES]
    int64_t blocks                  # of keys
    int64_t wide                    # keys of a block, at most
    int64_t unit                    # an item and a head of keys: the first whose keys and values are packed
    int64_t floats[ROLES]           # of a packed block
    float* packed
    uint8_t* special                # of each block, whether a value is infinite or NaN; then the same of each key
    int64_t row_blocks              # of queries

# The memory of a thread: the scores of some queries and a block of keys, and their results.
cdef struct Block:
    int64_t item
    int64_t head
    int64_t first                   # query
    int64_t rows
    int64_t earlier                 # keys
    int64_t keys                    # of the item
    int64_t pitch                   # floats of a row of scores
    float* scores
    float* queries
    float* results
    float* added                    # to a row of scores
    float* masks
    double* exact                   # results of one query
    float[QUERIES] greatest
    float[QUERIES] sums
    bint[QUERIES] again             # a query is computed in another way


include "attention/places.pxi"
include "attention/packs.pxi"
include "attention/exact.pxi"
include "attention/blocks.pxi"
include "attention/single.pxi"
include "attention/run.pxi"
