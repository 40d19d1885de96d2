"""elementwise: each element of an output is an expression of the elements at the same place.

``result`` is the expression, over the names of the inputs, or over ``x`` if there is one input; several outputs have a
table of expressions. ``integers`` is in its place where all elements are integers. ``magnitudes`` is how large the
terms of the result are, where the accuracy is of them. ``devices`` is another form of ``result``, which some devices
compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...diagnostics import Diagnostics
from ...expr.c import C, Whole, has_no_sign, moves, rounds_once
from ...expr.nodes import NotCompiled
from ...expr.types import Kind, Symbol
from ...field_types import type_of
from ...model import Facts, Field, Operator
from ...source import Table
from ..base import Definition, Evaluated, KernelTable, Looped, attribute_locals, local

ALL = (Kind.FLOAT, Kind.INT)
BITS = "bits"
MOST_INPUTS = 5  # of elements.pxd
FOR_TRUTH = ("UINT8", "UINT32")
"""The data types of outputs that loops give bytes for: elements.pyx makes numbers of them."""
HELD = ("FLOAT32", "FLOAT16")
"""The data types whose elements are floats to a loop."""


def element_of(dtype: str, facts: Facts, bits: bool) -> str:
    """The type in C of the elements of a data type, or of their bits."""
    unsigned = f"uint{facts.dtype(dtype).bits}_t"
    return unsigned if bits or dtype.startswith("UINT") else unsigned.removeprefix("u")


@dataclass(frozen=True, slots=True)
class ElementLoop:
    """A loop: the data types that it takes, and how it computes an element of them.

    ``inputs``: the types of the elements of each input, and of the numbers that the result reads of them; ``element``:
    that of the output; ``scalars``: the types of the attributes.
    """

    name: str
    dtypes: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...]
    element: str
    scalars: tuple[tuple[str, str], ...]
    result: str
    store: str


@dataclass(frozen=True, slots=True)
class ElementKernel:
    """The view of the templates; without loops it is of no use to them.

    ``varied``: the input whose data type says which loop runs; ``bits``: whether loops take the bits of elements.
    """

    struct: str
    scalars: tuple[tuple[str, str], ...]
    inputs: int
    varied: str
    scaled: str | None
    bits: bool
    loops: tuple[ElementLoop, ...]
    definition: Definition


class Elementwise(Looped, Evaluated):
    """The family."""

    name = "elementwise"

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ElementKernel:
        """Reads the expressions."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is None:
            return ElementKernel("", (), 0, "", None, False, (), kernel.definition)
        bits = table.has("elements") and kernel.word("elements", table.choice("elements", (BITS,))) == BITS
        kernel.fused()
        for field in operator.attributes:
            if type_of(field).scales:
                kernel.definition.roles["scaled"] = field.python
        self.words(kernel, table, "tensors")
        kernel.absent(*ALL)
        self.along(kernel, table)
        kinds = [Kind.INT] if bits else list(self.kinds(operator, operator.inputs[0]))
        single = "integers" not in table.keys()
        for kind in kinds if single else kinds[:1]:
            self.results(kernel, table, "result", kind, bits)
        if not single:
            self.results(kernel, table, "integers", Kind.INT, bits)
        for key in ("magnitudes", "devices"):
            if key in table.keys():
                self.results(kernel, table, key, kinds[0], bits)
        kernel.finish()
        self.fits(kernel)
        definition = kernel.definition
        members = {
            field.python: {member.name: member.value for member in facts.enums[field.enum].members}
            for field in operator.attributes
            if field.enum is not None
        }
        scalars = (*attribute_locals(operator), *(("int64_t", name) for name in members))
        inputs = {"x" if len(operator.inputs) == 1 else field.python: field for field in operator.inputs}
        varied = max(operator.inputs, key=lambda field: len(self.dtypes(operator, field)))
        alike = [name for name, field in inputs.items() if field.types == varied.types]
        bits = bits or (not definition.lacks and moves(definition.formulas["result"].node, alike))
        loops: tuple[ElementLoop, ...] = ()
        if not definition.lacks and not diagnostics.errors:
            loops = tuple(self.loops(kernel, inputs, varied, scalars, members, bits))
        return ElementKernel(
            struct=f"{operator.desc}Attributes",
            scalars=scalars,
            inputs=len(inputs),
            varied=varied.python,
            scaled=definition.roles.get("scaled"),
            bits=bits,
            loops=loops,
            definition=definition,
        )

    def fits(self, kernel: KernelTable) -> None:
        """Notes what keeps the engine of the loops from taking the tensors and attributes of an operator."""
        operator, definition = kernel.operator, kernel.definition
        output, *others = operator.outputs
        inputs = {field.types: self.dtypes(operator, field) for field in operator.inputs}
        scales = "scaled" in definition.roles
        if [*definition.formulas] != ["result"] or {*definition.words} - {"elements"}:
            kernel.lack("no loop computes more than one expression yet")
        elif others or len(operator.inputs) > MOST_INPUTS:
            kernel.lack(f"no loop takes more than {MOST_INPUTS} inputs and one output yet")
        elif sum(len(dtypes) > 1 for dtypes in inputs.values()) > 1 or any(one.optional for one in operator.inputs):
            kernel.lack("no loop takes inputs of several data types each yet")
        elif output.types not in inputs and not {*self.dtypes(operator, output)} <= {*FOR_TRUTH}:
            kernel.lack("no loop converts elements yet")
        elif "fused" in definition.roles:
            kernel.lack("no loop applies a fused activation yet")
        elif scales and not all(name.startswith("FLOAT") for name in self.dtypes(operator, output)):
            kernel.lack("no loop scales integers yet")

    @staticmethod
    def dtypes(operator: Operator, field: Field) -> list[str]:
        """The data types of a tensor."""
        rows = operator.types[field.types or ""]
        return [*dict.fromkeys(name for row in rows for name in row.dtypes)]

    def loops(
        self,
        kernel: KernelTable,
        inputs: Mapping[str, Field],
        varied: Field,
        scalars: Sequence[tuple[str, str]],
        members: Mapping[str, Mapping[str, int]],
        bits: bool,
    ) -> Iterator[ElementLoop]:
        """The loops of an operator; where one cannot be made, what lacks is noted."""
        operator, facts = kernel.operator, kernel.facts
        node = kernel.definition.formulas["result"].node
        names = {name: f"x{number}" for number, name in enumerate(inputs)} | {name: name for _, name in scalars}
        groups: dict[tuple[str, str, str], list[str]] = {}
        for dtype in self.dtypes(operator, varied):
            once = rounds_once(node, names if dtype == "FLOAT32" else inputs)
            key = element_of(dtype, facts, bits or has_no_sign(node)), "", "DMLCY_SAME"
            if dtype in HELD and not bits:
                # The numbers of an attribute have more digits than those of FLOAT16.
                key = "float", "float" if once else "double", "DMLCY_SAME" if once or dtype == "FLOAT32" else "dmlcy_odd"
            elif dtype == "FLOAT64" and not bits:
                kernel.lack("no loop computes FLOAT64 yet")
                return
            groups.setdefault(key, []).append(dtype)
        for (element, work, store), dtypes in groups.items():
            kind = work or element
            wide = "uint64_t" if element.endswith("64_t") else "uint32_t"
            try:
                result = (C(names, kind, members) if work else Whole(names, kind, members, wide)).expression(node)
            except NotCompiled as error:
                kernel.lack(f"in result, {error.message}")
                return
            others = {field.python: element_of(self.dtypes(operator, field)[0], facts, True) for field in inputs.values()}
            takes = tuple(
                (element, kind) if field.types == varied.types else (others[field.python],) * 2
                for field in inputs.values()
            )
            ending = dtypes[0] if len(dtypes) == 1 else element.removesuffix("_t").upper() + "S"
            yield ElementLoop(
                name=f"{operator.python}_{ending}",
                dtypes=tuple(dtypes),
                inputs=takes,
                element=element if operator.outputs[0].types == varied.types else "uint8_t",
                scalars=tuple((kind if ctype == "float" else ctype, name) for ctype, name in scalars),
                result=result,
                store=store,
            )

    def needs(self, kernel: ElementKernel) -> Sequence[str]:
        """No let."""
        return ()

    def module(self, kernels: Sequence[ElementKernel]) -> Mapping[str, Any]:
        """All loops."""
        return {"kernels": kernels}

    def results(self, kernel: KernelTable, table: Table, key: str, kind: Kind, bits: bool) -> None:
        """The expression at a key, or one for each output in a table; ``kind``: what the elements of the inputs are."""
        names = self.names(kernel.operator, kernel.definition.words, kind, bits)
        if len(kernel.operator.outputs) == 1:
            kernel.formula(table, key, names, *ALL, Kind.BOOL)
            return
        inner = table.table(key, required=True)
        if inner is not None:
            for output in kernel.operator.outputs:
                kernel.formula(inner, output.python, names, *ALL, Kind.BOOL)
            inner.finish()

    def names_of_conditions(self, operator: Operator, facts: Facts) -> Mapping[str, Symbol]:
        """The elements of the inputs at the place, by the names of the inputs."""
        assert operator.kernel is not None
        tensors = operator.kernel.data.get("tensors", {})
        names = self.names(operator, {f"tensors.{name}": own for name, own in tensors.items()}, Kind.FLOAT, False)
        scaled = {"scaled": local(Kind.FLOAT)} if any(type_of(field).scales for field in operator.attributes) else {}
        return {operator.inputs[0].python if name == "x" else name: symbol for name, symbol in names.items()} | scaled

    def words(self, kernel: KernelTable, table: Table, key: str) -> None:
        """A table of names."""
        inner = table.table(key) if table.has(key) else None
        if inner is not None:
            for name in inner.keys():
                kernel.word(f"{key}.{name}", inner.str(name))
            inner.finish()

    def along(self, kernel: KernelTable, table: Table) -> None:
        """The axes along which arrays have an entry for each index."""
        inner = table.table("along") if table.has("along") else None
        if inner is not None:
            for name in inner.keys():
                kernel.word(f"along.{name}", str(inner.int(name)))
            inner.finish()

    def names(self, operator: Operator, words: Mapping[str, str], kind: Kind, bits: bool) -> dict[str, Symbol]:
        """The elements of the inputs, and attributes that have the data type of a tensor."""
        found: dict[str, Symbol] = {}
        for field in operator.inputs:
            if type_of(field).several:  # tensors of several data types
                own = words.get(f"tensors.{field.python}", "").split()
                found |= dict.fromkeys(own, local(Kind.FLOAT))
                continue
            kinds = [Kind.INT] if bits else list(self.kinds(operator, field))
            found["x" if len(operator.inputs) == 1 else field.python] = local(kind if kind in kinds else kinds[0])
        for field in operator.attributes:
            if type_of(field).of_elements:
                found[field.python] = local(Kind.FLOAT if type_of(field).array else kind)
        return found

    @staticmethod
    def kinds(operator: Operator, field: Field) -> Iterator[Kind]:
        """What the elements of a tensor may be, floats first."""
        dtypes = [name for row in operator.types[field.types or ""] for name in row.dtypes]
        if any(name.startswith("FLOAT") for name in dtypes):
            yield Kind.FLOAT
        if not all(name.startswith("FLOAT") for name in dtypes):
            yield Kind.INT


FAMILY = Elementwise()
