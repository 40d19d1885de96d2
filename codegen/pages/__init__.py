"""Plan to the generated files that people read: the reference in Markdown, and the stubs.

Templates lay out text. The contents of tables, code blocks and examples are made here, in a module per kind of page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import jinja2

from ..model import Facts, Onnx
from ..plan import OperatorPlan, Plan, Surroundings
from .bindings import FOLDER as BINDINGS
from .bindings import bindings_module, bound_enums, functions_page
from .catalogue import catalogue, counts, filters, runs, some_are_listed, total, with_pages
from .codes import codes
from .enums import enum_sections
from .equivalents import libraries
from .errors import error_tables, onnx_errors
from .graph_stub import graph_stub
from .levels import level_summary, levels
from .markdown import cell, code, heading, link, prose, table
from .marked import MARKED, marked_page
from .onnx import onnx_context
from .operator import OperatorPage
from .speed import Speed
from .stubs import FOLDERS, StubOperator, arguments, docstring, operator_stub, stub

__all__ = [
    "BINDINGS", "FOLDERS", "MARKED", "REFERENCE", "StubOperator", "arguments", "bindings_module", "bound_enums",
    "docstring", "graph_stub", "marked_page", "onnx_page", "operator_page", "operator_stub", "reference_page", "stub",
]  # fmt: skip

BLOCK_OR_BLANK = re.compile(r"(^(`{3,}).*?^\2$)|\n{3,}", re.M | re.S)


def render(env: jinja2.Environment, template: str, **context: Any) -> str:
    """The text of a page."""
    helpers = {"prose": prose, "cell": cell, "code": code, "table": table, "link": link, "one": heading}
    text = re.sub(r"[ \t]+\n", "\n", env.get_template(template).render(**helpers, **context))
    return re.sub(BLOCK_OR_BLANK, lambda found: found[1] or "\n\n", text).strip() + "\n"


def operator_page(env: jinja2.Environment, around: Surroundings, operator: OperatorPlan, speed: Speed | None) -> str:
    """The page of an operator."""
    return render(env, "docs/operator.md.j2", page=OperatorPage(around, operator, speed))


REFERENCE: Mapping[str, Callable[[Plan], Mapping[str, Any]]] = {
    "index": lambda plan: {"operators": with_pages(plan), "total": total(plan)},
    "catalogue": lambda plan: {
        "total": total(plan), "counts": counts(plan), "filters": filters(plan), "catalogue": catalogue(plan),
        "some_are_listed": some_are_listed(plan),
        "all_run": runs(plan.operators) == len(plan.facts.catalogue),
    },
    "enums": lambda plan: {"enums": enum_sections(plan)},
    "equivalents": lambda plan: {"libraries": libraries(plan)},
    "levels": lambda plan: {
        "levels": levels(plan), "summary": level_summary(plan), "some_are_listed": some_are_listed(plan),
    },
    "errors": error_tables,
    "onnx_errors": onnx_errors,
    "codes": lambda plan: {"codes": codes(plan)},
    "directml": functions_page,
}  # fmt: skip
"""The other pages of the reference: what their templates are given."""


def reference_page(env: jinja2.Environment, plan: Plan, name: str) -> str:
    """A page of the reference that is not one of an operator."""
    return render(env, f"docs/{name}.md.j2", plan=plan, **REFERENCE[name](plan))


def onnx_page(env: jinja2.Environment, onnx: Onnx, facts: Facts) -> str | None:
    """The page of ONNX's operators; None where the specs have none."""
    return render(env, "docs/onnx.md.j2", **onnx_context(onnx, facts)) if onnx.operators else None
