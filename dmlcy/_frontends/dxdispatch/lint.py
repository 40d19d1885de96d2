"""Everything that is wrong with model files, as data: what the reports of ``dmlcy lint`` are made from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from dmlcy._desc.minimum import MinimumLevel, minimum_feature_level
from dmlcy._errors import SEARCHED, DmlError, Violation, as_json
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, FeatureLevelName
from dmlcy._frontends.dxdispatch import buffers, graph_models
from dmlcy._frontends.dxdispatch.excerpt import Excerpt, excerpt
from dmlcy._frontends.dxdispatch.graph_models import Loaded
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.mend import Mend
from dmlcy._frontends.dxdispatch.model import Dispatchable, is_desc, read
from dmlcy._frontends.dxdispatch.operators import Desc, parse_alone
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, Place, Problem, in_order
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.returned import Returned, returned_to
from dmlcy._graph.minimum import lowest


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation, or a warning, with its place and the line there; no line where there is no text.

    ``mends``: its repairs; ``unsearched``: they were not searched.
    """

    place: Place
    violation: Violation
    warning: bool
    line: Excerpt | None
    mends: tuple[Mend, ...] = ()
    unsearched: bool = False

    @property
    def severity(self) -> str:
        return "warning" if self.warning else "error"

    @property
    def nearest(self) -> str:
        """The nearest valid value as JSON, of what is marked; not where the hint has it."""
        fix = self.violation.fix
        shown = "" if fix is None else json.dumps(as_json(fix))
        return shown if shown not in self.violation.hint else ""

    @property
    def sentence(self) -> str:
        """The violation and its remedies, in a line."""
        nearest = f"Nearest valid value: {self.nearest}." if self.nearest else ""
        search = self.violation._search
        repairs = "" if search is None else search.sentence
        return " ".join(part for part in (self.violation.message, self.violation.hint, nearest, repairs) if part)

    @property
    def end_column(self) -> int:
        """The column behind what is marked in the line."""
        return self.place.column + max(1, len(self.line.marked) if self.line else 0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The needs of a dispatchable; no operator where it was not understood, no minimum where no level will do.

    ``nodes``: of a graph, how many it has.
    """

    name: str
    place: Place
    operator: str | None
    minimum: MinimumLevel | None
    nodes: int | None = None

    @property
    def dxdispatch(self) -> bool:
        """Whether a stock DxDispatch knows the level."""
        return self.minimum is not None and LEVELS[LEVEL_INDEX[self.minimum.level]].dxdispatch


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file: its findings in their order there, its dispatchables, and its text where it is one.

    ``elsewhere``: of an ONNX model, what no desc is checked for, in a sentence; "" where all nodes are on DirectML.
    """

    name: str
    findings: tuple[Finding, ...]
    dispatchables: tuple[Verdict, ...] = ()
    text: str = ""
    elsewhere: str = ""

    @property
    def returned(self) -> Returned | None:
        """The result of DirectML for the call whose desc is in the file, if the name of the file has it."""
        return returned_to(self.name)

    @property
    def unsearched(self) -> int:
        """How many violations have repairs that were not searched."""
        return sum(finding.unsearched for finding in self.findings)

    @property
    def status(self) -> int:
        """The exit status: 0 clean, 1 violations, 2 unreadable."""
        wrong = [finding.violation.id for finding in self.findings if not finding.warning]
        return 2 if not UNREADABLE.isdisjoint(wrong) else int(bool(wrong))


@dataclass(frozen=True, slots=True)
class Report:
    """All files, at a feature level."""

    level: FeatureLevelName
    files: tuple[FileReport, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for file in self.files for finding in file.findings)

    @property
    def status(self) -> int:
        """The worst of the files."""
        return max((file.status for file in self.files), default=0)

    def count(self, severity: str) -> int:
        """How many findings are ``"error"`` or ``"warning"``."""
        return sum(finding.severity == severity for finding in self.findings)


def lint(document: Document, level: FeatureLevelName, folder: Path = Path()) -> FileReport:
    """Look at a model, or at one desc, at a feature level. Nothing is executed, and of the files that a model names,
    which lie in ``folder``, only serialized graphs are opened."""
    if document.root.kind == "object" and is_desc(document.root):
        return _lint_desc(document, level)
    model = read(document, Path())
    reader = Reader(document)
    found = [*model.warnings, *model.problems]
    valid = {}
    for name, dispatchable in model.dispatchables.items():
        violations = dispatchable.desc.problems(reader, level)
        found += [*violations, *dispatchable.desc.warnings(reader, level)]
        if not violations:
            valid[name] = dispatchable
    found += buffers.problems(model, valid)
    graphs = graph_models.load(reader, model, folder, level, fill=False)
    graph_models.check(reader, model, graphs)
    found += [*reader.problems, *reader.warnings]
    members = document.root.get("dispatchables")
    verdicts = [
        _verdict(name, document.place(node, key=True), model.dispatchables.get(name), graphs.get(name))
        for name, node in (members.value.items() if members is not None and members.kind == "object" else ())
    ]
    return FileReport(document.name, findings(found, document.text), tuple(verdicts), document.text)


def _lint_desc(document: Document, level: FeatureLevelName) -> FileReport:
    """Look at one desc, which has the name of its operator."""
    reader, root = Reader(document), document.root
    desc = parse_alone(reader, root)
    found = [] if desc is None else [*desc.problems(reader, level), *desc.warnings(reader, level)]
    found += [*document.warnings, *reader.problems, *reader.warnings]
    place = document.place(root)
    minimum = None if desc is None else _minimum(desc)
    verdict = Verdict(Path(document.name).stem, place, None if desc is None else desc.operator.name, minimum)
    return FileReport(document.name, findings(found, document.text), (verdict,), document.text)


def findings(problems: Iterable[Problem], text: str) -> tuple[Finding, ...]:
    """The problems in the order of the file, each with its line, and the first ones with their repairs."""
    found = []
    left = SEARCHED
    for problem in in_order(problems):
        place, violation = problem.place, problem.violation
        line = excerpt(text, place.at, place.column) if place.at >= 0 else None
        searches = violation._search is not None and violation._search.searches
        unsearched = searches and left == 0
        if unsearched:
            violation = replace(violation, _search=None)
        left -= searches and not unsearched
        mends = [Mend(one, problem.mender(one) if problem.mender else ()) for one in violation.repairs]
        found.append(Finding(place, violation, problem.warning, line, tuple(mends), unsearched))
    return tuple(found)


def _verdict(name: str, place: Place, dispatchable: Dispatchable | None, graph: Loaded | None) -> Verdict:
    if graph is not None:
        return Verdict(name, place, None, lowest(graph.graph) if graph.valid else None, len(graph.graph.nodes))
    if dispatchable is None:
        return Verdict(name, place, None, None)
    return Verdict(name, place, dispatchable.desc.operator.name, _minimum(dispatchable.desc))


def _minimum(desc: Desc) -> MinimumLevel | None:
    """The lowest level at which a desc is valid."""
    try:
        return minimum_feature_level(desc.value)
    except DmlError:
        return None
