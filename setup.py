"""Builds the extension modules: specs to Cython (codegen), Cython to C, C to modules. Metadata is in pyproject.toml."""

import gc
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import Cython
import numpy
from Cython.Build import cythonize
from Cython.Build.Dependencies import create_dependency_tree
from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

ROOT = Path(__file__).resolve().parent
CYTHONIZED = Path("build/cython")
RUNTIME = Path("dmlcy/_runtime")
HEADER = re.compile(r'^[ \t]*#.*"([^"\n]+\.h)"', re.M)  # a line of the preprocessor that names one
LOOPS = {"both_levels.h", "each_size.h", "lanes.h", "window_loops.h"}
"""The headers of modules with loops of their own."""
OF_OBJECTS = {"arguments", "compiled", "context", "function", "program"}
"""The modules of the runtime that have no loops over elements."""

JOBS = os.cpu_count() or 1
DIRECTIVES = {
    "language_level": 3,
    "binding": False,  # the type of Cython's own functions would be in each module, 20 KB
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "embedsignature": False,
    "embedsignature.format": "clinic",  # where a module asks for it: inspect.signature() reads that
    "autotestdict": False,
    "auto_pickle": False,
}
# Python's own flags let ints wrap around, and then nobody sees that they do. Optimizing would take longer than it
# saves; that the hints for it are ignored then is no news.
SANITIZED = ["-fno-sanitize-recover=all", "-fno-wrapv", "-fstrict-overflow", "-O0", "-g1", "-w"]

PORTABLE = bool(os.environ.get("DMLCY_PORTABLE"))  # strict C11, without extensions of a compiler
# Of Cython's own text, -pedantic-errors refuses one thing: a module that is made in two phases has a table in which its
# functions are pointers to void.
ONE_PHASE = ("CYTHON_PEP489_MULTI_PHASE_INIT", "0")


class BuildExt(build_ext):
    """Chooses flags by compiler."""

    def run(self) -> None:
        """Build an editable install in the folder of other builds, not in a temporary one: each uses what is there."""
        if PORTABLE and (self.inplace or self.editable_mode):
            raise SystemExit("DMLCY_PORTABLE=1 never builds in place: its modules would replace the usual ones")
        folders = self.build_lib, self.build_temp
        if self.editable_mode:
            usual = build(self.distribution)
            usual.ensure_finalized()
            self.build_lib, self.build_temp = usual.build_platlib, usual.build_temp
        super().run()
        self.build_lib, self.build_temp = folders

    def build_extensions(self) -> None:
        """Build with the flags of this compiler."""
        msvc = self.compiler.compiler_type == "msvc"
        flags = self.flags(msvc)
        # No vectors of half the length for the last elements of a row: they were a seventh of the loops over elements.
        whole = ["--param", "vect-epilogues-nomask=0"]
        whole = whole if not msvc and self.takes_compiling(whole) else []
        fast, plain, quick, small = ("/O2", "/O2", "/O1", "/O1") if msvc else ("-O3", "-O2", "-O1", "-Os")
        packed = ["-Wl,-z,pack-relative-relocs"]
        packed = packed if has_packed_relocations() and self.takes_linking(packed) else []
        kernels = {extension.name for extension in self.extensions if ".kernels." in extension.name}
        sanitizers = os.environ.get("DMLCY_SANITIZE")
        for extension in self.extensions:
            headers = {Path(header).name for header in extension.depends}
            if ".calls." in extension.name:
                # Calls are many, and each is short: what takes the time of compiling is of no use to them. Where Python
                # computes the results, the time of a call is nothing beside that.
                optimized = quick if extension.name.replace(".calls.", ".kernels.") in kernels else small
            else:
                optimized = plain if extension.name.rpartition(".")[2] in OF_OBJECTS else fast
            extension.extra_compile_args += [optimized, *flags, *(whole if "elements.h" in headers else [])]
            if sys.platform == "linux":
                # Segments need no pages of their own. Names stay where they say in a profile which loop runs. Without
                # names, a build's id is of no use.
                named = LOOPS & headers or sanitizers
                extension.extra_link_args += ["-Wl,-z,noseparate-code", *packed]
                extension.extra_link_args += [] if named else ["-Wl,-s", "-Wl,--build-id=none"]
            if sanitizers:
                extension.extra_compile_args += [f"-fsanitize={sanitizers}", *SANITIZED]
                extension.extra_link_args.append(f"-fsanitize={sanitizers}")
            if os.environ.get("DMLCY_LINES"):  # count how often each line runs: tests/reliability/lines.py
                extension.extra_compile_args += ["--coverage", "-O0"]
                extension.extra_link_args.append("--coverage")
            if extension.name == "dmlcy._runtime.threads" and not msvc:
                extension.extra_compile_args += ["-DDMLCY_ALONE"] if os.environ.get("DMLCY_THREADS") == "0" else []
                extension.extra_link_args.append("-pthread")
            commands = [getattr(self.compiler, name, None) for name in ("compiler_so", "linker_so")]
            noted = Path(self.build_temp, f"{extension.name}.txt")
            note(noted, f"{commands} {extension.extra_compile_args} {extension.extra_link_args}")
            extension.depends.append(str(noted))
        super().build_extensions()

    def flags(self, msvc: bool) -> list[str]:
        """The flags that all modules have."""
        clang_cl = msvc and Path(os.environ.get("CC", "")).stem == "clang-cl"
        if clang_cl:
            self.compiler.initialize()
            self.compiler.cc = os.environ["CC"]
        # No contraction and no -march: the same bits on every processor. No errno, which nobody reads and which keeps
        # roots from being vectorised. No traps, which would keep comparisons of floats from becoming masks: a choice
        # between two values takes 3 to 34 times as long then. That changes exception flags only, which nobody reads
        # either. No notes on how vectors are passed: what takes one is inlined.
        exact = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
        if clang_cl:
            flags = [f"/clang:{flag}" for flag in exact]
        else:
            flags = ["/fp:precise"] if msvc else ["-g0", *exact, "-Wno-psabi"]
        if PORTABLE:
            flags += ["/std:c11"] if msvc else ["-std=c11", "-pedantic-errors", *self.foreign_headers()]
        return flags

    def build_extension(self, ext: Extension) -> None:
        """Build a module, and say so where it was not up to date."""
        module, start = Path(self.get_ext_fullpath(ext.name)), time.perf_counter()
        before = module.stat().st_mtime_ns if module.exists() else None
        super().build_extension(ext)
        if module.exists() and module.stat().st_mtime_ns != before:
            # In one piece: other threads say the same of other modules.
            sys.stdout.write(f"compiled {ext.name} ({time.perf_counter() - start:.1f} s)\n")
            sys.stdout.flush()

    def foreign_headers(self) -> list[str]:
        """Return the flags that name the headers of Python and NumPy, which need not be strict C11, as the system's."""
        folders = dict.fromkeys([*self.include_dirs, numpy.get_include()])
        return [part for folder in folders for part in ("-isystem", folder)]

    def takes_compiling(self, flags: list[str]) -> bool:
        """Return whether GCC or clang takes these flags without a warning."""
        return self.links("int main(void) { return 0; }\n", ["-Werror", *flags], [])

    def takes_linking(self, flags: list[str]) -> bool:
        """Return whether the linker of GCC or clang takes these flags without a warning."""
        return self.links("int main(void) { return 0; }\n", [], ["-Wl,--fatal-warnings", *flags])

    def links(self, program: str, compiling: list[str], linking: list[str]) -> bool:
        """Return whether a small program compiles and links with these flags."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text(program, encoding="utf-8")
            try:
                objects = self.compiler.compile([str(source)], output_dir=folder, extra_postargs=compiling)
                self.compiler.link_executable(objects, "probe", output_dir=folder, extra_postargs=linking)
            except (CompileError, LinkError):
                return False
        return True


def has_packed_relocations() -> bool:
    """Return whether the dynamic linker of this system reads packed relocations: that of glibc 2.36 does.

    Packed, they take 5 KB of all modules in place of 100 KB. An older dynamic linker refuses such a module.
    """
    if sys.platform != "linux":
        return False
    try:
        name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
    except ValueError:
        return False
    return name == "glibc" and tuple(map(int, version.split("."))) >= (2, 36)


def note(file: Path, text: str) -> None:
    """Write a text where it is another one than before: what is older than its file is out of date."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def extensions() -> list[Extension]:
    """Return one extension module per Cython file. The generated ones are made first, unless DMLCY_GENERATED is set."""
    made = bool(os.environ.get("DMLCY_GENERATED"))
    if not made and (ROOT / "specs").is_dir() and (ROOT / "codegen" / "__main__.py").is_file():
        sys.path.insert(0, str(ROOT))
        from codegen.__main__ import generate

        generate(ROOT)
    # The largest first, which would else be compiled alone at the end.
    files = (path for folder in ("_runtime", "_generated") for path in (ROOT / "dmlcy" / folder).rglob("*.pyx"))
    found = sorted(files, key=lambda path: (-path.stat().st_size, path))
    sources = [path.relative_to(ROOT) for path in found]
    modules = {".".join(source.with_suffix("").parts): source.as_posix() for source in sources}
    cythonize_changed(modules)
    return [
        Extension(
            name,
            [c_file(source).as_posix()],
            include_dirs=[numpy.get_include(), RUNTIME.as_posix()],
            define_macros=[
                ("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"),
                *([("DMLCY_PORTABLE", "1"), ONE_PHASE] if PORTABLE else []),
            ],
            depends=headers_of(c_file(source)),
        )
        for name, source in modules.items()
    ]


def cythonize_changed(modules: dict[str, str]) -> None:
    """Make the C of each Cython file where the file changed, or another one of the checkout that it cimports.

    Files of Cython and NumPy count by their versions: pip often builds in an environment in which all files are new.
    """
    tools = f"Cython {Cython.__version__}, NumPy {numpy.__version__}, {DIRECTIVES}"
    noted = CYTHONIZED / "tools.txt"
    if not noted.exists() or noted.read_text(encoding="utf-8") != tools:
        shutil.rmtree(CYTHONIZED, ignore_errors=True)
    note(noted, tools)
    tree = create_dependency_tree(quiet=True)
    changed = []
    for name, source in modules.items():
        own = [Path(file) for file in tree.all_dependencies(source) if not os.path.isabs(file)]
        made = c_file(source)
        if not made.exists() or made.stat().st_mtime < max(path.stat().st_mtime for path in own):
            changed.append(Extension(name, [source]))
    # Objects that Cython makes live as long as their module: to look for garbage among them takes as long as the rest.
    gc.disable()
    cythonize(changed, build_dir=str(CYTHONIZED), nthreads=JOBS, force=True, compiler_directives=DIRECTIVES)
    gc.enable()
    for header in CYTHONIZED.rglob("*.h"):  # Cython's copy, which the compiler would find before a header that changed
        header.unlink()


def headers_of(file: Path) -> list[str]:
    """Return the headers of the runtime that a file of C includes, through others too and under any condition.

    A macro that is included names its header in quotes as well, where it is defined.
    """
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        names = HEADER.findall(waiting.pop().read_text(encoding="utf-8"))
        new = {path for path in (RUNTIME / name for name in names) if path.exists()} - found
        found |= new
        waiting += new
    return sorted(path.as_posix() for path in found)


def c_file(source: str) -> Path:
    """Return where the C of a Cython file is."""
    return (CYTHONIZED / source).with_suffix(".c")


# Cython's worker processes import this file again where they are not forked.
if __name__ == "__main__":
    setup(
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildExt},
        options={"build_ext": {"parallel": JOBS}, **({"build": {"build_base": "build/portable"}} if PORTABLE else {})},
    )
