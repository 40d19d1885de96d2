# Tensors of a compiled operator: described once by its desc, then met by the arrays of each call.

from numpy cimport ndarray

from dmlcy._runtime.tensor cimport Tensor

# Data type and sizes of a TensorDesc; no data.
cdef bint describe(object desc, Tensor* tensor) except -1

# Whether the tensor has the data type of `computed`, and its sizes but for leading ones.
cdef bint as_computed(const Tensor* tensor, const Tensor* computed) noexcept nogil

# Whether the array still is as `tensor` describes it: what ran in between may have resized it.
cdef bint unchanged(ndarray array, const Tensor* tensor) noexcept

# The array behind the object when it has the data type and sizes in `tensor`, whose data and strides it then gives;
# else None.
cdef ndarray match(object value, Tensor* tensor)
