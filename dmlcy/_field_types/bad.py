"""In place of an entry that has been refused, so that formulas can read the others."""

from __future__ import annotations

from typing import Any, Final, NoReturn


class Unreadable(ArithmeticError):
    """A formula read an entry that has been refused."""


class Bad:
    """An entry that has been refused, or the sizes of a tensor. Every use of it in a formula raises Unreadable."""

    def _refuse(self, *_: object) -> NoReturn:
        raise Unreadable

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _refuse
    __mod__ = __rmod__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse
    __abs__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __round__ = __floor__ = __ceil__ = _refuse
    __len__ = __iter__ = __getitem__ = __getattr__ = _refuse
    __bool__ = __int__ = __index__ = __float__ = __hash__ = _refuse


BAD: Final[Any] = Bad()

UNREAD: Final = (Unreadable, IndexError)
"""Errors of a formula that reads something missing: an entry that has been refused, or an axis that a
tensor does not have."""
