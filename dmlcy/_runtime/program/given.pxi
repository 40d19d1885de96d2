# Values that exist before a run: constants, and the numbers that the loops of the steps make of them.

@cython.final
cdef class Given:
    """The constants of a program and the arrays that were given once, and what the loops of the steps made of them.

    Parameters
    ----------
    arrays
        Their bytes; None where an array was not given yet. The arrays stay as they are.
    readers
        For each array the number of tensors that read it, if it may be left out as soon as the loops have made the
        numbers that all readers take. 0: the array stays. None: all stay.
    """

    cdef Program program
    cdef readonly list arrays       # None: it was not given, or it is left out
    cdef readonly dict left_out     # by number: a step and its input, the bytes, and where what was made of them is
    cdef bint complete              # whether all were given
    cdef char** pointers            # of all bases, those of arrays filled in
    cdef Made* made                 # of the inputs of all steps
    cdef int64_t* last              # for each step, behind the last of its own
    cdef list owners                # of what was made

    def __init__(self, Program program not None, list arrays not None, list readers=None):
        cdef Py_ssize_t k
        if self.arrays is not None or len(arrays) != program.fixes:
            raise TypeError("the arrays of a program are given once")
        self.program = program
        self.arrays = []
        self.owners = []
        self.left_out = {}
        self.complete = all([array is not None for array in arrays])
        self.pointers = <char**>PyMem_Calloc(program.bases, sizeof(char*))
        self.last = <int64_t*>PyMem_Calloc(max(program.count, 1), sizeof(int64_t))
        if self.pointers == NULL or self.last == NULL:
            raise MemoryError
        for k in range(program.fixes):
            array = None if arrays[k] is None else in_reach(arrays[k], program.fixed[k])
            self.arrays.append(array)
            if array is not None:
                self.pointers[ARRAYS + k] = <char*>cnp.PyArray_DATA(<ndarray>array)
        if self.complete:
            prepare(program, self, [0] * program.fixes if readers is None else [*readers])

    def restored(self, Py_ssize_t number):
        """The bytes of an array that is left out: each element from where it is in what was made."""
        step, i, size, address = self.left_out[number]
        return elements_again(self, step, i, size, address)

    def __dealloc__(self):
        PyMem_Free(self.pointers)
        PyMem_Free(self.made)
        PyMem_Free(self.last)


cdef int prepare(Program program, Given given, list readers) except -1:
    """Lets the loops of each step prepare its constant inputs; steps that are alike have what is made in common.

    Leaves out the arrays of which each reader takes what was made in place of them.
    """
    cdef const Step* step
    cdef Tensor* tensors
    cdef Call call
    cdef char* form
    cdef const void* made = NULL
    cdef Py_ssize_t n, place = 0
    cdef int i
    cdef bint replaces
    cdef dict known = {}
    cdef dict places = {}
    cdef list found = []
    for n in range(program.count):
        step = &program.steps[n]
        given.last[n] = len(found)
        if step.run == NULL:
            continue
        call = (<Form>program.forms[place]).operator.call
        slots = (<Form>program.forms[place]).slots
        place += 1
        if n in program.makers:
            found.append(made_by(program.makers[n], slots, given))
            given.last[n] = len(found)
        if call.prepare == NULL:
            continue
        form = <char*>new_memory(step.bytes)
        try:
            point_to_known(step, form, given.pointers)
            key = form[: step.bytes]    # with the addresses of constants, and of nothing else
            given.pointers[FORM] = form
            point_to_known(step, form, given.pointers)
            tensors = <Tensor*>form
            for i in range(call.inputs):
                if tensors[i].dtype == 0 or tensors[i].data == NULL:
                    continue
                if (key, i) not in known:
                    owner = made_of(call, form, i, &made, &replaces)
                    owner = None if owner is None else in_common(owner, &made, tensors[i].data)
                    known[key, i] = owner, None if owner is None else <intptr_t>made, replaces
                owner, address, replaced = known[key, i]
                if owner is not None:
                    given.owners.append(owner)
                    found.append((<char*>&tensors[i].prepared - form, address))
                if replaced:
                    number = array_of(step, <char*>&tensors[i].data - form)
                    if number < 0:
                        continue
                    readers[number] -= 1
                    if is_all_of(&tensors[i], given, number):
                        places[number] = n, i, address
        finally:
            given.pointers[FORM] = NULL
            PyMem_Free(form)
        given.last[n] = len(found)
    given.made = <Made*>new_memory(len(found) * sizeof(Made))
    for n in range(len(found)):
        given.made[n].at = found[n][0]
        given.made[n].made = <const void*><intptr_t>found[n][1]
    for number, (n, i, address) in places.items():
        if readers[number] == 0:
            given.left_out[number] = n, i, cnp.PyArray_NBYTES(<ndarray>given.arrays[number]), address
            given.arrays[number] = None
            given.pointers[ARRAYS + number] = <char*><intptr_t>address     # not NULL: the tensor is there
    return 0


# By the address of a constant and the bytes of what was made of it. Graphs for several sizes of the inputs have the
# same constants.
_MADE = WeakValueDictionary()


cdef object in_common(object owner, const void** made, const void* data):
    """The object with the same bytes that other programs keep."""
    cdef Py_ssize_t size = len(owner) - ALIGNED
    key = <intptr_t>data, size
    other = _MADE.setdefault(key, owner)
    if other is owner:
        return owner
    cdef const char* start = start_in(other)
    if memcmp(start, made[0], size) != 0:
        return owner
    made[0] = start
    return other


cdef const char* start_in(object memory) except NULL:
    """The first address in the bytes that is a multiple of ALIGNED."""
    cdef char* start = memory
    return <const char*>((<intptr_t>start + ALIGNED - 1) & ~<intptr_t>(ALIGNED - 1))


cdef tuple made_by(tuple maker, list slots, Given given):
    """Where the struct of a step has a prologue, and its address."""
    cdef Tensor tensor
    number, places, make = maker
    owner, address = make([<intptr_t>given.pointers[base] + offset for base, offset in places])
    given.owners.append(owner)
    return slots[number] + (<char*>&tensor.prepared - <char*>&tensor.data), address


# The number of the array to whose first byte a pointer of a step leads; -1: it leads to no array, or into one.
cdef Py_ssize_t array_of(const Step* step, int64_t at) noexcept nogil:
    cdef int64_t k
    for k in range(step.patched):
        if step.patches[k].at == at and step.patches[k].offset == 0:
            return step.patches[k].base - ARRAYS
    return -1


# Whether the elements of a tensor, in any order of its axes, are all of the bytes of an array.
cdef bint is_all_of(const Tensor* tensor, Given given, Py_ssize_t number):
    cdef list axes = sorted([(tensor.strides[d], tensor.sizes[d]) for d in range(tensor.rank) if tensor.sizes[d] > 1])
    cdef int64_t expected = tensor.item
    for stride, size in axes:
        if stride != expected:
            return False
        expected *= size
    return expected == cnp.PyArray_NBYTES(<ndarray>given.arrays[number])


# The made numbers have each element as it is: the numbers that the loops make of the places of elements show the new
# places. The numbers begin with 1, since there are zeros beside the elements, and have several digits, which floats
# hold.
cdef object elements_again(Given given, Py_ssize_t n, int i, Py_ssize_t size, object address):
    cdef const Step* step = &given.program.steps[n]
    cdef Call call = call_of_step(given.program, n)
    cdef Tensor* tensors
    cdef const void* made = NULL
    cdef char* form = <char*>new_memory(step.bytes)
    cdef ndarray digits
    try:
        point_to_known(step, form, given.pointers)
        tensors = <Tensor*>form
        item = tensors[i].item
        dtype, base = ("f4", 1 << 23) if item == 4 else ("f2", 1 << 11)
        rest = np.arange(1, size // item + 1)
        where, power = 0, 1
        while rest.any():
            digits = (rest % base).astype(dtype)
            tensors[i].data = <char*>cnp.PyArray_DATA(digits)
            owner = made_of(call, form, i, &made, NULL)
            where = where + power * elements_at(<intptr_t>made, len(owner) - ALIGNED, dtype).astype("i8")
            rest //= base
            power *= base
    finally:
        PyMem_Free(form)
    found = np.empty(size // item, f"u{item}")
    there = where > 0
    found[where[there] - 1] = elements_at(address, there.size * item, f"u{item}")[there]
    return found.view("u1")


# Elements in some memory, which stays where it is.
cdef object elements_at(object address, Py_ssize_t size, object dtype):
    cdef cnp.npy_intp length = size
    cdef ndarray bytes = cnp.PyArray_SimpleNewFromData(1, &length, cnp.NPY_UINT8, <void*><intptr_t>address)
    return bytes.view(dtype).copy()


# The call of a step with loops.
cdef Call call_of_step(Program program, Py_ssize_t n):
    cdef Py_ssize_t k, place = 0
    for k in range(n):
        place += program.steps[k].run != NULL
    return (<Form>program.forms[place]).operator.call


# The struct of a step, whose pointers lead to the bases that are known: the others are NULL.
cdef void point_to_known(const Step* step, char* form, char** bases) noexcept nogil:
    cdef const Patch* patch
    cdef int64_t k
    memcpy(form, step.form, step.bytes)
    for k in range(step.patched):
        patch = &step.patches[k]
        (<char**>(form + patch.at))[0] = NULL if bases[patch.base] == NULL else bases[patch.base] + patch.offset
