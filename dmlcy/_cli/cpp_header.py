"""``dmlcy cpp-header``: the headers of C++ that hand the descs of a program to ``dmlcy lint``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import IO, Final

from dmlcy._cli.options import add_examples
from dmlcy._frontends.dxdispatch.files import write_all
from dmlcy._frontends.dxdispatch.problems import printable

DUMP: Final = "dmlcy_dump.h"
LAYER: Final = "dmlcy_layer.h"


def _writer(text: bytes) -> Callable[[IO[bytes]], int]:
    return lambda stream: stream.write(text)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "cpp-header",
        help="print the header of C++ that writes descs as JSON",
        description=f"Print {DUMP}, a header of C++17 that writes the desc of any operator as JSON, which `dmlcy lint` "
        f"reads; or {LAYER}, which does so for all descs and graphs of a program that DirectML refuses or compiles.",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--layer", action="store_true", help=f"print {LAYER}, which includes {DUMP}")
    what.add_argument("--output", metavar="DIR", help="write both headers into this folder, and replace those in it")
    what.add_argument("--path", action="store_true", help="print the folder that has both headers, for the compiler")
    add_examples(
        parser,
        "dmlcy cpp-header > dmlcy_dump.h",
        "dmlcy cpp-header --output include",
        'cl /std:c++17 /I"$(dmlcy cpp-header --path)" program.cpp',
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print or write the headers."""
    folder = files("dmlcy") / "_cpp"
    texts = {name: (folder / name).read_bytes() for name in (DUMP, LAYER)}
    if options.path:
        print(folder)
    elif options.output is not None:
        try:
            paths = write_all(Path(options.output), {(name,): _writer(text) for name, text in texts.items()})
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            print(f"dmlcy cpp-header: {printable(options.output)}: {why}", file=sys.stderr)
            return 2
        for path in paths:
            print(f"Header written to '{printable(str(path))}'")
    else:
        sys.stdout.write(texts[LAYER if options.layer else DUMP].decode())
    return 0
