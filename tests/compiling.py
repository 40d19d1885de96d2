"""Whether the tests can compile what they make."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig

import pytest


def needs_compiler() -> None:
    """Skip what must compile a module where Cython or the compiler that Python asks for is missing."""
    pytest.importorskip("Cython", reason="Cython is not installed")
    if sys.platform == "win32":
        return  # setuptools looks for it in the registry
    compiler = shlex.split(os.environ.get("CC") or str(sysconfig.get_config_var("CC")))[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no C compiler: {compiler} is not found")
