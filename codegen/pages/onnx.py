"""The page of ONNX's operators, with and without a kernel of ONNX Runtime for DirectML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..model import ONNX, Facts, Onnx, OnnxOperator
from .markdown import anchor, cell, code, level_link, link, page_link, prose, table, wrapped

FILTERS = ("Domain", "Level")
"""The columns by which a script of the site filters the operators."""


def onnx_context(onnx: Onnx, facts: Facts) -> Mapping[str, Any]:
    """The values that the template of the page gets."""
    kernels = [one for one in _by_name(onnx) if one.kernels]
    runtime = max(onnx.runtimes, key=lambda one: one.opset)
    return {
        "runtime": runtime,
        "minimum": level_link(runtime.minimum),
        "filters": FILTERS,
        "summary": table(("Operator", "Domain", "Opsets", "Becomes", "Level"), (_row(one, facts) for one in kernels)),
        "operators": [
            (
                "" if one.domain == ONNX else anchor(_anchor(one)),
                one.shown,
                " ".join(_opsets(one)),
                [*_points(one, onnx, facts)],
            )
            for one in kernels
        ],
        "others": table(
            ("Operator", "From opset", "In ONNX"), (_other(one) for one in _by_name(onnx) if not one.kernels)
        ),
    }


def _by_name(onnx: Onnx) -> list[OnnxOperator]:
    return sorted(onnx.operators, key=lambda one: (one.domain, one.name.lower()))


def _anchor(one: OnnxOperator) -> str:
    """The anchor of an operator: for ONNX's own, the one that headings have by themselves."""
    return one.shown.lower()


def _row(one: OnnxOperator, facts: Facts) -> tuple[str, ...]:
    ways = " or ".join(", ".join(map(page_link, way)) for way in one.becomes) or PLACES[one.place]
    levels = " or ".join(dict.fromkeys(_level(way, facts) for way in one.becomes))
    return f"[{one.name}](#{_anchor(one)})", one.domain, _ranges(one) or "none", ways, levels


def _level(way: Sequence[str], facts: Facts) -> str:
    """The level of the newest of some operators."""
    return max((facts.catalogue[name].since for name in way), key=facts.level_index)


PLACES = {
    "cpu": "a node that runs on the CPU, whatever the provider is",
    "shader": "a compute shader",
    "copy": "a copy",
}
"""The fates of nodes that become no operator of DirectML."""


def _ranges(one: OnnxOperator) -> str:
    """The opsets that have a kernel."""
    shown = [
        f"{first} and later" if last == 0 else f"{first} to {last}" if first < last else str(first)
        for first, last in one.opsets()
    ]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _opsets(one: OnnxOperator) -> Iterator[str]:
    """Which opsets have a kernel, and what helps at the others, in sentences."""
    ranges = one.opsets()
    if not ranges:
        yield "No opset has a kernel."
        return
    yield f"Opsets {_ranges(one)}." if one.domain == ONNX else f"Opsets of {one.domain}: {_ranges(one)}."
    last = ranges[-1][1]
    if last and one.place in ("", "view", "shader"):
        ends = [after for after in one.versions if after.since == last + 1]
        if any(after.deprecated for after in ends):
            yield f"Opset {last + 1} has no such operator."
        else:
            yield f"From opset {last + 1} on, a node goes to the CPU: export the model with opset {last} or less."


def _points(one: OnnxOperator, onnx: Onnx, facts: Facts) -> Iterator[str]:
    """Further facts of an operator, in points of a list."""
    for way in one.becomes:
        yield wrapped(f"{', '.join(map(page_link, way))}: from level {level_link(_level(way, facts))} on.", 2)
    if one.sometimes:
        yield wrapped(f"Some nodes add {', '.join(map(page_link, one.sometimes))}.", 2)
    if one.types:
        same: dict[tuple[str, ...], list[str]] = {}
        for name, elements in one.types.items():
            same.setdefault(elements, []).append(code(name))
        rows = (f"{', '.join(names)}: {', '.join(elements)}" for elements, names in same.items())
        yield wrapped(f"Data types: {'; '.join(rows)}.", 2)
    read = [code(name) for name in one.read()]
    if read:
        yield wrapped(f"Read on the CPU: {', '.join(read)}.", 2)
    if one.query:
        yield prose(onnx.queries[one.query], 2)
    if one.fused:
        yield wrapped(f"Activations that ONNX Runtime fuses into the node before: {', '.join(one.fused)}.", 2)
    if one.about:
        yield prose(one.about, 2)
    if one.graph == "never" and one.place in ("", "view"):
        yield "Never part of a DirectML graph."
    kernels = ", ".join(map(str, one.kernels))
    yield f"{link('Versions', one.source)} with a kernel: {kernels}."


def _other(one: OnnxOperator) -> tuple[str, ...]:
    newest = one.versions[-1]
    kind = "deprecated" if newest.deprecated else "a function" if newest.function else "an operator"
    return f"{anchor(_anchor(one))}{link(cell(one.name), one.source)}", str(one.versions[0].since), kind
