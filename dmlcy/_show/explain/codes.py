"""Error codes of Windows, DirectML and Direct3D as users quote them: in hexadecimal, or as a decimal number."""

from __future__ import annotations

import re
from typing import Final

PAGE: Final = "docs/reference/codes.md"
_HEXADECIMAL: Final = re.compile(r"(?:0x)?([0-9a-f]{8})[ul]*", re.IGNORECASE)
_DECIMAL: Final = re.compile(r"-?\d{9,10}")
_QUOTED: Final = re.compile(
    r"(?<!\w)(?:(?:0x(?:f{8})?([0-9a-f]{8})|([89][0-9a-f]{7}))|(-?\d{9,10}))[ul]*(?!\w)", re.IGNORECASE
)
"""An error code in a message: with 0x, also as 64 bits with the sign; without, of a failure only; or decimal."""
LONGEST: Final = 4096
"""Characters of a message that are looked at."""
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


def numbers_in(message: str) -> list[int]:
    """The values of the error codes in a message that a program printed, each once."""
    found = _QUOTED.finditer(message[:LONGEST])
    values = [int(one[3]) if one[3] else int(one[1] or one[2], 16) for one in found]
    return [*dict.fromkeys(value % 2**32 for value in values if -(2**31) <= value < 2**32)]


def spellings(value: int) -> tuple[str, str, str]:
    """The value in hexadecimal, as a signed and as an unsigned number."""
    return f"0x{value:08X}", f"{value - 2**32}", f"{value}"


def looks_like_code(word: str) -> bool:
    """Whether a word is a number that an error code could have, or was meant to be one, or a message with such one."""
    return _LIKE_A_NUMBER.fullmatch(word.strip()[:100]) is not None or bool(numbers_in(word))


def unknown_code(word: str) -> str:
    """A sentence on a number that is no known error code; empty for another word."""
    if not looks_like_code(word):
        return ""
    value = next(iter(numbers_in(word)), number_of(word))
    if value is None:
        return f"An error code has eight hexadecimal digits. {PAGE} lists the codes that are known."
    facility = value >> 16 & 0x1FFF
    kind = f" It is the error {value & 0xFFFF} of Windows." if facility == 7 else ""
    code = "this error code" if number_of(word) is not None else f"the error code {spellings(value)[0]}"
    return f"dmlcy does not know {code}.{kind} {PAGE} lists the codes that are known."
