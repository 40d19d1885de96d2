"""docs/cpp.md and docs/e-invalidarg.md: their programs compile, and their commands print what the pages show."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from compilers import FOLDER, SANITIZED, Programs
from shown_pages import DOCS, blocks, run_commands

LAYERED = FOLDER / "layered.cpp"


def parts(page: str, language: str) -> list[str]:
    return [code for one, code, _ in blocks(DOCS / page) if one == language]


def test_the_page_of_cpp(programs: Programs, tmp_path: Path) -> None:
    program, layer = parts("cpp.md", "cpp")
    (tmp_path / "program.cpp").write_text(program, encoding="utf-8")
    shutil.copy(programs.built(tmp_path / "program.cpp"), tmp_path / "program")
    assert layer.splitlines()[-1] == 'dmlcy::layer(&device, "descs");'
    layered = programs.built(LAYERED, "-pthread", *SANITIZED)
    subprocess.run([layered, "calls", tmp_path / "descs"], check=True)
    for code in parts("cpp.md", "console"):
        run_commands(code, tmp_path)


def test_the_desc_of_the_page_about_80070057(programs: Programs, tmp_path: Path) -> None:
    """The fragment, with the two lines of the page in front of CreateOperator, prints what lint refuses."""
    fragment, lines = parts("e-invalidarg.md", "cpp")
    include, _, line = lines.strip().partition("\n")
    before, call, _ = fragment.partition("HRESULT result = device->CreateOperator")
    assert call
    text = f"#include <DirectML.h>\n#include <cstdio>\n{include}\nint main() {{\n{before}{line}\n}}\n"
    (tmp_path / "fragment.cpp").write_text(text, encoding="utf-8")
    shutil.copy(programs.built(tmp_path / "fragment.cpp"), tmp_path / "program")
    (code,) = parts("e-invalidarg.md", "console")
    run_commands(code, tmp_path)


@pytest.mark.parametrize("page", ["cpp.md"])
def test_the_build_file_finds_the_headers(page: str, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    (snippet,) = parts(page, "cmake")
    (tmp_path / "program.cpp").write_text('#include "dmlcy_layer.h"\nint main() {}\n', encoding="utf-8")
    head = "cmake_minimum_required(VERSION 3.19)\nproject(program CXX)\nadd_executable(program program.cpp)\n"
    end = 'file(WRITE "${CMAKE_BINARY_DIR}/found" "${DMLCY_INCLUDE}")\n'
    (tmp_path / "CMakeLists.txt").write_text(head + snippet + end, encoding="utf-8")
    run_commands("$ cmake -S . -B build > log\n", tmp_path)
    assert (Path((tmp_path / "build" / "found").read_text(encoding="utf-8")) / "dmlcy_layer.h").is_file()
