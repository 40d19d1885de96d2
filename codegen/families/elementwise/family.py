"""elementwise: each element of an output is an expression of the elements at the same place.

``result`` is the expression, over the names of the inputs, or over ``x`` if there is one input; several outputs have a
table of expressions. ``integers`` is in its place where all elements are integers. ``magnitudes`` is how large the
terms of the result are, where the accuracy is of them. ``devices`` is another form of ``result``, which some devices
compute. ``acc = "FLOAT64"``: loops compute floats in FLOAT64 and round once; without it each operation is rounded to
FLOAT32, a product and what is added to it as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...diagnostics import Diagnostics
from ...expr.nodes import Name
from ...expr.types import Kind, Symbol
from ...field_types import type_of
from ...model import Facts, Field, Operator
from ...source import Table
from ..base import Definition, Evaluated, KernelTable, Looped, local
from .loops import ElementLoop, Loops
from .operands import Made

ALL = (Kind.FLOAT, Kind.INT)
BITS = "bits"


@dataclass(frozen=True, slots=True)
class ElementKernel:
    """The view of the templates; without loops it is of no use to them.

    ``struct`` has the values that the loops read of the operator, ``members`` and ``once``. ``scaled`` is the field
    with the scale and the bias of the first input, ``fused`` the field with the activation of the result. ``moved``:
    the results are the elements of the input, where these get no scale and the data types are the same. ``converts``:
    in place of ``loops``, the elements are converted; ``blocks``: an element of an input may be for a block. Loops says
    more.
    """

    struct: str
    members: tuple[tuple[str, str, str], ...]
    once: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    tensors: tuple[Made, ...]
    scaled: str | None
    fused: str | None
    moved: bool
    loops: tuple[ElementLoop, ...]
    converts: bool
    blocks: bool
    definition: Definition


class Elementwise(Looped, Evaluated):
    """The family."""

    name = "elementwise"
    told: ClassVar = {"scaled": (Kind.FLOAT, "the element of the first input after the scale and the bias")}
    takes_arrays = takes_halves = True

    def plan(self, operator: Operator, facts: Facts, diagnostics: Diagnostics) -> ElementKernel:
        """Reads the expressions."""
        kernel = KernelTable(operator, facts, diagnostics)
        table = kernel.table
        if table is None:
            return ElementKernel("", (), (), (), (), None, None, False, (), False, False, kernel.definition)
        bits = table.has("elements") and kernel.word("elements", table.choice("elements", (BITS,))) == BITS
        if table.has("acc"):
            kernel.word("acc", table.choice("acc", ("FLOAT64",)))
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
        loops = Loops(kernel, bits)
        roles = kernel.definition.roles
        moved = self.moved(kernel)
        always = moved and "scaled" not in roles and operator.inputs[0].types == operator.outputs[0].types
        return ElementKernel(
            struct=f"{operator.desc}Attributes",
            members=loops.members,
            once=loops.once,
            inputs=loops.inputs,
            tensors=loops.tensors,
            scaled=roles.get("scaled"),
            fused=roles.get("fused"),
            moved=moved,
            loops=() if always else loops.made,
            converts=loops.converts,
            blocks=any(type_of(field).several for field in operator.inputs),
            definition=kernel.definition,
        )

    @staticmethod
    def moved(kernel: KernelTable) -> bool:
        """Whether the result is the element of the only input."""
        result = kernel.definition.formulas.get("result")
        return result is not None and isinstance(result.node, Name) and result.node.id == "x"

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
        scaled = (
            {"scaled": local(self.told["scaled"][0])}
            if any(type_of(field).scales for field in operator.attributes)
            else {}
        )
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
        """The data types that a tensor may have, floats first."""
        dtypes = [name for row in operator.types[field.types or ""] for name in row.dtypes]
        if any(name.startswith("FLOAT") for name in dtypes):
            yield Kind.FLOAT
        if not all(name.startswith("FLOAT") for name in dtypes):
            yield Kind.INT


FAMILY = Elementwise()
