"""One class per operator: the desc that DirectML's DML_*_OPERATOR_DESC struct is."""

from dmlcy._desc.operator_desc import OperatorDesc, ScaleBias, Size2D
from dmlcy._generated import index as _index
from dmlcy._words.later import later as _later

_HOMES = {desc: f"dmlcy._generated.descs.{name.lower()}" for name, (_, desc, *_) in _index.OPERATORS.items()}

__all__ = ["OperatorDesc", "ScaleBias", "Size2D"]
__all__ += _HOMES

__getattr__ = _later(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
