# Attribute arguments from Python objects to C. Each returns 1 and fills its output, or 0 when the value is not
# acceptable (the caller then lets dmlcy._desc.check say why). Exceptions other than TypeError, ValueError and
# OverflowError pass through.

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dmlcy._runtime.activation cimport Activation
from dmlcy._runtime.strided cimport Tensor, Tensors

cdef int take_uint(object value, int64_t minimum, int64_t maximum, int64_t* result) except -1
# An int fills all n entries; else a sequence or 1-D integer array of n entries.
cdef int take_uints(object value, int64_t n, int64_t minimum, int64_t maximum, int64_t* result) except -1
# Sizes, as many as there are from 1 to MAX_RANK; an int is one.
cdef int take_sizes(object value, int64_t* result, int64_t* count) except -1
cdef int take_bool(object value, bint* result) except -1
# A number, rounded to float32: finite, or `infinite` where the value is that itself.
cdef int take_float(object value, bint infinite, float* result) except -1
# Finite numbers, rounded to float32: one fills all n entries, else a sequence or a 1-D array of n entries.
cdef int take_floats(object value, int64_t n, float* result) except -1
# The same, but one number is one entry.
cdef int take_each_float(object value, int64_t n, float* result) except -1
# (scale, bias), finite numbers rounded to float32; None where it is `optional`.
cdef int take_scale_bias(object value, bint optional, float* result, bint* given) except -1
# Integers, at most `most` of them; an int is one.
cdef int take_some(
    object value, int64_t most, int64_t minimum, int64_t maximum, int64_t* result, int64_t* count
) except -1
# The desc of another operator that this field of an operator can have at a level, owned by the owner of `result`. NULL
# if it is `optional` and left out, or refused. Then its loops.
cdef int take_desc(
    object value, bint optional, str operator, str field, int level, PyObject** result, Activation* loops
) except -1
# The descs of `count` operators, at most MAX_RANK, and the loops of each. If one has none, the first one has none
# either.
cdef int take_descs(
    object value, int64_t count, str operator, str field, int level, PyObject** result, Activation* loops
) except -1
cdef object desc_of(PyObject* desc)
# The data type of an output that no input fixes: a dtype; None: that of `out`, where `open` says so and it has one,
# else `default`.
cdef int take_open(object value, object out, bint open, int default, int* dtype) except -1
# A member of cls, or a key of names (short and full DirectML spelling -> value).
cdef int take_enum(object value, object cls, dict names, int64_t* result) except -1
# A dtype: TensorDataType member, DirectML spelling short or full, or what numpy.dtype() takes of the 11 types.
cdef int take_dtype(object value, int64_t* result) except -1
# Whether an optional output is asked for, as its data type: False or None: 0; True: `default`; else a dtype.
cdef int take_output(object value, int default, int* dtype) except -1
# The sizes that a call says of an output, those of `out` where it says none; rank 0: neither says any. Of `count`
# outputs, the output is the one at `place`.
cdef int take_asked(object value, object out, int place, int count, Tensor* tensor) except -1
# The tensors of an array of outputs, of this data type and the sizes that a call says of each, or of those of `out`.
cdef int take_each(object value, object out, int dtype, Tensors* tensors) except -1
# (height, width), or an int for both.
cdef int take_size_2d(object value, int64_t minimum, int64_t maximum, int64_t* height, int64_t* width) except -1
# A number of the data type `dtype`, as its bytes.
cdef int take_scalar(object value, int dtype, unsigned char* result) except -1
