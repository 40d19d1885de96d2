"""The values of an operator's names and formulas in one of its examples.

A formula is run as the Python that the package runs for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from ..families.base import Place
from ..field_types import type_of
from ..model import Example, TensorData
from ..plan import FieldPlan, OperatorPlan

KNOWN = {"__builtins__": {}, "math": math} | {
    function.__name__: function for function in (abs, all, any, float, len, max, min, range, sum)
}


class Elements:
    """A tensor of an example, whose elements are found by their places."""

    def __init__(self, tensor: TensorData) -> None:
        self.sizes, self.dtype, self.data = tensor.sizes, tensor.dtype, tensor.data

    def __getitem__(self, place: Place) -> Any:
        found = self.data
        for index in place:
            found = found[index]
        return found


class Evaluated:
    """An example of an operator."""

    def __init__(self, op: OperatorPlan, example: Example) -> None:
        self.input, self.output = op.inputs[0].python, op.output.python
        self.names = SimpleNamespace()
        self.python = {key: said.python for key, said in op.kernel.definition.formulas.items()}
        for name, tensor in {**example.inputs, **example.outputs}.items():
            setattr(self.names, name, Elements(tensor))
        for name, chosen in op.chosen_in(example).items():
            setattr(self.names, name, chosen)
        for let in op.lets:
            setattr(self.names, let.name, self.run(f"lambda {let.index or ''}: {let.python}"))
        for item in sorted(op.fields, key=lambda item: item.value is not None):
            if not item.field.is_tensor:
                setattr(self.names, item.field.python, self.attribute(item, example))

    def run(self, python: str) -> Any:
        """The value of an expression over ``self``."""
        return eval(python, {**KNOWN, "self": self.names})

    def attribute(self, item: FieldPlan, example: Example) -> Any:
        """An attribute: of the example, by default, or from other fields; one value fills an array."""
        if item.value is not None:
            return self.run(item.value.python)
        value = example.attributes.get(item.field.python, item.field.default)
        if item.length is not None and not isinstance(value, list):
            return (value,) * int(self.run(item.length.python))
        return type_of(item.field).evaluated(value)

    def sizes(self, tensor: str) -> Place:
        """The sizes of a tensor."""
        found: Place = getattr(self.names, tensor).sizes
        return found

    def element(self, tensor: str, place: Place) -> Any:
        """An element of a tensor."""
        return getattr(self.names, tensor)[place]

    def has(self, name: str) -> bool:
        """Whether a field has a value."""
        return getattr(self.names, name, None) is not None

    def value(self, name: str) -> Any:
        """The value of a field, or of a let without an index."""
        found = getattr(self.names, name)
        return found() if callable(found) else found

    def values(self, name: str, count: int) -> Sequence[int]:
        """The entries of an array, or the values of a let that has an index."""
        found = getattr(self.names, name)
        return tuple(int(found(d) if callable(found) else found[d]) for d in range(count))

    def of(self, key: str, **names: Any) -> Any:
        """The value of an expression of ``[kernel]``, over the names that the family reserves."""
        self.names.__dict__.update(names)
        return self.run(self.python[key])
