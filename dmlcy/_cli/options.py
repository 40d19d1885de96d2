"""Options that several commands share."""

from __future__ import annotations

import argparse

from dmlcy._levels import level_index
from dmlcy._tables import LEVELS


def add_feature_level(parser: argparse.ArgumentParser) -> None:
    """Declare ``--feature-level``."""
    lowest, newest = LEVELS[0].name, LEVELS[-1].name
    parser.add_argument(
        "--feature-level",
        type=_level,
        metavar="LEVEL",
        help=f"check at this level, {lowest} to {newest} (default: {newest})",
    )


def _level(text: str) -> str:
    try:
        name: str = LEVELS[level_index(text)].name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return name
