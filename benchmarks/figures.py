"""The figures to reach, as data, and whether a run reached them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.cells import Cell
from benchmarks.families import all_cells
from benchmarks.ratios import copied, forms, geometric_mean, grid, rated, ratio
from benchmarks.run import COMPILED, LIMIT, OURS, OURS_OUT, YARDSTICK, Row
from benchmarks.sweep import MEGABYTES

MOVERS = ("unfold", "depth_to_space", "depth_to_space1", "space_to_depth", "space_to_depth1", "padding", "padding1")
COMPUTE_BOUND = ("average_pooling/3x3-s1-p1", "average_pooling/7x7-s1-p3", "roi_pooling")
FLOOR = 0.95  # of the best peer, in every cell
SCRATCH = 1.0  # MB; a few rows per thread are less, and Linux tells no less


@dataclass(frozen=True, slots=True)
class Figure:
    """A limit to the ratio of medians in every cell that matches a pattern: theirs by ours, at least so much;
    or `at_most`, ours by theirs."""

    work: str
    peer: str
    contenders: tuple[str, ...]
    limit: float
    patterns: tuple[str, ...]
    ours: str = OURS_OUT
    at_most: bool = False

    def covers(self, cell: Cell) -> bool:
        return any(cell.matches(pattern) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class Judged:
    """A line of the table: what was asked, what was measured, whether that suffices, and where it was worst."""

    work: str
    peer: str
    target: str
    measured: str
    reached: bool | None
    where: str = ""


PLAIN = "FLOAT32/contiguous"
ORT = forms("onnxruntime")


def figures() -> Iterator[Figure]:
    """The rows of the table, one per peer."""
    unfold = (f"unfold/3x3-s1-p1/target/{PLAIN}",)
    yield Figure("unfold 4×32×56×56, 3×3, padding 1", "NumPy sliding window", ("numpy",), 2.5, unfold)
    yield Figure("unfold 4×32×56×56, 3×3, padding 1", "torch.nn.functional.unfold", ("torch",), 10, unfold)
    for variant in ("2x2-s2", "3x3-s1-p1", "3x3-s2-p1", "7x7-s1-p3"):
        cells = (f"average_pooling/{variant}/medium/{PLAIN}",)
        yield Figure(f"average_pooling 8×64×112×112, {variant}", "ONNX Runtime", ORT, 2, cells)
    for order, shuffle in (("CRD", "torch pixel_shuffle"), ("DCR", "torch reshape of a permuted view")):
        cells = (f"depth_to_space1/block2-{order}/medium/{PLAIN}",)
        yield Figure(f"depth_to_space1 4×64×128×128, block 2, {order}", shuffle, ("torch",), 6, cells)
        yield Figure(f"depth_to_space1 4×64×128×128, block 2, {order}", "ONNX Runtime", ORT, 20, cells)
    for mode in ("CONSTANT", "EDGE", "REFLECTION"):
        cells = (f"padding1/{mode}-by-3/medium/{PLAIN}",)
        yield Figure(f"padding1 4×64×128×128 by 3, {mode}", "torch.nn.functional.pad", ("torch",), 1.2, cells)
    for mode in ("SYMMETRIC", "WRAP"):
        cells = (f"padding1/{mode}-by-3/medium/{PLAIN}",)
        yield Figure(f"padding1 4×64×128×128 by 3, {mode}", "np.pad", ("numpy",), 6, cells)
    cells = (f"roi_pooling/256-regions-7x7/target/{PLAIN}",)
    yield Figure("roi_pooling 2×256×50×50, 256 regions, 7×7", "ONNX Runtime", ORT, 6, cells)
    yield Figure("padding1, contiguous, medium and large", "memcpy", (LIMIT,), 0.6, sizes("padding1"))
    blocks = tuple(f"depth_to_space1/block2-{order}" for order in ("CRD", "DCR"))
    yield Figure("depth_to_space1 block 2, contiguous, medium and large", "memcpy", (LIMIT,), 0.6, sizes(*blocks))
    yield Figure("unfold 3x3-s1-p1, medium and large", "memcpy", (LIMIT,), 0.5, sizes("unfold/3x3-s1-p1"))
    tiny = tuple(cell.name for cell in all_cells() if cell.size == "tiny" and cell.sizes[2:] == (5, 5))
    yield Figure("tiny calls (5×5), result allocated", "numpy.add(x, x)", (YARDSTICK,), 2.5, tiny, OURS, True)
    yield Figure("tiny calls (5×5), compiled, `out=`", "numpy.add(x, x)", (YARDSTICK,), 1, tiny, COMPILED, True)
    yield Figure("tiny calls (5×5), result allocated", "torch", ("torch",), 1, tiny, OURS)


def sizes(*heads: str) -> tuple[str, ...]:
    """Patterns of the medium and large cells of these variants."""
    return tuple(f"{head}/{size}/{PLAIN}" for head in heads for size in ("medium", "large"))


def is_target(cell: Cell) -> bool:
    """Whether a figure speaks of this cell."""
    return any(figure.covers(cell) for figure in figures())


def judge(rows: list[Row], sweep: list[Row]) -> list[Judged]:
    """Every figure, as far as these rows answer it."""
    cells = grid(rows)
    found = [*(judge_figure(figure, cells) for figure in figures()), other_movers(cells, "medium", "large")]
    found += [
        other_movers(cells, "small"),
        mean(cells),
        floor(cells),
        half_precision(cells),
        scratch(cells),
        linear(sweep),
        two_threads(rows),
    ]
    return found


def judge_figure(figure: Figure, rows: Iterable[Row]) -> Judged:
    """The worst cell decides."""
    sign = "≤" if figure.at_most else "≥"
    values = [(ratio(row, figure.contenders, figure.ours), row) for row in rows if figure.covers(row.cell)]
    pairs = [(value, row) for value, row in values if value is not None]
    if figure.at_most:
        pairs = [(1 / value, row) for value, row in pairs]
    judged = limited(figure.work, figure.peer, sign, figure.limit, pairs)
    best = best_form(figure, [row for _, row in pairs])
    return (
        judged
        if best is None
        else dataclasses.replace(judged, measured=f"{judged.measured}; {best:.2f}× its form with `out=`")
    )


def best_form(figure: Figure, rows: Sequence[Row]) -> float | None:
    """Where a figure names the allocating form of a peer, and its other form is faster: the ratio to that."""
    if figure.ours != OURS_OUT or len(figure.contenders) > 1 or len(rows) != 1:
        return None
    (named,), (row,) = figure.contenders, rows
    other, best = ratio(row, forms(named)[1:]), ratio(row, forms(named))
    return best if other is not None and other == best else None


def limited(work: str, peer: str, sign: str, limit: float, pairs: list[tuple[float, Row]], unit: str = "×") -> Judged:
    """The worst of these values beside its limit, and how many miss it where there are several."""
    target = f"{sign} {limit:g}{unit}"
    if not pairs:
        return Judged(work, peer, target, "not measured", None)
    worst, row = (max if sign == "≤" else min)(pairs, key=lambda pair: pair[0])
    missed = sum(value > limit if sign == "≤" else value < limit for value, _ in pairs)
    several = f" ({missed} of {len(pairs)} miss it)" if missed and len(pairs) > 1 else ""
    return Judged(work, peer, target, f"{worst:.2f}{unit}{several}", not missed, row.cell.name)


def other_movers(rows: Iterable[Row], *sizes: str) -> Judged:
    """Cells that move data, of these sizes, and that no figure above names."""
    named = [figure for figure in figures() if figure.contenders == (LIMIT,)]
    others = [row for row in rows if row.cell.operator in MOVERS and row.cell.size in sizes]
    others = [row for row in others if not any(figure.covers(row.cell) for figure in named)]
    return limited(f"all other data movement, {' and '.join(sizes)}", "memcpy", "≥", 0.3, copied(others))


def mean(rows: Iterable[Row]) -> Judged:
    found = [value for value, _ in rated(rows)]
    work = f"{counted(found)}, geometric mean"
    if not found:
        return Judged(work, "best peer", "≥ 3×", "not measured", None)
    value = geometric_mean(found)
    return Judged(work, "best peer", "≥ 3×", f"{value:.2f}×", value >= 3)


def floor(rows: Iterable[Row]) -> Judged:
    pairs = rated(rows)
    return limited(f"{counted(pairs)}, the worst", "best peer", "≥", FLOOR, pairs)


def counted(found: Sequence[object]) -> str:
    """How many cells these are: a part of the grid must not pass for all of it."""
    count = len(all_cells())
    return f"{len(found)} of {count} cells" if 0 < len(found) < count else "all cells"


def half_precision(rows: Iterable[Row]) -> Judged:
    """FLOAT16 pooling beside the same cell in FLOAT32, where calls are long enough to tell kernels apart."""
    pooling = {row.cell.parts: row for row in rows if "pooling" in row.cell.operator and row.cell.size != "tiny"}
    pairs = []
    for (operator, variant, size, dtype, layout), row in pooling.items():
        single = pooling.get((operator, variant, size, "FLOAT32", layout))
        if dtype == "FLOAT16" and single is not None:
            pairs.append((row.times[OURS_OUT].median / single.times[OURS_OUT].median, row))
    return limited("FLOAT16 pooling", "FLOAT32", "≤", 1.3, pairs)


def scratch(rows: Iterable[Row]) -> Judged:
    """Where tensors are so large that a temporary tensor would be seen."""
    long = [row for row in rows if row.cell.size in ("medium", "target", "large")]
    pairs = [(row.peak / 1e6, row) for row in long if row.peak is not None]
    return limited("peak memory above input and output", "the tensors alone", "≤", SCRATCH, pairs, " MB")


def linear(sweep: Iterable[Row]) -> Judged:
    """Time per byte of the largest size beside the smaller sizes that no cache holds."""
    by_operator: dict[str, list[tuple[float, Row]]] = {}
    for row in sweep:
        if row.moved >= 50e6:
            by_operator.setdefault(row.cell.operator, []).append((row.times[OURS_OUT].median / row.moved, row))
    pairs = [
        (costs[-1][0] / min(cost for cost, _ in costs[:-1]), costs[-1][1])
        for costs in by_operator.values()
        if len(costs) > 1 and costs[-1][1].cell.size == f"{MEGABYTES[-1]} MB"
    ]
    return limited("cost per byte of 1 GB", "64 and 256 MB", "≤", 1.25, pairs)


def two_threads(rows: Iterable[Row]) -> Judged:
    return limited("two threads, compute-bound cells", "one thread", "≥", 1.7, speed_up(rows))


def speed_up(rows: Iterable[Row]) -> list[tuple[float, Row]]:
    """How many times faster two threads are than one in the medium and target cells that compute."""
    single: dict[str, Row] = {}
    found = []
    for row in rows:
        if row.cell.size not in ("medium", "target") or not any(map(row.cell.matches, COMPUTE_BOUND)):
            continue
        if row.threads == 1:
            single[row.cell.name] = row
        elif row.threads == 2 and row.cell.name in single:
            found.append((single[row.cell.name].times[OURS_OUT].median / row.times[OURS_OUT].median, row))
    return found
