"""``dmlcy run``: execute model files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dmlcy._cli.options import (
    FORMATS,
    add_examples,
    add_feature_level,
    add_format,
    add_inputs,
    add_limit,
    add_shapes,
    output,
    whole_number,
)
from dmlcy._errors import DmlError
from dmlcy._facts.levels import current_level
from dmlcy._frontends.dxdispatch import files
from dmlcy._frontends.dxdispatch.files import distinct, open_regular
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.model import Model, read
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, Problem, make, printable, refuse, whole
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.run import Options
from dmlcy._frontends.dxdispatch.run import run as run_model
from dmlcy._frontends.graphs import run as graphs
from dmlcy._frontends.graphs.files import Serialized, decode, is_graph, refuse_other
from dmlcy._frontends.graphs.files import read as read_graph
from dmlcy._frontends.graphs.found import Read
from dmlcy._frontends.graphs.kinds import is_onnx
from dmlcy._graph.model import MOST
from dmlcy._graph.wiring import wiring_of
from dmlcy._judge.dumps import dump
from dmlcy._judge.expected.recorder import Recorder
from dmlcy._judge.expected.save import save
from dmlcy._show.terminal import Progress
from dmlcy._words.values import quote

if TYPE_CHECKING:
    from dmlcy._graph.profile import Profile

DUMPS = "--dump is for graphs; the outputs of a model are --expect."
MEASURED = 10
"""Runs of a profile."""
QUIET = frozenset({"DML-MODEL-comment", "DML-MODEL-trailing-comma", "DML-MODEL-after-root"})


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run",
        help="execute model files, graphs and ONNX models",
        description="Execute model files in DxDispatch's format, graphs, in JSON or serialized, and ONNX models.",
    )
    parser.add_argument(
        "models", nargs="+", metavar="FILE", help="model files, graphs and ONNX models; - is standard input"
    )
    add_feature_level(parser)
    parser.add_argument(
        "--output-path", type=Path, default=Path(), metavar="DIR", help="where writeFile writes (default: .)"
    )
    parser.add_argument(
        "--iterations",
        type=whole_number(1),
        metavar="N",
        help=f"times that each dispatch or graph runs (default: 1; with --profile: {MEASURED})",
    )
    parser.add_argument(
        "--expect",
        type=Path,
        metavar="DIR",
        help="write outputs and their bounds into DIR, for dmlcy compare; of several models, into a folder each",
    )
    add_inputs(parser)
    add_shapes(parser)
    parser.add_argument(
        "--output",
        action="append",
        type=output,
        default=[],
        metavar="NAME[=FILE.npy]",
        help="a value of an ONNX model that is printed, or written to a file; may be given several times (default: the "
        "outputs of the model)",
    )
    parser.add_argument("--dump", type=Path, metavar="DIR", help="write every value of a graph into DIR")
    parser.add_argument(
        "--profile",
        action="store_true",
        help="print how long each step of a graph takes, and how much it computes, in place of its outputs",
    )
    add_format(parser, (*FORMATS, "trace"), "with --profile, what to print; Perfetto opens a trace (default: text)")
    add_limit(parser)
    add_examples(
        parser,
        "dmlcy run model.json",
        "dmlcy run graph.json --profile --format json > profile.json    # then: dmlcy graph --profile",
        "dmlcy run graph.json --input x=x.npy --dump values    # then: dmlcy compare values from_the_gpu",
        "dmlcy run model.onnx --input x=x.npy --output y=y.npy    # an ONNX model; --shape gives free sizes",
        "dmlcy run --iterations 1000 model.json    # the median of as many times",
        "dmlcy run --expect expected model.json    # then: dmlcy compare expected from_the_gpu",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run every model; the worst status."""
    if options.dump is not None and len(options.models) > 1:
        print("dmlcy run: --dump takes the values of one graph.", file=sys.stderr)
        return 2
    if options.profile and (options.dump is not None or options.expect is not None or len(options.models) > 1):
        print("dmlcy run: --profile is of one graph, without --dump and --expect.", file=sys.stderr)
        return 2
    if options.format != "text" and not options.profile:
        print(f"dmlcy run: --format {options.format} is of a --profile.", file=sys.stderr)
        return 2
    settings = Options(options.feature_level, options.output_path, options.iterations or 1)
    several = len(options.models) > 1
    taken: set[str] = set()
    status = 0
    for name in options.models:
        expect = options.expect
        if expect is not None and several:
            expect /= distinct("stdin" if name == "-" else Path(name).stem, taken)
        status = max(status, _run(name, settings, expect, several, options))
    return status


def read_bytes(name: str) -> tuple[str, bytes]:
    """The name to show of a file, or of standard input, and what is in it; ModelError for what cannot be read."""
    shown = "<stdin>" if name == "-" else name
    try:
        if name == "-" and sys.stdin is None:
            raise OSError("it is closed")
        if name == "-":
            data = sys.stdin.buffer.read(files.LARGEST + 1)
        else:
            with open_regular(name) as stream:
                return shown, files.read_bytes(stream)
        if len(data) > files.LARGEST:
            raise files.TooLarge(files.LARGEST, data[: files.START])
    except files.TooLarge as error:
        refuse_other(shown, error.start, graph=False, whole=False)
        refuse([make("DML-MODEL-file", whole(shown), {"why": error})])
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        refuse([make("DML-MODEL-file", whole(shown), {"why": why})])
    return shown, data


def load(name: str, limit: int = MOST) -> tuple[Document | Serialized, Path]:
    """What is in a file, or on standard input, and the folder that its paths are relative to."""
    return decode(*read_bytes(name), limit), Path() if name == "-" else Path(name).parent


def load_graph(name: str, limit: int, what: str) -> tuple[Document | Serialized, Path]:
    """What is in a file, and its folder; ModelError for a file that has no graph."""
    document, folder = load(name, limit)
    if not isinstance(document, Serialized) and not is_graph(document):
        reader = Reader(document)
        reader.report("DML-MODEL-missing", document.root, name="Nodes", hint=f"{what} takes a graph.")
        reader.finish()
    return document, folder


def filled(document: Document | Serialized, folder: Path, options: argparse.Namespace) -> Read:
    """The graph of a file, with the bytes of its constants, which are read only where nothing is wrong with it."""
    level = getattr(options, "feature_level", None)
    graphs.valid(read_graph(document, folder, limit=options.limit, fill=False), level)
    return read_graph(document, folder, limit=options.limit)


def _run(name: str, settings: Options, expect: Path | None, several: bool, options: argparse.Namespace) -> int:
    if several:
        print(f"{printable(name)}:")
    try:
        if name != "-" and is_onnx(name):
            return _onnx(name, options)
        document, folder = load(name, options.limit)
        if isinstance(document, Serialized) or is_graph(document):
            if expect is not None:
                print("dmlcy run: --expect is for models; the values of a graph are a --dump.", file=sys.stderr)
                return 2
            _graph(filled(document, folder, options), name, options)
            return 0
        if options.dump is not None or options.profile:
            what = "--profile is for graphs." if options.profile else DUMPS
            print(f"dmlcy run: {what}", file=sys.stderr)
            return 2
        model = read(document, folder)
        _warn(model.warnings)
        _model(model, settings, expect)
    except DmlError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        return 2 if any(violation.id in UNREADABLE for violation in error.violations) else 1
    return 0


def _onnx(name: str, options: argparse.Namespace) -> int:
    """Run an ONNX model; what knows ONNX's operators is imported for one only."""
    from dmlcy._cli.onnx_run import run

    if options.expect is not None or options.dump is not None:
        print("dmlcy run: --expect and --dump are not for ONNX models: dmlcy graph --expose-edges.", file=sys.stderr)
        return 2
    run(name, options)
    return 0


def _model(model: Model, settings: Options, expect: Path | None) -> None:
    """Execute a model; write what a device should give for it into the folder ``expect``, None for none."""
    progress = Progress()
    recorder = None if expect is None else Recorder()
    try:
        run_model(model, sys.stdout, settings, progress.reached, recorder)
    finally:
        progress.clear()
    if expect is None or recorder is None:
        return
    for path in save(expect, model, settings.level, recorder):
        print(f"Removed '{printable(str(path))}', which the earlier manifest lists")
    print(f"Expected values written to '{printable(str(expect))}'")


def _warn(warnings: Iterable[Problem]) -> None:
    for warning in warnings:
        if warning.violation.id not in QUIET:
            print(warning, file=sys.stderr)


def _graph(found: Read, name: str, options: argparse.Namespace) -> None:
    _warn(found.warnings)
    settings = graphs.Options(
        level=options.feature_level,
        inputs=given_inputs(found, options.input),
        seed=options.seed,
        iterations=options.iterations or (MEASURED if options.profile else 1),
        keep=options.dump is not None,
        name="stdin" if name == "-" else Path(name).stem,
    )
    graph = graphs.valid(found, settings.level)
    if options.dump is not None:
        dump.may_write(options.dump)
    if options.profile:
        sys.stdout.write(shown(graphs.profile(found, graph, settings), options.format))
        return
    values = graphs.run(found, graph, sys.stdout, settings)
    if options.dump is not None:
        path = dump.save(graph, values, settings.level or current_level(), options.dump)
        print(f"Values written to '{printable(str(path.parent))}'")


def shown(profile: Profile, form: str) -> str:
    if form == "text":
        return f"{profile}\n"
    return json.dumps(profile.to_trace() if form == "trace" else profile.to_dict(), indent=1) + "\n"


def given_inputs(found: Read, given: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The files by the name of the graph input; ModelError for a name that the graph has not."""
    graph, files = found.graph, dict[str, str]()
    problems: list[Problem] = []
    if graph is None:
        return files
    names = [name for port, name in wiring_of(graph).value_names.items() if port.node is None]
    for name, file in given:
        if name not in names:
            known = f"Its inputs: {', '.join(quote(one) for one in names)}." if names else "The graph has no inputs."
            problems.append(make("DML-MODEL-reference", found.file, {"what": "graph input", "name": name}, hint=known))
        elif name in files:
            values = {"what": "other graph input", "name": name}
            problems.append(make("DML-MODEL-reference", found.file, values, hint="Give --input once for each input."))
        files[name] = file
    if problems:
        refuse(problems)
    return files
