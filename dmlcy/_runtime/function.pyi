from collections.abc import Callable
from inspect import Signature
from typing import Any, final

from dmlcy._runtime.call import Call

@final
class Function:
    """The function of an operator, as its definition in Python says it: name, signature and docstring.

    Without loops the definition computes the result. With them its body is empty: it only says what Python says of
    arguments that are missing, too many or there twice.
    """

    def __init__(self, definition: Callable[..., object], call: Call | None = None) -> None: ...
    @staticmethod
    def of(call: Call) -> Callable[[Callable[..., object]], Function]: ...
    @property
    def __signature__(self) -> Signature: ...
    def __call__(self, *inputs: object, **keywords: object) -> Any: ...
    def __get__(self, instance: object, owner: type | None = ..., /) -> object: ...
    def __getattr__(self, name: str) -> Any: ...
