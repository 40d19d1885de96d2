"""Values that are made piece by piece, as their only reader needs them, such as weights of few bits.

The whole value would take much more memory than the constants of which it is made. Both nodes can be cut along an axis:
a slice of the value gives a slice of what the reader computes, bit for bit. Where the loops of the reader can make the
slices themselves, they do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from dmlcy._desc.formulas import Formulas
from dmlcy._desc.memory import dtype_of, is_plain
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import Bytes, has_four_bits, numpy_dtype, size_in_bytes
from dmlcy._families import family_of
from dmlcy._families.slices import Slices, part, replaced, slices
from dmlcy._field_types.tensor_array import by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.joint import Joint, joint_of
from dmlcy._graph.model import Constant, Node, Port, Structure
from dmlcy._graph.wiring import Wiring
from dmlcy._runtime import four_bits
from dmlcy._types import Array

PIECE: Final = 1048576
"""Bytes of a piece, about: it stays near. Smaller values are made at once."""


@dataclass(frozen=True)
class Pieces:
    """A value that is made piece by piece.

    Attributes
    ----------
    maker, reader
        The numbers of the nodes.
    value
        The value that the maker makes.
    path
        The tensor of the reader that reads it.
    made, read
        The axes of the tensors of both nodes along which they are cut, by path.
    ends
        Where the pieces begin and end, in elements of the value along its axis.
    joint
        How the loops of the reader make the pieces as they need them; None: calls of both operators in turn do.
    """

    maker: int
    reader: int
    value: TensorDesc
    path: str
    made: Mapping[str, int]
    read: Mapping[str, int]
    ends: tuple[int, ...]
    joint: Joint | None = None

    @property
    def workspace(self) -> int:
        """Bytes that a piece takes: the numbers, and at most two for each of the elements of which they are made."""
        if self.joint is not None:
            return self.joint.workspace
        return math.prod(self.sizes(*self.ends[:2])) * (size_in_bytes(dtype_of(self.value), 1) + 2)

    def sizes(self, begin: int, end: int) -> tuple[int, ...]:
        """The sizes of a piece; the first one is the largest."""
        axis = self.read[self.path]
        return tuple(end - begin if k == axis else size for k, size in enumerate(self.value.sizes))


def pieces_of(
    graph: Structure,
    wiring: Wiring,
    known: Callable[[Port | None], bool],
    kept: Collection[Port | None],
    idle: Collection[int],
) -> dict[int, Pieces]:
    """The values of a valid graph that are made piece by piece, by their readers, which read one such value each.

    ``known``: whether a value is there before a run; ``kept``: the outputs of the graph; ``idle``:
    nodes that have nothing to do in a run, because they are folded or their outputs are views.
    """
    found: dict[int, Pieces] = {}
    for number in wiring.order:
        one = None if number in idle else _pieces(graph, wiring, number, known, kept)
        if one is not None and one.reader not in found and one.reader not in idle:
            found[one.reader] = one
    return found


def _pieces(
    graph: Structure,
    wiring: Wiring,
    number: int,
    known: Callable[[Port | None], bool],
    kept: Collection[Port | None],
) -> Pieces | None:
    """The same of one node."""
    node, port = graph.nodes[number], Port(number, 0)
    outputs, targets = wiring.outputs[number], wiring.readers.get(port, ())
    if isinstance(node, Constant) or len(outputs) != 1 or len(targets) != 1 or port in kept:
        return None
    desc, (target,) = outputs[0][1], targets
    reader = None if target.node is None else graph.nodes[target.node]
    if desc is None or not isinstance(reader, Node) or target.node is None:
        return None
    path, given = wiring.inputs[target.node][target.place]
    inputs = [source for (_, one), source in zip(wiring.inputs[number], wiring.read[number], strict=True) if one]
    if (
        given is None
        or (given.sizes, given.dtype) != (desc.sizes, desc.dtype)
        or not (is_plain(desc, wiring.sizes[port]) and is_plain(given, wiring.sizes[port]))
        or not all(known(source) for source in inputs)
        or any(rule.data for one in (node, reader) for rule in one.desc.operator.rules)
    ):
        return None
    joint = joint_of(graph, wiring, number, target.node, path)
    if joint is not None:
        return Pieces(number, target.node, desc, path, {}, {}, (), joint)
    found = []
    for made, read in () if wiring.sizes[port] <= PIECE else _axes(node.desc, reader.desc, path):
        for bytes in (PIECE, 2 * PIECE, 4 * PIECE, 8 * PIECE):
            ends = _ends(desc, made, read, path, bytes)
            one = Pieces(number, target.node, desc, path, made.axes, read.axes, ends)
            if len(ends) > 2 and _are_whole_bytes(one, node.desc) and _keeps_bits(one, node.desc, reader.desc):
                found.append(one)
                break
    return min(found, key=lambda one: one.workspace, default=None)


def _axes(maker: OperatorDesc, reader: OperatorDesc, path: str) -> Iterator[tuple[Slices, Slices]]:
    """The axes along which both nodes can be cut: the same axis of the value."""
    ((output, _),) = by_path(maker.operator.fields, "output", maker._values())
    several = any("[" in name for name, _ in by_path(reader.operator.fields, "input", reader._values()))
    for made in () if several else _slices(maker):
        for read in _slices(reader):
            if path in read.axes and read.axes[path] == made.axes[output] and not (read.sized or made.sized):
                yield made, read


def _slices(desc: OperatorDesc) -> Iterator[Slices]:
    """The axes along which a node can be cut."""
    operator = desc.operator
    for declared in operator.independent:
        yield from slices(operator, Formulas(desc).rules, desc._values(), declared)


def _ends(value: TensorDesc, made: Slices, read: Slices, path: str, bytes: int) -> tuple[int, ...]:
    """Where pieces of about so many bytes begin and end: in multiples of what both nodes take, and of 2."""
    size = value.sizes[read.axes[path]]
    unit = math.lcm(made.takes, read.takes, 2)
    row = value.element_count // size * size_in_bytes(dtype_of(value), 1)
    count = -(-size // (max(bytes // row // unit, 1) * unit))
    step = -(-size // count // unit) * unit
    return (*range(0, size, step), size)


def _are_whole_bytes(pieces: Pieces, maker: OperatorDesc) -> bool:
    """Whether each part of a tensor of 4 bits begins and ends at whole bytes, in each row of them."""
    whole = pieces.ends[-1]
    for path, tensor in by_path(maker.operator.fields, "input", maker._values()):
        axis = pieces.made.get(path)
        if axis is None or not has_four_bits(dtype_of(tensor)):
            continue
        row, inner = tensor.sizes[axis], math.prod(tensor.sizes[axis + 1 :])
        places = [end * row // whole * inner for end in pieces.ends]
        if any(place % 2 for place in places[:-1]) or (places[-1] % 2 and tensor.element_count > places[-1]):
            return False
    return True


def _keeps_bits(pieces: Pieces, maker: OperatorDesc, reader: OperatorDesc) -> bool:
    """Whether each piece gives the bits of the whole."""
    spans = set(zip(pieces.ends, pieces.ends[1:], strict=False))
    return all(
        family_of(desc.operator).keeps_bits(sliced(desc, axes, pieces.value.sizes[pieces.read[pieces.path]], *span))
        for desc, axes in ((maker, pieces.made), (reader, pieces.read))
        for span in spans
    )


def sliced(desc: OperatorDesc, axes: Mapping[str, int], whole: int, begin: int, end: int) -> OperatorDesc:
    """A node for elements ``begin`` to ``end`` of ``whole`` along the axes of its tensors."""
    values = desc._values()
    for kind in ("input", "output"):
        for path, tensor in by_path(desc.operator.fields, kind, values):
            if path not in axes:
                continue
            name, _, place = path.partition("[")
            made = _part(tensor, axes[path], whole, begin, end)
            values[name] = replaced(values[name], (int(place[:-1]),) if place else (), made)
    return type(desc)(**{f.python: values[f.python] for f in desc.operator.fields if f.value is None})


def _part(tensor: TensorDesc, axis: int, whole: int, begin: int, end: int) -> TensorDesc:
    """The desc of a part of a tensor, packed."""
    size = tensor.sizes[axis]
    first, last = part(size, begin, end, whole)
    sizes = tuple(last - first if k == axis else n for k, n in enumerate(tensor.sizes))
    return TensorDesc(tensor.dtype, sizes)


def part_of(buffer: Bytes, offset: int, tensor: TensorDesc, axis: int, span: tuple[int, int]) -> Array:
    """A part of a packed tensor of 4 bits, from the bytes of all: it begins and ends at whole bytes of each row."""
    inner = math.prod(tensor.sizes[axis:])
    row = tensor.sizes[axis]
    begin, end = (place * (inner // row) for place in span)
    sizes = (*tensor.sizes[:axis], span[1] - span[0], *tensor.sizes[axis + 1 :])
    outer = tensor.element_count // inner
    data = buffer[offset : offset + four_bits.size_in_bytes(tensor.element_count)]
    rows = data.reshape(outer, -1)[:, begin // 2 : four_bits.size_in_bytes(end)]
    return four_bits.unpacked(np.ascontiguousarray(rows).reshape(-1), dtype_of(tensor).name, sizes)


class Piecewise:
    """Runs both nodes, a piece at a time.

    Parameters
    ----------
    pieces
        The value, and how it is cut.
    maker, reader
        Both nodes.
    compiled
        Makes an operator of a desc.
    """

    def __init__(
        self,
        pieces: Pieces,
        maker: OperatorDesc,
        reader: OperatorDesc,
        compiled: Callable[[OperatorDesc], Callable[..., object]],
    ) -> None:
        self.pieces = pieces
        self.whole = pieces.ends[-1]
        self._spans = [*zip(pieces.ends, pieces.ends[1:], strict=False)]
        self._made = [*by_path(maker.operator.fields, "input", maker._values())]
        self._read = [f.python for f in reader.operator.fields if f.kind == "input"]
        ((self._output, _),) = by_path(reader.operator.fields, "output", reader._values())
        self._names = [f.python for f in maker.operator.fields if f.kind == "input"]
        known: dict[int, tuple[Callable[..., object], Callable[..., object]]] = {}
        for begin, end in self._spans:
            if end - begin not in known:
                cut = (
                    sliced(maker, pieces.made, self.whole, begin, end),
                    sliced(reader, pieces.read, self.whole, begin, end),
                )
                known[end - begin] = compiled(cut[0]), compiled(cut[1])
        self._operators = known

    def run(
        self,
        known: Mapping[str, Callable[[int | None, tuple[int, int]], Array]],
        given: Mapping[str, Array],
        out: Array,
    ) -> None:
        """Writes what the reader computes.

        ``known``: gives a part of each input of the maker, by its path: its axis, and where it begins and ends;
        ``given``: the other inputs of the reader.
        """
        room = np.empty(math.prod(self.pieces.sizes(*self._spans[0])), numpy_dtype(dtype_of(self.pieces.value)))
        for begin, end in self._spans:
            maker, reader = self._operators[end - begin]
            inputs: dict[str, list[Array]] = {name: [] for name in self._names}
            for path, tensor in self._made:
                axis = self.pieces.made.get(path)
                span = (0, 0) if axis is None else part(tensor.sizes[axis], begin, end, self.whole)
                inputs[path.partition("[")[0]].append(known[path](axis, span))
            arrays = [tuple(one) if self._is_array(name) else one[0] if one else None for name, one in inputs.items()]
            sizes = self.pieces.sizes(begin, end)
            value = room[: math.prod(sizes)].reshape(sizes)
            maker(*arrays, out=value)
            others = {name: self._cut(name, array, begin, end) for name, array in given.items()}
            others[self.pieces.path] = value
            reader(*[others.get(name) for name in self._read], out=self._cut(self._output, out, begin, end))

    def _is_array(self, name: str) -> bool:
        """Whether an input of the maker is an array of tensors."""
        return any(path.startswith(f"{name}[") for path, _ in self._made)

    def _cut(self, path: str, array: Array, begin: int, end: int) -> Array:
        """The part of a tensor of the reader."""
        axis = self.pieces.read.get(path)
        if axis is None:
            return array
        found: Array = array[(slice(None),) * axis + (slice(*part(array.shape[axis], begin, end, self.whole)),)]
        return found
