"""Judges what a back end wrote for a pack: each output of each case, and each desc that must be refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dmlcy._errors import ModelError
from dmlcy._facts.tables import LEVEL_INDEX
from dmlcy._frontends.dxdispatch.files import open_regular, read_bytes
from dmlcy._frontends.dxdispatch.json import decode
from dmlcy._frontends.dxdispatch.problems import Problem, make, printable, refuse, whole
from dmlcy._judge.expected import manifest_reader
from dmlcy._judge.expected.compare import Comparison, compare
from dmlcy._judge.expected.manifest import Manifest
from dmlcy._judge.packs import reader
from dmlcy._judge.packs.pack import EXPECTED, NAME, REFUSED, Entry, Pack, Refusals
from dmlcy._judge.passes import CORRECT, Device
from dmlcy._judge.verdicts import DOUBTFUL, MISSING, STATUS, worst
from dmlcy._judge.versions import OLD
from dmlcy._words.values import quote

Reached = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A case: the comparison of each output, none where its folder is missing."""

    entry: Entry
    comparisons: tuple[Comparison, ...] = ()

    @property
    def verdict(self) -> str:
        """passed, not judged, suspect, missing, failed or unreadable: the worst of its outputs."""
        return worst(one.verdict for one in self.comparisons)

    @property
    def absent(self) -> bool:
        """Whether there is no result at all: what ``--allow-missing`` allows."""
        return all(one.verdict == MISSING for one in self.comparisons)

    @property
    def worst(self) -> float:
        """The largest error in units of what passes; infinite where nothing but the value itself does."""
        found = (one.differences for one in self.comparisons)
        return max((one.ratio for one in found if one is not None), default=0.0)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a back end on a desc that it must refuse. ``verdict``: passed, failed, missing or unreadable."""

    operator: str
    id: str
    message: str
    verdict: str
    said: str = ""
    problem: Problem | None = None

    @property
    def absent(self) -> bool:
        """Whether there is no answer."""
        return self.verdict == MISSING


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """All cases and all answers."""

    pack: Path
    results: Path
    cases: tuple[Judged, ...]
    answers: tuple[Answer, ...]
    allow_missing: bool
    warnings: Sequence[Problem]

    @property
    def status(self) -> int:
        """2: a file is unreadable; 1: a case failed, or is missing, or all are; 0: the others passed."""
        several: list[Judged | Answer] = [*self.cases, *self.answers]
        left = [one.verdict for one in several if not (self.allow_missing and one.absent)]
        return max((STATUS.get(one, 0) for one in left), default=1)

    @property
    def is_doubtful(self) -> bool:
        """Whether a case is suspect, or nothing of an output is judged."""
        return any(one.verdict in DOUBTFUL for case in self.cases for one in case.comparisons)

    @property
    def passed(self) -> bool:
        """Whether nothing failed, is missing or is doubtful: the status with ``--strict`` is 0."""
        return self.status == 0 and not self.is_doubtful

    @property
    def not_judged(self) -> dict[str, int]:
        """How many elements are not judged, by the id of the interpretation, or BEYOND."""
        found: Counter[str] = Counter()
        for case in self.cases:
            for one in case.comparisons:
                found.update({} if one.differences is None else one.differences.not_judged)
        return dict(found)

    @property
    def unjudged(self) -> int:
        """How many elements are not judged."""
        several = (one.differences for case in self.cases for one in case.comparisons)
        return sum(one.unjudged for one in several if one is not None)


def judge(
    root: Path,
    results: Path,
    operators: Sequence[str],
    level: str,
    allow_missing: bool,
    reached: Reached,
    device: Device = CORRECT,
) -> Report:
    """Judge the results of the cases of some operators (all: none is named) that a level has.

    ModelError for a pack that is damaged, for results that are no folder, and where no case is chosen.
    """
    pack = _chosen(root, reader.read(root), operators, level)
    if not results.is_dir():
        why = "it is not a folder" if results.exists() else "there is no such folder"
        refuse([make("DML-MODEL-actual", whole(str(results)), {"path": str(results), "why": why})])
    files = [(entry.name, file) for entry in pack.cases for file in entry.files]
    damaged = reader.changed(root, [*files, *((".", one.file) for one in pack.refusals)])
    if damaged:
        refuse(damaged)
    cases: list[Judged] = []
    warnings = [*pack.warnings]
    for number, entry in enumerate(pack.cases):
        reached(printable(entry.name), number, len(pack.cases))
        actual = results / entry.name
        if not actual.is_dir():
            cases.append(Judged(entry))
            continue
        found = compare(root / entry.name / EXPECTED, actual, options=device)
        _all_listed(root, entry, found.manifest)
        warnings += [one for one in found.warnings if one.violation.id != OLD or not _has(warnings, OLD)]
        cases.append(Judged(entry, found.comparisons))
    answers = [answer for one in pack.refusals for answer in _answers(root, results, one)]
    return Report(root, results, tuple(cases), tuple(answers), allow_missing, warnings)


def _all_listed(root: Path, entry: Entry, manifest: Manifest) -> None:
    """Refuse a case that was judged by a file which the list does not have: it may have been changed."""
    left = manifest_reader.files(manifest.outputs) - {file.path.removeprefix(f"{EXPECTED}/") for file in entry.files}
    place = whole(str(root / NAME))
    why = [f"not its file {quote(f'{EXPECTED}/{name}')}" for name in sorted(left)]
    if why:
        refuse([make("DML-MODEL-pack-list", place, {"name": entry.name, "why": one}) for one in why])


def _has(warnings: Sequence[Problem], id_: str) -> bool:
    """Whether something was told already, which is told once of a pack and not for each case."""
    return any(one.violation.id == id_ for one in warnings)


def _chosen(root: Path, pack: Pack, operators: Sequence[str], level: str) -> Pack:
    """The part of a pack that is asked for."""

    def is_chosen(operator: str, needed: str) -> bool:
        return (not operators or operator in operators) and LEVEL_INDEX[needed] <= LEVEL_INDEX[level]

    cases = tuple(one for one in pack.cases if is_chosen(one.operator, one.level))
    refusals = tuple(one for one in pack.refusals if is_chosen(one.operator, one.level))
    if not (cases or refusals):
        reader.fail(root / NAME, "the options choose none of its cases")
    return replace(pack, cases=cases, refusals=refusals)


def _answers(root: Path, results: Path, refusals: Refusals) -> Iterator[Answer]:
    """The answers of the back end on the descs of an operator that must be refused."""
    wanted = reader.messages(root / refusals.file.path)
    said, problem = _said(results / refusals.file.path, wanted)
    for id_, message in wanted.items():
        if problem is not None:
            yield Answer(refusals.operator, id_, message, "unreadable", problem=problem)
        elif id_ not in said:
            yield Answer(refusals.operator, id_, message, MISSING)
        else:
            verdict = "passed" if said[id_] == REFUSED else "failed"
            yield Answer(refusals.operator, id_, message, verdict, said[id_])


def _said(path: Path, wanted: Mapping[str, str]) -> tuple[dict[str, str], Problem | None]:
    """The answers in a file by id, none where there is no file; what is wrong with it."""
    place = whole(str(path))
    if not path.exists():
        return {}, None
    try:
        with open_regular(path) as stream:
            data = read_bytes(stream)
        top = decode(str(path), data).root
    except OSError as error:
        return {}, make("DML-MODEL-source", place, {"path": path.name, "why": error.strerror or str(error)})
    except ModelError as error:
        return {}, make("DML-MODEL-json", place, {"what": error.violations[0].message})
    if top.kind != "object":
        return {}, make("DML-MODEL-type", place, {"wanted": "an object", "found": "something else"})
    for name, node in top.value.items():
        if name not in wanted or node.kind != "string":
            return {}, make("DML-MODEL-pack-result", place, {"path": path.name, "name": name})
    return {name: str(node.value) for name, node in top.value.items()}, None
