"""With ``DMLCY_PORTABLE`` the headers of the runtime have nothing that is a compiler's own.

The text of a header is what is left of it under its conditions, macros included. GCC lists that.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

RUNTIME = Path(__file__).parents[2] / "dmlcy" / "_runtime"
OWN = re.compile(r"\b(?:__\w+|_mm\w+|_Pragma|typeof|asm)\b")
NO_EXTENSIONS = {"__VERSION__", "__clang_version__", "__VA_ARGS__"}


def own_words(*options: str) -> dict[str, set[str]]:
    """The words of the compiler that the text of each header has."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(RUNTIME.glob("*.h"))}
    headers = [name for name, text in texts.items() if "#include DMLCY_TEXT" not in text]  # what others name
    source = "\n".join(f'#include "{name}"' for name in headers)
    command = ["gcc", "-std=c11", "-E", "-fdirectives-only", f"-I{RUNTIME}", *options, "-x", "c", "-"]
    printed = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    found, place = defaultdict[str, set[str]](set), Path()
    for line in printed.splitlines():
        if marker := re.match(r'# \d+ "(.*?)"', line):
            place = Path(marker[1])
        elif place.parent == RUNTIME:
            found[place.name].update(OWN.findall(line))
    assert {*headers} <= found.keys()
    return {name: words - NO_EXTENSIONS for name, words in found.items() if words - NO_EXTENSIONS}


def test_headers_have_nothing_of_a_compiler() -> None:
    compiler = shutil.which("gcc")
    if compiler is None or b"clang" in subprocess.run([compiler, "--version"], stdout=subprocess.PIPE).stdout:
        pytest.skip("there is no GCC, which lists the text of a header")
    assert own_words("-DDMLCY_PORTABLE=1") == {}
    assert {"__attribute__", "__builtin_prefetch"} <= {*own_words()["compiler.h"], *own_words()["moves.h"]}
