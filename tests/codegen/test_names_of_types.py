"""A type of fields is one file of codegen, and nothing else in codegen asks for it by name."""

from __future__ import annotations

from pathlib import Path

from each import each_of
from field_types import asked

CODEGEN = Path(__file__).parents[2] / "codegen"
OUTSIDE = [
    path
    for path in sorted(CODEGEN.rglob("*"))
    if path.suffix in (".py", ".j2", ".h", ".txt") and "field_types" not in path.parts
]
C_TYPES = {"float", "uint"}
"""Types of C: the type of an accumulator, and the beginning of uint8_t and the others."""


def types_of_c(path: Path) -> set[str]:
    """The families name them, and what renders C."""
    return C_TYPES if "families" in path.parts or path == CODEGEN / "expr" / "c.py" else set()


@each_of("path", OUTSIDE)
def test_nothing_else_asks_for_a_type_by_name(path: Path) -> None:
    assert asked(path) - types_of_c(path) == set()
