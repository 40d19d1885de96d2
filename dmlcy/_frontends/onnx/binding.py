"""Sizes that a user gives: ``x=1x3x224x224`` for an input, ``batch=1`` for a free dimension."""

from __future__ import annotations

import argparse
import re

from dmlcy._words.values import quote


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """A name and its sizes; the name may contain "=". An empty list of sizes is that of a single number."""
    name, equals, sizes = text.rpartition("=")
    if not (name and equals and re.fullmatch(r"(\d{1,18}([x,]\d{1,18})*)?", sizes)):
        raise argparse.ArgumentTypeError(f"the option must have the form NAME=1x3x224x224, not {quote(text)}")
    return name, tuple(int(size) for size in re.split("[x,]", sizes) if size)
