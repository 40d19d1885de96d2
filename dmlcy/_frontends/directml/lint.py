"""Everything that is wrong with the graphs that a program builds: what the reports of ``dmlcy lint`` are made from."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dmlcy._desc.minimum import LevelReason, MinimumLevel
from dmlcy._errors import DmlError
from dmlcy._facts.tables import LEVEL_INDEX, FeatureLevelName
from dmlcy._frontends.directml.tracing import Built, Spot, Trace
from dmlcy._frontends.dxdispatch.excerpt import excerpt
from dmlcy._frontends.dxdispatch.lint import FileReport, Finding, Verdict, findings
from dmlcy._frontends.dxdispatch.problems import Place, Problem, make, whole
from dmlcy._graph.check import violations
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.limits import MOST
from dmlcy._graph.minimum import NodeReason, lowest
from dmlcy._graph.model import Node
from dmlcy._graph.violations import GraphViolation, without_label

_BY_INTENT: Final = frozenset({"DML-GRAPH-edge-reinterprets"})
"""Warnings about things that programs do on purpose: they call reinterpret."""
_PATIENCE: Final = 2.0
"""Seconds that a program has to end, once it was stopped."""
_START: Final = """import sys
sys.path[:] = {path!r}
from dmlcy import directml
from {module} import main
main(directml, *sys.argv[1:])
"""
"""The code that the process of a program begins with."""


def lint(script: str, level: FeatureLevelName, arguments: Sequence[str] = (), limit: int = MOST) -> FileReport:
    """Run a program without computing, and look at its graphs. The output of the program goes to standard error."""
    if script == "-":
        why = "standard input has no name that a program could be run by: write the program to a file"
        return FileReport("<stdin>", findings([make("DML-MODEL-file", whole("<stdin>"), {"why": why})], ""))
    if not Path(script).is_file():
        why = "it is a folder" if Path(script).is_dir() else "there is no such file"
        return FileReport(script, findings([make("DML-MODEL-file", whole(script), {"why": why})], ""))
    return report(script, _run(script, arguments), level, limit)


def report(script: str, trace: Trace, level: FeatureLevelName, limit: int = MOST) -> FileReport:
    """The report on the graphs of a trace at a feature level."""
    texts = _Texts(script)
    problems: list[Problem] = []
    verdicts = []
    for number, built in enumerate(trace.graphs):
        wrong = [*_of_graph(texts, built, LEVEL_INDEX[level], limit)]
        problems += wrong
        if built.structure is not None:
            count = sum(isinstance(node, Node) for node in built.structure.nodes)
            minimum = _lowest(texts, built, wrong)
            verdicts.append(Verdict(f"graph {number + 1}", texts.place(built.at), None, minimum, count))
    problems += _of_end(texts, trace, any(not one.warning for one in problems))
    return FileReport(script, tuple(map(texts.shown, findings(problems, ""))), tuple(verdicts))


def _run(script: str, arguments: Sequence[str]) -> Trace:
    """The trace of a program in a process of its own, which may end as it likes."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "trace"
        start = _START.format(path=sys.path, module=Trace.__module__)
        command = [sys.executable, "-c", start, str(file), script, *arguments]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=_errors())
        _wait(process)
        if file.is_file():
            found: Trace = pickle.loads(file.read_bytes())
            return found
        code = process.returncode
        status = f"status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        return Trace(end=("script-exit", {"status": status}, None))


def _errors() -> int | None:
    """Where standard error goes, for what a program prints."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):  # it is no file
        return subprocess.DEVNULL


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for a program; Ctrl-C stops the program, which then says where it was."""
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    except ValueError:  # not the main thread
        process.wait()
        return
    try:
        process.wait()
    except KeyboardInterrupt:
        _stop(process)
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Wait for a program that Ctrl-C stops; one that it has not reached is sent the signal, and one that stays ends."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                process.wait(_PATIENCE)
                return
            except subprocess.TimeoutExpired:
                process.send_signal(number)
        process.wait(_PATIENCE)
    except (KeyboardInterrupt, subprocess.TimeoutExpired):
        process.kill()
        process.wait()


def _of_graph(texts: _Texts, built: Built, level: int, limit: int) -> Iterator[Problem]:
    """The problems of a graph, each at the call that made it."""
    graph = built.structure
    for _, refused, at in built.views:
        yield Problem(texts.place(at), refused)
    if graph is None:
        for one in built.refused:
            spot = built.nodes.get(one.node) if isinstance(one, GraphViolation) and one.node is not None else None
            yield Problem(texts.place(spot), one, one.severity == "warning")
        return
    for one in violations(replace(graph, limit=limit), level):
        if one.id not in _BY_INTENT and isinstance(one, GraphViolation):
            yield Problem(texts.place(_spot(built, graph, one)), without_label(graph, one), one.severity == "warning")


def _spot(built: Built, graph: GraphDesc, one: GraphViolation) -> Spot | None:
    """The call that a violation is of: that of its node, of its input, or of ``build``."""
    node = one.node
    if node is None and one.part == "edges" and one.entry is not None:
        edge = graph.edges[one.entry]
        node = edge.target.node if edge.target.node is not None or edge.source is None else edge.source.node
    if node is not None:
        return built.nodes.get(node, built.at)
    if one.part == "inputs" and one.entry is not None:
        return built.inputs.get(one.entry, built.at)
    return built.at


def _lowest(texts: _Texts, built: Built, wrong: Sequence[Problem]) -> MinimumLevel | None:
    """The level that a graph needs, if no level is too low for it, with each reason once and the first call of it."""
    graph = built.structure
    if graph is None or not all(one.warning or one.violation.error == "FeatureLevelError" for one in wrong):
        return None
    try:
        found = lowest(graph)
    except DmlError:
        return None
    first: dict[str, LevelReason] = {}
    for one in found.forced_by:
        node = graph.nodes[one.node] if isinstance(one, NodeReason) else None
        if node is not None and isinstance(one, NodeReason):
            place = texts.place(built.nodes.get(one.node, built.at))
            said = one.subject.replace(graph.label(one.node), node.kind)
            first.setdefault(said, replace(one, subject=f"{said} in {place.file}:{place.line}"))
    return replace(found, forced_by=(*first.values(),))


def _of_end(texts: _Texts, trace: Trace, wrong: bool) -> Iterator[Problem]:
    """Why the program ended early. ``wrong``: a violation was found before, from which that may follow."""
    for one in trace.raised:
        yield Problem(texts.place(trace.end[2] if trace.end else None), one)
    if trace.end is not None and not trace.raised:
        slug, values, spot = trace.end
        yield make(f"DML-MODEL-{slug}", texts.place(spot), values, warning=wrong and slug == "script-raised")
    elif not trace.graphs:
        yield make("DML-MODEL-script-graphs", texts.place(None))


class _Texts:
    """The files of a program, in which its places are."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.known: dict[str, str] = {}
        self.ends: dict[Place, int] = {}

    def place(self, spot: Spot | None) -> Place:
        """The place of a call, with the functions that were running as its path; the whole program for None."""
        if spot is None or spot.line < 1:
            return whole(self.script)
        text, begin = self._text(spot.file), self._offset(spot.file, spot.line, max(spot.column, 0))
        line_begin = self._offset(spot.file, spot.line, 0)
        if spot.column < 0:
            begin += len(text[begin:].split("\n", 1)[0]) - len(text[begin:].split("\n", 1)[0].lstrip())
        end = self._offset(spot.file, spot.end_line, spot.end_column) if spot.column >= 0 else len(text)
        found = Place(spot.file, " > ".join(spot.functions) or "$", spot.line, begin - line_begin + 1, begin)
        self.ends[found] = end
        return found

    def shown(self, one: Finding) -> Finding:
        """A finding with the line of its place."""
        place = one.place
        text = self._text(place.file)
        if place.at < 0 or not text:
            return one
        return replace(one, line=excerpt(text, place.at, place.column, self.ends.get(place)))

    def _text(self, file: str) -> str:
        if file not in self.known:
            try:
                self.known[file] = Path(file).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                self.known[file] = ""
        return self.known[file]

    def _offset(self, file: str, line: int, column: int) -> int:
        """The offset of a line from 1 and a column in bytes of UTF-8 from 0."""
        text, at = self._text(file), 0
        for _ in range(line - 1):
            at = text.find("\n", at) + 1
            if at == 0:
                return len(text)
        return at + len(text[at : at + column].encode()[:column].decode(errors="ignore"))
