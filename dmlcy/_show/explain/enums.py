"""Facts of enums, feature levels and data types as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dmlcy._facts.tables import STATES
from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.operators import change_text
from dmlcy._show.explain.page import Page
from dmlcy._show.explain.words import see
from dmlcy._words.values import show


def enum_page(page: Page, enum: Facts) -> None:
    """An enum."""
    page.title(f"{enum['name']}, an enum")
    if enum["note"]:
        page.text(enum["note"])
    page.section("Members")
    page.rows([(one["name"], str(one["value"]), f"since {one['since']}", one["doc"]) for one in enum["members"]])
    page.text(f"In full {enum['prefix']}{enum['members'][0]['name']}, and so on.")
    page.section("Facts")
    rows = [("In Python", f"dmlcy.{enum['python']}"), ("Since", enum["since"]), *_users(enum)]
    page.rows(rows)
    see(page, enum)


def member_page(page: Page, member: Facts) -> None:
    """A member of an enum."""
    page.title(f"{member['full']}, a member of {member['enum']}")
    if member["doc"]:
        page.text(member["doc"])
    page.gap()
    rows = [
        ("Value", str(member["value"])),
        ("In Python", f"dmlcy.{member['python']}, or {show(member['name'])}"),
        ("Since", f"{member['since']} (DirectML {member['directml']})"),
        *_users(member),
    ]
    if member["also"]:
        rows.append(("Elsewhere", ", ".join(member["also"])))
    if member["note"]:
        rows.append(("Note", member["note"]))
    page.rows(rows)
    see(page, member)


def level_page(page: Page, level: Facts) -> None:
    """A feature level."""
    page.title(f"{level['name']}, a feature level")
    page.text(f"DirectML {level['directml']} brought it" + (f", in {level['windows']}." if level["windows"] else "."))
    if level["note"]:
        page.text(level["note"])
    page.gap()
    page.rows([
        ("Value", f"DML_FEATURE_LEVEL_{level['name']} = {level['value']} (0x{level['value']:x})"),
        ("Dimensions", f"at most {level['max_rank']}"),
        ("DxDispatch", "knows what it brought" if level["dxdispatch"] else "does not know what it brought"),
    ])  # fmt: skip
    page.section("Operators")
    by_state = {state: [one["name"] for one in level["operators"] if one["state"] == state] for state in STATES}
    page.rows([(state.capitalize(), ", ".join(names)) for state, names in reversed(by_state.items()) if names])
    if not level["operators"]:
        page.text("None.")
    rows = [("Data types", ", ".join(level["data_types"]))] if level["data_types"] else []
    rows += [(f"Members of {name}", ", ".join(names)) for name, names in level["members"].items()]
    rows += [(one["operator"], change_text(one)) for one in level["widened"]]
    if rows:
        page.section("Also new")
        page.rows(rows, most=50)
    see(page, level)


IN_PACKAGE: Final = "no such type: two elements are in a byte. ml_dtypes has one, and dmlcy.packed(...) takes bytes"


def dtype_page(page: Page, dtype: Facts) -> None:
    """A data type."""
    page.title(f"{dtype['name']}, a data type")
    page.rows([
        ("In DirectML", f"{dtype['full']} = {dtype['value']}"),
        ("Bits", str(dtype["bits"])),
        ("In NumPy", f"numpy.{dtype['numpy']}" if dtype["numpy"] else IN_PACKAGE),
        ("Since", f"{dtype['since']} (DirectML {dtype['directml']})"),
    ])  # fmt: skip
    page.section("Tensors that can have it")
    groups: dict[tuple[str, str], list[str]] = {}
    for use in dtype["fields"]:
        groups.setdefault((use["operator"], use["since"]), []).append(use["field"])
    page.rows([(name, f"since {since}", ", ".join(fields)) for (name, since), fields in groups.items()])
    if not groups:
        page.text("None.")
    see(page, dtype)


def _users(facts: Facts) -> Iterator[tuple[str, str]]:
    fields = [f"{use['operator']}.{use['field']}" for use in facts["fields"]]
    if fields:
        yield "Fields", ", ".join(fields)
    if facts["listed"]:
        yield "Listed", ", ".join(facts["listed"])
