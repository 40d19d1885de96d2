"""README's first screen in an environment that has the wheel and NumPy only, from an empty folder, without a compiler.

``python -m tests.bare WHEEL [OPTION OF PIP ...]`` makes the environment and runs each command and the code. No program
in C++ is compiled: its headers are printed. Only the standard library of Python is needed here.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETUP = """
import numpy as np, dmlcy as dml, dmlcy.onnx
x = np.random.default_rng(0).random((2, 1, 8, 8), np.float32)
model = dmlcy.onnx.load("model.onnx")
names = [one.name for one in model.outputs]
np.save("image.npy", x)
np.savez("gpu.npz", **dict(zip(names, model.run({"image": x}, names).values())))
"""
"""Writes the files that the commands name beside the model."""


def first_screen() -> str:
    """README up to the section that installs the package."""
    return (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Install and run\n")[0]


def blocks(language: str, text: str) -> Iterator[str]:
    """The blocks of a language."""
    yield from re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands() -> list[list[str]]:
    """The commands of the first screen, in words."""
    lines = [line for block in blocks("sh", first_screen()) for line in block.splitlines()]
    headers = re.findall(r'#include "(\w+)\.h"', "".join(blocks("cpp", first_screen())))
    found = [shlex.split(line, comments=True) for line in lines]
    return [*found, *(["dmlcy", "cpp-header", *(["--layer"] if "layer" in name else [])] for name in headers)]


def run(python: Path, folder: Path, *words: str) -> str:
    """The output of a Python that finds neither a compiler nor the checkout."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    environment = kept | {"PATH": str(python.parent), "CC": "none", "CXX": "none"}
    command = [str(python), *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def run_screen(python: Path, folder: Path) -> None:
    """Runs the commands and README's code in an empty folder, which gets the files that the commands name."""
    digits = Path("examples", "onnx", "digits.onnx")
    (folder / digits).parent.mkdir(parents=True)
    for name in (digits, "model.onnx"):
        shutil.copy(ROOT / digits, folder / name)
    run(python, folder, "-c", SETUP)
    run(python, folder, "-c", "\n".join(blocks("python", (ROOT / "README.md").read_text(encoding="utf-8"))))
    for command in commands():
        assert run(python, folder, "-m", *command), command


def absolute(word: str) -> str:
    """A path as another folder has it; an option as it is."""
    return os.path.abspath(word) if os.path.exists(word) else word


def main() -> None:
    """Make the environment, and run all."""
    wheel, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        venv.create(Path(work) / "venv", with_pip=True)
        python = Path(work) / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        folder = Path(work) / "empty"
        folder.mkdir()
        run(python, folder, "-m", "pip", "install", "--quiet", *map(absolute, options), absolute(wheel))
        listed = run(python, folder, "-m", "pip", "list", "--format", "freeze")
        assert {*re.findall(r"^([\w-]+)==", listed, re.MULTILINE)} <= {"dmlcy", "numpy", "pip", "setuptools"}, listed
        run_screen(python, folder)
    print(f"{len(commands())} commands of README's first screen run with the wheel alone")


if __name__ == "__main__":
    main()
