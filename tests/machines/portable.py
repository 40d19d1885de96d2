"""Runs Python on a build of the package that is C11 and nothing more: ``DMLCY_PORTABLE=1``.

``python -m tests.machines.portable -m pytest tests/operators`` builds what changed, into a folder of its own, and runs
``python -m pytest tests/operators`` on it.
"""

from __future__ import annotations

import os
import sys
from typing import Final

from tests import separate_build

NAME: Final = "portable"


def main(arguments: list[str]) -> None:
    """Build, then become the Python that was asked for."""
    separate_build.build(NAME, {"DMLCY_PORTABLE": "1"})
    os.execve(sys.executable, [sys.executable, *arguments], separate_build.environment(NAME))


if __name__ == "__main__":
    main(sys.argv[1:])
