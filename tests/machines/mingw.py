"""Compiles all modules of the package for Windows, by MinGW-w64, to objects: nothing is linked, and nothing runs.

``python -m tests.machines.mingw`` uses the headers in Debian's source package of CPython, among them that of Windows,
PC/pyconfig.h, and those in NumPy's wheel for Windows. In Debian, ``apt-get install gcc-mingw-w64-x86-64`` installs the
compiler.
"""

from __future__ import annotations

import os
import runpy
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tests.machines.fetched import FOLDER, ROOT, Missing, need, source, wheels

COMPILER: Final = "x86_64-w64-mingw32-gcc"
STRICT: Final = ("implicit-function-declaration", "incompatible-pointer-types", "int-conversion")
"""Warnings that say that there is no such function, or another one: they are errors."""
VERSION: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
SIZES: Final = "-DMS_WIN64"
"""PC/pyconfig.h finds out how long pointers are where the compiler is Microsoft's."""


def unpack(archive: Path, folder: Path) -> None:
    """Put the headers in an archive of CPython's source into a folder."""
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(*Path(member.name).parts[1:])
            header = path.parts[:1] == ("Include",) or path in (Path("PC/pyconfig.h"), Path("PC/pyconfig.h.in"))
            stream = tar.extractfile(member) if header and member.isfile() else None
            if stream is not None:
                target = folder / path.with_name(path.name.removesuffix(".in"))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(stream.read())


def headers() -> list[Path]:
    """The folders with the headers of CPython for Windows, and of NumPy for it."""
    folder = FOLDER / "mingw"
    python = folder / f"python{VERSION}"
    if not (python / "headers").exists():
        unpack(source(python, python.name), python / "unpacked")
        (python / "unpacked").rename(python / "headers")
    numpy = wheels(folder, ["win_amd64"], VERSION, [f"numpy=={version('numpy')}"])
    return [python / "headers" / "PC", python / "headers" / "Include", numpy / "numpy" / "_core" / "include"]


def compile_all(folders: list[Path]) -> int:
    """Compile each module; returns how many there are."""
    flags = " ".join([SIZES, *(f"-I{folder}" for folder in folders)])
    os.environ |= {"CC": COMPILER, "CPPFLAGS": flags, "CFLAGS": " ".join(f"-Werror={name}" for name in STRICT)}
    os.chdir(ROOT)
    script: Any = runpy.run_path("setup.py")

    class Objects(script["BuildExt"]):  # type: ignore[misc, name-defined]  # known when it runs
        """Links nothing."""

        def build_extensions(self) -> None:
            self.compiler.link_shared_object = lambda *args, **others: None
            super().build_extensions()

    modules: list[Any] = script["extensions"]()
    folder = FOLDER / "mingw" / "objects"
    arguments = ["-q", "build_ext", f"--build-temp={folder}", f"--build-lib={folder}", f"--parallel={script['JOBS']}"]
    script["setup"](script_args=arguments, ext_modules=modules, cmdclass={"build_ext": Objects})
    return len(modules)


def main() -> None:
    """Compile, or say what is missing."""
    try:
        need(COMPILER)
        folders = headers()
    except Missing as missing:
        print(f"skipped: {missing}")
        return
    print(f"{compile_all(folders)} modules compiled for Windows by {COMPILER}")


if __name__ == "__main__":
    main()
