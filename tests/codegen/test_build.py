"""Editing a spec is one command: `python -m codegen build` in a copy of the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from sysconfig import get_platform

import pytest
from compiling import needs_compiler
from shown_pages import DOCS, blocks, run_page

import dmlcy

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with the extension modules of the package under test beside their sources."""
    needs_compiler()
    copy = tmp_path_factory.mktemp("checkout")
    built = ("__pycache__", "*.so", "*.pyd", "lib.*", "bdist.*", "*.egg-info", "sanitized", "lines", "site")
    ignore = shutil.ignore_patterns(*built)
    for name in ("specs", "codegen", "dmlcy", "build"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=ignore)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, copy / name)
    (copy / "tests" / "codegen").mkdir(parents=True)
    package = Path(dmlcy.__file__).parent
    # Where setuptools looks whether a module is older than its sources, and where it then puts it.
    library = copy / "build" / f"lib.{get_platform()}-{sys.implementation.cache_tag}" / "dmlcy"
    for module in (*package.glob("_*/*.so"), *package.glob("_*/*.pyd")):
        for folder in (library, copy / "dmlcy"):
            (folder / module.parent.name).mkdir(parents=True, exist_ok=True)
            shutil.copy(module, folder / module.relative_to(package))
    build(copy)
    return copy


def build(checkout: Path) -> set[str]:
    """Runs the one command; the extension modules that it rebuilt."""
    modules = [path for kind in ("so", "pyd") for path in (checkout / "dmlcy").glob(f"_*/*.{kind}")]
    before = {path: path.stat().st_mtime_ns for path in modules}
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "build"], cwd=checkout, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name.split(".")[0] for path, time in before.items() if path.stat().st_mtime_ns != time}


def run(checkout: Path, code: str) -> str:
    """Runs Python in the copy."""
    code = "import numpy as np, dmlcy as dml\n" + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_narrowed_row_refuses(checkout: Path) -> None:
    spec = checkout / "specs" / "operators" / "pad" / "padding1.toml"
    spec.write_text(spec.read_text().replace('"UINT16", "UINT8"]', '"UINT16"]'))
    assert build(checkout) <= {"pad"}
    printed = run(
        checkout,
        """
        try:
            dml.padding1(np.zeros(3, np.uint8), start_padding=1, end_padding=1)
        except dml.InvalidDataTypeError as error:
            print(error)
        print(dml.padding1(np.ones(1, np.uint16), start_padding=1, end_padding=1))
        """,
    )
    assert "[DML-PADDING1-input-dtype]" in printed
    assert "[0 1 0]" in printed


def test_an_operator_of_a_known_family_is_one_toml_file(checkout: Path) -> None:
    tutorial = DOCS / "tutorial" / "specs.md"
    assert run_page(tutorial, checkout) == len(list(blocks(tutorial)))
    assert build(checkout) == set()
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


def test_a_broken_spec_changes_nothing(checkout: Path) -> None:
    spec = checkout / "specs" / "operators" / "pad" / "padding1.toml"
    good = spec.read_text()
    spec.write_text(good.replace('value = "dtype(output)"', 'value = "dtype(outptu)"'))
    done = subprocess.run([sys.executable, "-m", "codegen", "build"], cwd=checkout, capture_output=True, text=True)
    spec.write_text(good)
    assert done.returncode == 1
    assert "specs/operators/pad/padding1.toml" in done.stderr and "did you mean 'output'" in done.stderr
    assert run(checkout, "print(dml.padding1(np.ones(1, np.uint16), start_padding=0, end_padding=1))") == "[1 0]\n"
