"""Options that several commands share."""

from __future__ import annotations

import argparse

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
