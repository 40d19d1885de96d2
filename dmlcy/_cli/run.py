"""``dmlcy run``: execute model files."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from dmlcy._cli.options import add_examples, add_feature_level, whole_number
from dmlcy._errors import DmlError
from dmlcy._frontends.dxdispatch.expect import distinct
from dmlcy._frontends.dxdispatch.files import open_regular
from dmlcy._frontends.dxdispatch.json import Document, decode
from dmlcy._frontends.dxdispatch.model import read
from dmlcy._frontends.dxdispatch.problems import UNREADABLE, make, printable, refuse, whole
from dmlcy._frontends.dxdispatch.run import Options
from dmlcy._frontends.dxdispatch.run import run as run_model
from dmlcy._show.terminal import Progress

_LARGEST = 256 * 2**20
QUIET = frozenset({"DML-MODEL-comment", "DML-MODEL-trailing-comma", "DML-MODEL-after-root"})


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run", help="execute model files", description="Execute model files in DxDispatch's format."
    )
    parser.add_argument("models", nargs="+", metavar="MODEL.json", help="model files; - is standard input")
    add_feature_level(parser)
    parser.add_argument(
        "--output-path", type=Path, default=Path(), metavar="DIR", help="where writeFile writes (default: .)"
    )
    parser.add_argument(
        "--iterations", type=whole_number(1), default=1, metavar="N", help="times that each dispatch runs (default: 1)"
    )
    parser.add_argument(
        "--expect",
        type=Path,
        metavar="DIR",
        help="write outputs and their bounds into DIR, for dmlcy compare; of several models, into a folder each",
    )
    add_examples(
        parser,
        "dmlcy run model.json",
        "dmlcy run --iterations 1000 model.json    # the median of as many times",
        "dmlcy run --expect expected model.json    # then: dmlcy compare expected from_the_gpu",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run every model; the worst status."""
    settings = Options(options.feature_level, options.output_path, options.iterations, options.expect)
    several = len(options.models) > 1
    taken: set[str] = set()
    status = 0
    for name in options.models:
        if options.expect is not None and several:
            folder = distinct("stdin" if name == "-" else Path(name).stem, taken)
            settings = replace(settings, expect=options.expect / folder)
        status = max(status, _run(name, settings, several))
    return status


def read_bytes(name: str) -> tuple[str, bytes]:
    """The name to show of a file, or of standard input, and what is in it; ModelError for what cannot be read."""
    shown = "<stdin>" if name == "-" else name
    try:
        if name == "-" and sys.stdin is None:
            raise OSError("it is closed")
        if name == "-":
            data = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with open_regular(name) as stream:
                # No more than there is: room for all that is asked for is made beforehand.
                data = stream.read(min(os.fstat(stream.fileno()).st_size, _LARGEST) + 1)
        if len(data) > _LARGEST:
            raise OSError(f"it is larger than {_LARGEST} bytes")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        refuse([make("DML-MODEL-file", whole(shown), {"why": why})])
    return shown, data


def load(name: str) -> tuple[Document, Path]:
    """The document in a file, or on standard input, and the folder that its paths are relative to."""
    return decode(*read_bytes(name)), Path() if name == "-" else Path(name).parent


def _run(name: str, settings: Options, several: bool) -> int:
    if several:
        print(f"{printable(name)}:")
    try:
        model = read(*load(name))
        for warning in model.warnings:
            if warning.violation.id not in QUIET:
                print(warning, file=sys.stderr)
        progress = Progress()
        try:
            run_model(model, sys.stdout, settings, progress.reached)
        finally:
            progress.clear()
    except DmlError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        return 2 if any(violation.id in UNREADABLE for violation in error.violations) else 1
    return 0
