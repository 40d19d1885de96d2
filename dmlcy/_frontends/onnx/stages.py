"""A model that runs: the DirectML graph of what can be computed, and what the next stage has to know beforehand.

Most models are one stage. A node that DirectML leaves to the CPU, or that needs the elements of a value when it is
compiled, begins another one. The values that the node waits for are computed, and the model is looked at again with
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NoReturn

from dmlcy._compile import compile
from dmlcy._errors import DmlError, Violation, raise_violations
from dmlcy._facts.dtypes import Bytes
from dmlcy._facts.tables import FeatureLevelName
from dmlcy._frontends.dxdispatch.problems import Problem, make, refuse
from dmlcy._frontends.onnx import folding
from dmlcy._frontends.onnx.elements import element_of
from dmlcy._frontends.onnx.model import ELEMENTS, ONNX, Model, Tensor
from dmlcy._frontends.onnx.places import place_of
from dmlcy._frontends.onnx.placing import Placer, Reason
from dmlcy._frontends.onnx.tables import shown
from dmlcy._frontends.onnx.use import Unconverted, Use
from dmlcy._frontends.onnx.values import OnnxValue, bytes_of, from_directml, to_directml
from dmlcy._frontends.onnx.visits import Given, Known, Visit, key_of
from dmlcy._frontends.onnx.walk import Walk
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Node, Port
from dmlcy._graph.parts import part_of
from dmlcy._graph.run import CompiledGraph
from dmlcy._graph.violations import GraphViolation, of_node
from dmlcy._types import Array

FUNCTION: Final = "onnx.load"
SMALL: Final = 64
"""Elements up to which a result of the CPU becomes a constant of the next stage; else an input."""
_INVALID: Final = ("DML-ONNX-node-", "DML-ONNX-input-type")
"""The problems of nodes that no program runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """How a model is compiled. ``shared``: the bytes of its constants, once for all sizes of inputs."""

    model: Model
    level: FeatureLevelName | None
    limit: int
    shared: dict[int, tuple[Tensor, Bytes]]


@dataclass(frozen=True, slots=True)
class Need:
    """The values whose elements the next stage waits for: a node that the CPU computes reads some of them."""

    visit: Visit
    reads: tuple[Known | None, ...]
    what: Literal["input", "node", "foreign"]  # its input becomes a constant, it is computed, or another program has it


class Stage:
    """The part of a model that can run for inputs of certain sizes, compiled.

    Parameters
    ----------
    settings
        The model.
    sizes
        The sizes of its inputs.
    given
        The facts that earlier stages have found out.
    names
        The values of the model that are asked for.
    others
        Values of another program by their names, for the nodes that nothing here computes.

    Attributes
    ----------
    needs
        The values that are computed for the next stage; none in the last one, which gives the results.
    graph
        The DirectML graph; None where all that is asked for is known.
    """

    def __init__(
        self,
        settings: Settings,
        sizes: Mapping[str, Sequence[int]],
        given: Given,
        names: Sequence[str],
        others: Mapping[str, Array],
    ) -> None:
        self.settings, self.given, self.names, self.others = settings, given, names, others
        self.walk = Walk(settings.model, sizes, settings.limit, given)
        wanted = [self.walk.scope[name] for name in names]
        self.ready = _ready(self.walk, wanted)
        self.needs = [] if all(map(self._is_ready, wanted)) else [*self._needs(wanted)]
        asked = [known for one in self.needs for known in one.reads] if self.needs else wanted
        self.asked = {id(one.value): one.value for one in asked if one is not None and one.value is not None}
        self.graph, self.compiled, self.numbers = self._compiled()

    def _is_ready(self, known: Known) -> bool:
        source = known.source
        return known.value is not None and (known.is_constant or source is None or id(source) in self.ready)

    # Computations of the stage ----------------------------------------------------------------------------------------

    def _needs(self, wanted: Sequence[Known]) -> Iterator[Need]:
        """The nodes that cannot run yet, and of which all inputs can be computed."""
        live = _live(wanted)
        found = 0
        for visit in self.walk.all():
            if visit.fate == "inside" or id(visit) in self.ready or id(visit) not in live:
                continue
            if all(known is None or self._is_ready(known) for known in visit.inputs):
                found += 1
                yield self._need(visit)
        if not found:
            self._refuse(next(one for one in self.walk.all() if id(one) in live and id(one) not in self.ready))

    def _need(self, visit: Visit) -> Need:
        """The values that a node waits for; refuses a node that nothing can compute."""
        for problem in visit.problems:
            known = visit.inputs[problem.place] if 0 <= problem.place < len(visit.inputs) else None
            if problem.identifier == "DML-ONNX-input-unknown" and known is not None:
                return Need(visit, (known,), "input")
        row = visit.row
        is_if = row is not None and (row.domain, row.name) == (ONNX, "If")
        if is_if and visit.inputs and visit.inputs[0] is not None and not visit.inputs[0].is_constant:
            return Need(visit, visit.inputs[:1], "input")
        invalid = any(one.identifier.startswith(_INVALID) for one in visit.problems)
        if row is None or not row.fold or visit.version is None or invalid:
            if not visit.path and all(name in self.others for name in visit.node.outputs if name):
                return Need(visit, (), "foreign")
            self._refuse(visit)
        return Need(visit, visit.inputs, "node")

    def _refuse(self, visit: Visit) -> NoReturn:
        """Say why a node does not run."""
        place = place_of(self.settings.model.file, *visit.steps)
        wrong = [*_violations(self.walk, visit)]
        if wrong:
            raise_violations(wrong, FUNCTION)
        if visit.problems:
            refuse([make(one.identifier, place, one.values) for one in visit.problems])
        why = self._why(visit)
        operator = shown(visit.node.domain, visit.node.operator)
        refuse([make("DML-ONNX-run-unknown", place, {"operator": operator, "why": why})])

    def _why(self, visit: Visit) -> str:
        placements = Placer(self.settings.model.opsets, self.walk.visits).placements
        reasons: list[Reason] = next((one.reasons for one in placements if one.visit is visit), [])
        return reasons[0].message if reasons else "The data type or the sizes of an input are not known."

    # The graph --------------------------------------------------------------------------------------------------------

    def _compiled(self) -> tuple[GraphDesc | None, CompiledGraph | None, dict[int, int]]:
        values = [one.value for one in self.asked.values() if one.value is not None and not one.is_constant]
        self.copied = [one for one in self.asked.values() if not one.is_constant and one.value is not None]
        self.fed: list[OnnxValue] = []
        if not values:
            return None, None, {}
        ports = {place: partial(self._bytes, one) for place, one in enumerate(self.walk.inputs) if one.read is not None}
        graph, numbers = part_of(self.walk.builder.build(*values), ports, names_of(self.walk))
        every = {end.name: one for end, one in zip(self.walk.builder._inputs, self.walk.inputs, strict=True)}
        self.fed = [every[end.name] for end in graph.inputs]
        try:
            return graph, compile(graph, self.settings.level), numbers
        except DmlError as error:
            self._name_nodes(error)
            raise

    def _name_nodes(self, error: DmlError) -> None:
        """Raises the refusal of a graph that has no node of the model at fault with the node that needs or makes it."""
        wrong = [one for one in error.violations if isinstance(one, GraphViolation)]
        if any(one.origin for one in wrong):
            return
        for need in self.needs:
            if any(_violations(self.walk, need.visit)):
                self._refuse(need.visit)
        made = {id(known.value): visit for visit in self.walk.all() for known in visit.outputs}
        values = {"inputs": self.fed, "outputs": self.copied}
        named = [
            Problem(place_of(self.settings.model.file, *visit.steps), one).located()
            for one in wrong
            if one.part in values and one.entry is not None
            if (visit := made.get(id(values[one.part][one.entry]))) is not None
        ]
        if named:
            raise_violations(named)

    def _bytes(self, one: OnnxValue) -> Bytes:
        """The bytes of a constant; those of an initializer are made once for all stages."""
        read = one.read
        assert read is not None
        tensor = read.args[0] if isinstance(read, partial) and read.args else None
        if not isinstance(tensor, Tensor):
            return bytes_of(read(), one.element)
        known = self.settings.shared.get(id(tensor))
        if known is None:
            known = self.settings.shared[id(tensor)] = tensor, bytes_of(read(), one.element)
        return known[1]

    def input_port(self, place: int) -> Port | None:
        """The input of the graph that an input of the walk is; None for one that no node reads."""
        value = self.walk.inputs[place]
        return next((Port(None, index) for index, one in enumerate(self.fed) if one is value), None)

    def fed_ports(self) -> dict[Port, OnnxValue]:
        """The inputs of the graph."""
        return {Port(None, index): one for index, one in enumerate(self.fed)}

    # Running ----------------------------------------------------------------------------------------------------------

    def values(self, arrays: Mapping[str, Array]) -> dict[int, Array]:
        """The elements of the values that are asked for, by the identity of the value; ``arrays``: inputs by key."""
        found = {id(one): one.read() for one in self.asked.values() if one.read is not None}
        if self.compiled is not None:
            results = self.compiled(*self.inputs(arrays))
            several = results if isinstance(results, tuple) else (results,)
            for one, result in zip(self.copied, several, strict=True):
                found[id(one)] = from_directml(result, one.element, one.sizes)
        return found

    def inputs(self, arrays: Mapping[str, Array]) -> list[Array]:
        """The inputs that the graph takes."""
        return [
            to_directml(arrays[self.walk.keys[id(one)]], one.element, one.value.desc.sizes)
            for one in self.fed
            if one.value is not None
        ]

    def results(self, arrays: Mapping[str, Array]) -> list[Array]:
        """The values that are asked for, of the last stage; each array is one of its own."""
        found = self.values(arrays)
        taken: set[int] = set()
        results = []
        for name in self.names:
            value = self.walk.scope[name].value
            array = found[id(value)]
            results.append(array.copy() if id(value) in taken or not array.flags.writeable else array)
            taken.add(id(value))
        return results

    def following(self, arrays: Mapping[str, Array]) -> tuple[Given, dict[str, Array]]:
        """The facts that the next stage knows, and the further inputs that it is fed."""
        found = self.values(arrays)
        computed, fed, more = {**self.given.computed}, {**self.given.fed}, dict[str, Array]()
        foreign = {*self.given.foreign}
        for need in self.needs:
            if need.what == "input":
                (known,) = need.reads
                assert known is not None and known.value is not None
                key = self._key(known)
                computed[key] = found[id(known.value)], known.value.element
                fed.pop(key, None)
                continue
            is_foreign = need.what == "foreign"
            made = [*self._foreign(need.visit)] if is_foreign else [*self._computed(need, found)]
            foreign.update(key for key, _, _ in made if is_foreign)
            for key, element, array in made:
                if array.size <= SMALL or ELEMENTS[element].directml is None:
                    computed[key] = array, element
                else:
                    fed[key], more[key] = (element, array.shape), array
        assert len(computed) > len(self.given.computed) or len(fed) > len(self.given.fed)
        return Given(computed, fed, self.given.replaced, frozenset(foreign)), more

    def _key(self, known: Known) -> str:
        assert known.value is not None
        if id(known.value) in self.walk.keys:
            return self.walk.keys[id(known.value)]
        visit = known.source
        assert visit is not None
        return key_of(visit.path, visit.node.outputs[[one.value for one in visit.outputs].index(known.value)])

    def _foreign(self, visit: Visit) -> Iterator[tuple[str, str, Array]]:
        """The outputs of a node as the other program has them."""
        for known, name in zip(visit.outputs, visit.node.outputs, strict=True):
            if name:
                array = self.others[name]
                yield key_of(visit.path, name), known.element or element_of(array) or "FLOAT", array

    def _computed(self, need: Need, found: Mapping[int, Array]) -> Iterator[tuple[str, str, Array]]:
        """The outputs of a node, as ONNX defines it, for these inputs: their keys, data types and elements."""
        visit = need.visit
        assert visit.row is not None and visit.version is not None
        inputs = [None if one is None else _constant(one, found) for one in visit.inputs]
        elements = [one.element or "" for one in visit.outputs]
        use = Use(visit.node, visit.row, visit.version, self.walk.builder, inputs, elements)
        try:
            arrays = folding.function(visit.row.fold)(use)
        except Unconverted as error:
            place = place_of(self.settings.model.file, *visit.steps)
            refuse([make(error.identifier, place, error.values)])
        if any(visit.node.outputs[len(arrays) :]):
            self._refuse(visit)
        for name, element, array in zip(visit.node.outputs, elements, arrays, strict=False):
            if name:
                yield key_of(visit.path, name), element or element_of(array) or "FLOAT", array


def _constant(known: Known, found: Mapping[int, Array]) -> OnnxValue:
    value = known.value
    assert value is not None
    array = found[id(value)]
    return OnnxValue(value.element, array.shape, read=lambda: array, name=value.name)


def _violations(walk: Walk, visit: Visit) -> Iterator[Violation]:
    """The violations of the descs of a node."""
    for number in visit.made:
        node = walk.builder._nodes[number]
        if isinstance(node, Node):
            yield from (of_node(one, node, number) for one in node.refused)


def _live(wanted: Iterable[Known]) -> set[int]:
    """The nodes that values depend on."""
    found: set[int] = set()
    left = [known.source for known in wanted if known.source is not None]
    while left:
        visit = left.pop()
        if id(visit) not in found:
            found.add(id(visit))
            left += [known.source for known in visit.inputs if known is not None and known.source is not None]
    return found


def _ready(walk: Walk, wanted: Sequence[Known]) -> set[int]:
    """The nodes of which all outputs that a graph can compute are known, and of which no desc is refused."""
    ready: set[int] = set()
    for visit in walk.all():
        if visit.fate in ("unknown", "inside"):
            continue
        inputs = [known for known in visit.inputs if known is not None and known.source is not None]
        if not all(known.is_constant or id(known.source) in ready for known in inputs):
            continue
        if visit.fate != "converted" or not any(_violations(walk, visit)):
            ready.add(id(visit))
    return ready


def names_of(walk: Walk) -> dict[Port, str]:
    """ONNX's name for each value of the DirectML graph: of several for one value, that of the first."""
    found: dict[Port, str] = {}
    for visit in walk.all():
        for known, name in zip(visit.outputs, visit.node.outputs, strict=True):
            value = None if known.value is None else known.value.value
            if value is not None and name and value._port.node is not None:
                found.setdefault(value._port, name)
    return found
