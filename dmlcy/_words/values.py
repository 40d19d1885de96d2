"""How values are said in a message: short, escaped, and safe whatever their class does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

import numpy as np

LONGEST_TEXT = 60
MOST_ENTRIES = 8
MOST_BITS = 256
NUMPY_SCALARS = frozenset(cls for cls in np.sctypeDict.values() if issubclass(cls, np.number | np.bool))


def quote(text: str) -> str:
    """The text in quotation marks, short, with everything escaped that a terminal could obey."""
    head = str.__getitem__(text, slice(0, LONGEST_TEXT))
    safe = "".join(c if c.isprintable() and c not in '"\\' else _escape(c) for c in head)
    return f'"{safe}{"..." if str.__len__(text) > LONGEST_TEXT else ""}"'


def show(value: object, depth: int = 2) -> str:
    """A value in a few words, whatever its class does."""
    try:
        return _show(value, depth)
    except Exception:
        return "an object"


def in_json(value: object, depth: int = 2) -> str:
    """A value that comes from JSON, in the words of JSON."""
    if type(value) in (list, tuple):
        return _show_entries(value, depth, in_json)  # type: ignore[arg-type]
    if type(value) is dict:
        if depth < 2:
            return "an object" if value else "an empty object"
        names = [show(name) for name in list(value)[:MOST_ENTRIES]]
        more = [f"... {len(value)} in all"] if len(value) > MOST_ENTRIES else []
        return f"an object of {', '.join(names + more)}" if value else "an empty object"
    if value is None or type(value) is bool:
        return {None: "null", True: "true", False: "false"}[value]
    return show(value, depth)


def _show(value: object, depth: int) -> str:
    cls = type(value)
    if value is None or cls is bool or cls is float:
        return repr(value)
    if issubclass(cls, Enum):
        return _clean(str(getattr(value, "_name_", None) or getattr(value, "_value_", None)))
    if issubclass(cls, int):
        bits = int.bit_length(value)  # type: ignore[arg-type]
        sign = "-" if int.__lt__(value, 0) else ""  # type: ignore[operator]
        return int.__repr__(value) if bits <= MOST_BITS else f"{sign}2**{bits - 1} or more"
    if issubclass(cls, str):
        return quote(value)  # type: ignore[arg-type]
    if cls in NUMPY_SCALARS:
        return str(value)
    if issubclass(cls, float):
        return float.__repr__(value)
    if issubclass(cls, np.ndarray):
        kind = "array" if cls is np.ndarray else _name(cls)
        dtype, shape = np.ndarray.dtype.__get__(value), np.ndarray.shape.__get__(value)
        return f"{article(kind)} of {show(dtype)} with shape {shape}"
    if issubclass(cls, np.dtype):
        return _clean(str(value)) if value.fields is None else "a structured type"  # type: ignore[attr-defined]
    if cls is list or cls is tuple or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return _show_entries(value, depth)  # type: ignore[arg-type]
    if issubclass(cls, type):
        return f"the type {_name(value)}"  # type: ignore[arg-type]
    return article(_name(cls))


def plain(value: object) -> object:
    """The value as numbers, text and tuples only, so that it can be kept, compared, pickled and written as JSON."""
    try:
        return _plain(value)
    except Exception:
        return show(value)


def _plain(value: object) -> object:
    cls = type(value)
    if value is None or cls is bool or cls is float or printable(value):
        return value
    if issubclass(cls, Enum) or cls is np.dtype:
        return show(value)
    if cls is str:
        return _clean(value)  # type: ignore[arg-type]
    if cls is list or cls is tuple or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        head: list[object] = list(value)[:1000]  # type: ignore[call-overload]
        return tuple(entry if printable(entry) else show(entry) for entry in head)
    return show(value)


def printable(value: object) -> bool:
    """Whether repr of this entry of an array is short and cannot fail: an int of few digits."""
    return type(value) is int and value.bit_length() <= MOST_BITS


def listing(names: Sequence[str]) -> str:
    """A list of names in a sentence."""
    return ", ".join(names[:16]) + (f" and {len(names) - 16} more" if len(names) > 16 else "")


def _show_entries(value: Sequence[object], depth: int, show_entry: Callable[[object, int], str] = show) -> str:
    cls: type[Sequence[object]] = tuple if issubclass(type(value), tuple) else list
    length, head = cls.__len__(value), cls.__getitem__(value, slice(0, MOST_ENTRIES))
    if depth == 0 and length:
        return f"{length} entries"
    more = [f"... {length} in all"] if length > MOST_ENTRIES else []
    parts = [show_entry(entry, depth - 1) for entry in head] + more
    text = ", ".join(parts) + ("," if cls is tuple and length == 1 else "")
    return f"({text})" if cls is tuple else f"[{text}]"


def _escape(character: str) -> str:
    return f"\\{character}" if character in '"\\' else character.encode("unicode_escape", "backslashreplace").decode()


def _clean(text: str) -> str:
    short = text if len(text) <= LONGEST_TEXT * 4 else text[: LONGEST_TEXT * 4] + "..."
    return visible(short)


def visible(text: str) -> str:
    """The text with everything escaped that a terminal could obey, and that ends a line."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def _name(cls: type) -> str:
    name = type.__dict__["__name__"].__get__(cls)
    return _clean(name[:LONGEST_TEXT])


def article(name: str) -> str:
    """The name with a or an before it."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def dimensions(ranks: Sequence[int]) -> str:
    """Numbers of dimensions: 4 or 5, 1 to 8."""
    if len(ranks) > 2 and list(ranks) == list(range(ranks[0], ranks[-1] + 1)):
        return f"{ranks[0]} to {ranks[-1]}"
    return " or ".join(map(str, ranks))


def is_a(value: object, *classes: type) -> bool:
    """isinstance by the real class of the value, which cannot lie or raise."""
    try:
        return issubclass(type(value), classes)
    except Exception:
        return False
