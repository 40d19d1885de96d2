"""Results over the bits of FLOAT16: of all 65,536 elements, and of formulas that have none."""

from __future__ import annotations

import operator
import re
from typing import Any

import numpy as np
import pytest

from codegen.expr.half_bits import WITH_ZERO, HalfBits
from codegen.expr.nodes import NotCompiled
from codegen.expr.parse import parse

BITS = np.arange(1 << 16)
COMPARED = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def computed(text: str) -> Any:
    """The value of a text of C for all elements, whose parts mean the same in Python."""
    python = re.sub(r"(?<=[\da-f])u\b", "", text)
    return eval(python, {"x": BITS, "uint16_t": lambda number: number & 0xFFFF})


@pytest.mark.parametrize("op", WITH_ZERO)
def test_comparisons_with_zero(op: str) -> None:
    expected = COMPARED[op](BITS.astype(np.uint16).view(np.float16), np.float16(0))
    assert np.array_equal(computed(WITH_ZERO[op].format("x")).astype(bool), expected)


def test_results() -> None:
    bits = HalfBits({"x": "x0", "y": "x1"})
    assert bits.expression(parse("-abs(x)")) == "((x0 & 0x7fffu) ^ 0x8000u)"
    assert bits.expression(parse("y if x >= 0 else -1.5")) == f"({WITH_ZERO['>='].format('x0')} ? x1 : 0xbe00u)"
    for other in ("x + y", "0.1", "1e6", "x if x > 1 else y", "x if x > y else y", "alpha"):
        with pytest.raises(NotCompiled):
            bits.expression(parse(other))
