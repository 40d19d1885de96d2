"""``dmlcy run``: execute model files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dmlcy._cli.options import (
    FORMATS,
    MEASURED,
    add_examples,
    add_feature_level,
    add_format,
    add_inputs,
    add_limit,
    add_optimize,
    add_shapes,
    output,
    whole_number,
)
from dmlcy._errors import DmlError
from dmlcy._frontends.dxdispatch import files
from dmlcy._frontends.dxdispatch.files import distinct, open_regular
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, make, printable, refuse, whole
from dmlcy._frontends.dxdispatch.reader import Reader
from dmlcy._frontends.dxdispatch.show import ENDS
from dmlcy._frontends.dxdispatch.show import MOST as MOST_PRINTED
from dmlcy._frontends.graphs.files import decode, is_graph, refuse_other
from dmlcy._frontends.graphs.kinds import is_onnx
from dmlcy._graph.limits import MOST

if TYPE_CHECKING:
    from dmlcy._frontends.graphs.serialized import Serialized

DUMPS = "--dump is for graphs. For a model, --expect writes the outputs."

EXAMPLES: Final = (
    "dmlcy run model.json",
    "dmlcy run graph.json --profile --format json > profile.json    # then: dmlcy graph --profile",
    "dmlcy run graph.json --input x=x.npy --dump values    # then: dmlcy compare values from_the_gpu",
    "dmlcy run model.onnx --input x=x.npy --output y=y.npy    # an ONNX model; --shape gives free sizes",
    "dmlcy run model.onnx --input x=images --output y=results    # each .npy and .npz file of a folder",
    "dmlcy run --iterations 1000 model.json    # the median of as many times",
    "dmlcy run --expect expected model.json    # then: dmlcy compare expected from_the_gpu",
)


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
    add_optimize(parser)
    parser.add_argument(
        "--output",
        action="append",
        type=output,
        default=[],
        metavar="NAME[=FILE.npy]",
        help="a value of an ONNX model that is printed, or written to a file; may be given several times (default: the "
        "outputs of the model). With a folder as --input: NAME=FOLDER, for the results of each file",
    )
    _add_steps(parser)
    add_format(parser, (*FORMATS, "trace"), "with --profile, what to print; Perfetto opens a trace (default: text)")
    add_limit(parser)
    add_examples(parser, *EXAMPLES)
    parser.set_defaults(execute=execute)


def _add_steps(parser: argparse.ArgumentParser) -> None:
    """The options about the elements and the steps of a graph, and about the files of a folder."""
    parser.add_argument(
        "--all",
        action="store_true",
        help="print all elements of each output of a graph or an ONNX model; without this option, of more than "
        f"{MOST_PRINTED} elements only the first and the last {ENDS}",
    )
    parser.add_argument("--dump", type=Path, metavar="DIR", help="write every value of a graph into DIR")
    parser.add_argument(
        "--profile",
        action="store_true",
        help="print how long each step of a graph takes, and how much it computes, in place of its outputs",
    )
    parser.add_argument(
        "--fail-fast", action="store_true", help="with a folder as --input: stop at the first file that fails"
    )


def execute(options: argparse.Namespace) -> int:
    """Run every model; the worst status."""
    if options.dump is not None and len(options.models) > 1:
        print("dmlcy run: --dump needs exactly one graph.", file=sys.stderr)
        return 2
    if options.profile and (options.dump is not None or options.expect is not None or len(options.models) > 1):
        print("dmlcy run: --profile takes one graph, without --dump and --expect.", file=sys.stderr)
        return 2
    if options.profile and options.all:
        print("dmlcy run: --profile prints no elements: leave out --all.", file=sys.stderr)
        return 2
    if options.format != "text" and not options.profile:
        print(f"dmlcy run: --format {options.format} needs --profile.", file=sys.stderr)
        return 2
    if options.optimize != "none" and not all(name != "-" and is_onnx(name) for name in options.models):
        print("dmlcy run: --optimize is for ONNX models.", file=sys.stderr)
        return 2
    several = len(options.models) > 1
    taken: set[str] = set()
    status = 0
    for name in options.models:
        expect = options.expect
        if expect is not None and several:
            expect /= distinct("stdin" if name == "-" else Path(name).stem, taken)
        status = max(status, _run(name, expect, several, options))
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
    """The content of a file, or of standard input, and the folder that its paths are relative to."""
    return decode(*read_bytes(name), limit), Path() if name == "-" else Path(name).parent


def load_graph(name: str, limit: int, what: str) -> tuple[Document | Serialized, Path]:
    """The content of a file, and its folder; ModelError for a file that has no graph."""
    document, folder = load(name, limit)
    if isinstance(document, Document) and not is_graph(document):
        reader = Reader(document)
        reader.report("DML-MODEL-missing", document.root, name="Nodes", hint=f"{what} takes a graph.")
        reader.finish()
    return document, folder


def _run(name: str, expect: Path | None, several: bool, options: argparse.Namespace) -> int:
    """Run a file; what only models or only graphs need is imported for one only."""
    if several:
        print(f"{printable(name)}:")
    try:
        if name != "-" and is_onnx(name):
            return _onnx(name, options)
        document, folder = load(name, options.limit)
        if not isinstance(document, Document) or is_graph(document):
            if expect is not None:
                print("dmlcy run: --expect is for models. For a graph, --dump writes the values.", file=sys.stderr)
                return 2
            from dmlcy._cli.run_graph import filled, given_inputs, run_graph

            found = filled(document, folder, options)
            if any(Path(file).is_dir() for _, file in options.input):
                from dmlcy._cli.run_folder import of_graph_file, run_folder

                return run_folder(of_graph_file(found, given_inputs(found, options.input), options, name), options)
            run_graph(found, name, options)
            return 0
        if options.dump is not None or options.profile:
            what = "--profile is for graphs." if options.profile else DUMPS
            print(f"dmlcy run: {what}", file=sys.stderr)
            return 2
        from dmlcy._cli.run_model import run_model

        run_model(document, folder, options, expect)
    except DmlError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        return 2 if any(violation.id in UNREADABLE for violation in error.violations) else 1
    return 0


def _onnx(name: str, options: argparse.Namespace) -> int:
    """Run an ONNX model; what knows ONNX's operators is imported for one only."""
    from dmlcy._cli.onnx_run import compiled, run

    if any(Path(file).is_dir() for _, file in options.input):
        from dmlcy._cli.run_folder import of_onnx, run_folder

        return run_folder(of_onnx(compiled(name, options), options), options)
    if options.expect is not None or options.dump is not None:
        print(
            "dmlcy run: --expect and --dump are not for ONNX models. Use dmlcy graph --expose-edges.", file=sys.stderr
        )
        return 2
    run(name, options)
    return 0
