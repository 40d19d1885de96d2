"""Compare what a device wrote with the expected values of a manifest, output by output."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from dmlcy._desc.memory import dtype_of
from dmlcy._facts.rows import Field
from dmlcy._frontends.dxdispatch.observer import WrittenFile
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, Place, Problem, Refusal, make, printable, refuse, whole
from dmlcy._frontends.dxdispatch.progress import Reached, nothing
from dmlcy._judge import window
from dmlcy._judge.differences import Differences, measure
from dmlcy._judge.expected import manifest_reader
from dmlcy._judge.expected.actual import RAW, Actual
from dmlcy._judge.expected.allowed import passes_of
from dmlcy._judge.expected.manifest import NAME, Manifest, Output
from dmlcy._judge.expected.manifest_reader import Expected
from dmlcy._judge.passes import CORRECT, Device, Passes
from dmlcy._judge.verdicts import DOUBTFUL, MISSING, STATUS, VERDICTS
from dmlcy._runtime.four_bits import values_of
from dmlcy._runtime.places import indices_of
from dmlcy._types import Array
from dmlcy._words.values import quote, show

_ABSENT: Final = "DML-MODEL-actual-missing"
_NAMED: Final = 8
"""Files that a message names."""

_OTHER: Final = "but not all of the final values of this output"


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The window behind the worst element."""

    field: Field
    place: window.Place
    planes: tuple[window.Plane, ...]

    @property
    def whole(self) -> bool:
        """Whether all of its elements are in the planes."""
        return math.prod(self.place.sizes) == sum(len(row) for plane in self.planes for row in plane.values)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One output: what was found, or the problem that prevented it.

    ``actual`` is the file that this tells of, ``files`` all that were compared with the output. Elements that a later
    dispatch has written over are left out.
    """

    output: Output
    actual: Path
    files: tuple[Path, ...] = ()
    differences: Differences | None = None
    window: Window | None = None
    problem: Problem | None = None

    @property
    def verdict(self) -> str:
        """passed, not judged, suspect, missing (there is no file), failed, or unreadable."""
        if self.differences is not None:
            return self.differences.verdict
        assert self.problem is not None
        if self.problem.violation.id == _ABSENT:
            return MISSING
        return "unreadable" if self.problem.violation.id in UNREADABLE else "failed"

    @property
    def status(self) -> int:
        """2: not readable, 1: failed or missing, 0: anything else."""
        return STATUS.get(self.verdict, 0)

    @property
    def index(self) -> tuple[int, ...]:
        """The index of the worst element."""
        assert self.differences is not None and self.differences.worst is not None
        return self.position(self.differences.worst.at)

    def position(self, at: int) -> tuple[int, ...]:
        """The index of an element, from its place in row-major order."""
        return indices_of(at, self.output.tensor.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """All outputs. ``manifest``: that of the expected values."""

    expected: Path
    actual: Path
    manifest: Manifest
    comparisons: tuple[Comparison, ...]
    warnings: Sequence[Problem]
    options: Device = CORRECT

    @property
    def status(self) -> int:
        """The worst status."""
        return max(comparison.status for comparison in self.comparisons)

    @property
    def is_doubtful(self) -> bool:
        """Whether an output is suspect, or no element of it is judged."""
        return any(comparison.verdict in DOUBTFUL for comparison in self.comparisons)

    @property
    def passed(self) -> bool:
        """Whether each output passed: the status with ``--strict`` is 0."""
        return self.status == 0 and not self.is_doubtful


def compare(expected: Path, actual: Path, reached: Reached = nothing, options: Device = CORRECT) -> Report:
    """Compare a folder with a manifest, or one file of it, with a folder or a file.

    ModelError for expected values that cannot be understood; what is wrong with an actual file is in the report.
    ``reached`` is told how many elements of a file are compared.
    """
    if not os.path.lexists(expected):
        manifest_reader.fail(expected, "there is no such file or folder")
    folder = expected.is_dir()
    source = manifest_reader.read(expected if folder else expected.parent)
    outputs = [one for one in source.manifest.outputs if folder or one.file == expected.name]
    if not outputs:
        manifest_reader.fail(source.folder / NAME, f"it does not list {show(expected.name)}")
    source.complete(outputs)
    warnings = list(source.warnings)
    _check(actual, len(outputs))
    files = _Files(source.manifest, actual)
    pairs = [(output, files.find(output)) for output in outputs]
    warnings += _same(expected, source, actual, pairs)
    found = tuple(_Comparer(source, output, files, warnings, options).compare(own, reached) for output, own in pairs)
    if folder and actual.is_dir():
        warnings += files.extra()
    return Report(expected, actual, source.manifest, found, warnings, options)


def _check(actual: Path, count: int) -> None:
    """Refuse what cannot hold the actual values of so many outputs."""
    if not os.path.lexists(actual):
        _refuse_actual(actual, "there is no such file or folder")
    if not actual.is_dir() and count > 1:
        _refuse_actual(actual, f"it is one file, and there are {count} outputs: name one of the expected files, too")


def _refuse_actual(actual: Path, why: str) -> None:
    refuse([make("DML-MODEL-actual", _place(actual), {"path": str(actual), "why": why})])


def _place(path: Path) -> Place:
    return whole(str(path))


def _warning(identifier: str, path: Path, **values: object) -> Problem:
    return make(identifier, _place(path), {"path": str(path), **values}, warning=True)


def _same(
    expected: Path, source: Expected, actual: Path, pairs: Sequence[tuple[Output, Sequence[Found]]]
) -> list[Problem]:
    """Warnings of what is compared with itself."""
    if expected.is_dir() and actual.is_dir() and expected.samefile(actual):
        return [_warning("DML-MODEL-actual-same", actual)]
    both = [(source.folder / output.file, file.path) for output, files in pairs for file in files]
    return [_warning("DML-MODEL-actual-same", file) for one, file in both if _same_file(one, file)]


@dataclass(frozen=True, slots=True)
class Found:
    """A file of an output; ``written`` says what the model writes to it, None where no ``writeFile`` names it."""

    path: Path
    written: WrittenFile | None


class _Files:
    """The files of a device: one, or those in a folder.

    If the model writes the final values of an output to files, only these count. Else a file in the folder counts that
    has the name of the expected file, with any known suffix, unless the model writes anything to a file of that name.
    """

    def __init__(self, manifest: Manifest, actual: Path) -> None:
        self.actual = actual
        self.outputs = manifest.outputs
        self.written = {file.key: file for file in manifest.written}

    def names(self, output: Output) -> list[str]:
        """The names of the files that are compared with an output, if they are there."""
        if output.written_to:
            return [file.path for file in output.written_to]
        return [name for name in self.own(output) if name.casefold() not in self.written]

    def own(self, output: Output) -> list[str]:
        """The names that a user may give to a file of an output."""
        stem = output.file[: -len(".npy")]
        return [f"{stem}{suffix}" for suffix in (".npy", *RAW)]

    def find(self, output: Output) -> list[Found]:
        """The files of an output: each one once, whatever its names."""
        if not self.actual.is_dir():
            return [self.only(output)]
        found: list[Found] = []
        for name in self.names(output):
            path = self.actual / name
            if os.path.lexists(path) and not any(_same_file(path, other.path) for other in found):
                found.append(Found(path, self.written.get(name.casefold())))
        return found

    def only(self, output: Output) -> Found:
        """The one file that is given, refused if the model writes anything but this output to a file of its name.

        A file of the model is known by the longest path of a ``writeFile`` command with which its own path ends.
        """
        steps = [step.casefold() for step in self.actual.absolute().parts]
        keys = ("/".join(steps[first:]) for first in range(1, len(steps)))
        written = next((self.written[key] for key in keys if key in self.written), None)
        if written is not None and written not in output.written_to:
            _refuse_actual(self.actual, f"the model writes {show(written.resource)} to a file of this name, {_OTHER}")
        return Found(self.actual, written)

    def missing(self, output: Output) -> Problem:
        """The problem of an output without a file."""
        names = self.names(output)
        taken = [name for name in self.own(output) if name not in names] if not output.written_to else []
        hint = f"The model writes other values to {_listed(taken, 'and')}." if taken else ""
        why = f"there is no {_listed(names, 'or')}" if names else "the model uses every name of such a file"
        values = {"path": str(self.actual), "why": why}
        return make(_ABSENT, _place(self.actual), values, hint=hint)

    def extra(self) -> list[Problem]:
        """A warning of files of values that belong to no output, beside files that do."""
        known = {self.actual / name for output in self.outputs for name in self.names(output)}
        found = []
        for folder in sorted({self.actual, *(path.parent for path in known)}):
            try:
                beside = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".npy", *RAW))
            except OSError:
                continue
            found += [path for path in beside if path not in known and not path.is_dir()]
        found = [path for path in found if not any(_same_file(path, one) for one in known)]
        names = [path.relative_to(self.actual).as_posix() for path in found]
        return [_warning("DML-MODEL-actual-extra", self.actual, names=_listed(names, "and"))] if names else []


def _same_file(a: Path, b: Path) -> bool:
    """Whether two paths lead to one file, such as two spellings of a name where case does not matter."""
    return a.exists() and b.exists() and a.samefile(b)


def _listed(names: Sequence[str], word: str) -> str:
    shown = [quote(name) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        shown.append(f"{len(names) - _NAMED} more")
    return f" {word} ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


class _Comparer:
    """Compares one output."""

    def __init__(
        self, source: Expected, output: Output, files: _Files, warnings: list[Problem], options: Device
    ) -> None:
        assert output.node is not None
        self.source = source
        self.output = output
        self.files = files
        self.node = output.node
        self.warnings = warnings
        self.options = options

    def compare(self, files: Sequence[Found], reached: Reached) -> Comparison:
        """Compare each file of the output; the report is of the first file among those with the worst verdict."""
        output = self.output
        expected = values_of(self.source.array(self.node.value["file"], output.dtype, output.tensor.sizes))
        passes = passes_of(self.source, output, expected, self.options)
        if not files:
            return Comparison(output, self.files.actual / output.file, problem=self.files.missing(output))
        found = [self.file(file, expected, passes, reached) for file in files]
        worst = max(found, key=lambda one: VERDICTS.index(one.verdict))
        worst = replace(worst, files=tuple(file.path for file in files))
        if worst.differences is None or worst.differences.worst is None:
            return worst
        return replace(worst, window=self.window(worst.index))

    def file(self, file: Found, expected: Array, passes: Passes, reached: Reached) -> Comparison:
        """Compare one file."""
        given = Actual(self.output, file.path, file.written)
        actual = given.read()
        if actual is None:
            return Comparison(self.output, file.path, problem=given.problem)
        told = partial(reached, printable(self.output.file))
        found = measure(expected, values_of(actual), passes, told)
        return Comparison(self.output, file.path, differences=found)

    def window(self, index: tuple[int, ...]) -> Window | None:
        """The window behind an element; a warning where its input is not to be had."""
        place = window.locate(self.output.desc, index)
        if place is None:
            return None
        field = next(field for field in self.output.desc.operator.fields if field.python == place.input)
        if field.name not in self.output.inputs:
            return None
        node = self.node.value["inputs"].value[field.name].value["file"]
        desc = getattr(self.output.desc, place.input)
        try:
            values = self.source.array(node, dtype_of(desc), desc.sizes)
        except Refusal as error:
            self.warnings += [replace(problem, warning=True) for problem in error.problems]
            return None
        return Window(field, place, window.planes(place, values))
