"""Where ONNX Runtime's DirectML provider puts the nodes of a model, and why: its rules, in its order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final, Literal, NamedTuple, TypeAlias

from dmlcy._frontends.dxdispatch.problems import message_of
from dmlcy._frontends.onnx import queries
from dmlcy._frontends.onnx.elements import parameter
from dmlcy._frontends.onnx.model import ELEMENTS
from dmlcy._frontends.onnx.tables import OperatorRow, Version, shown
from dmlcy._frontends.onnx.visits import Known, Visit
from dmlcy._words.values import listing

Where: TypeAlias = Literal["dml", "view", "folded", "removed", "fused", "cpu"]
SMALL: Final = 100
"""Elements of a constant up to which a node that reads the constant may go to the CPU."""


class Reason(NamedTuple):
    """Why a node is where it is: an id of specs/onnx/errors.toml, and the values of its message."""

    id: str
    values: dict[str, object]

    @property
    def message(self) -> str:
        """The text."""
        return message_of(self.id, self.values)


def reason(slug: str, **values: object) -> Reason:
    """The reason DML-ONNX-<slug>."""
    return Reason(f"DML-ONNX-{slug}", values)


@dataclass(slots=True, eq=False)
class Placement:
    """A node, where it goes, and why not to a DirectML graph.

    ``reasons``: why it is on the CPU, or why it is compiled alone. ``partition``: the number of its DirectML graph.
    """

    visit: Visit
    where: Where
    reasons: list[Reason] = field(default_factory=list)
    partition: int | None = None

    @property
    def in_graph(self) -> bool:
        """Whether it is a part of a DirectML graph."""
        return self.where in ("dml", "view") and not self.reasons


class Placer:
    """Places the nodes of a model.

    Parameters
    ----------
    opsets
        The version of each domain that the nodes are of.
    visits
        The nodes.
    types
        The data types of DirectML that the device has; None: all.

    Attributes
    ----------
    placements
        Where each node goes, also nodes inside others, but not nodes that others replace.
    partitions
        The number of DirectML graphs.
    has_subgraph
        Whether a node has a graph inside it: then ONNX Runtime makes no DirectML graph of any node.
    """

    def __init__(
        self, opsets: Mapping[str, int], visits: Iterable[Visit], types: Collection[str] | None = None
    ) -> None:
        self.opsets = opsets
        self.types = types
        several = [one for visit in visits for one in visit.all()]
        self.has_subgraph = any(one.inner and one.fate != "inside" for one in several)
        self.placements = [self._placement(one) for one in several if one.fate != "inside"]
        _prefer_cpu(self.placements)
        for one in self.placements:
            if one.where in ("dml", "view"):
                one.reasons += [*self._alone(one.visit)][:1]
        self.partitions = _partition(self.placements)

    def _placement(self, visit: Visit) -> Placement:
        row, version = visit.row, visit.version
        if visit.fate == "folded":
            return Placement(visit, "folded")
        if row is None or version is None:
            return Placement(visit, "cpu", [self._unknown(visit)])
        if row.place == "removed" and version.since not in row.kernels:
            return Placement(visit, "removed")
        why = _kernel(row, version)
        found = [] if why is None else [why]
        if row.kernels and row.place != "cpu":
            asked = (_data_type(visit, row, version), self._device(visit, row), _query(visit, row))
            found += [one for one in asked if one is not None][:1]
        if found:
            return Placement(visit, "cpu", found)
        return Placement(visit, "view" if row.place == "view" else "dml")

    def _unknown(self, visit: Visit) -> Reason:
        name = shown(visit.node.domain, visit.node.operator)
        if visit.row is None or not visit.row.versions:
            return reason("cpu-unknown", operator=name)
        opset, first = self.opsets.get(visit.node.domain, 1), visit.row.versions[0].since
        return reason("cpu-opset", operator=name, opset=opset, first=first)

    def _device(self, visit: Visit, row: OperatorRow) -> Reason | None:
        """Whether the device has the data types of the tensors, except tensors that the kernel reads on the CPU."""
        if self.types is None:
            return None
        read = [one for place, one in enumerate(visit.inputs) if place not in row.constants]
        for known in (*read, *visit.outputs):
            dtype = ELEMENTS[known.element].directml if known is not None and known.element in ELEMENTS else None
            if dtype is not None and dtype not in self.types:
                return reason("cpu-device", dtype=dtype)
        return None

    def _alone(self, visit: Visit) -> Iterator[Reason]:
        """Why a node is compiled by itself, and not as a part of a graph."""
        row, node = visit.row, visit.node
        assert row is not None
        if row.place == "shader":
            yield reason("alone-shader", operator=shown(row.domain, row.name))
        if row.graph == "never":
            yield reason("alone-never", operator=shown(row.domain, row.name))
        if row.graph == "two inputs" and len(node.inputs) != 2:
            yield reason("alone-inputs", operator=shown(row.domain, row.name), count=len(node.inputs))
        if self.has_subgraph:
            yield reason("alone-subgraph")
        # Sizes of outputs that are not known often follow from an input that is no constant, which is the reason then.
        yield from (reason("alone-sizes", name=name) for name in _unsized(_inputs(visit)))
        yield from (reason("alone-empty", name=name) for name in _empty(visit, row))
        yield from (reason("alone-constant", name=name) for name in _computed(visit, row))
        yield from (reason("alone-sizes", name=name) for name in _unsized(_names(visit)))


def _kernel(row: OperatorRow, version: Version) -> Reason | None:
    """Whether there is a kernel of this version, which must be the same."""
    name = shown(row.domain, row.name)
    if row.place == "cpu":
        return reason("cpu-memory" if row.fold else "cpu-control", operator=name)
    if not row.kernels:
        return reason("cpu-kernel", operator=name)
    if version.since in row.kernels:
        return None
    kernels = listing([*map(str, row.kernels)])
    return reason("cpu-version", operator=name, version=version.since, kernels=kernels, advice=_advice(row, version))


def _data_type(visit: Visit, row: OperatorRow, version: Version) -> Reason | None:
    for known, tensor in _tensors(visit, version):
        allowed = row.types.get(tensor)
        if allowed and "all" not in allowed and known.element is not None and known.element not in allowed:
            name = shown(row.domain, row.name)
            return reason("cpu-type", operator=name, tensor=tensor, element=known.element, allowed=listing(allowed))
    return None


def _query(visit: Visit, row: OperatorRow) -> Reason | None:
    what = queries.of(visit)
    return None if what is None else reason("cpu-query", operator=shown(row.domain, row.name), what=what)


def older_opset(row: OperatorRow, version: Version) -> int | None:
    """The newest older opset whose version of the operator has a kernel; None where there is none."""
    older = [one for one in row.kernels if one < version.since]
    after = [one.since for one in row.versions if older and one.since > max(older)]
    return min(after) - 1 if after else None


def _advice(row: OperatorRow, version: Version) -> str:
    """The opsets whose version of the operator has a kernel."""
    older, newer = older_opset(row, version), [one for one in row.kernels if one > version.since]
    words = [f"opset {older} or less"] if older is not None else []
    words += [f"opset {min(newer)}" + ("" if words else " or more")] if newer else []
    return ", or ".join(words)


def _tensors(visit: Visit, version: Version) -> Iterator[tuple[Known, str]]:
    """The facts of each input and output, with the name of its parameter."""
    for rows, several in ((version.inputs, visit.inputs), (version.outputs, visit.outputs)):
        for place, known in enumerate(several):
            one = parameter(rows, place)
            if known is not None and one is not None:
                yield known, one.name


def _inputs(visit: Visit) -> Iterator[tuple[str, Known]]:
    for name, known in zip(visit.node.inputs, visit.inputs, strict=True):
        if name and known is not None:
            yield name, known


def _names(visit: Visit) -> Iterator[tuple[str, Known]]:
    yield from _inputs(visit)
    yield from ((name, known) for name, known in zip(visit.node.outputs, visit.outputs, strict=True) if name)


def _is_whole(known: Known) -> bool:
    return known.sizes is not None and all(isinstance(one, int) for one in known.sizes)


def _unsized(named: Iterable[tuple[str, Known]]) -> Iterator[str]:
    yield from (name for name, known in named if not _is_whole(known))


def _empty(visit: Visit, row: OperatorRow) -> Iterator[str]:
    """The tensors without elements, those apart that the kernel reads on the CPU."""
    read = {id(visit.inputs[place]) for place in row.constants if place < len(visit.inputs)}
    for name, known in _names(visit):
        if known.sizes is not None and 0 in known.sizes and id(known) not in read:
            yield name


def _computed(visit: Visit, row: OperatorRow) -> Iterator[str]:
    """The inputs that the kernel reads on the CPU, and that are no constants."""
    for place in row.constants:
        known = visit.inputs[place] if place < len(visit.inputs) else None
        if known is not None and not known.is_constant:
            yield visit.node.inputs[place]


def _prefer_cpu(placements: list[Placement]) -> None:
    """Move nodes to the CPU that read only what is in its memory, or is small: computations with shapes.

    That memory has the outputs of Shape and Size, and of the nodes without a kernel that read these.
    """
    there = {id(one.visit) for one in placements if _is_shape(one)}
    for one in placements:
        sources = [name for name, known in _inputs(one.visit) if id(known.source) in there]
        if not sources:
            continue
        if one.where in ("dml", "view") and _is_cheap(one.visit, there):
            one.where = "cpu"
            one.reasons = [reason("cpu-shape", name=sources[0])]
        if one.where == "cpu":
            there.add(id(one.visit))


def _is_shape(one: Placement) -> bool:
    """Whether a node has a DirectML kernel whose output is in the memory of the CPU."""
    row, version = one.visit.row, one.visit.version
    if one.where != "cpu" or row is None or version is None:
        return False
    return row.place == "cpu" and row.fold != "" and version.since in row.kernels


def _is_cheap(visit: Visit, there: Collection[int]) -> bool:
    """Whether all inputs are in the memory of the CPU, inputs of the model, or small constants."""
    assert visit.row is not None
    for place, known in enumerate(visit.inputs):
        if known is None:
            continue
        if known.element in ("FLOAT16", "BFLOAT16"):
            return False
        if known.value is not None and known.is_constant:
            if prod(known.value.sizes) > SMALL:
                return False
        elif known.source is not None and (id(known.source) not in there or place in visit.row.constants):
            return False
    return True


def _partition(placements: list[Placement]) -> int:
    """Number the DirectML graphs: nodes join the graphs of their inputs, until a node elsewhere reads from a graph."""
    parent: list[int] = []
    frozen: set[int] = set()

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    of: dict[int, int] = {}
    for one in placements:
        sources = {
            root(of[id(known.source)])
            for known in one.visit.inputs
            if known is not None and known.source is not None and id(known.source) in of
        }
        if not one.in_graph:
            if one.where != "folded":
                frozen |= sources
            continue
        mine = sorted(sources - frozen)
        if not mine:
            mine = [len(parent)]
            parent.append(mine[0])
        for other in mine[1:]:
            parent[other] = mine[0]
        of[id(one.visit)] = mine[0]
    numbers: dict[int, int] = {}
    for one in placements:
        if id(one.visit) in of:
            one.partition = numbers.setdefault(root(of[id(one.visit)]), len(numbers))
    return len(numbers)
