# Attention: the values of keys, weighed by the softmax of the products of queries and keys.

from libc.stdint cimport int64_t

from dmlcy._runtime.strided cimport Tensor

cdef enum:
    MASKS_NONE                      # there is no mask
    MASKS_ENDS                      # for each item, the keys from a number on are masked
    MASKS_STARTS                    # and those before another number, which follow those of all items
    MASKS_EACH                      # elements of 0 are

# A tensor without a data type is not there. Queries, keys and values are each in one tensor.
cdef struct Attention:
    const Tensor* query
    const Tensor* key
    const Tensor* value
    const Tensor* query_key
    const Tensor* key_value
    const Tensor* query_key_value
    const Tensor* bias              # added to queries, keys and values
    const Tensor* mask
    const Tensor* added             # to the products
    const Tensor* past_key
    const Tensor* past_value
    const Tensor* lengths           # of the past; then a query sees keys up to its place. NULL: the past is whole
    const Tensor* output
    const Tensor* present_key
    const Tensor* present_value
    float scale
    float masked                    # added to the scores that are masked
    int masks                       # MASKS_…
    int64_t batch
    int64_t sequence                # queries
    int64_t query_heads
    int64_t key_heads
    int64_t head_size               # elements of a query and of a key
    int64_t key_sequence            # keys of this run
    int64_t value_size

# -1: memory ran out.
cdef int run_attention(const Attention* a) noexcept nogil
