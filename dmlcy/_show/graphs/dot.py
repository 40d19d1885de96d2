"""A graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dmlcy._errors import Violation
from dmlcy._graph.model import Structure
from dmlcy._show.graphs.parts import Box, boxes, printable
from dmlcy._show.graphs.parts import lines as edges_of

MOST = 100
"""Letters of a row."""
SHAPES = {"input": "ellipse", "output": "ellipse", "constant": "note", "node": "box"}


def lines(graph: Structure, violations: Sequence[Violation]) -> Iterator[str]:
    """The lines of the file; what is wrong is red, with its ids."""
    yield "digraph {"
    yield '  node [fontname="sans-serif" fontsize=10]; edge [fontname="sans-serif" fontsize=8]'
    for box in boxes(graph, violations):
        mark = " color=red fontcolor=red penwidth=2" if box.wrong else ""
        yield f"  {box.key} [shape={SHAPES[box.kind]} label={_label(box)}{mark}]"
    for line in edges_of(graph, violations):
        mark = " color=red style=dashed penwidth=2" if line.wrong else ""
        yield f"  {line.begin} -> {line.end} [label={_text([line.sizes, *line.wrong])}{mark}]"
    yield "}"


def _label(box: Box) -> str:
    return _text([box.title, *(row for row in (box.name, box.origin) if row), *box.wrong])


def _text(rows: Sequence[str]) -> str:
    """Rows in quotation marks, without what a terminal would obey."""
    return '"' + "\\n".join(printable(row, MOST).replace("\\", "\\\\").replace('"', '\\"') for row in rows) + '"'
