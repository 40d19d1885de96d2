"""Tests of the golden samples: each shows one data type of its family, and compiles."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiling import needs_compiler
from depth import deep
from planned import planned

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "codegen" / "golden"
DTYPES = r"FLOAT(?:16|32|64)|U?INT(?:8|16|32|64)"
FAMILIES = {
    "calls": sorted(one.family.name for one in planned().families),
    "kernels": sorted(one.family.name for one in planned().families if one.fast),
}


def test_every_family_has_them() -> None:
    for kind in ("calls/*.pyx", "kernels/*.pyx", "kernels/*.pxd"):
        assert [path.stem for path in sorted(GOLDEN.glob(kind))] == FAMILIES[kind.partition("/")[0]]


@pytest.mark.parametrize("family", FAMILIES["kernels"])
def test_its_loops_show_one_data_type(family: str) -> None:
    kernels = (GOLDEN / "kernels" / f"{family}.pyx").read_text(encoding="utf-8")
    assert len({*re.findall(rf"_({DTYPES})_", kernels)}) <= 1


@pytest.mark.parametrize("family", FAMILIES["calls"])
def test_it_shows_one_data_type(family: str) -> None:
    text = (GOLDEN / "calls" / f"{family}.pyx").read_text(encoding="utf-8")
    tables = re.findall(r"uint32_t dmlcy_[A-Z0-9_]+_T\[\d+\] = \{(.*?)\}", text, re.S)
    (values,) = {int(number, 16) for table in tables for number in re.findall(r"0x\w+", table)} - {0}
    assert values.bit_count() == 1


def smallest_first(kind: str) -> list[Any]:
    """The families of a kind of modules: the one with the smallest module by default, the others with ``-m deep``."""
    smallest = min(GOLDEN.glob(f"{kind}/*.pyx"), key=lambda path: path.stat().st_size).stem
    return [pytest.param(name, kind, marks=() if name == smallest else deep) for name in FAMILIES[kind]]


@pytest.mark.parametrize(("family", "kind"), [case for kind in FAMILIES for case in smallest_first(kind)])
def test_it_compiles(family: str, kind: str, tmp_path: Path) -> None:
    needs_compiler()
    if sys.platform == "win32":
        pytest.skip("the compiler of Windows does not take these options")
    made = tmp_path / f"{family}.c"
    translate = [
        sys.executable,
        "-m",
        "cython",
        "-3",
        "-Werror",
        "-X",
        "cdivision=True",
        str(GOLDEN / kind / f"{family}.pyx"),
        "-o",
        str(made),
    ]
    subprocess.run(translate, cwd=ROOT, check=True)
    compiler = shlex.split(os.environ.get("CC") or str(sysconfig.get_config_var("CC")))
    folders = [ROOT / "dmlcy" / "_runtime", np.get_include(), sysconfig.get_path("include")]
    options = ["-fsyntax-only", "-Wno-psabi"]
    subprocess.run([*compiler, *options, *(f"-I{folder}" for folder in folders), str(made)], check=True)
