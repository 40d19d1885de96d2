"""Changes the checks one small thing at a time, and counts what the tests do not notice.

    python -m tests.reliability.mutants [--family F ...] [--kind C | Python | spec ...] [--jobs N]

Kind C changes the compiled checks only, Python the exact ones only: the two must be found to disagree. Kind spec
changes a formula, from which both come: then only what is known from elsewhere tells. The families ``shared`` and
``checker`` are what all compiled and all exact checks are made of. A change that no test can notice is excused in
mutants.txt, with the reason.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics, SpecError
from codegen.emit import environment
from codegen.families import FAMILIES
from codegen.load import load
from codegen.modules import calls_module
from codegen.plan import Plan, plan
from codegen.tables import operator_module

from .edits import edits
from .mutant_build import BUILD, ROOT, Mutant, build, checks, functions, head
from .mutant_run import OPERATORS, Runner

SHARED = {  # what every family's checks are made of
    "dmlcy/_runtime/checks.pxd": re.compile(""),
    "dmlcy/_runtime/values.pxd": re.compile(""),
    "dmlcy/_runtime/call.pyx": re.compile("inputs_hold|as_computed"),
    "dmlcy/_runtime/arguments.pyx": re.compile("take_|int_entries|is_bool"),
}
CHECKER = (
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "dmlcy" / "_check").glob("[a-z]*.py"))),
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "dmlcy" / "_field_types").glob("[a-z]*.py"))),
    "dmlcy/_facts/levels.py",
)
TESTS = (  # the checks that accept and refuse
    *(f"tests/operators/{name}.py" for name in ("test_examples", "test_limits", "test_ids", "test_levels")),
    *(f"tests/operators/{name}.py" for name in ("test_bad_input", "test_garbage", "test_checks_agree")),
    *(f"tests/operators/{name}.py" for name in ("test_support", "test_inputs", "test_testing")),
    *(f"tests/operators/{name}.py" for name in ("test_compiled_calls", "test_independent")),
    "tests/package/test_check.py",
)
EXCUSED = Path(__file__).with_suffix(".txt")
FORMULA = re.compile(r'^(that|value|sizes|length)\s*=\s*"(.*)"$', re.MULTILINE)


def of_cython(path: str, names: re.Pattern[str], family: str, operator: str) -> Iterator[Mutant]:
    """The changes of the functions of a Cython file."""
    text = (ROOT / path).read_text()
    for name, (start, end) in functions(text).items():
        if not names.match(name):
            continue
        function = text[start:end]
        for edit in edits(function):
            line = function[function.rfind("\n", 0, edit.start) + 1 : edit.start]
            if edit.start < head(function) or re.match(r"\s+(cdef (?!.*=)|#)", line):
                continue
            what = f"{name}: {edit.shown(function)}"
            yield Mutant("C", family, operator, what, {path: {name: edit.of(function)}})


def of_python(path: str, family: str, operator: str, lines: re.Pattern[str]) -> Iterator[Mutant]:
    """The changes of the lines of a Python file that a pattern finds."""
    text = (ROOT / path).read_text()
    for edit in edits(text):
        line = text[text.rfind("\n", 0, edit.start) + 1 : edit.start]
        if lines.match(line):
            where = operator or re.findall(r"def (\w+)", text[: edit.start])[-1]
            what = f"{Path(path).name} {where}: {edit.shown(text)}"
            try:
                compile(edit.of(text), path, "exec")
            except SyntaxError:
                continue
            yield Mutant("Python", family, operator, what, {}, {path: edit.of(text)})


def of_spec(family: str, name: str, file: str, base: dict[str, str]) -> Iterator[Mutant]:
    """The changes of the formulas of a spec and of the groups that it includes."""
    groups = tomllib.loads((ROOT / file).read_text())["operator"].get("include", [])
    for path in (file, *(f"specs/shared/{group}.toml" for group in groups)):
        text = (ROOT / path).read_text()
        for formula in FORMULA.finditer(text):
            for edit in edits(formula[2]):
                changed = text[: formula.start(2)] + edit.of(formula[2]) + text[formula.end(2) :]
                what = f"{name} {formula[1]}: {edit.shown(formula[2])}"
                made = generated(family, {path: changed})
                if made is None:
                    yield Mutant("spec", family, name, what)
                    continue
                pyx = f"dmlcy/_generated/calls/{family}.pyx"
                cython = {key: one for key, one in checks(made[pyx]).items() if one != checks(base[pyx]).get(key)}
                tables = {key: one for key, one in made.items() if key != pyx and one != base[key]}
                yield Mutant("spec", family, name, what, {pyx: cython}, tables)


def generated(family: str, changed: dict[str, str]) -> dict[str, str] | None:
    """The module of a family and the tables, from changed specs; None where they are refused."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "specs", Path(folder, "specs"))
        for path, text in changed.items():
            Path(folder, path).write_text(text)
        try:
            diagnostics = Diagnostics()
            made: Plan = plan(load(Path(folder)), diagnostics)
            diagnostics.raise_if_any()
        except SpecError:
            return None
        [one] = [one for one in made.families if one.family.name == family]
        return {
            f"dmlcy/_generated/calls/{family}.pyx": calls_module(environment(), made, one),
            **{f"{OPERATORS}/{op.file_name}.py": operator_module(op) for op in one.operators},
        }


def mutants_of(family: str, kinds: Iterable[str]) -> Iterator[Mutant]:
    """All changes of the checks of a family; ``shared``: what all are made of, ``checker``: the hand-written ones."""
    if family == "shared":
        for path, names in SHARED.items():
            yield from of_cython(path, names, family, "")
        return
    if family == "checker":
        for path in CHECKER:
            yield from of_python(path, family, "", re.compile(r"\s+(?!def |@|\w+: |yield Refused|raise)"))
        return
    base = generated(family, {})
    assert base is not None
    for name, operator in load(ROOT).operators.items():
        if operator.family != family:
            continue
        if "C" in kinds:
            names = re.compile(rf"{operator.python}_(take|holds|data_holds)$")
            yield from of_cython(f"dmlcy/_generated/calls/{family}.pyx", names, family, name)
        if "Python" in kinds:
            lines = re.compile(r"\s+return |.*lambda self[^:]*:|\s+(minimum|maximum|ranks)=|\s+RankRow\(")
            yield from of_python(f"{OPERATORS}/{name.lower()}.py", family, name, lines)
        if "spec" in kinds:
            yield from of_spec(family, name, operator.file, base)


def excused() -> list[re.Pattern[str]]:
    """The survivors that no test can notice: in the file an indented reason is below each; * is any text."""
    lines = [line for line in EXCUSED.read_text().splitlines() if line and not line.startswith((" ", "#"))]
    return [re.compile(re.escape(line.strip()).replace(r"\*", ".*")) for line in lines]


def main() -> int:
    """Builds, runs, and prints the counts and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", choices=(*FAMILIES, "shared", "checker"), help="default: all")
    parser.add_argument("--kind", action="append", choices=("C", "Python", "spec"), help="default: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="only say what would be changed")
    parser.add_argument("--only", default="", help="only changes whose text has this in it")
    options = parser.parse_args()
    begun = time.monotonic()
    families = options.family or (*FAMILIES, "shared", "checker")
    kinds = options.kind or ("C", "Python", "spec")
    found = [one for family in families for one in mutants_of(family, kinds) if one.kind in kinds]
    found = [one for one in found if options.only in str(one)]
    refused = [one for one in found if not one.cython and not one.python]
    mutants = [one for one in found if one.cython or one.python]
    if options.list:
        print(*mutants, sep="\n")
        print(f"{len(mutants)} changes; {len(refused)} more are refused by the generator")
        return 0
    build(mutants)
    print(f"built {len(mutants)} changes in {time.monotonic() - begun:.0f} s", flush=True)
    os.environ |= {"CI": "1", "PYTHONPATH": str(BUILD), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path[:0] = [str(BUILD)]
    runner = Runner(mutants, options.jobs)
    pytest.main(["-p", "no:cacheprovider", "-p", "no:terminal", "-o", "addopts=", *TESTS], plugins=[runner])
    known = excused()
    alive = [mutants[number - 1] for number in sorted(runner.survivors)]
    unknown = [one for one in alive if not any(pattern.fullmatch(str(one)) for pattern in known)]
    counts = Counter((one.family, one.kind) for one in mutants)
    left = Counter((one.family, one.kind) for one in alive)
    print(f"{'family':<16}{'kind':<8}{'changes':>8}{'survive':>9}")
    for key, count in counts.items():
        print(f"{key[0]:<16}{key[1]:<8}{count:>8}{left[key]:>9}")
    print(f"{len(mutants)} changes, {len(alive)} survive, {len(alive) - len(unknown)} of them are excused")
    print(f"{len(refused)} more are refused by the generator; {time.monotonic() - begun:.0f} s")
    print(*(f"SURVIVES {one}" for one in unknown), sep="\n")
    return 1 if unknown or not runner.killers else 0


if __name__ == "__main__":
    sys.exit(main())
