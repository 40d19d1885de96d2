"""Programs of C++ that the tests compile against the stand-in for <DirectML.h>: each once in a session."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest
from standin import directml_h

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "dmlcy" / "_cpp"
FOLDER = Path(__file__).parent
WARNINGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror")
COMPILERS = ("g++", "clang++", "x86_64-w64-mingw32-g++")
WINDOWS = COMPILERS[2]
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")
"""Flags that are left out where the compiler has no libraries for them."""


class Programs:
    """Compiles programs into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: dict[tuple[str, ...], Path] = {}
        (folder / "include").mkdir()
        (folder / "include" / "DirectML.h").write_text(directml_h(), encoding="utf-8")

    def built(self, source: Path, *flags: str, compiler: str = COMPILERS[0]) -> Path:
        """The program of a source; skips where the compiler is missing."""
        if SANITIZED[0] in flags and not self.sanitizes:
            flags = tuple(flag for flag in flags if flag not in SANITIZED)
        key = (compiler, str(source), *flags)
        if key not in self.made:
            name = f"{source.stem}{len(self.made)}{'.exe' if compiler == WINDOWS else ''}"
            self.compile(source, *flags, "-o", str(self.folder / name), compiler=compiler)
            self.made[key] = self.folder / name
        return self.made[key]

    @functools.cached_property
    def sanitizes(self) -> bool:
        """Whether programs can be watched by the sanitizers."""
        source = self.folder / "empty.cpp"
        source.write_text("int main() {}\n", encoding="utf-8")
        return self.run(source, *SANITIZED, "-o", str(self.folder / "empty")).returncode == 0

    def compile(self, source: Path, *flags: str, compiler: str = COMPILERS[0]) -> None:
        """Compile; the test fails with what the compiler says."""
        done = self.run(source, *flags, compiler=compiler)
        assert done.returncode == 0, done.stderr

    def run(self, source: Path, *flags: str, compiler: str = COMPILERS[0]) -> subprocess.CompletedProcess[str]:
        """The output of the compiler."""
        if shutil.which(compiler) is None:
            pytest.skip(f"there is no {compiler}")
        include = [f"-I{self.folder / 'include'}", f"-I{HEADERS}"]
        command = [compiler, *WARNINGS, *include, str(source), *flags]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def dumped(program: Path, images: list[bytes]) -> list[str]:
    """The JSON that dumper.cpp writes of each image."""
    done = subprocess.run([program], input=b"".join(images), capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    texts = done.stdout.decode().split("\0")
    assert texts.pop() == "" and len(texts) == len(images)
    return texts
