"""The loops of operators of elementwise: which types of C they have, and how they compute a result.

A loop takes contiguous rows: dmlcy/_runtime/elements.pyx makes them of tensors. What no loop computes yet is noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...expr.c import C, Ordinary, Whole, has_functions, has_no_sign, moves, rounds_once
from ...expr.nodes import Node, NotCompiled
from ...model import Facts, Field, Operator
from ..base import KernelTable, attribute_locals

MOST_INPUTS = 5  # of elements.pxd
FOR_TRUTH = ("UINT8", "UINT32")
"""The data types of outputs that loops give bytes for: elements.pyx makes numbers of them."""
HELD = ("FLOAT32", "FLOAT16")
"""The data types whose elements are floats to a loop."""


@dataclass(frozen=True, slots=True)
class ElementLoop:
    """A loop: the data types that it takes, and how it computes an element of them.

    ``inputs``: the types of the elements of each input, and of the numbers that the result reads of them; ``element``:
    that of the output; ``scalars``: the types of the attributes; ``steady``: another one reads one element of each
    input but the first; ``halves``: another one takes FLOAT16 as it is in memory; ``functions``: the result calls
    functions of ``functions.h``: there is a text for the widest level, too. Where ``special`` holds for no element of a
    block, ``ordinary`` is the result, in fewer steps.
    """

    name: str
    dtypes: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...]
    element: str
    scalars: tuple[tuple[str, str], ...]
    result: str
    store: str
    steady: bool
    halves: bool
    functions: bool
    special: str | None
    ordinary: str | None


@dataclass(frozen=True, slots=True)
class Types:
    """The types of C for some data types: that of their elements, that of a result, and how one becomes an element."""

    element: str
    work: str
    store: str = "DMLCY_SAME"

    @property
    def wide(self) -> str | None:
        """The type in which integers wrap around; None: these are floats."""
        if self.element == "float":
            return None
        return "uint64_t" if self.element.endswith("64_t") else "uint32_t"


def dtypes_of(operator: Operator, field: Field) -> list[str]:
    """The data types of a tensor."""
    rows = operator.types[field.types or ""]
    return [*dict.fromkeys(name for row in rows for name in row.dtypes)]


def integer_of(dtype: str, facts: Facts, bits: bool) -> str:
    """The type of the elements of a data type, or of their bits."""
    unsigned = f"uint{facts.dtype(dtype).bits}_t"
    return unsigned if bits or dtype.startswith("UINT") else unsigned.removeprefix("u")


class Loops:
    """What the templates read of an operator.

    ``varied``: the input whose data type says which loop runs; ``bits``: whether loops take the bits of elements, and
    no numbers; ``scalars``: the attributes that a result may read, as (C type, name).
    """

    def __init__(self, kernel: KernelTable, bits: bool) -> None:
        operator = kernel.operator
        self.kernel, self.operator, self.facts = kernel, operator, kernel.facts
        self.inputs = {"x" if len(operator.inputs) == 1 else field.python: field for field in operator.inputs}
        self.varied = max(operator.inputs, key=lambda field: len(dtypes_of(operator, field)))
        self.members = {
            field.python: {member.name: member.value for member in self.facts.enums[field.enum].members}
            for field in operator.attributes
            if field.enum is not None
        }
        self.scalars = (*attribute_locals(operator), *(("int64_t", name) for name in self.members))
        self.bits = bits
        self.made: tuple[ElementLoop, ...] = ()
        lack = self.lack()
        if lack is not None:
            kernel.lack(lack)
        elif not kernel.diagnostics.errors:
            alike = [name for name, field in self.inputs.items() if field.types == self.varied.types]
            self.bits = bits or moves(self.node, alike)
            try:
                self.made = tuple(self.make())
            except NotCompiled as error:
                kernel.lack(f"in result, {error.message}")

    @property
    def node(self) -> Node:
        """The result."""
        return self.kernel.definition.formulas["result"].loops

    def lack(self) -> str | None:
        """What keeps loops from taking the tensors and attributes of the operator; None: nothing is known to."""
        operator, definition = self.operator, self.kernel.definition
        output, *others = operator.outputs
        known = {field.types: dtypes_of(operator, field) for field in operator.inputs}
        scales = "scaled" in definition.roles
        if [*definition.formulas] != ["result"] or {*definition.words} - {"elements"}:
            return "no loop computes more than one expression yet"
        if others or len(operator.inputs) > MOST_INPUTS:
            return f"no loop takes more than {MOST_INPUTS} inputs, or gives two outputs, yet"
        if sum(len(dtypes) > 1 for dtypes in known.values()) > 1 or any(one.optional for one in operator.inputs):
            return "no loop takes inputs that differ in their data types yet"
        if output.types not in known and not {*dtypes_of(operator, output)} <= {*FOR_TRUTH}:
            return "no loop converts elements yet"
        if "fused" in definition.roles:
            return "no loop applies a fused activation yet"
        if scales and not {*dtypes_of(operator, output)} <= {*HELD}:
            return "no loop scales integers yet"
        return None

    def make(self) -> Iterator[ElementLoop]:
        """A loop for all data types with the same types of C; raises NotCompiled."""
        groups: dict[Types, list[str]] = {}
        for dtype in dtypes_of(self.operator, self.varied):
            groups.setdefault(self.types(dtype), []).append(dtype)
        for types, dtypes in groups.items():
            yield self.loop(types, dtypes)

    def types(self, dtype: str) -> Types:
        """How the elements of a data type are computed."""
        if self.bits or dtype not in (*HELD, "FLOAT64"):
            element = integer_of(dtype, self.facts, self.bits or has_no_sign(self.node))
            return Types(element, element)
        if dtype not in HELD:
            raise NotCompiled(f"no loop computes numbers of {dtype} yet")
        if has_functions(self.node):
            return Types("float", "float")
        exact = [*self.inputs, *(name for _, name in self.scalars)]
        if dtype == "FLOAT16":  # attributes have more digits, and so has what is scaled: the first input
            exact = list(self.inputs)["scaled" in self.kernel.definition.roles :]
        if rounds_once(self.node, exact):
            return Types("float", "float")
        return Types("float", "double", "DMLCY_SAME" if dtype == "FLOAT32" else "dmlcy_odd")

    def loop(self, types: Types, dtypes: list[str]) -> ElementLoop:
        """The loop for some data types; raises NotCompiled."""
        names = {name: f"x{number}" for number, name in enumerate(self.inputs)}
        names |= {name: name for _, name in self.scalars}
        functions = types.wide is None and has_functions(self.node)
        special = C(names, types.work, self.members).special(self.node) if functions else None
        ending = dtypes[0] if len(dtypes) == 1 else types.element.removesuffix("_t").upper() + "S"
        return ElementLoop(
            name=f"{self.operator.python}_{ending}",
            dtypes=tuple(dtypes),
            inputs=tuple(self.input(field, types) for field in self.inputs.values()),
            element=types.element if self.operator.outputs[0].types == self.varied.types else "uint8_t",
            scalars=tuple((types.work if ctype == "float" else ctype, name) for ctype, name in self.scalars),
            result=result(self.node, names, self.members, types),
            store=types.store,
            steady=types.element == "float" and not functions and len(self.inputs) > 1,
            halves=types.element == "float" and not functions and "FLOAT16" in dtypes,
            functions=functions,
            special=special,
            ordinary=special and Ordinary(names, types.work, self.members).expression(self.node),
        )

    def input(self, field: Field, types: Types) -> tuple[str, str]:
        """The types of the elements of an input, and of the numbers that the result reads of them."""
        if field.types == self.varied.types:
            return types.element, types.work
        (dtype,) = dtypes_of(self.operator, field)
        own = integer_of(dtype, self.facts, True)
        return own, own


def result(node: Node, names: Mapping[str, str], members: Mapping[str, Mapping[str, int]], types: Types) -> str:
    """The expression of an element in C."""
    if types.wide is None:
        return C(names, types.work, members).expression(node)
    return Whole(names, types.work, members, types.wide).expression(node)
