"""One class per operator: the desc that DirectML's DML_*_OPERATOR_DESC struct is."""

from dmlcy._generated import desc as _desc
from dmlcy._generated.desc import *  # noqa: F403

__all__ = _desc.__all__
