"""The descs of several operators: activations."""

from ..expr.types import Kind
from ..model import Field
from .base import Binding, Descs, Taken


class OperatorDescArray(Descs):
    """const DML_OPERATOR_DESC*, with a length that the spec states. Expressions read ``len``."""

    bound = "activations"
    kind = Kind.OPERATORS
    dumped = "operations"
    array = True
    errors = (*Descs.errors, "length")
    summary = "sequence of descs of activations"
    held = "tuple[OperatorDesc, ...]"
    given = "Sequence[OperatorDesc]"
    argument = "_Activations"

    def taken(self, field: Field, binding: Binding) -> Taken:
        name, count = field.python, binding.count(field)
        return Taken(
            (f"PyObject* {name}", f"Activation {name}_loops[MAX_RANK]"),
            f'take_descs(<object>keywords.{name}, {count}, "{binding.name()}", "{name}", level, &a.{name},'
            f" a.{name}_loops)",
            f"desc_of(a.{name})",
        )


TYPE = OperatorDescArray()
