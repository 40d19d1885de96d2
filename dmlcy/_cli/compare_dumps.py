"""The reports of ``dmlcy compare`` of two dumps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from dmlcy._cli.compare_text import leaning, reason
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._judge.differences import Differences
from dmlcy._judge.dumps.compare import Given, Judged, Report
from dmlcy._judge.verdicts import counted
from dmlcy._reference.ulp import bits
from dmlcy._runtime.places import indices_of
from dmlcy._show.terminal import paint
from dmlcy._words.values import MOST_ENTRIES, quote

STYLES: Final = {"passed": "note", "not judged": "warning", "suspect": "warning"}


def text(report: Report) -> Iterator[str]:
    """A line for each constant and input that differs and each output of each node; what is wrong first."""
    for given in report.given:
        if given.different:
            yield f"{given.label}: {_given(given)}"
    for one in report.nodes:
        verdict = paint(one.verdict, STYLES.get(one.verdict, "error"))
        yield f"{one.label} {quote(one.value)}: {verdict}{_alone(one)}"
    yield ""
    yield from _wrong(report)


def _given(given: Given) -> str:
    """Where a constant or an input differs."""
    assert given.first is not None
    index, expected, actual = given.first
    same = str(expected) == str(actual)  # such as two NaNs
    shown = [bits(one) if same else str(one) for one in (actual, expected)]
    place = f"the first at {list(index)}: {' in place of '.join(shown)}"
    if given.verdict == "failed":
        count = f"{given.different} of {given.elements} elements differ from those of the graph"
        return f"{paint('failed', 'error')}; {count}, {place}"
    count = f"differs in {given.different} of {given.elements} elements"
    return f"{count}, {place}; the nodes are judged with the input of the device"


def _wrong(report: Report) -> Iterator[str]:
    """The wrong outputs first, then the number of outputs of each verdict."""
    verdicts = [one.verdict for one in report.nodes]
    said = f"{len(verdicts)} output{'' if len(verdicts) == 1 else 's'} of nodes"
    if {*verdicts} == {"passed"} and not report.unjudged:
        yield f"{said}: every node is right for the inputs that it had"
    else:
        yield f"{said}: {counted(verdicts, report.unjudged)}"
    if report.wrong_constant is not None:
        yield f"the first wrong constant is {report.wrong_constant.label}"
    if report.first_missing is not None:
        yield f"the first node without a value is {report.first_missing.label}: {report.first_missing.problem}"
    if report.first_wrong is not None:
        why = f": {report.first_wrong.problem}" if report.first_wrong.problem else ""
        yield from _first("wrong", report.first_wrong, why, report)
    elif report.first_suspect is not None:
        yield from _first("suspect", report.first_suspect, "", report)


def _first(word: str, one: Judged, why: str, report: Report) -> Iterator[str]:
    """The node at fault, or what the device must say so that the node can be named."""
    if not one.unseen:
        yield f"the first {word} node is {one.label}{why}"
        return
    file, names = quote(report.actual.name), [quote(name) for name in one.unseen]
    more = [f"{len(names) - MOST_ENTRIES} more"] if len(names) > MOST_ENTRIES else []
    yield f"the first {word} node is {one.label}, or a node before it: {file} does not have its input {names[0]}"
    yield f"to find out which node, add these values to {file}: {', '.join(names[:MOST_ENTRIES] + more)}"


def _alone(one: Judged) -> str:
    if one.problem:
        return f" ({one.problem})"
    judged = "" if one.alone is None else "".join(f", {text}" for text in _judged(one.alone, one.sizes))
    which = "with the nodes before it" if one.unseen else "alone"
    return f"; {which} {_shown(one.alone)}{judged}; accumulated {_shown(one.accumulated)}"


def _shown(found: Differences | None) -> str:
    """The error of the worst element."""
    if found is None:
        return "unknown"
    if found.worst is None:
        return "equal"
    return f"up to {found.worst.error:g} ({found.worst.steps} ULP)"


def _judged(found: Differences, sizes: tuple[int, ...]) -> Iterator[str]:
    """Which elements are wrong, suspect or not judged."""
    for places, word in ((found.failing, "wrong"), (found.suspect, "suspect")):
        if places.count:
            first = list(indices_of(places.first[0], sizes))
            yield f"{places.count} of {found.elements} elements {word}, the first at {first}"
    if found.leaning or found.outward:
        yield f"suspect: {leaning(found)}"
    for name, count in found.not_judged.items():
        yield f"{count} of {found.elements} elements not judged, {reason(name)}"


def as_json(report: Report) -> Iterator[str]:
    """The report as one document."""
    constant, first, missing = report.wrong_constant, report.first_wrong, report.first_missing
    suspect = report.first_suspect
    yield json.dumps(
        {
            "format": "dmlcy-dump-comparison",
            "version": 2,
            "expected": printable(str(report.expected)),
            "actual": printable(str(report.actual)),
            "passed": report.passed,
            "warnings": [warning.located().to_json() for warning in report.warnings],
            "first_wrong_constant": None if constant is None else constant.node,
            "first_wrong": None if first is None else first.node,
            "first_missing": None if missing is None else missing.node,
            "first_suspect": None if suspect is None else suspect.node,
            "given": [_given_json(one) for one in report.given],
            "outputs": [_output(one) for one in report.nodes],
        },
        indent=2,
        allow_nan=False,
    )


def _given_json(one: Given) -> dict[str, object]:
    first = None
    if one.first is not None:
        index, expected, actual = one.first
        first = {
            "at": list(index), "expected": str(expected), "actual": str(actual),
            "expected_bits": bits(expected), "actual_bits": bits(actual),
        }  # fmt: skip
    return {
        "kind": "input" if one.node is None else "constant", "node": one.node, "label": one.label, "value": one.value,
        "verdict": one.verdict, "elements": one.elements, "different": one.different,
        "first": first,
    }  # fmt: skip


def _output(one: Judged) -> dict[str, object]:
    origin = {} if one.origin is None else {"origin": one.origin.to_json()}
    return {
        "node": one.node, "label": one.label, "operator": one.operator, **origin, "value": one.value,
        "verdict": one.verdict,
        "problem": one.problem or None, "unseen": [*one.unseen], "alone": _found(one.alone, one.sizes),
        "accumulated": _found(one.accumulated, one.sizes),
    }  # fmt: skip


def _found(found: Differences | None, sizes: tuple[int, ...]) -> dict[str, object] | None:
    if found is None:
        return None
    worst = found.worst
    first, suspect = ([list(indices_of(at, sizes)) for at in one.first] for one in (found.failing, found.suspect))
    return {
        "elements": found.elements,
        "different": found.different,
        "exceeding": found.failing.count,
        "first_exceeding": first,
        "suspect": found.suspect.count,
        "first_suspect": suspect,
        "mean_in_typical_deviations": found.leaning or None,
        "mean_from_zero_in_typical_deviations": found.outward or None,
        "not_judged": found.unjudged,
        "not_judged_by": found.not_judged,
        "worst": None if worst is None else {
            "at": worst.at, "error": _number(worst.error), "allowed": _number(worst.allowed), "steps": worst.steps
        },
    }  # fmt: skip


def _number(value: float) -> float | str:
    return value if abs(value) < float("inf") else str(value)
