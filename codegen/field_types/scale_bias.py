"""A scale and a bias, applied to each element of an input."""

from .base import FieldType


class ScaleBias(FieldType):
    """DML_SCALE_BIAS."""

    directml = "DML_SCALE_BIAS"


TYPE = ScaleBias()
