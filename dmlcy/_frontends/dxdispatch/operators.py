"""Operator dispatchables: from JSON to a desc, and from the fields of the desc back to places in the JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dmlcy._desc.check import check
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import DmlError, Repair, Violation
from dmlcy._facts.names import in_another_version, not_runnable
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import OPERATORS, FeatureLevelName
from dmlcy._field_types import type_of
from dmlcy._field_types.operators import DESC_KEYS, TYPE_KEYS, named
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._frontends.dxdispatch.json import Node
from dmlcy._frontends.dxdispatch.mend import of_tensor, of_value
from dmlcy._frontends.dxdispatch.problems import Mender, Problem, Splice, did_you_mean
from dmlcy._frontends.dxdispatch.reader import Reader, renaming
from dmlcy._words.values import listing, quote

_BESIDE: Final = ("type", "desc", "Desc", "dmlCompileType", "executionFlags", "bindings")
"""Members of a dispatchable that are not fields, where the fields are beside them."""
_STRUCT: Final = frozenset({"DataType", "Sizes"})
"""The members that the desc of a tensor must have."""


@dataclass(frozen=True, slots=True)
class Desc:
    """A desc read from a model, and its place."""

    operator: Operator
    value: OperatorDesc
    type_node: Node
    node: Node
    misspelt: Mapping[Node, Mapping[str, Node]]
    """Members that are missing in an object, each with the one that was meant for it."""

    def tensors(self) -> Iterator[tuple[Field, str, TensorDesc | None]]:
        """Each tensor of a valid desc: its field, the name of its binding, and its desc; None where it is absent."""
        for field in self.operator.fields:
            value = getattr(self.value, field.python)
            if type_of(field.type).tensors and type(value) is tuple:
                yield from ((field, entry_name(field, number), one) for number, one in enumerate(value))
            elif field.kind != "attribute":
                yield field, field.name, value

    def bound(self, name: str) -> list[str] | None:
        """Under which names the tensors of a field are bound; None for an array that the desc does not have."""
        field = next(field for field in self.operator.fields if field.name == name)
        value = getattr(self.value, field.python)
        if not type_of(field.type).tensors:
            return [name]
        return [entry_name(field, number) for number in range(len(value))] if type(value) is tuple and value else None

    def leaves_out(self, field: Field) -> bool:
        """Whether an optional field is not there, or null."""
        node = self.node.get(field.name)
        return field.optional and (node is None or node.kind == "null")

    def place(self, violation: Violation) -> Node:
        """The value that a violation is about; what it is missing from, where there is none."""
        root, place, inner = parted(violation.field or "")
        field = next((field for field in self.operator.fields if field.python == root), None)
        if field is None:
            return self.type_node
        node = self.node.get(field.name)
        if node is None:
            return self.node
        if place is not None and node.kind == "array" and place < len(node.value):
            node = node.value[place]
        if type_of(field.type).holds_operators:
            return _inside(node, inner, violation.index if isinstance(violation.index, int) else None)
        body = node.get("Desc")
        if field.kind != "attribute" and violation.member != "type" and body is not None and body.kind == "object":
            node = body
        name = type_of(field.type).json_member(violation.member or "")
        if violation.id.endswith("-unknown"):
            name = str(violation.values["actual"])
        node = (node.get(name) if name else None) or node
        if not isinstance(violation.index, int) or node.kind != "array" or violation.index >= len(node.value):
            return node
        if field.kind != "attribute" and violation.rule is not None:  # the index of the rule is none of the sizes
            return node
        entry: Node = node.value[violation.index]
        return entry

    def problems(self, reader: Reader, level: FeatureLevelName | None) -> list[Problem]:
        """Every violation of the desc at a level; those of missing members with their name in the file."""
        return self._problems(reader, check(self.value, level))

    def warnings(self, reader: Reader, level: FeatureLevelName | None) -> list[Problem]:
        """The failures that were observed on devices, of a desc that DirectML's documentation allows."""
        found = [one for one in check(self.value, level, warnings=True) if one.severity == "warning"]
        return [replace(problem, warning=True) for problem in self._problems(reader, found)]

    def _problems(self, reader: Reader, violations: Iterable[Violation]) -> list[Problem]:
        found = []
        mender = self.mender(reader.document.text)
        for violation in violations:
            node, key = self.place(violation), False
            required = violation.id.endswith("-required")
            if node.kind == "object" and (required or violation.id.endswith("-type")) and not violation.hint:
                misspelt = self.misspelt.get(node, {})
                wanted = [self._name(violation)] if required else list(misspelt)
                meant = {name: misspelt[name] for name in wanted if name in misspelt}
                if meant:
                    hints = [renaming(given, name) for name, given in meant.items()]
                    violation = replace(violation, hint=" ".join(hints))
                    node, key = next(iter(meant.values())), True
                elif required:
                    violation = replace(violation, hint=f"Add the member {quote(wanted[0])}.")
            found.append(Problem(reader.document.place(node, key=key), violation, mender=mender))
        return found

    def mender(self, text: str) -> Mender:
        """A function that makes a repair of the desc a change of the text that it was read from."""
        return lambda repair: tuple(self._splices(text, repair))

    def _splices(self, text: str, repair: Repair) -> Iterator[Splice]:
        root, place, inner = parted(repair.field)
        field = self.operator.field(root)
        node = self.node.get(field.name)
        if node is not None and place is not None:
            node = node.value[place]
        if node is None:
            return
        if field.kind != "attribute":
            body = node.get("Desc")
            yield from of_tensor(text, body if body is not None and body.kind == "object" else node, repair.value)
        else:
            yield from of_value(text, _inside(node, inner, None) if inner else node, repair.value)

    def must_run(self, reader: Reader) -> bool:
        """Whether the operator runs; a problem where it is described only."""
        if not self.operator.runs:
            reader.add(self.type_node, not_runnable(self.operator.name))
        return self.operator.runs

    def _name(self, violation: Violation) -> str:
        root, place, inner = parted(violation.field or "")
        field = next(field for field in self.operator.fields if field.python == root)
        held = getattr(self.value, root)
        if inner:
            fields = (held if place is None else held[place]).operator.fields
            return str(next(field.name for field in fields if field.python == inner))
        return (violation.member and type_of(field.type).json_member(violation.member)) or field.name


def entry_name(field: Field, number: int) -> str:
    """Under which name a tensor of an array is bound."""
    return f"{field.name}[{number}]"


def tensor_of(desc: OperatorDesc, field: Field, entry: int | None) -> TensorDesc:
    """The desc of the tensor of a field, or of an entry of an array."""
    value = getattr(desc, field.python)
    tensor: TensorDesc = value if entry is None else value[entry]
    return tensor


def tensors_of(desc: OperatorDesc, kind: str) -> dict[str, tuple[Field, int | None]]:
    """The tensors that a desc has of a kind: by the name of the binding the field, and the entry of an array."""
    found: dict[str, tuple[Field, int | None]] = {}
    values = desc._values()
    for field in desc.operator.fields:
        value = values[field.python]
        if field.kind != kind or value is None:
            continue
        if isinstance(value, tuple):
            found |= {entry_name(field, number): (field, number) for number in range(len(value))}
        else:
            found[field.name] = field, None
    return found


def parted(path: str) -> tuple[str, int | None, str]:
    """The field of a path, the entry of an array, and what follows: inputs, 2 of inputs[2]."""
    head, _, inner = path.partition(".")
    name, _, entry = head.partition("[")
    return name, int(entry[:-1]) if entry else None, inner


def parse_alone(reader: Reader, root: Node) -> Desc | None:
    """The desc that a file has in place of a model."""
    whole = root.get("desc") is not None or root.get("Desc") is not None
    if whole:
        reader.ignore_others(root, ("type", "desc", "Desc"))
    kind = reader.required(root, "type", "string")
    if not whole:
        hint = 'The member "desc" has the fields of the operator.'
        reader.missing("DML-MODEL-missing", root, "desc", hint, name="desc")
        return None
    return None if kind is None else parse(reader, root, kind)


def parse(reader: Reader, node: Node, type_node: Node) -> Desc | None:
    """The desc of an operator dispatchable: in a member ``desc`` or ``Desc``, or beside the type."""
    body = node.get("Desc") or node.get("desc") or node
    if not reader.expect(body, "object"):
        return None
    operator = OPERATORS.get(type_node.value.removeprefix("DML_OPERATOR_"))
    fields = operator.fields if operator else ()
    misspelt: dict[Node, Mapping[str, Node]] = {}
    if operator is not None:
        known = [*(f.name for f in fields), *(_BESIDE if body is node else ())]
        reader.ignore_others(body, known, lambda name, absent: _hint(operator, name, absent))
        whole = _gather(reader, node, body, fields)
        missing = [f.name for f in fields if f.name not in whole.value and not f.optional]
        misspelt[whole] = reader.misspelt(body, missing)
        body = whole
    members = {f.name: _value(reader, misspelt, f, body.value[f.name]) for f in fields if f.name in body.value}
    try:
        value = OperatorDesc.from_dict({"type": type_node.value, "desc": members})
    except DmlError as error:
        for violation in error.violations:
            reader.add(type_node, violation)
        return None
    return None if operator is None else Desc(operator, value, type_node, body, misspelt)


def _hint(operator: Operator, name: str, absent: Sequence[str]) -> str:
    """A hint about a member that the operator does not have."""
    return in_another_version(operator, name) or did_you_mean(name, absent)


def _gather(reader: Reader, node: Node, body: Node, fields: Sequence[Field]) -> Node:
    """The body with the fields that are at another depth: beside it, or in a member that is no field."""
    names = [field.name for field in fields]
    known = {*names, *(_BESIDE if body is node else ())}
    nested = [one for name, one in body.value.items() if name not in known and one.kind == "object"]
    found: dict[str, Node] = {}
    for holder in [*nested, *([] if node is body else [node])]:
        if not _STRUCT.isdisjoint(holder.value):
            continue
        here = [name for name in names if name in holder.value and name not in body.value and name not in found]
        if not here:
            continue
        found |= {name: holder.value[name] for name in here}
        if holder is node:
            reader.forget(node, here)
        else:
            reader.forget(body, [str(holder.key)])
            reader.ignore_others(holder, names)
        nesting(reader, holder, body, here, holder.value[here[0]] if holder is node else holder)
    if not found:
        return body
    return Node("object", {**body.value, **found}, body.at, body.parent, body.key, body.key_at)


def nesting(reader: Reader, holder: Node, goal: Node, names: Sequence[str], node: Node) -> None:
    """Record that members of these names are in the one object, and belong in the other."""
    shown = listing([quote(name) for name in names])
    reader.report("DML-MODEL-nesting", node, key=True, members=shown, found=holder.path(), expected=goal.path())


def _value(reader: Reader, misspelt: dict[Node, Mapping[str, Node]], field: Field, node: Node) -> object:
    """A member of a desc as a plain value, without the members of structs that nobody reads."""
    kind = type_of(field.type)
    members = kind.members
    if kind.holds_operators:
        if node.kind == "array":
            return [_nested(reader, misspelt, entry) for entry in node.value]
        return _nested(reader, misspelt, node)
    if kind.tensors and node.kind == "array":
        return [_value(reader, misspelt, field, entry) for entry in node.value]
    if node.kind == "object" and field.kind != "attribute":
        body = node.get("Desc")
        if body is None or body.kind != "object":
            values = _struct(reader, node, ("Type", "Desc", *members))
            body = node
        else:
            values = {**_struct(reader, node, ("Type", "Desc")), "Desc": _struct(reader, body, members)}
        misspelt[body] = reader.misspelt(body, [name for name in _STRUCT if body.get(name) is None])
        return values
    if node.kind == "object" and members:
        values = _struct(reader, node, members)
        misspelt[node] = reader.misspelt(node, [name for name in members if node.get(name) is None])
        return node.plain() if misspelt[node] or not values else values
    return node.plain()


def _nested(reader: Reader, misspelt: dict[Node, Mapping[str, Node]], node: Node) -> object:
    """The desc of an operator that another one holds, as a plain value, without the members that nobody reads."""
    operator = _operator_of(node)
    if operator is None:
        return node.plain()
    body = _body(node)
    names = [field.name for field in operator.fields]
    reader.ignore_others(body, [*names, *(TYPE_KEYS if body is node else ())])
    attributes = [field for field in operator.fields if field.kind == "attribute" and not field.optional]
    misspelt[body] = reader.misspelt(body, [field.name for field in attributes if body.get(field.name) is None])
    members = {name: body.value[name].plain() for name in names if name in body.value}
    return {TYPE_KEYS[0]: operator.name, DESC_KEYS[0]: members}


def _operator_of(node: Node) -> Operator | None:
    """The operator whose desc an object is."""
    found = named(node.plain()) if node.kind == "object" else None
    return None if found is None else OPERATORS.get(found)


def _body(node: Node) -> Node:
    """The object that has the members of the struct."""
    bodies = [body for key in DESC_KEYS if (body := node.get(key)) is not None and body.kind == "object"]
    return bodies[0] if bodies else node


def _inside(node: Node, name: str, index: int | None) -> Node:
    """The value that a violation is about, in the desc of an operator that another one holds."""
    operator = _operator_of(node)
    body = node if operator is None or not name else _body(node)
    member = None
    for field in operator.fields if operator else ():
        if field.python == name:
            member = body.get(field.name)
    found = member or body
    if index is not None and found.kind == "array" and index < len(found.value):
        entry: Node = found.value[index]
        return entry
    return found


def _struct(reader: Reader, node: Node, known: tuple[str, ...]) -> dict[str, object]:
    """The known members of a nested struct."""
    reader.ignore_others(node, known)
    return {name: node.value[name].plain() for name in known if name in node.value}
