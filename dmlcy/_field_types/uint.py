"""An unsigned integer."""

from __future__ import annotations

from dmlcy._field_types.integers import Integer


class Uint(Integer):
    """UINT."""

    directml = "UINT"
    serialized = "UInt32"


TYPE = Uint
