"""Run cells: make the inputs, compare every contender's result with ours, then time them all in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dmlcy as dml
from benchmarks import peers
from benchmarks.calls import Absent, Block, Call
from benchmarks.cells import Array, Cell, empty
from benchmarks.families import OPERATORS
from benchmarks.families.base import Inputs
from benchmarks.memcpy import Memcpy
from benchmarks.memory import peak
from benchmarks.timing import BLOCK, SHORT, Times, measure

OURS, OURS_OUT, COMPILED = "dmlcy", "dmlcy out", "dmlcy compiled out"
LIMIT, YARDSTICK = "memcpy", "numpy.add"


class Differs(Exception):
    """A contender's result is not ours."""


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a cell: seconds per call by contender, why other libraries are absent, and the most bytes
    that our call with `out=` had resident above its tensors."""

    cell: Cell
    threads: int
    moved: int  # bytes read and written
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
    read, written = (sum(x.nbytes for x in tensors) for tensors in (inputs, expected))
    if cell.size == "tiny":
        contenders[YARDSTICK] = Call("add(x, x)", {"add": np.add, "x": inputs[0]}).block()
    else:
        contenders[LIMIT] = Memcpy(read, written, threads)
    highest = peak(calls[OURS_OUT].once)
    times = measure(contenders, seconds, SHORT if cell.size == "tiny" else BLOCK)
    return Row(cell, threads, read + written, times, absent, highest)


def prepare(cell: Cell, inputs: Inputs) -> tuple[dict[str, Call], dict[str, str], tuple[Array, ...]]:
    """All contenders, with results that agree; why others are absent; and our outputs."""
    operator = OPERATORS[cell.operator]
    calls, outputs = our_calls(cell, inputs)
    absent = {}
    for name in peers.NAMES:
        peer = operator.peer(name, cell, inputs, room(cell, outputs))
        if isinstance(peer, Absent):
            absent[name] = peer.reason
            continue
        forms = {name: peer.allocating, f"{name} out": peer.out}
        calls |= {form: call for form, call in forms.items() if call is not None}
    ours = outputs[0] if len(outputs) == 1 else outputs
    for name, call in calls.items():
        if not operator.same(*(operator.compared(cell, one) for one in (call.once(), ours))):
            raise Differs(f"{cell.name}: the result of {name} differs from dmlcy's")
    return calls, absent, outputs


def our_calls(cell: Cell, inputs: Inputs) -> tuple[dict[str, Call], tuple[Array, ...]]:
    """Our forms of the cell, and our outputs."""
    result = our_call(cell, inputs, None).once()
    outputs = result if isinstance(result, tuple) else (result,)
    out = room(cell, outputs)
    calls = {OURS: our_call(cell, inputs, None), OURS_OUT: our_call(cell, inputs, out)}
    if cell.size == "tiny":
        calls[COMPILED] = our_compiled_call(cell, inputs, out)
    return calls, outputs


def room(cell: Cell, outputs: Sequence[Array]) -> Any:
    """The argument `out`: an array, or a tuple of several."""
    layouts = ["channels_last" if keeps_channels_last(cell, one) else "contiguous" for one in outputs]
    arrays = [empty(one.shape, one.dtype, layout) for one, layout in zip(outputs, layouts, strict=True)]
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def keeps_channels_last(cell: Cell, result: Array) -> bool:
    """A tensor given for the result has the layout of the input where it has the input's axes."""
    return cell.layout == "channels_last" and result.ndim == len(cell.sizes) and result.ndim >= 4


def our_call(cell: Cell, inputs: Inputs, out: Any) -> Call:
    """The function, called as people write it."""
    names: dict[str, Any] = {"f": getattr(dml, cell.operator), "out": out}
    names |= {f"x{number}": x for number, x in enumerate(inputs)}
    arguments = [f"x{number}" for number in range(len(inputs))]
    arguments += [f"{name}={value!r}" for name, value in cell.attributes.items()]
    return Call(f"f({', '.join(arguments + ['out=out'] * (out is not None))})", names)


def our_compiled_call(cell: Cell, inputs: Inputs, out: Any) -> Call:
    """The operator, checked once."""
    desc = getattr(dml.desc, "".join(word.capitalize() for word in cell.operator.split("_")))
    fields = ("input", "roi")[: len(inputs)]
    tensors = {field: dml.TensorDesc(x.dtype, x.shape) for field, x in zip(fields, inputs, strict=True)}
    given = {name: value for name, value in cell.attributes.items() if name != "output_sizes"}
    if len(given) < len(cell.attributes):  # a desc has them in its output
        tensors["output"] = dml.TensorDesc(out.dtype, out.shape)
    if isinstance(out, tuple):  # the others are asked for by name
        asked = [field.python for field in desc.operator.fields if field.kind == "output" and field.python in given]
        given |= {name: dml.TensorDesc.from_array(one) for name, one in zip(asked, out[1:], strict=True)}
    names: dict[str, Any] = {"op": dml.compile(desc(**tensors, **given)), "out": out}
    names |= {f"x{number}": x for number, x in enumerate(inputs)}
    return Call(f"op({', '.join(f'x{number}' for number in range(len(inputs)))}, out=out)", names)
