# Arrays of tensors in a call. The tensors of each are in a list of their own, beside the struct of the operator.

cdef inline Tensors* array_at(const Tensor* tensors, int i) noexcept nogil:
    return &(<TensorField*>&tensors[i]).several


cdef bint array_holds(const Layout* layout, const Tensor* tensors, int i, int level) noexcept nogil:
    cdef const TensorLayout* row = &layout.tensors[i]
    cdef const Tensors* array = array_at(tensors, i)
    cdef int dtype = array.each[0].dtype
    cdef int64_t k
    if row.same_as >= 0:
        dtype = tied(layout, tensors, row.same_as, i) or dtype
    for k in range(array.count):
        if row.number != MIXED and array.each[k].dtype != dtype:
            return False
    return each_holds(array, row.dtypes[level], row.ranks[level])


cdef list new_arrays(Call call, void* fields):
    cdef int i
    return [
        new_list(array_at(<Tensor*>fields, i)) for i in range(call.tensors) if call.layout.tensors[i].number >= SEVERAL
    ]


cdef int open_arrays(Call call, Frame* frame) except -1:
    """Gives the arrays of a frame lists, which the frame owns."""
    cdef int i
    for i in range(call.tensors):
        if call.layout.tensors[i].number >= SEVERAL:
            own_list(frame, i)
    return 0


cdef int own_list(Frame* frame, int i) except -1:
    cdef TensorList owner = new_list(array_at(<Tensor*>frame.fields, i))
    Py_INCREF(owner)
    frame.copies[i] = <PyObject*>owner
    return 0


cdef list arrays_of(const Tensors* array):
    """The NumPy arrays behind the tensors."""
    return (<TensorList>array.owner).arrays


cdef bint take_array(Tensors* array, object given) except -1:
    """The NumPy arrays behind the entries of a sequence."""
    cdef list entries = given_list(given)
    cdef Py_ssize_t k
    cdef ndarray found
    if entries is None:
        return False
    set_count(array, len(entries))
    for k in range(array.count):
        found = input_array(entries[k])
        if found is None:
            return False
        entries[k] = found
    (<TensorList>array.owner).arrays = entries
    return True


cdef bint view_array(Tensors* array) except -1:
    cdef int64_t k
    for k in range(array.count):
        if not view(arrays_of(array)[k], &array.each[k]):
            return False
    return True


cdef bint match_array(Call call, Frame* frame, int i, object given) except -1:
    """The arrays behind the entries. False: one lacks the data type or sizes that the desc of the operator has."""
    cdef Tensors* array = array_at(<Tensor*>frame.fields, i)
    cdef list entries = given_list(given)
    cdef ndarray found
    cdef Py_ssize_t k
    copy_list(frame, i)
    if entries is None or len(entries) != array.count:
        return False
    for k in range(array.count):
        found = input_array(entries[k])
        if found is None or not fits(found, &array.each[k]):
            return False
        entries[k] = found
    (<TensorList>array.owner).arrays = entries
    return True


cdef int copy_list(Frame* frame, int i) except -1:
    """Gives a call of a compiled operator tensors of its own, with what those of the operator say."""
    cdef Tensors* array = array_at(<Tensor*>frame.fields, i)
    cdef const Tensor* each = array.each
    cdef int64_t count = array.count
    own_list(frame, i)
    set_count(array, count)
    memcpy(array.each, each, count * sizeof(Tensor))
    return 0


cdef bint describe_array(object descs, Tensors* array) except -1:
    cdef int64_t k
    if type(descs) is not tuple:
        return False
    set_count(array, len(descs))
    for k in range(array.count):
        if not describe(descs[k], &array.each[k]):
            return False
    return True


cdef bint has_dtypes(const Tensors* array, object descs) except -1:
    """Whether the outputs of a desc have their data types."""
    cdef int64_t k
    return all([int(descs[k].dtype) == array.each[k].dtype for k in range(array.count)])


cdef bint take_output_array(Call call, Frame* frame, object out) except -1:
    """The arrays behind ``out``, where the output is an array of tensors."""
    cdef int64_t k
    cdef list entries = given_list(out)
    cdef ndarray found
    if frame.copies[call.inputs] == NULL:
        copy_list(frame, call.inputs)
    cdef Tensors* array = array_at(<Tensor*>frame.fields, call.inputs)
    if entries is None or len(entries) != array.count:
        return False
    for k in range(array.count):
        found = out_array(entries[k], &array.each[k])
        if found is None or overlaps_itself(found, &array.each[k]):
            return False
        arrays_of(array).append(found)
    for k in range(array.count):
        if not unchanged(arrays_of(array)[k], &array.each[k]):
            raise RuntimeError(f"{call.layout.python.decode()}(): out was changed during the call")
    return True


cdef bint apart(Call call, Frame* frame, list targets) except -1:
    """Whether no array for an output shares memory with an input, or with another output.

    ``take_outputs`` has compared what is no array of tensors and has no packed elements.
    """
    cdef Tensor* out
    cdef Tensor* other
    cdef int i, j
    cdef Py_ssize_t k, n, count = len(targets)
    if call.halves:
        return apart_from_packed(call, frame, targets) and (count < 2 or not overlaps_any(targets))
    for j in range(call.inputs, call.tensors):
        for k in range(count_of(call, frame, j)):
            out = tensor_of_array(call, frame, j, k)
            for i in range(j + 1 if count <= FEW_OUTPUTS else call.inputs):
                for n in range(k if i == j else count_of(call, frame, i)):
                    other = tensor_of_array(call, frame, i, n)
                    if overlap(entry_of(call, frame, j, k), out, entry_of(call, frame, i, n), other) and not (
                        call.layout.tensors[i].in_place and same_place(out, other)
                    ):
                        return False
    return count <= FEW_OUTPUTS or not overlaps_any(targets)


cdef bint overlaps_any(list targets) except -1:
    from dmlcy._reference.call import any_overlap

    return any_overlap(targets)


cdef bint apart_from_packed(Call call, Frame* frame, list targets) except -1:
    """Whether no array for an output shares memory with an input; elements of 4 bits may be packed."""
    from dmlcy._check.given import same_place as is_same_place

    cdef bint in_place
    cdef int i
    for i in range(call.inputs):
        in_place = call.layout.tensors[i].in_place
        for target in targets:
            for given in each_of(call, frame, i):
                if may_overlap(target, given) and not (in_place and is_same_place(target, given)):
                    return False
    return True


cdef list each_of(Call call, Frame* frame, int i):
    """The NumPy arrays behind a field: none, one or several."""
    if call.layout.tensors[i].number >= SEVERAL:
        return arrays_of(array_at(<Tensor*>frame.fields, i))
    return [] if frame.arrays[i] == NULL else [<object>frame.arrays[i]]


cdef inline Py_ssize_t count_of(Call call, Frame* frame, int i) noexcept:
    """How many entries `each_of` has."""
    if call.layout.tensors[i].number >= SEVERAL:
        return PyList_GET_SIZE(arrays_of(array_at(<Tensor*>frame.fields, i)))
    return frame.arrays[i] != NULL


cdef inline ndarray entry_of(Call call, Frame* frame, int i, Py_ssize_t k):
    """Entry `k` of `each_of`."""
    if call.layout.tensors[i].number >= SEVERAL:
        return <ndarray>arrays_of(array_at(<Tensor*>frame.fields, i))[k]
    return <ndarray>frame.arrays[i]


cdef inline Tensor* tensor_of_array(Call call, Frame* frame, int i, Py_ssize_t k) noexcept:
    """The tensor of entry `k` of `each_of`."""
    cdef Tensor* tensors = <Tensor*>frame.fields
    return &tensors[i] if call.layout.tensors[i].number < SEVERAL else &array_at(tensors, i).each[k]


cdef int make_outputs(Call call, Frame* frame) except -1:
    """New arrays for all outputs."""
    cdef Tensor* tensors = <Tensor*>frame.fields
    cdef Tensors* array
    cdef int i
    cdef int64_t k
    for i in range(call.inputs, call.tensors):
        if call.layout.tensors[i].number < SEVERAL:
            if tensors[i].dtype:
                own(&frame.arrays[i], new_array(&tensors[i]))
            continue
        if frame.copies[i] == NULL:
            copy_list(frame, i)
        array = array_at(tensors, i)
        for k in range(array.count):
            arrays_of(array).append(new_array(&array.each[k]))
    return 0


cdef bint all_plain(Call call, Frame* frame):
    """Whether no array needs a copy, and all of them together are brief."""
    cdef const Tensor* tensor
    cdef int64_t bytes = 0
    cdef int i
    cdef Py_ssize_t k
    for i in range(call.tensors):
        for k in range(count_of(call, frame, i)):
            tensor = tensor_of_array(call, frame, i, k)
            bytes += tensor.bytes
            if bytes > BRIEF_BYTES or not is_plain(entry_of(call, frame, i, k), tensor):
                return False
    return True


cdef object outputs_of(Call call, Frame* frame):
    """The result of a call without ``out``."""
    cdef list results
    cdef int i
    if call.tensors == call.inputs + 1 and call.layout.tensors[call.inputs].number < SEVERAL:
        return <object>frame.arrays[call.inputs]
    results = []
    for i in range(call.inputs, call.tensors):
        results += each_of(call, frame, i)
    return results[0] if len(results) == 1 and call.layout.tensors[call.inputs].number < SEVERAL else tuple(results)


cdef object finish_arrays(Call call, Frame* frame, object out):
    """As `finish`, where fields have arrays of tensors."""
    cdef object recordings = current_recordings()
    cdef list arrays, copies, seen = [], results = []
    cdef ndarray array
    cdef Tensor* tensor
    cdef int64_t bytes = 0
    cdef int i
    cdef Py_ssize_t k
    if out is None:
        make_outputs(call, frame)
    elif targets_of(call, frame, out) is None:
        return None
    if recordings is None and not call.halves and all_plain(call, frame):
        run_loops(call, frame.fields, True)
        return outputs_of(call, frame) if out is None else out
    for i in range(call.tensors):
        arrays = each_of(call, frame, i)
        copies = []
        for k in range(len(arrays)):
            array = <ndarray>arrays[k]
            tensor = tensor_of_array(call, frame, i, k)
            if i < call.inputs:
                refuse_change(call, i, array, tensor)
            bytes += tensor.bytes
            if i < call.inputs and recordings is not None:
                copies.append(packed(of_any_bits(None, array), tensor))
            else:
                copies.append(aligned(array, tensor))
        seen.append(copies)
    run_loops(call, frame.fields, bytes <= BRIEF_BYTES)
    for i in range(call.inputs, call.tensors):
        arrays = each_of(call, frame, i)
        for array, copy in zip(arrays, seen[i]):
            if array is not copy:
                cnp.PyArray_CopyInto(array, <ndarray>copy)
        results += arrays
    if call.halves and out is not None:
        for target in results:
            write_halves(target, of_any_bits(None, target))
    if recordings is not None:
        record_arrays(call, frame, recordings, seen)
    if out is not None:
        return out
    if call.halves:
        results = given_back(results)
    return results[0] if len(results) == 1 and call.layout.tensors[call.inputs].number < SEVERAL else tuple(results)


cdef int record_arrays(Call call, Frame* frame, object recordings, list seen) except -1:
    """Keeps a call whose inputs are copies that nobody else has."""
    from dmlcy._record import keep

    cdef dict said = {}
    cdef list arrays
    cdef int i
    for i in range(call.tensors):
        arrays = <list>seen[i]
        if i >= call.inputs:
            arrays = [
                packed(of_any_bits(None, <ndarray>one), tensor_of_array(call, frame, i, k))
                for k, one in enumerate(arrays)
            ]
        several = call.layout.tensors[i].number >= SEVERAL
        said[call.names[i]] = tuple(arrays) if several else arrays[0] if arrays else None
    said.update(call.attributes(frame.fields))
    keep(recordings, call.layout.name.decode(), said)
    return 0


cdef bytes key_of_arrays(Call call, const Frame* frame):
    """The part of the key of a use for arrays of tensors: their data types and sizes."""
    cdef list parts = []
    cdef const Tensors* array
    cdef const Tensor* tensor
    cdef int i
    cdef int64_t k
    for i in range(call.tensors):
        if call.layout.tensors[i].number < SEVERAL:
            continue
        array = array_at(<const Tensor*>frame.fields, i)
        parts.append((<const char*>&array.count)[: sizeof(array.count)])
        for k in range(array.count):
            tensor = &array.each[k]
            parts.append((<const char*>&tensor.dtype)[: sizeof(tensor.dtype)])
            parts.append((<const char*>&tensor.rank)[: sizeof(tensor.rank)])
            parts.append((<const char*>tensor.sizes)[: tensor.rank * sizeof(tensor.sizes[0])])
    return b"".join(parts)
