"""Operator descs, and what can be asked of them: a check, the lowest level."""

from dmlcy._desc.classes import desc_class
from dmlcy._field_types.values import Nested

Nested._class_of = staticmethod(desc_class)
