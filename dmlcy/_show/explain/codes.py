"""Error codes of Windows, DirectML and Direct3D as users quote them: in hexadecimal, or as a decimal number."""

from __future__ import annotations

import re
from typing import Final

PAGE: Final = "docs/reference/codes.md"
_HEXADECIMAL: Final = re.compile(r"(?:0x)?([0-9a-f]{8})[ul]*", re.IGNORECASE)
_DECIMAL: Final = re.compile(r"-?\d{9,10}")
_LIKE_A_NUMBER: Final = re.compile(r"-?(0x[0-9a-f]*|\d[0-9a-f]{4,})[ul]*", re.IGNORECASE)


def number_of(word: str) -> int | None:
    """The value of an error code from 0 to 2^32 - 1; None for a word that is none.

    Eight digits are hexadecimal, with or without 0x; nine or ten are decimal, with a sign or without.
    """
    word = word.strip()
    if found := _HEXADECIMAL.fullmatch(word):
        return int(found[1], 16)
    if _DECIMAL.fullmatch(word) and -(2**31) <= int(word) < 2**32:
        return int(word) % 2**32
    return None


def spellings(value: int) -> tuple[str, str, str]:
    """The value in hexadecimal, as a signed and as an unsigned number."""
    return f"0x{value:08X}", f"{value - 2**32}", f"{value}"


def looks_like_code(word: str) -> bool:
    """Whether a word is a number that an error code could have, or was meant to be one."""
    return _LIKE_A_NUMBER.fullmatch(word.strip()[:100]) is not None


def unknown_code(word: str) -> str:
    """What to say of a number that is no known error code; nothing of another word."""
    if not looks_like_code(word):
        return ""
    value = number_of(word)
    if value is None:
        return f"An error code has eight hexadecimal digits. {PAGE} lists the codes that are known."
    facility = value >> 16 & 0x1FFF
    kind = f" It is the error {value & 0xFFFF} of Windows." if facility == 7 else ""
    return f"dmlcy does not know this error code.{kind} {PAGE} lists the codes that are known."
