"""Descs as C++: the structs of DirectML with the values of a desc, ready to be compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts import shipped
from dmlcy._facts.names import PREFIX
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import ENUMS, OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.cpp import LINE, MARGIN, rows


def fragment(desc: OperatorDesc) -> str:
    """The variables of a valid desc, the last of which is ``desc``, a DML_OPERATOR_DESC."""
    source = _Source()
    whole = desc.to_dict()
    source.operation("desc", whole["type"], whole["desc"])
    return "\n".join(source.lines) + "\n"


class _Source:
    """The lines so far, to which the types of fields add."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def operation(self, name: str, kind: str, members: Mapping[str, object]) -> None:
        """The struct of an operator, and its DML_OPERATOR_DESC."""
        operator = OPERATORS[kind.removeprefix(PREFIX)]
        before = "" if name == "desc" else name
        values = [(field.name, self._value(field, members, before, operator)) for field in operator.fields]
        own = "members" if name == "desc" else f"{name}Members"
        width = max((len(text) for _, text in values), default=0) + 1
        entries = [f"{MARGIN}{f'{text},':{width}}  // {member}" for member, text in values]
        self.lines += [f"const {operator.struct} {own} = {{", *entries, "};"]
        self.lines.append(f"const DML_OPERATOR_DESC {name} = {{{PREFIX}{operator.name}, &{own}}};")

    def _value(self, field: Field, members: Mapping[str, object], before: str, operator: Operator) -> str:
        """The value of a member; what it points to becomes variables in front."""
        value, dtype = members.get(field.name), None
        if value is None:
            return "nullptr"
        if field.scalar_type is not None:
            typed = members[operator.field(field.scalar_type).name]
            dtype = str(typed).removeprefix(ENUMS["DML_TENSOR_DATA_TYPE"].prefix)
        return type_of(field.type).cpp(_variable(before, field.name), value, dtype, self)


def _variable(before: str, member: str) -> str:
    """InputTensor -> inputTensor, of another operator in front: fusedActivationInputTensor."""
    if before:
        return f"{before}{member}"
    first = re.match(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]", member)
    assert first is not None
    return first[0].lower() + member[first.end() :]


def directmlx(desc: OperatorDesc) -> str | None:
    """The same operator as a call of DirectMLX, in which ``graph`` is a dml::Graph; None where no function has it."""
    function = shipped.operator(desc.operator.name)["operator"].get("directmlx")
    if function is None:
        return None
    name, _, rest = function.removesuffix(")").partition("(")
    members = desc.to_dict()["desc"]
    source = _Source()
    source.lines += _expressions(desc.operator, members)
    arguments = [_argument(source, desc.operator, members, parameter) for parameter in rest.split(", ")]
    call = f"const auto result = dml::{name}({', '.join(arguments)});"
    if len(call) > LINE:
        call = "\n".join([f"const auto result = dml::{name}(", *rows(arguments)]).removesuffix(",") + ");"
    return "\n".join([*source.lines, call]) + "\n"


def _expressions(operator: Operator, members: Mapping[str, Any]) -> Iterator[str]:
    """The inputs of a graph that are the inputs of the operator."""
    number = 0
    for field in operator.fields:
        value = members.get(field.name)
        if field.kind != "input" or value is None:
            continue
        several = isinstance(value, list)
        for place, tensor in enumerate(value if several else [value]):
            name = f"{_variable('', field.name)}{place if several else ''}"
            sizes = ", ".join(map(str, tensor["Sizes"]))
            yield f"const auto {name} = dml::InputTensor("
            yield f"{MARGIN}graph, {number}, dml::TensorDesc({tensor['DataType']}, {{{sizes}}}));"
            number += 1


def _argument(source: _Source, operator: Operator, members: Mapping[str, Any], parameter: str) -> str:
    """The argument of a call of DirectMLX for a parameter; an array becomes a variable in front."""
    member, _, part = parameter.partition(".")
    field = next(one for one in operator.fields if one.name == member)
    value = members.get(member)
    if part:
        found = value[part] if value is not None else None
        return f"{{{', '.join(map(str, found))}}}" if isinstance(found, list) else str(found)
    return type_of(field.type).directmlx(_variable("", member), value, source)


def program(desc: OperatorDesc) -> str:
    """The variables of a desc, and as a comment the call of DirectMLX, if there is one."""
    call = directmlx(desc)
    if call is None:
        return fragment(desc)
    commented = "".join(f"//{MARGIN}{line}\n" for line in call.splitlines())
    return f"{fragment(desc)}\n// With DirectMLX, where graph is a dml::Graph:\n{commented}"
