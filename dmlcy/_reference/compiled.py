"""Compiled operators that the reference computes."""

from __future__ import annotations

from functools import cache
from inspect import Parameter, Signature
from typing import Any

from dmlcy._desc.check import refuse_call, refuse_desc
from dmlcy._desc.memory import dtype_of, must_be_packed
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._facts.dtypes import numpy_dtype
from dmlcy._facts.tables import OPERATORS
from dmlcy._field_types.tensor_array import by_path
from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._reference.call import faces_of, parts_of, run, use_of_desc
from dmlcy._runtime.compiled import CompiledOperator
from dmlcy._runtime.tensor import to_array


class ReferenceOperator(CompiledOperator):
    """An operator that was checked once, and is computed by the reference."""

    def __init__(self, desc: OperatorDesc, level: int) -> None:
        if desc._violations(level):
            refuse_desc(desc, level)
        for kind in ("input", "output"):
            for path, tensor in by_path(desc.operator.fields, kind, desc._values()):
                must_be_packed(tensor, path)
        self._desc, self._level = desc, level
        self._faces = faces_of(desc.operator.name)
        self._use = use_of_desc(desc)
        self._inputs = {name: self._tensors(getattr(desc, name)) for name, _ in self._faces.inputs}

    @staticmethod
    def _tensors(value: Any) -> list[Any]:
        several = value if type(value) is tuple else (value,)
        return [(numpy_dtype(dtype_of(one)), one.sizes) for one in several if type(one) is TensorDesc]

    @property
    def desc(self) -> OperatorDesc:
        """What is computed."""
        return self._desc

    @property
    def __signature__(self) -> Signature:
        """How it is called: the inputs of the operator, and ``out``."""
        inputs = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in self._inputs]
        return Signature([*inputs, Parameter("out", Parameter.KEYWORD_ONLY, default=None)])

    def __call__(self, *inputs: Any, out: Any = None, **named: Any) -> Any:
        given = self._given(inputs, named)

        def refused() -> None:
            refuse_call(self._desc, given | {"out": out})

        arrays: dict[str, Any] = {}
        for name, tensors in self._inputs.items():
            value = given[name]
            if value is None and not tensors:
                continue
            several = type(getattr(self._desc, name)) is tuple
            found = parts_of(value, to_array) if several else (to_array(value),)
            if (
                found is None
                or len(found) != len(tensors)
                or any(
                    array is None or (array.dtype, array.shape) != tensor
                    for array, tensor in zip(found, tensors, strict=True)
                )
            ):
                refused()
            assert found is not None
            arrays[name] = found if several else found[0]
        return run(self._use, self._faces, arrays, out, refused)

    def _given(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """The inputs by their names."""
        names = [*self._inputs]
        what = f"{self._desc.operator.python}()"
        if len(inputs) > len(names):
            raise TypeError(f"{what} takes {len(names)} positional arguments but {len(inputs)} were given")
        given = dict(zip(names, inputs, strict=False))
        for name, value in named.items():
            if name not in names:
                raise TypeError(f"{what} got an unexpected keyword argument {name!r}")
            if name in given:
                raise TypeError(f"{what} got multiple values for argument {name!r}")
            given[name] = value
        for name, value in given.items():
            if value is not None and getattr(self._desc, name) is None:
                other = "Compile a desc with it, or give the arguments behind it by name."
                raise TypeError(f"{what} takes no {name}: the compiled desc leaves it out. {other}")
        absent = [name for name in names if name not in given and self._inputs[name]]
        if absent:
            raise TypeError(f"{what} missing required argument {absent[0]!r}")
        return {name: given.get(name) for name in names}

    def __reduce__(self) -> Any:
        return compiled, (self._desc, self._level)

    def __repr__(self) -> str:
        path = ", path='reference'" if self._desc.operator.state == "fast" else ""
        return f"compile({self._desc!r}{path})"


@cache
def class_of(name: str) -> type[ReferenceOperator]:
    """The class of the compiled operators of that name."""
    operator = OPERATORS[name]
    doc = f"{name}, checked once: called with arrays of the sizes and data types of its desc."
    members = {"__doc__": doc, "__module__": ReferenceOperator.__module__}
    return type(f"{operator.desc}Operator", (ReferenceOperator,), members)


def compiled(desc: OperatorDesc, level: int) -> ReferenceOperator:
    """An operator for a desc that is valid at the level of that position."""
    return class_of(desc.operator.name)(desc, level)
