"""Programs: what compiled graphs run. A step is the loops of an operator, or a call back into Python."""

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, intptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset
cimport numpy as cnp
import numpy as np
from numpy cimport ndarray

from weakref import WeakValueDictionary

from dmlcy._runtime.call cimport SEVERAL, Call, DataHolds, Run
from dmlcy._runtime.compiled cimport TableOperator, made_of
from dmlcy._runtime.context cimport current_recordings
from dmlcy._runtime.epilogue cimport MOST_STRIPS, Epilogue, Strips, ask_strips
from dmlcy._runtime.tensor cimport MAX_RANK, UINT4, Tensor, Tensors, has_dtype, item_of, make_dense, new_array
from dmlcy._runtime.threads cimport (
    Watch, grain_of, hold_threads, is_serial, is_stopped, let_threads_go, parallel_for, start_watch)

cnp.import_array()

cdef extern from *:
    """
    /* -1: an exception is set. */
    static int dmlcy_raised(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    bint raised "dmlcy_raised"() except -1

cdef extern from "clock.h":
    int64_t dmlcy_nanoseconds() noexcept nogil

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* value) noexcept

cdef enum:
    # The memory into which the pointers of a step point: its own struct, the arena, then what arrays have.
    FORM = 0
    ARENA = 1
    ARRAYS = 2
    LARGEST = 8                     # bytes of an element
    ALIGNED = 64                    # bytes, of what has a place in an arena
    # the most bytes of all tensors of a graph that keeps the GIL: giving up the GIL would take longer
    BRIEF = 16384
    LOOK = 8                        # the number of steps of a graph between two looks for a signal such as Ctrl-C
    MOST_ARENAS = 4                 # that are kept for later runs
    KEPT = 268435456                # bytes of them: making larger ones anew takes little time beside that of a run
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

# Several steps that run together, block by block.
cdef struct Chain

# Memory that is 0 before a step.
cdef struct Gap:
    int64_t base
    int64_t offset
    int64_t bytes

# The numbers that the loops of a step take in place of the elements of an input.
cdef struct Made:
    int64_t at                      # bytes from the start of the struct
    const void* made

cdef struct Step:
    bint left_out                   # the outputs are there before a run
    Run run                         # NULL: a chain does, or without one Python
    DataHolds data_holds            # NULL: any values of the inputs are acceptable
    const char* form                # the struct of the operator, without pointers
    int64_t bytes                   # of it
    const Patch* patches
    int64_t patched
    const Gap* gaps
    int64_t gapped
    const Chain* chain              # what follows: the outputs of other steps, which are left out; NULL: nothing does
    int64_t output                  # bytes from the start of the struct to the output that it follows


include "program/forms.pxi"
include "program/arrays.pxi"


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
    whole
        Whether these are all that it gives; else ``owner._results(values, results)`` gives the results.
    arena
        Bytes of the values in between.
    steps
        For each step, a tuple. First is its form: ``None`` without loops, False where nothing is left to compute. Then
        come the places of its tensors, inputs first, and the places and bytes that are 0 before it. Next is the chain
        that follows its output, or that is computed in place of it: the arguments of ``new_chain``, or None. Last is
        the maker of the elements of one of its inputs, or None. A maker has the number of the tensor, the places of
        constants, and the function that gives for their addresses a prologue and its owner. A place is a base and an
        offset, None for such an input.
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
    cdef bint whole
    cdef bint direct                # no step refuses values once one has written to a result
    cdef list forms                 # own the structs
    cdef list kept                  # those of the members of chains
    cdef dict makers                # of inputs, by step
    cdef list chains                # addresses
    cdef list arenas                # of runs that have ended

    def __init__(self, list fixed, list inputs, list results, bint whole, int64_t arena, list steps):
        cdef Py_ssize_t k
        if self.forms is not None:
            raise TypeError("a program is made once")
        self.forms, self.kept, self.chains, self.makers = [], [], [], {}
        self.arenas = []
        self.fixes, self.inputs, self.results = len(fixed), len(inputs), len(results)
        self.bases = ARRAYS + self.fixes + self.inputs + self.results
        self.arena_bytes = arena
        self.whole = whole
        self.fixed = <int64_t*>new_memory(self.fixes * sizeof(int64_t))
        for k in range(self.fixes):
            self.fixed[k] = fixed[k]
        self.wanted = <Wanted*>new_memory((self.inputs + self.results) * sizeof(Wanted))
        for k in range(self.inputs):
            desc, used, aligned = inputs[k]
            want(&self.wanted[k], desc, used, aligned)
        for k in range(self.results):
            want(&self.wanted[self.inputs + k], results[k], True, LARGEST)
        fill_steps(self, steps)

    def __dealloc__(self):
        PyMem_Free(self.steps)
        PyMem_Free(self.patches)
        PyMem_Free(self.gaps)
        PyMem_Free(self.wanted)
        PyMem_Free(self.fixed)
        for chain in self.chains or ():
            free_chain(<Chain*><intptr_t>chain)

    @property
    def loops(self):
        """How many nodes the loops of operators compute, those of chains among them."""
        cdef Py_ssize_t k
        return len(self.kept) + sum([self.steps[k].run != NULL for k in range(self.count)])

    @property
    def bytes(self):
        """Bytes that a run takes for all but its results: the arena, and what the run itself needs."""
        return self.arena_bytes + own_bytes(self)

    def quick(self, owner, Given given not None, tuple inputs not None, out):
        """The results of a call for arrays that need no conversion; else None, and where calls are recorded."""
        cdef Values values
        cdef list results
        cdef tuple outs = None
        cdef ndarray array
        cdef Py_ssize_t k
        if (
            not self.whole
            or not given.complete
            or given.program is not self
            or len(inputs) != self.inputs
            or (out is not None and self.results > 1 and (type(out) is not tuple or len(<tuple>out) != self.results))
            or current_recordings() is not None
        ):
            return None
        for k in range(self.inputs):
            if not is_wanted(&self.wanted[k], inputs[k]):
                return None
        if out is not None:
            outs = <tuple>out if self.results > 1 else (out,)
            if not all_apart(self, inputs, outs):
                return None
        values = begin(self, given, inputs, outs if self.direct else None, True)
        run_all(self, owner, values)
        results = end(self, owner, values)
        if out is None:
            return results[0] if self.results == 1 else tuple(results)
        for k in range(0 if self.direct else self.results):
            array = <ndarray>outs[k]
            memcpy(cnp.PyArray_DATA(array), cnp.PyArray_DATA(<ndarray>results[k]), cnp.PyArray_NBYTES(array))
        return out

    def run(self, owner, Given given not None, list inputs not None, seen=None, ndarray stamps=None):
        """The results for the bytes of the inputs, in a list; None where nothing reads an input.

        Each step that loops cannot compute is ``owner._call(values, step)``, and so is each one that is recorded or
        whose inputs are refused. ``owner._tell(values, step, seen)`` follows each one, where ``seen`` is given.
        ``stamps`` are 64-bit integers: nanoseconds of a clock at the start, and after each step.
        """
        cdef Values values
        cdef Py_ssize_t k
        cdef list bytes = []
        if not given.complete or given.program is not self or len(inputs) != self.inputs:
            raise ValueError("a run has the arrays of its program")
        if self.chains and (seen is not None or current_recordings() is not None):
            raise ValueError("a program with chains does not know the values in between")
        for k in range(self.inputs):
            array = inputs[k]
            if array is None and self.wanted[k].used:
                raise ValueError(f"input {k} is missing")
            bytes.append(None if array is None else in_reach(array, self.wanted[k].aligned))
        must_be_there(tuple(bytes))
        values = begin(self, given, tuple(bytes), None, seen is None)
        if stamps is not None:
            values.stamps = stamps_of(self, stamps)
        if seen is None and current_recordings() is None:
            run_all(self, owner, values)
        else:
            run_seen(self, owner, values, seen)
        return end(self, owner, values)


# Where the stamps of a run go, of which the first is made now.
cdef int64_t* stamps_of(Program program, ndarray stamps) except NULL:
    if (
        cnp.PyArray_TYPE(stamps) != cnp.NPY_INT64
        or not cnp.PyArray_IS_C_CONTIGUOUS(stamps)
        or not cnp.PyArray_ISWRITEABLE(stamps)
        or cnp.PyArray_SIZE(stamps) != program.count + 1
    ):
        raise ValueError("a run has a stamp for its start, and for each of its steps")
    cdef int64_t* found = <int64_t*>cnp.PyArray_DATA(stamps)
    found[0] = dmlcy_nanoseconds()
    return found


cdef void* new_memory(size_t bytes) except NULL:
    cdef void* memory = PyMem_Malloc(bytes if bytes else 1)
    if memory == NULL:
        raise MemoryError
    return memory


cdef object in_reach(object array, int64_t aligned):
    """The bytes themselves, or a copy of them where their address is not what the loops need."""
    if <intptr_t>cnp.PyArray_DATA(<ndarray>array) & (aligned - 1):
        return array.copy()
    return array


include "program/chains.pxi"
include "program/steps.pxi"
include "program/given.pxi"


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
    cdef int64_t* stamps            # of the start and of each step; NULL: nobody asks for them

    def at(self, Py_ssize_t base, int64_t offset):
        """The array of bytes in which a place is, and where it is in them."""
        cdef Py_ssize_t k = base - ARRAYS
        if self.program is None or not ARENA <= base < self.program.bases:
            raise ValueError(f"a run has no base {base}")
        if base == ARENA:
            return self.arena, self.bases[ARENA] - <char*>cnp.PyArray_DATA(self.arena) + offset
        if k < self.program.fixes:
            return self.given.arrays[k], offset
        k -= self.program.fixes
        array = self.inputs[k] if k < self.program.inputs else self.results[k - self.program.inputs]
        return array.reshape(-1).view("u1"), offset


cdef Values begin(Program program, Given given, tuple inputs, tuple outs, bint kept):
    """The memory of a run, whose inputs are there for it; ``outs``: its results, None for new arrays."""
    cdef Values values = Values.__new__(Values)
    cdef Wanted* wanted = program.wanted
    cdef char** bases
    cdef ndarray array
    cdef Py_ssize_t k
    values.program, values.given, values.inputs, values.results, values.kept = program, given, inputs, [], kept
    values.stamps = NULL
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
        array = new_array(&wanted[k].tensor) if outs is None else <ndarray>outs[k - program.inputs]
        bases[k] = <char*>cnp.PyArray_DATA(array)
        values.results.append(array)
    return values


cdef object end(Program program, object owner, Values values):
    """The results of a run, whose arena may serve another one."""
    cdef object results = values.results if program.whole else owner._results(values, values.results)
    cdef Py_ssize_t count = len(program.arenas) + 1
    if (
        values.kept
        and count <= MOST_ARENAS
        and count * program.arena_bytes <= KEPT
        and Py_REFCNT(<PyObject*>values.arena) == 1
    ):
        program.arenas.append(values.arena)
    return results


# Runs steps from `at[0]` on, which is behind the last one that has run. The reason why the steps end before `stop`.
cdef int run_steps(
    const Step* steps, int64_t* at, int64_t stop, char** bases, const Made* made, const int64_t* last, int64_t* stamps
) noexcept nogil:
    cdef const Step* step
    cdef char* form = bases[FORM]
    cdef int64_t broken = 0, run = 0
    cdef int64_t k
    cdef int status
    cdef Watch watch
    start_watch(&watch)
    while at[0] < stop:
        step = &steps[at[0]]
        if step.left_out:
            at[0] += 1
            if stamps != NULL:
                stamps[at[0]] = stamps[at[0] - 1]
            continue
        for k in range(step.gapped):
            memset(bases[step.gaps[k].base] + step.gaps[k].offset, 0, step.gaps[k].bytes)
        if step.run == NULL and step.chain == NULL:
            return BY_PYTHON
        memcpy(form, step.form, step.bytes)
        for k in range(step.patched):
            (<char**>(form + step.patches[k].at))[0] = bases[step.patches[k].base] + step.patches[k].offset
        if step.data_holds != NULL and not step.data_holds(form, &broken):
            return REFUSED
        for k in range(last[at[0] - 1] if at[0] else 0, last[at[0]]):
            (<const void**>(form + made[k].at))[0] = made[k].made
        status = step.run(form) if step.chain == NULL else run_followed(step, form, bases)
        if status != 0:
            return FAILED
        at[0] += 1
        if stamps != NULL:
            stamps[at[0]] = dmlcy_nanoseconds()
        run += 1
        if run % LOOK == 0 and is_stopped(&watch):
            return FAILED
    return DONE


cdef int run_part(Program program, object owner, Values values, int64_t* at, int64_t stop) except -1:
    """Runs steps up to `stop`, without the GIL where that is worth it; Python computes those without loops."""
    cdef int why
    cdef int64_t* stamps = values.stamps
    while at[0] < stop:
        if program.brief:
            why = run_steps(program.steps, at, stop, values.bases, values.given.made, values.given.last, stamps)
        else:
            with nogil:
                hold_threads()
                why = run_steps(program.steps, at, stop, values.bases, values.given.made, values.given.last, stamps)
                let_threads_go()
        if why == DONE:
            return 0
        raised()
        if why == FAILED and at[0] < stop:
            raise MemoryError(f"{name_of(program, at[0])}: no memory for scratch rows")
        owner._call(values, at[0])
        if why == REFUSED:
            raise RuntimeError(f"internal: {name_of(program, at[0])}() refuses values in a graph, and takes them alone")
        at[0] += 1
        if stamps != NULL:
            stamps[at[0]] = dmlcy_nanoseconds()
    return 0


cdef str name_of(Program program, int64_t step):
    cdef int64_t k, place = 0
    for k in range(step):
        place += program.steps[k].run != NULL
    if program.steps[step].run == NULL:
        return "a chain of nodes"
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
            if values.stamps != NULL:
                values.stamps[at] = dmlcy_nanoseconds()
        if seen is not None:
            owner._tell(values, step, seen)
            must_be_there(values.inputs)
    return 0
