# From descs to the struct of an operator.

cdef bint describe(object desc, Tensor* tensor) except -1:
    """Data type and sizes of a TensorDesc; no data."""
    sizes = desc.sizes
    cdef Py_ssize_t rank = len(sizes)
    cdef int d
    tensor.dtype = int(desc.dtype)
    if rank > MAX_RANK or not 0 < tensor.dtype < DTYPES:
        return False
    tensor.item = item_of(tensor.dtype)
    tensor.rank = <int>rank
    for d in range(tensor.rank):
        tensor.sizes[d] = sizes[d]
    make_dense(tensor, NULL)
    return True


cdef object keyword_of(object desc, const KeywordLayout* row):
    """The value of a desc for a keyword of a call."""
    if row.tensor == NULL:
        return getattr(desc, intern(row.name.decode()))
    tensor = getattr(desc, intern(row.tensor.decode()))
    if tensor is None:
        return None
    if type(tensor) is tuple:
        return tuple([one.sizes for one in tensor])
    if row.before < 0:
        return tensor.dtype
    return tensor.sizes[row.before:-row.after if row.after else None]


cdef bint of_desc(Call call, void* fields, object desc, int level) except -1:
    cdef Tensor* tensors = <Tensor*>fields
    cdef PyObject* given[MAX_KEYWORDS + 1]
    cdef Tensor computed
    cdef list values
    cdef int i
    if not 0 <= level < call.layout.levels:
        return False
    for i in range(call.inputs):
        if not describe_input(call, desc, i, tensors):
            return False
    if not inputs_hold(call.layout, tensors, level):
        return False
    values = [keyword_of(desc, &call.layout.rows[i]) for i in range(call.keywords)]
    for i in range(call.keywords):
        given[i] = <PyObject*>values[i]
    given[call.keywords] = <PyObject*>None
    if not call.take(fields, level, given) or not call.holds(fields, level):
        return False
    for i in range(call.inputs, call.tensors):
        computed = tensors[i]
        if computed.dtype and not (
            describe(tensor_of(call, desc, i), &tensors[i])
            and tensor_holds(&tensors[i], call.layout.tensors[i].dtypes[level], call.layout.tensors[i].ranks[level])
            and as_computed(&tensors[i], &computed)
            and (call.layout.tensors[i].desc_ones or tensors[i].rank == computed.rank)
        ):
            return False
        if call.layout.tensors[i].number >= SEVERAL and not has_dtypes(array_at(tensors, i), tensor_of(call, desc, i)):
            return False
    return True


cdef bint describe_input(Call call, object desc, int i, Tensor* tensors) except -1:
    tensor_desc = tensor_of(call, desc, i)
    if call.layout.tensors[i].number >= SEVERAL:
        return describe_array(tensor_desc, array_at(tensors, i))
    if tensor_desc is None and call.layout.tensors[i].number == AT_MOST_ONE:
        tensors[i].dtype = tensors[i].rank = 0
        return True
    return describe(tensor_desc, &tensors[i])


cdef object tensor_of(Call call, object desc, int i):
    return getattr(desc, call.names[i])


cdef Call call_of_operator(str name):
    from importlib import import_module

    from dmlcy._generated.index import OPERATORS

    python, _, family, *_ = OPERATORS[name]
    return getattr(import_module(f"dmlcy._generated.calls.{family}"), python)


cdef int take_loops(object desc, Activation* loops) except -1:
    known = activations.get(id(desc))
    if known is None:
        if len(activations) >= MAX_ACTIVATIONS:
            activations.clear()
        known = activations[id(desc)] = desc, bytes_of_loops(desc)
    memcpy(loops, PyBytes_AS_STRING(known[1]), sizeof(Activation))
    return 1


cdef bytes bytes_of_loops(object desc):
    """The bytes that `take_loops` gives."""
    from dmlcy._families.activations import along

    cdef Activation loops
    cdef Strips strips
    cdef Whole whole
    cdef Call call = call_of_operator(desc.operator.name)
    cdef WholeFields fields
    cdef PyObject* given[MAX_KEYWORDS + 1]
    cdef list values = [keyword_of(desc, &call.layout.rows[i]) for i in range(call.keywords)]
    cdef bint several = bool(along(desc, (1, 1, 1, 1)))
    cdef size_t room = sizeof(fields) if several else sizeof(ActivationFields)
    cdef int i
    memset(&loops, 0, sizeof(loops))
    if call.run != NULL and call.tensors == 2 and call.size <= room:
        memset(&fields, 0, sizeof(fields))
        for i in range(2):
            fields.tensors[i].dtype = FLOAT32
            fields.tensors[i].rank = MAX_RANK
        for i in range(call.keywords):
            given[i] = <PyObject*>values[i]
        given[call.keywords] = <PyObject*>None
        if not call.take(&fields, call.layout.levels - 1, given):
            raise AssertionError(f"{desc!r} was checked")
        loops.run = call.run
        if several:
            memset(&whole, 0, sizeof(whole))
            whole.holds, whole.level, whole.bytes = call.holds, call.layout.levels - 1, call.size
            memcpy(whole.fields, &fields, call.size)
            image = PyBytes_FromStringAndSize(<char*>&whole, sizeof(whole))
            loops.whole = <const Whole*>PyBytes_AS_STRING(wholes.setdefault(image, image))
        else:
            memcpy(loops.attributes, (<ActivationFields*>&fields).attributes, ATTRIBUTE_BYTES)
            memset(&strips, 0, sizeof(strips))
            fields.tensors[0].item = fields.tensors[1].item = sizeof(float)
            if ask_strips(call.run, fields.tensors, 2, &strips):
                loops.strip = strips.each[0]
    return PyBytes_FromStringAndSize(<char*>&loops, sizeof(loops))
