"""Facts as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dmlcy._show.explain.enums import dtype_page, enum_page, level_page, member_page
from dmlcy._show.explain.errors import field_error_page, model_error_page, retired_page, rule_page, slug_page
from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.fields import fields_page
from dmlcy._show.explain.onnx import onnx_page
from dmlcy._show.explain.operators import interpretation_page, operator_page
from dmlcy._show.explain.page import Page
from dmlcy._show.explain.terms import family_page, quantity_page, term_page, word_page


def lay_out(found: Sequence[Facts], width: int, head: Callable[[str], str] = str) -> str:
    """Everything that was found, each under its title."""
    page = Page(width)
    for facts in found:
        LAYOUTS[facts["kind"]](page, facts)
        page.gap()
    return page.shown(head).rstrip()


LAYOUTS: Final[dict[str, Callable[[Page, Facts], None]]] = {
    "rule": rule_page,
    "field error": field_error_page,
    "model error": model_error_page,
    "retired id": retired_page,
    "operator": operator_page,
    "onnx operator": onnx_page,
    "interpretation": interpretation_page,
    "field": fields_page,
    "enum": enum_page,
    "member": member_page,
    "level": level_page,
    "data type": dtype_page,
    "quantity": quantity_page,
    "term": term_page,
    "word": word_page,
    "slug": slug_page,
    "family": family_page,
}
