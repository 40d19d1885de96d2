"""Comparisons for tests of chains and epilogues: the nodes of the graph one by one, and convolutions of all ways."""

from __future__ import annotations

from typing import Any

import numpy as np

import dmlcy as dml

APART: Any = ("chains", "epilogues")
CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "a matrix": ((1, 5, 6, 7), (8, 5, 1, 1), {}),
    "matrices": ((3, 4, 9, 9), (13, 4, 1, 1), {}),
    "rows that are copied": ((1, 3, 12, 13), (4, 3, 3, 3), {"start_padding": 1, "end_padding": 1}),
    "rows with gaps in the output": ((2, 3, 11, 12), (5, 3, 2, 3), {"strides": 2, "output_padding": 1}),
    "one filter for each channel": ((2, 20, 9, 8), (20, 1, 3, 3), {"group_count": 20, "start_padding": 1}),
    "planes of one filter": ((2, 9, 15, 14), (9, 1, 3, 3), {"group_count": 9, "start_padding": 1, "end_padding": 1}),
    "planes with steps": ((1, 10, 30, 63), (10, 1, 3, 3), {"group_count": 10, "start_padding": 1, "strides": 2}),
    "columns that are packed": ((2, 70, 7, 9), (70, 70, 3, 3), {"start_padding": 1, "end_padding": 1}),
    "groups": ((2, 8, 6, 6), (12, 4, 3, 3), {"group_count": 2, "strides": 2}),
    "one place": ((3, 16, 1, 1), (70, 16, 1, 1), {}),
    "three axes": ((1, 2, 4, 5, 6), (3, 2, 2, 2, 2), {}),
    "backwards": ((1, 4, 6, 5), (4, 6, 2, 2), {"direction": "BACKWARD", "strides": 2}),
    "backwards at each place": ((1, 4, 6, 5), (4, 6, 3, 3), {"direction": "BACKWARD"}),
}


def numbers(sizes: Any, dtype: Any, seed: int, rate: float = 0.1) -> Any:
    """Numbers, and so often NaN of either sign, infinities, -0 and subnormal ones."""
    draw = np.random.default_rng(seed)
    found = draw.normal(size=sizes).astype(dtype)
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 6e-8, -1e-40], dtype)
    places = draw.random(size=sizes) < rate
    found[places] = draw.choice(odd, size=int(places.sum()))
    return found


def same(found: Any, expected: Any) -> bool:
    """Whether all bits are the same, except the sign and the payload of a NaN, which may come from either operand."""
    pair = ((one if isinstance(one, tuple) else (one,)) for one in (found, expected))
    return all(a.shape == b.shape and without_nan(a) == without_nan(b) for a, b in zip(*pair, strict=True))


def without_nan(array: Any) -> bytes:
    found: bytes = np.where(np.isnan(array), array.dtype.type(np.nan), array).tobytes()
    return found


def check(graph: Any, arrays: list[Any]) -> Any:
    """The optimizations, once all ways to run the graph have given the same bits as its nodes one by one."""
    op, apart = dml.compile(graph), dml.compile(graph, without=APART)
    assert not apart.optimizations.chains and not apart.optimizations.epilogues
    expected = apart(*arrays)
    assert same(op(*arrays), expected) and same(op(*arrays), expected)
    assert same(op.run(arrays, {}, seen=lambda port, array: None), expected)
    some: Any = ("in_place", "adjacent")
    assert same(dml.compile(graph, without=some)(*arrays), expected)
    whole = expected if isinstance(expected, tuple) else (expected,)
    outs = tuple(np.ones_like(one) for one in whole)
    op(*arrays, out=outs if len(outs) > 1 else outs[0])
    assert same(outs, tuple(whole))
    return op.optimizations
