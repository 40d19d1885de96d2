"""Descs as they lie in memory: objects of bytes with pointers to each other, laid out as the facts say.

Inexpressible is raised for a desc of Python that no struct of C++ can have. Examples are text for a number, an array of
another length than its count says, and a number that no FLOAT holds.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from standin import prefix
from structs import enums, layouts

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.rows import Field
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.scalar_union import UNION
from dmlcy._field_types.tensor_desc import TensorDesc

MOST = {"dimensions": 8, "entries": 65536}
KINDS = {"FLOAT32": "f", "FLOAT64": "d", "UINT64": "Q", "INT64": "q", "FLOAT16": "e"}
"""The data types of a scalar whose bytes are not those of the number of 32 bits or less."""


class Inexpressible(Exception):
    """No struct has such a value."""


@dataclass(slots=True)
class Image:
    """Objects of bytes, and the pointers in each: by offset the number of the object."""

    objects: list[bytearray] = field(default_factory=list)
    pointers: list[dict[int, int]] = field(default_factory=list)

    def add(self, size: int) -> int:
        """A new object; its number."""
        self.objects.append(bytearray(size))
        self.pointers.append({})
        return len(self.objects) - 1

    def packed(self) -> bytes:
        """As dumper.cpp reads it."""
        parts = [struct.pack("<I", len(self.objects))]
        for data, pointers in zip(self.objects, self.pointers, strict=True):
            parts += [struct.pack("<I", len(data)), bytes(data), struct.pack("<I", len(pointers))]
            parts += [struct.pack("<II", *pointer) for pointer in pointers.items()]
        return b"".join(parts)


class Struct:
    """A struct in an object of an image, at an offset."""

    def __init__(self, image: Image, name: str, owner: int | None = None, at: int = 0) -> None:
        size, self.offsets = layouts()[name]
        self.image, self.at = image, at
        self.number = image.add(size) if owner is None else owner

    def put(self, name: str, code: str, *values: Any) -> None:
        """Numbers in a member."""
        try:
            struct.pack_into(f"<{code}", self.image.objects[self.number], self.at + self.offsets[name], *values)
        except (struct.error, OverflowError) as error:
            raise Inexpressible(f"{name} {values}") from error

    def point(self, name: str, to: int) -> None:
        """A pointer in a member."""
        self.image.pointers[self.number][self.at + self.offsets[name]] = to


def fitted(desc: OperatorDesc) -> dict[str, Any]:
    """The JSON of a desc as a struct has it: an array has as many entries as its count says, whatever it was given."""
    for tensor in (one for value in desc._values().values() for one in (value if type(value) is tuple else (value,))):
        if type(tensor) is TensorDesc and (tensor._unknown or tensor._type != "BUFFER"):
            raise Inexpressible(tensor)  # to_dict has no such members
    try:
        spelled = json.loads(json.dumps(desc.to_dict()))
    except (TypeError, ValueError) as error:
        raise Inexpressible(desc) from error
    members, fields = spelled["desc"], desc.operator.fields
    for one in fields:
        value = members.get(one.name)
        if type_of(one.type).array:
            members[one.name] = _cut(value, members.get(_count_of(one, fields)))
        for tensor in value if isinstance(value, list) and one.kind != "attribute" else [value]:
            if isinstance(tensor, dict) and "Sizes" in tensor:
                if type(tensor["DimensionCount"]) is int and tensor["DimensionCount"] > MOST["dimensions"]:
                    raise Inexpressible(tensor)  # what is left out of it is not in the JSON
                for name in ("Sizes", "Strides"):
                    tensor[name] = _cut(tensor[name], tensor["DimensionCount"])
    return {"type": spelled["type"], "desc": members}


def _cut(value: Any, count: Any) -> Any:
    """So many entries, the last one again and again."""
    if not isinstance(value, list) or type(count) is not int or not 0 <= count <= MOST["dimensions"] or not value:
        return value
    return (value + [value[-1]] * count)[:count]


def image_of(desc: dict[str, Any]) -> Image:
    """The image of a desc in JSON, ``{"type": ..., "desc": {...}}``."""
    image = Image()
    _operation(Struct(image, "DML_OPERATOR_DESC"), desc["type"], desc["desc"])
    return image


def _operation(of: Struct, kind: Any, members: Any) -> None:
    of.put("Type", "i", _member("DML_OPERATOR_TYPE", kind))
    operator = OPERATORS.get(str(kind).removeprefix("DML_OPERATOR_"))
    if operator is None:
        if members is not None:
            raise Inexpressible(kind)
        return
    names = {one.name for one in operator.fields}
    if not isinstance(members, dict) or not set(members) <= names:
        raise Inexpressible(members)
    inner = Struct(of.image, operator.struct)
    of.point("Desc", inner.number)
    for one in operator.fields:
        _write(inner, one, members.get(one.name), members, operator.fields)


def _write(of: Struct, one: Field, value: Any, members: dict[str, Any], fields: Sequence[Field]) -> None:
    kind, _, enum = one.type.partition(":")
    if kind in ("uint_array", "int_array", "float_array"):
        _array(of, one.name, value, members.get(_count_of(one, fields)), {"u": "I", "i": "i", "f": "f"}[kind[0]])
    elif kind in ("tensor_array", "operator_desc_array"):
        count = members.get(_count_of(one, fields))
        if value is None:
            return
        if not isinstance(value, list) or type(count) is not int or len(value) != count:
            raise Inexpressible(one.name)
        _several(of, one.name, value, kind)
    elif value is None and kind in ("tensor", "operator_desc", "scale_bias"):
        return
    elif kind in ("tensor", "operator_desc", "scale_bias"):
        POINTED[kind](of, one.name, value)
    elif kind == "enum":
        of.put(one.name, "i", _member(enum, value))
    elif kind == "scalar_union":
        typed = next(other.name for other in fields if other.python == one.scalar_type)
        _scalar(of, one.name, value, str(members.get(typed)))
    elif kind == "size_2d":
        if not isinstance(value, dict) or [*value] not in (["Width", "Height"], ["Height", "Width"]):
            raise Inexpressible(value)
        of.put(one.name, "II", _integer(value["Width"]), _integer(value["Height"]))
    elif kind == "bool":
        if type(value) is not bool:
            raise Inexpressible(value)
        of.put(one.name, "i", value)
    elif kind == "float":
        of.put(one.name, "f", _real(value))
    else:
        of.put(one.name, {"uint": "I", "int": "i"}[kind], _integer(value))


def _count_of(one: Field, fields: Sequence[Field]) -> str:
    """The member that counts an array: by the header, the last one before it whose name says so."""
    before = [other.name for other in fields[: fields.index(one)] if other.name.endswith("Count")]
    return before[-1]


def _array(of: Struct, name: str, value: Any, count: Any, code: str, most: int = MOST["entries"]) -> None:
    if value is None:
        return
    if not isinstance(value, list) or type(count) is not int or len(value) != min(count, most):
        raise Inexpressible(name)
    entries = [_real(entry) if code == "f" else _integer(entry) for entry in value]
    number = of.image.add(4 * len(entries))
    try:
        of.image.objects[number][:] = struct.pack(f"<{len(entries)}{code}", *entries)
    except (struct.error, OverflowError) as error:
        raise Inexpressible(name) from error
    of.point(name, number)


def _several(of: Struct, name: str, values: list[Any], kind: str) -> None:
    struct_name = {"tensor_array": "DML_TENSOR_DESC", "operator_desc_array": "DML_OPERATOR_DESC"}[kind]
    size = layouts()[struct_name][0]
    number = of.image.add(size * len(values))
    of.point(name, number)
    for place, value in enumerate(values):
        INTO[kind](Struct(of.image, struct_name, number, size * place), value)


def _tensor(of: Struct, value: Any) -> None:
    if not isinstance(value, dict):
        raise Inexpressible(value)
    if value.get("Type") is not None and "Desc" in value:
        of.put("Type", "i", _member("DML_TENSOR_TYPE", value["Type"]))
        if value["Desc"] is not None:
            raise Inexpressible(value)
        return
    known = {"DataType", "Flags", "DimensionCount", "Sizes", "Strides", "TotalTensorSizeInBytes"}
    if set(value) != known | {"GuaranteedBaseOffsetAlignment"}:
        raise Inexpressible(value)
    of.put("Type", "i", 1)
    inner = Struct(of.image, "DML_BUFFER_TENSOR_DESC")
    of.point("Desc", inner.number)
    inner.put("DataType", "i", _member("DML_TENSOR_DATA_TYPE", value["DataType"]))
    inner.put("Flags", "i", _member("DML_TENSOR_FLAGS", value["Flags"]))
    inner.put("DimensionCount", "I", _integer(value["DimensionCount"]))
    for name in ("Sizes", "Strides"):
        _array(inner, name, value[name], value["DimensionCount"], "I", MOST["dimensions"])
    inner.put("TotalTensorSizeInBytes", "Q", _integer(value["TotalTensorSizeInBytes"]))
    inner.put("GuaranteedBaseOffsetAlignment", "I", _integer(value["GuaranteedBaseOffsetAlignment"]))


def _inner_operation(of: Struct, value: Any) -> None:
    if not isinstance(value, dict) or set(value) != {"Type", "Desc"}:
        raise Inexpressible(value)
    _operation(of, value["Type"], value["Desc"])


def _pointed(struct_name: str, write: Callable[[Struct, Any], None]) -> Callable[[Struct, str, Any], None]:
    def point(of: Struct, name: str, value: Any) -> None:
        inner = Struct(of.image, struct_name)
        of.point(name, inner.number)
        write(inner, value)

    return point


def _scale_bias(of: Struct, value: Any) -> None:
    if not isinstance(value, dict) or set(value) != {"Scale", "Bias"}:
        raise Inexpressible(value)
    of.put("Scale", "f", _real(value["Scale"]))
    of.put("Bias", "f", _real(value["Bias"]))


INTO = {"tensor_array": _tensor, "operator_desc_array": _inner_operation}
POINTED = {
    "tensor": _pointed("DML_TENSOR_DESC", _tensor),
    "operator_desc": _pointed("DML_OPERATOR_DESC", _inner_operation),
    "scale_bias": _pointed("DML_SCALE_BIAS", _scale_bias),
}


def _scalar(of: Struct, name: str, value: Any, dtype: str) -> None:
    dtype = dtype.removeprefix("DML_TENSOR_DATA_TYPE_")
    if isinstance(value, dict) and set(value) == {"Bytes"}:
        of.put(name, "8B", *value["Bytes"])
        return
    if dtype not in UNION:
        raise Inexpressible(dtype)
    bits = int("".join(filter(str.isdigit, dtype)))
    small = {8: "b", 16: "h", 32: "i"}.get(bits, "")
    code = KINDS.get(dtype) or (small.upper() if dtype.startswith("U") else small)
    of.put(name, code, _real(value) if dtype.startswith("FLOAT") else _integer(value))


def _member(enum: str, value: Any) -> int:
    """The number of a member, by its name, or one that no member has: C++ knows no other way to say a member."""
    if type(value) is int and value not in enums()[enum].values():
        return value
    known = {f"{prefix(enum)}{name}": number for name, number in enums()[enum].items()}
    if not isinstance(value, str) or value not in known:
        raise Inexpressible(value)
    return known[value]


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise Inexpressible(value)
    return value


def _real(value: Any) -> float:
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if type(value) not in (int, float) or (math.isinf(value) if type(value) is float else abs(value) > 2**127):
        raise Inexpressible(value)
    return float(value)


def rounded(desc: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a desc with each number that a FLOAT rounds as it is rounded; scalars by their data types."""
    return {"type": desc["type"], "desc": _rounded_members(desc["type"], desc["desc"])}


def _single(value: Any) -> Any:
    return struct.unpack("<f", struct.pack("<f", value))[0] if type(value) in (int, float) else value


def _rounded_members(kind: str, members: dict[str, Any]) -> dict[str, Any]:
    found = {}
    operator = OPERATORS[kind.removeprefix("DML_OPERATOR_")]
    for one in operator.fields:
        value = members.get(one.name)
        if one.type == "float":
            value = _single(value)
        elif one.type == "float_array" and value is not None:
            value = [*map(_single, value)]
        elif one.type == "scale_bias" and value is not None:
            value = {name: _single(number) for name, number in value.items()}
        elif one.type == "operator_desc" and value is not None:
            value = {"Type": value["Type"], "Desc": _rounded_members(value["Type"], value["Desc"])}
        elif one.type == "operator_desc_array" and value is not None:
            value = [{"Type": one["Type"], "Desc": _rounded_members(one["Type"], one["Desc"])} for one in value]
        elif one.type == "scalar_union":
            typed = next(other.name for other in operator.fields if other.python == one.scalar_type)
            value = _rounded_scalar(value, str(members[typed]).removeprefix("DML_TENSOR_DATA_TYPE_"))
        found[one.name] = value
    return found


def _rounded_scalar(value: Any, dtype: str) -> Any:
    if isinstance(value, dict) and "UInt16" in value and dtype == "FLOAT16":
        return repr(struct.unpack("<e", struct.pack("<H", value["UInt16"]))[0])
    if dtype.startswith("FLOAT") and not isinstance(value, dict):
        code = f"<{KINDS[dtype]}"
        return repr(struct.unpack(code, struct.pack(code, float(value)))[0])
    return value
