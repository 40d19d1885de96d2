"""``dmlcy lint``: everything that is wrong with model files, and the feature level that each dispatchable needs."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dmlcy._cli.fix import Unwritten, fix
from dmlcy._cli.options import add_examples, add_feature_level, add_format, add_limit, add_shapes
from dmlcy._cli.run import read_bytes
from dmlcy._facts.levels import NEWEST
from dmlcy._facts.tables import LEVELS, FeatureLevelName
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.lint import FileReport, Report, findings, lint
from dmlcy._frontends.dxdispatch.problems import Problem, Refusal, make, printable
from dmlcy._frontends.dxdispatch.returned import returned_to
from dmlcy._frontends.graphs.files import decode, is_graph
from dmlcy._frontends.graphs.kinds import is_onnx
from dmlcy._frontends.graphs.lint import lint as lint_graph
from dmlcy._show.reports import github, json, sarif, text

_SUFFIXES: Final = (".json", ".onnx")
_NONE: Final = f"it is a folder without {' and '.join(_SUFFIXES)} files"
FORMATS: Final[dict[str, Callable[[Report], Iterator[str]]]] = {
    "text": text.lines,
    "json": json.lines,
    "github": github.lines,
    "sarif": sarif.lines,
}

EXAMPLES: Final = (
    "dmlcy lint model.json",
    "dmlcy lint --feature-level 3_0 models/*.json    # what came later is refused",
    "dmlcy lint --format github models/*.json    # annotations in a workflow of GitHub Actions",
    "dmlcy lint model.onnx --shape x=1x3x224x224    # the descs of the nodes of an ONNX model",
    "dmlcy lint --fix model.json    # writes the repairs that leave no choice",
    "cat model.json | dmlcy lint --json -",
    "dmlcy lint --only-refused descs    # what a program in C++ wrote: dmlcy cpp-header",
    "dmlcy lint --directml mnist.py --argument mnist_image1.png    # the graphs that a program builds",
)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "lint",
        help="say what is wrong with model files, graphs and ONNX models",
        description="Say what is wrong, and where, with model files in DxDispatch's format, with graphs, in JSON or "
        "serialized, and with the DirectML descs of the nodes of ONNX models. The report also has the feature level "
        "that each dispatchable, graph or ONNX model needs. Nothing is executed, and of the files that a model names "
        "only serialized graphs are opened. Exit status: 0 clean, 1 violations, 2 unreadable file or usage; warnings "
        "do not count. `dmlcy explain ID` explains an id.",
    )
    parser.add_argument(
        "models",
        nargs="+",
        metavar="FILE",
        help="model files, descs, graphs and ONNX models; a folder stands for the .json and .onnx files in it; - is "
        "standard input",
    )
    parser.add_argument(
        "--only-refused",
        action="store_true",
        help="of folders, only the calls that DirectML refused: the names of files that dmlcy_layer.h writes say it",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="write the repair of each desc that has exactly one into JSON files. All repairs of a file are checked "
        "together before the file is written, and the report is that of the files as written",
    )
    parser.add_argument(
        "--directml",
        action="store_true",
        help="the files are programs of PyDirectML: they run, nothing is computed, and the report is of the graphs "
        "that they build, with the places in the programs",
    )
    parser.add_argument(
        "--argument",
        action="append",
        default=[],
        metavar="WORD",
        help="an argument for programs of PyDirectML; may be given several times",
    )
    add_shapes(parser)
    add_feature_level(parser)
    add_limit(parser)
    add_format(parser, FORMATS)
    add_examples(parser, *EXAMPLES)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the report; its status."""
    level = options.feature_level or LEVELS[NEWEST].name
    if options.directml:
        return _print(options, Report(level, tuple(_lint_program(name, level, options) for name in options.models)))
    unwritten = False
    names = [name for given in options.models for name in _files(given, options.only_refused)]
    if not names:
        sys.stderr.write("dmlcy lint: no file belongs to a call that DirectML refused.\n")
        return 0
    with _no_collection():
        if options.fix:
            unwritten = not all([_fix(name, level, options.limit) for name in names])
        shapes = dict(options.shape)
        report = Report(level, tuple(_lint(name, level, options.limit, shapes) for name in names))
    return max(_print(options, report), 2 * unwritten)


def _print(options: argparse.Namespace, report: Report) -> int:
    """Print a report; its status."""
    for line in FORMATS[options.format](report):
        sys.stdout.write(f"{line}\n")
    return report.status


def _files(name: str, only_refused: bool) -> list[str]:
    """The files that a name stands for: of a folder, those in it that can be models, in order."""
    if name == "-" or not os.path.isdir(name):
        return [name]
    try:
        paths = sorted(path for path in Path(name).iterdir() if path.suffix.lower() in _SUFFIXES)
    except OSError:
        return [name]  # reading it says why
    if not only_refused:
        return [*map(str, paths)] or [name]  # the report says that it has no such file
    results = [(str(path), returned_to(str(path))) for path in paths]
    return [path for path, result in results if result is not None and result.refused]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the collector of cycles, which would look again and again at all that was read, for half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _fix(name: str, level: FeatureLevelName, limit: int) -> bool:
    """Write the repairs of a file, and say so; whether nothing kept them from being written."""
    if name == "-":
        sys.stderr.write("<stdin> is standard input: --fix writes files only.\n")
        return False
    try:
        if is_onnx(name):
            sys.stderr.write(f"{printable(name)}: nothing is written: --fix writes JSON files only\n")
            return True
        shown, data = read_bytes(name)
    except Refusal:
        return True  # the report says why
    try:
        for said in fix(name, data, lambda data: _look(name, shown, data, level, limit)):
            sys.stderr.write(f"{printable(shown)}{said}\n")
    except Unwritten as error:
        sys.stderr.write(f"{printable(shown)} {error}.\n")
        return False
    return True


def _lint(name: str, level: FeatureLevelName, limit: int, shapes: Mapping[str, Sequence[int]]) -> FileReport:
    try:
        if name != "-" and is_onnx(name):
            return _lint_onnx(name, level, limit, shapes)
        return _look(name, *read_bytes(name), level, limit)
    except Refusal as error:
        problems: Sequence[Problem] = error.problems
        if os.path.isdir(name) and os.access(name, os.R_OK):
            problems = [make("DML-MODEL-file", problems[0].place, {"why": _NONE})]
        return FileReport(problems[0].place.file, findings(problems, ""))


def _lint_onnx(name: str, level: FeatureLevelName, limit: int, shapes: Mapping[str, Sequence[int]]) -> FileReport:
    """The mistakes in an ONNX model. The code that knows ONNX's operators is imported for such a model only."""
    from dmlcy._frontends.onnx.lint import lint
    from dmlcy._frontends.onnx.reader import read

    return lint(read(name), level, shapes, limit)


def _lint_program(name: str, level: FeatureLevelName, options: argparse.Namespace) -> FileReport:
    """The mistakes in the graphs of a program. The code that runs programs is imported for programs only."""
    from dmlcy._frontends.directml.lint import lint

    return lint(name, level, options.argument, options.limit)


def _look(name: str, shown: str, data: bytes, level: FeatureLevelName, limit: int) -> FileReport:
    """The mistakes in the content of a file."""
    try:
        document = decode(shown, data, limit)
        if not isinstance(document, Document) or is_graph(document):
            return lint_graph(document, level, limit)
        return lint(document, level, Path() if name == "-" else Path(name).parent)
    except Refusal as error:
        text = data.decode("utf-8-sig", "replace")
        return FileReport(error.problems[0].place.file, findings(error.problems, text))
