"""Leads the search to pages by names that are not in their titles.

An operator's page is found by the names that NumPy, PyTorch, ONNX and everyday language have for the operator. A page
that a term of the specs names is found by the spellings of the term. An operator of ONNX that becomes several operators
of DirectML, or none, is found in the table of ONNX's operators.
"""

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from dmlcy import specs
from dmlcy._facts.tables import NAMES, onnx_names
from dmlcy._facts.words import operators_called, page_of
from dmlcy._frontends.onnx.tables import shown
from dmlcy._generated.onnx import OPERATORS as ONNX_OPERATORS


def numbers(term: dict[str, Any]) -> tuple[str, ...]:
    """The value of an error code, as programs print it."""
    return (f"{term['value']:08X}", f"0x{term['value']:08X}") if "value" in term else ()


OPERATORS = {f"reference/{python}": name for name, python in NAMES.items()}
ONNX_PAGE = "reference/onnx"
CODES = "docs/reference/codes.md"
TERMS = [
    (term.get("page", CODES), [term["name"], *term.get("also", ()), *numbers(term)])
    for term in specs.terms().values()
    if "page" in term or "value" in term
]


def names_of(docname: str) -> Iterator[tuple[str, str]]:
    """The names that lead to a page, each with the anchor that it leads to."""
    operator = OPERATORS.get(docname)
    if operator is not None:
        yield f"DML_{operator}_OPERATOR_DESC", ""
        own = operator.rstrip("0123456789").replace("_", " ")
        for name in spellings([own, *specs.operator(operator)["operator"].get("also", ())]):
            if operators_called(name)[:1] == (operator,):
                yield name, ""
        yield from ((name, "") for name in onnx_names().BECOME.get(operator, ()) if operator == place_of(name))
    if docname == ONNX_PAGE:
        for name in (shown(*key) for key in ONNX_OPERATORS):
            if place_of(name) == "":
                yield from ((one, name.lower()) for one in spellings([name]))
    for page, names in TERMS:
        file, _, anchor = page.partition("#")
        if file == f"docs/{docname}.md":
            yield from ((name, anchor) for name in spellings(names))


def place_of(name: str) -> str | None:
    """The operator whose page describes an operator of ONNX, "" if its row does, None if another page does."""
    known = operators_called(name)
    become = [operator for operator, names in onnx_names().BECOME.items() if name in names]
    if known:
        return known[0]
    if page_of(name) is not None:
        return None
    return become[0] if len(become) == 1 else ""


def spellings(names: list[str]) -> dict[str, None]:
    """The names, each without its library and with spaces too."""
    short = [name.rpartition(".")[2] if " " not in name else name for name in names]
    return dict.fromkeys(one for name in [*names, *short] for one in (name, name.replace("_", " ")) if one)


def add_names(app: Sphinx, document: nodes.document) -> None:
    """Put the names into the page as entries of an index, which the search reads."""
    entries = [("single", name, anchor, "main", None) for name, anchor in names_of(app.env.docname)]
    if entries:
        document.append(addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("doctree-read", add_names)
    return {"parallel_read_safe": True}
