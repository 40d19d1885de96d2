"""Programs: what compiled graphs run. A step is the loops of an operator, or a call back into Python."""

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.ref cimport Py_REFCNT
from libc.stdint cimport int64_t, intptr_t
from libc.string cimport memcpy, memset
cimport numpy as cnp
from numpy cimport ndarray

from dmlcy._runtime.call cimport SEVERAL, Call, DataHolds, Run
from dmlcy._runtime.compiled cimport TableOperator, made_of
from dmlcy._runtime.context cimport current_recordings
from dmlcy._runtime.tensor cimport (
    DTYPES, MAX_RANK, UINT4, Tensor, Tensors, has_dtype, item_of, make_dense, new_array,
)
from dmlcy._runtime.threads cimport Watch, is_stopped, start_watch

cnp.import_array()

cdef extern from *:
    """
    /* -1: an exception is set. */
    static int dmlcy_raised(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    bint raised "dmlcy_raised"() except -1

cdef enum:
    # The memory into which the pointers of a step point: its own struct, the arena, then what arrays have.
    FORM = 0
    ARENA = 1
    ARRAYS = 2
    ALIGNED = 64                    # bytes, of what has a place in an arena
    BRIEF = 16384                   # bytes of all tensors: giving up the GIL would take longer than the steps
    LOOK = 8                        # steps between two looks for a signal
    MOST_ARENAS = 4                 # that are kept for later runs
    # Why the steps end before the last one.
    DONE = 0
    BY_PYTHON = 1
    REFUSED = 2
    FAILED = 3

# A pointer in the struct of a step, which a run fills in: `offset` bytes into a memory.
cdef struct Patch:
    int64_t at                      # bytes from the start of the struct
    int64_t base
    int64_t offset

# Memory that is 0 before a step.
cdef struct Gap:
    int64_t base
    int64_t offset
    int64_t bytes

# What the loops of a step take in place of the elements of an input.
cdef struct Made:
    int64_t at                      # bytes from the start of the struct
    const void* made

cdef struct Step:
    Run run                         # NULL: Python computes the outputs
    DataHolds data_holds            # NULL: any values of the inputs are acceptable
    const char* form                # the struct of the operator, without pointers
    int64_t bytes                   # of it
    const Patch* patches
    int64_t patched
    const Gap* gaps
    int64_t gapped


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


def form_of(TableOperator operator, list tensors):
    """The struct of an operator, for the descs of the tensors that are there; None: Python computes the outputs."""
    cdef Call call = operator.call
    cdef Form form
    cdef Tensors* array
    cdef Tensor* each
    cdef int64_t at, k
    cdef int i
    cdef Py_ssize_t known = 0
    if operator.use is not None or call.run == NULL:
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


# What an array must be that a program takes as it is, or makes.
cdef struct Wanted:
    bint used                       # whether anything reads it; else anything will do
    bint made                       # whether the tensor says what it is
    int64_t aligned                 # bytes: the address is a multiple of so many
    Tensor tensor


cdef int want(Wanted* wanted, object desc, bint used, int64_t aligned) except -1:
    cdef int axis
    wanted.used = used
    wanted.aligned = aligned
    wanted.made = False
    if desc is not None and len(desc.sizes) <= MAX_RANK and 0 < int(desc.dtype) < UINT4:
        wanted.made = True
        wanted.tensor.dtype = int(desc.dtype)
        wanted.tensor.item = item_of(wanted.tensor.dtype)
        wanted.tensor.rank = len(desc.sizes)
        for axis in range(wanted.tensor.rank):
            wanted.tensor.sizes[axis] = desc.sizes[axis]
    return 0


# Whether an object is an array that a program takes as it is.
cdef inline bint is_wanted(const Wanted* wanted, object value) noexcept:
    cdef int axis
    if not wanted.used:
        return True
    if not wanted.made or not cnp.PyArray_CheckExact(value):
        return False
    if (
        cnp.PyArray_NDIM(<ndarray>value) != wanted.tensor.rank
        or not has_dtype(<ndarray>value, wanted.tensor.dtype)
        or not cnp.PyArray_IS_C_CONTIGUOUS(<ndarray>value)
        or <intptr_t>cnp.PyArray_DATA(<ndarray>value) & (wanted.aligned - 1)
    ):
        return False
    for axis in range(wanted.tensor.rank):
        if cnp.PyArray_DIMS(<ndarray>value)[axis] != wanted.tensor.sizes[axis]:
            return False
    return True


@cython.final
cdef class Program:
    """The steps of a graph, in order.

    Each pointer of a step is a base and an offset in bytes. Bases: 1 the arena; then the constants and the arrays that
    are given once, the inputs of a run, and its results.

    Parameters
    ----------
    fixed
        For each array that is there before a run, the multiple of bytes that its address is.
    inputs
        For each input of a run: its desc, None where a run takes bytes only; whether anything reads it; that multiple.
    results
        The descs of the arrays that a run makes.
    arena
        Bytes of the values in between.
    steps
        For each step: its form, or None; the places of its tensors, inputs first; the places and bytes of what is 0
        before it. A place is a base and an offset.
    """

    cdef Step* steps
    cdef Patch* patches
    cdef Gap* gaps
    cdef Wanted* wanted             # inputs, then results
    cdef int64_t* fixed
    cdef readonly Py_ssize_t count  # steps
    cdef Py_ssize_t fixes
    cdef Py_ssize_t inputs
    cdef Py_ssize_t results
    cdef Py_ssize_t bases
    cdef int64_t form_bytes         # of the largest struct
    cdef int64_t arena_bytes
    cdef bint brief
    cdef list forms                 # own the structs
    cdef list arenas                # of runs that have ended

    def __init__(self, list fixed, list inputs, list results, int64_t arena, list steps):
        cdef Py_ssize_t k
        if self.forms is not None:
            raise TypeError("a program is made once")
        self.forms = []
        self.arenas = []
        self.fixes, self.inputs, self.results = len(fixed), len(inputs), len(results)
        self.bases = ARRAYS + self.fixes + self.inputs + self.results
        self.arena_bytes = arena
        self.fixed = <int64_t*>new_memory(self.fixes * sizeof(int64_t))
        for k in range(self.fixes):
            self.fixed[k] = fixed[k]
        self.wanted = <Wanted*>new_memory((self.inputs + self.results) * sizeof(Wanted))
        for k in range(self.inputs):
            desc, used, aligned = inputs[k]
            want(&self.wanted[k], desc, used, aligned)
        for k in range(self.results):
            want(&self.wanted[self.inputs + k], results[k], True, 1)
        fill_steps(self, steps)

    def __dealloc__(self):
        PyMem_Free(self.steps)
        PyMem_Free(self.patches)
        PyMem_Free(self.gaps)
        PyMem_Free(self.wanted)
        PyMem_Free(self.fixed)

    @property
    def loops(self):
        """How many steps the loops of operators compute."""
        cdef Py_ssize_t k
        return sum([self.steps[k].run != NULL for k in range(self.count)])

    @property
    def bytes(self):
        """Bytes that a run takes for all but its results: the arena, and what the run itself needs."""
        return self.arena_bytes + own_bytes(self)

    def quick(self, owner, Given given, tuple inputs):
        """What a run gives for arrays that need no conversion; None where one does, or where a call is recorded."""
        cdef Values values
        cdef Py_ssize_t k
        if given is None or not given.complete or len(inputs) != self.inputs or current_recordings() is not None:
            return None
        for k in range(self.inputs):
            if not is_wanted(&self.wanted[k], inputs[k]):
                return None
        values = begin(self, given, inputs, True)
        run_all(self, owner, values)
        return end(self, owner, values)

    def run(self, owner, Given given, list inputs, seen=None):
        """The results for the bytes of the inputs, in a list; None where nothing reads an input.

        Each step that loops cannot compute is ``owner._call(values, step)``, and so is each one that is recorded or
        whose inputs are refused. ``owner._tell(values, step, seen)`` follows each one, where ``seen`` is given.
        """
        cdef Values values
        cdef Py_ssize_t k
        cdef list bytes = []
        if not given.complete:
            raise ValueError("the arrays of a program were not given")
        for k in range(self.inputs):
            array = inputs[k]
            if array is None and self.wanted[k].used:
                raise ValueError(f"input {k} is missing")
            bytes.append(None if array is None else in_reach(array, self.wanted[k].aligned))
        values = begin(self, given, tuple(bytes), seen is None)
        if seen is None and current_recordings() is None:
            run_all(self, owner, values)
        else:
            run_seen(self, owner, values, seen)
        return end(self, owner, values)


cdef void* new_memory(size_t bytes) except NULL:
    cdef void* memory = PyMem_Malloc(max(bytes, 1))
    if memory == NULL:
        raise MemoryError
    return memory


cdef object in_reach(object array, int64_t aligned):
    """The bytes themselves, or a copy of them where their address is not what the loops need."""
    if <intptr_t>cnp.PyArray_DATA(<ndarray>array) & (aligned - 1):
        return array.copy()
    return array


cdef int fill_steps(Program program, list steps) except -1:
    cdef Py_ssize_t patched = 0, gapped = 0, k, n, at_patch = 0, at_gap = 0
    cdef Step* step
    cdef Form form
    cdef list places, gaps
    cdef int64_t total = 0
    cdef bint native = True
    for form, places, gaps in steps:
        gapped += len(gaps)
        if form is not None:
            patched += len(form.slots) + len(form.joints)
            if len(places) != len(form.slots):
                raise ValueError("a step has a place for each tensor")
    program.steps = <Step*>new_memory(len(steps) * sizeof(Step))
    program.patches = <Patch*>new_memory(patched * sizeof(Patch))
    program.gaps = <Gap*>new_memory(gapped * sizeof(Gap))
    memset(program.steps, 0, len(steps) * sizeof(Step))
    for n in range(len(steps)):
        form, places, gaps = steps[n]
        step = &program.steps[n]
        step.gaps = &program.gaps[at_gap]
        step.gapped = len(gaps)
        for base, offset, size in gaps:
            program.gaps[at_gap] = Gap(base=checked(program, base), offset=offset, bytes=size)
            at_gap += 1
        if form is None:
            native = False
            continue
        program.forms.append(form)
        program.form_bytes = max(program.form_bytes, form.size)
        total += form.total
        step.run = form.operator.call.run
        step.data_holds = form.operator.call.data_holds
        step.form = form.image
        step.bytes = form.size
        step.patches = &program.patches[at_patch]
        step.patched = len(form.slots) + len(form.joints)
        for k in range(len(places)):
            base, offset = places[k]
            program.patches[at_patch] = Patch(at=form.slots[k], base=checked(program, base), offset=offset)
            at_patch += 1
        for joint, offset in form.joints:
            program.patches[at_patch] = Patch(at=joint, base=FORM, offset=offset)
            at_patch += 1
    program.count = len(steps)
    program.brief = native and total <= BRIEF
    return 0


cdef int64_t checked(Program program, int64_t base) except -1:
    if not ARENA <= base < program.bases:
        raise ValueError(f"a program has no base {base}")
    return base


@cython.final
cdef class Given:
    """The constants of a program and the arrays that were given once, and what steps have prepared of them.

    ``arrays``: their bytes; None where an array was not given yet. They stay as they are.
    """

    cdef readonly list arrays
    cdef bint complete              # whether all were given
    cdef char** pointers            # of all bases, those of arrays filled in
    cdef Made* made                 # of the inputs of all steps
    cdef int64_t* last              # for each step, behind the last of its own
    cdef list owners                # of what was made

    def __init__(self, Program program, list arrays):
        cdef Py_ssize_t k
        if self.arrays is not None or len(arrays) != program.fixes:
            raise TypeError("the arrays of a program are given once")
        self.arrays = []
        self.owners = []
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
            prepare(program, self)

    def __dealloc__(self):
        PyMem_Free(self.pointers)
        PyMem_Free(self.made)
        PyMem_Free(self.last)


cdef int prepare(Program program, Given given) except -1:
    """Lets the loops of each step prepare its constant inputs; steps that are alike have what is made in common."""
    cdef const Step* step
    cdef Tensor* tensors
    cdef Call call
    cdef char* form
    cdef const void* made = NULL
    cdef Py_ssize_t n, place = 0
    cdef int i
    cdef dict known = {}
    cdef list found = []
    for n in range(program.count):
        step = &program.steps[n]
        given.last[n] = len(found)
        if step.run == NULL:
            continue
        call = (<Form>program.forms[place]).operator.call
        place += 1
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
                    owner = made_of(call, form, i, &made)
                    known[key, i] = owner, None if owner is None else <intptr_t>made
                owner, address = known[key, i]
                if owner is not None:
                    given.owners.append(owner)
                    found.append((<char*>&tensors[i].prepared - form, address))
        finally:
            given.pointers[FORM] = NULL
            PyMem_Free(form)
        given.last[n] = len(found)
    given.made = <Made*>new_memory(len(found) * sizeof(Made))
    for n in range(len(found)):
        given.made[n].at = found[n][0]
        given.made[n].made = <const void*><intptr_t>found[n][1]
    return 0


# The struct of a step, whose pointers lead to the bases that are known: the others are NULL.
cdef void point_to_known(const Step* step, char* form, char** bases) noexcept nogil:
    cdef const Patch* patch
    cdef int64_t k
    memcpy(form, step.form, step.bytes)
    for k in range(step.patched):
        patch = &step.patches[k]
        (<char**>(form + patch.at))[0] = NULL if bases[patch.base] == NULL else bases[patch.base] + patch.offset


cdef inline ndarray new_bytes(int64_t size):
    cdef cnp.npy_intp length = size
    return cnp.PyArray_SimpleNew(1, &length, cnp.NPY_UINT8)


cdef inline char* start_of(ndarray memory) noexcept:
    """The first address in some memory that is a multiple of ALIGNED."""
    cdef intptr_t address = <intptr_t>cnp.PyArray_DATA(memory)
    return <char*>((address + ALIGNED - 1) & ~<intptr_t>(ALIGNED - 1))


cdef inline int64_t own_bytes(Program program) noexcept nogil:
    """Bytes in front of an arena: the struct of the step that runs, and the bases."""
    return ALIGNED + aligned_size(program.form_bytes) + aligned_size(program.bases * <int64_t>sizeof(char*))


@cython.final
@cython.freelist(8)
cdef class Values:
    """The memory of one run."""

    cdef Program program
    cdef Given given
    cdef tuple inputs
    cdef list results
    cdef ndarray arena              # in front of the values, a struct and the bases
    cdef char* form                 # the struct of the step that runs
    cdef char** bases
    cdef bint kept                  # the arena may serve another run

    def at(self, Py_ssize_t base, int64_t offset):
        """The array of bytes in which a place is, and where it is in them."""
        cdef Py_ssize_t k = base - ARRAYS
        if base == ARENA:
            return self.arena, self.bases[ARENA] - <char*>cnp.PyArray_DATA(self.arena) + offset
        if k < self.program.fixes:
            return self.given.arrays[k], offset
        k -= self.program.fixes
        array = self.inputs[k] if k < self.program.inputs else self.results[k - self.program.inputs]
        return array.reshape(-1).view("u1"), offset


cdef Values begin(Program program, Given given, tuple inputs, bint kept):
    """The memory of a run, whose inputs are there for it."""
    cdef Values values = Values.__new__(Values)
    cdef Wanted* wanted = program.wanted
    cdef char** bases
    cdef ndarray array
    cdef Py_ssize_t k
    values.program, values.given, values.inputs, values.results, values.kept = program, given, inputs, [], kept
    if kept and program.arenas:
        values.arena = program.arenas.pop()
    else:
        values.arena = new_bytes(own_bytes(program) + program.arena_bytes)
    values.form = start_of(values.arena)
    values.bases = bases = <char**>(values.form + aligned_size(program.form_bytes))
    memcpy(bases, given.pointers, program.bases * sizeof(char*))
    bases[FORM] = values.form
    bases[ARENA] = <char*>bases + aligned_size(program.bases * <int64_t>sizeof(char*))
    bases += ARRAYS + program.fixes
    for k in range(program.inputs):
        if wanted[k].used:
            bases[k] = <char*>cnp.PyArray_DATA(<ndarray>inputs[k])
    for k in range(program.inputs, program.inputs + program.results):
        array = new_array(&wanted[k].tensor)
        bases[k] = <char*>cnp.PyArray_DATA(array)
        values.results.append(array)
    return values


cdef object end(Program program, object owner, Values values):
    """The results of a run, whose arena may serve another one."""
    cdef object results = owner._results(values, values.results)
    if values.kept and len(program.arenas) < MOST_ARENAS and Py_REFCNT(values.arena) == 1:
        program.arenas.append(values.arena)
    return results


# Runs steps from `at[0]` on, which is behind the last one that has run. The reason why the steps end before `stop`.
cdef int run_steps(const Step* steps, int64_t* at, int64_t stop, char** bases, const Made* made,
                   const int64_t* last) noexcept nogil:
    cdef const Step* step
    cdef char* form = bases[FORM]
    cdef int64_t broken = 0
    cdef int64_t k
    cdef Watch watch
    start_watch(&watch)
    while at[0] < stop:
        step = &steps[at[0]]
        for k in range(step.gapped):
            memset(bases[step.gaps[k].base] + step.gaps[k].offset, 0, step.gaps[k].bytes)
        if step.run == NULL:
            return BY_PYTHON
        memcpy(form, step.form, step.bytes)
        for k in range(step.patched):
            (<char**>(form + step.patches[k].at))[0] = bases[step.patches[k].base] + step.patches[k].offset
        if step.data_holds != NULL and not step.data_holds(form, &broken):
            return REFUSED
        for k in range(last[at[0] - 1] if at[0] else 0, last[at[0]]):
            (<const void**>(form + made[k].at))[0] = made[k].made
        if step.run(form) != 0:
            return FAILED
        at[0] += 1
        if at[0] % LOOK == 0 and is_stopped(&watch):
            return FAILED
    return DONE


cdef int run_part(Program program, object owner, Values values, int64_t* at, int64_t stop) except -1:
    """Runs steps up to `stop`, without the GIL where that is worth it; Python computes those without loops."""
    cdef int why
    while at[0] < stop:
        if program.brief:
            why = run_steps(program.steps, at, stop, values.bases, values.given.made,
                            values.given.last)
        else:
            with nogil:
                why = run_steps(program.steps, at, stop, values.bases, values.given.made,
                            values.given.last)
        if why == DONE:
            return 0
        raised()
        if why == FAILED and at[0] < stop:
            raise MemoryError(f"{name_of(program, at[0])}: no memory for scratch rows")
        owner._call(values, at[0])
        if why == REFUSED:
            raise RuntimeError(f"internal: {name_of(program, at[0])}() refuses values in a graph, and takes them alone")
        at[0] += 1
    return 0


cdef str name_of(Program program, int64_t step):
    cdef int64_t k, place = 0
    for k in range(step):
        place += program.steps[k].run != NULL
    return (<Form>program.forms[place]).operator.call.layout.python.decode()


cdef inline int run_all(Program program, object owner, Values values) except -1:
    cdef int64_t at = 0
    return run_part(program, owner, values, &at, program.count)


cdef int run_seen(Program program, object owner, Values values, object seen) except -1:
    """Runs step by step: `seen` is told of each one, and each one is a call of its own where calls are recorded."""
    cdef int64_t at = 0
    cdef int64_t step
    cdef const Gap* gap
    for step in range(program.count):
        if current_recordings() is None:
            run_part(program, owner, values, &at, step + 1)
        else:
            for k in range(program.steps[step].gapped):
                gap = &program.steps[step].gaps[k]
                memset(values.bases[gap.base] + gap.offset, 0, gap.bytes)
            owner._call(values, step)
            at = step + 1
        if seen is not None:
            owner._tell(values, step, seen)
    return 0
