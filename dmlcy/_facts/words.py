"""Operators by the names that NumPy, PyTorch and everyday language have for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from string import digits
from typing import Final

from dmlcy._facts.rows import MISSING
from dmlcy._facts.tables import ENUMS, NAMES, OPERATORS, names_elsewhere

LIBRARIES: Final = {
    "torch.nn.functional": "f", "torch.nn": "nn", "numpy": "np", "tensorflow": "tf", "cupy": "np", "jax.numpy": "np",
    "jnp": "np", "jax.nn": "nn", "torch": "torch", "f": "f", "nn": "nn", "np": "np", "tf": "tf", "scipy": "scipy",
}  # fmt: skip
"""The beginnings of names in other libraries, and the short form of each."""
GROUPS: Final = ("ACTIVATION_", "ELEMENT_WISE_")
"""Beginnings of operators' names that everyday language leaves out."""
LONGEST: Final = 100
"""Characters of a word that are looked at."""


@lru_cache(5000)
def fold(word: str) -> str:
    """A word without what spellings differ in: ``numpy.layer_norm``, ``np.layer_norm``, ``np.Layer-Norm``."""
    small = word[:LONGEST].strip().lower().removesuffix("()")
    for library, short in LIBRARIES.items():
        if small.startswith(f"{library}."):
            small = short + small[len(library) :]
            break
    return re.sub(r"[\s_-]", "", small)


def bare(word: str) -> str:
    """A folded word without the library: ``pad`` of ``np.pad``."""
    return word.rpartition(".")[2]


def operators_called(word: str) -> tuple[str, ...]:
    """The operators that a word means besides their names, the one to take first."""
    wanted = fold(word)
    known = claims()
    if wanted.partition(".")[0] not in LIBRARIES.values():
        return known.get(wanted, ())
    return known.get(wanted) or known.get(bare(wanted), ())


def page_of(word: str) -> str | None:
    """Where the documentation says how to do without an operator, with a sentence; None where no page has the word."""
    wanted = fold(word)
    for name, (page, doc, *also) in names_elsewhere().PAGES.items():
        if wanted in {short for one in (name, *also) for short in (fold(one), bare(fold(one)))}:
            return f"{doc} See {page}."
    return None


def advice(name: str) -> str:
    """A sentence on what to take where dmlcy does not have such a name; empty where no operator is called so."""
    functions = [f"dmlcy.{NAMES[operator]}{_member_called(operator, name)}" for operator in operators_called(name)]
    return f"Take {' or '.join(functions)}." if functions else page_of(name) or ""


def _member_called(operator: str, name: str) -> str:
    """The member of an enum that a call must give for the operator to be what the word says: reduce_mean, mean."""
    wanted = bare(fold(name)).removeprefix(fold(operator)).upper()
    for field in OPERATORS[operator].fields:
        info = ENUMS.get(field.type.partition(":")[2])
        if info is None or field.default is not MISSING:
            continue
        member = info.also.get(wanted, wanted)
        if member in info.members:
            return f' with {field.python}="{member}"'
    return ""


def newest(operator: str) -> str:
    """The version of an operator that has the highest number."""
    return max((operator, *versions(operator)), key=lambda name: (len(name), name))


def versions(operator: str) -> list[str]:
    """The other versions of an operator."""
    stem = operator.rstrip(digits)
    return [name for name in NAMES if name.rstrip(digits) == stem and name != operator]


@cache
def claims() -> dict[str, tuple[str, ...]]:
    """The operators of each folded word: those whose specs have it, and else the newest version of an own name."""
    found: dict[str, list[str]] = {}
    for operator, also in names_elsewhere().ALSO.items():
        for word in dict.fromkeys(short for name in also for short in (fold(name), bare(fold(name)))):
            found.setdefault(word, []).append(operator)
    ordered = {word: tuple(sorted(named, key=lambda name: len(before(name)))) for word, named in found.items()}
    return {word: (name,) for word, name in _own_names()} | ordered


def before(operator: str) -> frozenset[str]:
    """The operators that are meant before this one by a word that both have."""
    after: dict[str, tuple[str, ...]] = names_elsewhere().AFTER
    direct = after.get(operator, ())
    return frozenset(direct).union(*map(before, direct))


def _own_names() -> Iterator[tuple[str, str]]:
    """The names of operators without the numbers of their versions, with and without their groups."""
    for name in NAMES:
        stem = name.rstrip(digits)
        for group in ("", *GROUPS):
            if stem.startswith(group):
                yield fold(stem.removeprefix(group)), newest(name)
