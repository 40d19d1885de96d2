"""The report of ``dmlcy compare`` for people."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from dmlcy._facts.dtypes import is_float
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._judge.differences import PASSED, SUSPECT, Differences, Places, Worst
from dmlcy._judge.expected.compare import Comparison, Report, Window
from dmlcy._judge.expected.manifest import OLD, Old, Output
from dmlcy._judge.passes import BEYOND, SIDES, Device
from dmlcy._judge.verdicts import counted
from dmlcy._judge.window import Plane
from dmlcy._reference.accuracy import MAGNITUDES
from dmlcy._reference.ulp import bits
from dmlcy._show.terminal import paint
from dmlcy._words.values import quote

_PADDING: Final = "pad"
_RANGE: Final = "because a sum or a step may exceed the range of its data type"
_UNPROMISED: Final = "for which dmlcy promises no accuracy"
_WIDTH: Final = 100
WORDS: Final = {
    "passed": "passed", "failed": "FAILED", "unreadable": "FAILED", "missing": "MISSING", "suspect": "suspect",
    "not judged": "not judged",
}  # fmt: skip


def lines(report: Report) -> Iterator[str]:
    """The lines of the report; the last one has the totals."""
    for comparison in report.comparisons:
        yield from _comparison(comparison, report.options)
        yield ""
    if len(report.comparisons) > 1:
        yield from _totals(report.comparisons)
        yield ""
    words = [WORDS[comparison.verdict].lower() for comparison in report.comparisons]
    found = (comparison.differences for comparison in report.comparisons)
    unjudged = sum(one.unjudged for one in found if one is not None)
    yield f"{_count(len(report.comparisons), 'output')}: {counted(words, unjudged, ('passed', 'failed'))}"


def _totals(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """A row for each output, numbers to the right."""
    rows = [["", "output", "elements", "different", "by more than passes"]]
    for comparison in comparisons:
        found = comparison.differences
        counts = [] if found is None else [found.elements, found.different, found.failing.count]
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


def _comparison(comparison: Comparison, options: Device) -> Iterator[str]:
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
    yield f"  elements: {found.elements}, different: {found.different}, by more than passes: {found.failing.count}"
    for line in (*_passes(output, options), *_failing(comparison, found), *_suspect(comparison, found)):
        yield from _wrapped("  ", line)
    if found.worst is not None:
        for line in _worst(output, comparison.index, found.worst):
            yield from _wrapped("  ", line)
    if found.left_out:
        subject = f"{_count(found.left_out, 'element')}, which {_are(found.left_out)} compared as part of its output"
        yield from _wrapped("  ", f"note: a later dispatch has written over {subject}")
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


def _passes(output: Output, options: Device) -> Iterator[str]:
    """Which differences pass, and why."""
    if output.is_exact:
        yield "no difference passes: the values are exact"
    elif options.tolerances:
        given = " and ".join(f"--{name} {_short(value)}" for name, value in options.tolerances.items())
        yield f"differences of up to {given} pass, in place of the differences of a correct device"
    elif output.old is not None:
        yield _old_rules(output, output.old, options)
    else:
        half = " that adds FLOAT16 in FLOAT16" if options.half and output.has_half else ""
        yield f"a difference passes if a correct device{half} may have it"
    if output.flushed is not None:
        yield "an input has subnormal numbers: the result of a device that takes 0 for them passes too"


def _old_rules(output: Output, old: Old, options: Device) -> str:
    """The bounds by the rules of the version before."""
    rules = f"by the rules of version {OLD} of the manifest"
    if options.half and output.has_half:
        rules = f"{rules}, which --allow-half-precision does not change"
    if output.allowed is not None:
        return f"a difference passes if the accuracy of dmlcy allows it, {rules}"
    of = " of the result that the absolute values of the inputs would have" if old.bound.of == MAGNITUDES else ""
    most = f"{_short(SIDES * old.bound.ulp)} {_unit(output)}{of}"
    return f"differences of up to {most} pass: {SIDES} times the accuracy of dmlcy, {rules}"


def _unit(output: Output, count: float = 0) -> str:
    """The unit in which differences are counted."""
    return "ulp" if is_float(output.dtype) else "unit" if count == 1 else "units"


def _failing(comparison: Comparison, found: Differences) -> Iterator[str]:
    """Where the failing elements are, unless the worst one is the only one."""
    if found.failing.count > 1:
        yield from _places(comparison, "failing", found.failing)


def _suspect(comparison: Comparison, found: Differences) -> Iterator[str]:
    """Elements that no usual order of additions gives, and a mean that rounding does not explain."""
    if found.suspect.count:
        subject = f"{_count(found.suspect.count, 'element')} {_are(found.suspect.count)} suspect"
        yield f"{subject}: rounding rarely adds up to so large a difference"
        if found.suspect.count > 1 or found.failing.count:
            yield from _places(comparison, "suspect", found.suspect)
    if found.leaning or found.outward:
        yield f"suspect: {leaning(found)}"


def leaning(found: Differences) -> str:
    """Which way the elements lean, and by how much."""
    if found.leaning:
        mean, side = found.leaning, "larger" if found.leaning > 0 else "smaller"
    else:
        mean, side = found.outward, "farther from 0" if found.outward > 0 else "nearer to 0"
    much = f"{abs(mean):.3g} times the deviation that rounding typically causes"
    return f"the elements are {side} than expected, on average by {much}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _places(comparison: Comparison, word: str, places: Places) -> Iterator[str]:
    first = [str(list(comparison.position(at))) for at in places.first]
    more = places.count - len(first)
    yield f"{word}: {', '.join(first)}{f' and {more} more' if more else ''}"
    if places.count > 1:
        ranges = [str(first) if first == last else f"{first} to {last}" for first, last in places.ranges]
        yield f"all of these lie in [{', '.join(ranges)}]"


def _worst(output: Output, index: tuple[int, ...], worst: Worst) -> Iterator[str]:
    yield f"worst element {list(index)}: expected {_number(worst.expected)}, actual {_number(worst.actual)}"
    if np.isnan(worst.expected) != np.isnan(worst.actual):
        yield "difference: one of the two values is NaN"
        return
    passes = "" if output.is_exact else f"; up to {worst.allowed!r} passes here"
    if worst.place == SUSPECT:
        passes = f"{passes}, and more than {worst.typical!r} is suspect"
    elif worst.place == PASSED and worst.error > worst.allowed:
        passes = f"{passes}, and the result with 0 for subnormal numbers passes too"
    if math.isinf(worst.distance):
        yield f"difference: infinite{passes}"
        return
    yield f"difference: {worst.distance}, that is {worst.steps} {_unit(output, worst.steps)}{passes}"


def _notes(output: Output, found: Differences) -> Iterator[str]:
    for name, count in found.not_judged.items():
        why = _UNPROMISED if name == BEYOND and output.old is not None else reason(name)
        yield f"not judged: {_count(count, 'element')}, {why}"
    if found.verdict == "not judged":
        yield "no element can be judged: nothing tells whether the output is right"
    if found.flushed:
        subject = f"{_count(found.flushed, 'failing element')} should be subnormal"
        yield f"{subject}, not 0: does the device flush subnormal numbers?"
    if found.signs and output.is_exact:
        yield f"{_count(found.signs, 'zero')} of another sign, which passes"
    for name, source in output.inputs.items():
        if source.computed_by is not None:
            yield (
                f"{name} was written by {quote(source.computed_by)}: what passes is what the last operator alone may "
                "differ by, for inputs without error"
            )


def reason(name: str) -> str:
    """Why elements are not judged: the id of an interpretation, or that a bound is not finite."""
    return _RANGE if name == BEYOND else name


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


def _number(value: np.generic) -> str:
    """The shortest text that gives this number again, and its bits."""
    return f"{value} ({bits(value)})"


def _short(number: float) -> str:
    """The shortest text that gives this number again."""
    return repr(int(number)) if abs(number) < 2**53 and number == int(number) else repr(float(number))


def _sizes(sizes: tuple[int, ...]) -> str:
    return " x ".join(map(str, sizes))


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
