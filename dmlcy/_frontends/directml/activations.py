"""Activations that an operator applies to its result."""

from __future__ import annotations

from dmlcy._desc.classes import desc_class
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types import type_of
from dmlcy._field_types.float import Float
from dmlcy._frontends.directml.tensors import name_of
from dmlcy._generated.directml.enums import OperatorType
from dmlcy._words.values import show


class Activation:
    """The parts of a FusedActivation: the operator, and its first two float parameters."""

    def __init__(self, activation: OperatorType, param_1: float = 0.0, param_2: float = 0.0) -> None:
        self.activation: OperatorType = activation
        self.param_1: float = param_1
        self.param_2: float = param_2
        self._desc()  # refuses here, in the user's own line, what is no activation

    def _desc(self) -> OperatorDesc | None:
        name = name_of(self.activation)
        if name == OperatorType.INVALID.name:
            return None
        if name not in OPERATORS:
            raise TypeError(
                f"FusedActivation takes a member of OperatorType, such as OperatorType.ACTIVATION_RELU, not "
                f"{show(self.activation)}"
            )
        floats = [field.python for field in OPERATORS[name].fields if isinstance(type_of(field.type), Float)]
        try:
            desc: OperatorDesc = desc_class(name)(**dict(zip(floats, (self.param_1, self.param_2), strict=False)))
        except TypeError:  # it has other fields that must be given
            raise TypeError(f"FusedActivation takes an activation, not {name}") from None
        return desc
