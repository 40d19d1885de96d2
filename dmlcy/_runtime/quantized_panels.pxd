# Matrices of quantized integers, packed as FLOAT32 for products.multiply_packed().

from dmlcy._runtime.strided cimport Tensor

# Whether the loops take the data types: UINT8, INT8, UINT4 or INT4, with scales of FLOAT32 or FLOAT16.
cdef bint packs_quantized(const Tensor* matrix, const Tensor* scale) noexcept nogil

# Packs (element - zero point) * scale, rounded once, of a matrix with two axes: k and columns; or, if `turned`, columns
# and k. Scale and zero point have two axes, too, and an element for each block: their sizes divide those of the matrix.
# The zero point has the data type of the matrix, or is NULL. The packed matrix has the floats that
# products.packed_floats() says. -1: memory ran out.
cdef int pack_quantized(const Tensor* matrix, bint turned, const Tensor* scale, const Tensor* zero,
                        float* packed) noexcept nogil
