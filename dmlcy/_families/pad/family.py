"""pad: each position outside the input reads an element of the input, or the padding value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._families.base import Family, Result
from dmlcy._families.given import Given, Kernel
from dmlcy._families.pad.pieces import IndexMap, pieces_of
from dmlcy._families.pieces import Cut, Cutting, Padding
from dmlcy._types import Array


def _index(kernel: Kernel) -> IndexMap | None:
    """The element that position ``p`` of an axis of ``n`` elements reads; None: the padding value."""
    key = f"index.{kernel.field('mode').name}"
    if key not in kernel.told.formulas:
        return None
    return lambda p, n: int(kernel.value(key, p=p, n=n))


class Pad(Family):
    """The family."""

    of_a_part, of_all = 21, 1

    def computes(self, desc: OperatorDesc) -> bool:
        """No: elements move."""
        return False

    def evaluate(self, given: Given, output: str) -> Result:
        """Along each axis, the element that ``index`` says, or the padding value."""
        source, index = given.input, _index(given)
        start, sizes = given.field("start"), given.output_sizes
        result: Array = np.empty(sizes, source.dtype)
        if index is None:
            result[...] = given.field("fill")
        inside: list[list[int]] = []
        outside: list[list[int]] = []
        for n, before, size in zip(source.shape, start, sizes, strict=True):
            places = range(-before, size - before)
            read = {p: p if index is None else index(p, n) for p in places if index is not None or 0 <= p < n}
            outside.append([p + before for p in read])
            inside.append([*read.values()])
        bits = f"u{source.itemsize}"
        result.view(bits)[np.ix_(*outside)] = np.ascontiguousarray(source).view(bits)[np.ix_(*inside)]
        return Result(result, moved=True)

    def told(self, given: Given, output: str) -> Mapping[str, Callable[[], Array]]:
        """``outside``: whether the position is outside the input."""

        def outside() -> Array:
            result: Array = np.ones(given.output_sizes, np.bool_)
            result[tuple(slice(a, a + n) for a, n in zip(given.field("start"), given.input.shape, strict=True))] = False
            return result

        return {"outside": outside}

    def cuts(self, use: Cutting) -> Iterator[Cut]:
        """Each axis."""
        start, end = (use.kernel.told.roles[role] for role in ("start", "end"))
        index, rank = _index(use.kernel), len(use.sizes(use.input))
        before, after = (use.kernel.numbers(name, rank) for name in (start, end))
        for d in range(rank):
            pieces = pieces_of(use.chunks(use.input, d), before[d], after[d], index)
            yield Cut({use.input: d, use.output: d}, pieces, Padding(start, end, d))


FAMILY: Final = Pad()
