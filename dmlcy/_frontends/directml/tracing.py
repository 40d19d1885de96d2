"""Runs a program without computing, and keeps the graphs that it builds, with the places in it."""

from __future__ import annotations

import os
import pickle
import runpy
import signal
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Final

import numpy as np

from dmlcy._desc.memory import dtype_of, extent
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError, Violation
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._field_types.tensor_desc import TensorDesc, minimum_size
from dmlcy._frontends.directml.execution import Compiled, Execution, instead
from dmlcy._frontends.directml.missing import Missing, MissingFileError, replaced
from dmlcy._frontends.directml.refusals import NOTHING
from dmlcy._frontends.directml.script import NAMES, run
from dmlcy._graph.build import Graph
from dmlcy._graph.graph_desc import GraphDesc
from dmlcy._graph.model import Port
from dmlcy._graph.owned import owned_inputs
from dmlcy._graph.plan import Plan
from dmlcy._graph.values import Value
from dmlcy._graph.violations import made
from dmlcy._graph.wiring import wiring_of
from dmlcy._types import Array

_PACKAGE: Final = str(Path(__file__).parents[2])
_OTHERS: Final = tuple(
    f"{folder}{os.sep}"
    for folder in {_PACKAGE, *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))}
)
"""Where files are that are no part of a program."""
_START: Final = runpy.run_path.__code__.co_filename
"""Where a program begins to run."""
MOST: Final = 8
"""Functions that a place names."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A call in a program: its file, where it begins and ends (lines from 1, bytes of UTF-8 from 0), the functions.

    ``functions``: the running functions, the outermost first. The columns are -1 where they are not known.
    """

    file: str
    line: int
    column: int = -1
    end_line: int = -1
    end_column: int = -1
    functions: tuple[str, ...] = ()


@dataclass
class Built:
    """A graph of a program: its structure if it was built, and the places of nodes, of inputs and of its build.

    ``refused``: what was wrong with a graph that was not built. ``views``: reinterpretations beyond the bytes of their
    tensors, with their descs and places.
    """

    structure: GraphDesc | None = None
    at: Spot | None = None
    nodes: dict[int, Spot] = field(default_factory=dict)
    inputs: dict[int, Spot] = field(default_factory=dict)
    refused: tuple[Violation, ...] = ()
    views: list[tuple[TensorDesc, Violation, Spot | None]] = field(default_factory=list)


@dataclass
class Trace:
    """The findings of a run. ``end``: the slug of why the program ended early, with the values of its message, and the
    place.

    ``raised``: the violations of an error that the program did not catch.
    """

    graphs: list[Built] = field(default_factory=list)
    end: tuple[str, dict[str, str], Spot | None] | None = None
    raised: tuple[Violation, ...] = ()


class Traced(Graph):
    """A graph that collects its violations, and knows in which call each node was made."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(collect=True)
        self._trace, self._built = trace, Built()
        self._is_kept = False
        trace.graphs.append(self._built)

    def input(self, desc: TensorDesc, *, name: str = "") -> Value:
        """As of any graph."""
        found = super().input(desc, name=name)
        self._note(self._built.inputs, found._port.place)
        return found

    def constant(self, array: object, *, name: str = "") -> Value:
        """As of any graph."""
        found = super().constant(array, name=name)
        self._note(self._built.nodes, len(self._nodes) - 1)
        return found

    def add(
        self, desc: OperatorDesc, *inputs: Value | Sequence[Value] | None, name: str = ""
    ) -> Value | tuple[Value, ...]:
        """As of any graph."""
        for given in inputs:
            for one in given if isinstance(given, list | tuple) else (given,):
                self._has_reader(one)
        number = len(self._nodes)
        found: Value | tuple[Value, ...] = super().add(desc, *inputs, name=name)
        self._note(self._built.nodes, number)
        return found

    def reinterpret(self, value: Value, desc: TensorDesc) -> Value:
        """As of any graph; a node that reads the view says what is wrong with it, if a node does."""
        found, old = super().reinterpret(value, desc), value.desc
        self._has_reader(value)
        if not self._is_unknown(old) and minimum_size(desc) is not None:
            needed, actual = extent(desc), old.total_tensor_size_in_bytes
            if needed > actual:
                values = {"needed": needed, "sizes": [*desc.sizes], "actual": actual}
                wrong = made(NOTHING, "view-size", "graph", None, values)
                self._built.views.append((desc, wrong, spot_of(sys._getframe(1))))
        return found

    def _has_reader(self, value: object) -> None:
        """Lets what reads a view say what is wrong with the view."""
        if isinstance(value, Value):
            self._built.views[:] = [one for one in self._built.views if one[0] is not value.desc]

    def build(self, *outputs: Value, **named: Value) -> GraphDesc:
        """As of any graph; a graph that is built again is another one."""
        structure = super().build(*outputs, **named)
        built = self._built
        if self._is_kept:
            built = Built(None, None, self._built.nodes, self._built.inputs)
            self._trace.graphs.append(built)
        self._is_kept = True
        built.structure, built.at = structure, spot_of(sys._getframe(1))
        return structure

    def note_refused(self) -> None:
        """Keeps what is wrong with a graph that was not built."""
        if self._built.structure is None:
            self._built.refused = tuple(self.violations)

    def _note(self, places: dict[int, Spot], number: int) -> None:
        found = spot_of(sys._getframe(2))
        if found is not None:
            places[number] = found


class Zeros:
    """A substitute for a compiled graph: each call gives zeros."""

    def __init__(self, structure: GraphDesc) -> None:
        wiring, owned = wiring_of(structure), owned_inputs(structure)
        names = [wiring.value_names[Port(None, index)] for index in range(len(structure.inputs))]
        self.owned = tuple(name for index, name in enumerate(names) if index in owned)
        self.called = tuple(name for index, name in enumerate(names) if index not in owned)
        self._outputs = [end.desc for end in structure.outputs]

    def initialize(self, /, *arrays: object, **by_name: object) -> None:
        """Takes the inputs that are given once."""

    def own(self, given: Mapping[str, object], copy: bool) -> None:
        """Takes the inputs that are given once."""

    def __call__(self, /, *arrays: object, **by_name: object) -> Array | tuple[Array, ...]:
        results = [
            np.zeros(()) if desc is None else np.zeros(desc.sizes, numpy_dtype(dtype_of(desc)))
            for desc in self._outputs
        ]
        return results[0] if len(results) == 1 else tuple(results)

    def plan(self) -> Plan:
        """Nothing needs memory."""
        return Plan((), 0, 0, 0, 0)


class Tracing(Execution):
    """Graphs go into a trace, and nothing is computed."""

    computes = False

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.graphs: list[Traced] = []

    def graph(self) -> Graph:
        """A graph that knows the places of its nodes."""
        found = Traced(self.trace)
        self.graphs.append(found)
        return found

    def compiled(self, structure: GraphDesc) -> Compiled:
        """A substitute that gives zeros."""
        return Zeros(structure)

    def is_unknown(self, data: object) -> bool:
        """Whether it is from a missing file."""
        return isinstance(data, Missing)


def traced(script: str, arguments: Sequence[str], modules: Mapping[str, ModuleType]) -> Trace:
    """Runs a program with these modules in place of the modules that it imports."""
    found = Trace()
    tracing = Tracing(found)
    with instead(tracing), replaced():
        try:
            run(script, arguments, modules)
        except BaseException as error:
            _note_end(found, error, script)
    for graph in tracing.graphs:
        graph.note_refused()
    return found


def _note_end(trace: Trace, error: BaseException, script: str) -> None:
    """Why a program ended, where that was not its end."""
    at = _spot_of_error(error, script)
    if isinstance(error, DmlError):
        trace.raised = error.violations
        trace.end = "", {}, at
    elif isinstance(error, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one would keep the trace from being written
        trace.end = "script-stopped", {}, at
    elif isinstance(error, SystemExit):
        if error.code not in (None, 0):
            trace.end = "script-exit", {"status": f"status {error.code if type(error.code) is int else 1}"}, at
    elif isinstance(error, MissingFileError):
        trace.end = "script-file", {"path": error.path, "what": error.what}, at
    elif isinstance(error, ModuleNotFoundError) and error.name:
        trace.end = "script-module", {"name": error.name}, at
    else:
        said = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
        trace.end = "script-raised", {"error": said.removesuffix(".")}, at  # the message has a full stop


def spot_of(frame: FrameType | None) -> Spot | None:
    """The innermost call of the program itself; of a library where there is none."""
    return _spot(_frames(frame))


def _spot_of_error(error: BaseException, script: str) -> Spot | None:
    """The innermost call of the program that was running when an error was raised; for bad syntax its line."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return Spot(error.filename, error.lineno)
    return _spot([*_steps(error.__traceback__)][::-1]) or Spot(script, 0)


def _frames(frame: FrameType | None) -> Iterator[tuple[CodeType, int, int]]:
    while frame is not None:
        yield frame.f_code, frame.f_lasti, frame.f_lineno
        frame = frame.f_back


def _steps(step: TracebackType | None) -> Iterator[tuple[CodeType, int, int]]:
    while step is not None:
        yield step.tb_frame.f_code, step.tb_lasti, step.tb_lineno
        step = step.tb_next


def _spot(frames: Iterable[tuple[CodeType, int, int]]) -> Spot | None:
    """The place of the first frame, of the innermost first, that is of the program."""
    found: tuple[CodeType, int, int] | None = None
    functions: list[str] = []
    for frame in frames:
        file = frame[0].co_filename
        if file == _START:
            break
        if file.startswith((*_OTHERS, "<")):
            continue
        found = found or frame
        functions.append(frame[0].co_name)
    if found is None:
        return None
    code, last, line = found
    begin, end, column, end_column = next(islice(code.co_positions(), last // 2, None), (None,) * 4)
    if begin is None or column is None or end is None or end_column is None:
        return Spot(code.co_filename, line, functions=tuple(functions[MOST - 1 :: -1]))
    return Spot(code.co_filename, begin, column, end, end_column, tuple(functions[:MOST][::-1]))


def main(module: ModuleType, file: str, script: str, *arguments: str) -> None:
    """Writes the trace of a program to a file. ``module`` is dmlcy.directml."""
    Path(file).write_bytes(pickle.dumps(traced(script, arguments, dict.fromkeys(NAMES, module))))
