"""The definition of a mutant, and the package in which each change of C is compiled beside the original."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"
HEADER = """
#include <stdlib.h>
static int dmlcy_mutant(void) { const char *n = getenv("DMLCY_MUTANT"); return n ? atoi(n) : 0; }
"""
DECLARED = 'cdef extern from "mutant.h":\n    int dmlcy_mutant() noexcept nogil\n\n\n'


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: functions of Cython files, and texts of Python modules, by path."""

    kind: str
    family: str
    operator: str  # empty: all
    what: str
    cython: dict[str, dict[str, str]] = field(default_factory=dict)
    python: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind} {self.what}"


def functions(text: str) -> dict[str, tuple[int, int]]:
    """Where the cdef functions of a Cython file begin and end."""
    found = {}
    for match in re.finditer(r"^cdef [^\n(=]*?(\w+)\(", text, re.MULTILINE):
        end = re.compile(r"^(?=[^\s)])", re.MULTILINE).search(text, match.end())
        found[match[1]] = (match.start(), len(text) if end is None else end.start())
    return found


def head(text: str) -> int:
    """Where the body of a function begins."""
    found = re.search(r":[^\S\n]*\n", text)
    assert found is not None, text
    return found.end()


def checks(text: str) -> dict[str, str]:
    """The functions of a Cython file by name."""
    return {name: text[start:end] for name, (start, end) in functions(text).items()}


def build(mutants: list[Mutant]) -> None:
    """A package in which the environment chooses one of the changes of C; only what changed is compiled again."""
    changed = {path for mutant in mutants for path in mutant.cython}

    def copy(source: str, target: str) -> None:
        if Path(source).relative_to(ROOT).as_posix() in changed or (source.endswith(".so") and Path(target).exists()):
            return
        if not Path(target).exists() or Path(source).read_bytes() != Path(target).read_bytes():
            shutil.copy2(source, target)

    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dmlcy", BUILD / "dmlcy", ignore=ignore, copy_function=copy, dirs_exist_ok=True)
    if not (BUILD / "build").exists():
        shutil.copytree(ROOT / "build" / "cython", BUILD / "build" / "cython")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE.md"):
        copy(str(ROOT / name), str(BUILD / name))
    setup = (ROOT / "setup.py").read_text()
    assert '("-O3", "-O2", "-O1", "-Os")' in setup
    write(BUILD / "setup.py", setup.replace('("-O3", "-O2", "-O1", "-Os")', '("-O0", "-O0", "-O0", "-O0")'))
    write(BUILD / "dmlcy" / "_runtime" / "mutant.h", HEADER)
    for path in changed:
        original = text = (ROOT / path).read_text()
        wanted: dict[str, dict[int, str]] = {}
        for number, mutant in enumerate(mutants, 1):
            for name, form in mutant.cython.get(path, {}).items():
                wanted.setdefault(name, {})[number] = form
        for name, (start, end) in reversed(functions(text).items()):
            if name in wanted:
                text = text[:start] + chosen(name, text[start:end], wanted[name]) + text[end:]
        first = min(start for start, _ in functions(text).values())
        write(BUILD / path, text[:first] + DECLARED + more_checks(original) + text[first:])
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)


def write(path: Path, text: str) -> None:
    """Write a file whose text changed, and touch no other: what is newer is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def more_checks(text: str) -> str:
    """Declares what the changed forms may call and the file did not."""
    used = set(re.findall(r"\w+", text))
    names = [name for name in functions((ROOT / "dmlcy/_runtime/checks.pxd").read_text()) if name not in used]
    return f"from dmlcy._runtime.checks cimport {', '.join(names)}\n\n\n" if "cdef struct" in text and names else ""


def chosen(name: str, original: str, changed: dict[int, str]) -> str:
    """A function and its changed forms, and one that calls the form of DMLCY_MUTANT."""
    forms = {0: original, **changed}
    begin = original[: head(original)]
    parameters = begin[begin.index("(") + 1 : begin.rindex(")")].split(",")
    arguments = ", ".join(one.split()[-1].lstrip("*") for one in parameters if one.strip())
    texts = [re.sub(rf"\b{name}\(", f"{name}_{number}(", text, count=1) for number, text in forms.items()]
    lines = [f"    if mutant == {number}:\n        return {name}_{number}({arguments})\n" for number in changed]
    texts.append(f"{begin}    cdef int mutant = dmlcy_mutant()\n{''.join(lines)}    return {name}_0({arguments})\n\n\n")
    return "".join(f"{text.rstrip()}\n\n\n" for text in texts)
