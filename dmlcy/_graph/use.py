"""From the arguments of a method of a graph to the desc of a node, with what follows filled in as in a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature
from typing import cast

from dmlcy._check.arguments import completed, too_many, unexpected
from dmlcy._check.checker import Check, wanted
from dmlcy._check.state import keyword
from dmlcy._desc.classes import desc_class
from dmlcy._desc.memory import resized, strides_of
from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._errors import Violation
from dmlcy._facts.levels import LEVEL
from dmlcy._facts.rows import MISSING
from dmlcy._field_types import type_of
from dmlcy._field_types.tensor_desc import Described, TensorDesc
from dmlcy._graph.loose import outputs_of_wrong
from dmlcy._reference.call import Faces, check_of, faces_of
from dmlcy._words.values import show


@dataclass(frozen=True, slots=True)
class Method:
    """An operator as it is called on a graph: as its function, with ``outputs`` and ``name`` in place of ``out``."""

    faces: Faces
    signature: Signature

    def bind(self, arguments: tuple[object, ...], named: Mapping[str, object]) -> dict[str, object]:
        """The arguments by their names, with the defaults; TypeError as the function of the operator raises it."""
        python, names = self.faces.operator.python, tuple(self.signature.parameters)
        for name in named:
            if name not in names:
                raise TypeError(unexpected(python, name, names))
        if len(arguments) > len(self.faces.inputs) and (message := too_many(python, len(arguments))):
            raise TypeError(message)
        try:
            bound = self.signature.bind(*arguments, **named)
        except TypeError as error:
            lacking = [
                name
                for name, one in self.signature.parameters.items()
                if one.kind is one.KEYWORD_ONLY and one.default is one.empty and name not in named
            ]
            inputs = [name for name, _ in self.faces.inputs]
            message = completed(python, f"{python}(): {error}", inputs, len(arguments), lacking)
            raise TypeError(message) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def desc(
        self, arguments: Mapping[str, object], tensors: Mapping[str, Described]
    ) -> tuple[OperatorDesc, Sequence[Violation]]:
        """The desc of a use, of the descs of its inputs and of given outputs, and what is wrong with it."""
        operator, level = self.faces.operator, LEVEL.get()
        said = {
            asked: cast(TensorDesc, tensors[output]).dtype
            for output, asked in self.faces.asked
            if output in tensors and (arguments[asked] is None or arguments[asked] is True)
        }
        check = check_of(self.faces, tensors, {**arguments, **said}, level)
        values = {field.python: _settled(check, field.python) for field in operator.fields if field.value is None}
        if check.violations:
            values |= outputs_of_wrong(check)
            check.search.without_arrays()
        desc = desc_class(operator.name)(**values)
        return desc, check.violations or desc._violations(level)

    def outputs(self, arguments: Mapping[str, object]) -> dict[str, Described]:
        """The descs of outputs that are given, by their names; TypeError for what are none."""
        given, python = arguments["outputs"], self.faces.operator.python
        if given is None:
            return {}
        fields = [field for field in self.faces.operator.fields if field.kind == "output"]
        there = [field for field in fields if not field.optional or wanted(arguments[keyword(field)])]
        several: list[TensorDesc | None] = []
        for one in given if isinstance(given, Sequence) else (given,):
            if one is not None and not isinstance(one, TensorDesc):
                raise TypeError(f"{python}() takes tensor descs as outputs, not {show(one)}.")
            several.append(one)
        if self.faces.array:
            return {there[0].python: cast("tuple[TensorDesc, ...]", tuple(several))}
        if len(several) != len(there):
            raise TypeError(f"{python}() has {len(there)} outputs, and was given the descs of {len(several)}.")
        return {field.python: one for field, one in zip(there, several, strict=True) if one is not None}


@cache
def method_of(name: str) -> Method:
    """The method of an operator."""
    faces = faces_of(name)
    operator = faces.operator
    optional = [operator.field(one).optional for one, _ in faces.inputs]
    parameters = [
        Parameter(one, Parameter.POSITIONAL_OR_KEYWORD, default=None if all(optional[place:]) else Parameter.empty)
        for place, (one, _) in enumerate(faces.inputs)
    ]
    for field in operator.parameters:
        default = Parameter.empty if field.default is MISSING else field.default
        default = None if field.default is MISSING and field.optional else default
        parameters.append(Parameter(field.python, Parameter.KEYWORD_ONLY, default=default))
    for output, request in faces.asked:
        asked = False if operator.field(output).optional else None
        parameters.append(Parameter(request, Parameter.KEYWORD_ONLY, default=asked))
    parameters += [Parameter(one, Parameter.KEYWORD_ONLY, default=None) for one in faces.sized]
    parameters.append(Parameter("outputs", Parameter.KEYWORD_ONLY, default=None))
    parameters.append(Parameter("name", Parameter.KEYWORD_ONLY, default=""))
    return Method(faces, Signature(parameters))


def _settled(check: Check, name: str) -> object:
    """The value of a field in a desc: that of the call; tensors have the leading axes of size 1 that a call may leave
    out.
    """
    value = check.resolved[name]
    kind = check.operator.field(name)
    if kind.kind == "attribute" or type_of(kind.type).tensors or type(value) is not TensorDesc:
        return value
    rank = len(check.tensors[name].sizes)
    return with_ones(value, rank) if type(value.sizes) is tuple and rank > len(value.sizes) else value


def with_ones(desc: TensorDesc, rank: int) -> TensorDesc:
    """The same bytes with leading axes of one element."""
    more = rank - desc.rank
    strides = None if desc.strides is None else (strides_of(desc)[0],) * more + tuple(desc.strides)
    return resized(desc, (1,) * more + desc.sizes, strides)
