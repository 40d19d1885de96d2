"""Compare two dumps of a graph: each node is computed from the inputs that the other side had, and judged alone."""

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
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.problems import make, printable, refuse, whole
from dmlcy._graph.model import Constant, Node, Port
from dmlcy._graph.plan import Action, Tensor, actions
from dmlcy._graph.wiring import wiring_of
from dmlcy._judge.differences import Differences, measure
from dmlcy._judge.dumps.dump import Dump, read_dump
from dmlcy._judge.passes import CORRECT, Device, Passes, judged

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """One output of a node.

    ``alone``: against what the node gives for the other side's inputs; ``accumulated``: against this side's value.
    Without a verdict there is a ``problem``: a file that is missing, or inputs that the operator refuses.
    """

    node: int
    label: str
    value: str
    operator: str
    alone: Differences | None
    accumulated: Differences | None
    problem: str = ""

    @property
    def verdict(self) -> str:
        """passed, not judged, suspect, failed, or missing."""
        if self.alone is not None:
            return self.alone.verdict
        return "missing" if self.problem.startswith("there is no") else "failed"


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """All nodes in the order in which they run."""

    expected: Path
    actual: Path
    nodes: tuple[Judged, ...]

    @property
    def first_wrong(self) -> Judged | None:
        """The first node whose result is wrong although its inputs were what they were."""
        return next((one for one in self.nodes if one.verdict in ("failed", "missing")), None)

    @property
    def is_doubtful(self) -> bool:
        """Whether an output is suspect, or no element of it is judged."""
        return any(one.verdict in ("not judged", "suspect") for one in self.nodes)

    @property
    def status(self) -> int:
        """1 where a node is wrong."""
        return int(self.first_wrong is not None)


def compare(expected: Path, actual: Path, options: Device = CORRECT) -> Report:
    """Compare the values in a folder with a dump; ModelError for a dump that cannot be read."""
    dump = read_dump(expected)
    if not actual.is_dir():
        why = "it is not a folder" if os.path.lexists(actual) else "there is no such folder"
        refuse([make("DML-MODEL-actual", whole(str(actual)), {"path": str(actual), "why": why})])
    return Report(expected, actual, tuple(_Comparer(dump, actual, options).judged()))


class _Comparer:
    def __init__(self, dump: Dump, actual: Path, options: Device) -> None:
        self.dump = dump
        self.options = options
        self.graph = dump.graph
        self.wiring = wiring_of(dump.graph)
        self.actual = actual
        self.known: dict[Port, Array | None] = {}

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
            check_inputs(desc, inputs)
        except DmlError as error:
            problem = printable(str(error))
        for output in action.outputs:
            path = self.wiring.outputs[action.node][output.port.place][0]
            actual, own = self.value(output.port), self.dump.value(output.port)
            said = problem
            if actual is None:
                said = f"there is no {self.dump.files[output.port]}"
            accumulated = None if actual is None or own is None else measure(own, actual, Passes(None))
            alone = None
            if not said and actual is not None:
                expected, passes = judged(desc, inputs, path, self.options)
                alone = measure(expected, actual, passes)
            name = self.wiring.value_names[output.port]
            label = self.graph.label(action.node)
            yield Judged(action.node, label, name, node.kind, alone, accumulated, said)

    def tensor(self, one: Any) -> Any:
        """The other side's values for a field: an array, a tuple of them, or None."""
        if one is None:
            return None
        return self.view(one) if isinstance(one, Tensor) else tuple(map(self.view, one))

    def view(self, tensor: Tensor) -> Array:
        """A value as the node reads it: the same bytes under the desc of its tensor."""
        own = self.wiring.desc_of(tensor.port)
        assert own is not None
        value = self.value(tensor.port)
        if value is None:
            value = self.dump.value(tensor.port)  # the file is missing, which has been said
        assert value is not None
        if own == tensor.desc:
            return value
        node = None if tensor.port.node is None else self.graph.nodes[tensor.port.node]
        behind = node.data if isinstance(node, Constant) else None
        return view(_bytes(value, own, tensor.desc, behind), tensor.desc, 0)

    def value(self, port: Port) -> Array | None:
        """A value of the other side; of graph inputs and constants that it does not have, the one of this side."""
        if port not in self.known:
            found = self.dump.value(port, self.actual)
            given = port.node is None or isinstance(self.graph.nodes[port.node], Constant)
            self.known[port] = self.dump.value(port) if found is None and given else found
        return self.known[port]


def _bytes(value: Array, own: TensorDesc, other: TensorDesc, behind: Array | None) -> npt.NDArray[np.uint8]:
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
