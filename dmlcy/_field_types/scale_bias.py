"""A scale and a bias, applied to each element of an input."""

from __future__ import annotations

from dmlcy._field_types.base import FieldType


class ScaleBias(FieldType):
    """DML_SCALE_BIAS."""

    directml = "DML_SCALE_BIAS"


TYPE = ScaleBias
