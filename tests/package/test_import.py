"""What importing the package brings with it: NumPy, and of our own modules those that a call needs."""

import subprocess
import sys

import dmlcy as dml


def loaded(program: str) -> set[str]:
    """The modules that a program loads after NumPy, which it prints as text of one line each."""
    start = "import sys, numpy as np; before = {*sys.modules}"
    end = "print('\\n'.join({*sys.modules} - before))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", "\n".join((start, program, end))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def foreign(modules: set[str]) -> set[str]:
    tops = {module.partition(".")[0] for module in modules}
    # What Cython puts into sys.modules for the modules that share its types.
    cython = {top for top in tops if top.startswith(("_cython_", "cython_runtime"))}
    return tops - cython - sys.stdlib_module_names - {"dmlcy", "numpy"}


def test_nothing_but_numpy() -> None:
    assert foreign(loaded("import dmlcy")) == set()
    assert foreign(loaded("import dmlcy\nfor name in dmlcy.__all__: getattr(dmlcy, name)")) == set()


def test_a_call_needs_no_table_of_the_specs() -> None:
    program = """
import dmlcy
dmlcy.average_pooling(np.ones((1, 1, 4, 4), np.float32), window_size=2)
dmlcy.padding1(np.ones(4), start_padding=1, end_padding=1, padding_mode="EDGE")
"""
    found = loaded(program)
    assert "dmlcy._generated.api" in found
    for later in ("_check", "_errors", "_levels", "_spec", "_generated.operators", "_generated.desc", "desc", "specs"):
        assert f"dmlcy.{later}" not in found
    assert not {name for name in found if name.startswith("numpy")}


def test_every_public_name_is_found() -> None:
    names: dict[str, object] = {}
    exec("from dmlcy import *", names)
    assert set(dml.__all__) <= {*names, "__version__"}
    assert set(dir(dml)) == set(dml.__all__)
    assert len(set(dml.__all__)) == len(dml.__all__)
    assert not hasattr(dml, "nothing")
