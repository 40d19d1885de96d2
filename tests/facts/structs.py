"""The layout of DirectML's structs and the values of its enums, as structs.toml has them."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "structs"
"""The file beside this one, without its suffix."""


@functools.cache
def structs() -> dict[str, Any]:
    """The tables of the file."""
    return tomllib.loads((Path(__file__).parent / f"{FILE}.toml").read_text(encoding="utf-8"))


def paired(text: str) -> dict[str, int]:
    """``A 0 B 8`` as a mapping, in this order."""
    words = text.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


def layouts() -> Mapping[str, tuple[int, dict[str, int]]]:
    """The size of each struct, and the offsets of its members: of operators by the name of the struct."""
    known = structs()
    rows = {f"DML_{name}_OPERATOR_DESC": row for name, row in known["operators"].items()} | known["structs"]
    return {name: (row["size"], paired(row["members"])) for name, row in rows.items()}


def enums() -> Mapping[str, dict[str, int]]:
    """The members of each enum, without its prefix."""
    return {name: paired(members) for name, members in structs()["enums"].items()}
