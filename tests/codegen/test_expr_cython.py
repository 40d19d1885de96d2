"""The Cython target: one module of random expressions, compared with the definition of the language."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from compiling import needs_compiler
from expression_trees import ENTRIES, MEMBERS, RANK, SCOPE, LeavesInt64, condition, exact, integer, values

from codegen.expr import nodes as n
from codegen.expr.cython import Cython
from codegen.expr.parse import parse
from codegen.expr.types import kind_of

ROOT = Path(__file__).parents[2]
COUNT = 50
BUILD = """
import sys
import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
root, = sys.argv[1:]
module = Extension("expressions", ["expressions.pyx"], include_dirs=[numpy.get_include(), root + "/dmlcy/_runtime"],
                   extra_compile_args=[] if sys.platform == "win32" else ["-O0"],
                   define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")])
directives = dict(language_level=3, boundscheck=False, wraparound=False, cdivision=True)
setup(name="expressions", packages=[], script_args=["-q", "build_ext", "--build-lib", ".", "--build-temp", "."],
      ext_modules=cythonize([module], include_path=[root], quiet=True, compiler_directives=directives))
"""
HEAD = f"""
from libc.stdint cimport int64_t
from dmlcy._runtime.checks cimport (ceil_div, checked_add, checked_mul, checked_sub, floor_div, floor_mod, largest,
                                    product, smallest, total)

cdef struct Sizes:
    int rank
    int64_t sizes[8]

cdef struct Values:
    int64_t a, b, c, mode, size_width, size_height, axes, low
    bint f
    int64_t v[8]
    int64_t w[8]
    Sizes t

cdef Values values

def put(names):
    cdef int d
    values.a, values.b, values.c, values.f = names["a"], names["b"], names["c"], names["f"]
    values.mode, values.axes, values.low = {MEMBERS}[names["mode"]], names["axes"], names["low"]
    values.size_width, values.size_height = names["size"]
    for d in range({ENTRIES}):
        values.v[d], values.w[d] = names["v"][d], names["w"][d]
    values.t.rank = {RANK}
    for d in range({RANK}):
        values.t.sizes[d] = names["t"][d]
"""
# By hand: the overflow of each operation, divisors that overflowed, and precedence.
TEXTS = ("a * b * low", "low + low", "low - a - a", "-low", "abs(low)", "prod(v)", "sum(w)", "a // (b * b * b)",
         "(a - b) // 3", "(a - b) % 3", "a % max(b * b * b, 1)", "-a % b", "2 - (3 - a)", "not f or f and not f",
         "(a if f else b) * 2", "max(w) - min(v)", "1 if abs(c - 5) - 3 > -1 else 0",
         "all(v[k] < a for k in 3)")  # fmt: skip


def expressions() -> list[n.Node]:
    random = Random(20)
    found = [parse(text) for text in TEXTS]
    found += [integer(random, 4) for _ in range(COUNT // 2)]
    return found + [condition(random, 3) for _ in range(COUNT - len(found))]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    needs_compiler()
    parts = [HEAD]
    for number, node in enumerate(expressions()):
        kind_of(node, SCOPE)
        text = Cython(SCOPE, constants={name: str(value) for name, value in MEMBERS.items()}).expression(node)
        parts.append(f"""
cdef int64_t compute{number}(const Values* a, bint* flag) noexcept nogil:
    cdef bint overflow = False
    cdef int64_t result = {text}
    flag[0] = overflow
    return result

def expression{number}():
    cdef bint overflow = False
    cdef int64_t result = compute{number}(&values, &overflow)
    return result, bool(overflow)
""")
    folder = tmp_path_factory.mktemp("expressions")
    (folder / "expressions.pyx").write_text("".join(parts))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", BUILD, str(ROOT)]
    built = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    [file] = [path for path in folder.iterdir() if path.suffix in (".so", ".pyd")]
    spec = importlib.util.spec_from_file_location("expressions", file)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_values_and_overflow(module: ModuleType) -> None:
    random = Random(21)
    seen = {True: 0, False: 0}
    for number, node in enumerate(expressions()):
        for _ in range(60):
            given = values(random)
            module.put(given.names)
            result, overflow = getattr(module, f"expression{number}")()
            try:
                expected = exact(node, given.names, checked=True)
            except LeavesInt64:
                expected = None
            assert overflow == (expected is None), (node, given.names)
            if not overflow:
                assert result == expected, (node, given.names)
            seen[overflow] += 1
    assert min(seen.values()) > 100
