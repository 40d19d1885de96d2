"""Facts of fields as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dmlcy._field_types import type_of
from dmlcy._field_types.integers import UINT_MAX
from dmlcy._show.explain.facts import Facts
from dmlcy._show.explain.page import INDENT, Page
from dmlcy._show.explain.words import listed, see
from dmlcy._words.values import dimensions, show

POWERS: Final = {-(2**31): "-2^31", 2**31 - 1: "2^31 - 1", UINT_MAX: "2^32 - 1"}
"""Numbers that are easier to read so."""


def fields_page(page: Page, facts: Facts) -> None:
    """The fields of one name."""
    names = list(dict.fromkeys([*facts["names"], *(field["python"] for field in facts["operators"])]))
    page.title(f"{listed(names)}, a field")
    for field in facts["operators"]:
        page.section(f"{field['operator']}.{field['python']}")
        field_body(page, field)
        page.rows([("See", field["source"])])
    if facts["listed"]:
        page.section(f"{'Also in' if facts['operators'] else 'In'} operators that are only listed")
        by_type: dict[str, list[str]] = {}
        for field in facts["listed"]:
            by_type.setdefault(f"{type_words(field)}{or_nothing(field)}", []).append(field["operator"])
        for words, names_of in by_type.items():
            page.text(f"{words[0].upper()}{words[1:]}: {', '.join(names_of)}.")
        if not facts["operators"] and len(facts["listed"]) == 1:
            see(page, facts["listed"][0])


def field_body(page: Page, field: Facts) -> None:
    """A field with everything that is known of it."""
    page.text(f"{field['name']}, {field_words(field)} {field['doc']}")
    if "sizes" in field:
        page.code(f"sizes({field['python']}) = {field['sizes']}")
    if "support" in field:
        page.rows(support_steps(field["support"]), 2 * INDENT)
        support_notes(page, field, 2 * INDENT)
    rows = []
    if "members" in field:
        late = [f" since {one['since']}" if one["since"] != field["since"] else "" for one in field["members"]]
        names = [one["name"] + since for one, since in zip(field["members"], late, strict=True)]
        rows.append(("Members", ", ".join(names)))
    if "among" in field:
        late = [f" since {one['since']}" if one["since"] != field["since"] else "" for one in field["among"]]
        holds = [one["name"] + since for one, since in zip(field["among"], late, strict=True)]
        rows.append(("Holds", ", ".join(holds)))
    if field["rules"]:
        rows.append(("Rules", ", ".join(field["rules"])))
    begin = f"DML-{field['operator']}-{field['python']}-"
    rows.append(("Errors", f"{begin}… {', '.join(name.removeprefix(begin) for name in field['ids'])}"))
    page.rows(rows)


def field_words(field: Facts, support: bool = False) -> str:
    """A field as a sentence that goes on from its name; of a tensor with its data types and ranks, on demand."""
    parts = [type_words(field)]
    if support and "support" in field:
        parts.append(_tensor_text(field["support"]))
    if "range" in field:
        parts.append(_range(field["range"]))
    if field["optional"]:
        parts.append("optional")
    if "part_of" in field:
        parts.append(f"which a call is given, and a desc has among the sizes of {field['part_of']}")
    if "value" in field:
        parts.append(f"follows: {field['value']}")
    elif "default" in field:
        parts.append(f"default {show(field['default'])}")
    elif field["required"]:
        parts.append("required in a desc" if field["role"] == "output" else "required")
    elif field["optional"] and field["role"] == "output":
        asked = f"in a call by {field['python']}=True or a data type, in a desc by a tensor desc"
        parts.append(f"left out unless it is asked for, {asked}")
    elif "sizes" in field and not field["optional"]:
        parts.append("follows from the other fields")
    return f"{', '.join(parts)}."


def _tensor_text(steps: Sequence[Facts]) -> str:
    types = [name for step in steps for name in step["data_types"]]
    return f"{dimensions(steps[-1]['dimensions'])} dimensions, {' '.join(types)}"


def type_words(field: Facts) -> str:
    """The type of a field."""
    most = f"up to {field['max_length']}" if "max_length" in field else None
    return type_of(field["type"]).words(field["role"], field.get("length", most))


def or_nothing(field: Facts) -> str:
    """The words on a field that may be left out."""
    return ", optional" if field["optional"] else ""


def _range(limits: Facts) -> str:
    low, high = (POWERS.get(number, number) for number in (limits["min"], limits["max"]))
    note = "" if limits["from"] == "documented" else f" ({limits['from']})"
    return f"{low} to {high}{note}"


def support_steps(steps: Iterable[Facts]) -> Iterator[tuple[str, str, str]]:
    """The levels that widened a tensor, a row each."""
    for number, step in enumerate(steps):
        types = ("also " if number else "") + ", ".join(step["data_types"])
        yield step["since"], f"{dimensions(step['dimensions'])} dimensions", types if step["data_types"] else ""


def support_notes(page: Page, field: Facts, indent: int) -> None:
    """The notes on the data type and the sizes of a tensor beside the table."""
    if field.get("same_dtype_as"):
        page.text(f"{field['python']} has the data type of {field['same_dtype_as']}.", indent)
    if field.get("leading_ones") == "call":
        page.text(f"A call may leave leading dimensions of size 1 of {field['python']} out.", indent)
    elif field.get("leading_ones") == "desc":
        page.text(f"In a desc, {field['python']} may have further dimensions of size 1 in front.", indent)
