"""How loops of elementwise compute the elements of some data types: in which types of C, and what of them is loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ...expr.c import OF_VALUES, REMAINDERS, C, Ordinary, Whole, has_functions, has_no_sign, moves
from ...expr.half_bits import HalfBits
from ...expr.nodes import Arith, Call, Choice, Compare, Name, Negate, Node, NotCompiled, Number
from ...model import Facts
from .operands import HELD, Operands, dtypes_of, integer_of

NARROW = 16
"""Bits of integers, and of sums of two of them, that are numbers of FLOAT32."""
LONG = 32
DIGITS = {"FLOAT32": 24, "FLOAT16": 11}


@dataclass(frozen=True, slots=True)
class Way:
    """How elements are computed.

    ``inputs``: for each input the data type of the numbers that a loop takes, or "" for elements as they are. Two more
    are their type in C, and the type of what a result reads of them; ``element``: the type of an element of an output;
    ``gives``: the data type of the numbers that a loop gives, or "". ``scalars``: the attributes that results read, as
    (C type, name, member of the struct); ``made``: what is computed of them, as (C type, name, expression). ``once``:
    what is computed before the loops run, as (name, expression).

    ``steady``: another loop reads one element of each input but the first; ``strips``: others compute short rows of
    FLOAT32, which products have just made; ``limits``: the least and the greatest result, with which products compute
    the result by themselves; ``halves``: another one takes FLOAT16 as it is in memory; ``functions``: the result calls
    functions of ``functions.h``: there is a text for the widest level, too. Where ``special`` holds for no element of a
    block, ``ordinary`` is the result, in fewer steps.
    """

    inputs: tuple[tuple[str, str, str], ...]
    element: str
    gives: str
    scalars: tuple[tuple[str, str, str], ...]
    made: tuple[tuple[str, str, str], ...]
    once: tuple[tuple[str, str], ...]
    results: tuple[str, ...]
    store: str = "DMLCY_SAME"
    steady: bool = False
    strips: bool = False
    limits: tuple[str, ...] | None = None
    halves: bool = False
    functions: bool = False
    special: str | None = None
    ordinary: str | None = None


class Ways:
    """Finds how the elements of each combination of data types are computed.

    ``nodes``: the results, by the outputs; ``integers``: the same where all elements are integers.
    """

    def __init__(
        self, operands: Operands, facts: Facts, nodes: Mapping[str, Node], integers: Mapping[str, Node], bits: bool
    ) -> None:
        self.acc = "acc" in operands.definition.words
        self.operands, self.facts = operands, facts
        self.nodes, self.integers, self.bits = nodes, integers, bits
        self.names = {name: f"x{number}" for number, name in enumerate(operands.elements)}
        self.half_bits: tuple[str, ...] | None = None  # the results of FLOAT16 over its bits, which need no conversion
        with contextlib.suppress(NotCompiled):
            self.half_bits = tuple(map(HalfBits(self.names).expression, nodes.values()))

    def all(self) -> Iterator[tuple[Mapping[str, str], bool, Way]]:
        """For each combination, and with a scale or without where this makes a difference, the way."""
        variables = self.operands.variables
        for dtypes in product(*variables.values()):
            given = dict(zip(variables, dtypes, strict=True))
            for scaled in (False, True) if self.operands.scaled else (False,):
                yield given, scaled, self.way(given, scaled)

    def way(self, dtypes: Mapping[str, str], scaled: bool) -> Way:
        """How elements of some data types are computed; raises NotCompiled."""
        elements = self.operands.dtypes_of_elements(dtypes)
        whole = not scaled and not any(dtype.startswith("FLOAT") for dtype in elements.values())
        nodes = self.integers if whole else self.nodes
        same = [name for name, dtype in elements.items() if dtype == elements[self.operands.varied]]
        if self.bits or (not scaled and all(moves(node, same) for node in nodes.values())):
            return self.moved(nodes, elements)
        if whole and not any(is_float(node) for node in nodes.values()):
            return self.whole(nodes, elements)
        halves = {*elements.values(), self.operands.dtype_of_output(dtypes)} == {"FLOAT16"}
        if halves and not scaled and self.half_bits is not None:
            bits = dict.fromkeys(elements, ("", "uint16_t", "uint16_t"))
            return self.made(bits, "uint16_t", "", (), {}, {}, self.half_bits)
        return self.floats(nodes, elements, dtypes, scaled)

    def moved(self, nodes: Mapping[str, Node], elements: Mapping[str, str]) -> Way:
        """The bits of elements."""
        types = {name: integer_of(dtype, self.facts, True) for name, dtype in elements.items()}
        kind = types[self.operands.varied]
        inputs = {name: ("", one, one) for name, one in types.items()}
        return self.integer(nodes, inputs, kind, self.given(kind))

    def whole(self, nodes: Mapping[str, Node], elements: Mapping[str, str]) -> Way:
        """Integers: of several data types, or where sums keep all bits, as numbers of 64 bits; narrow integers of 32
        bits.
        """
        bits = max(self.facts.dtype(dtype).bits for dtype in elements.values())
        parts = [part for node in nodes.values() for part in node.walk()]
        functions = {part.function for part in parts if isinstance(part, Call)}
        exact = any(isinstance(part, Call) and part.function in OF_VALUES and has_sums(part) for part in parts)
        if len({*elements.values()}) > 1 or "int_pow" in functions or exact:
            if bits > LONG or (exact and any(isinstance(part, Arith) and part.op not in "+-" for part in parts)):
                raise NotCompiled("no loop has integers of more than 64 bits yet")
            number, kind = "INT64", "int64_t"
        elif functions & {"div_trunc", *REMAINDERS} and (bits <= NARROW or elements[self.operands.varied] == "INT32"):
            number, kind = "INT32", "int32_t"
        else:
            same = all(has_no_sign(node) for node in nodes.values())
            number, kind = "", integer_of(elements[self.operands.varied], self.facts, same)
        gives = (kind, number) if number else self.given(kind)
        return self.integer(nodes, dict.fromkeys(elements, (number, kind, kind)), kind, gives, exact)

    def integer(
        self,
        nodes: Mapping[str, Node],
        inputs: Mapping[str, tuple[str, str, str]],
        kind: str,
        gives: tuple[str, str],
        exact: bool = False,
    ) -> Way:
        """Integers of a type of C."""
        made: dict[str, tuple[str, str]] = {}
        floats = [one.name for one in self.operands.scalars if one.whole is None]
        wide = "uint64_t" if kind.endswith("64_t") else "uint32_t"
        names = self.names | {one.name: one.name for one in self.operands.scalars}
        scalar = self.operands.names_of_scalars
        renderer = Whole(names, kind, self.operands.members, scalar, made, wide=wide, exact=exact, floats=floats)
        results = tuple(map(renderer.expression, nodes.values()))
        scalars = [
            ("double", one.name, one.field) if one.whole is None else (one.kind or kind, one.name, one.whole)
            for one in self.operands.scalars
        ]
        return self.made(inputs, *gives, scalars, made, {}, results)

    def floats(
        self, nodes: Mapping[str, Node], elements: Mapping[str, str], dtypes: Mapping[str, str], scaled: bool
    ) -> Way:
        """Floats, and integers as floats."""
        output = self.operands.dtype_of_output(dtypes)
        wide = scaled and elements[self.operands.varied] not in HELD
        if output not in HELD:
            nodes = {name: uncut(node) for name, node in nodes.items()}
        held = not wide and all(dtype in HELD for dtype in elements.values())
        if held and (output in HELD or self.operands.gives_truth):
            single = not self.acc
        else:
            single = not wide and all(self.is_single(node, elements, output) for node in nodes.values())
        work = "float" if single else "double"
        narrow = self.narrow(elements)
        whole = output not in HELD and all(quotient(node, narrow) is not None for node in nodes.values())
        short = single or held or (whole and all(name in narrow for name in elements))
        taken = ("FLOAT32", "float", work) if short else ("FLOAT64", "double", work)
        inputs = dict.fromkeys(elements, taken)
        odd = held and not single and output == "FLOAT16"
        if self.operands.gives_truth:
            element, gives = "uint8_t", "UINT8"
        elif single or whole or (held and output in HELD):
            element, gives = "float", "FLOAT32"
        else:
            element, gives = "double", "FLOAT64"
        made: dict[str, tuple[str, str]] = {}
        once: dict[str, str] = {}
        names = self.names | {one.name: one.name for one in self.operands.scalars}
        known = (names, work, self.operands.members, self.operands.names_of_scalars, made, once)
        expression = C(*known).expression
        results = tuple(map(expression, nodes.values()))
        if whole and not single:  # of what is rounded, floats are enough
            parts = filter(None, (quotient(node, narrow) for node in nodes.values()))
            results = tuple(f"(rintf((float){expression(x)}) + (float){expression(more)})" for x, more in parts)
        scalars = [(one.kind or work, one.name, one.field) for one in self.operands.scalars]
        scalars += [("double", name, name) for name in once.values()]
        found = self.made(inputs, element, gives, scalars, made, once, results, "dmlcy_odd" if odd else "DMLCY_SAME")
        return self.also(found, nodes, known) if single or held else found

    def also(self, way: Way, nodes: Mapping[str, Node], known: Any) -> Way:
        """The way with what other loops there are of it."""
        if len(nodes) > 1:
            return way
        (node,) = nodes.values()
        functions = has_functions(node) and "DMLCY_FUSED" in way.results[0]
        floats = all(element == "float" for _, element, _ in way.inputs)
        special = C(*known).special(node) if floats else None
        single = way.element == "float" and all(one == ("FLOAT32", "float", "float") for one in way.inputs)
        strips = single and not functions and special is None and len(way.inputs) <= 2
        bounds = limits(node) if strips and len(way.inputs) == 1 else None
        return replace(
            way,
            functions=functions,
            special=special,
            ordinary=special and Ordinary(*known).expression(node),
            steady=floats and len(way.inputs) > 1 and not functions,
            strips=strips,
            limits=bounds and tuple(C(*known).expression(one) if one else "INFINITY" for one in bounds),
            halves=floats and self.operands.may_be_halves and self.half_bits is None,
        )

    def made(
        self,
        inputs: Mapping[str, tuple[str, str, str]],
        element: str,
        gives: str,
        scalars: Collection[tuple[str, str, str]],
        made: Mapping[str, tuple[str, str]],
        once: Mapping[str, str],
        results: tuple[str, ...],
        store: str = "DMLCY_SAME",
    ) -> Way:
        """The way, with those attributes that the results read."""
        read = " ".join([*results, *(text for _, text in made.values())])
        return Way(
            inputs=tuple(inputs[name] for name in self.operands.elements),
            element=element,
            gives=gives,
            scalars=tuple(one for one in scalars if has_word(read, one[1])),
            made=tuple((kind, name, text) for name, (kind, text) in made.items()),
            once=tuple((name, text) for text, name in once.items()),
            results=results,
            store=store,
        )

    def given(self, kind: str) -> tuple[str, str]:
        """The type of the elements of an output, and the data type of the numbers that become them."""
        return ("uint8_t", "UINT8") if self.operands.gives_truth else (kind, "")

    def narrow(self, elements: Mapping[str, str]) -> dict[str, int]:
        """The bits of narrow integers: of elements, and of what is one element for all."""
        fields = {one.python: dtypes_of(self.operands.operator, one) for one in self.operands.single}
        given = {name: (dtype,) for name, dtype in elements.items()} | fields
        most = {name: max(self.facts.dtype(one).bits for one in dtypes) for name, dtypes in given.items()}
        return {name: most[name] for name, dtypes in given.items() if most[name] <= NARROW and not {*HELD} & {*dtypes}}

    def is_single(self, node: Node, elements: Mapping[str, str], output: str) -> bool:
        """Whether FLOAT32 gives what FLOAT64 gives: one operation rounds, and the sums of integers are exact.

        Functions of floats and narrow integers are computed in FLOAT32, too.
        """
        integers = {name: self.facts.dtype(dtype).bits for name, dtype in elements.items() if dtype not in HELD}
        if any(bits > NARROW for bits in integers.values()):
            return False
        if output in HELD and has_functions(node):
            return True
        if output not in HELD:
            parts = quotient(node, integers)
            return parts is not None and self.is_single(parts[0], elements, "FLOAT32")
        floats = {name: DIGITS[dtype] for name, dtype in elements.items() if dtype in HELD}
        return isinstance(node, Arith) and all(
            sum_bits(part, integers) <= DIGITS[output]
            or (isinstance(part, Name) and floats.get(part.id, DIGITS[output] + 1) <= DIGITS[output])
            for part in node.children()
        )


def limits(node: Node) -> tuple[Node, Node | None] | None:
    """The least and the greatest result, where it is the element or, beyond them, one of them, and NaN stays.

    ``None`` in place of the greatest is infinity.
    """
    match node:
        case Choice(
            Call("isnan", (Name(x),)),
            Name(same),
            Call("max", (Call("min", (Name(inner), Name() as greatest)), Name() as least)),
        ) if x == same == inner:
            return least, greatest
        case Choice(Compare("<=", Name(x), Number(0)), Number(0) as least, Name(same)) if x == same:
            return least, None
    return None


def has_word(text: str, word: str) -> bool:
    """Whether a name is in a text of C."""
    return word in text.replace("(", " ").replace(")", " ").replace(",", " ").split()


def is_float(node: Node) -> bool:
    """Whether a result of integers is a float: functions round it to one."""
    return any(isinstance(part, Call) and part.function in ("f32", "f64") for part in node.walk())


def has_sums(call: Call) -> bool:
    """Whether a function is given what arithmetic gives."""
    return any(isinstance(part, Arith | Negate) for arg in call.args for part in arg.walk())


def uncut(node: Node) -> Node:
    """The number that is cut to the range of the output: elements.pyx does it, too."""
    return node.args[0] if isinstance(node, Call) and node.function == "saturate" else node


def quotient(node: Node, integers: Mapping[str, int]) -> tuple[Node, Name] | None:
    """The number that is rounded to FLOAT32 and to a whole number, and the narrow integer that is added before the cut.

    FLOAT32 has all of the sums except the sums beyond the range of the data type.
    """
    match node:
        case Arith(
            op="+",
            left=Call(function="round_even", args=(Call(function="f32", args=(inner,)),)),
            right=Name(id=name) as more,
        ):
            return (inner, more) if name in integers else None
    return None


def sum_bits(node: Node, bits: Mapping[str, int]) -> int:
    """The bits of a sum of integers; more than any number has if it is none."""
    match node:
        case Name(id=name) if name in bits:
            return bits[name]
        case Arith(op="+" | "-", left=left, right=right):
            return max(sum_bits(left, bits), sum_bits(right, bits)) + 1
    return 1 << 10
