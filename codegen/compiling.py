"""Compiling the package in place: setup.py is asked where a source or a module changed since it last succeeded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from .store import Store, digest, file_digest

PACKAGE = "dmlcy"
COMMAND = ("setup.py", "-q", "build_ext", "--inplace")
TOOLS = ("cython", "numpy", "setuptools")
VARIABLES = ("CC", "CFLAGS", "CPPFLAGS", "CXX", "LDFLAGS", "LDSHARED")
MADE = "compiled "
"""How a line of setup.py begins that says what it compiled."""


class Compiler:
    """Compiles the extension modules of a checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = Store(root)

    def is_done(self) -> bool:
        """Whether setup.py made the modules of the present sources."""
        return bool(self.store.get("compiled", self.key()) == self.modules())

    def run(self) -> str | None:
        """Runs setup.py and prints what it compiled, if anything; returns everything else that it said if it fails."""
        command = [sys.executable, *COMMAND]
        environment = {**os.environ, "DMLCY_GENERATED": "1"}  # setup.py would generate again
        said, compiled = [], False
        with subprocess.Popen(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace",
        ) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith(MADE):
                    print(line, end="", flush=True)
                    compiled = True
                else:
                    said.append(line)
        if process.returncode:
            return "".join(said) or f"setup.py ended with {process.returncode}"
        if not compiled:
            print("nothing to compile")
        return None

    def finish(self) -> list[str]:
        """Removes modules whose source is gone, and notes what was compiled; returns the paths removed."""
        removed = []
        for path in self.built():
            if not path.with_name(f"{path.name.split('.')[0]}.pyx").exists() and "_generated" in path.parts:
                path.unlink()
                removed.append(path.relative_to(self.root).as_posix())
        self.store.put("compiled", self.key(), self.modules())
        self.store.write()
        return removed

    def built(self) -> Iterator[Path]:
        """The modules that are there."""
        files = sorted((self.root / PACKAGE).rglob("*"))
        return (path for path in files if path.suffix in (".so", ".pyd"))

    def modules(self) -> dict[str, tuple[int, int]]:
        """Size and time of each module."""
        found = {path.relative_to(self.root).as_posix(): path.stat() for path in self.built()}
        return {name: (one.st_size, one.st_mtime_ns) for name, one in found.items()}

    def key(self) -> str:
        """A digest of everything that the modules are made of."""
        kinds = (".pyx", ".pxd", ".pxi", ".h", ".c")
        sources = [path for path in (self.root / PACKAGE).rglob("*") if path.suffix in kinds]
        files = [*sorted(sources), self.root / "setup.py", self.root / "pyproject.toml"]
        contents = [part for path in files for part in (path.relative_to(self.root).as_posix(), file_digest(path))]
        chosen = {name: value for name, value in os.environ.items() if name in VARIABLES or name.startswith("DMLCY_")}
        return digest(sys.version, repr(sorted(chosen.items())), *(_version(tool) for tool in TOOLS), *contents)


def _version(tool: str) -> str | None:
    try:
        return metadata.version(tool)
    except metadata.PackageNotFoundError:
        return None
