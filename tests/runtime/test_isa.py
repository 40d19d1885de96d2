"""The levels of instructions: what a processor has, which level it takes, and what DMLCY_ISA may be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import combinations
from types import ModuleType
from typing import Any

import pytest
from depth import deep
from instruction_levels import differing, needs

from dmlcy._runtime import isa, processor

BITS = {
    "AVX": ("c1", 28),
    "F16C": ("c1", 29),
    "FMA": ("c1", 12),
    "AVX2": ("b7", 5),
    "AVX512F": ("b7", 16),
    "AVX512DQ": ("b7", 17),
    "AVX512BW": ("b7", 30),
    "AVX512VL": ("b7", 31),
    "AVX512_VNNI": ("c7", 11),
    "AVX_VNNI": ("a7", 4),
    "registers of AVX": ("kept", 2),
    "masks": ("kept", 5),
    "upper halves": ("kept", 6),
    "upper registers": ("kept", 7),
}
"""Where a processor says what it has, in the manuals of Intel: CPUID, and which registers the system keeps."""
WIDE = {"AVX", "F16C", "FMA", "AVX2", "registers of AVX"}
WIDEST = {*BITS} - {"AVX512_VNNI", "AVX_VNNI"}
EMULATOR = "qemu-x86_64"


def answers(names: set[str]) -> dict[str, int]:
    """The registers of a processor that has these and, whatever else it says, SSE."""
    found = {"c1": 1, "b7": 0, "c7": 0, "a7": 0, "kept": 3 if "registers of AVX" in names else 1}
    for register, bit in (BITS[name] for name in names):
        found[register] |= 1 << bit
    return found


def test_each_feature_is_asked_for_at_its_place(probe: ModuleType) -> None:
    everything = probe.has_of(**answers({*BITS}))
    assert isa._named(everything) == list(isa._FEATURES)
    for lacking in BITS:
        found = isa._named(probe.has_of(**answers({*BITS} - {lacking})))
        if lacking in ("AVX", "registers of AVX"):
            assert found == []
        elif lacking in ("AVX512F", "masks", "upper halves", "upper registers"):
            assert found == ["F16C", "FMA", "AVX2", "AVX_VNNI"], lacking
        else:
            assert found == [name for name in isa._FEATURES if name != lacking]


def test_a_level_needs_each_of_its_features(probe: ModuleType) -> None:
    def level(names: set[str]) -> str:
        return isa.LEVELS[probe.level_of(probe.has_of(**answers(names)))]

    assert (level(set()), level(WIDE), level(WIDEST), level({*BITS})) == ("baseline", "wide", "widest", "widest")
    for lacking in map(set, [*combinations(WIDEST, 1), *combinations(WIDEST, 2)]):
        assert level({*BITS} - lacking) == ("baseline" if lacking & WIDE else "wide"), lacking


INFO = "from dmlcy._cli import main; main(['info', '--json'])"


def python(*command: str, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    known = {name: value for name, value in os.environ.items() if name != "DMLCY_ISA"} | environment
    run = [*command, sys.executable, "-P", "-c", program]
    return subprocess.run(run, env=known, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("level", isa.LEVELS)
def test_each_level_is_taken(level: str) -> None:
    needs(level)
    facts = json.loads(python(program=INFO, DMLCY_ISA=level).stdout)["processor"]
    assert facts["level"]["name"] == level and facts["level"]["allowed"] == isa.levels()
    assert ("DMLCY_ISA allows no more" in facts["level"]["why"]) == (level != isa.levels()[-1])
    needed = [] if level == "baseline" else sorted(isa._named(processor.instructions()[level]))
    assert facts["used"] == needed and facts["vnni"] == isa.vnni()


@pytest.mark.parametrize("value", ["x", "Wide", "avx512", " "])
def test_unknown_levels_are_refused(value: str) -> None:
    done = python(program=INFO, DMLCY_ISA=value)
    assert done.returncode == 1 and done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: DMLCY_ISA is {value!r} in the environment, and must name a level")
    assert all(f'"{level}"' in last for level in isa.levels())


def test_no_value_is_the_highest_level() -> None:
    for environment in ({}, {"DMLCY_ISA": ""}):
        done = python(program="from dmlcy._runtime import isa; print(isa.level())", **environment)
        assert done.stdout == f"{isa.levels()[-1]}\n"


CHIPS = {
    "Nehalem": ("baseline", "F16C, FMA, AVX2"),
    "IvyBridge": ("baseline", "FMA, AVX2"),
    "Haswell": ("wide", "AVX512F, AVX512DQ, AVX512BW, AVX512VL"),
}
"""Processors of QEMU: the highest level, and what the next one needs besides."""


@pytest.mark.parametrize("chip", ["Haswell", *(pytest.param(chip, marks=deep) for chip in [*CHIPS][:2])])
def test_a_level_that_the_processor_lacks_is_refused(chip: str) -> None:
    if shutil.which(EMULATOR) is None or isa.levels()[-1] == "baseline":
        pytest.skip(f"there is no {EMULATOR}, or this package has no level that a processor of it lacks")
    highest, lacking = CHIPS[chip]
    emulated = EMULATOR, "-cpu", chip
    lack = f"this processor, or its operating system, lacks {lacking}"
    allowed = isa.LEVELS[: isa.LEVELS.index(highest) + 1]
    program = "from dmlcy._runtime import isa; print(isa.level(), isa.levels(), isa.why(), sep='; ')"
    assert python(*emulated, program=program).stdout == f"{highest}; {[*allowed]}; {lack}\n"
    done = python(*emulated, program="import dmlcy; print(0)", DMLCY_ISA=isa.LEVELS[len(allowed)])
    assert done.returncode == 1 and done.stdout == ""
    names = " or ".join(f'"{name}"' for name in allowed)
    assert f"in the environment, but {lack}. On this machine, it may be {names};" in done.stderr


def test_a_package_for_the_baseline_refuses_other_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on ARM64, and where the compiler is none that has names for instructions."""
    numbers: dict[str, Any] = processor.instructions() | {"compiled": 0, "level": 0, "has": 0, "used": 0}
    monkeypatch.setattr(isa, "instructions", lambda: numbers)
    assert isa.levels() == ["baseline"] and isa.used() == []
    assert isa.why() == "this package has loops for the baseline only"
    isa.check("baseline")
    for level in isa.LEVELS[1:]:
        with pytest.raises(ImportError, match=f"'{level}' in the environment, but this package has loops for the base"):
            isa.check(level)


def test_other_bits_are_noticed() -> None:
    expected = "EXP 1\nADD 2\n"
    assert differing("wide", "EXP 3\nADD 2\n", expected, frozenset({"EXP"})) == {"EXP"}
    assert differing("baseline", "EXP 3\nADD 4\n", expected, frozenset({"EXP"})) == {"ADD"}
    assert differing("widest", expected, expected, frozenset()) == set()
