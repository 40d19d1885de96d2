"""Compare two dumps of a graph: each node is computed from the inputs that the other side had, and judged alone.

No node computes the constants and the graph inputs. If the other side has their files, these are compared bit for bit:
a constant with the graph, an input with this side's. A constant that differs is wrong. An input that differs is not:
the other side may have run with other values.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dmlcy._desc.check import check_inputs
from dmlcy._desc.memory import in_memory, needed, view
from dmlcy._errors import DmlError
from dmlcy._field_types.tensor_array import arrays_by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.problems import Problem, make, printable, refuse, whole
from dmlcy._graph.actions import Action, Read, Tensor, actions
from dmlcy._graph.model import Constant, Node, Origin, Port
from dmlcy._graph.wiring import wiring_of
from dmlcy._judge.differences import Differences, measure
from dmlcy._judge.dumps.dump import Dump, read_dump
from dmlcy._judge.passes import CORRECT, Device, Passes, judged
from dmlcy._judge.verdicts import DOUBTFUL, MISSING
from dmlcy._runtime.four_bits import values_of
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array
from dmlcy._words.values import quote


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A constant, or an input of the graph, of which the other side has a file.

    ``node`` is the number of a constant, None for an input. ``different``: elements whose bits differ; ``first``: the
    index of the first of them, with what it must be and what it is.
    """

    node: int | None
    label: str
    value: str
    elements: int
    different: int
    first: tuple[tuple[int, ...], np.generic, np.generic] | None

    @property
    def verdict(self) -> str:
        """passed; of a constant that differs failed, of an input differs."""
        if not self.different:
            return "passed"
        return "differs" if self.node is None else "failed"


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One output of a node.

    ``sizes`` are those of the output. ``alone``: against what the node gives for the other side's inputs;
    ``accumulated``: against this side's value. ``problem``: the file that is missing, or why the operator refuses the
    inputs. ``unseen``: values that were computed here because the other side does not have them, and that the judgement
    depends on; an input of the node first.
    """

    node: int
    label: str
    value: str
    operator: str
    sizes: tuple[int, ...]
    alone: Differences | None
    accumulated: Differences | None
    problem: str = ""
    missing: bool = False
    origin: Origin | None = None
    unseen: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """passed, not judged, suspect, failed, or missing: the other side has no file of it."""
        if self.missing:
            return MISSING
        return "failed" if self.alone is None else self.alone.verdict


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The constants and inputs of which there are files, and all nodes in the order in which they run."""

    expected: Path
    actual: Path
    given: tuple[Given, ...]
    nodes: tuple[Judged, ...]
    warnings: tuple[Problem, ...]

    @property
    def wrong_constant(self) -> Given | None:
        """The first constant that is not that of the graph."""
        return next((one for one in self.given if one.verdict == "failed"), None)

    @property
    def first_wrong(self) -> Judged | None:
        """The first node whose result is wrong for the inputs that the other side had."""
        return self.first("failed")

    @property
    def first_missing(self) -> Judged | None:
        """The first node of whose result there is no file."""
        return self.first(MISSING)

    @property
    def first_suspect(self) -> Judged | None:
        """The first node whose result is suspect."""
        return self.first("suspect")

    def first(self, verdict: str) -> Judged | None:
        """The first node with a verdict."""
        return next((one for one in self.nodes if one.verdict == verdict), None)

    @property
    def unjudged(self) -> int:
        """How many elements are not judged."""
        return sum(one.alone.unjudged for one in self.nodes if one.alone is not None)

    @property
    def is_doubtful(self) -> bool:
        """Whether an output is suspect, or no element of it is judged."""
        return any(one.verdict in DOUBTFUL for one in self.nodes)

    @property
    def passed(self) -> bool:
        """Whether everything passed: the status with ``--strict`` is 0."""
        return self.status == 0 and not self.is_doubtful

    @property
    def status(self) -> int:
        """1 where a constant or a node is wrong, or a file is missing; else 0."""
        return int(any((self.wrong_constant, self.first_wrong, self.first_missing)))


def compare(expected: Path, actual: Path, options: Device = CORRECT) -> Report:
    """Compare the values in a folder with a dump; ModelError for a dump that cannot be read."""
    dump = read_dump(expected)
    if not actual.is_dir():
        why = "it is not a folder" if os.path.lexists(actual) else "there is no such folder"
        refuse([make("DML-MODEL-actual", whole(str(actual)), {"path": str(actual), "why": why})])
    comparer = _Comparer(dump, actual, options)
    return Report(expected, actual, tuple(comparer.given()), tuple(comparer.judged()), dump.warnings)


class _Comparer:
    def __init__(self, dump: Dump, actual: Path, options: Device) -> None:
        self.dump = dump
        self.options = options
        self.graph = dump.graph
        self.wiring = wiring_of(dump.graph)
        self.actual = actual
        self.known: dict[Port, Array | None] = {}

    def given(self) -> Iterator[Given]:
        """The constants of which the other side has a file, then the graph inputs."""
        for port in sorted(self.dump.files, key=lambda port: port.node is None):
            if not self.is_given(port):
                continue
            actual = self.dump.value_in(self.actual, port)
            if actual is None:
                continue
            actual = values_of(actual)
            expected = values_of(self.constant(port) if port.node is not None else self.dump.value(port))
            places = np.flatnonzero(_bits(expected) != _bits(actual))
            first = None
            if places.size:
                index = indices_of(int(places[0]), expected.shape)
                first = index, expected[index], actual[index]
            name, label = self.wiring.value_names[port], self.graph.source_label(port)
            yield Given(port.node, label, name, expected.size, places.size, first)

    def is_given(self, port: Port) -> bool:
        """Whether no node computes a value."""
        return port.node is None or isinstance(self.graph.nodes[port.node], Constant)

    def constant(self, port: Port) -> Array:
        """The elements of a constant, as the graph has them."""
        assert port.node is not None
        node = self.graph.nodes[port.node]
        assert isinstance(node, Constant) and node.data is not None
        return view(node.data, self.dump.desc(port), 0)

    def judged(self) -> Iterator[Judged]:
        """Each output of each node."""
        left: dict[Port, int] = {}
        every = actions(self.graph)
        for action in every:
            for tensor in action.read():
                left[tensor.port] = left.get(tensor.port, 0) + 1
        for action in every:
            yield from self.node(action)
            for tensor in action.read():  # the values that no later node reads are not kept
                left[tensor.port] -= 1
                if not left[tensor.port]:
                    self.known.pop(tensor.port, None)

    def node(self, action: Action) -> Iterator[Judged]:
        node = self.graph.nodes[action.node]
        assert isinstance(node, Node)
        desc = node.desc
        fields = [field for field in desc.operator.fields if field.kind == "input"]
        inputs = {
            field.python: given
            for field, one in zip(fields, action.inputs, strict=True)
            if (given := self.tensor(one)) is not None
        }
        problem = ""
        try:
            check_inputs(desc, arrays_by_path(inputs))
        except DmlError as error:
            problem = printable(str(error))
        for output in action.outputs:
            path = self.wiring.outputs[action.node][output.port.place][0]
            name, label = self.wiring.value_names[output.port], self.graph.label(action.node)
            actual, sizes = self.value(output.port), self.dump.desc(output.port).sizes
            if actual is None:
                said = f"there is no {quote(self.dump.files[output.port])}"
                yield Judged(action.node, label, name, node.kind, sizes, None, None, said, True, node.origin)
                continue
            actual = values_of(actual)
            accumulated, alone = measure(values_of(self.dump.value(output.port)), actual, Passes(None)), None
            if not problem:
                expected, passes = judged(desc, inputs, path, self.options)
                alone = measure(expected, actual, passes)
            yield Judged(
                action.node, label, name, node.kind, sizes, alone, accumulated, problem, False, node.origin,
                self.unseen(action),
            )  # fmt: skip

    def unseen(self, action: Action) -> tuple[str, ...]:
        """The inputs of a node of which the other side has no file."""
        ports = [tensor.port for tensor in action.read() if self.value(tensor.port) is None]
        return tuple(dict.fromkeys(self.wiring.value_names[port] for port in ports))

    def tensor(self, one: Read) -> Any:
        """The other side's values for a field: an array, a tuple of them, or None."""
        if one is None:
            return None
        return self.view(one) if isinstance(one, Tensor) else tuple(map(self.view, one))

    def view(self, tensor: Tensor) -> Array:
        """A value as the node reads it: the same bytes under the desc of its tensor."""
        own = self.wiring.desc_of(tensor.port)
        assert own is not None
        value = self.value(tensor.port)
        if value is None:  # the file is missing, which has been said
            value = self.dump.value(tensor.port)
        if own == tensor.desc:
            return value
        node = None if tensor.port.node is None else self.graph.nodes[tensor.port.node]
        behind = node.data if isinstance(node, Constant) else None
        return view(bytes_for(value, own, tensor.desc, behind), tensor.desc, 0)

    def value(self, port: Port) -> Array | None:
        """A value of the other side; of graph inputs and constants that it does not have, the one of this side."""
        if port not in self.known:
            found = self.dump.value_in(self.actual, port)
            self.known[port] = self.dump.value(port) if found is None and self.is_given(port) else found
        return self.known[port]


def _bits(values: Array) -> Array:
    """The elements in a row, as unsigned integers of the same bits."""
    return np.ascontiguousarray(values).reshape(-1).view(f"u{values.itemsize}")


def bytes_for(value: Array, own: TensorDesc, other: TensorDesc, behind: Array | None) -> npt.NDArray[np.uint8]:
    """The bytes of a value; where the other desc reaches further, those of the constant that it is, or zeros."""
    data = in_memory(own, value).reshape(-1).view(np.uint8)
    size = max(needed(other), data.size)
    if size == data.size:
        return data
    whole = np.zeros(size, np.uint8)
    if behind is not None:
        whole[: behind.size] = behind[:size]
    whole[: data.size] = data
    return whole
