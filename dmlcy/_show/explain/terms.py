"""Facts of other words as text."""

from __future__ import annotations

from dmlcy._show.explain.codes import spellings
from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.page import INDENT, Page
from dmlcy._show.explain.words import in_words, let_name, listed, see


def term_page(page: Page, term: Facts) -> None:
    """A word that is neither an operator nor a field."""
    page.title(f"{term['name']}, {term['is']}")
    page.text(term["doc"])
    rows = []
    if term["value"] is not None:
        rows.append(("Value", ", ".join(spellings(term["value"]))))
    if term["also"]:
        rows.append(("Also", ", ".join(term["also"])))
    page.rows(rows)
    if term["returned"]:
        page.section("Returned by")
    for one in term["returned"]:
        page.text(f"{one['call']}:")
        page.text(f"{one['when']} {one['source']}", 2 * INDENT)
    if term["command"]:
        page.section("Command")
        page.code(term["command"], INDENT)
    if term["errors"]:
        page.section("What can be wrong with it")
        page.rows([(one["slug"], one["when"]) for one in term["errors"]])
    see(page, term)


def word_page(page: Page, word: Facts) -> None:
    """A name that other libraries or everyday language have for operators."""
    names = [one["operator"] for one in word["operators"]]
    page.title(f"{word['word']}, another name of {listed(names)}")
    page.rows([(one["operator"], f"dmlcy.{one['python']}. {one['summary']}") for one in word["operators"]])
    for one in word["operators"]:
        if one["versions"]:
            page.text(f"{one['operator']} has other versions: {listed(one['versions'])}.")


def quantity_page(page: Page, quantity: Facts) -> None:
    """A name in formulas."""
    page.title(f"{quantity['name']}, a quantity in formulas")
    for meaning in quantity["meanings"]:
        page.section(", ".join(meaning["operators"]))
        page.code(f"{let_name(meaning)} = {meaning['formula']}", INDENT)
        if meaning["for"]:
            page.text(in_words(meaning["for"]), 2 * INDENT)
        page.text(meaning["doc"], 2 * INDENT)


def family_page(page: Page, family: Facts) -> None:
    """A family of operators."""
    page.title(f"{family['name']}, a family of operators")
    page.text("Operators that share kernels.")
    page.section("Operators")
    page.rows([(one["operator"], f"{one['summary']} ({one['state']})") for one in family["operators"]])
    page.section("See")
    page.code("docs/families.md", INDENT)
