# From lists of Python to the steps of a program.

cdef int fill_steps(Program program, list steps) except -1:
    cdef Py_ssize_t patched = 0, gapped = 0, k, n, at_patch = 0, at_gap = 0
    cdef Step* step
    cdef Form form
    cdef list places, gaps
    cdef int64_t total = 0
    cdef bint native = True
    for made, places, gaps, _, _ in steps:
        gapped += len(gaps)
        if made is not None and made is not False:
            form = made
            if form.slots is None:
                raise TypeError("form_of makes forms")
            patched += len(form.slots) + len(form.joints)
            if len(places) != len(form.slots):
                raise ValueError("a step has a place for each tensor")
    program.steps = <Step*>new_memory(len(steps) * sizeof(Step))
    program.patches = <Patch*>new_memory(patched * sizeof(Patch))
    program.gaps = <Gap*>new_memory(gapped * sizeof(Gap))
    memset(program.steps, 0, len(steps) * sizeof(Step))
    for n in range(len(steps)):
        made, places, gaps, chained, maker = steps[n]
        step = &program.steps[n]
        step.gaps = &program.gaps[at_gap]
        step.gapped = len(gaps)
        for base, offset, size in gaps:
            program.gaps[at_gap] = Gap(base=checked(program, base), offset=offset, bytes=size)
            at_gap += 1
        step.left_out = made is False
        if chained is not None:
            members, sizes, stores, slots, bytes, item, least = chained
            step.chain = new_chain(program, members, sizes, stores, slots, bytes, item, least)
            total += step.chain.total * step.chain.moved
        if made is None and chained is not None:
            continue
        if made is None or made is False:
            native = native and step.left_out
            continue
        form = made
        program.forms.append(form)
        program.form_bytes = max(program.form_bytes, form.size)
        total += form.total
        step.run = form.operator.call.run
        step.data_holds = form.operator.call.data_holds
        step.form = form.image
        step.bytes = form.size
        step.patches = &program.patches[at_patch]
        if maker is not None:
            program.makers[n] = maker
        for k in range(len(places)):
            if places[k] is None:
                continue
            base, offset = places[k]
            program.patches[at_patch] = Patch(at=form.slots[k], base=checked(program, base), offset=offset)
            at_patch += 1
        step.output = form.slots[len(places) - 1] if places else 0
        for joint, offset in form.joints:
            program.patches[at_patch] = Patch(at=joint, base=FORM, offset=offset)
            at_patch += 1
        step.patched = &program.patches[at_patch] - step.patches
    program.count = len(steps)
    program.brief = native and total <= BRIEF
    program.direct = is_direct(program)
    return 0


# Whether a refusal of values, or an error of Python, leaves the results as they were before the run.
cdef bint is_direct(Program program) noexcept:
    cdef const Step* step
    cdef bint written = False
    cdef Py_ssize_t n
    cdef int64_t k
    for n in range(program.count):
        step = &program.steps[n]
        if step.left_out:
            continue
        if (step.run == NULL and step.chain == NULL) or (written and step.data_holds != NULL):
            return False
        for k in range(step.patched):
            written = written or step.patches[k].base >= program.bases - program.results
        for k in range(step.chain.spots if step.chain != NULL else 0):
            written = written or step.chain.tensors[k].base >= program.bases - program.results
    return True


cdef int64_t checked(Program program, int64_t base) except -1:
    if not ARENA <= base < program.bases:
        raise ValueError(f"a program has no base {base}")
    return base
