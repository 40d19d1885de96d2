"""The reports of a comparison of a pack, for people and for programs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from dmlcy._cli.compare_text import WORDS, leaning, reason
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._judge.differences import Differences, Worst
from dmlcy._judge.expected.compare import Comparison
from dmlcy._judge.packs.judge import Answer, Judged, Report
from dmlcy._judge.verdicts import MISSING, SHOWN, VERDICTS, counted
from dmlcy._show.terminal import paint

_SHOWN: Final = 100
"""Cases that are told of one by one."""


def text(report: Report) -> Iterator[str]:
    """The outputs that did not pass, case by case, the worst first; a row for each operator; the totals."""
    wrong = [one for one in report.cases if one.verdict != "passed" and not one.absent]
    wrong.sort(key=lambda one: -VERDICTS.index(one.verdict))
    refused = [one for one in report.answers if one.verdict not in ("passed", MISSING)]
    for case in wrong[:_SHOWN]:
        yield from _case(case)
    for answer in refused[:_SHOWN]:
        yield f"{paint('FAILED', 'failed')}  {_answer(answer)}"
    left = max(len(wrong) - _SHOWN, 0) + max(len(refused) - _SHOWN, 0)
    if left:
        yield f"and {left} more, which --json lists"
    if wrong or refused:
        yield ""
    yield from _table(report)
    yield ""
    for name, count in report.not_judged.items():
        yield f"not judged: {count} element{'' if count == 1 else 's'}, {reason(name)}"
    if report.answers:
        yield f"descs that must be refused: {_totals(report.answers)}"
    yield f"cases: {_totals(report.cases, report.unjudged)}"


def _totals(several: Sequence[Judged | Answer], unjudged: int = 0) -> str:
    return f"{len(several)}, of which {counted((one.verdict for one in several), unjudged)}"


def _case(case: Judged) -> Iterator[str]:
    word = WORDS[case.verdict]
    yield f"{paint(word, word.lower())}  {printable(case.entry.name)}"
    for one in case.comparisons:
        if one.verdict != "passed":
            yield f"  {printable(one.output.file)}: {'; '.join(_output(one))}"


def _output(one: Comparison) -> Iterator[str]:
    """The lines on an output that did not pass."""
    found = one.differences
    if found is None:
        assert one.problem is not None
        yield str(one.problem.violation)
    elif one.verdict == "not judged":
        yield f"no element is judged, {' and '.join(map(reason, found.not_judged))}"
    else:
        yield from _found(one, found)


def _found(one: Comparison, found: Differences) -> Iterator[str]:
    """Which elements are wrong or suspect."""
    for places, word in ((found.failing, "wrong"), (found.suspect, "suspect")):
        if places.count:
            first = list(one.position(places.first[0]))
            yield f"{places.count} of {found.elements} elements are {word}, the first at {first}"
    if found.leaning or found.outward:
        yield f"suspect: {leaning(found)}"
    if found.worst is not None:
        yield _worst(one, found.worst)


def _worst(one: Comparison, worst: Worst) -> str:
    allowed = "" if worst.allowed == 0 else f", {worst.ratio:.3g} times what passes"
    return f"the worst at {list(one.index)}: {worst.actual} in place of {worst.expected}{allowed}"


def _answer(answer: Answer) -> str:
    id_ = printable(answer.id)
    if answer.problem is not None:
        return f"{id_}: {answer.problem}"
    return f"{id_}: {printable(answer.said)} in place of E_INVALIDARG: {printable(answer.message)}"


def _table(report: Report) -> Iterator[str]:
    """A row for each operator: verdicts of cases, the worst error in units of what passes, verdicts of refusals."""
    rows = [["operator", *SHOWN, "worst", "refused", "accepted", MISSING]]
    operators = dict.fromkeys([case.entry.operator for case in report.cases])
    operators |= dict.fromkeys([answer.operator for answer in report.answers])
    for operator in operators:
        cases = [case for case in report.cases if case.entry.operator == operator]
        counts = Counter(case.verdict for case in cases)
        answers = Counter(answer.verdict for answer in report.answers if answer.operator == operator)
        worst = max((case.worst for case in cases), default=0.0)
        row = [operator, *(str(counts[name]) for name in SHOWN), f"{worst:.3g}"]
        rows.append(
            [*row, str(answers["passed"]), str(answers["failed"] + answers["unreadable"]), str(answers[MISSING])]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        line = "  ".join([row[0].ljust(widths[0]), *cells])
        yield line if number else paint(line, "head")


def as_json(report: Report) -> Iterator[str]:
    """The report as one document. Numbers that JSON does not have are text."""
    whole = {
        "format": "dmlcy-conformance-report",
        "version": 2,
        "pack": printable(str(report.pack)),
        "results": printable(str(report.results)),
        "passed": report.passed,
        "warnings": [warning.located().to_json() for warning in report.warnings],
        "cases": [_case_json(case) for case in report.cases],
        "refusals": [_answer_json(answer) for answer in report.answers],
    }
    yield json.dumps(whole, indent=2, allow_nan=False)


def _case_json(case: Judged) -> dict[str, object]:
    return {
        "name": case.entry.name,
        "operator": case.entry.operator,
        "feature_level": case.entry.level,
        "origin": case.entry.origin,
        "verdict": case.verdict,
        "worst": _number(case.worst),
        "outputs": [_output_json(one) for one in case.comparisons],
    }


def _output_json(one: Comparison) -> dict[str, object]:
    found, problem = one.differences, one.problem
    stated: dict[str, object] = {
        "file": one.output.file,
        "field": one.output.name,
        "dtype": one.output.dtype.name,
        "verdict": one.verdict,
        "problem": None if problem is None else problem.violation.to_json(),
    }
    if found is None:
        return stated
    worst = found.worst
    return stated | {
        "elements": found.elements,
        "different": found.different,
        "wrong": found.failing.count,
        "first_wrong": [list(one.position(at)) for at in found.failing.first],
        "suspect": found.suspect.count,
        "first_suspect": [list(one.position(at)) for at in found.suspect.first],
        "mean_in_typical_deviations": found.leaning or None,
        "mean_from_zero_in_typical_deviations": found.outward or None,
        "not_judged": found.unjudged,
        "not_judged_by": found.not_judged,
        "signs_of_zero": found.signs,
        "worst": None if worst is None else {
            "at": list(one.index),
            "expected": _number(worst.expected.item()),
            "actual": _number(worst.actual.item()),
            "allowed": _number(worst.allowed),
            "times_allowed": _number(worst.ratio),
        },
    }  # fmt: skip


def _answer_json(answer: Answer) -> dict[str, object]:
    return {
        "id": answer.id,
        "operator": answer.operator,
        "message": answer.message,
        "verdict": answer.verdict,
        "said": printable(answer.said),
        "problem": None if answer.problem is None else answer.problem.violation.to_json(),
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
