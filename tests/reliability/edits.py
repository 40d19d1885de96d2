"""Small changes of code and of formulas, each of which a test should notice."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    "<": ("<=", "< -1 +", ">="),
    "<=": ("<", "<= 1 +", ">"),
    ">": (">=", "> 1 +", "<="),
    ">=": (">", ">= -1 +", "<"),
    "==": ("!=", "<=", ">="),
    "!=": ("==", "<", ">"),
}
WORDS = {"and": "or", "or": "and", "True": "False", "False": "True", "is": "is not"}
BY_LEVEL = re.compile(r"\b([A-Z][A-Z0-9_]*)\[level\]")  # a set of bits per feature level
CAST = re.compile(r"<[A-Za-z][\w ]*\**>(?=[\w(&-])")


@dataclass(frozen=True, slots=True)
class Edit:
    """Text from start to end becomes another."""

    start: int
    end: int
    new: str

    def of(self, text: str) -> str:
        """The text with the change made."""
        return text[: self.start] + self.new + text[self.end :]

    def shown(self, text: str) -> str:
        """The line before and after; where it only returns, with the condition above."""
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.end)
        last = len(text) if last < 0 else last
        above = text[:first].rstrip("\n").rpartition("\n")[2].strip()
        after = f"{text[first : self.start]}{self.new}{text[self.end : last]}"
        line = text[first:last].strip()
        where = f"{above} " if line.startswith("return") and above.startswith(("if", "elif")) else ""
        return f"{where}{line}  =>  {after.strip()}"


def edits(text: str) -> Iterator[Edit]:
    """Comparisons moved by one and turned round, and for or, not left out, ints one larger, + for -, sets of bits."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    casts = {position for found in CAST.finditer(text) for position in (found.start(), found.end() - 1)}
    tokens = [one for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.string.strip()]
    loops = 0
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        start = starts[token.start[0] - 1] + token.start[1]
        end = start + len(token.string)
        word = token.string
        loops += word == "for"
        if word in COMPARISONS and start not in casts:
            yield from (Edit(start, end, new) for new in COMPARISONS[word])
        elif word in WORDS:
            if word != "is" or after is None or after.string != "not":
                yield Edit(start, end, WORDS[word])
        elif word == "in" and loops:
            loops -= 1
        elif word == "in" and before is not None and before.string != "not":
            yield Edit(start, end, "not in")
        elif word == "not":
            yield Edit(start, end + 1, "")
        elif word in ("0", "1") and before is not None and before.string == "return":
            yield Edit(start, end, str(1 - int(word)))
        elif token.type == tokenize.NUMBER and word.isdecimal():
            yield Edit(start, end, str(int(word) + 1))
        elif word in ("+", "-") and before is not None and (before.type != tokenize.OP or before.string in ")]"):
            yield Edit(start, end, "-" if word == "+" else "+")
    for found in BY_LEVEL.finditer(text):
        bits = found[0]
        for new in (
            f"{found[1]}[level - 1 if level else 0]",
            f"{found[1]}[min(level + 1, 14)]",
            f"({bits} & ({bits} - 1))",
            f"({bits} | {bits} << 1)",
            f"({bits} | {bits} >> 1)",
        ):
            yield Edit(found.start(), found.end(), new)
