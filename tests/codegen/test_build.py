"""Editing a spec is one command: `python -m codegen build` in a copy of the checkout.

The copy has the operator of ``small_family`` only, which is compiled in a moment.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from runpy import run_path

import pytest
from compiling import needs_compiler
from depth import deep
from shown_pages import DOCS, blocks, run_page

import dmlcy

ROOT = Path(__file__).resolve().parents[2]
SMALL = Path(__file__).parent / "small_family"
NEGATE = "element_wise_negate"
MODULES = ["dmlcy._generated.calls.line", "dmlcy._generated.kernels.line"]
BUILD = ("-m", "codegen", "build")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the small family, built."""
    copy = copied(tmp_path_factory.mktemp("small"))
    for half, folder in ("codegen", "codegen/families/line"), ("dmlcy", "dmlcy/_families/line"):
        shutil.copytree(SMALL / half, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "specs" / "operators" / "line").mkdir(parents=True)
    shutil.copy(SMALL / f"{NEGATE}.toml", spec_of(copy, NEGATE))
    said = build(copy)
    made = ("calls/line.pyx", "kernels/line.pyx", f"functions/{NEGATE}.pyi")
    assert {f"wrote dmlcy/_generated/{name}" for name in made} <= {*said}
    assert f"wrote docs/reference/{NEGATE}.md" in said
    assert compiled(said) == MODULES
    return copy


def copied(copy: Path) -> Path:
    """The checkout without operators; the runtime is compiled already, and its sources are left out."""
    needs_compiler()
    ignore = shutil.ignore_patterns("*.so", "*.pyd", "*.pyx", "_generated", "operators", "ids.lock")
    for name in ("specs", "codegen", "dmlcy"):
        shutil.copytree(ROOT / name, copy / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE.md"):
        shutil.copy2(ROOT / name, copy / name)
    setup = (ROOT / "setup.py").read_text()
    assert '("-O3", "-O2", "-O1", "-Os")' in setup
    (copy / "setup.py").write_text(setup.replace('("-O3", "-O2", "-O1", "-Os")', '("-O0", "-O0", "-O0", "-O0")'))
    (copy / "specs" / "ids.lock").touch()
    (copy / "tests" / "codegen").mkdir(parents=True)
    for module in modules(Path(dmlcy.__file__).parent / "_runtime"):
        shutil.copy(module, copy / "dmlcy" / "_runtime")
    return copy


def modules(folder: Path) -> dict[Path, int]:
    """The extension modules in a folder, and when each was written."""
    return {path: path.stat().st_mtime_ns for kind in ("so", "pyd") for path in folder.rglob(f"*.{kind}")}


def spec_of(checkout: Path, name: str) -> Path:
    """The spec of an operator of the small family."""
    return checkout / "specs" / "operators" / "line" / f"{name}.toml"


def build(checkout: Path) -> list[str]:
    """The lines that the build command prints. The modules that it names are the rebuilt ones."""
    before = modules(checkout / "dmlcy" / "_generated")
    done = call(checkout, *BUILD)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()
    after = modules(checkout / "dmlcy" / "_generated")
    rebuilt = [f"{path.parent.name}.{path.name.split('.')[0]}" for path in after if after[path] != before.get(path)]
    assert sorted(f"dmlcy._generated.{name}" for name in rebuilt) == compiled(said)
    return said


def package(checkout: Path) -> dict[Path, bytes]:
    """The files of the package, without Python's caches."""
    files = (path for path in (checkout / "dmlcy").rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path: path.read_bytes() for path in files}


def compiled(said: list[str]) -> list[str]:
    """The modules that a build says it compiled, sorted: several are compiled at a time."""
    return sorted(line.split()[1] for line in said if line.startswith("compiled "))


def call(checkout: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in the copy."""
    return subprocess.run([sys.executable, *command], cwd=checkout, capture_output=True, text=True, timeout=600)


def run(checkout: Path, code: str) -> str:
    """Runs code in the copy; what it prints."""
    done = call(checkout, "-c", "import numpy as np, dmlcy as dml\n" + textwrap.dedent(code))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_built_is_not_built_again(checkout: Path) -> None:
    """Not by the command, nor by an editable install."""
    assert build(checkout) == ["nothing to do"]
    before = modules(checkout / "dmlcy" / "_generated")
    done = call(checkout, "-c", "from setuptools import build_meta; build_meta.build_editable('dist')")
    assert done.returncode == 0 and not compiled(done.stdout.splitlines()), done.stdout + done.stderr
    assert modules(checkout / "dmlcy" / "_generated") == before


def test_a_build_narrows_a_row_and_adds_an_operator(checkout: Path) -> None:
    """A narrowed row refuses; an operator of a known family is one TOML file."""
    spec = spec_of(checkout, NEGATE)
    text = spec.read_text()
    spec.write_text(text.replace('"INT32", "UINT32"]', '"INT32"]'))
    for old, new in (
        ("ELEMENT_WISE_NEGATE", "ACTIVATION_RELU"),
        ("5_0", "1_0"),
        ("0 - x", "max(x, 0)"),
        ("-1, 2", "1, 0"),
    ):
        text = text.replace(old, new)
    spec_of(checkout, "activation_relu").write_text(text)
    said = build(checkout)
    assert compiled(said) == MODULES and "wrote docs/reference/activation_relu.md" in said
    printed = run(
        checkout,
        f"""
        x = np.array([1, -2, 3], np.int32)
        desc = dml.desc.ActivationRelu(input=dml.TensorDesc.from_array(x))
        print(dml.check(desc, feature_level="1_0"), dml.activation_relu(x), dml.compile(desc)(x), dml.{NEGATE}(x))
        try:
            dml.{NEGATE}(np.zeros(3, np.uint32))
        except dml.InvalidDataTypeError as error:
            print(error.id, dml.activation_relu(np.zeros(1, np.uint32)))
        """,
    )
    assert printed == "[] [1 0 3] [1 0 3] [-1  2 -3]\nDML-ELEMENT_WISE_NEGATE-input-dtype [0]\n"


@deep
def test_the_state_is_that_of_the_operator(checkout: Path) -> None:
    """The operator that the loops of its family do not cover runs by the reference, with the same checks."""
    text = (SMALL / f"{NEGATE}.toml").read_text()
    for old, new in (
        ("ELEMENT_WISE_NEGATE", "ACTIVATION_IDENTITY"), ("5_0", "1_0"), ("UINT32", "INT16"), ("0 - x", "x"),
        ("-1, 2", "1, -2"),
    ):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    spec_of(checkout, "activation_identity").write_text(text)
    said = build(checkout)
    assert compiled(said) == MODULES[:1] and "wrote docs/reference/activation_identity.md" in said
    shown = {name: call(checkout, "-m", "codegen", "show", name).stdout for name in (NEGATE, "activation_identity")}
    assert shown["activation_identity"].startswith("# no loops: family line has none for INT16\n\n[operator]\n")
    assert shown[NEGATE].startswith("[operator]\n")
    printed = run(
        checkout,
        f"""
        from dmlcy._cli import main
        main(["operators"])
        x = np.array([1, -2, 3], np.int32)
        for function in dml.{NEGATE}, dml.activation_identity:
            print("--", function(x))
            for wrong in np.zeros(3), np.zeros((2, 2), np.int32), [1, 2], None:
                try:
                    function(wrong)
                except dml.DmlError as error:
                    print(type(error).__name__, error)
        """,
    )
    listed, negated, same = printed.split("-- ")
    assert re.search(r"^Fast:.* ELEMENT_WISE_NEGATE .*^Reference:.* ACTIVATION_IDENTITY ", listed, re.M | re.S)
    assert " fast, 1 reference, " in listed
    assert negated.startswith("[-1  2 -3]\nInvalidDataTypeError ") and negated.count("Error") == 4
    for name in NEGATE, NEGATE.upper():
        negated = negated.replace(name, "activation_identity" if name == NEGATE else "ACTIVATION_IDENTITY")
    assert same.replace(", INT16", "") == negated.replace("[-1  2 -3]", "[ 1 -2  3]").replace(", UINT32", "")


def test_a_header_compiles_what_includes_it(checkout: Path) -> None:
    """The calls include layout.h; no module of the small family includes window_loops.h."""
    runtime = checkout / "dmlcy" / "_runtime"
    for header, including in ("layout.h", MODULES[:1]), ("window_loops.h", []):
        with (runtime / header).open("a") as file:
            file.write("/* changed */\n")
        assert compiled(build(checkout)) == including


def test_the_headers_that_setup_finds_are_those_of_the_compiler(tmp_path: Path) -> None:
    """A macro that is included, too."""
    needs_compiler()
    if shutil.which("cc") is None:
        pytest.skip("there is no compiler named cc, which lists the headers of a file with -MM")
    setup = run_path(str(ROOT / "setup.py"))
    source = tmp_path / "one.c"
    for header in sorted((ROOT / "dmlcy" / "_runtime").glob("*.h")):
        if header.name in ("both_levels.h", "levels.h", "each_size.h"):  # they include what others name
            continue
        source.write_text(f'#include "{header.name}"\n')
        command = ["cc", "-MM", "-w", f"-I{header.parent}", str(source)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert {*re.findall(r"\w+\.h", said)} <= {Path(path).name for path in setup["headers_of"](source)}, header


def test_a_broken_spec_changes_nothing(checkout: Path) -> None:
    spec, before = spec_of(checkout, NEGATE), package(checkout)
    good = spec.read_text()
    spec.write_text(good.replace('"[sizes(input)[0]]"', '"[sizes(inptu)[0]]"'))
    done = call(checkout, *BUILD)
    spec.write_text(good)
    assert done.returncode == 1
    assert f"specs/operators/line/{NEGATE}.toml" in done.stderr and "did you mean 'input'" in done.stderr
    assert package(checkout) == before


@deep
def test_a_changed_flag_compiles_again(checkout: Path) -> None:
    """Where the compiler refuses it, the package is as it was."""
    setup, before = checkout / "setup.py", package(checkout)
    good = setup.read_text()
    setup.write_text(good.replace('"-O0"', '"-fno-such-flag"'))
    done = call(checkout, *BUILD)
    assert done.returncode == 1
    assert "-fno-such-flag" in done.stderr and "the build failed; the package is as it was" in done.stderr
    assert package(checkout) == before
    setup.write_text(good.replace('"-O0"', '"-O1"'))
    assert compiled(build(checkout)) == MODULES


@deep
def test_tutorial(tmp_path: Path) -> None:
    """With a family of the package, as the page has it."""
    family = Path("specs", "operators", "rearrange")
    checkout = copied(tmp_path)
    shutil.copytree(ROOT / family, checkout / family)
    build(checkout)
    page = DOCS / "tutorial" / "specs.md"
    assert run_page(page, checkout) == len(list(blocks(page)))
    assert build(checkout) == ["nothing to do"]
    printed = run(
        checkout,
        """
        x = np.arange(2 * 12 * 3 * 2, dtype=np.float16).reshape(2, 12, 3, 2)
        y = dml.depth_to_space(x, block_size=2)
        assert (y == dml.depth_to_space1(x, block_size=2, order="DEPTH_COLUMN_ROW")).all()
        desc = dml.desc.DepthToSpace(input=dml.TensorDesc.from_array(x), block_size=2)
        assert dml.check(desc, feature_level="1_0") == [] and (dml.compile(desc)(x) == y).all()
        try:
            dml.depth_to_space(x, block_size=5)
        except dml.InvalidDescError as error:
            print(error.id)
        """,
    )
    assert printed == "DML-DEPTH_TO_SPACE-block_size-divides\n"
