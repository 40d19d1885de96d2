"""MemoryError: raised in the middle of anything, it leaves nothing behind, and what fits works as before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from calls import grown
from depth import in_turn, of_each_family
from example_descs import arrays_of
from few import has_input
from limits import needs_limits, run

from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import FAST, OPERATORS, RUNNABLE

pytestmark = needs_limits

REFERENCE = [name for name in RUNNABLE if name not in FAST]
GROWN = [name for name in REFERENCE if grown(OPERATORS[name], 1000) is not None]
"""Operators without loops of which an example can be made larger."""
FAST_GROWN = [name for name in FAST if grown(FAST[name], 1000) is not None]
"""The same of operators with loops."""

FLAT = """
def bytes_of(result):
    return max(one.nbytes for one in (result if isinstance(result, tuple) else (result,)))

def refused(function):
    try:
        function()
    except MemoryError:
        return True
    except SystemError as lost:
        # CPython loses the MemoryError of a frame of its own. It names a function of Python then, no compiled one.
        assert str(lost).startswith("<function ") and "returned NULL without setting an exception" in str(lost), lost
        return True
    return False

def flat(function, count, first=10):
    '''Whether so many MemoryErrors, after the first ones, leave no memory and no reference behind.

    Memory may end at another place than before, behind which something is kept once. What leaks does so each time:
    after a round that grew, two in a row have to leave nothing.
    '''
    assert all(refused(function) for _ in range(first))
    return any(stays(function, count, first) and (i == 0 or stays(function, count, first)) for i in range(3))

def stays(function, count, first):
    gc.collect()
    counts = [sys.getrefcount(x) for x in call.inputs if x is not None]
    tracemalloc.start()
    for _ in range(first):
        refused(function)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    assert all(refused(function) for _ in range(count))
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert counts == [sys.getrefcount(x) for x in call.inputs if x is not None]
    return grown < 2000
"""

SETUP = (
    FLAT
    + """
dml.set_num_threads(2)  # each has rows of its own
call = calls.grown(calls.RUNNABLE[sys.argv[1]], calls.ELEMENTS)
if sum(x.size for x in call.inputs[1:] if isinstance(x, np.ndarray) and x.dtype.kind in "iu") > 20_000:
    # So many regions, each of which is looked for in so many images, take as many seconds.
    call = calls.grown(calls.RUNNABLE[sys.argv[1]], calls.ELEMENTS // 5)
function, operator = getattr(dml, call.name), call.compiled()
expected = call.result()
"""
)


@pytest.mark.parametrize("name", of_each_family(FAST_GROWN))
def test_no_memory_for_a_result(name: str) -> None:
    """Calls that need no new memory work all the time."""
    program = """
outs = [calls.of_each(expected, np.empty_like) for _ in range(2)]
limit(bytes_of(expected) / 2**20 / 2)
print(flat(lambda: function(*call.inputs, **call.attributes), 100), flat(lambda: operator(*call.inputs), 100))
function(*call.inputs, **call.attributes, out=outs[0])
operator(*call.inputs, out=outs[1])
no_limit()
outs.append(function(*call.inputs, **call.attributes))
print([calls.as_bytes(out) == calls.as_bytes(expected) for out in outs])
"""
    assert run(SETUP + program, name) == "True True\n[True, True, True]\n"


def may_be_misaligned(operator: Operator) -> bool:
    """Whether the first input of the first example is there, and its elements have several bytes."""
    first = arrays_of(operator.examples[0].inputs).get(next(one.python for one in operator.fields))
    return isinstance(first, np.ndarray) and first.itemsize > 1


@pytest.mark.parametrize(
    "name", of_each_family(name for name in FAST if has_input(FAST[name]) and may_be_misaligned(FAST[name]))
)
def test_no_memory_for_an_aligned_copy(name: str) -> None:
    """Of an input and of ``out``: then nothing is written."""
    program = """
def misaligned(x):
    return np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)

x, *others = call.inputs
moved, out, near = misaligned(x), calls.of_each(expected, misaligned), calls.of_each(expected, np.zeros_like)
zeros = calls.as_bytes(near)
moved[...] = x
limit(min(x.nbytes, bytes_of(expected)) / 2**20 / 2)
fine = [
    flat(lambda: function(moved, *others, **call.attributes, out=near), 100),
    flat(lambda: function(x, *others, **call.attributes, out=out), 100),
]
no_limit()
print(fine, calls.as_bytes(near) == calls.as_bytes(out) == zeros)
function(moved, *others, **call.attributes, out=out)
print(calls.as_bytes(out) == calls.as_bytes(expected))
"""
    assert run(SETUP + program, name) == "[True, True] True\nTrue\n"


def test_each_family_has_an_operator_that_grows() -> None:
    """Except families whose outputs all have sizes that the caller chooses."""
    follow = {OPERATORS[name].family for name in REFERENCE if not OPERATORS[name].chosen}
    assert {OPERATORS[name].family for name in GROWN} >= follow


@in_turn
@pytest.mark.parametrize("name", of_each_family(GROWN))
def test_no_memory_for_the_reference(name: str) -> None:
    """Of a result and of what is between it and the inputs: nothing is written, and nothing is left behind."""
    program = """
elements, expected = 50_000, np.empty(0)
while bytes_of(expected) < 200_000:
    *_, call = calls.grown_along(calls.RUNNABLE[sys.argv[1]], elements)  # not the axis of steps or of regions
    expected = call.result()
    elements *= 4
function, operator = getattr(dml, call.name), call.compiled()
outs = calls.of_each(expected, lambda one: np.full_like(one, 77))
before = calls.as_bytes(outs)
ways = [
    lambda: function(*call.inputs, **call.attributes), lambda: operator(*call.inputs),
    lambda: function(*call.inputs, **call.attributes, out=outs), lambda: operator(*call.inputs, out=outs),
]
limit(bytes_of(expected) / 2**20 / 2)
fine = [flat(way, 10, 5) for way in ways]
no_limit()
print(fine, calls.as_bytes(outs) == before)
print([calls.as_bytes(way()) == calls.as_bytes(expected) for way in ways])
"""
    assert run(FLAT + program, name) == f"{[True] * 4} True\n{[True] * 4}\n"


@pytest.mark.parametrize("threads", [1, 4])
def test_no_memory_for_the_rows_of_threads(threads: int) -> None:
    """All memory is used up before the kernel asks for its own."""
    program = """
x = np.ones((4, 64, 40, 1000), np.float32)
attributes = {"window_size": (9, 9), "start_padding": 4, "end_padding": 4}
dml.set_num_threads(int(sys.argv[1]))
expected = dml.average_pooling(x, **attributes)
y, filling, raised = np.zeros_like(expected), [], 0
for_exceptions = [bytearray(2**12), bytearray(2**12)]
limit(0)
for size in (2**20, 2**16, 2**12):
    try:
        while True:
            filling.append(bytearray(size))
    except MemoryError:
        pass
del for_exceptions    # and not the newest of filling: these are larger where no small ones fitted
for _ in range(200):
    try:
        dml.average_pooling(x, **attributes, out=y)
    except MemoryError as error:
        raised += "scratch" in error.args[0]
filling.clear()
no_limit()
print(raised, (dml.average_pooling(x, **attributes, out=y) == expected).all())
"""
    assert run(program, str(threads)) == "200 True\n"


def test_a_run_without_memory(tmp_path: Path) -> None:
    """Of a buffer, which is named, and of something else; both are no violations of the model."""
    program = """
import io
from contextlib import redirect_stderr
from pathlib import Path
from dmlcy._cli import main

def buffer(count):
    return {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": count, "value": 1}}

def tensor(*sizes, owned=False):
    flags = "DML_TENSOR_FLAG_OWNED_BY_DML" if owned else "DML_TENSOR_FLAG_NONE"
    return {"DataType": "FLOAT32", "Sizes": sizes, "Flags": flags}

def run(owned):
    desc = {"InputTensor": tensor(1, 1, 2048, 2048, owned=owned), "OutputTensor": tensor(1, 1, 1024, 1024),
            "Strides": [2, 2], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0],
            "DimensionCount": 2, "IncludePadding": False}
    model = {"resources": {"x": buffer(2**22), "y": buffer(2**20)},
             "dispatchables": {"a": {"type": "AVERAGE_POOLING", "desc": desc}}, "commands": []}
    bound = {"InputTensor": "x"}
    model["dispatchables"]["a"] |= {"bindings": bound} if owned else {}
    rest = {"OutputTensor": "y"} | ({} if owned else bound)
    model["commands"].append({"type": "dispatch", "dispatchable": "a", "bindings": rest})
    path = Path(sys.argv[1], "model.json")
    path.write_text(json.dumps(model))
    with redirect_stderr(io.StringIO()) as said:
        status = main(["run", str(path)])
    return status, said.getvalue()

import json
assert run(False) == (0, "") == run(True)
for megabytes, owned in ((12, False), (30, True)):
    limit(megabytes)
    status, said = run(owned)
    print(status, "DML-MODEL-memory" in said, "there is not enough memory" in said, "Traceback" in said)
    no_limit()
assert run(True) == (0, "")
"""
    said = [line for line in run(program, str(tmp_path)).splitlines() if not line.startswith("Dispatch")]
    assert said == ["2 True False False", "2 False True False"]
