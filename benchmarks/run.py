"""Run cells: make the inputs, compare every contender's result with ours, then time them all in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import dmlcy as dml
from benchmarks import peers
from benchmarks.calls import Absent, Block, Call
from benchmarks.cells import Array, Cell, empty
from benchmarks.memcpy import Memcpy
from benchmarks.memory import peak
from benchmarks.operators import OPERATORS
from benchmarks.operators.base import Inputs
from benchmarks.timing import BLOCK, SHORT, Times, measure

OURS, OURS_OUT, COMPILED = "dmlcy", "dmlcy out", "dmlcy compiled out"
LIMIT, YARDSTICK = "memcpy", "numpy.add"


class Differs(Exception):
    """A contender's result is not ours."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of a cell: seconds per call by contender, why other libraries are absent, and the most bytes
    that our call with `out=` had resident above its tensors."""

    cell: Cell
    threads: int
    read: int
    written: int
    times: dict[str, Times]
    absent: dict[str, str]
    peak: int | None


def set_num_threads(threads: int) -> None:
    """Make dmlcy and all peers use so many threads."""
    dml.set_num_threads(threads)
    peers.set_num_threads(threads)


def run_cell(cell: Cell, threads: int, seconds: float) -> Row:
    """Compare, then time for about so many seconds."""
    set_num_threads(threads)
    inputs = OPERATORS[cell.operator].inputs(cell)
    calls, absent, expected = prepare(cell, inputs)
    contenders: dict[str, Block] = {name: call.block() for name, call in calls.items()}
    read = sum(x.nbytes for x in inputs)
    if cell.size == "tiny":
        contenders[YARDSTICK] = Call("add(x, x)", {"add": np.add, "x": inputs[0]}).block()
    else:
        contenders[LIMIT] = Memcpy(read, expected.nbytes, threads)
    highest = peak(calls[OURS_OUT].once)
    times = measure(contenders, seconds, SHORT if cell.size == "tiny" else BLOCK)
    return Row(cell, threads, read, expected.nbytes, times, absent, highest)


def prepare(cell: Cell, inputs: Inputs) -> tuple[dict[str, Call], dict[str, str], Array]:
    """All contenders, with results that agree; why others are absent; and our result."""
    operator = OPERATORS[cell.operator]
    result = our_call(cell, inputs, None).once()
    out = empty(result.shape, result.dtype, "channels_last" if keeps_channels_last(cell, result) else "contiguous")
    calls = {OURS: our_call(cell, inputs, None), OURS_OUT: our_call(cell, inputs, out)}
    if cell.size == "tiny":
        calls[COMPILED] = our_compiled_call(cell, inputs, out)
    absent = {}
    for name in peers.NAMES:
        peer = operator.peer(name, cell, inputs, empty(out.shape, out.dtype, layout_of(out)))
        if isinstance(peer, Absent):
            absent[name] = peer.reason
            continue
        forms = {name: peer.allocating, f"{name} out": peer.out}
        calls |= {form: call for form, call in forms.items() if call is not None}
    for name, call in calls.items():
        if not operator.same(peers.as_array(call.once()), result):
            raise Differs(f"{cell.name}: the result of {name} differs from dmlcy's")
    return calls, absent, result


def keeps_channels_last(cell: Cell, result: Array) -> bool:
    """A tensor given for the result has the layout of the input where it has the input's axes."""
    return cell.layout == "channels_last" and result.ndim == len(cell.sizes) and result.ndim >= 4


def layout_of(x: Array) -> str:
    return "contiguous" if x.flags.c_contiguous else "channels_last"


def our_call(cell: Cell, inputs: Inputs, out: Array | None) -> Call:
    """The function, called as people write it."""
    names: dict[str, Any] = {"f": getattr(dml, cell.operator), "out": out}
    names |= {f"x{number}": x for number, x in enumerate(inputs)}
    arguments = [f"x{number}" for number in range(len(inputs))]
    arguments += [f"{name}={value!r}" for name, value in cell.attributes.items()]
    return Call(f"f({', '.join(arguments + ['out=out'] * (out is not None))})", names)


def our_compiled_call(cell: Cell, inputs: Inputs, out: Array) -> Call:
    """The operator, checked once."""
    desc = getattr(dml.desc, "".join(word.capitalize() for word in cell.operator.split("_")))
    fields = ("input", "roi")[: len(inputs)]
    tensors = {field: dml.TensorDesc(x.dtype, x.shape) for field, x in zip(fields, inputs, strict=True)}
    names: dict[str, Any] = {"op": dml.compile(desc(**tensors, **cell.attributes)), "out": out}
    names |= {f"x{number}": x for number, x in enumerate(inputs)}
    return Call(f"op({', '.join(f'x{number}' for number in range(len(inputs)))}, out=out)", names)
