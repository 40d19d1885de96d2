"""The level of instructions that the loops take, and why. isa.h chooses it; DMLCY_ISA names the highest one allowed."""

from __future__ import annotations

from dmlcy._runtime.processor import instructions

LEVELS = ("baseline", "wide", "widest")
_FEATURES = ("F16C", "FMA", "AVX2", "AVX512F", "AVX512DQ", "AVX512BW", "AVX512VL", "AVX512_VNNI", "AVX_VNNI")
"""By bit, as in isa.h."""
_VARIABLE = "DMLCY_ISA"


def level() -> str:
    """The level in force."""
    return LEVELS[instructions()["level"]]


def levels() -> list[str]:
    """The levels that this package has on this processor."""
    return [name for name in LEVELS if not _lack(name)]


def used() -> list[str]:
    """The instruction sets beyond the baseline that loops use."""
    numbers = instructions()
    return sorted(_named(numbers["used"] & numbers["widest"]))


def vnni() -> list[str]:
    """The instructions for products of 8-bit integers that the processor has; no level needs them."""
    return [name for name in _named(instructions()["has"]) if name.endswith("VNNI")]


def why() -> str:
    """Why the loops take the level in force and no higher one."""
    chosen = level()
    if chosen != levels()[-1]:
        return f"{_VARIABLE} allows no more; this processor has the level {levels()[-1]}"
    higher = LEVELS[LEVELS.index(chosen) + 1 :]
    return _lack(higher[0]) if higher else "this processor has its instructions"


def check(asked: str) -> None:
    """Raise ImportError where DMLCY_ISA is no level, or a level that the processor or the package lacks."""
    refused = f"{_VARIABLE} is {asked!r} in the environment"
    if asked not in LEVELS:
        refused += ", and must name a level of instructions"
    elif lack := _lack(asked):
        refused += f", but {lack}"
    else:
        return
    names = " or ".join(f'"{name}"' for name in levels())
    raise ImportError(f"{refused}. On this machine, it may be {names}; if it is not set, the last of these is taken.")


def _named(bits: int) -> list[str]:
    return [name for bit, name in enumerate(_FEATURES) if bits >> bit & 1]


def _lack(name: str) -> str:
    """The features that the processor or the package lacks for a level; empty where it has all."""
    numbers = instructions()
    if LEVELS.index(name) > numbers["compiled"]:
        return "this package has loops for the baseline only"
    missing = _named(numbers.get(name, 0) & ~numbers["has"])
    return f"this processor, or its operating system, lacks {', '.join(missing)}" if missing else ""
