"""The operands of elementwise results: elements of tensors, and numbers that elements share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...expr.cython import Cython
from ...expr.nodes import Call, Choice, Compare, Index, Name, NotCompiled, Number
from ...expr.types import Kind, kind_of
from ...field_types import type_of
from ...model import Facts, Field, Operator
from ..base import Definition, attribute_locals

HELD = ("FLOAT32", "FLOAT16")
"""The data types whose elements are floats to a loop."""
FOR_TRUTH = ("UINT8", "UINT32")
"""The data types of outputs that loops give bytes for: elements.pyx makes numbers of them."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number that is the same for all elements.

    ``field`` is its member of the struct of a loop, and ``whole`` the member that has it as an integer. ``kind`` is its
    type in a loop, where the loop computes in another type. ``members`` has the members as (C type, name, value
    in Cython).
    """

    name: str
    field: str
    whole: str | None
    kind: str | None
    members: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A tensor that a call in Cython makes. ``number``: what it has for all elements, if it is the same for all."""

    name: str
    call: str
    number: str | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """An input of the loops. ``types``: its type variable, or the data type; ``tensor``: the tensor in Cython.

    ``made``: a tensor that is needed for the input.
    """

    types: str
    tensor: str
    made: Made | None = None


def dtypes_of(operator: Operator, field: Field) -> tuple[str, ...]:
    """The data types of a tensor."""
    rows = operator.types[field.types or ""]
    return tuple(dict.fromkeys(name for row in rows for name in row.dtypes))


def integer_of(dtype: str, facts: Facts, bits: bool) -> str:
    """The type of the elements of a data type, or of their bits."""
    unsigned = f"uint{facts.dtype(dtype).bits}_t"
    return unsigned if bits or dtype.startswith("UINT") else unsigned.removeprefix("u")


class Operands:
    """The inputs of the loops of an operator, in order, and the numbers that all elements share.

    ``varied``: the input that may have the most data types.
    """

    def __init__(self, operator: Operator, definition: Definition, facts: Facts) -> None:
        self.operator, self.definition, self.facts = operator, definition, facts
        self.single = [field for field in operator.inputs if self.is_one_element(field)]
        self.scaled = "scaled" in definition.roles
        self.output = operator.outputs[0]
        self.elements = dict(self.found())
        self.varied = max(self.elements, key=lambda name: len(self.variables.get(self.elements[name].types, ())))
        self.members = {
            field.python: {member.name: member.value for member in facts.enums[field.enum].members}
            for field in operator.attributes
            if field.enum is not None
        }
        self.scalars = tuple(self.shared())
        self.names_of_scalars = [one.name for one in self.scalars]
        self.gives_truth = self.output.types not in {field.types for field in operator.inputs} and {
            *dtypes_of(operator, self.output)
        } <= {*FOR_TRUTH}

    @property
    def may_be_halves(self) -> bool:
        """Whether all inputs of the loops have one data type, which may be FLOAT16."""
        (types, *others) = {one.types for one in self.elements.values()}
        return not others and "FLOAT16" in self.variables[types]

    def is_one_element(self, field: Field) -> bool:
        """Whether a tensor has one element, for all: its sizes are a let of ones."""
        if field.sizes is None or not isinstance(field.sizes.node, Name):
            return False
        name = field.sizes.node.id
        return any(let.name == name and let.value.node == Number(1) for let in self.operator.lets)

    def found(self) -> Iterator[tuple[str, Element]]:
        """The inputs of the loops, by the names of their elements."""
        for field in self.operator.inputs:
            if field in self.single:
                continue
            if type_of(field).several:
                yield from self.entries(field)
                continue
            name = "x" if len(self.operator.inputs) == 1 else field.python
            if field.optional:
                yield name, self.or_number(field.types or "", field.python, f"a.{field.python}")
            else:
                yield name, Element(field.types or "", f"&a.{field.python}")
        for key, axis in self.definition.words.items():
            head, _, name = key.partition(".")
            if head == "along":
                entries = f"fill_entries(&{name}, &a.{self.output.python}, {axis}, a.{name})"
                yield name, Element("FLOAT32", f"&{name}", Made(name, entries))

    def entries(self, field: Field) -> Iterator[tuple[str, Element]]:
        """The tensors of an array. An optional tensor that is left out counts as one more data type."""
        for number, name in enumerate(self.definition.words[f"tensors.{field.python}"].split()):
            types, tensor = self.types_of_entry(field, number), f"a.{field.python}.several.each[{number}]"
            absent = f"absent.{name}" in self.definition.formulas
            yield name, self.or_number(types, name, tensor) if absent else Element(types, f"&{tensor}")

    def or_number(self, types: str, name: str, tensor: str) -> Element:
        """A tensor, or what stands for all its elements where it is left out."""
        formula = self.definition.formulas.get(f"absent.{name}")
        cython = Cython(self.operator.scope, constants={one.name: one.name for one in self.facts.dtypes})
        number = "0" if formula is None else cython.expression(formula.loops)
        call = f"fill_integer(&{name}, &a.{self.output.python}, a.{self.holder(types)}.dtype, &{name}_number)"
        return Element(types, f"&{tensor} if {tensor}.dtype else &{name}", Made(name, call, number))

    def types_of_entry(self, field: Field, number: int) -> str:
        """The type variable of a tensor of an array: a rule says which tensor has the same data type."""
        for rule in self.operator.rules:
            index, demand = Name(rule.index or ""), rule.that.node
            if isinstance(demand, Choice):
                demand = demand.then if demand.test == Compare("==", index, Number(number)) else demand.other
            entry = Call("dtype", (Index(Name(field.python), (index,)),))
            match demand:
                case Compare(op="==", left=left, right=Call(function="dtype", args=(Name(id=name),))) if left == entry:
                    return self.operator.field(name).types or ""
        raise NotCompiled(f"no rule says which data types the tensors of {field.name} have")

    def holder(self, types: str) -> str:
        """A tensor that has the data type of a type variable, and is always there."""
        return next(field.python for field in self.operator.tensors if field.types == types and not field.optional)

    def shared(self) -> Iterator[Scalar]:
        """The numbers that all elements share: attributes, and elements of tensors that have one."""
        for ctype, name in attribute_locals(self.operator):
            integer = ctype != "float"
            kind = "int" if ctype == "bint" else "int64_t"
            member = (kind if integer else "float", name, f"a.{name}")
            yield Scalar(name, name, name if integer else None, kind if integer else None, (member,))
        for name in self.members:
            yield Scalar(name, name, name, "int64_t", (("int64_t", name, f"a.{name}"),))
        for field in self.operator.attributes:
            if type_of(field).typed:
                name, of = field.python, f"a.{self.operator.inputs[0].python}.dtype, a.{field.python}"
                number = ("double", name, f"float_in({of})")
                whole = ("int64_t", f"{name}_whole", f"integer_in({of})")
                yield Scalar(name, name, f"{name}_whole", None, (number, whole))
        for field in self.single:
            name = field.python
            value = f"float_in(a.{name}.dtype, <const unsigned char*>a.{name}.data)"
            member = ("double", name, f"{value} if a.{name}.dtype else 0" if field.optional else value)
            yield Scalar(name, name, None, None, (member,))

    @property
    def variables(self) -> Mapping[str, tuple[str, ...]]:
        """The type variables of the inputs of the loops and of the output, each with its data types."""
        fields = [one for one in self.operator.inputs if one not in self.single and not type_of(one).several]
        return {field.types or "": dtypes_of(self.operator, field) for field in (*fields, self.output)}

    def dtypes_of_elements(self, dtypes: Mapping[str, str]) -> dict[str, str]:
        """The data types of the inputs, by the names of their elements, where type variables stand for these."""
        return {name: dtypes.get(one.types, one.types) for name, one in self.elements.items()}

    @property
    def only_converts(self) -> bool:
        """Whether the output has the elements of the input in another data type."""
        result = self.definition.formulas.get("result")
        others = self.output.types != self.operator.inputs[0].types
        return result is not None and isinstance(result.node, Name) and others and not self.scaled

    def dtype_of_output(self, dtypes: Mapping[str, str]) -> str:
        """The data type of the outputs."""
        return dtypes[self.output.types or ""]

    def lack(self) -> str | None:
        """The reason why loops cannot take the tensors and attributes; None: no reason is known."""
        definition = self.definition
        if len({field.types for field in self.operator.outputs}) > 1:
            return "no loop gives outputs of several data types yet"
        for name, formula in definition.formulas.items():
            if name.startswith("absent.") and kind_of(formula.loops, self.operator.scope) is not Kind.INT:
                return f"no loop takes anything but an integer for what is left out, as {name} would be"
        for field in self.operator.attributes:
            if type_of(field).typed and not self.is_of_first(field):
                return f"{field.name} has another data type than the first input, which no loop reads yet"
        return None

    def is_of_first(self, field: Field) -> bool:
        """Whether a number has the data type of the first input."""
        held = next(one for one in self.operator.fields if field.types in (one.name, one.python))
        return held.value is not None and held.value.node == Call("dtype", (Name(self.operator.inputs[0].python),))
