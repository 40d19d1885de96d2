"""Dataclasses of which modules have many: what ``dataclass`` compiles for each class is written here, once for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from typing import TYPE_CHECKING, TypeVar

__all__ = ["Row", "record"]

T = TypeVar("T")


class Row:
    """Base of the rows of a table.

    Each row is one object, equal to itself only: the methods that a decorator makes cost time.
    """

    __slots__: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({shown})"


if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from typing import Protocol

    class _Record(Protocol):
        """An object of such a class."""

        _defaults: tuple[tuple[str, object], ...]  # its fields
else:

    def record(*, frozen: bool, slots: bool, eq: bool, repr: bool = True) -> Callable[[type[T]], type[T]]:
        """Do what ``dataclass`` does of a class whose objects are frozen, in slots, and equal to themselves only."""
        assert frozen and slots and not eq
        functions = (__init__, __setattr__, __delattr__, __getstate__, __setstate__, *((__repr__,) if repr else ()))

        def made(cls: type[T]) -> type[T]:
            found: object = dataclass(init=False, slots=True, eq=False, repr=False)(cls)
            found._defaults = tuple((field.name, field.default) for field in fields(found))
            for function in functions:
                setattr(found, function.__name__, function)
            return found

        return made


def __init__(self: _Record, *arguments: object, **given: object) -> None:
    """Take the fields in their order, and by name."""
    defaults = self._defaults
    for (name, _), value in zip(defaults, arguments, strict=False):
        object.__setattr__(self, name, value)
    for name, default in defaults[len(arguments) :]:
        value = given.pop(name, default)
        if value is MISSING:
            raise TypeError(f"{type(self).__name__}() has no {name}")
        object.__setattr__(self, name, value)
    if given or len(arguments) > len(defaults):
        raise TypeError(f"{type(self).__name__}() takes {', '.join(name for name, _ in defaults)}, each once")


def __repr__(self: _Record) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, _ in self._defaults)
    return f"{type(self).__name__}({shown})"


def __setattr__(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def __getstate__(self: _Record) -> list[object]:
    return [getattr(self, name) for name, _ in self._defaults]


def __setstate__(self: _Record, state: list[object]) -> None:
    for (name, _), value in zip(self._defaults, state, strict=True):
        object.__setattr__(self, name, value)
