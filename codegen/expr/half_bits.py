"""Nodes to C over the bits of FLOAT16: results that are an element with another sign, or chosen by comparisons with 0.

Bits are ``uint16_t``. The bits of -0 are 0x8000, the bits of infinity 0x7c00. NaN has more than infinity without
the sign.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from .nodes import Call, Choice, Compare, Name, Negate, Node, NotCompiled, Number

WITH_ZERO = {
    ">": "((uint16_t)({0} - 1u) < 0x7c00u)",
    "<": "((uint16_t)({0} - 0x8001u) < 0x7c00u)",
    ">=": "(({0} <= 0x7c00u) | ({0} == 0x8000u))",
    "<=": "(({0} == 0) | ((uint16_t)({0} - 0x8000u) <= 0x7c00u))",
    "==": "(({0} & 0x7fffu) == 0)",
    "!=": "(({0} & 0x7fffu) != 0)",
}
"""Whether an element compares with 0."""


@dataclass(frozen=True, slots=True)
class HalfBits:
    """Renders the expression of an element. ``names``: what the bits of each element are."""

    names: Mapping[str, str]

    def expression(self, node: Node) -> str:
        """The bits of the result; raises NotCompiled where it is another number than the elements and those said."""
        match node:
            case Name(id=name) if name in self.names:
                return self.names[name]
            case Number(value=value):
                return self.number(node, float(value))
            case Negate(operand=Number(value=value)):
                return self.number(node, -float(value))
            case Negate(operand=operand):
                return f"({self.expression(operand)} ^ 0x8000u)"
            case Call(function="abs", args=(operand,)):
                return f"({self.expression(operand)} & 0x7fffu)"
            case Choice(test=Compare(op=op, left=left, right=Number(value=0)), then=then, other=other):
                test = WITH_ZERO[op].format(self.expression(left))
                return f"({test} ? {self.expression(then)} : {self.expression(other)})"
        raise NotCompiled("no loop computes this of bits of FLOAT16", node.at, node.length)

    def number(self, node: Node, value: float) -> str:
        """The bits of a number that FLOAT16 has."""
        try:
            bits = struct.pack("<e", value)
        except OverflowError:
            bits = struct.pack("<e", 0)
        if struct.unpack("<e", bits) != (value,):
            raise NotCompiled("FLOAT16 does not have this number", node.at, node.length)
        return f"0x{int.from_bytes(bits, 'little'):04x}u"
