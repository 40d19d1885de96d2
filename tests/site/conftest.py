"""The site, built once, for the tests that read it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx", "sphinx_copybutton", "sphinx_design")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site; DMLCY_SITE names one that is built already."""
    if built := os.environ.get("DMLCY_SITE"):
        return Path(built)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the site needs pip install '.[docs]': there is no {', '.join(missing)}")
    out = tmp_path_factory.mktemp("site")
    doctrees = tmp_path_factory.mktemp("doctrees")
    arguments = ["-q", "-W", "--keep-going", "-d", doctrees, ROOT / "docs", out]
    build = subprocess.run([sys.executable, "-P", "-m", "sphinx", *map(str, arguments)], capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    return out
