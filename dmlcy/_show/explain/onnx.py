"""Operators of ONNX: what ONNX Runtime makes of their nodes with DirectML, as facts and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from dmlcy._facts.tables import LEVEL_INDEX, OPERATORS
from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.page import Page
from dmlcy._show.explain.words import listed, see
from dmlcy._words.values import listing

if TYPE_CHECKING:
    from dmlcy._frontends.onnx.tables import OperatorRow

REFERENCE: Final = "docs/reference/onnx.md"
PLACES: Final = {
    "cpu": "a node that ONNX Runtime runs on the CPU, whatever the provider is",
    "shader": "a compute shader of ONNX Runtime",
    "copy": "a copy between the memory of CPU and GPU",
}
"""The fates of nodes that become no operator of DirectML."""


def of_word(word: str) -> Iterator[Facts]:
    """The operators of this name, with their domain or without; capitals do not matter."""
    from dmlcy._frontends.onnx.tables import called

    yield from map(of_operator, called(word.replace(" ", ".")))


def names() -> Iterator[str]:
    """The names of all operators of ONNX."""
    from dmlcy._generated import onnx

    yield from dict.fromkeys(name for _, name in onnx.OPERATORS)


def of_operator(row: OperatorRow) -> Facts:
    """An operator of ONNX."""
    from dmlcy._frontends.onnx.tables import CONDITIONS, RELEASES, shown

    newest = row.versions[-1] if row.versions else None
    return {
        "kind": "onnx operator",
        "name": shown(row.domain, row.name),
        "domain": row.domain,
        "versions": [one.since for one in row.versions],
        "kernels": list(row.kernels),
        "opsets": [{"first": first, "last": last or None} for first, last in row.opsets],
        "becomes": [{"operators": list(way), "level": _level(way)} for way in row.becomes],
        "sometimes": list(row.sometimes),
        "place": row.place,
        "never_in_graphs": row.graph == "never",
        "data_types": {name: list(elements) for name, elements in row.types.items()},
        "read_on_cpu": list(row.read()),
        "condition": CONDITIONS.get(row.query),
        "fused": list(row.fused),
        "about": row.about,
        "function": newest is not None and newest.function,
        "deprecated": newest is not None and newest.deprecated,
        "releases": [release.version for release in RELEASES.values()],
        "page": REFERENCE,
        "source": row.source,
    }


def _level(way: Sequence[str]) -> str:
    """The level of the newest of some operators."""
    return max((OPERATORS[name].since for name in way), key=LEVEL_INDEX.__getitem__)


def onnx_page(page: Page, one: Facts) -> None:
    """An operator of ONNX."""
    page.title(f"{one['name']}, an operator of ONNX models")
    page.text(f"What ONNX Runtime {listed(one['releases'])} makes of a node with DirectML.")
    page.gap()
    if one["kernels"]:
        _with_kernel(page, one)
    else:
        page.text(
            "No version has a kernel for DirectML: a node goes to the CPU. A node without inputs, or whose inputs are "
            "all constants, is computed before the model runs, if it gives no random numbers."
        )
        if one["function"]:
            page.text(
                "ONNX defines this operator by others. Where the CPU does not have a kernel of it, ONNX Runtime puts "
                "the nodes of the definition in place of the node, and each goes where it can."
            )
    see(page, one)


def _with_kernel(page: Page, one: Facts) -> None:
    rows = [("Opsets", opsets_in_words(one))]
    rows += [
        ("Becomes", f"{', '.join(way['operators'])}: feature level {way['level']} and later") for way in one["becomes"]
    ]
    if one["place"] in PLACES:
        rows.append(("Becomes", PLACES[one["place"]]))
    if one["sometimes"]:
        rows.append(("Sometimes", f"also {listed(one['sometimes'])}"))
    rows += [("Data types", text) for text in _types(one)]
    if one["read_on_cpu"]:
        rows.append(("Constant", f"{listed(one['read_on_cpu'])}; otherwise a node is never part of a DirectML graph"))
    if one["fused"]:
        rows.append(("Fused", f"a node takes in an activation that alone reads its output: {listing(one['fused'])}"))
    if one["never_in_graphs"]:
        rows.append(("Graphs", "a node is never part of a DirectML graph"))
    rows.append(("Versions", f"{_numbers(one['versions'])}; with a kernel: {_numbers(one['kernels'])}"))
    page.rows(rows)
    if one["condition"] or one["about"]:
        page.section("Nodes")
        for text in filter(None, (one["condition"], one["about"])):
            page.text(text)
    if help_ := advice(one):
        page.section("What to do")
        page.text(help_)


def opsets_in_words(one: Facts) -> str:
    """The opsets that have a kernel."""
    texts = []
    for span in one["opsets"]:
        first, last = span["first"], span["last"]
        texts.append(f"{first} and later" if last is None else f"{first} to {last}" if first < last else f"{first}")
    return listed(texts) if texts else "none"


def advice(one: Facts) -> str:
    """Advice where a newer opset has no kernel; empty where the newest one has a kernel."""
    last = one["opsets"][-1]["last"] if one["opsets"] else None
    if last is None or one["place"] in ("cpu", "copy", "removed"):
        return ""
    if one["deprecated"] and one["versions"][-1] == last + 1:
        return f"ONNX has no such operator from opset {last + 1} on."
    return f"From opset {last + 1} on, a node goes to the CPU. Export the model with opset {last} or less."


def _types(one: Facts) -> Iterator[str]:
    """The data types of inputs and outputs, those together that have the same."""
    same: dict[tuple[str, ...], list[str]] = {}
    for name, elements in one["data_types"].items():
        same.setdefault(tuple(elements), []).append(name)
    for elements, names in same.items():
        yield f"{', '.join(names)}: {', '.join(elements)}"


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"
