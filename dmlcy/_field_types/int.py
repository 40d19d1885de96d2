"""A signed integer."""

from __future__ import annotations

from dmlcy._field_types.integers import Integer


class Int(Integer):
    """INT."""

    directml = "INT"
    serialized = "Int32"
    limits = (-(2**31), 2**31 - 1)


TYPE = Int
