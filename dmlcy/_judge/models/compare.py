"""Compare the values that a device has of an ONNX model: each node is computed from the device's inputs, judged alone.

A value that the device does not have, such as one inside a fused node, is computed too, with the error that it may
have. So the next value that the device has is judged for all nodes on the way to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from dmlcy._desc.check import check_inputs
from dmlcy._desc.memory import is_packed, view
from dmlcy._errors import DmlError
from dmlcy._field_types.tensor_array import arrays_by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.problems import Problem, make, printable
from dmlcy._frontends.onnx.loading import CompiledModel
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.places import place_of
from dmlcy._frontends.onnx.tables import shown
from dmlcy._frontends.onnx.values import OnnxValue, from_directml, to_directml
from dmlcy._frontends.onnx.visits import Known, Visit, key_of
from dmlcy._graph.actions import Action, Read, Tensor, actions
from dmlcy._graph.model import Constant, Node, Port
from dmlcy._graph.wiring import wiring_of
from dmlcy._judge.differences import Differences, measure
from dmlcy._judge.dumps.compare import Judged, Report, bytes_for
from dmlcy._judge.models.states import State, expected, moved, widened
from dmlcy._judge.models.summary import Summary, summary
from dmlcy._judge.passes import CORRECT, Device, Passes
from dmlcy._runtime import four_bits
from dmlcy._types import Array
from dmlcy._words.values import quote

FOLDED: Final = (1e-3, 1e-7)
"""How far floats that another program computes on the CPU may be off, relative and absolute: as in ONNX's tests."""


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """A value that the device has, and where it is: under which node, and which port of the DirectML graph."""

    name: str
    visit: Visit
    value: OnnxValue
    port: Port | None  # None: it is a constant


def compared(
    model: CompiledModel,
    inputs: Mapping[str, Array],
    values: Mapping[str, Array],
    path: Path,
    options: Device = CORRECT,
) -> tuple[Report, dict[str, Summary]]:
    """The report, and its values beside those of a run here, where they have the same sizes."""
    comparer = _Comparer(model, inputs, values, options)
    own = dict(zip(comparer.stage.names, comparer.stage.results(comparer.own), strict=True))
    found = [replace(one, accumulated=_apart(own.get(one.value), values.get(one.value))) for one in comparer.judged()]
    names = [one.value for one in found if one.value in values and one.value in own]
    names = [name for name in names if own[name].shape == values[name].shape and values[name].dtype.kind in "biuf"]
    beside = {name: summary(own[name], values[name]) for name in names}
    return Report(Path(model.file), path, (), tuple(found), tuple(comparer.unknown())), beside


def _apart(own: Array | None, actual: Array | None) -> Differences | None:
    """How far a value is from that of a run here; None where they cannot be compared."""
    if own is None or actual is None or own.shape != actual.shape or own.dtype != actual.dtype:
        return None
    own, actual = (one.view(np.uint8) if one.dtype == bool else one for one in (own, actual))
    return measure(own, actual, Passes(None))


class _Comparer:
    def __init__(
        self, model: CompiledModel, inputs: Mapping[str, Array], values: Mapping[str, Array], options: Device
    ) -> None:
        self.model, self.values, self.options = model, values, options
        asked = [one.name for one in model.outputs]
        asked += [name for name in model.names if name in values and name not in inputs and name not in asked]
        self.stage, self.own = model.stage(inputs, asked, values)
        self.numbers: dict[int, int] = {}  # of the nodes of the DirectML graph, the places of ONNX's nodes
        self.edges: list[Edge] = [*self._edges()]
        self.at: dict[Port, list[Edge]] = {}
        for edge in self.edges:
            if edge.port is not None:
                self.at.setdefault(edge.port, []).append(edge)
        self.names = {id(known): name for name, known in self.stage.walk.scope.items()}
        self.makers = {name: visit for visit in self.stage.walk.visits for name in visit.node.outputs}
        self.states: dict[Port, State] = {}
        self.found: dict[str, Judged] = {}

    def _edges(self) -> Iterator[Edge]:
        """The outputs of nodes of which values are known here, those of nodes inside others included."""
        numbers = self.stage.numbers
        seen: set[str] = set()
        for number, visit in enumerate(self.stage.walk.visits):
            for one in visit.all():
                self.numbers |= {numbers[made]: number for made in one.made if made in numbers}
            for known, name in zip(visit.outputs, visit.node.outputs, strict=True):
                value = known.value
                if not name or name in seen or value is None or value.dtype is None:
                    continue
                seen.add(name)
                port = self._port(known)
                if key_of(visit.path, name) in self.stage.given.foreign:
                    continue
                if value.is_constant or port is not None:
                    yield Edge(name, visit, value, None if value.is_constant else port)

    def unknown(self) -> Iterator[Problem]:
        """The nodes that are not judged, because nothing here computes them."""
        for visit in self.stage.walk.visits:
            if any(key_of(visit.path, name) in self.stage.given.foreign for name in visit.node.outputs if name):
                place = place_of(self.model.file, *visit.steps)
                operator = shown(visit.node.domain, visit.node.operator)
                yield make("DML-ONNX-run-unjudged", place, {"operator": operator}, warning=True)

    def _port(self, known: Known) -> Port | None:
        """The port of a value in the graph that was compiled."""
        value = None if known.value is None else known.value.value
        if value is None:
            return None
        port = value._port
        if port.node is None:
            return self.stage.input_port(port.place)
        number = self.stage.numbers.get(port.node)
        return None if number is None else Port(number, port.place)

    # Judging ----------------------------------------------------------------------------------------------------------

    def judged(self) -> Iterator[Judged]:
        """Each value of a node that the device has, in the order of the nodes; missing: outputs of the model."""
        graph = self.stage.graph
        if graph is not None:
            self._give(self.stage.fed_ports())
            left: dict[Port, int] = {}
            every = actions(graph)
            for action in every:
                for tensor in action.read():
                    left[tensor.port] = left.get(tensor.port, 0) + 1
            for action in every:
                self._node(action)
                for tensor in action.read():  # what no later node reads is not kept
                    left[tensor.port] -= 1
                    if not left[tensor.port]:
                        self.states.pop(tensor.port, None)
        outputs = {one.name for one in self.model.outputs}
        for edge in self.edges:
            if edge.name in self.found:
                yield self.found[edge.name]
            elif edge.name in self.values:
                yield self._constant(edge)
            elif edge.name in outputs and not edge.value.is_constant:
                yield self._said(edge, f"the device has no value {quote(edge.name)}", missing=True)

    def _give(self, fed: Mapping[Port, OnnxValue]) -> None:
        """Take the inputs of the graph: what the device was given, or what this side computed on the CPU."""
        graph = self.stage.graph
        assert graph is not None
        for port, value in fed.items():
            desc = wiring_of(graph).desc_of(port)
            own, edges = self.own[self.stage.walk.keys[id(value)]], self.at.get(port, [])
            for edge in edges:
                if edge.visit.fate == "computed" and edge.name in self.values:
                    self._compare(edge, own, _folded(own))
                    own = own if self.found[edge.name].problem else _as_element(self.values[edge.name], value)
            if desc is not None:
                self.states[port] = State(to_directml(own, value.element, desc.sizes))
            self._views(port, [edge for edge in edges if edge.name not in self.found])

    def _node(self, action: Action) -> None:
        graph = self.stage.graph
        assert graph is not None
        node = graph.nodes[action.node]
        assert isinstance(node, Node)
        fields = [field for field in node.desc.operator.fields if field.kind == "input"]
        inputs = {
            field.python: one
            for field, given in zip(fields, action.inputs, strict=True)
            if (one := self._inputs(given)) is not None
        }
        problem = ""
        try:
            check_inputs(node.desc, arrays_by_path(_elements(inputs)))
        except DmlError as error:
            problem = printable(str(error))
        for output in action.outputs:
            path = wiring_of(graph).outputs[action.node][output.port.place][0]
            self._output(output.port, node, inputs, path, problem)

    def _output(
        self, port: Port, node: Node, inputs: Mapping[str, State | tuple[State, ...]], path: str, problem: str
    ) -> None:
        """Judge an output of a DirectML node, if the device has it, and keep what later nodes read."""
        graph = self.stage.graph
        assert graph is not None
        desc = wiring_of(graph).desc_of(port)
        assert desc is not None
        edges = [edge for edge in self.at.get(port, ()) if edge.name in self.values]
        first = next((edge for edge in edges if _is_whole(edge, desc)), None)
        actual = None if first is None else self._actual(first, desc)
        if problem or isinstance(actual, str):
            said = problem or str(actual)
            self.states[port] = self._instead(port, desc, None if isinstance(actual, str) else actual)
            for edge in edges:
                self.found[edge.name] = self._said(edge, said, missing=False)
            return
        wanted, passes, others = expected(node.desc, inputs, path, self.options)
        if actual is None:
            scenarios = moved(wanted, passes, others, port.node or 0)
            self.states[port] = State(_marked(wanted, desc), tuple(_marked(one, desc) for one in scenarios))
            return
        assert first is not None
        self.states[port] = State(actual)
        alone = measure(wanted, four_bits.values_of(actual), widened(wanted, passes, others))
        self.found[first.name] = self._judged(first, wanted.shape, alone)
        self._views(port, [edge for edge in edges if edge is not first])

    def _views(self, port: Port, edges: list[Edge] | tuple[Edge, ...]) -> None:
        """Judge the values that have the bytes of another one, under other sizes: each bit must be the same."""
        graph = self.stage.graph
        assert graph is not None
        desc = wiring_of(graph).desc_of(port)
        state = self.states.get(port)
        if desc is None or state is None:
            return
        for edge in edges:
            if edge.name not in self.values or edge.value.value is None:
                continue
            other = edge.value.value.desc
            wanted = from_directml(
                view(bytes_for(state.elements, desc, other, None), other, 0), edge.value.element, edge.value.sizes
            )
            self._compare(edge, wanted, Passes(None))

    def _constant(self, edge: Edge) -> Judged:
        """Judge a value that is known before the model runs."""
        read = edge.value.read
        assert read is not None
        wanted = read()
        self._compare(edge, wanted, _folded(wanted))
        return self.found[edge.name]

    def _compare(self, edge: Edge, wanted: Array, passes: Passes) -> None:
        actual = self.values[edge.name]
        wrong = _misfit(actual, edge.value)
        if wrong:
            self.found[edge.name] = self._said(edge, wrong, missing=False)
            return
        alone = measure(_comparable(wanted, edge.value), _comparable(actual, edge.value), passes)
        self.found[edge.name] = self._judged(edge, wanted.shape, alone)

    # Values -----------------------------------------------------------------------------------------------------------

    def _actual(self, edge: Edge, desc: TensorDesc) -> Array | str:
        """The device's elements under the desc of the node; text: why they do not fit."""
        array = self.values[edge.name]
        wrong = _misfit(array, edge.value)
        return wrong or to_directml(_as_element(array, edge.value), edge.value.element, desc.sizes)

    def _instead(self, port: Port, desc: TensorDesc, actual: Array | None) -> State:
        """The value that later nodes read in place of one that cannot be judged: the device's, or zeros."""
        if actual is not None:
            return State(actual)
        graph = self.stage.graph
        assert graph is not None
        size = wiring_of(graph).sizes[port]
        return State(np.array(view(np.zeros(size, np.uint8), desc, 0)))

    def _inputs(self, given: Read) -> State | tuple[State, ...] | None:
        if given is None:
            return None
        return self._read(given) if isinstance(given, Tensor) else tuple(map(self._read, given))

    def _read(self, tensor: Tensor) -> State:
        """A value as a node reads it: the same bytes under the desc of its tensor."""
        graph = self.stage.graph
        assert graph is not None
        node = None if tensor.port.node is None else graph.nodes[tensor.port.node]
        if isinstance(node, Constant):
            assert node.data is not None
            return State(view(node.data, tensor.desc, 0))
        own, state = wiring_of(graph).desc_of(tensor.port), self.states[tensor.port]
        assert own is not None
        if own == tensor.desc:
            return state
        return State(
            view(bytes_for(state.elements, own, tensor.desc, None), tensor.desc, 0),
            tuple(view(bytes_for(one, own, tensor.desc, None), tensor.desc, 0) for one in state.scenarios),
        )

    # Reports ----------------------------------------------------------------------------------------------------------

    def _judged(self, edge: Edge, sizes: tuple[int, ...], alone: Differences) -> Judged:
        unseen = tuple(self._unseen(edge))
        return replace(self._said(edge, "", missing=False), sizes=sizes, alone=alone, unseen=unseen)

    def _unseen(self, edge: Edge) -> dict[str, None]:
        """The values that a value was computed from here and that the device lacks; the inputs of its node first."""
        found: dict[str, None] = {}
        waiting = [edge.visit]
        for visit in waiting:  # it grows
            inputs = [known for one in visit.all() for known in one.inputs if known is not None]
            names = [self.names.get(id(known), "") for known in inputs if not known.is_constant]
            new = dict.fromkeys(name for name in names if name in self.makers and name not in self.values)
            waiting += [self.makers[name] for name in new if name not in found]
            found |= new
        return found

    def _said(self, edge: Edge, problem: str, *, missing: bool) -> Judged:
        node = edge.visit.node
        label = place_of("", *edge.visit.steps).path
        operator = node.operator
        return Judged(node.number, label, edge.name, operator, edge.value.sizes, None, None, problem, missing)


def _folded(wanted: Array) -> Passes:
    """The values that pass for a value that the CPU computes: integers must be equal."""
    if wanted.dtype.kind != "f":
        return Passes(None)
    relative, absolute = FOLDED
    return Passes(relative * np.abs(np.nan_to_num(wanted.astype(np.float64))) + absolute)


def _elements(inputs: Mapping[str, State | tuple[State, ...]]) -> dict[str, Any]:
    return {
        name: tuple(one.elements for one in given) if isinstance(given, tuple) else given.elements
        for name, given in inputs.items()
    }


def _is_whole(edge: Edge, desc: TensorDesc) -> bool:
    """Whether an edge has all elements of a value, in their order."""
    value = edge.value.value
    return value is not None and is_packed(value.desc) and value.desc.element_count == desc.element_count


def _misfit(array: Array, value: OnnxValue) -> str:
    """Why an array is not the value; nothing where it may be."""
    wanted = np.dtype(ELEMENTS[value.element].numpy)
    if array.shape != value.sizes:
        return f"it has the sizes {array.shape}, and must have {value.sizes}"
    if array.dtype != wanted and not (wanted.kind == "b" and array.dtype == np.uint8):
        return f"it is {array.dtype}, and must be {wanted}"
    return ""


def _as_element(array: Array, value: OnnxValue) -> Array:
    return array.view(bool) if array.dtype == np.uint8 and value.element == "BOOL" else array


def _comparable(array: Array, value: OnnxValue) -> Array:
    found = _as_element(array, value)
    return found.view(np.uint8) if found.dtype == bool else found


def _marked(values: Array, desc: TensorDesc) -> Array:
    """The elements of the reference as a tensor has them: of 4 bits, in the data type of the package."""
    name = getattr(desc.dtype, "name", "")
    return four_bits.marked(values, name) if name in four_bits.MARKERS else values
