"""Tests made of the specs, for code that uses the operators, for a GPU, or for another backend.

``descs`` draws valid descs over the whole domain of an operator, ``inputs`` arrays of any layout for one of them,
``cases`` both. ``assert_result`` compares a result with what the spec defines, by what a correct device may differ by;
``expected`` is that definition, exact and slow. ``broken_descs`` and ``broken_inputs`` draw what is to be refused, with
the one violation that says why. All this needs Hypothesis: ``pip install dmlcy[testing]``. See docs/testing.md.
"""

from __future__ import annotations

try:
    import hypothesis as _hypothesis
except ImportError:
    raise ImportError("dmlcy.testing needs Hypothesis: pip install dmlcy[testing]") from None

from dmlcy._reference import Expected, expected
from dmlcy._testing.arrays import broken_inputs, cases, inputs, specials
from dmlcy._testing.broken import broken_descs
from dmlcy._testing.descs import descs
from dmlcy._testing.results import assert_result

__all__ = [
    "Expected",
    "assert_result",
    "broken_descs",
    "broken_inputs",
    "cases",
    "descs",
    "expected",
    "inputs",
    "specials",
]

del _hypothesis

if __name__ == "__main__":
    import sys

    from dmlcy._conformance.command import program

    sys.exit(program())
