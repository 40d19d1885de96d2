"""The reference: what ``[kernel]`` says of an operator, evaluated.

Over arrays, it computes the operators that have no loops, and what ``compile(desc, path="reference")`` gives. Over
exact numbers, it is the oracle of tests, and takes some microseconds for each element. The loops share no code with it.
"""

from __future__ import annotations

from dmlcy._reference.expected import Expected, expected

__all__ = ["Expected", "expected"]
