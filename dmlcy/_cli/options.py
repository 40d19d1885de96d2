"""Options that several commands share; what only some of them need is imported there, to start the others sooner."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from dmlcy._facts.levels import level_index
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import LEVELS
from dmlcy._words.values import quote

if TYPE_CHECKING:
    from dmlcy._judge.passes import Device

EXAMPLES: Final = "examples:"
FORMATS: Final = ("text", "json")
MEASURED: Final = 10
"""Runs of a profile."""


def add_format(
    parser: argparse.ArgumentParser, formats: Iterable[str] = FORMATS, words: str = "what to print (default: text)"
) -> None:
    """Declare ``--format``, and ``--json``, of a command that prints text, JSON or more."""
    parser.add_argument("--format", choices=tuple(formats), default="text", help=words)
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")


def add_device(parser: argparse.ArgumentParser) -> None:
    """Declare what a user may say of the device that is judged, and ``--strict``."""
    for name, what in (("ulp", "N units in the last place"), ("rtol", "N times the expected value"), ("atol", "N")):
        parser.add_argument(
            f"--{name}",
            type=_tolerance,
            metavar="N",
            help=f"differences of up to {what} pass, in place of the differences of a correct device; exact outputs "
            "stay exact, and if several of --ulp, --rtol and --atol are given, their sum passes",
        )
    parser.add_argument(
        "--allow-half-precision",
        action="store_true",
        help="the device may add FLOAT16 in FLOAT16, as DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION allows",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 if an output is suspect or not judged, too")


def of_device(options: argparse.Namespace) -> Device:
    """The facts that the options give about the device."""
    from dmlcy._judge.passes import Device

    return Device(options.ulp, options.rtol, options.atol, options.allow_half_precision)


def _tolerance(text: str) -> float:
    """The type of a difference that passes."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"it must be a finite number, 0 or more, not {quote(text)}")
    return found


OPTIMIZED: Final = (
    "of an ONNX model: apply the passes of ONNX Runtime's optimiser that are known, of this level (default: none)"
)


def add_optimize(parser: argparse.ArgumentParser, words: str = OPTIMIZED) -> None:
    """Declare ``--optimize``, the level of ONNX Runtime's optimiser."""
    parser.add_argument("--optimize", choices=("none", "basic", "extended"), default="none", help=words)


def add_examples(parser: argparse.ArgumentParser, *lines: str) -> None:
    """Show commands below the options; text after four spaces and # describes a command."""
    parser.epilog = "\n".join([EXAMPLES, *(f"  {line}" for line in lines)])


def warn_of(operator: Operator) -> None:
    """Say on standard error that dmlcy cannot run the model of an operator."""
    if not operator.runs:
        print(
            f"warning: dmlcy does not run {operator.name} yet: the model is for other programs",
            file=sys.stderr,
        )


def add_feature_level(parser: argparse.ArgumentParser, what: str = "check at this level") -> None:
    """Declare ``--feature-level``."""
    lowest, newest = LEVELS[0].name, LEVELS[-1].name
    parser.add_argument(
        "--feature-level",
        type=level_name,
        metavar="LEVEL",
        help=f"{what}, {lowest} to {newest} (default: {newest})",
    )


def add_limit(parser: argparse.ArgumentParser) -> None:
    """Declare ``--limit``, of a command that reads graphs."""
    from dmlcy._graph.limits import MOST

    parser.add_argument(
        "--limit",
        type=whole_number(1),
        default=MOST,
        metavar="N",
        help=f"the most nodes of a graph (default: {MOST})",
    )


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """A name and its sizes; the name may contain "=". No size at all is that of a single number."""
    name, equals, sizes = text.rpartition("=")
    if not (name and equals and re.fullmatch(r"(\d{1,18}([x,]\d{1,18})*)?", sizes)):
        raise argparse.ArgumentTypeError(
            f"the option must have the form INPUT=1x3x224x224 or DIMENSION=1, not {quote(text)}"
        )
    return name, tuple(int(size) for size in re.split("[x,]", sizes) if size)


def add_shapes(parser: argparse.ArgumentParser) -> None:
    """Declare ``--shape``."""
    parser.add_argument(
        "--shape",
        action="append",
        type=shape,
        default=[],
        metavar="NAME=SIZES",
        help="the sizes of an input of an ONNX model, such as x=1x3x224x224, or of a free dimension, such as batch=1; "
        "may be given several times",
    )


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Declare ``--input`` and ``--seed``, of a command that runs graphs."""
    parser.add_argument(
        "--input",
        action="append",
        type=assignment,
        default=[],
        metavar="NAME=FILE.npy",
        help="the values of a graph input; the others get small integers. dmlcy run also takes a folder of such files",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=0, metavar="N", help="what the integers are drawn from (default: 0)"
    )


def level_name(text: str) -> str:
    """The type of an option that is a feature level."""
    try:
        name: str = LEVELS[level_index(text)].name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return name


def whole_number(least: int) -> Callable[[str], int]:
    """The type of an option that is a whole number, ``least`` or more."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"it must be a whole number, {least} or more, not {quote(text)}")
        return value

    return number


def assignment(text: str) -> tuple[str, str]:
    """The type of an option that gives a file for a name."""
    field, equals, file = text.partition("=")
    if not (field and equals and file):
        raise argparse.ArgumentTypeError("the option must have the form NAME=FILE.npy")
    return field, file


def output(text: str) -> tuple[str, str]:
    """The type of an option that names a value, and may give a file for it; the name may contain "="."""
    name, equals, file = text.rpartition("=")
    if equals and name and file.endswith(".npy"):
        return name, file
    if not text:
        raise argparse.ArgumentTypeError("the option must have the form NAME or NAME=FILE.npy")
    return text, ""
