"""Text of a spec as Markdown: nothing in it can break out of its line, its cell or its code.

``prose``, ``cell`` and ``code`` take any text; ``wrapped``, ``table`` and ``block`` take what those have made.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 100
GLUE = "\N{NO-BREAK SPACE}"
"""A space at which ``wrapped`` breaks no line."""


def escape(text: str) -> str:
    """Text on one line in which nothing is Markdown or HTML; underscores inside words and lone stars stay."""
    line = " ".join("".join(c if c.isprintable() or c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text).split())
    line = re.sub(r"[\\`~$]", r"\\\g<0>", line)
    line = re.sub(r"(?<!\s)\*|\*(?!\s)", r"\\*", line)
    line = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", line)
    line = re.sub(r"<(?=[A-Za-z/!?])", r"\\<", line)
    line = re.sub(r"\](?=[(\[:])|^\[|!(?=\[)", r"\\\g<0>", line)
    line = re.sub(r"&(?=#|[A-Za-z])", r"\\&", line)
    return re.sub(r"(?<!\S)#", r"\\#", line)


def heading(text: str) -> str:
    """Text of a spec as one line."""
    return _line_start(escape(text))


def prose(text: str, indent: int = 0, first: str = "") -> str:
    """Text of a spec as a paragraph; ``first`` is Markdown before it."""
    return wrapped(" ".join(part for part in (first, escape(text)) if part), indent)


def wrapped(markdown: str, indent: int = 0) -> str:
    """Markdown as lines of at most WIDTH characters; the first one is not indented."""
    bound = re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", lambda span: _bound(span[0]), markdown)
    lines = textwrap.wrap(bound, WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(_line_start(line).replace(GLUE, " ") for line in lines)


def _bound(span: str) -> str:
    """A code span that breaks only before words that begin no list or quotation: code cannot be escaped."""
    return re.sub(r" +(?=(\S+))", lambda space: " " if _line_start(f"{space[1]} ") == f"{space[1]} " else GLUE, span)


def _line_start(line: str) -> str:
    """A line that does not begin a list, a quotation, a heading or a table."""
    line = re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)
    return re.sub(r"^(?=[-+*](\s|$)|[>|:]|[=-]+$)", r"\\", line)


def cell(text: str) -> str:
    """Text of a spec in a table."""
    return escape(text).replace("|", "\\|")


def code(text: object, in_table: bool = False) -> str:
    """Text as a code span."""
    line = " ".join(str(text).split())
    ticks = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line.replace('|', chr(92) + '|') if in_table else line}{pad}{ticks}"


def link(text: str, address: str | None) -> str:
    """Markdown ``text`` with its address, if that is one of the web."""
    if address is None or not re.match(r"https?://", address):
        return text
    safe = "".join(c if c.isascii() and c.isprintable() and c not in ' <>()[]\\"`' else _percent(c) for c in address)
    return f"[{text}]({safe})"


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def anchor(name: str) -> str:
    """A place to link to."""
    return f'<a id="{html.escape(name, quote=True)}"></a>'


def level_link(level: str) -> str:
    """A feature level, linked from another page."""
    return f"[{level}](levels.md#level-{level})"


def page_link(operator: str) -> str:
    """An operator, linked from another page."""
    return f"[{operator}]({operator.lower()}.md)"


def block(text: str, language: str = "") -> str:
    """A code block."""
    ticks = "`" * (1 + max([2, *map(len, re.findall("`+", text))]))
    return f"{ticks}{language}\n{text}\n{ticks}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An aligned table of Markdown cells; the last column is left ragged where it is wide."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(head))]
    if widths[-1] > 40:
        widths[-1] = len(head[-1])
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        f"| {' | '.join(text.ljust(width) for text, width in zip(line, widths, strict=True))} |" for line in lines
    )
