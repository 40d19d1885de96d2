"""Plan to the generated files that people read: the reference in Markdown, and the stubs.

Templates lay out text; what stands in a table, a code block or an example is made here, a module per kind of page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import jinja2

from ..plan import Plan
from .catalogue import built, counts, done, kinds, total
from .enums import enum_sections
from .equivalents import libraries
from .errors import error_tables, errors
from .levels import level_summary, levels
from .markdown import cell, code, heading, link, prose, table
from .marked import marked_pages
from .operator import OperatorPage
from .speed import Speed
from .stubs import Stubs, arguments, dask_docstring, docstring

__all__ = ["arguments", "dask_docstring", "docstring", "marked_pages", "pages"]

BLOCK_OR_BLANK = re.compile(r"(^(`{3,}).*?^\2$)|\n{3,}", re.M | re.S)


def pages(env: jinja2.Environment, plan: Plan, speeds: Mapping[str, Speed]) -> Iterator[tuple[str, str]]:
    """The committed pages and stubs: path relative to the checkout, and text."""
    helpers = {"plan": plan, "prose": prose, "cell": cell, "code": code, "table": table, "link": link, "one": heading}

    def render(template: str, **context: Any) -> str:
        text = env.get_template(template).render(**helpers, **context)
        text = re.sub(r"[ \t]+\n", "\n", text)
        return re.sub(BLOCK_OR_BLANK, lambda found: found[1] or "\n\n", text).strip() + "\n"

    for operator in plan.operators:
        text = render("docs/operator.md.j2", page=OperatorPage(plan, operator, speeds.get(operator.python)))
        yield f"docs/reference/{operator.python}.md", text
    yield "docs/reference/index.md", render("docs/index.md.j2", built=built(plan), total=total(plan))
    catalogue = {"total": total(plan), "counts": counts(plan), "done": done(plan), "kinds": kinds(plan)}
    yield "docs/reference/catalogue.md", render("docs/catalogue.md.j2", **catalogue)
    yield "docs/reference/enums.md", render("docs/enums.md.j2", enums=enum_sections(plan))
    yield "docs/reference/equivalents.md", render("docs/equivalents.md.j2", libraries=libraries(plan))
    yield "docs/reference/levels.md", render("docs/levels.md.j2", levels=levels(plan), summary=level_summary(plan))
    yield "docs/reference/errors.md", render("docs/errors.md.j2", groups=errors(plan), **error_tables(plan))
    stubs = Stubs(env, plan)
    for name in ("__init__", "desc", "dask"):
        text = env.get_template(f"stubs/{name}.pyi.j2").render(plan=plan, stubs=stubs)
        yield f"dmlcy/{name}.pyi", re.sub(r"[ \t]+\n", "\n", text).strip() + "\n"
