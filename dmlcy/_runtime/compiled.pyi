from collections.abc import Sequence
from inspect import Signature
from typing import Any, TypeAlias, final, overload

from typing_extensions import disjoint_base

from dmlcy._desc.operator_desc import OperatorDesc
from dmlcy._generated.arguments import _ArrayOrPacked, _Out, _Outs
from dmlcy._types import Array

_Input: TypeAlias = _ArrayOrPacked | Sequence[_ArrayOrPacked] | None  # a tensor, an array of tensors, or none

@disjoint_base
class CompiledOperator:
    """An operator that was checked once: called with arrays of the sizes and data types of its desc.

    Of a desc with several outputs the result is a tuple: the type is that of one output, which most have.
    """

    @property
    def desc(self) -> OperatorDesc: ...
    @property
    def called(self) -> tuple[str, ...]: ...
    @property
    def __signature__(self) -> Signature: ...
    def initialize(self, **inputs: _Input) -> None:
        """Takes inputs, by name, that are the same in each call: no call gives them."""

    @overload
    def __call__(self, *inputs: _Input, out: None = None, **named: _Input) -> Array: ...
    @overload
    def __call__(self, *inputs: _Input, out: _Out, **named: _Input) -> _Out: ...
    @overload
    def __call__(self, *inputs: _Input, out: _Outs, **named: _Input) -> _Outs: ...

@final
class Prepared:
    """The struct of an operator, and the inputs that no call gives: copies, and what the loops made of them."""

@disjoint_base
class TableOperator(CompiledOperator):
    """A compiled operator whose calls go over the table of the operator."""

    def __init__(self, desc: OperatorDesc, level: int, reference: bool = False) -> None: ...
    def __call__(self, *inputs: object, **keywords: object) -> Any: ...

class Made(bytearray):
    """The bytes that loops made of a constant. Several compiled graphs may share them."""
