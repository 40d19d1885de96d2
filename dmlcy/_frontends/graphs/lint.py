"""Everything that is wrong with a graph in JSON, as data: what the reports of ``dmlcy lint`` are made from."""

from __future__ import annotations

from pathlib import Path

from dmlcy._desc.minimum import MinimumLevel
from dmlcy._errors import DmlError
from dmlcy._facts.tables import LEVEL_INDEX, FeatureLevelName
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.lint import FileReport, Verdict, findings
from dmlcy._frontends.graphs.files import read
from dmlcy._frontends.graphs.serialized import Serialized
from dmlcy._graph.limits import MOST
from dmlcy._graph.minimum import lowest


def lint(document: Document | Serialized, level: FeatureLevelName, limit: int = MOST) -> FileReport:
    """Look at a graph at a feature level. Nothing is executed, and no file that it names is opened."""
    found = read(document, Path(), limit=limit, fill=False)
    problems = [*found.warnings, *found.wrong]
    minimum: MinimumLevel | None = None
    if found.graph is not None:
        wrongs = found.broken(LEVEL_INDEX[level])
        problems += wrongs
        if not found.wrong and all(one.warning or _is_late(one.violation.error) for one in wrongs):
            try:
                minimum = lowest(found.graph)
            except DmlError:
                minimum = None
    count = None if found.graph is None else len(found.graph.nodes)
    verdict = Verdict(Path(document.name).stem, found.file, None, minimum, count)
    return FileReport(document.name, findings(problems, found.text), (verdict,), found.text)


def _is_late(error: str) -> bool:
    """Whether a later level would do."""
    return error == "FeatureLevelError"
