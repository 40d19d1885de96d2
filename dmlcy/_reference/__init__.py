"""What a spec says that its operator gives, element by element and exact: the oracle of results.

It is made of ``[kernel]``, like the loops, and shares nothing else with them: no Cython, no floating-point sum. It is
slow: some microseconds per element that is looked at.
"""

from __future__ import annotations

from dmlcy._reference.expected import Expected, expected

__all__ = ["Expected", "expected"]
