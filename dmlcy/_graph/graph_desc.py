"""The graph that users hold: checked, compiled and planned like the desc of an operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dmlcy._desc.minimum import MinimumLevel
from dmlcy._desc.whole import Switches, Whole
from dmlcy._errors import raise_violations
from dmlcy._facts.levels import NEWEST
from dmlcy._graph.check import violations
from dmlcy._graph.levels import LevelTable, levels_of
from dmlcy._graph.limits import MOST
from dmlcy._graph.minimum import minimum_level
from dmlcy._graph.model import Constant, Edge, End, Node, Port, Structure
from dmlcy._graph.owned import LEAST, arrays_of, as_constants, as_inputs, large_constants
from dmlcy._graph.plan import Plan, plan_of
from dmlcy._graph.run import CompiledGraph
from dmlcy._graph.violations import GraphViolation
from dmlcy._graph.wiring import wiring_of


class GraphDesc(Structure, Whole[CompiledGraph, GraphViolation]):
    """A graph of operators, like DML_GRAPH_DESC. Immutable. ``dmlcy.check`` says what is wrong with it.

    Attributes
    ----------
    nodes
        Operators (``Node``) and constants (``Constant``).
    inputs, outputs
        The inputs and outputs of the graph (``End``), each with its name and its desc. Without a desc, an input has the
        desc of the first tensor that reads it, with its axes in the order of memory. An output has the desc of its
        tensor.
    edges
        Which tensor reads which value (``Edge``): the bytes of the value, under the desc of the tensor.
    names
        Names of values, each with the port of its source.
    limit
        The most nodes that a check looks at.
    """

    @classmethod
    def from_names(
        cls,
        nodes: Sequence[tuple[Node | Constant, Sequence[str | None], Sequence[str | None]]],
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        limit: int = MOST,
    ) -> GraphDesc:
        """A graph whose edges are names, as in serialized graphs.

        Parameters
        ----------
        nodes
            The nodes, each with the names of its input tensors and of its output tensors, in the order of its struct.
            ``None`` or ``""`` is a tensor that is left out.
        inputs, outputs
            The names of the values that are inputs and outputs of the graph.
        limit
            The most nodes that a check looks at.
        """
        names = [(Port(None, index), name) for index, name in enumerate(inputs)]
        for number, (_, _, given) in enumerate(nodes):
            names += [(Port(number, index), name) for index, name in enumerate(given) if name]
        sources: dict[str, Port] = {}
        for port, name in names:
            sources.setdefault(name, port)
        targets = [(Port(None, index), name) for index, name in enumerate(outputs)]
        for number, (_, given, _) in enumerate(nodes):
            targets += [(Port(number, index), name) for index, name in enumerate(given) if name]
        edges = tuple(Edge(sources.get(name), port, name) for port, name in targets)
        return cls(
            tuple(node for node, _, _ in nodes), tuple(map(End, inputs)), tuple(map(End, outputs)), edges,
            tuple(names), limit,
        )  # fmt: skip

    def _violations(self, level: int) -> list[GraphViolation]:
        return [one for one in violations(self, level) if one.severity == "error"]

    def _warnings(self, level: int) -> list[GraphViolation]:
        return [one for one in violations(self, level) if one.severity == "warning"]

    def _minimum(self) -> MinimumLevel:
        return minimum_level(self)

    def _compiled(self, level: int, path: str | None, without: Switches) -> CompiledGraph:
        return CompiledGraph(self, level, path, without)

    def constants_as_inputs(self, least: int = LEAST) -> tuple[GraphDesc, dict[str, Any]]:
        """The graph with its larger constants as inputs with the flag OWNED_BY_DML, and the arrays for them by name.

        So ONNX Runtime's DirectML provider builds graphs, and such a graph does not need level 6_2. A constant that is
        an output of the graph stays a constant. So does a constant of a tensor that may not have the flag, such as a
        weight of LSTM. The graph must be valid.

        Parameters
        ----------
        least
            Constants of fewer bytes stay constants.
        """
        self._valid("constants_as_inputs")
        numbers = large_constants(self, least)
        return as_inputs(self, numbers), arrays_of(self, numbers)

    def inputs_as_constants(self, arrays: Mapping[str, object]) -> GraphDesc:
        """The graph with the inputs of these names as constants, in front of the other nodes. The graph must be valid.

        Parameters
        ----------
        arrays
            The elements, by the name of the input.
        """
        self._valid("inputs_as_constants")
        return as_constants(self, arrays)

    def levels(self) -> LevelTable:
        """The lowest feature level of each node, constants apart; also of a graph with violations."""
        return levels_of(self)

    @property
    def value_names(self) -> dict[Port, str]:
        """A name for each value, as plans, dumps and compiled graphs have it; no two are the same."""
        return dict(wiring_of(self).value_names)

    def plan(self) -> Plan:
        """The nodes in the order in which they run, with the memory that each takes; the graph must be valid."""
        self._valid("plan")
        return plan_of(self, by_reference=False)

    def _valid(self, function: str) -> None:
        """Raises what is wrong with the graph."""
        found = self._violations(NEWEST)
        if found:
            raise_violations(found, function)
