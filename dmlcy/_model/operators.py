"""Operator dispatchables: from JSON to a desc, and from the fields of the desc back to places in the JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dmlcy._check import check
from dmlcy._desc import OperatorDesc
from dmlcy._errors import DmlError, Violation
from dmlcy._model.json import Node
from dmlcy._model.problems import Problem
from dmlcy._model.reader import Reader
from dmlcy._spec import Field, Operator
from dmlcy._tables import OPERATORS

TENSOR: Final = (
    "DataType",
    "Sizes",
    "Strides",
    "Flags",
    "DimensionCount",
    "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
)
SIZE_2D: Final = ("Height", "Width")

_TENSOR_MEMBERS: Final = {
    "dtype": "DataType",
    "level": "DataType",
    "same-dtype": "DataType",
    "strides": "Strides",
    "total-size": "TotalTensorSizeInBytes",
    "rank": "Sizes",
    "sizes": "Sizes",
    "range": "Sizes",
    "elements": "Sizes",
    "alignment": "GuaranteedBaseOffsetAlignment",
}


@dataclass(frozen=True, slots=True)
class Desc:
    """A desc read from a model, and where it stands."""

    operator: Operator
    value: OperatorDesc
    type_node: Node
    node: Node

    def field_node(self, field: str | None, index: int | None = None, slug: str = "") -> Node:
        """The value that a violation of a field is about; the desc where there is none."""
        found = next((f for f in self.operator.fields if f.python == field), None)
        node = self.node.get(found.name) if found else None
        if found is None or node is None:
            return self.node if slug != "level" else self.type_node
        if found.kind != "attribute":
            inner = node.get("Desc") or node
            node = inner.get(_TENSOR_MEMBERS.get(slug, "")) or inner
        if index is None:
            return node
        if found.type == "size_2d":
            return node.get(SIZE_2D[index]) or node if index < len(SIZE_2D) else node
        return node.value[index] if node.kind == "array" and index < len(node.value) else node

    def place(self, violation: Violation) -> Node:
        """The value that a violation is about."""
        slug = violation.id.removeprefix(f"DML-{violation.operator}-{violation.field or 'operator'}-")
        return self.field_node(violation.field, violation.index, slug if slug in _TENSOR_MEMBERS else "")

    def problems(self, reader: Reader, level: str | None) -> list[Problem]:
        """Every violation of the desc at a level."""
        place = reader.document.place
        return [Problem(place(self.place(violation)), violation) for violation in check(self.value, level)]


def parse(reader: Reader, node: Node, type_node: Node) -> Desc | None:
    """The desc of an operator dispatchable: in a member ``desc`` or ``Desc``, or beside the type."""
    body = node.get("Desc") or node.get("desc") or node
    if not reader.expect(body, "object"):
        return None
    operator = OPERATORS.get(type_node.value.removeprefix("DML_OPERATOR_"))
    fields = operator.fields if operator else ()
    members = {f.name: _value(reader, f, body.value[f.name]) for f in fields if f.name in body.value}
    if operator is not None and body is not node:
        reader.ignore_others(body, [f.name for f in fields])
    try:
        value = OperatorDesc.from_dict({"type": type_node.value, "desc": members})
    except DmlError as error:
        for violation in error.violations:
            reader.add(type_node, violation)
        return None
    return None if operator is None else Desc(operator, value, type_node, body)


def _value(reader: Reader, field: Field, node: Node) -> Any:
    """A member of a desc as a plain value, without the members of structs that nobody reads."""
    if node.kind == "object" and field.kind != "attribute":
        body = node.get("Desc")
        if body is None or body.kind != "object":
            return _struct(reader, node, ("Type", "Desc", *TENSOR))
        return {**_struct(reader, node, ("Type", "Desc")), "Desc": _struct(reader, body, TENSOR)}
    if node.kind == "object" and field.type == "size_2d":
        return _struct(reader, node, SIZE_2D)
    return node.plain()


def _struct(reader: Reader, node: Node, known: tuple[str, ...]) -> dict[str, Any]:
    """The known members of a nested struct. Flags may be a list: of one, since there are no two to combine."""
    reader.ignore_others(node, known)
    values = {name: node.value[name].plain() for name in known if name in node.value}
    flags = values.get("Flags")
    if isinstance(flags, list) and len(flags) <= 1:
        values["Flags"] = flags[0] if flags else "NONE"
    return values
