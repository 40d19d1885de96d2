"""The files that tests and the benchmark have for a family with loops, each found by the name of the family.

``families/test_files.py`` names the missing files. The other tests leave a family out that lacks their file.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dmlcy._facts.tables import FAST, OPERATORS

ROOT = Path(__file__).resolve().parents[1]
PROPERTIES = "tests/families/{}.py"
WAYS = "tests/families/ways/{}.py"
DEFINITIONS = "tests/operators/reference/{}.py"
BENCHMARK = "benchmarks/families/{}.py"
LIBRARIES = ("NumPy", "PyTorch")
"""A call of one of these serves for an operator as its definition does."""


def has(file: str, family: str) -> bool:
    """Whether a family has the file."""
    return (ROOT / file.format(family)).is_file()


def having(file: str, names: Iterable[str] = FAST) -> list[str]:
    """The operators whose family has the file."""
    return [name for name in names if has(file, OPERATORS[name].family)]
