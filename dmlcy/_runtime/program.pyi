from collections.abc import Callable, Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from dmlcy._field_types.tensor_desc import TensorDesc
from dmlcy._runtime.compiled import CompiledOperator
from dmlcy._types import Array

_Bytes = npt.NDArray[np.uint8]
_Places = list[tuple[int, int]]
_Maker = tuple[int, _Places, Callable[[Sequence[int]], tuple[object, int]]]
_Members = list[tuple[Form, list[tuple[int, int, list[int]]]]]
_Chain = tuple[_Members, list[int], list[tuple[int, int]], int, int, int, int]

@final
class Form:
    """The struct of a compiled operator as the steps of a program copy it."""

def form_of(operator: CompiledOperator, tensors: list[TensorDesc]) -> Form | None: ...

@final
class Program:
    """The steps of a graph, in order."""

    def __init__(
        self,
        fixed: list[int],
        inputs: list[tuple[TensorDesc | None, bool, int]],
        results: list[TensorDesc],
        whole: bool,
        arena: int,
        steps: Sequence[
            tuple[
                Form | bool | None,
                list[tuple[int, int] | None],
                list[tuple[int, int, int]],
                _Chain | None,
                _Maker | None,
            ]
        ],
    ) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def loops(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    def quick(self, owner: object, given: Given, inputs: tuple[object, ...], out: object) -> object: ...
    def run(
        self,
        owner: object,
        given: Given,
        inputs: list[_Bytes | None],
        seen: object = None,
        stamps: npt.NDArray[np.int64] | None = None,
    ) -> list[Array]: ...

@final
class Given:
    """The constants of a program and the arrays that were given once."""

    def __init__(self, program: Program, arrays: list[_Bytes | None], readers: list[int] | None = None) -> None: ...
    @property
    def arrays(self) -> list[_Bytes | None]: ...
    @property
    def left_out(self) -> dict[int, tuple[int, int, int, int]]: ...
    def restored(self, number: int) -> _Bytes: ...

@final
class Values:
    """The memory of one run."""

    def at(self, base: int, offset: int) -> tuple[_Bytes, int]: ...
