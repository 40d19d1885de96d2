"""The operators as methods of a graph that is being built; the stub beside this file is generated from the specs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from dmlcy._facts.tables import NAMES
from dmlcy._graph.use import Method, method_of

_OPERATORS = {python: name for name, python in NAMES.items()}


class Operators(ABC):
    """A method for each operator, named as its function is."""

    @abstractmethod
    def _use(self, method: Method, arguments: tuple[object, ...], named: dict[str, object]) -> object:
        """Adds a node that uses an operator."""

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name not in _OPERATORS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        method = method_of(_OPERATORS[name])

        def use(*arguments: object, **named: object) -> object:
            return self._use(method, arguments, named)

        use.__name__ = use.__qualname__ = name
        use.__doc__ = f"Add a node: {method.faces.operator.summary} See dmlcy.{name}."
        use.__signature__ = method.signature  # type: ignore[attr-defined]
        return use

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_OPERATORS})
