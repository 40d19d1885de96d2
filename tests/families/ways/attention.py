"""The ways of attention: few and many queries, blocks of keys, each format of a mask, keys where they are and copied.

A block has 1,024 keys, or 256 with lengths, and 48 queries. One query for each head of keys takes these where they are.
From 32 heads on, threads take whole heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from checks import assert_same_values as same
from strategies import Array

from dmlcy._facts.rows import Operator

from . import Kind, Way

__all__ = ["DTYPES", "kinds", "same", "ways"]

DTYPES = ("float16", "float32", "float32")
"""One twice: so the ways that are dealt to an operator are of both. The first has the smallest bound."""


@dataclass(frozen=True)
class Case:
    """Sizes, and which tensors there are; ``shared``: heads of the query for each of the key, if these may differ."""

    batch: int
    queries: int
    keys: int
    heads: int
    size: int
    width: int
    past: int = 0
    shared: int = 1
    stacked: bool = False
    bias: bool = False
    form: str = "NONE"
    mask: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()
    present: tuple[str, ...] = ()
    filtered: float = -10000.0


BOTH = ("output_present_key", "output_present_value")
CASES = [
    Case(2, 5, 7, 2, 8, 6),
    Case(1, 1, 1, 1, 1, 1),
    Case(1, 49, 33, 1, 16, 16, shared=3),
    Case(2, 3, 70, 2, 64, 70, form="KEY_SEQUENCE_LENGTH"),
    Case(1, 2, 1100, 2, 5, 3, form="KEY_SEQUENCE_END_START"),
    Case(1, 100, 20, 2, 4, 4, bias=True, shared=2),
    Case(2, 3, 9, 2, 3, 5, past=6, bias=True, present=BOTH),
    Case(2, 4, 4, 1, 7, 9, past=11, lengths=(0, 7), shared=2, present=BOTH),
    Case(2, 6, 5, 3, 4, 4, stacked=True, form="BOOLEAN", mask=(2, 3, 6, 5), filtered=-2.0),
    Case(1, 50, 3, 2, 4, 4, past=1030, lengths=(1025,), present=BOTH[1:], added=(1, 4, 50, 1033), shared=2),
    Case(1, 3, 40, 2, 8, 8, past=10, form="BOOLEAN", mask=(1, 1, 1, 40), present=BOTH[:1]),
    Case(2, 60, 1030, 1, 3, 2, added=(2, 1, 60, 1030), shared=2),
    Case(1, 3, 17, 4, 9, 4, form="BOOLEAN", mask=(3, 1), added=(1, 4, 1, 17), stacked=False),
    Case(3, 2, 65, 2, 33, 33, stacked=True, form="KEY_QUERY_SEQUENCE_LENGTH_START_END", shared=2),
    Case(2, 2, 2051, 1, 2, 2, form="BOOLEAN", mask=(2, 2051), filtered=-30.0),
    Case(2, 1, 1100, 2, 17, 19, form="KEY_SEQUENCE_LENGTH"),
    Case(2, 1, 9, 3, 20, 7, past=70, lengths=(64, 3), bias=True, present=BOTH),
    Case(1, 1, 130, 2, 33, 48, added=(1, 1, 1, 130), form="BOOLEAN", mask=(1, 2, 1, 130), filtered=-900.0),
    Case(40, 2, 3, 1, 4, 4, shared=2),
    Case(1, 4, 12, 2, 4, 4, past=3, form="BOOLEAN", mask=(15,), added=(1, 1, 4, 1), shared=3),
]


def numbers(most: float, seed: int, sizes: tuple[int, ...], dtype: str) -> Array:
    """Numbers of a normal distribution; of some queries one is infinite, or NaN."""
    x = np.random.default_rng(seed).normal(0, most, sizes).astype(dtype)
    if seed % 5 == 3:
        x.ravel()[0] = (np.inf, np.nan)[seed % 2]
    return x


def laid(x: Array, number: int) -> Array:
    """The same array as Fortran has it, as every second element of another, or backwards."""
    if number % 4 == 1:
        return np.asfortranarray(x)
    if number % 4 == 2:
        return np.repeat(x, 2, -1)[..., ::2]
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1] if number % 4 == 3 else x


def mask_of(case: Case, random: np.random.Generator) -> Array | None:
    keys = case.keys + case.past
    ends, starts = random.integers(keys // 2 + 1, keys + 1, case.batch), random.integers(0, keys // 2 + 1, case.batch)
    found: dict[str, Any] = {
        "KEY_SEQUENCE_LENGTH": lambda: ends[None],
        "KEY_SEQUENCE_END_START": lambda: np.stack([ends, starts]),
        "KEY_QUERY_SEQUENCE_LENGTH_START_END": lambda: np.concatenate([ends, np.zeros(2 * case.batch + 2)]),
        "BOOLEAN": lambda: random.integers(0, 3, case.mask),
    }
    return found[case.form]().astype(np.int32) if case.form in found else None


def way(operator: Operator, number: int, case: Case) -> Way:
    names = {field.python for field in operator.fields}
    grouped = "past_sequence_lengths" in names
    shared = case.shared if grouped else 1
    heads = case.heads * shared

    def others(dtype: str) -> tuple[Any, ...]:
        random = np.random.default_rng(number)

        def some(*sizes: int, most: float = 1.0) -> Array:
            return laid(random.normal(0, most, sizes).astype(dtype), number + len(sizes))

        rows, few = (case.batch, case.keys), case.heads
        separate = [some(*rows, few * case.size), some(*rows, few * case.width), None, None, None]
        if case.stacked:
            separate = [None, None, None, some(*rows, few, 2, case.size), None]
        added = None
        if case.added:
            added = some(*(heads if d == 1 and size > 1 else size for d, size in enumerate(case.added)))
        past = (case.batch, few, case.past)
        mask = mask_of(case, random)
        if case.mask and len(case.mask) == 4 and case.mask[1] > 1:
            mask = random.integers(0, 2, (case.mask[0], heads, *case.mask[2:])).astype(np.int32)
        lengths = np.array(case.lengths, np.int32) if case.lengths else None
        return (
            *separate,
            some(heads * case.size + few * (case.size + case.width)) if case.bias else None,
            mask,
            added,
            some(*past, case.size) if case.past else None,
            some(*past, case.width) if case.past else None,
            *([lengths] if grouped else []),
        )

    counts = {"query_head_count": heads, "key_value_head_count": case.heads} if grouped else {"head_count": heads}
    given: dict[str, Any] = {**counts, "scale": (0.5, 1.0, 0.3)[number % 3], "mask_type": case.form}
    given |= {"mask_filter_value": case.filtered, **{name: name in case.present for name in BOTH}}
    return Way((case.batch, case.queries, heads * case.size), given, others=others)


def ways(operator: Operator) -> list[Way]:
    return [way(operator, number, case) for number, case in enumerate(CASES)]


def kinds(operator: Operator) -> list[Kind]:
    return [partial(numbers, most) for most in (1.0, 4.0, 0.1, 1.0)]
