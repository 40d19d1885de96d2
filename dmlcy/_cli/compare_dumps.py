"""The reports of ``dmlcy compare`` of two dumps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._judge.differences import Differences
from dmlcy._judge.dumps.compare import Given, Judged, Report
from dmlcy._reference.ulp import bits
from dmlcy._show.terminal import paint
from dmlcy._words.values import quote

VERDICTS: Final = ("passed", "unjudged", "failed", "missing")


def text(report: Report) -> Iterator[str]:
    """A line for each constant and input that differs and each output of each node; what is wrong first."""
    for given in report.given:
        if given.different:
            yield f"{given.label}: {_given(given)}"
    for one in report.nodes:
        style = {"passed": "note", "not judged": "warning", "suspect": "warning"}.get(one.verdict, "error")
        yield f"{one.label} {quote(one.value)}: {paint(one.verdict, style)}{_alone(one)}"
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
        count = f"{given.different} of {given.elements} elements are not those of the graph"
        return f"{paint('failed', 'error')}; {count}, {place}"
    count = f"differs in {given.different} of {given.elements} elements"
    return f"{count}, {place}; the nodes are judged by the device's own"


def _wrong(report: Report) -> Iterator[str]:
    """What is wrong first, and how many outputs have which verdict."""
    counts = Counter(one.verdict for one in report.nodes)
    number, found = len(report.nodes), [f"{counts[name]} {name}" for name in VERDICTS if counts[name]]
    said = f"{number} output{'' if number == 1 else 's'} of nodes"
    right = not counts["failed"] and not counts["missing"]
    yield f"{said}: {'every node is right for the inputs that it had' if right else ', '.join(found)}"
    if report.wrong_constant is not None:
        yield f"the first wrong constant is {report.wrong_constant.label}"
    if report.first_missing is not None:
        yield f"the first node without a file is {report.first_missing.label}: {report.first_missing.problem}"
    if report.first_wrong is not None:
        why = f": {report.first_wrong.problem}" if report.first_wrong.problem else ""
        yield f"the first wrong node is {report.first_wrong.label}{why}"


def _alone(one: Judged) -> str:
    if one.problem:
        return f" ({one.problem})"
    return f"; alone {_shown(one.alone)}; accumulated {_shown(one.accumulated)}"


def _shown(found: Differences | None) -> str:
    """The largest error, and where the bound counts what is allowed."""
    if found is None:
        return "unknown"
    worst = found.worst
    if worst is None:
        return "equal"
    count = found.failing.count if worst.allowed else 0
    exceeding = f", {count} of {found.elements} exceed {worst.allowed:g}" if count else ""
    return f"up to {worst.error:g} ({worst.steps} steps){exceeding}"


def as_json(report: Report) -> Iterator[str]:
    """The report as one document."""
    constant, first, missing = report.wrong_constant, report.first_wrong, report.first_missing
    yield json.dumps(
        {
            "format": "dmlcy-dump-comparison",
            "version": 2,
            "expected": printable(str(report.expected)),
            "actual": printable(str(report.actual)),
            "passed": report.status == 0,
            "warnings": [warning.located().to_json() for warning in report.warnings],
            "first_wrong_constant": None if constant is None else constant.node,
            "first_wrong": None if first is None else first.node,
            "first_missing": None if missing is None else missing.node,
            "given": [_given_json(one) for one in report.given],
            "outputs": [_output(one) for one in report.nodes],
        },
        indent=2,
        allow_nan=False,
    )


def _given_json(one: Given) -> dict[str, Any]:
    index, expected, actual = (None, None, None) if one.first is None else one.first
    return {
        "kind": "input" if one.node is None else "constant", "node": one.node, "label": one.label, "value": one.value,
        "verdict": one.verdict, "elements": one.elements, "different": one.different,
        "first": None if index is None else {
            "at": list(index), "expected": str(expected), "actual": str(actual),
            "expected_bits": bits(expected), "actual_bits": bits(actual),
        },
    }  # fmt: skip


def _output(one: Judged) -> dict[str, Any]:
    return {
        "node": one.node, "label": one.label, "operator": one.operator, "value": one.value, "verdict": one.verdict,
        "problem": one.problem or None, "alone": _found(one.alone), "accumulated": _found(one.accumulated),
    }  # fmt: skip


def _found(found: Differences | None) -> dict[str, Any] | None:
    if found is None:
        return None
    worst = found.worst
    return {
        "elements": found.elements,
        "different": found.different,
        "exceeding": found.failing.count,
        "suspect": found.suspect.count,
        "not_judged": found.unjudged,
        "worst": None if worst is None else {
            "at": worst.at, "error": _number(worst.error), "allowed": _number(worst.allowed), "steps": worst.steps
        },
    }  # fmt: skip


def _number(value: float) -> float | str:
    return value if abs(value) < float("inf") else str(value)
