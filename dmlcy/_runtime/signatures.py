"""The signature of an object that is called, and of its class, for ``inspect.signature``."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature, signature
from typing import Any


class CallSignature:
    """An attribute ``__signature__``: of an object what ``of`` gives, how it is called; of a class, how one is made."""

    def __init__(self, of: Callable[[Any], Signature]) -> None:
        self._of = of
        self.__doc__ = of.__doc__

    def __get__(self, one: object, cls: Any) -> Signature:
        if one is not None:
            return self._of(one)
        made = signature(cls.__init__)
        return made.replace(parameters=[*made.parameters.values()][1:])
