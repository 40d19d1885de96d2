"""A node of ONNX with its values: the argument of a conversion to DirectML.

A conversion is a function of a :class:`Use`. The function reads inputs as values of the DirectML graph, under the sizes
and strides that an operator of DirectML wants. Then it calls methods of the graph, and returns a value for each output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import numpy as np

from dmlcy._facts.tables import LEVELS
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx.model import ELEMENTS, Node
from dmlcy._frontends.onnx.tables import OperatorRow, Version
from dmlcy._frontends.onnx.values import OnnxValue, packed, right_aligned, spanned
from dmlcy._generated.index import OPERATORS
from dmlcy._graph.build import Graph
from dmlcy._graph.values import Value
from dmlcy._types import Array

Given = TypeVar("Given")
Method: TypeAlias = Callable[..., Any]
"""Makes a node of the values and the fields that its operator has: its output, or a tuple of its outputs."""
RANK: Final = 4
"""The rank up to which ONNX Runtime adds axes of size 1."""
LONGEST: Final = 2**16
"""How many sizes, axes, paddings or the like an input may have."""
HUGE: Final = 2**48
"""More elements than NumPy has arrays of, whatever their data type is."""

MOST: Final = LEVELS[-1].max_rank
"""The most axes that a tensor of DirectML has."""


class Unconverted(Exception):
    """Why a node has no descs: an id of specs/onnx/errors.toml, and the values of its message.

    ``known`` is a phrase, or a list of the values that are allowed. ``place``: the input whose elements are not known.
    """

    place = -1

    def __init__(self, identifier: str, **values: object) -> None:
        known = values.get("known")
        if isinstance(known, list):
            *others, last = map(str, known)
            values["known"] = f"{', '.join(others)} or {last}" if others else last
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        super().__init__(identifier, values)
        self.identifier = identifier
        self.values = values


class Use:
    """A node that is being converted.

    Attributes
    ----------
    node
        The node in the file.
    row, version
        The operator, and the version of it that the node has.
    g
        The DirectML graph that is being built: a method for each operator.
    inputs
        The values of the inputs, None for one that is left out.
    elements
        The data type of each output, as ONNX calls it.
    """

    def __init__(
        self,
        node: Node,
        row: OperatorRow,
        version: Version,
        g: Graph,
        inputs: Sequence[OnnxValue | None],
        elements: Sequence[str],
    ) -> None:
        self.node = node
        self.row = row
        self.version = version
        self.g = g
        self.inputs = tuple(inputs)
        self.elements = tuple(elements)
        self.constants: list[OnnxValue] = []  # values that became inputs of the graph here

    # Inputs ----------------------------------------------------------------------------------------------------------

    def has(self, place: int) -> bool:
        """Whether an input is given."""
        return place < len(self.inputs) and self.inputs[place] is not None

    def __getitem__(self, place: int) -> OnnxValue:
        """An input that must be there: one that the version of the operator does not mark as optional."""
        found = self.inputs[place] if place < len(self.inputs) else None
        if found is None:
            self.refuse("DML-ONNX-node-input", input=self._input(place))
        return found

    def require_rank(self, least: int, most: int | None = None, place: int = 0) -> OnnxValue:
        """An input, which must not have fewer axes, or more; without ``most`` any number from the least one on."""
        one = self[place]
        if one.rank < least or (most is not None and one.rank > most):
            wanted = f"{least} or more" if most is None else least if least == most else f"{least} to {most}"
            self.refuse("DML-ONNX-rank", name=one.name, rank=one.rank, wanted=wanted)
        return one

    def constant(self, place: int) -> Array:
        """The elements of an input that must be known before the graph runs."""
        found = self[place]
        if found.read is None:
            unknown = Unconverted("DML-ONNX-input-unknown", input=self._input(place))
            unknown.place = place
            raise unknown
        return found.read()

    def numbers(self, place: int, kinds: str = "iuf") -> Array:
        """The elements of an input that must be known, in a row; ``kinds``: of which data types, as NumPy's kinds."""
        found = self.constant(place)
        if found.dtype.kind not in kinds:
            kind = "integers" if kinds == "iu" else "numbers"
            self.refuse("DML-ONNX-input-type", element=self[place].element, name=self[place].name, wanted=kind)
        return found.reshape(-1)

    def whole(self, place: int) -> tuple[int, ...]:
        """The elements of an input of integers that must be known before the graph runs."""
        found = self.numbers(place, "iu")
        if found.size > LONGEST:
            self.refuse("DML-ONNX-count", name=self._input(place), count=found.size, wanted=f"{LONGEST} at most")
        return tuple(map(int, found))

    def single(self, place: int, kinds: str = "iuf") -> Any:
        """The element of an input that must be known and has one element, as a plain number."""
        found = self.numbers(place, kinds)
        if found.size != 1:
            self.refuse("DML-ONNX-reshape", sizes=[*self[place].sizes], wanted=[1])
        return found[0].item()

    def integers(self, name: str, place: int = -1) -> tuple[int, ...] | None:
        """Whole numbers that are an attribute, or in newer versions an input; None where neither is given."""
        if place >= 0 and name not in self.version.attributes:
            return self.whole(place) if self.has(place) else None
        value = self.attribute(name)
        return None if value is None else tuple(map(int, value))

    # Attributes ------------------------------------------------------------------------------------------------------

    def attribute(self, name: str) -> Any:
        """The value of an attribute that the version has, or its default; None where there is none."""
        row = self.version.attributes.get(name)
        given = self.node.attributes.get(name)
        return None if row is None else row.default if given is None else given.value

    def integer(self, name: str) -> int:
        """An attribute of kind INT that must be given, or have a default."""
        return int(self._there(name, self.attribute(name)))

    def number(self, name: str) -> float:
        """An attribute of kind FLOAT that must be given, or have a default."""
        return float(self._there(name, self.attribute(name)))

    def text(self, name: str) -> str:
        """An attribute of kind STRING that must be given, or have a default."""
        return str(self._there(name, self.attribute(name)))

    def _there(self, name: str, value: Given | None) -> Given:
        if value is None:
            self.refuse("DML-ONNX-node-attribute", name=name)
        return value

    def axis(self, name: str = "axis", rank: int | None = None) -> int:
        """An axis counted from the first one, of the first input or of a tensor of that rank."""
        return self.axes([self.integer(name)], name, rank)[0]

    def axes(self, given: Sequence[int], name: str = "axes", rank: int | None = None) -> tuple[int, ...]:
        """Axes counted from the first one."""
        known = self[0].rank if rank is None else rank
        for one in given:
            if not -known <= one < max(known, 1):
                self.refuse("DML-ONNX-axis", name=name, axis=one, rank=known)
        return tuple(one % max(known, 1) for one in given)

    # Values of the DirectML graph ------------------------------------------------------------------------------------

    def view(
        self, place: int | OnnxValue, sizes: Sequence[int], strides: Sequence[int] | None = None, dtype: str = ""
    ) -> Value:
        """An input under these sizes and strides, and under another data type of as many bits."""
        one = self[place] if isinstance(place, int) else place
        own = self.dtype_of(one)
        if 0 in one.sizes:
            self.refuse("DML-ONNX-empty", name=one.name)
        if one.value is None:
            flat = (prod(one.sizes),)  # DirectML has no tensors of 0 or 9 axes; each reader has sizes of its own
            one.value = self.g.input(TensorDesc(own, one.sizes if 1 <= one.rank <= MOST else flat), name=one.name)
            self.constants.append(one)
        return self.g.reinterpret(one.value, TensorDesc(dtype or own, tuple(sizes), strides))

    def right(self, place: int | OnnxValue, rank: int = RANK, dtype: str = "") -> Value:
        """An input with axes of size 1 in front, so that it has at least this rank."""
        one = self[place] if isinstance(place, int) else place
        return self.view(one, right_aligned(one.sizes, rank), dtype=dtype)

    def promoted(self, axes: Sequence[int], rank: int = RANK) -> list[int]:
        """Where axes of the first input are once it has axes of size 1 in front."""
        full = max(rank, self[0].rank)
        return [min(one + full - self[0].rank, full - 1) for one in axes]

    def left(self, place: int | OnnxValue, rank: int = RANK) -> Value:
        """An input with axes of size 1 at the end, so that it has at least this rank."""
        one = self[place] if isinstance(place, int) else place
        return self.view(one, one.sizes + (1,) * (rank - one.rank))

    def spread(
        self, place: int | OnnxValue, sizes: Sequence[int], rank: int = RANK, own: Sequence[int] | None = None
    ) -> Value:
        """An input broadcast to sizes of ONNX, by strides of 0, with axes of size 1 in front up to this rank.

        ``own``: the sizes of the input, with axes of size 1 where its own sizes do not have them.
        """
        one = self[place] if isinstance(place, int) else place
        wanted = right_aligned(tuple(sizes), rank)
        mine = right_aligned(one.sizes if own is None else tuple(own), len(wanted))
        if mine == wanted:
            return self.view(one, wanted)
        if len(mine) > len(wanted) or any(size not in (1, whole) for size, whole in zip(mine, wanted, strict=True)):
            self.refuse("DML-ONNX-broadcast", sizes=[*one.sizes], wanted=[*sizes])
        return self.view(
            one, wanted, [0 if size == 1 else step for size, step in zip(mine, packed(mine), strict=True)]
        )  # fmt: skip

    def along(self, place: int, axis: int, sizes: Sequence[int], rank: int = RANK) -> Value:
        """An input that has the axes of a tensor from one axis on, such as a vector of channels, broadcast to sizes."""
        one, wanted = self[place], tuple(sizes)
        if one.sizes != wanted[axis : axis + one.rank]:
            self.refuse("DML-ONNX-sizes", name=one.name, sizes=one.sizes, wanted=wanted[axis : axis + one.rank])
        before = max(rank - len(wanted), 0) + axis
        strides = [0] * before + [*packed(one.sizes)]
        full = right_aligned(wanted, rank)
        return self.view(one, full, strides + [0] * (len(full) - len(strides)))

    def broadcast_sizes(self, *places: int) -> tuple[int, ...]:
        """The sizes that inputs are broadcast to; all inputs where none is named."""
        ones = [self[place] for place in places] if places else [one for one in self.inputs if one is not None]
        try:
            return np.broadcast_shapes(*(one.sizes for one in ones))
        except ValueError:
            self.refuse("DML-ONNX-broadcast", sizes=[*ones[-1].sizes], wanted=[*ones[0].sizes])

    def make(self, *values: object, **fields: object) -> Any:
        """The output, or the outputs, of a node of the operator that the tables name, or of the first of several."""
        return self.way(0)(*values, **fields)

    def way(self, number: int) -> Method:
        """The method of the graph for one of several operators that the tables name."""
        return self.method(self.row.becomes[number][-1])

    def method(self, operator: str) -> Method:
        """The method of the graph for an operator of DirectML."""
        found: Method = getattr(self.g, OPERATORS[operator][0])
        return found

    # Outputs ---------------------------------------------------------------------------------------------------------

    def out(self, value: Value | None, sizes: Sequence[int], place: int = 0) -> OnnxValue:
        """An output of the node: a value of the graph, and the sizes that it has in ONNX; an empty one has no value."""
        element = self.element(place) if place < len(self.elements) else "FLOAT"  # nothing reads an output without name
        if any(size < 0 for size in sizes):
            self.refuse("DML-ONNX-negative", name=self._output(place), value=min(sizes))
        if value is None and spanned(sizes) > HUGE:
            self.refuse("DML-ONNX-fold-large", elements=spanned(sizes))
        read = None if value is not None else partial(np.zeros, tuple(sizes), ELEMENTS[element].numpy)
        return OnnxValue(element, tuple(sizes), value=value, read=read, name=self._output(place))

    def wants(self, place: int) -> bool:
        """Whether the node has an output that is optional."""
        return self._output(place) != ""

    def filled(self, sizes: Sequence[int], make: Callable[[], Value], place: int = 0) -> OnnxValue:
        """An output of the node: the value that ``make`` gives, unless the output has no element."""
        return self.out(None if 0 in sizes else make(), sizes, place)

    def alias(self, sizes: Sequence[int], place: int = 0) -> OnnxValue:
        """An output that has the bytes of the first input, under other sizes."""
        one = self[0]
        if prod(sizes) != prod(one.sizes):
            self.refuse("DML-ONNX-reshape", sizes=[*one.sizes], wanted=[*sizes])
        if one.rank > MOST:  # a vector, for which each reader has sizes of its own
            return self.filled(sizes, lambda: self.view(one, (prod(one.sizes),)), place)
        return self.filled(sizes, lambda: self.right(one), place)

    def dtype_of(self, place: int | OnnxValue) -> str:
        """The data type of an input, as DirectML calls it."""
        one = self[place] if isinstance(place, int) else place
        if one.dtype is None:
            self.refuse("DML-ONNX-type", element=one.element, name=one.name)
        return one.dtype

    def dtype(self, place: int = 0) -> str:
        """The data type of an output, as DirectML calls it."""
        element = self.element(place)
        found = ELEMENTS[element].directml
        if found is None:
            self.refuse("DML-ONNX-type", element=element, name=self._output(place))
        return found

    def element(self, place: int = 0) -> str:
        """The data type of an output, as ONNX calls it."""
        found = self.elements[place] if place < len(self.elements) else ""
        if not found:
            self.refuse("DML-ONNX-type", element="unknown", name=self._output(place))
        return found

    def _output(self, place: int) -> str:
        """The name of an output; "" where the node does not have it."""
        return self.node.outputs[place] if place < len(self.node.outputs) else ""

    def refuse(self, identifier: str, **values: object) -> NoReturn:
        """Say why the node has no descs."""
        raise Unconverted(identifier, **values)

    def _input(self, place: int) -> str:
        rows = self.version.inputs
        return rows[min(place, len(rows) - 1)].name if rows else str(place)
