"""Builds the package against musl, the C library of Alpine: all modules are linked, and the threads run.

``python -m tests.machines.musl`` lists what the modules ask of the system that musl has not. Then a small program loads
``pool.h`` from a shared library as Python loads a module. The headers are those of the Python at hand, which has
another C library, so no module runs. In Debian, ``apt-get install musl-tools`` installs what this needs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests import separate_build
from tests.machines.fetched import ROOT, Missing, need

NAME: Final = "musl"
COMPILER: Final = "musl-gcc"
LIBRARY: Final = Path("/lib")
"""The folder of musl itself."""
SHARED: Final = """
#include <stdatomic.h>
#include "pool.h"

static atomic_int sum;

static int add(const void *args, int64_t number) {
    (void)args;
    atomic_fetch_add(&sum, (int)number);
    return 0;
}

int sum_of(int chunks, int threads);
int sum_of(int chunks, int threads) {
    dmlcy_set_pool(threads - 1, 1);
    return dmlcy_share(add, 0, chunks, threads) ? -1 : sum;
}
"""
PROGRAM: Final = """
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words) {
    void *const library = dlopen(words[count - 1], RTLD_NOW);
    int (*sum_of)(int, int);
    if (library == NULL) {
        puts(dlerror());
        return 1;
    }
    *(void **)&sum_of = dlsym(library, "sum_of");
    printf("%d\\n", sum_of(1000, 4));
    return 0;
}
"""


def load() -> int:
    """Load the threads from a shared library, and let four of them add the numbers below 1000."""
    need(COMPILER)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "shared.c").write_text(SHARED, encoding="utf-8")
        (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
        include = f"-I{ROOT / 'dmlcy' / '_runtime'}"
        shared = [COMPILER, include, "-fPIC", "-shared", "shared.c", "-o", "shared.so", "-pthread"]
        for command in (shared, [COMPILER, "program.c", "-o", "program"]):
            subprocess.run(command, cwd=folder, check=True)
        said = subprocess.run(["./program", "./shared.so"], cwd=folder, capture_output=True, text=True, check=False)
    if said.returncode:
        raise SystemExit(said.stdout)
    return int(said.stdout)


def symbols(file: Path) -> tuple[set[str], set[str]]:
    """The names that a shared library has, and the names that it cannot do without."""
    command = ["readelf", "--dyn-syms", "--wide", str(file)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found: tuple[set[str], set[str]] = set(), set()
    for line in lines:
        words = line.split()
        if len(words) > 7 and words[0][:-1].isdigit() and words[4:7:2] != ["WEAK", "UND"]:
            found[words[6] == "UND"].add(words[7].partition("@")[0])
    return found


def main() -> None:
    """Compile and link, or say what is missing."""
    try:
        need(COMPILER, "readelf")
    except Missing as missing:
        print(f"skipped: {missing}")
        return
    total = load()
    separate_build.build(NAME, {"CC": COMPILER, "LDSHARED": f"{COMPILER} -shared"})
    there = {name for library in LIBRARY.glob("ld-musl-*") for name in symbols(library)[0]}
    modules = [*separate_build.library_of(NAME).rglob("*.so")]
    asked = {name for module in modules for name in symbols(module)[1] if not name.lstrip("_").startswith("Py")}
    if asked - there:
        sys.exit(f"musl has no {', '.join(sorted(asked - there))}")
    print(f"{len(modules)} modules linked against musl; its threads found {total}")


if __name__ == "__main__":
    main()
