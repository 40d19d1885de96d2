"""Compare what a device wrote with the expected values of a manifest, output by output."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dmlcy._errors import show
from dmlcy._model import manifest_reader, window
from dmlcy._model.accuracy import MAGNITUDES, Tolerance
from dmlcy._model.actual import RAW, Actual
from dmlcy._model.differences import Differences, measure
from dmlcy._model.manifest import NAME, Output
from dmlcy._model.manifest_reader import Expected
from dmlcy._model.problems import UNREADABLE, Problem, Refusal, make, refuse
from dmlcy._model.reader import Reader
from dmlcy._model.tensors import dtype_of
from dmlcy._spec import Field
from dmlcy._tables import DTYPES


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
    """One output: what was found, or the problem that prevented it."""

    output: Output
    actual: Path
    differences: Differences | None = None
    window: Window | None = None
    problem: Problem | None = None

    @property
    def status(self) -> int:
        """0: passed, 1: failed, 2: not readable."""
        if self.differences is not None:
            return 0 if self.differences.passed else 1
        return 2 if self.problem is not None and self.problem.violation.id in UNREADABLE else 1

    @property
    def index(self) -> tuple[int, ...]:
        """The index of the worst element."""
        assert self.differences is not None and self.differences.worst is not None
        return tuple(int(i) for i in np.unravel_index(self.differences.worst.at, self.output.tensor.sizes))


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """All outputs."""

    expected: Path
    actual: Path
    comparisons: tuple[Comparison, ...]
    warnings: Sequence[Problem]

    @property
    def status(self) -> int:
        """The worst status."""
        return max(comparison.status for comparison in self.comparisons)


def compare(expected: Path, actual: Path) -> Report:
    """Compare a folder with a manifest, or one file of it, with a folder or a file.

    ModelError for expected values that cannot be understood; what is wrong with an actual file is in the report.
    """
    if not os.path.lexists(expected):
        manifest_reader.fail(expected, "there is no such file or folder")
    whole = expected.is_dir()
    source = manifest_reader.read(expected if whole else expected.parent)
    outputs = [one for one in source.manifest.outputs if whole or one.file == expected.name]
    if not outputs:
        manifest_reader.fail(source.folder / NAME, f"it does not list {show(expected.name)}")
    warnings = list(source.warnings)
    pairs = zip(outputs, _files(source, outputs, actual), strict=True)
    found = tuple(_Comparer(source, output, file, warnings).compare() for output, file in pairs)
    return Report(expected, actual, found, warnings)


def _files(source: Expected, outputs: Sequence[Output], actual: Path) -> list[Path]:
    """The actual file of each output; of several with its name the ``.npy``."""
    why = ""
    if not os.path.lexists(actual):
        why = "there is no such file or folder"
    elif not actual.is_dir() and len(outputs) > 1:
        why = f"it is one file, and there are {len(outputs)} outputs: compare with one of their files"
    if why:
        place = source.document.place(source.document.root)
        refuse([make("DML-MODEL-actual", place, {"path": str(actual), "why": why})])
    if not actual.is_dir():
        return [actual]
    found = []
    for output in outputs:
        path = actual / output.file
        others = [path.with_suffix(suffix) for suffix in RAW]
        found.append(next((one for one in (path, *others) if os.path.lexists(one)), path))
    return found


class _Comparer:
    """Compares one output."""

    def __init__(self, source: Expected, output: Output, file: Path, warnings: list[Problem]) -> None:
        assert output.node is not None
        self.source = source
        self.output = output
        self.file = file
        self.node = output.node
        self.warnings = warnings

    def compare(self) -> Comparison:
        output = self.output
        expected = self.source.array(self.node.value["file"], output.dtype, output.tensor.sizes)
        tolerance = self.tolerance()
        reader = Reader(self.source.document)
        actual = Actual(reader, self.node.value["file"], output, self.file).read()
        if actual is None:
            return Comparison(output, self.file, problem=reader.problems[0])
        found = measure(expected, actual, output.bound, tolerance)
        result = Comparison(output, self.file, found)
        return result if found.worst is None else replace(result, window=self.window(result.index))

    def tolerance(self) -> Tolerance | None:
        if self.output.bound is None or self.output.bound.of != MAGNITUDES:
            return None
        node = self.node.value["accuracy"].value["tolerance"]
        found = self.source.array(node, DTYPES["FLOAT64"], self.output.tensor.sizes)
        if not (found >= 0).all():
            path = str(self.source.folder / node.value)
            refuse([make("DML-MODEL-manifest-tolerance", self.source.document.place(node), {"path": path})])
        return found

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
