"""The report for people: a sentence, the line of the file with the value underlined, what to do."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator

from dmlcy._errors import SEARCHED
from dmlcy._frontends.dxdispatch.excerpt import Excerpt
from dmlcy._frontends.dxdispatch.lint import FileReport, Finding, Report, Verdict
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._show.terminal import paint
from dmlcy._words.values import quote

_MORE = "..."


def lines(report: Report) -> Iterator[str]:
    """The lines of the report; the last one has the totals."""
    noted = False
    for file in report.files:
        named: set[int] = set()  # the searches whose repairs are named
        for finding in file.findings:
            if noted:
                yield ""
            yield from _finding(finding, id(finding.violation._search) not in named)
            yield ""
            noted = False
            named.add(id(finding.violation._search))
        if file.unsearched:
            yield (
                f"{printable(file.name)}: {paint('note:', 'note')} dmlcy searched for repairs of the first {SEARCHED} "
                f"violations only, not of {_count(file.unsearched, 'more violation')}"
            )
            yield ""
        if file.returned is not None:
            yield f"{printable(file.name)}: {paint('note:', 'note')} {_returned(file)}"
            noted = True
        for verdict in file.dispatchables:
            if verdict.minimum is not None:
                yield _verdict(verdict)
                noted = True
        if file.elsewhere:
            yield f"{printable(file.name)}: {paint('note:', 'note')} {file.elsewhere}"
            noted = True
    if noted:
        yield ""
    graphs = sum(verdict.nodes is not None for file in report.files for verdict in file.dispatchables)
    dispatchables = sum(len(file.dispatchables) for file in report.files) - graphs
    counts = ((dispatchables, "dispatchable"), (graphs, "graph"))
    found = [_count(number, noun) for number, noun in counts if number] or [_count(0, "dispatchable")]
    errors, warnings = report.count("error"), report.count("warning")
    yield (
        f"{_count(len(report.files), 'file')} with {' and '.join(found)} at feature level "
        f"{report.level}: {_count(errors, 'error')}, {_count(warnings, 'warning')}"
    )


def _returned(file: FileReport) -> str:
    """The code that DirectML returned, and where dmlcy does not agree."""
    assert file.returned is not None
    if file.returned.refused and file.status == 0:
        return f"{file.returned.words}, but dmlcy finds nothing wrong: docs/e-invalidarg.md says where to look"
    if not file.returned.refused and file.status == 1 and all(one.operator or one.nodes for one in file.dispatchables):
        return f"{file.returned.words}: DirectML takes what dmlcy refuses"
    return file.returned.words


def _finding(finding: Finding, repairs: bool) -> Iterator[str]:
    place, violation = finding.place, finding.violation
    where = printable(place.file) + (f":{place.line}:{place.column}" if place.line else "")
    where += f": {place.path}" if place.byte >= 0 else ""
    style = finding.severity
    yield f"{paint(where, 'head')}: {paint(f'{finding.severity}:', style)} {violation.message} [{violation.id}]"
    gutter = " " * (len(str(place.line)) + 1)
    if finding.line is not None:
        yield f"{gutter[1:]}--> {place.path}"
        shown, caret = _underlined(finding.line)
        yield f"{place.line} | {shown}".rstrip()
        nearest = f"nearest valid value: {finding.nearest}" if finding.nearest else ""
        yield f"{gutter}| {paint(f'{caret} {nearest}'.rstrip(), style)}"
    if violation.rule is not None:
        yield f"{gutter}= rule: {violation.rule} ({violation.provenance})"
    if violation.hint:
        yield f"{gutter}= hint: {violation.hint}"
    if repairs and violation._search is not None and violation._search.sentence:
        yield f"{gutter}= repair: {violation._search.sentence}"


def _verdict(verdict: Verdict) -> str:
    place = verdict.place
    at = f":{place.line}:{place.column}" if place.line else ""
    unknown = "" if verdict.dxdispatch else "; no stock DxDispatch knows it"
    what = verdict.operator if verdict.nodes is None else f"graph, {_count(verdict.nodes, 'node')}"
    return (
        f"{printable(place.file)}{at}: {paint('note:', 'note')} {quote(verdict.name)} "
        f"({what}) needs feature level {verdict.minimum}{unknown}"
    )


def _underlined(line: Excerpt) -> tuple[str, str]:
    """The line with escapes for everything that a terminal would obey, and the carets under the value."""
    before, marked, after = (_safe(part) for part in (line.before, line.marked, line.after))
    if line.cut_before:
        before = f"{_MORE}{before}"
    shown = f"{before}{marked}{after}{_MORE if line.cut_after else ''}"
    return shown, " " * _width(before) + "^" * max(1, _width(marked))


def _safe(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    encoding = sys.stdout.encoding or "ascii"
    return "".join(_glyph(character, encoding) for character in text)


def _glyph(character: str, encoding: str) -> str:
    """The character as it is, a space for a tab, an escape for what a terminal obeys or cannot show."""
    if character == "\t":
        return " "
    if character.isprintable() and character.encode(encoding, "ignore"):
        return character
    return character.encode("unicode_escape").decode()


def _width(text: str) -> int:
    """Columns that the text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
