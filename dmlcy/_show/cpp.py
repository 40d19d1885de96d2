"""Descs as C++: the structs of DirectML with the values of a desc, ready to be compiled."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts import shipped
from dmlcy._facts.names import PREFIX
from dmlcy._facts.rows import Field, Operator
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types.scalar_union import PACKED, integer_range

LINE: Final = 100
_ENTRIES: Final = {"uint_array": "UINT", "int_array": "INT", "float_array": "FLOAT"}
_ELEMENTS: Final = {"uint_array": "uint32_t", "int_array": "int32_t", "float_array": "float"}
_POINTERS: Final = ("tensor", "operator_desc", "scale_bias")
_MARGIN: Final = "    "


def fragment(desc: OperatorDesc) -> str:
    """The variables of a valid desc, the last of which is ``desc``, a DML_OPERATOR_DESC."""
    lines: list[str] = []
    whole = desc.to_dict()
    _operation(lines, "desc", whole["type"], whole["desc"])
    return "\n".join(lines) + "\n"


def _operation(lines: list[str], name: str, kind: str, members: dict[str, Any]) -> None:
    """The struct of an operator, and its DML_OPERATOR_DESC."""
    operator = OPERATORS[kind.removeprefix(PREFIX)]
    before = "" if name == "desc" else name
    values = [(field.name, _value(lines, field, members, before, operator)) for field in operator.fields]
    own = "members" if name == "desc" else f"{name}Members"
    width = max((len(text) for _, text in values), default=0) + 1
    rows = [f"{_MARGIN}{f'{text},':{width}}  // {member}" for member, text in values]
    lines += [f"const {operator.struct} {own} = {{", *rows, "};"]
    lines.append(f"const DML_OPERATOR_DESC {name} = {{{PREFIX}{operator.name}, &{own}}};")


def _value(lines: list[str], field: Field, members: dict[str, Any], before: str, operator: Operator) -> str:
    """The value of a member; what it points to becomes variables in front."""
    kind, value = field.type.partition(":")[0], members.get(field.name)
    name = _variable(before, field.name)
    if value is None:
        return "nullptr"
    if kind in _ENTRIES:
        lines.append(_array(_ENTRIES[kind], name, [_number(kind, entry) for entry in value]))
        return name
    if kind in ("tensor_array", "operator_desc_array"):
        return _several(lines, kind, name, value)
    if kind in _POINTERS:
        _pointed(lines, kind, name, value)
        return f"&{name}"
    if kind == "scalar_union":
        typed = operator.field(field.scalar_type or "").name
        return _scalar(value, str(members[typed]).removeprefix("DML_TENSOR_DATA_TYPE_"))
    if kind == "size_2d":
        return f"{{{value['Width']}, {value['Height']}}}"
    return _number(kind, value)


def _pointed(lines: list[str], kind: str, name: str, value: Any) -> None:
    """The variable that a member points to."""
    if kind == "tensor":
        lines.append(f"const DML_TENSOR_DESC {name} = {_tensor(lines, name, value)};")
    elif kind == "operator_desc":
        _operation(lines, name, value["Type"], value["Desc"])
    else:
        numbers = ", ".join(_number("float", value[one]) for one in ("Scale", "Bias"))
        lines.append(f"const DML_SCALE_BIAS {name} = {{{numbers}}};")


def _several(lines: list[str], kind: str, name: str, values: Sequence[Any]) -> str:
    """The array that a member points to, of tensors or of operators; its name."""
    entries = []
    for place, value in enumerate(values):
        if kind == "tensor_array":
            entries.append(_tensor(lines, f"{name}{place}", value))
        else:
            _operation(lines, f"{name}{place}", value["Type"], value["Desc"])
            entries.append(f"{name}{place}")
    lines.append(_array("DML_TENSOR_DESC" if kind == "tensor_array" else "DML_OPERATOR_DESC", name, entries))
    return name


def _tensor(lines: list[str], name: str, value: dict[str, Any]) -> str:
    """The value of a DML_TENSOR_DESC."""
    pointers = []
    for member in ("Sizes", "Strides"):
        entries = value[member]
        if entries is not None:
            lines.append(_array("UINT", f"{name}{member}", list(map(str, entries))))
        pointers.append("nullptr" if entries is None else f"{name}{member}")
    total = value["TotalTensorSizeInBytes"]
    numbers = [str(value["DimensionCount"]), *pointers, f"{total}u" if total >= 2**63 else str(total)]
    values = ", ".join([value["DataType"], value["Flags"], *numbers, str(value["GuaranteedBaseOffsetAlignment"])])
    lines += [f"const DML_BUFFER_TENSOR_DESC {name}Buffer = {{", f"{_MARGIN}{values}}};"]
    return f"{{DML_TENSOR_TYPE_BUFFER, &{name}Buffer}}"


def _array(kind: str, name: str, entries: Sequence[str]) -> str:
    """An array; one without entries has one that its count leaves out."""
    line = f"const {kind} {name}[] = {{{', '.join(entries)}}};"
    if not entries:
        return f"const {kind} {name}[1] = {{}};"
    return line if len(line) <= LINE else "\n".join([f"const {kind} {name}[] = {{", *_rows(entries), "};"])


def _rows(entries: Iterable[str]) -> list[str]:
    """Entries in lines that are not too long."""
    rows = [_MARGIN]
    for entry in entries:
        if len(rows[-1]) + len(entry) > LINE:
            rows.append(_MARGIN)
        rows[-1] += f"{entry}, "
    return [row.rstrip() for row in rows]


def _variable(before: str, member: str) -> str:
    """InputTensor -> inputTensor, of another operator in front: fusedActivationInputTensor."""
    if before:
        return f"{before}{member}"
    first = re.match(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]", member)
    assert first is not None
    return first[0].lower() + member[first.end() :]


def _number(kind: str, value: Any) -> str:
    if kind == "bool":
        return "TRUE" if value else "FALSE"
    if kind not in ("float", "float_array"):
        return str(value)
    number = float(value)
    if not math.isfinite(number):
        return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"
    return f"{number!r}f"


def _scalar(value: Any, dtype: str) -> str:
    """The bytes of a scalar, which are its first member in C, with the number beside them."""
    if dtype in PACKED:
        data = struct.pack(PACKED[dtype], float(value))
    else:
        low, high = integer_range(dtype)
        data = int(value).to_bytes((high - low).bit_length() // 8, "little", signed=low < 0)
    return f"{{{{{', '.join(f'0x{byte:02x}' for byte in data.ljust(8, bytes(1)))}}}}} /* {value} */"


def directmlx(desc: OperatorDesc) -> str | None:
    """The same operator as a call of DirectMLX, in which ``graph`` is a dml::Graph; None where no function has it."""
    function = shipped.operator(desc.operator.name)["operator"].get("directmlx")
    if function is None:
        return None
    name, _, rest = function.removesuffix(")").partition("(")
    members = desc.to_dict()["desc"]
    lines = list(_expressions(desc.operator, members))
    arguments = [_argument(lines, desc.operator, members, parameter) for parameter in rest.split(", ")]
    call = f"const auto result = dml::{name}({', '.join(arguments)});"
    if len(call) > LINE:
        call = "\n".join([f"const auto result = dml::{name}(", *_rows(arguments)]).removesuffix(",") + ");"
    return "\n".join([*lines, call]) + "\n"


def _expressions(operator: Operator, members: dict[str, Any]) -> Iterator[str]:
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
            yield f"{_MARGIN}graph, {number}, dml::TensorDesc({tensor['DataType']}, {{{sizes}}}));"
            number += 1


def _argument(lines: list[str], operator: Operator, members: dict[str, Any], parameter: str) -> str:
    """What a call of DirectMLX is given for a parameter; an array becomes a variable in front."""
    member, _, part = parameter.partition(".")
    field = next(one for one in operator.fields if one.name == member)
    kind, value = field.type.partition(":")[0], members.get(member)
    if part:
        found = value[part] if value is not None else None
        return f"{{{', '.join(map(str, found))}}}" if isinstance(found, list) else str(found)
    if kind == "operator_desc":
        return _activation(value)
    if value is None:
        return "dml::NullOpt"
    if kind == "tensor":
        return _variable("", member)
    if kind == "tensor_array":
        name = _variable("", member)
        lines.append(_array("dml::Expression", name, [f"{name}{place}" for place in range(len(value))]))
        return name
    if kind in _ENTRIES:
        element = _ELEMENTS[kind]
        if not value:
            return f"dml::Span<const {element}>()"
        lines.append(_array(element, _variable("", member), [_number(kind, entry) for entry in value]))
        return _variable("", member)
    if kind == "scale_bias":
        return f"DML_SCALE_BIAS{{{_number('float', value['Scale'])}, {_number('float', value['Bias'])}}}"
    if kind == "size_2d":
        return f"DML_SIZE_2D{{{value['Width']}, {value['Height']}}}"
    return _number(kind, value).lower() if kind == "bool" else _number(kind, value)


def _activation(value: dict[str, Any] | None) -> str:
    if value is None:
        return "dml::FusedActivation::None()"
    operator = OPERATORS[value["Type"].removeprefix(PREFIX)]
    names = [field.name for field in operator.fields if field.type == "float"]
    numbers = "".join(f", {_number('float', value['Desc'][name])}" for name in names)
    return f"dml::FusedActivation({value['Type']}{numbers})"


def program(desc: OperatorDesc) -> str:
    """The variables of a desc, and as a comment the call of DirectMLX, if there is one."""
    call = directmlx(desc)
    if call is None:
        return fragment(desc)
    commented = "".join(f"//{_MARGIN}{line}\n" for line in call.splitlines())
    return f"{fragment(desc)}\n// With DirectMLX, where graph is a dml::Graph:\n{commented}"
