"""``dmlcy compare``: what a device wrote against expected values."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from dmlcy._cli import compare_dumps, compare_json, compare_text
from dmlcy._cli.options import add_device, add_examples, add_format, add_inputs, add_shapes, of_device
from dmlcy._errors import DmlError, ModelError
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._frontends.graphs.kinds import is_onnx
from dmlcy._judge.dumps.compare import compare as compare_values
from dmlcy._judge.dumps.dump import is_dump
from dmlcy._judge.expected.compare import Report, compare
from dmlcy._show.terminal import Progress

FORMATS: Final[dict[str, Callable[[Report], Iterator[str]]]] = {"text": compare_text.lines, "json": compare_json.lines}

EXAMPLES: Final = (
    "dmlcy run --expect expected model.json    # first, the expected values",
    "dmlcy compare expected from_the_gpu",
    "dmlcy compare expected/output.npy from_the_gpu/output.bin",
    "dmlcy compare exposed/model.onnx values.npz --validate    # every value of an ONNX model",
    "dmlcy compare --json expected from_the_gpu",
)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "compare",
        help="compare a device's outputs, or its dump of a graph, with expected ones",
        description="Compare the files of a device with the expected values that dmlcy run --expect wrote. An element "
        "passes if it differs by no more than a correct device may. Exit status: 2 for an unreadable file or wrong "
        "usage, 1 if an output fails or is missing, or with --strict if one is suspect or not judged, else 0. Of two "
        "dumps of a graph, it names the first constant and the first node that are wrong.",
    )
    parser.add_argument(
        "expected",
        type=Path,
        metavar="EXPECTED",
        help="a folder that dmlcy run --expect wrote, or one .npy file in it. Or an ONNX model, or a dump of a graph, "
        "which dmlcy run --dump or dmlcy graph --expose-edges wrote",
    )
    parser.add_argument(
        "actual",
        type=Path,
        metavar="ACTUAL",
        help="a file or a folder. A folder has the files that the model writes, or else .npy, .bin or .dat files of "
        "the names in EXPECTED. For an ONNX model, an .npz file, a folder, or JSON of polygraphy",
    )
    add_device(parser)
    add_inputs(parser)
    add_shapes(parser)
    parser.add_argument(
        "--inputs",
        type=Path,
        metavar="FILE",
        help="of an ONNX model: the inputs of the device, if ACTUAL has no inputs",
    )
    parser.add_argument(
        "--summary", action="store_true", help="of an ONNX model: print how far each value is from one of a run here"
    )
    parser.add_argument(
        "--validate",
        action="store_true",
        help="of an ONNX model: name the values with NaN and infinities; exit with 1 if a run here has none there",
    )
    add_format(parser, FORMATS)
    add_examples(parser, *EXAMPLES)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the report; its status."""
    progress = Progress()
    if options.expected.is_file() and is_onnx(str(options.expected)):
        from dmlcy._cli.compare_onnx import execute

        return execute(options)
    if options.actual.is_file() and is_onnx(str(options.actual)):
        model, values = (printable(str(one)) for one in (options.actual, options.expected))
        print(f"dmlcy compare: '{model}' is an ONNX model, which comes first: {model} {values}", file=sys.stderr)
        return 2
    if is_dump(options.expected):
        return _dumps(options)
    try:
        report = compare(options.expected, options.actual, progress.reached, of_device(options))
    except ModelError as error:
        progress.clear()
        print(error, file=sys.stderr)
        return 2
    for warning in report.warnings:
        print(warning, file=sys.stderr)
    for line in FORMATS[options.format](report):
        sys.stdout.write(f"{line}\n")
    return max(report.status, int(options.strict and report.is_doubtful))


def _dumps(options: argparse.Namespace) -> int:
    """Compare two dumps of a graph."""
    try:
        found = compare_values(options.expected, options.actual, of_device(options))
    except DmlError as error:
        print(error, file=sys.stderr)
        return 2
    for warning in found.warnings:
        print(warning, file=sys.stderr)
    for line in (compare_dumps.as_json if options.format == "json" else compare_dumps.text)(found):
        sys.stdout.write(f"{line}\n")
    return max(found.status, int(options.strict and found.is_doubtful))
