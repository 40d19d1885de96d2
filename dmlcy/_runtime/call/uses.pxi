# Calls that the reference computes: which use a call is, and its results.

cdef object use_of(Call call, Frame* frame, int level):
    """What the reference is asked for: the use of the last call, one that was kept, or a new one."""
    cdef char[BYTES] text
    cdef Py_ssize_t length = write_key(call, frame, text)
    cdef bytes key = call.key
    if key is not None and PyBytes_GET_SIZE(key) == length and memcmp(PyBytes_AS_STRING(key), text, length) == 0:
        return call.use[0]
    key = PyBytes_FromStringAndSize(text, length)
    found = uses.get((call, key))
    if found is None:
        from dmlcy._reference.call import use_of_values

        values = values_of(call, frame)
        # With the values: the key has the addresses of descs among them.
        found = use_of_values(call.name, values, level), values
        if len(uses) >= MAX_USES:
            uses.clear()
        uses[call, key] = found
    call.key, call.use = key, found
    return found[0]


# What a use is told from others by: data types and sizes of the tensors, then the attributes. It is shorter than the
# struct, which has strides too.
cdef Py_ssize_t write_key(Call call, const Frame* frame, char* key) noexcept:
    cdef const Tensor* tensors = <const Tensor*>frame.fields
    cdef size_t attributes = call.tensors * sizeof(Tensor)
    cdef char* end = key
    cdef int i
    for i in range(call.tensors):
        end[0] = <char>tensors[i].dtype
        end[1] = <char>(tensors[i].rank if tensors[i].dtype else 0)
        memcpy(end + 2, tensors[i].sizes, end[1] * sizeof(int64_t))
        end += 2 + end[1] * sizeof(int64_t)
    memcpy(end, <const char*>tensors + attributes, call.given - attributes)
    return end - key + <Py_ssize_t>(call.given - attributes)


cdef dict values_of(Call call, const Frame* frame):
    """The fields of a desc by their names: of a tensor its data type, as a number, and its sizes."""
    cdef const Tensor* tensors = <const Tensor*>frame.fields
    cdef dict values = {}
    cdef int i
    for i in range(call.tensors):
        sizes = tuple([tensors[i].sizes[axis] for axis in range(tensors[i].rank)]) if tensors[i].dtype else ()
        values[call.names[i]] = (tensors[i].dtype, sizes) if tensors[i].dtype else None
    values.update(call.attributes(tensors))
    return values


cdef object compute(Call call, Frame* frame, object out, object use):
    """The results of the reference, on checked fields. None: ``out``, or a value of an input, is not acceptable."""
    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef object recordings = current_recordings()
    cdef dict arrays = {}
    cdef list results
    cdef int i, place = 0
    # First: a recording has copies of the inputs, and out must not overlap the inputs themselves.
    if out is not None and not take_outputs(call, frame, out):
        return None
    for i in range(call.inputs):
        if frame.arrays[i] != NULL:
            arrays[call.names[i]] = input_of(call, frame, i, recordings is not None)
    if call.data_holds == NULL and call.layout.data_rules and not use.data_hold(arrays):
        return None
    results = use.results(arrays, out is None)
    for i in range(call.inputs, call.tensors):
        if tensors[i].dtype:
            if out is None:
                results[place] = own_result(frame, <ndarray>results[place], call.inputs, arrays, use)
            else:
                cnp.PyArray_CopyInto(<ndarray>frame.arrays[i], <ndarray>results[place])
            place += 1
    if recordings is not None:
        use.record(recordings, arrays, results)
    if out is not None:
        return out
    return results[0] if len(results) == 1 else tuple(results)


cdef object input_of(Call call, Frame* frame, int i, bint recorded):
    """The array of an input, with the axes of its tensor."""
    cdef ndarray array = <ndarray>frame.arrays[i]
    cdef Tensor* tensor = &(<Tensor*>frame.fields)[i]
    refuse_change(call, frame, i)
    if recorded:
        return packed(array, tensor)
    if cnp.PyArray_NDIM(array) != tensor.rank:
        return array.reshape([tensor.sizes[axis] for axis in range(tensor.rank)])
    return array


cdef object own_result(Frame* frame, ndarray result, int inputs, dict arrays, object use):
    """The result itself, if nobody else has its memory and it is as new arrays are; else a copy."""
    cdef bint own = cnp.PyArray_IS_C_CONTIGUOUS(result) and cnp.PyArray_ISWRITEABLE(result)
    cdef int i
    for i in range(inputs):
        own = own and frame.arrays[i] != <PyObject*>result
    if own and not cnp.PyArray_CHKFLAGS(result, cnp.NPY_ARRAY_OWNDATA):
        own = not use.shares(result, arrays)
    return result if own else cnp.PyArray_NewCopy(result, cnp.NPY_CORDER)
