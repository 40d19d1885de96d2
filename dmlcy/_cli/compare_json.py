"""The report of ``dmlcy compare`` for programs. Numbers that JSON does not have are text: nan, inf, -inf."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np

from dmlcy._judge.differences import Differences, Worst
from dmlcy._judge.expected.compare import Comparison, Report, Window
from dmlcy._reference.ulp import bits


def lines(report: Report) -> Iterator[str]:
    """The report as one document."""
    whole = {
        "format": "dmlcy-comparison",
        "version": 2,
        "expected": str(report.expected),
        "actual": str(report.actual),
        "passed": report.passed,
        "warnings": [warning.located().to_json() for warning in report.warnings],
        "outputs": [_comparison(comparison) for comparison in report.comparisons],
    }
    yield json.dumps(whole, indent=2, allow_nan=False)


def _comparison(comparison: Comparison) -> dict[str, object]:
    output, found = comparison.output, comparison.differences
    stated = output.to_json()
    members = ("file", "resource", "dispatchable", "field", "dtype", "sizes", "inputs", "accuracy")
    problem = comparison.problem
    return {
        **{name: stated[name] for name in members},
        "operator": output.desc.operator.name,
        "actual": str(comparison.actual),
        "files": [str(file) for file in comparison.files],
        "status": comparison.verdict,
        "problem": None if problem is None else problem.violation.to_json(),
        "differences": None if found is None else _differences(comparison, found),
        "window": None if comparison.window is None else _window(comparison.window),
    }


def _differences(comparison: Comparison, found: Differences) -> dict[str, object]:
    return {
        "elements": found.elements,
        "different": found.different,
        "exceeding": found.failing.count,
        "first_exceeding": [list(comparison.position(at)) for at in found.failing.first],
        "ranges_exceeding": [list(ends) for ends in found.failing.ranges],
        "suspect": found.suspect.count,
        "first_suspect": [list(comparison.position(at)) for at in found.suspect.first],
        "ranges_suspect": [list(ends) for ends in found.suspect.ranges],
        "mean_in_typical_deviations": found.leaning or None,
        "mean_from_zero_in_typical_deviations": found.outward or None,
        "not_judged": found.unjudged,
        "not_judged_by": dict(found.not_judged),
        "written_over": found.left_out,
        "signs_of_zero": found.signs,
        "flushed_to_zero": found.flushed,
        "worst": None if found.worst is None else _worst(comparison, found.worst),
        "histogram": [
            {"first": _number(one.first), "last": _number(one.last), "count": one.count}
            for one in found.histogram.bins()
        ],
    }


def _worst(comparison: Comparison, worst: Worst) -> dict[str, object]:
    nan = np.isnan(worst.expected) or np.isnan(worst.actual)
    return {
        "index": list(comparison.index),
        "expected": _element(worst.expected),
        "actual": _element(worst.actual),
        "error": _number(float("nan") if nan else worst.distance),
        "allowed": _number(worst.allowed),
        "typical": worst.typical,
        "ulp": None if nan else worst.steps,
    }


def _window(window: Window) -> dict[str, object]:
    place = window.place
    return {
        "input": window.field.name,
        "start": [*place.lead, *place.start],
        "sizes": list(place.sizes),
        "dilations": list(place.dilations),
        "source": [*place.lead, *place.source] if place.tap is not None and place.inside else None,
        "whole": window.whole,
        "planes": [
            {
                "at": [*place.lead, *plane.lead],
                "rows": list(plane.rows),
                "columns": list(plane.columns),
                "values": [[None if x is None else _number(x.item()) for x in row] for row in plane.values],
            }
            for plane in window.planes
        ],
    }


def _element(value: np.generic) -> dict[str, object]:
    return {"value": _number(value.item()), "text": str(value), "bits": bits(value)}


def _number(value: float | None) -> float | str | None:
    return value if value is None or isinstance(value, int) or math.isfinite(value) else repr(value)
