"""pad: each position outside the input reads an element of the input, or the padding value.

``[kernel.index]`` gives, per padding mode, the element that position ``p`` of an axis of ``n`` elements reads; a mode
that is absent takes the padding value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...diagnostics import Diagnostics
from ...expr.types import Kind
from ...model import Facts, Operator
from ..base import (
    C_TYPES,
    Definition,
    KernelTable,
    Moved,
    Picture,
    Place,
    Region,
    Use,
    grid,
    inside,
    local,
)


@dataclass(frozen=True, slots=True)
class IndexMap:
    """One mode: ``expression`` is None where the padding value is taken."""

    member: str
    constant: str
    function: str
    expression: str | None


@dataclass(frozen=True, slots=True)
class PadKernel:
    """The run template's view."""

    start: str
    fill: str
    mode: str
    numbers: tuple[tuple[str, str, str], ...]  # data type, its C type and the fill as such, where the fill is a FLOAT
    maps: tuple[IndexMap, ...]
    definition: Definition


class Pad(Moved):
    """The family."""

    name = "pad"
    told: ClassVar = {
        "outside": (Kind.BOOL, "whether the element is padding"),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> PadKernel:
        """Reads the index maps."""
        kernel = KernelTable(operator, facts, diagnostics)
        start = kernel.padding()
        fill = kernel.role("fill", "padding_value", Kind.SCALAR, Kind.FLOAT)
        mode = kernel.role("mode", "padding_mode", Kind.ENUM)
        members = kernel.members(mode)
        maps = []
        index = kernel.table_of("index")
        names = {"p": local(Kind.INT, -(2**33), 2**34), "n": local(Kind.INT, 1, 2**32 - 1)}
        given = () if index is None else index.keys()
        for member, constant in members.items():
            expression = None
            if index is not None and member in given:
                expression = kernel.expression(index, member, names, Kind.INT)[1]
            maps.append(IndexMap(member, constant, f"{operator.python}_{member.lower()}", expression))
        if index is not None:
            index.finish()
        kernel.finish()
        numbers = []
        if fill in operator.scope and operator.scope[fill].kind is Kind.FLOAT:
            for dtype in (known for known in facts.dtypes if known.numpy is not None):
                ctype = C_TYPES.get(dtype.name, f"{dtype.numpy}_t")
                number = f"dmlcy_half_of_float(a.{fill})" if dtype.name == "FLOAT16" else f"<{ctype}> a.{fill}"
                numbers.append((dtype.name, ctype, number))
        return PadKernel(start, fill, mode, tuple(numbers), tuple(maps), kernel.definition)

    def needs(self, kernel: PadKernel) -> Sequence[str]:
        """No let."""
        return ()

    def pieces(self, kernel: PadKernel) -> str:
        """Only the pieces at the ends are padded."""
        return (
            "A padded axis can be cut too: dmlcy pads its first and its last chunk. "
            "Except in CONSTANT mode, a long padding can merge all chunks."
        )

    def picture(self, kernel: PadKernel, use: Use) -> Picture:
        """Each element of the output is one of the input, or none where the padding value is taken."""
        start, mode = use.value(kernel.start), use.value(kernel.mode).name
        inner = use.sizes(use.input)
        mapped = any(index.expression is not None for index in kernel.maps if index.member == mode)
        sources: dict[Place, tuple[Place, ...]] = {}
        outside = set()
        for place in grid(use.sizes(use.output)):
            axes = [(at - before, n) for at, before, n in zip(place, start, inner, strict=True)]
            if not inside([p for p, _ in axes], inner):
                outside.add(place)
            taken = mapped or place not in outside
            read = tuple(use.of(f"index.{mode}", p=p, n=n) if mapped else p for p, n in axes)
            sources[place] = (read,) if taken else ()
        last = tuple(before + n - 1 for before, n in zip(start, inner, strict=True))
        frame = Region("", {use.output: (tuple(start), last)})
        caption = ("A colour marks one element of the input and its copies.", "The frame is around the input itself.")
        return Picture(caption, sources, sources, outside=frozenset(outside), regions=(frame,))


FAMILY = Pad()
