"""Programs at a level of instructions, each in a process of its own, and whether they print the same at all levels."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dmlcy import specs
from dmlcy._facts.tables import FAST
from dmlcy._runtime import isa

KERNELS = Path(__file__).parents[1] / "dmlcy" / "_generated" / "kernels"
CALLED = r"\b(exp|log|pow)\("
MULTIPLIED = {"products": "", "recurrent": "", "attention": "", "norms": CALLED, "folds": CALLED}
"""By the module of the runtime that adds products, what is in [kernel] of the operators whose loops then do."""
LOOP = re.compile(r"#define DMLCY_ROW (\w+)_[^_\s]+_row$.*?#define DMLCY_FUNCTIONS ([01])$", re.M | re.S)


def needs(level: str) -> None:
    """Skip a test, with the words of the refusal, where this machine lacks a level."""
    try:
        isa.check(level)
    except ImportError as refusal:
        pytest.skip(str(refusal))


@functools.cache
def printed(level: str, *arguments: str) -> str:
    """The output of Python at a level."""
    environment = {**os.environ, "DMLCY_ISA": level}
    done = subprocess.run([sys.executable, *arguments], timeout=600, check=True, capture_output=True, env=environment)
    return done.stdout.decode()


@functools.cache
def with_functions() -> frozenset[str]:
    """Operators with loops of functions or sums of products: without a fused multiply-add, these may have others."""
    loops = [loop for path in KERNELS.glob("*.pyx") for loop in LOOP.findall(path.read_text(encoding="utf-8"))]
    assert loops
    found = {name.upper() for name, functions in loops if functions == "1"}
    for name, operator in FAST.items():
        kernels = (KERNELS / f"{operator.family}.pyx").read_text(encoding="utf-8")
        kernel = str(specs.operator(name).get("kernel"))
        if any(f"_runtime.{one} " in kernels and re.search(called, kernel) for one, called in MULTIPLIED.items()):
            found.add(name)
    return frozenset(found)


def differing(level: str, lines: str, expected: str, functions: frozenset[str]) -> set[str]:
    """The operators with another line, such as ``NAME digest``; at the baseline, functions may have other bits."""
    others = {*lines.splitlines()} ^ {*expected.splitlines()}
    return {line.split()[0] for line in others} - (functions if level == "baseline" else frozenset())


def assert_same_lines(level: str, *arguments: str) -> None:
    """Python prints the same of each operator as at the level in force, the baseline of functions excepted."""
    needs(level)
    levels = level, isa.level()
    lines, expected = (printed(one, *arguments) for one in levels)
    assert lines
    assert differing(min(levels, key=isa.LEVELS.index), lines, expected, with_functions()) == set()
