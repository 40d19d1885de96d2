"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from dmlcy._errors import quote
from dmlcy._levels import level_index
from dmlcy._tables import LEVELS


def add_format(parser: argparse.ArgumentParser) -> None:
    """Declare ``--format`` of a command that prints text or JSON."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="what to print (default: text)")


def add_feature_level(parser: argparse.ArgumentParser, what: str = "check at this level") -> None:
    """Declare ``--feature-level``."""
    lowest, newest = LEVELS[0].name, LEVELS[-1].name
    parser.add_argument(
        "--feature-level",
        type=_level,
        metavar="LEVEL",
        help=f"{what}, {lowest} to {newest} (default: {newest})",
    )


def _level(text: str) -> str:
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
