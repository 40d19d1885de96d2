"""All contenders of a cell: our calls, and those of the peers that are here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.calls import Call
from benchmarks.cells import Array
from benchmarks.groups import networks, onnx_text
from benchmarks.groups.inputs import inputs_of
from benchmarks.groups.model import ADD, BESIDE, COMPILED, DIRECT, Cell, Group, Work
from benchmarks.groups.ours import OUT, Expression, expression_of
from benchmarks.peers import library


def contenders_of(group: Group, cell: Cell) -> tuple[dict[str, Call], dict[str, str], dict[str, Array]]:
    """The contenders by name, why peers are absent, and the inputs. The first contender is ours."""
    if cell.network:
        return networks.contenders_of(cell)
    inputs = inputs_of(cell)
    calls, out = our_calls(group, cell, inputs)
    absent = {}
    for name in peers.NAMES:
        if reason := peers.missing(name):
            absent[name] = reason
        elif name not in cell.works:
            absent[name] = "does not have it"
        else:
            calls[name] = peer(name, cell, inputs, out)
    if BESIDE in cell.works:
        calls[BESIDE] = beside(cell, inputs)
    if ADD in group.against:
        x = next(iter(inputs.values()))
        x = np.zeros(x.shape, np.float32)
        calls[ADD] = Call("add(x, x, out=y)", {"add": np.add, "x": x, "y": np.zeros_like(x)})
    return calls, absent, inputs


def our_calls(group: Group, cell: Cell, inputs: Mapping[str, Array]) -> tuple[dict[str, Call], Any]:
    """Our calls of a cell that is no network, and the arrays that the first one writes."""
    expression = expression_of(cell)
    out = room(expression.direct(inputs).once())
    calls = {DIRECT: expression.direct(inputs, out)}
    if COMPILED in group.forms:
        calls[COMPILED] = expression.compiled(inputs, room(out), cell.constants)
    return calls, out


def room(result: Any) -> Any:
    """Arrays like those of a result, for another one."""
    return tuple(np.zeros_like(one) for one in result) if isinstance(result, tuple) else np.zeros_like(result)


def peer(name: str, cell: Cell, inputs: Mapping[str, Array], out: Any) -> Call:
    """The call of a library for the work of the cell."""
    return {"numpy": by_numpy, "torch": by_torch, "onnxruntime": by_onnxruntime}[name](cell, inputs, room(out))


def by_numpy(cell: Cell, inputs: Mapping[str, Array], out: Any) -> Call:
    return prepared(cell.works["numpy"], {"np": np, **inputs, OUT: out, "sizes": cell.sizes})


def by_torch(cell: Cell, inputs: Mapping[str, Array], out: Any, *, wide: bool = False) -> Call:
    """torch's call; ``wide``: of FLOAT32 tensors that are converted to double, for a result to measure errors by."""
    torch = library("torch")

    def tensor(x: Array) -> Any:
        # torch has strides of 0 in a tensor that it expands, and warns of arrays that cannot be written.
        made = torch.from_numpy(x) if x.flags.writeable else expanded(x)
        return made.double() if wide and x.dtype == np.float32 else made

    tensors = {name: tensor(x) for name, x in inputs.items()}
    target = tuple(map(tensor, out)) if isinstance(out, tuple) else tensor(out)
    names = {"torch": torch, "F": torch.nn.functional, **tensors, OUT: target, "sizes": cell.sizes}
    return prepared(cell.works["torch"], names)


def expanded(x: Array) -> Any:
    """A tensor with the strides of an array that repeats its elements."""
    return library("torch").from_numpy(once(x).copy()).expand(x.shape)


def by_onnxruntime(cell: Cell, inputs: Mapping[str, Array], out: Any) -> Call:
    """The nodes that the text has, of those inputs that it names."""
    work = cell.works["onnxruntime"]
    names: dict[str, Any] = {"np": np, **inputs, "sizes": cell.sizes}
    exec(work.before, names)
    read = {name: np.asarray(x) for name, x in names.items() if is_read(name, work.call) and isinstance(x, np.ndarray)}
    # An array that repeats its elements is one of their own in ONNX, whose operators broadcast.
    read = {name: np.ascontiguousarray(once(x)) if not x.flags.writeable else x for name, x in read.items()}
    constants = {name for name in read if name in cell.constants or name not in inputs}
    return onnx_text.bound(onnx_text.model_of(work.call, read, constants), read)


def once(x: Array) -> Array:
    """An array without the repetition of its elements."""
    return x[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in x.strides)]


def is_read(name: str, text: str) -> bool:
    """Whether a name is in ONNX's text."""
    letters = "".join(one if one.isalnum() or one == "_" else " " for one in text)
    return name in letters.split()


def beside(cell: Cell, inputs: Mapping[str, Array]) -> Call:
    """A call of dmlcy to compare with: compiled, with its constants, where it has some."""
    work = cell.works[BESIDE]
    names: dict[str, Any] = {"np": np, **inputs, "sizes": cell.sizes}
    exec(work.before, names)
    made = {name: x for name, x in names.items() if isinstance(x, np.ndarray)}
    expression = Expression.of(work.call, made, cell.sizes)
    out = room(expression.direct(made).once())
    constants = [name for name in cell.constants if expression.reads(name)]
    return expression.compiled(made, out, constants) if constants else expression.direct(made, out)


def prepared(work: Work, names: dict[str, Any]) -> Call:
    """The call over what the statements before it leave."""
    exec(work.before, names)
    return Call(work.call, names)
