"""A model, node by node: what is known of each value, and the DirectML nodes that each node becomes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from math import prod
from typing import Final, TypeAlias
from weakref import ref

import numpy as np

from dmlcy._compile import compile
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.onnx import folding, inlining, valid
from dmlcy._frontends.onnx.binding import FreeDimension, bound
from dmlcy._frontends.onnx.elements import as_element, element_of, output_elements
from dmlcy._frontends.onnx.model import ELEMENTS, ONNX, Graph, Info, Model, Node, Sizes, Tensor
from dmlcy._frontends.onnx.structure import ordered
from dmlcy._frontends.onnx.tables import OperatorRow, Version, operator
from dmlcy._frontends.onnx.use import Unconverted, Use
from dmlcy._frontends.onnx.values import LARGEST, OnnxValue, from_directml, to_directml
from dmlcy._frontends.onnx.visits import NOTHING, Given, Known, Path, Visit, key_of
from dmlcy._graph.build import Graph as Builder
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.limits import MOST
from dmlcy._types import Array

EAGER: Final = 65_536
"""Elements of constant inputs up to which a node is folded at once; else when the elements are asked for."""
DEEPEST: Final = 64
"""How deep nodes may be inside others."""
Scope: TypeAlias = ChainMap[str, Known]
Conversion: TypeAlias = Callable[[Use], OnnxValue | tuple[OnnxValue | None, ...] | None]
"""Makes the DirectML nodes of a node, and gives its output, or its outputs; None: an output that nothing reads."""


@cache
def _conversion(group: str, name: str) -> Conversion:
    """The function that converts the nodes of an operator."""
    found: Conversion = getattr(import_module(f"dmlcy._frontends.onnx.conversions.{group}"), name)
    return found


class Walk:
    """Goes through a model in the order of its values, when it is made.

    Parameters
    ----------
    model
        The model.
    sizes
        Sizes of graph inputs, by name, where the model leaves them free.
    limit
        The most nodes of DirectML, and the most nodes of functions in the place of others.
    given
        The facts of values that a run knows. ``None``: the model does not run.

    Attributes
    ----------
    visits
        The nodes of the model in the order of their values.
    inputs
        The values that are inputs of the DirectML graph, constants among them, in its order.
    """

    def __init__(
        self,
        model: Model,
        sizes: Mapping[str, Sequence[int]] | None = None,
        limit: int = MOST,
        given: Given | None = None,
    ) -> None:
        self.model, self.limit = model, limit
        self.runs, self.given = given is not None, given or NOTHING
        # The sizes of inputs, and the numbers of free dimensions that have one now.
        self.bound, self.dimensions = bound(model, sizes or {})
        self.builder = Builder(limit=limit, collect=True, unique_names=True)
        self.inputs: list[OnnxValue] = []
        self.keys: dict[int, str] = {}  # of the inputs, by their identity, that a run feeds with what it has computed
        self.inlined = 0  # nodes that took the place of others
        self.scope = self._scope(model.graph, ChainMap(), top=True)
        self.visits = self._visit_graph(model.graph, self.scope, model.opsets, ())

    @property
    def _is_bound(self) -> bool:
        """Whether sizes are given. Without them ONNX Runtime corrects what a model says of sizes when it loads it."""
        return bool(self.bound or self.dimensions)

    @property
    def _count(self) -> int:
        """The number of DirectML nodes so far."""
        return len(self.builder._nodes)

    def graph(self) -> GraphDesc | None:
        """The DirectML graph; None where no node was converted.

        Its outputs are those of the model whose sizes are known, and the values that no node of the graph reads.
        """
        visits = [one for one in self.all() if one.fate == "converted"]
        read = {id(known.value) for one in visits for known in one.inputs if known is not None}
        given = [self.scope[one.name] for one in self.model.graph.outputs if one.name in self.scope]
        given += [known for one in visits for known in one.outputs if id(known.value) not in read]
        values = [one.value for one in given if one.value is not None and one.value.value is not None]
        outputs = {id(one): one.value for one in values if one.value is not None}
        return self.builder.build(*outputs.values()) if visits and outputs else None

    def all(self) -> Iterator[Visit]:
        """All visits, those inside others too."""
        for visit in self.visits:
            yield from visit.all()

    def free(self) -> Iterator[FreeDimension]:
        """The sizes of inputs that the model and the user leave open."""
        for info in self.model.graph.inputs:
            sizes = self.sizes(info) if info.name not in self.model.graph.initializers else ()
            for axis, size in enumerate(sizes or ()):
                if not isinstance(size, int):
                    yield FreeDimension(info.name, axis, size or "", sizes or ())

    # Values ----------------------------------------------------------------------------------------------------------

    def sizes(self, info: Info) -> Sizes | None:
        """The sizes of a value, with the numbers that free dimensions have now."""
        given = self.bound.get(info.name)
        if given is not None or info.sizes is None:
            return given
        return tuple(self.dimensions.get(one, one) if isinstance(one, str) else one for one in info.sizes)

    def _scope(self, graph: Graph, outer: Scope, *, top: bool = False) -> Scope:
        """The values known before the nodes of a graph: its inputs and initializers, and the values around it."""
        scope = outer.new_child()
        # From version 4 on, an initializer that is an input too may be replaced when the model runs.
        replaceable = {one.name for one in graph.inputs} if top and self.model.ir_version >= 4 else set()
        if self.runs:
            replaceable &= self.given.replaced
        for name, tensor in graph.initializers.items():
            if name not in replaceable:
                value = OnnxValue(tensor.element, tensor.sizes, read=partial(_read, tensor), name=name)
                scope[name] = Known(tensor.element, tensor.sizes, value)
        for info in graph.inputs:
            if info.name not in scope or info.name not in graph.initializers:
                scope[info.name] = self._said(info) if top or info.name not in self.bound else Known(info.element)
            if top:
                self._take_given(scope[info.name], (), info.name)
        return scope

    def _take_given(self, known: Known, path: Path, name: str) -> bool:
        """Whether a value, or its sizes, are known from an earlier part of the run; then take them."""
        key = key_of(path, name)
        if key in self.given.computed:
            array, element = self.given.computed[key]
            known.take(OnnxValue(element, array.shape, read=partial(_itself, array), name=name))
            return True
        if key in self.given.fed:
            element, sizes = self.given.fed[key]
            known.take(self._input(element, sizes, name, key))
            return True
        return False

    def _input(self, element: str, sizes: tuple[int, ...], name: str, key: str) -> OnnxValue:
        """A value that is an input of the DirectML graph."""
        dtype = ELEMENTS[element].directml
        assert dtype is not None
        value = OnnxValue(element, sizes, name=name)
        value.value = self.builder.input(TensorDesc(dtype, sizes or (1,)), name=name)
        self.inputs.append(value)
        self.keys[id(value)] = key
        return value

    def _said(self, info: Info, element: str | None = None) -> Known:
        """The facts that the model states of a value: an input of the DirectML graph where all is known."""
        known = Known(element or info.element, self.sizes(info))
        dtype = ELEMENTS[known.element].directml if known.element in ELEMENTS else None
        whole = tuple(one for one in known.sizes or () if isinstance(one, int) and one >= 0)
        if known.element is None or dtype is None or known.sizes is None or len(whole) < len(known.sizes):
            return known
        if 0 not in whole:
            known.take(self._input(known.element, whole, info.name, key_of((), info.name)))
            return known
        nothing = partial(np.zeros, whole, ELEMENTS[known.element].numpy) if self.runs else None
        known.take(OnnxValue(known.element, whole, read=nothing, name=info.name))
        return known

    # Nodes -----------------------------------------------------------------------------------------------------------

    def _visit_graph(self, graph: Graph, scope: Scope, opsets: Mapping[str, int], path: Path) -> list[Visit]:
        """Visit the nodes of a graph; ``scope`` gets their outputs."""
        return self._visit_all(ordered(graph, self.model.file), _infos(graph), scope, opsets, path)

    def _visit_all(
        self, nodes: Sequence[Node], infos: Mapping[str, Info], scope: Scope, opsets: Mapping[str, int], path: Path
    ) -> list[Visit]:
        """Visit nodes in their order; ``scope`` gets their outputs."""
        visits = []
        for node in nodes:
            visit = self._visit(node, scope, opsets, path)
            for known, name in zip(visit.outputs, node.outputs, strict=True):
                if known.value is None and name in infos:
                    said = self._said(infos[name], known.element)
                    known.element, known.sizes, known.value = said.element, said.sizes, said.value
                elif name in infos and self._is_bound and visit.fate in ("converted", "view"):
                    visit.problems += valid.contradictions(infos[name], known.sizes or ())
                if name:
                    scope[name] = known
            visits.append(visit)
        return visits

    def _sized(self, visit: Visit) -> None:
        """Give the outputs of a node without a conversion the sizes of its first input, where the tables say so."""
        first = visit.inputs[0] if visit.inputs else None
        if visit.row is None or visit.row.sizes != "first" or first is None or first.value is None:
            return
        for known, name in zip(visit.outputs, visit.node.outputs, strict=True):
            if known.value is None and name:
                said = self._said(Info(name, known.element, first.value.sizes))
                known.element, known.sizes, known.value = said.element, said.sizes, said.value

    def _visit(self, node: Node, scope: Scope, opsets: Mapping[str, int], path: Path) -> Visit:
        row = operator(node.domain, node.operator)
        version = None if row is None else row.version(opsets.get(node.domain, 1))
        visit = Visit(node, path, row, version, tuple(scope.get(name) if name else None for name in node.inputs))
        visit.outputs = tuple(Known(giver=ref(visit)) for _ in node.outputs)
        if self.runs and self._computed(visit):
            return visit
        try:
            if not self._expanded(visit, scope, opsets) and row is not None and version is not None:
                given = [None if one is None else one.element for one in visit.inputs]
                for known, element in zip(visit.outputs, output_elements(node, row, version, given), strict=True):
                    known.element = element
                visit.problems += (*valid.problems(node, row, version), *valid.types(node, row, version, given))
                if not visit.problems:
                    self._become(visit, row, version)
        except Unconverted as error:
            visit.problems.append(error)
        self._sized(visit)
        if self.runs:
            self._take_outputs(visit)
        return visit

    def _computed(self, visit: Visit) -> bool:
        """Whether an earlier part of the run has computed all outputs of a node; then take them."""
        keys = [key_of(visit.path, name) for name in visit.node.outputs if name]
        if not all(key in self.given.computed or key in self.given.fed for key in keys):
            return False
        self._take_outputs(visit)
        visit.fate = "computed"
        return True

    def _take_outputs(self, visit: Visit) -> None:
        for known, name in zip(visit.outputs, visit.node.outputs, strict=True):
            if name:
                self._take_given(known, visit.path, name)

    def _expanded(self, visit: Visit, scope: Scope, opsets: Mapping[str, int]) -> bool:
        """Visit the nodes inside a node, and whether they take its place."""
        node, row = visit.node, visit.row
        function = self.model.functions.get((node.domain, node.operator, node.overload))
        if function is not None:
            nodes = inlining.expand(function, node)
            self._inside(visit, nodes, {}, scope.new_child(), function.opsets, function.name)
        elif row is not None and row.inlined and visit.version is not None:
            nodes = inlining.inlined(
                row.inlined, node, visit.version, [None if one is None else one.element for one in visit.inputs]
            )
            self._inside(visit, nodes, {}, scope.new_child(), opsets, row.name)
        elif (branch := _branch(visit)) is not None:
            graph = node.attributes[branch].value
            inner = self._scope(graph, scope)
            self._inside(visit, ordered(graph, self.model.file), _infos(graph), inner, opsets, branch)
            for known, info in zip(visit.outputs, graph.outputs, strict=False):
                _copy(known, inner.get(info.name))
        else:
            for name, attribute in node.attributes.items():
                for graph in attribute.value if attribute.kind == "GRAPHS" else (attribute.value,):
                    if isinstance(graph, Graph):
                        inner = self._scope(graph, scope)
                        path = (*visit.path, (node, name))
                        visit.inner += self._visit_graph(graph, inner, opsets, path)
        return visit.fate == "inside"

    def _inside(
        self,
        visit: Visit,
        nodes: Sequence[Node],
        infos: Mapping[str, Info],
        scope: Scope,
        opsets: Mapping[str, int],
        name: str,
    ) -> None:
        """Visit nodes in the place of the node; ``scope`` gets their outputs."""
        self.inlined += len(nodes)
        if self.inlined > self.limit or len(visit.path) >= DEEPEST:
            raise Unconverted("DML-ONNX-function-large", name=name, limit=self.limit, depth=DEEPEST)
        visit.fate = "inside"
        visit.inner = self._visit_all(nodes, infos, scope, opsets, (*visit.path, (visit.node, name)))
        for known, output in zip(visit.outputs, visit.node.outputs, strict=True):
            _copy(known, scope.get(output))

    def _become(self, visit: Visit, row: OperatorRow, version: Version) -> None:
        """Fold the node, or convert it, if what this needs is known."""
        node = visit.node
        if any(
            name and (one is None or one.value is None) for name, one in zip(node.inputs, visit.inputs, strict=True)
        ):
            return
        elements = [one.element or "" for one in visit.outputs]
        inputs = [None if one is None else one.value for one in visit.inputs]
        fold = folding.function(row.fold) if row.fold else None
        convert = _conversion(row.group, row.conversion) if row.conversion else None
        if fold is not None and (row.place == "cpu" or visit.is_constant):
            size = sum(prod(one.sizes) for one in inputs if one is not None and one.is_constant)
            if size <= EAGER or convert is None:
                use = Use(node, row, version, self.builder, inputs, elements)
                try:
                    self._folded(visit, fold(use))
                    return
                except Unconverted as error:
                    if convert is None or error.identifier != "DML-ONNX-fold-large":
                        raise
        if convert is None:
            return
        most = LARGEST if self.runs else None
        # A run makes numbers of weights of 4 bits as they are read: all of them would take eight times the memory.
        few = self.runs and any(one is not None and ELEMENTS[one.element].bits < 8 for one in inputs)
        folds = visit.is_constant and bool(node.inputs) and not few
        if folds and _later(visit, row, version, convert, inputs, elements, most):
            return
        use = Use(node, row, version, self.builder, inputs, elements)
        before = self._count
        try:
            with self.builder.origin(self.model.file, node.name, node.operator):
                made = convert(use)
        finally:
            self.inputs += use.constants
        for known, value in zip(visit.outputs, made if isinstance(made, tuple) else (made,), strict=False):
            if value is not None:
                known.take(value)
        visit.made = range(before, self._count)
        visit.kinds = tuple(one.kind for one in self.builder._nodes[before:])
        visit.fate = "view" if row.place == "view" and not visit.made else "converted"

    def _folded(self, visit: Visit, arrays: Sequence[Array]) -> None:
        visit.fate = "folded"
        for known, array, name in zip(visit.outputs, arrays, visit.node.outputs, strict=False):
            element = known.element or element_of(array) or "FLOAT"
            given = as_element(array, element)
            known.take(OnnxValue(element, array.shape, read=partial(_itself, given), name=name))


def _later(
    visit: Visit,
    row: OperatorRow,
    version: Version,
    convert: Conversion,
    inputs: Sequence[OnnxValue | None],
    elements: Sequence[str],
    most: int | None,
) -> bool:
    """Fold a node when its elements are asked for: its conversion gives the sizes, and computes the elements.

    False where a rule of DirectML refuses the node, so that nothing can compute the elements, and where the node has
    more than ``most``: then each run computes them.
    """
    scratch = Builder(collect=True, unique_names=True)  # a node may read a value twice
    copies = [one and OnnxValue(one.element, one.sizes, read=one.read, name=one.name) for one in inputs]
    use = Use(visit.node, row, version, scratch, copies, elements)
    made = convert(use)
    outputs = (made if isinstance(made, tuple) else (made,))[: len(visit.outputs)]
    if scratch.violations:
        return False
    if most is not None and sum(prod(one.sizes) for one in outputs if one is not None) > most:
        return False
    visit.fate = "folded"
    computed = _Computed(scratch, use.constants, outputs)
    for place, (known, value) in enumerate(zip(visit.outputs, outputs, strict=False)):
        if value is not None:
            read = value.read or partial(computed.output, place)
            known.take(OnnxValue(value.element, value.sizes, read=read, name=value.name))
    return True


class _Computed:
    """The elements of constants that DirectML's operators make of other constants, computed once."""

    def __init__(self, builder: Builder, inputs: list[OnnxValue], outputs: Sequence[OnnxValue | None]) -> None:
        self.builder = builder
        self.inputs = inputs
        self.outputs = outputs
        self.found: list[Array | None] | None = None

    def output(self, place: int) -> Array:
        """The elements of an output."""
        elements = sum(prod(one.sizes) for one in self.outputs if one is not None)
        if elements > LARGEST:
            raise Unconverted("DML-ONNX-fold-large", elements=elements)
        if self.found is None:
            self.found = [*self._compute()]
        found = self.found[place]
        assert found is not None
        return found

    def _compute(self) -> Iterator[Array | None]:
        there = [one for one in self.outputs if one is not None and one.value is not None]
        graph = self.builder.build(*(one.value for one in there if one.value is not None))
        results = compile(graph)(*(_plain(one) for one in self.inputs))
        arrays = iter(results if isinstance(results, tuple) else (results,))
        for one in self.outputs:
            found = None if one is None or one.value is None else next(arrays)
            yield None if one is None or found is None else from_directml(found, one.element, one.sizes)


def _plain(one: OnnxValue) -> Array:
    assert one.read is not None and one.value is not None
    return to_directml(one.read(), one.element, one.value.desc.sizes)


def _infos(graph: Graph) -> dict[str, Info]:
    """The facts that a graph states of the outputs of its nodes."""
    return {**{one.name: one for one in graph.outputs}, **graph.infos}


def _read(tensor: Tensor) -> Array:
    return tensor.array()


def _itself(array: Array) -> Array:
    return array


def _copy(known: Known, other: Known | None) -> None:
    if other is not None:
        known.element, known.sizes, known.value = other.element, other.sizes, other.value
        known.giver = other.giver


def _branch(visit: Visit) -> str | None:
    """The branch that an If with a known condition takes."""
    is_if = visit.row is not None and (visit.row.domain, visit.row.name) == (ONNX, "If")
    condition = visit.inputs[0] if is_if and visit.inputs else None
    if condition is None or condition.value is None or condition.value.read is None:
        return None
    taken = "then_branch" if condition.value.read().reshape(-1)[:1].any() else "else_branch"
    return taken if taken in visit.node.attributes else None
