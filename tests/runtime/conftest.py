"""Builds probe.pyx, through which the tests call the C functions of the runtime."""

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from compiling import needs_compiler

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

BUILD = """
import sys
import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
source, root, folder = sys.argv[1:]
module = Extension("runtime_probe", [source], include_dirs=[numpy.get_include(), root + "/dmlcy/_runtime"],
                   define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                   extra_compile_args=[] if sys.platform == "win32" else ["-O0"])
setup(name="runtime_probe", packages=[], script_args=["-q", "build_ext", "--build-lib", folder, "--build-temp", folder],
      ext_modules=cythonize([module], include_path=[root], build_dir=folder, language_level=3, quiet=True))
"""


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Return the built module, which all processes of pytest-xdist share; its file is named in __file__."""
    needs_compiler()
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "probe"
    try:
        folder.mkdir()
    except FileExistsError:
        built = wait_for(folder / "built")
    else:
        built = build(folder)
        (folder / "built.new").write_text(built)
        (folder / "built.new").rename(folder / "built")
    assert not built, built
    [file] = [path for path in folder.iterdir() if path.suffix in (".so", ".pyd")]
    spec = importlib.util.spec_from_file_location("runtime_probe", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(folder: Path) -> str:
    """Build the module in a folder; return what went wrong."""
    source = folder / "runtime_probe.pyx"
    source.write_text((HERE / "probe.pyx").read_text())
    command = [sys.executable, "-c", BUILD, source.name, str(ROOT), "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def wait_for(file: Path, seconds: float = 300) -> str:
    """Wait until another process has written a file; return its text."""
    end = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < end, f"{file} did not appear in {seconds} s"
        time.sleep(0.1)
    return file.read_text()
