# Calls that the reference computes: which use a call is, and its results.

cdef object use_of(Call call, Frame* frame, int level):
    """The use for the reference: that of the last call, one that was kept, or a new one."""
    cdef bytes key = key_of(call, frame)
    if call.arrays:
        key += key_of_arrays(call, frame)
    if call.key == key:
        return call.use[0]
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


cdef bytes key_of(Call call, const Frame* frame):
    """The key of a use: data types and sizes of the tensors, then the attributes.

    The key is shorter than the struct, which has strides too. No frame of C holds the key: calls inside calls have
    many.
    """
    cdef const Tensor* tensors = <const Tensor*>frame.fields
    cdef size_t attributes = call.tensors * sizeof(Tensor)
    cdef Py_ssize_t length = 2 * call.tensors + <Py_ssize_t>(call.given - attributes)
    cdef bytes key
    cdef char* end
    cdef int i
    for i in range(call.tensors):
        length += rank_of(&tensors[i]) * sizeof(int64_t)
    key = PyBytes_FromStringAndSize(NULL, length)
    end = PyBytes_AS_STRING(key)
    for i in range(call.tensors):
        end[0] = <char>tensors[i].dtype
        end[1] = <char>rank_of(&tensors[i])
        memcpy(end + 2, tensors[i].sizes, rank_of(&tensors[i]) * sizeof(int64_t))
        end += 2 + rank_of(&tensors[i]) * sizeof(int64_t)
    memcpy(end, <const char*>tensors + attributes, call.given - attributes)
    return key


# The axes of a tensor; 0 where it is left out.
cdef inline int rank_of(const Tensor* tensor) noexcept:
    return tensor.rank if tensor.dtype else 0


cdef object taken_from(Call call, void* fields):
    cdef PyObject** place = <PyObject**>(<char*>fields + call.held)
    cdef object held
    if call.held == 0 or place[0] == NULL:
        return None
    held = <object>place[0]
    Py_DECREF(held)
    return held


cdef dict values_of(Call call, const Frame* frame):
    """The fields of a desc by their names: of a tensor its data type, by number, and its sizes; of an array a list."""
    cdef const Tensor* tensors = <const Tensor*>frame.fields
    cdef const Tensors* array
    cdef dict values = {}
    cdef int i
    for i in range(call.tensors):
        if call.layout.tensors[i].number >= SEVERAL:
            array = array_at(tensors, i)
            values[call.names[i]] = [value_of(&array.each[k]) for k in range(array.count)]
        else:
            values[call.names[i]] = value_of(&tensors[i])
    values.update(call.attributes(tensors))
    return values


cdef tuple value_of(const Tensor* tensor):
    """The data type of a tensor, as a number, and its sizes; None: it is left out."""
    return (tensor.dtype, tuple_of(tensor.rank, tensor.sizes)) if tensor.dtype else None


cdef object compute(Call call, Frame* frame, object out, object use):
    """The results of the reference, on checked fields. None: ``out``, or a value of an input, is not acceptable."""
    cdef object recordings = current_recordings()
    cdef dict arrays = {}
    cdef list results, targets = None
    cdef int i, place
    # First: a recording has copies of the inputs, and out must not overlap the inputs themselves.
    if out is not None:
        targets = targets_of(call, frame, out)
        if targets is None:
            return None
    for i in range(call.inputs):
        if frame.arrays[i] != NULL or call.layout.tensors[i].number >= SEVERAL:
            arrays[call.names[i]] = input_of(call, frame, i, recordings is not None)
    if call.data_holds == NULL and call.layout.data_rules and not use.data_hold(arrays):
        return None
    results = use.results(arrays, out is None)
    for place in range(len(results)):
        if out is None:
            results[place] = own_result(call, frame, <ndarray>results[place], arrays, use)
        elif call.halves:
            write_halves(targets[place], results[place])
        else:
            cnp.PyArray_CopyInto(<ndarray>targets[place], <ndarray>results[place])
    if recordings is not None:
        use.record(recordings, arrays, results)
    if out is not None:
        return out
    if call.halves:
        results = given_back(results)
    single = len(results) == 1 and call.layout.tensors[call.inputs].number < SEVERAL
    return results[0] if single else tuple(results)


cdef list targets_of(Call call, Frame* frame, object out):
    """The arrays that the results are written to. None: ``out`` is not acceptable."""
    cdef bint array = call.layout.tensors[call.inputs].number >= SEVERAL
    cdef list targets = []
    cdef int i
    if not (take_output_array(call, frame, out) if array else take_outputs(call, frame, out)):
        return None
    for i in range(call.inputs, call.tensors):
        targets += each_of(call, frame, i)
    return None if (call.arrays or call.halves) and not apart(call, frame, targets) else targets


cdef object input_of(Call call, Frame* frame, int i, bint recorded):
    """The array of an input, with the axes of its tensor; of an array of tensors, a tuple."""
    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef Tensors* array
    if call.layout.tensors[i].number < SEVERAL:
        return seen_array(call, i, <ndarray>frame.arrays[i], &tensors[i], recorded)
    array = array_at(tensors, i)
    return tuple([
        seen_array(call, i, <ndarray>one, &array.each[k], recorded) for k, one in enumerate(arrays_of(array))
    ])


cdef object seen_array(Call call, int i, ndarray array, const Tensor* tensor, bint recorded):
    """The array that the reference gets for input `i`: of no subclass, and a copy where the call is recorded."""
    refuse_change(call, i, array, tensor)
    if not cnp.PyArray_CheckExact(array):
        array = plain(array)
    if cnp.PyArray_NDIM(array) != tensor.rank:
        array = array.reshape(tuple_of(tensor.rank, tensor.sizes))
    if call.halves:
        array = of_any_bits(None, array)
    return numpy.array(array, order="C") if recorded else array


cdef object own_result(Call call, Frame* frame, ndarray result, dict arrays, object use):
    """The result itself, if nobody else has its memory and it is as new arrays are; else a copy."""
    cdef bint own = cnp.PyArray_IS_C_CONTIGUOUS(result) and cnp.PyArray_ISWRITEABLE(result)
    cdef int i
    for i in range(call.inputs):
        own = own and frame.arrays[i] != <PyObject*>result
    if own and (call.arrays or not cnp.PyArray_CHKFLAGS(result, cnp.NPY_ARRAY_OWNDATA)):
        own = not use.shares(result, arrays)
    return result if own else cnp.PyArray_NewCopy(result, cnp.NPY_CORDER)


cdef int write_halves(ndarray target, ndarray result) except -1:
    from dmlcy._runtime.four_bits import write

    write(of_any_bits(None, target), result)
    return 0


cdef list given_back(list results):
    """Results as callers get them, whose elements may have 4 bits."""
    from dmlcy._runtime.four_bits import given_back

    return [given_back(one) for one in results]
