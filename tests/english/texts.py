"""The English of the project: pages, docstrings, comments, help and specs as paragraphs, each with its place."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
# Made wrong on purpose, or made from texts that are read where they are written.
SKIPPED = ("tests/codegen/bad/", "tests/codegen/golden/", "tests/english/sentences.toml", "tests/mistakes.py")
# Strings of specs that are code, formulas or addresses, by their key or by the table around them.
CODE_KEYS = frozenset({"source", "call", "code", "prelude", "gives", "raises", "formula", "where", "that", "value"})
CODE_KEYS |= {"dmlcy", "numpy", "torch", "onnxruntime", "theirs"}
CODE_TABLES = frozenset({"kernel", "not_judged"})
# A word, then its meaning behind two spaces or more.
MEANING = re.compile(r"\s*\S+  +\S")
# Parts of a page that are no English: code, comments, formulas, the head of the file, tags.
CODE = (r"^([ ]*)(```+|~~~+|:::+).*?^\1\2[ ]*$", r"<!--.*?-->", r"\$\$.*?\$\$", r"\A---\n.*?^---$", r"<[^>]*>")


class Text(NamedTuple):
    """A paragraph, a cell of a table, an item of a list, a comment."""

    path: str
    line: int
    kind: str
    words: str


def _blocks(lines: list[tuple[int, str]], path: str, kind: str) -> Iterator[Text]:
    """Paragraphs: lines that follow each other at one indentation; an item of a list begins a new one."""
    start, indent, words = 0, -1, ""
    for number, line in [*lines, (0, "")]:
        item = re.match(r"\s*([-*+]|\d+\.|#+|>)\s+", line)
        here = len(line) - len(line.lstrip())
        after_item = indent >= 0 and here > indent and bool(words) and item is None and kind == "page"
        meaning = kind != "page" and MEANING.match(line)
        if not line.strip() or item or meaning or (here != indent and not after_item):
            if words:
                yield Text(path, start, kind, words)
            start, words, indent = number, "", here
        text = line[item.end() :] if item else line
        words = f"{words} {text.strip()}".strip()
    if words:
        yield Text(path, start, kind, words)


def _markdown(path: str, text: str) -> Iterator[Text]:
    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    for fenced in CODE:
        text = re.sub(fenced, blank, text, flags=re.DOTALL | re.MULTILINE)
    run: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("|"):
            yield from (Text(path, number, "page", cell.strip()) for cell in line.split("|") if cell.strip())
            line = ""
        run.append((number, line))
    yield from _blocks(run, path, "page")


def _without_code(docstring: str) -> Iterator[str]:
    """The lines of a docstring, empty where they are code: prompts, rules under headings, blocks behind ``::``."""
    block: int | None = None
    for line in docstring.splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip() and block is not None and indent <= block:
            block = None
        is_code = block is not None or re.fullmatch(r"\s*(-+|=+|>>> .*|\.\.\. .*)", line)
        yield "" if is_code else line
        if line.rstrip().endswith("::"):
            block = indent


def _docstrings(path: str, tree: ast.Module) -> Iterator[Text]:
    """Docstrings of modules, classes and functions, and strings behind names, which describe these names."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant(str(found))):
                yield from _docstring(path, node.lineno, found)


def _docstring(path: str, first: int, found: str) -> Iterator[Text]:
    yield from _blocks(list(enumerate(_without_code(cleandoc(found)), first)), path, "docstring")


def _help(path: str, tree: ast.Module) -> Iterator[Text]:
    for node in ast.walk(tree):
        match node:
            case ast.keyword("help" | "description" | "epilog", ast.Constant(str(words))):
                yield Text(path, node.value.lineno, "help", " ".join(words.split()))


def _python(path: str, text: str) -> Iterator[Text]:
    tree = ast.parse(text)
    yield from _docstrings(path, tree)
    yield from _help(path, tree)
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = not token.line[: token.start[1]].strip()
            comments.append((token.start[0], alone, token.string.lstrip("#:! ")))
    yield from _joined(path, comments)


def _joined(path: str, comments: list[tuple[int, bool, str]]) -> Iterator[Text]:
    """Comments of lines that follow each other are one paragraph, up to an empty line or a word with its meaning."""
    start, last, words = 0, -1, ""
    for number, alone, text in comments:
        if words and alone and number == last + 1 and text.strip() and not MEANING.match(text):
            words += f" {text.strip()}"
        else:
            if words:
                yield Text(path, start, "comment", words)
            start, words = number, text
        last = number if alone else -1
    if words:
        yield Text(path, start, "comment", words)


def _hashed(path: str, text: str) -> Iterator[Text]:
    comments: list[tuple[int, bool, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"\s*#+ ?(?!include|define|if|endif|else|elif|undef|pragma|error|cython:)(.*)", line)
        if found:
            comments.append((number, True, _no_code(found[1], comments[-1][2] if comments else "")))
    yield from _joined(path, comments)


def _cython(path: str, text: str) -> Iterator[Text]:
    yield from _hashed(path, text)
    for found in re.finditer(r'^[ \t]*"""(.*?)"""', text, flags=re.DOTALL | re.MULTILINE):
        if not found[1].lstrip().startswith("#"):  # C
            yield from _docstring(path, text.count("\n", 0, found.start()) + 1, found[1])


def _no_code(line: str, before: str) -> str:
    """A line of a comment; nothing for code of an example, which is behind an empty line, and further to the right."""
    return "" if line.startswith("    ") and not before.strip() else line


def _header(path: str, text: str) -> Iterator[Text]:
    for found in re.finditer(r"/\*(.*?)\*/|((?:^[ \t]*//[^\n]*\n)+)", text, flags=re.DOTALL | re.MULTILINE):
        lines: list[tuple[int, str]] = []
        for number, line in enumerate((found[1] or found[2]).split("\n"), text.count("\n", 0, found.start()) + 1):
            words = re.sub(r"^\s*(\*|//)? ?", "", line)
            lines.append((number, _no_code(words, lines[-1][1] if lines else "")))
        yield from _blocks(lines, path, "comment")


def _spec(path: str, text: str) -> Iterator[Text]:
    def walk(value: Any, key: str) -> Iterator[str]:
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from walk(inner, name) if name not in CODE_TABLES else ()
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner, key)
        elif isinstance(value, str) and key not in CODE_KEYS and len(value.split()) > 1:
            yield value

    yield from _hashed(path, text)
    for words in walk(tomllib.loads(text), ""):
        line = text.count("\n", 0, max(text.find(words.split("\n")[0]), 0)) + 1
        yield Text(path, line, "spec", " ".join(words.split()))


def _template(path: str, text: str) -> Iterator[Text]:
    """The texts of a template, with a name in place of each value, and its comments."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    for found in re.finditer(r"\{#-?(.*?)-?#\}", text, flags=re.DOTALL):
        yield Text(path, text.count("\n", 0, found.start()) + 1, "comment", " ".join(found[1].split()))
    plain = re.sub(r"\{#.*?#\}|\{%.*?%\}", blank, text, flags=re.DOTALL)
    plain = re.sub(r"\{\{.*?\}\}", lambda found: "`x`" + blank(found), plain, flags=re.DOTALL)
    match Path(path).suffixes[-2]:
        case ".h":
            yield from _header(path, plain)
        case ".md":
            yield from _markdown(path, plain)
        case ".txt":
            yield from _docstring(path, 1, plain)
        case _:
            yield from _cython(path, plain)


READERS: dict[str, Callable[[str, str], Iterator[Text]]] = {
    ".md": _markdown,
    ".py": _python,
    ".pyi": _python,
    ".pyx": _cython,
    ".pxd": _cython,
    ".pxi": _cython,
    ".h": _header,
    ".toml": _spec,
    ".j2": _template,
}


def texts(only: tuple[str, ...] = ()) -> Iterator[Text]:
    """All texts of the files that git tracks and that begin with one of these paths."""
    listed = subprocess.run(
        ["git", "ls-files", "--deduplicate", *only], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for path in listed.stdout.splitlines():
        reader = READERS.get(Path(path).suffix)
        if reader is not None and not path.startswith(SKIPPED):
            yield from reader(path, (ROOT / path).read_text(encoding="utf-8"))
