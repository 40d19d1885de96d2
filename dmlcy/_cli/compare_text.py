"""The report of ``dmlcy compare`` for people."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from dmlcy._facts.dtypes import is_float
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._judge.differences import Differences, Worst
from dmlcy._judge.expected.compare import Comparison, Report, Window
from dmlcy._judge.expected.manifest import Output
from dmlcy._judge.window import Plane
from dmlcy._reference.accuracy import MAGNITUDES, RESULT
from dmlcy._reference.ulp import bits
from dmlcy._show.terminal import paint
from dmlcy._words.values import quote

_PADDING: Final = "pad"
_WIDTH: Final = 100
_UNPROMISED: Final = {
    MAGNITUDES: "the result for the absolute values of the inputs exceeds the range of the data type",
    RESULT: "the sum of the window is outside the normal numbers of the data type in which the operator adds",
}
WORDS: Final = {
    "passed": "passed", "failed": "FAILED", "unreadable": "FAILED", "missing": "MISSING", "unjudged": "UNJUDGED"
}  # fmt: skip


def lines(report: Report) -> Iterator[str]:
    """The lines of the report; the last one has the totals."""
    for comparison in report.comparisons:
        yield from _comparison(comparison)
        yield ""
    if len(report.comparisons) > 1:
        yield from _totals(report.comparisons)
        yield ""
    words = Counter(WORDS[comparison.verdict] for comparison in report.comparisons)
    counts = [f"{words['passed']} passed", f"{words['FAILED']} failed"]
    counts += [f"{words[word]} {word.lower()}" for word in ("MISSING", "UNJUDGED") if words[word]]
    yield f"{_count(len(report.comparisons), 'output')}: {', '.join(counts)}"


def _totals(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """A row for each output, numbers to the right."""
    rows = [["", "output", "elements", "different", "by more than passes"]]
    for comparison in comparisons:
        found = comparison.differences
        counts = [] if found is None else [found.elements, found.different, found.exceeding]
        rows.append(
            [WORDS[comparison.verdict], printable(comparison.output.file), *(map(str, counts) if counts else [""] * 3)]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        cells += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        line = "  ".join(cells).rstrip()
        painted = paint(row[0], row[0].lower()) + line.removeprefix(row[0]) if row[0] else paint(line, "head")
        yield f"  {painted}"


def _comparison(comparison: Comparison) -> Iterator[str]:
    output, found = comparison.output, comparison.differences
    title = (
        f"{printable(output.file)}, {output.name} of {quote(output.dispatchable)} ({output.desc.operator.name}), "
        f"{output.dtype.name} {_sizes(output.tensor.sizes)}"
    )
    if found is None:
        assert comparison.problem is not None
        yield from _verdict(WORDS[comparison.verdict], title)
        yield from _wrapped("  ", f"actual: {printable(comparison.problem.place.file)}")
        yield from _wrapped("  ", f"not compared: {comparison.problem.violation}")
        return
    yield from _verdict(WORDS[comparison.verdict], title)
    if len(comparison.files) > 1:
        count, path = len(comparison.files), printable(str(comparison.actual))
        yield from _wrapped("  ", f"compared with {count} files, of which this is {path}")
    yield f"  elements: {found.elements}, different: {found.different}, by more than passes: {found.exceeding}"
    for line in (*_bound(output), *_failing(comparison, found)):
        yield from _wrapped("  ", line)
    if found.worst is not None:
        for line in _worst(comparison, found.worst):
            yield from _wrapped("  ", line)
    if comparison.written_over:
        subject = _count(comparison.written_over, "element")
        yield from _wrapped("  ", f"note: a later dispatch has written over {subject}, compared as part of its output")
    for line in _notes(output, found):
        yield from _wrapped("  ", f"note: {line}")
    if comparison.window is not None:
        yield from (f"  {line}" for line in _window(comparison.window))
    if found.worst is not None:
        yield f"  differences in {_unit(output)}, and how many:"
        yield from (f"    {line}" for line in found.histogram.lines())


def _verdict(word: str, title: str) -> Iterator[str]:
    first, *others = _wrapped("", f"{word}  {title}")
    yield paint(word, word.lower()) + first.removeprefix(word)
    yield from others


def _wrapped(indent: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _bound(output: Output) -> Iterator[str]:
    bound = output.bound
    if bound is None:
        yield "no difference passes: the values are exact"
        return
    passes, own = _short(output.sides * bound.ulp), _short(bound.ulp)
    unit = _unit(output)
    if output.sides == 1:
        yield f"differences of up to {own} {unit} from the exact value pass"
    else:
        twice = f"twice the bound of {own} {unit}, since both values may be off"
        yield f"differences of up to {passes} {unit} pass: {twice}"
    if bound.of == MAGNITUDES:
        yield "counted in ulp of the result for the absolute values of the inputs"
    yield f"the bound is {printable(bound.formula)}"


def _unit(output: Output) -> str:
    """What differences are counted in."""
    return "ulp" if is_float(output.dtype) else "units"


def _failing(comparison: Comparison, found: Differences) -> Iterator[str]:
    """Where the failing elements are, unless the worst one is the only one."""
    if found.exceeding < 2:
        return
    first = [str(list(comparison.position(at))) for at in found.first]
    more = found.exceeding - len(first)
    yield f"failing: {', '.join(first)}{f' and {more} more' if more else ''}"
    ranges = [str(first) if first == last else f"{first} to {last}" for first, last in found.ranges]
    yield f"all of these lie in [{', '.join(ranges)}]"


def _worst(comparison: Comparison, worst: Worst) -> Iterator[str]:
    output = comparison.output
    yield f"worst element {list(comparison.index)}: expected {_number(worst.expected)}, actual {_number(worst.actual)}"
    if np.isnan(worst.expected) != np.isnan(worst.actual):
        yield "difference: one of them is no number"
        return
    passes = "" if output.bound is None else f"; up to {_short(worst.allowed)} passes here"
    if math.isinf(worst.distance):
        yield f"difference: infinite{passes}"
        return
    own = output.bound is not None and output.bound.of == MAGNITUDES
    steps = f", {worst.steps} ulp of the result itself" if own else ""
    yield f"difference: {worst.distance}, that is {worst.units} {_unit(output)}{steps}{passes}"


def _notes(output: Output, found: Differences) -> Iterator[str]:
    if found.unjudged:
        subject = f"{_count(found.unjudged, 'element')} cannot be judged, for the accuracy promises nothing"
        yield f"{subject}: {_UNPROMISED[output.bound.of if output.bound else RESULT]}"
        if found.verdict == "unjudged":
            yield "values differ, but no element can be judged: nothing tells whether the output is right"
    if found.flushed:
        subject = f"{_count(found.flushed, 'failing element')} should be subnormal"
        yield f"{subject}, not 0: does the device flush subnormal numbers?"
    if found.signs and output.bound is None:
        yield f"{_count(found.signs, 'zero')} of another sign, which passes"
    for name, source in output.inputs.items():
        if source.computed_by is not None:
            yield (
                f"{name} was written by {quote(source.computed_by)}: the bound is that of the last operator alone, "
                "for inputs without error"
            )


def _window(window: Window) -> Iterator[str]:
    place = window.place
    dilated = "" if set(place.dilations) == {1} else f", dilations {_sizes(place.dilations)}"
    yield (
        f"window of {window.field.name} from {[*place.lead, *place.start]}, "
        f"{_sizes(place.sizes)} elements{dilated}{'' if window.whole else ', in part'}:"
    )
    if place.tap is not None:
        yield f"  the element is {f'a copy of {[*place.lead, *place.source]}' if place.inside else 'padding'}"
    for plane in window.planes:
        if plane.lead:
            yield f"  at {[*place.lead, *plane.lead]}:"
        yield from (f"    {line}" for line in _table(plane))


def _table(plane: Plane) -> Iterator[str]:
    """The elements under their columns, beside their rows."""
    columns = [str(column) for column in plane.columns]
    rows = [[_PADDING if value is None else str(value) for value in values] for values in plane.values]
    cells = [columns, *rows]
    if plane.rows:
        cells = [["", *columns], *([str(row), *values] for row, values in zip(plane.rows, rows, strict=True))]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()


def _number(value: Any) -> str:
    """The shortest text that gives this number again, and its bits."""
    return f"{value} ({bits(value)})"


def _short(number: float) -> str:
    """The shortest text that gives this number again."""
    return repr(int(number)) if abs(number) < 2**53 and number == int(number) else repr(float(number))


def _sizes(sizes: tuple[int, ...]) -> str:
    return " x ".join(map(str, sizes))


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
