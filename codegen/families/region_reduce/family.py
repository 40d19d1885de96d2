"""region_reduce: each region of the input is divided into bins, each bin becomes one element.

``first`` and ``last`` give the first and the last row and column of region ``r`` from its entries; ``bin`` gives the
bounds of bin ``i`` of ``count`` bins between them, the end exclusive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...diagnostics import Diagnostics
from ...expr.cython import Cython
from ...expr.nodes import Index, Number
from ...expr.types import Kind, Symbol
from ...model import Facts, Operator
from ...source import Table
from ..base import (
    C_TYPES,
    Definition,
    KernelTable,
    Looped,
    Picture,
    Place,
    Region,
    Use,
    attribute_locals,
    grid,
    local,
    shown,
)

LOOPS = ("FLOAT16", "FLOAT32")  # data types that lanes.h compares


@dataclass(frozen=True, slots=True)
class RegionLoop:
    """The kernel of one data type."""

    name: str
    dtype: str
    ctype: str
    item: int
    half: bool
    op: str
    scalars: tuple[tuple[str, str], ...]
    reduction: str
    empty: str
    batch: str
    first_height: str
    last_height: str
    first_width: str
    last_width: str
    bin_start: str
    bin_end: str


@dataclass(frozen=True, slots=True)
class RegionKernel:
    """The run template's view."""

    rois: str
    loops: tuple[RegionLoop, ...]
    definition: Definition


class RegionReduce(Looped):
    """The family."""

    name = "region_reduce"
    told: ClassVar = {
        "count": (Kind.INT, "the number of elements of the input in the bin"),
        "tie": (
            Kind.BOOL,
            "whether the last bit of a coordinate decides which row or column is nearest to a corner of the region",
        ),
    }

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> RegionKernel:
        """Reads roles and expressions, for each data type."""
        kernel = KernelTable(operator, facts, diagnostics)
        rois = kernel.role("rois", "roi", Kind.TENSOR)
        result = RegionKernel(rois, tuple(self.loops(kernel)), kernel.definition)
        kernel.finish()
        return result

    def loops(self, kernel: KernelTable) -> list[RegionLoop]:
        """One loop per data type in ``acc``."""
        table = kernel.table
        if table is None:
            kernel.error("first", "family region_reduce needs [kernel] with first, last and bin")
            return []
        entry = {"r": local(Kind.INT, 0, 2**32 - 1)}
        part = {
            "i": local(Kind.INT, 0, 2**31 - 1),
            "first": local(Kind.INT, -(2**31), 2**31 - 1),
            "last": local(Kind.INT, -(2**31), 2**31 - 1),
            "count": local(Kind.INT, 1, 2**31 - 1),
        }
        reduction = kernel.word("reduction", table.choice("reduction", ("max",)))
        empty = kernel.expression(table, "empty", {}, Kind.FLOAT)[1]
        batch = self.entry(kernel, table, "batch", entry, Kind.FLOAT)
        bounds = self.bounds(kernel, table, entry)
        bins = table.table("bin", required=True)
        start, end = "0", "0"
        if bins is not None:
            # A region is in order (a data rule of the operator), so last - first + 1 is positive.
            start = kernel.expression(bins, "start", part, Kind.INT)[1]
            end = kernel.expression(bins, "end", part, Kind.INT)[1]
            bins.finish()
        scalars = attribute_locals(kernel.operator)
        loops = []
        for dtype, _ in kernel.accumulators(table, ("FLOAT32",), LOOPS):
            loops.append(
                RegionLoop(
                    name=f"{kernel.operator.python}_{dtype}",
                    dtype=dtype,
                    ctype=C_TYPES[dtype],
                    item=kernel.facts.dtype(dtype).bits // 8,
                    half=dtype == "FLOAT16",
                    op=kernel.operator.desc,
                    scalars=scalars,
                    reduction=reduction,
                    empty=empty,
                    batch=batch,
                    **bounds,
                    bin_start=start,
                    bin_end=end,
                )
            )
        return loops

    def bounds(self, kernel: KernelTable, table: Table, names: Mapping[str, Symbol]) -> dict[str, str]:
        """The first and the last row and column of a region."""
        found = {}
        for side in ("first", "last"):
            inner = table.table(side, required=True)
            for axis in ("height", "width"):
                found[f"{side}_{axis}"] = "0" if inner is None else self.entry(kernel, inner, axis, names, Kind.INT)
            if inner is not None:
                inner.finish()
        return found

    def entry(self, kernel: KernelTable, table: Table, key: str, names: Mapping[str, Any], kind: Kind) -> str:
        """An expression over the entries of a region, which the loops hold as row0, row1, …"""

        def row(node: Index) -> str:
            last = node.indices[-1]
            return f"row{last.value}" if isinstance(last, Number) else "row0"

        return kernel.expression(table, key, names, kind, Cython({}, place="", data=row))[1]

    def needs(self, kernel: RegionKernel) -> Sequence[str]:
        """No let."""
        return ()

    def pieces(self, kernel: Any) -> None:
        """Only the independent axes can be cut."""

    def module(self, kernels: Sequence[RegionKernel]) -> Mapping[str, Any]:
        """One kernel per operator and data type."""
        return {"kernels": [loop for kernel in kernels for loop in kernel.loops]}

    def picture(self, kernel: RegionKernel, use: Use) -> Picture:
        """Each element of the output is made of the elements of its bin."""
        sources: dict[Place, tuple[Place, ...]] = {}
        regions: list[Region] = []
        worked: dict[Place, str] = {}
        sizes, bins = use.sizes(use.input), use.sizes(use.output)[2:]
        entries = use.sizes(kernel.rois)[-1]
        reduction = kernel.definition.words["reduction"]
        for place in grid(use.sizes(use.output)):
            r, channel, *part = place
            image, axes, ends = int(use.of("batch", r=r)), [], []
            for axis, i, count, size in zip(("height", "width"), part, bins, sizes[2:], strict=True):
                first, last = (use.of(f"{side}.{axis}", r=r) for side in ("first", "last"))
                names = {"i": i, "first": first, "last": last, "count": count}
                start, end = (use.of(f"bin.{side}", **names) for side in ("start", "end"))
                axes.append(range(max(start, 0), min(end, size)))
                ends.append((max(first, 0), min(last, size - 1)))
            sources[place] = tuple((image, channel, y, x) for y in axes[0] for x in axes[1])
            if sources[place]:
                values = ", ".join(shown(use.element(use.input, at)) for at in sources[place])
                worked[place] = f"{reduction}({values}) = {shown(use.element(use.output, place))}"
            if not any(part):
                corners = tuple((image, channel, ends[0][side], ends[1][side]) for side in (0, 1))
                row = ((0, 0, r, 0), (0, 0, r, entries - 1))
                regions.append(Region(f"{r}", {use.input: (corners[0], corners[1]), kernel.rois: row}))
        keys = {place: place for place in sources}
        caption = (
            "Each bin of a framed region becomes the element of the same colour in the output.",
            f"The number of a framed region is the number of its row in {kernel.rois}.",
        )
        return Picture(caption, sources, keys, regions=tuple(regions), worked=worked)


FAMILY = RegionReduce()
