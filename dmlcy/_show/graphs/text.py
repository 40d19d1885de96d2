"""A graph as text: a line for each input, node and output, with what is wrong below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dmlcy._errors import Violation
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._graph.check import counted
from dmlcy._graph.model import Port, Structure, dtype_name
from dmlcy._graph.violations import GraphViolation
from dmlcy._graph.wiring import Wiring, wiring_of
from dmlcy._show.graphs.parts import sizes_of, titled
from dmlcy._show.terminal import paint
from dmlcy._words.values import quote


def lines(graph: Structure, violations: Sequence[Violation], level: str) -> Iterator[str]:
    """The lines of the report."""
    wiring = wiring_of(graph)
    said: dict[tuple[str, int | None], list[Violation]] = {}
    for one in violations:
        key = (str(one.part), one.entry) if isinstance(one, GraphViolation) else ("graph", None)
        said.setdefault(key, []).append(one)
    counts = [counted(len(graph.nodes), "node"), counted(len(graph.inputs), "input")]
    yield f"{', '.join(counts)}, {counted(len(graph.outputs), 'output')}{level}"
    yield from _said(said.get(("graph", None), []))
    for index, end in enumerate(graph.inputs):
        yield f"{_end('input', index, end.name)}: {_tensor(wiring.desc_of(Port(None, index)))}"
        yield from _said(said.get(("inputs", index), []))
    for number in range(len(graph.nodes)):
        yield f"{graph.label(number)}: {_reads(graph, wiring, number)} -> {_writes(wiring, number)}"
        yield from _said(said.get(("nodes", number), []))
    for index, end in enumerate(graph.outputs):
        port = wiring.source_of(Port(None, index))
        yield f"{_end('output', index, end.name)}: {_source(wiring, port)}"
        yield from _said(said.get(("outputs", index), []))
    for place in range(len(graph.edges)):
        yield from _said(said.get(("edges", place), []))


def _said(violations: Sequence[Violation]) -> Iterator[str]:
    for one in violations:
        yield f"  {paint(f'{one.severity}:', one.severity)} {one}"


def _end(kind: str, index: int, name: str) -> str:
    """An input or an output of the graph: its number, and its name, if it has one."""
    return f"{kind} {index} {titled(name)}".rstrip()


def _reads(graph: Structure, wiring: Wiring, number: int) -> str:
    found = []
    for index, (path, desc) in enumerate(wiring.inputs[number]):
        if desc is not None:
            port = wiring.source_of(Port(number, index))
            found.append(f"{path} {_source(wiring, port)}")
    return ", ".join(found) or "no inputs"


def _source(wiring: Wiring, port: Port | None) -> str:
    """The name of the value that is read."""
    return "nothing" if port is None else quote(wiring.value_names[port])


def _writes(wiring: Wiring, number: int) -> str:
    return ", ".join(
        f"{path} {_tensor(desc or wiring.desc_of(Port(number, index)))}"
        for index, (path, desc) in enumerate(wiring.outputs[number])
        if desc is not None or path == "data"
    )


def _tensor(desc: TensorDesc | None) -> str:
    return "unknown" if desc is None else f"{dtype_name(desc) or 'unknown'} {sizes_of(desc)}"
