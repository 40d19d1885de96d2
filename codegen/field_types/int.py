"""A signed integer."""

from .base import Integer


class Int(Integer):
    """INT."""

    directml = "INT"
    limits = (-(2**31), 2**31 - 1)


TYPE = Int()
