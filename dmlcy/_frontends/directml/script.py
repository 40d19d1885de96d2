"""Runs a program of PyDirectML: ``import directml`` and ``import pydirectml`` give dmlcy.directml there."""

from __future__ import annotations

import functools
import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType, TracebackType

NAMES = ("directml", "pydirectml")
USAGE = "usage: python -m dmlcy.directml SCRIPT [ARGUMENTS]"


def main(arguments: Sequence[str], module: ModuleType) -> int:
    """Runs the script with its arguments; 2 where there is none. ``module`` is dmlcy.directml."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, "Runs a program that says import directml or import pydirectml, on the CPU.", sep="\n")
        return 0 if arguments else 2
    script = Path(arguments[0])
    if not script.is_file():
        print(f"error: cannot read {script}: there is no such file", file=sys.stderr)
        return 2
    sys.excepthook = functools.partial(_show, str(script))
    run(str(script), arguments[1:], dict.fromkeys(NAMES, module))
    return 0


def _show(script: str, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Shows an error as Python does for ``python SCRIPT``: without the frames that lead to the program."""
    at = trace
    while at is not None and at.tb_frame.f_code.co_filename != script:
        at = at.tb_next
    at = at or trace  # a program that is not Python has no frame of its own
    sys.__excepthook__(kind, error.with_traceback(at), at)


def run(script: str, arguments: Sequence[str], modules: Mapping[str, ModuleType]) -> None:
    """Runs a program, which finds these modules, its arguments, and the modules beside it."""
    sys.modules.update(modules)
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    runpy.run_path(script, run_name="__main__")
