"""The desc of another operator: a fused activation."""

from ..expr.types import Kind
from ..model import Field
from .base import Binding, Descs, Taken


class OperatorDesc(Descs):
    """const DML_OPERATOR_DESC*."""

    bound = "activation"
    kind = Kind.OPERATOR
    dumped = "operation"
    may_be_nothing = True
    summary = "desc of an activation"
    held = "OperatorDesc"
    given = "OperatorDesc"
    argument = "_Activation"

    def taken(self, field: Field, binding: Binding) -> Taken:
        name = field.python
        return Taken(
            (f"PyObject* {name}", f"Activation {name}_loops"),
            f'take_desc(<object>keywords.{name}, {field.optional}, "{binding.name()}", "{name}", level, &a.{name},'
            f" &a.{name}_loops)",
            f"desc_of(a.{name})",
        )


TYPE = OperatorDesc()
