"""Runs a program of PyDirectML: ``import directml`` and ``import pydirectml`` give dmlcy.directml there."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

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
    sys.modules.update(dict.fromkeys(NAMES, module))
    sys.argv = [*arguments]
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(str(script), run_name="__main__")
    return 0
