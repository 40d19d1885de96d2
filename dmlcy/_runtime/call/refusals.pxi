# Calls that a check refused: the explanation finds what is wrong, and raises.

cdef object refuse_arguments(Call call, PyObject* const* given, int level, int64_t broken):
    from dmlcy._reference.call import refuse_arguments

    cdef dict arguments = inputs_of(call, given)
    cdef int i
    for i in range(call.keywords):
        arguments[call.layout.rows[i].name.decode()] = <object>given[call.inputs + i]
    arguments["out"] = <object>given[call.inputs + call.keywords]
    return refuse_arguments(call.layout.name.decode(), arguments, level, broken)


cdef object refuse_inputs(Call call, PyObject* const* given, object out, object desc, int64_t broken):
    from dmlcy._desc.check import refuse_call

    cdef dict arguments = inputs_of(call, given)
    arguments["out"] = out
    return refuse_call(desc, arguments, broken)


cdef dict inputs_of(Call call, PyObject* const* given):
    return {call.names[i]: <object>given[i] for i in range(call.inputs)}
