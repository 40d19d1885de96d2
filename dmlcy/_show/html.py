"""How descs, violations and support tables look in a notebook: tables that take its colours, everything escaped."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from dmlcy._check.support import SupportRow, SupportTable
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Repair, Violation, Violations, repairs_of
from dmlcy._facts.levels import LEVEL, level_index
from dmlcy._facts.rows import Field
from dmlcy._facts.tables import LEVELS
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import TensorDesc, in_words, minimum_size, spelled
from dmlcy._field_types.values import key
from dmlcy._graph.levels import HEAD, LevelTable
from dmlcy._graph.model import Port, Structure
from dmlcy._graph.plan import Plan
from dmlcy._graph.profile import HEAD as FIGURES
from dmlcy._graph.profile import Profile, figures
from dmlcy._graph.wiring import wiring_of
from dmlcy._words.values import dimensions, show

# Half-transparent grey shows on light and on dark; text keeps the colour of the notebook.
_TABLE: Final = "border-collapse: collapse; margin: 0.5em 0"
_CAPTION: Final = "text-align: left; caption-side: top; font-weight: bold; padding: 0.2em 0"
_CELL: Final = "text-align: left; vertical-align: top; padding: 0.2em 1em 0.2em 0.5em"
_LINE: Final = "border-bottom: 1px solid rgba(128, 128, 128, 0.4)"
_WRONG: Final = "border-left: 4px solid #e5484d"
_MOST_ROWS: Final = 200
_SUPPORT: Final = ("Operator", "Tensor", "From level", "Data type", "Dimensions")


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], wrong: Iterable[int] = ()) -> str:
    """A table of plain text; rows of the numbers in ``wrong`` are marked."""
    marked = set(wrong)
    lines = [f'<table style="{_TABLE}">']
    if caption:
        lines.append(f'<caption style="{_CAPTION}">{_text(caption)}</caption>')
    if head:
        lines.append(f"<thead><tr>{''.join(_cell('th', text, 'col') for text in head)}</tr></thead>")
    lines.append("<tbody>")
    for number, row in enumerate(rows):
        style = f' style="{_WRONG}"' if number in marked else ""
        cells = [_cell("th", row[0], "row"), *(_cell("td", text) for text in row[1:])]
        lines.append(f"<tr{style}>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


def _cell(kind: str, text: str, scope: str = "") -> str:
    opened = f'{kind} scope="{scope}"' if scope else kind
    return f'<{opened} style="{_CELL}; {_LINE}">{_text(text)}</{kind}>'


def _text(text: object) -> str:
    """Text of one or more lines, without what a page would obey."""
    shown = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in str(text))
    return html.escape(shown).replace("\n", "<br>")


def operator_desc(desc: OperatorDesc) -> str:
    """The fields of a desc, with what is wrong with each at the feature level in force."""
    operator, level = desc.operator, LEVEL.get()
    found = desc._violations(level)
    of = {field.python: [one for one in found if one.field == field.python] for field in operator.fields}
    others = [one for one in found if one.field not in of]
    rows = [
        (field.python, field.name, _value(desc, field), *_said(of[field.python], found)) for field in operator.fields
    ]
    rows += [("", "", "", *_said([one], found)) for one in others]
    wrong = [number for number, row in enumerate(rows) if found and row[-1]]
    count = f", {len(found)} violation{'s' if len(found) > 1 else ''}" if found else ", valid"
    caption = f"{operator.struct} at feature level {LEVELS[level].name}{count}"
    return table(caption, ("Field", "In DirectML", "Value", *(["Violations"] if found else [])), rows, wrong)


def _said(violations: Sequence[Violation], found: Sequence[Violation]) -> tuple[str, ...]:
    return ("\n".join(map(str, violations)),) if found else ()


def _value(desc: OperatorDesc, field: Field) -> str:
    if field.python in desc._missing:
        return ""
    value = desc._values()[field.python]
    if isinstance(value, TensorDesc):
        return in_words(value)
    entries = type_of(field.type).shown(value)
    return _name(value) if entries is None else entries


def _name(value: object) -> str:
    """A member by its name, None as nothing, anything else as messages say it."""
    return "" if value is None else spelled(value).strip("'")


def tensor_desc(desc: TensorDesc) -> str:
    """The members of a tensor desc."""
    least = minimum_size(desc)
    size = show(desc.total_tensor_size_in_bytes)
    if least is not None and key(desc.total_tensor_size_in_bytes) != key(least):
        size += f", {least} are needed"
    rows = [
        ("dtype", "DataType", _name(desc.dtype)),
        ("sizes", "Sizes", show(desc.sizes)),
        ("strides", "Strides", "packed" if desc.strides is None else show(desc.strides)),
        ("flags", "Flags", _name(desc.flags)),
        ("dimension_count", "DimensionCount", show(desc.dimension_count)),
        ("total_tensor_size_in_bytes", "TotalTensorSizeInBytes", size),
        (
            "guaranteed_base_offset_alignment",
            "GuaranteedBaseOffsetAlignment",
            show(desc.guaranteed_base_offset_alignment),
        ),
    ]
    return table("DML_BUFFER_TENSOR_DESC", ("Member", "In DirectML", "Value"), rows)


def violation(one: Violation) -> str:
    """The facts of a violation, a line each; missing facts are left out."""
    where = [part for part in (one.operator, one.field, one.member) if part]
    index = "" if one.index is None else f"[{str(one.index).strip('()')}]"
    rows = [
        ("Where", " ".join(where) + index),
        ("Message", one.message),
        ("Rule", one.rule or ""),
        ("Hint", one.hint),
        ("Nearest valid value", "" if one.fix is None else show(one.fix)),
        ("Repairs", "\n".join(map(str, one.repairs))),
        ("Valid from level", one.level or ""),
        ("Provenance", one.provenance),
        ("Raised as", one.error if one.severity == "error" else ""),
        ("Severity", one.severity if one.severity != "error" else ""),
    ]
    return table(one.id, (), [row for row in rows if row[1]])


def repair(one: Repair) -> str:
    """The change as it is written."""
    return table("", ("Field", "Repair"), [(one.field, one.text)])


def violations(found: Sequence[Violation]) -> str:
    """A row for each; of very many the first."""
    if not found:
        return "<p>No violations: the desc is valid.</p>"
    shown = found[:_MOST_ROWS]
    rows = [
        (
            one.field or one.operator,
            "" if one.index is None else str(one.index).strip("()"),
            f"{one.text} {said}".strip(),
            one.id,
        )
        for one, said in zip(shown, repairs_of(shown)[0], strict=True)
    ]
    caption = f"{len(found)} violation{'s' if len(found) > 1 else ''}"
    more = f", of which {_MOST_ROWS} are shown" if len(found) > _MOST_ROWS else ""
    return table(caption + more, ("Field", "Index", "What is wrong", "Id"), rows, range(len(rows)))


def support_row(row: SupportRow) -> str:
    """A cell of the table."""
    values = (row.operator, row.tensor, row.since, row.dtype, row.rank)
    return table("", _SUPPORT, [[str(value) for value in values]])


def support(rows: Sequence[SupportRow]) -> str:
    """The data types and ranks of each tensor from each level on: data types of the same dimensions share a row."""
    ranks: dict[tuple[str, str, str, str], list[int]] = {}
    for row in rows:
        ranks.setdefault((row.operator, row.tensor, row.dtype, row.since), []).append(row.rank)
    dtypes: dict[tuple[str, str, str, str], list[str]] = {}
    for (operator, tensor, dtype, since), found in ranks.items():
        dtypes.setdefault((operator, tensor, since, dimensions(sorted(found))), []).append(dtype)
    lines = [
        (operator, tensor, since, ", ".join(names), dimensions)
        for (operator, tensor, since, dimensions), names in dtypes.items()
    ]
    lines.sort(key=lambda line: (line[0], line[1], level_index(line[2])))
    return table(f"{len(rows)} combinations of tensor, data type and number of dimensions", _SUPPORT, lines)


def graph(one: Structure) -> str:
    """The nodes of a graph; of very many the first."""
    wiring = wiring_of(one)
    origins = any(node.origin for node in one.nodes)
    rows = []
    for number, node in enumerate(one.nodes[:_MOST_ROWS]):
        inputs = [
            wiring.value_names.get(port, "") for index in range(len(wiring.inputs[number]))
            if (port := wiring.source_of(Port(number, index))) is not None
        ]  # fmt: skip
        outputs = [in_words(desc) for _, desc in wiring.outputs[number] if desc is not None]
        cells = (str(number), node.kind, node.name, ", ".join(inputs), "\n".join(outputs))
        rows.append((*cells, *([str(node.origin or "")] if origins else [])))
    more = f", of which {_MOST_ROWS} are shown" if len(one.nodes) > _MOST_ROWS else ""
    head = ("Node", "Operator", "Name", "Reads", "Writes", *(["From"] if origins else []))
    return table(f"{len(one.nodes)} nodes{more}", head, rows)


def plan(one: Plan) -> str:
    """The steps of a run; of very many the first."""
    origins = any(step.origin for step in one.steps)
    rows = [
        (f"{step.node} {step.name}".strip(), step.operator, step.written, str(step.workspace), str(step.live),
         ", ".join(step.frees), *([str(step.origin or "")] if origins else []))
        for step in one.steps[:_MOST_ROWS]
    ]  # fmt: skip
    head = ("Node", "Operator", "Outputs", "Workspace", "Live", "Frees", *(["From"] if origins else []))
    return table(f"{len(one.steps)} steps, peak {one.peak} bytes", head, rows)


def profile(one: Profile) -> str:
    """The steps of a run, the longest first; of very many the first."""
    steps = sorted(one.steps, key=lambda step: -step.seconds)[:_MOST_ROWS]
    rows = [(*figures(step), step.operator, step.label) for step in steps]
    return table(one.summary, (*map(str.capitalize, FIGURES[:2]), *FIGURES[2:], "Operator", "Node"), rows)


def levels(one: LevelTable) -> str:
    """The level of each operator of a graph; of very many the first."""
    return table(", ".join(one.summary()), tuple(map(str.capitalize, HEAD)), one.rows()[:_MOST_ROWS])


def of(value: object) -> str:
    """The table of an object of the package."""
    for cls in type(value).__mro__:
        if cls in _TABLES:
            return _TABLES[cls](value)
    raise TypeError(f"a notebook shows {type(value).__name__} by itself")


_TABLES: Final[dict[type, Callable[[Any], str]]] = {
    LevelTable: levels,
    OperatorDesc: operator_desc,
    Plan: plan,
    Profile: profile,
    Repair: repair,
    Structure: graph,
    SupportRow: support_row,
    SupportTable: support,
    TensorDesc: tensor_desc,
    Violation: violation,
    Violations: violations,
}
