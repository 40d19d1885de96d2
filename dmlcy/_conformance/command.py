"""``python -m dmlcy.testing``: writes a conformance pack, and judges what a back end made of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from dmlcy._cli import Parser, main
from dmlcy._cli.options import add_device, add_examples, add_format, level_name, of_device, whole_number
from dmlcy._conformance import report
from dmlcy._conformance.write import write
from dmlcy._errors import DmlError
from dmlcy._facts.names import known_operator
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import LEVEL_INDEX, LEVELS, RUNNABLE
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._judge.packs.judge import Report, judge
from dmlcy._show.terminal import Progress

CASES: Final = 12
FORMATS: Final[dict[str, Callable[[Report], Iterator[str]]]] = {"text": report.text, "json": report.as_json}


def program(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status: 0 passed, 1 failed or missing, 2 unreadable file or wrong usage."""
    return main(arguments, lambda words: parser())


@cache
def parser() -> Parser:
    """The arguments of both commands, for all calls of ``program``."""
    whole = Parser(
        prog="python -m dmlcy.testing",
        description="The conformance pack: cases of each operator for a back end, on a machine without Python.",
    )
    add_examples(
        whole,
        "python -m dmlcy.testing export pack    # models, inputs, expected values and how far each may be off",
        "python -m dmlcy.testing compare pack results    # what the back end wrote, case by case",
    )
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_export(commands)
    _add_compare(commands)
    return whole


def _add_export(commands: argparse._SubParsersAction[Parser]) -> None:
    one = commands.add_parser(
        "export",
        help="write a pack",
        description="Write a pack: for each operator its documented examples, drawn cases, and descs that must be "
        "refused. The same seed gives the same bytes, with the same versions of dmlcy and Hypothesis.",
    )
    one.add_argument("folder", type=Path, metavar="DIR", help="a folder that is empty, or not there yet")
    _add_choice(one, "write only what is valid at this level")
    one.add_argument(
        "--cases",
        type=whole_number(0),
        default=CASES,
        metavar="N",
        help=f"the most cases that are drawn for each operator; 0: only the examples (default: {CASES})",
    )
    one.add_argument("--seed", type=whole_number(0), default=0, metavar="N", help="what is drawn from (default: 0)")
    one.set_defaults(execute=_export)


def _add_compare(commands: argparse._SubParsersAction[Parser]) -> None:
    one = commands.add_parser(
        "compare",
        help="judge what a back end wrote",
        description="Judge the outputs that a back end wrote for the cases of a pack. Exit status: 2 for an unreadable "
        "file, a damaged pack or wrong usage, 1 if a case fails or is missing, or with --strict if one is suspect or "
        "not judged, else 0.",
    )
    one.add_argument("folder", type=Path, metavar="DIR", help="the folder of the pack")
    one.add_argument("results", type=Path, metavar="RESULTS", help="the results, in a folder for each case")
    _add_choice(one, "judge only cases that this level has")
    one.add_argument("--allow-missing", action="store_true", help="a case without any result is no failure")
    add_device(one)
    add_format(one, FORMATS)
    one.set_defaults(execute=_compare)


def _add_choice(one: argparse.ArgumentParser, level: str) -> None:
    newest = LEVELS[-1].name
    one.add_argument(
        "--operators", type=_operators, default=(), metavar="A,B", help="only these operators (default: all)"
    )
    one.add_argument("--level", type=level_name, default=newest, metavar="LEVEL", help=f"{level} (default: {newest})")


def _operators(names: str) -> tuple[Operator, ...]:
    """The type of a list of operators."""
    try:
        found = [known_operator(name) for name in names.split(",")]
    except DmlError as error:
        raise argparse.ArgumentTypeError(printable(str(error))) from None
    for one in found:
        if not one.runs:
            raise argparse.ArgumentTypeError(f"dmlcy does not run {one.name} yet")
    return tuple(dict.fromkeys(found))


def _export(options: argparse.Namespace) -> int:
    progress = Progress()
    operators = options.operators or tuple(RUNNABLE.values())
    try:
        pack = write(
            options.folder, operators, LEVEL_INDEX[options.level], options.cases, options.seed, progress.reached
        )
    except DmlError as error:
        progress.clear()
        print(error, file=sys.stderr)
        return 2
    progress.clear()
    refusals = sum(one.count for one in pack.refusals)
    size = sum(file.size for entry in pack.cases for file in entry.files) + sum(one.file.size for one in pack.refusals)
    print(f"{len(pack.cases)} cases and {refusals} descs that must be refused, {size / 1e6:.1f} MB")
    print(f"Pack written to '{printable(str(options.folder))}'")
    return 0


def _compare(options: argparse.Namespace) -> int:
    progress = Progress()
    names = [one.name for one in options.operators]
    try:
        found = judge(
            options.folder,
            options.results,
            names,
            options.level,
            options.allow_missing,
            progress.reached,
            of_device(options),
        )
    except DmlError as error:
        progress.clear()
        print(error, file=sys.stderr)
        return 2
    progress.clear()
    for warning in found.warnings:
        print(warning, file=sys.stderr)
    for line in FORMATS[options.format](found):
        sys.stdout.write(f"{line}\n")
    return max(found.status, int(options.strict and found.is_doubtful))
