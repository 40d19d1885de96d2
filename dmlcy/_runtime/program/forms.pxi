# The structs of operators as the steps of a program copy them.

@cython.final
cdef class Form:
    """The struct of a compiled operator as the steps of a program copy it: with strides, and without pointers.

    Its arrays of tensors are behind it in the same memory.
    """

    cdef TableOperator operator
    cdef char* image
    cdef int64_t size               # bytes of it
    cdef int64_t total              # bytes of all tensors
    cdef list slots                 # where the pointers of the tensors are, in bytes
    cdef list joints                # where the struct points into itself, and how far from its start

    def __dealloc__(self):
        PyMem_Free(self.image)


def form_of(TableOperator operator not None, list tensors not None):
    """The struct of an operator, for the descs of the tensors that are there; None: Python computes the outputs."""
    cdef Call call = operator.call
    cdef Form form
    cdef Tensors* array
    cdef Tensor* each
    cdef int64_t at, k
    cdef int i
    cdef Py_ssize_t known = 0
    if call is None or operator.use is not None or call.run == NULL:
        return None
    form = Form.__new__(Form)
    form.operator = operator
    form.slots = []
    form.joints = []
    form.size = aligned_size(<int64_t>call.size)
    for i in range(call.tensors):
        if call.layout.tensors[i].number >= SEVERAL:
            array = <Tensors*>&(<Tensor*>operator.prepared.fields)[i]
            form.size += (array.count + 1) * <int64_t>sizeof(Tensor)
    form.size = aligned_size(form.size)
    form.image = <char*>PyMem_Calloc(1, form.size)
    if form.image == NULL:
        raise MemoryError
    memcpy(form.image, operator.prepared.fields, call.size)
    at = aligned_size(<int64_t>call.size)
    for i in range(call.tensors):
        if call.layout.tensors[i].number >= SEVERAL:
            array = <Tensors*>&(<Tensor*>form.image)[i]
            each = <Tensor*>(form.image + at)
            memcpy(each, array.each, (array.count + 1) * sizeof(Tensor))
            array.owner = NULL
            form.joints.append((<char*>&array.each - form.image, at))
            at += (array.count + 1) * <int64_t>sizeof(Tensor)
            for k in range(array.count):
                if known == len(tensors) or not lay_out(form, &each[k], tensors[known]):
                    return None
                known += 1
        elif (<Tensor*>form.image)[i].dtype:
            if known == len(tensors) or not lay_out(form, &(<Tensor*>form.image)[i], tensors[known]):
                return None
            known += 1
    return form if known == len(tensors) else None


cdef inline int64_t aligned_size(int64_t size) noexcept nogil:
    return (size + ALIGNED - 1) // ALIGNED * ALIGNED


cdef bint lay_out(Form form, Tensor* tensor, object desc) except -1:
    """Gives a tensor the strides of its desc. False: it is no tensor that loops see so."""
    cdef object sizes = desc.sizes
    cdef object strides = desc.strides
    cdef int64_t step
    cdef int axis
    if int(desc.dtype) != tensor.dtype or tensor.dtype >= UINT4 or len(sizes) != tensor.rank:
        return False
    for axis in range(tensor.rank):
        if sizes[axis] != tensor.sizes[axis]:
            return False
    make_dense(tensor, NULL)
    if strides is not None:
        for axis in range(tensor.rank):
            step = strides[axis] * tensor.item
            if tensor.sizes[axis] != 1 and step != tensor.strides[axis]:
                tensor.dense = False
        if not tensor.dense:
            for axis in range(tensor.rank - 1, -1, -1):
                if tensor.sizes[axis] != 1:
                    tensor.strides[axis] = strides[axis] * tensor.item
                elif axis == tensor.rank - 1:
                    tensor.strides[axis] = tensor.item
                else:
                    tensor.strides[axis] = tensor.sizes[axis + 1] * tensor.strides[axis + 1]
    form.slots.append(<char*>&tensor.data - form.image)
    form.total += tensor.bytes
    return True
