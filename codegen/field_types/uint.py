"""An unsigned integer."""

from .base import Integer


class Uint(Integer):
    """UINT."""

    directml = "UINT"


TYPE = Uint()
