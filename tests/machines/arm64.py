"""Builds the package for ARM64, and runs it there: on this machine, by QEMU.

``python -m tests.machines.arm64`` compares the digests of ``tests.machines.bits`` with those of the processor at hand,
and then runs the examples of all operators. ``python -m tests.machines.arm64 -m pytest tests/families`` runs Python as
it is told. Python for ARM64 is Debian's, NumPy is PyPI's wheel. In Debian, ``apt-get install gcc-aarch64-linux-gnu
libc6-dev-arm64-cross qemu-user`` installs what this needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from typing import Final

from tests import separate_build
from tests.machines.fetched import FOLDER, ROOT, Missing, installed, need, wheels

NAME: Final = "arm64"
COMPILER: Final = "aarch64-linux-gnu-gcc"
EMULATOR: Final = "qemu-aarch64"
PACKAGES: Final = ("python3-minimal", "libpython3-stdlib", "libpython3-dev", "libstdc++6")
SYSTEMS: Final = tuple(f"manylinux{number}_aarch64" for number in ("_2_28", "_2_27", "_2_17", "2014"))
"""Of the wheels; Debian's C library is newer."""
WHEELS: Final = (f"numpy=={version('numpy')}", "hypothesis", "pytest")
WALKS: Final = "24"
"""Of each operator, of which digests are compared."""
EXAMPLES: Final = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/operators/test_examples.py")


class Machine:
    """Python and the package for ARM64."""

    def __init__(self) -> None:
        need(COMPILER, EMULATOR)
        self.folder = FOLDER / NAME
        self.root = installed(self.folder, NAME, PACKAGES)
        self.emulated = [EMULATOR, "-L", str(self.root), str(self.root / "usr" / "bin" / "python3")]
        asked = "import sysconfig; print(*map(sysconfig.get_config_var, ('EXT_SUFFIX', 'py_version_short')))"
        said = subprocess.run([*self.emulated, "-c", asked], stdout=subprocess.PIPE, text=True, check=True)
        self.suffix, self.version = said.stdout.split()
        self.site = wheels(self.folder, SYSTEMS, self.version, WHEELS)

    def build(self) -> None:
        """Compile what changed."""
        headers = self.root / "usr" / "include"
        switches = {
            "CC": COMPILER,
            "LDSHARED": f"{COMPILER} -shared",
            "CPPFLAGS": f"-I{headers / f'python{self.version}'} -idirafter {headers}",
            "SETUPTOOLS_EXT_SUFFIX": self.suffix,
        }
        separate_build.build(NAME, switches)

    def python(self, *arguments: str) -> int:
        """Run Python there; returns how it ended."""
        environment = separate_build.environment(NAME)
        environment["PYTHONPATH"] += os.pathsep + str(self.site)
        return subprocess.run([*self.emulated, *arguments], cwd=ROOT, env=environment, check=False).returncode

    def compare(self) -> int:
        """Whether the digests are those of the processor at hand, and the examples hold: 0, or how Python ended."""
        bits = ["-m", "tests.machines.bits", "--walks", WALKS]
        expected = self.folder / "bits.txt"
        with expected.open("wb") as stream:
            subprocess.run([sys.executable, *bits], cwd=ROOT, stdout=stream, check=True)
        return self.python(*bits, "--like", str(expected)) or self.python(*EXAMPLES)


def main(arguments: list[str]) -> None:
    """Build, and run what is asked for."""
    try:
        machine = Machine()
    except Missing as missing:
        print(f"skipped: {missing}")
        return
    machine.build()
    raise SystemExit(machine.python(*arguments) if arguments else machine.compare())


if __name__ == "__main__":
    main(sys.argv[1:])
