"""Imports of the package: NumPy, and only the modules of our own that a call needs."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import dmlcy as dml


def loaded(program: str, quiet: bool = False) -> set[str]:
    """The modules that a program loads after NumPy, which it prints as text of one line each."""
    start = "import sys, numpy as np; before = {*sys.modules}"
    start += "; import io; out, sys.stdout = sys.stdout, io.StringIO()" if quiet else "; out = sys.stdout"
    end = "print('\\n'.join({*sys.modules} - before), file=out)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", "\n".join((start, program, end))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def foreign(modules: set[str]) -> set[str]:
    tops = {module.partition(".")[0] for module in modules}
    # The modules that Cython puts into sys.modules for the modules that share its types.
    cython = {top for top in tops if top.startswith(("_cython_", "cython_runtime"))}
    return tops - cython - sys.stdlib_module_names - {"dmlcy", "numpy"}


def test_nothing_but_numpy() -> None:
    assert foreign(loaded("import dmlcy")) == set()
    assert foreign(loaded("import dmlcy\nfor name in dmlcy.__all__: getattr(dmlcy, name)")) == set()


def generated(modules: set[str]) -> set[str]:
    """The modules generated for families and operators, by their names in the folder of generated modules."""
    inside = {name.removeprefix("dmlcy._generated.") for name in modules if name.startswith("dmlcy._generated.")}
    folders = {"arguments", "calls", "dask", "descs", "enums", "facts", "functions", "index", "kernels", "operators"}
    return inside - folders


def test_the_import_loads_no_family_and_no_operator() -> None:
    found = loaded("import dmlcy\ndir(dmlcy), dmlcy.__all__")
    assert generated(found) == set()
    assert {name for name in found if name.startswith("dmlcy._generated.")} == {"dmlcy._generated.index"}


def test_a_call_loads_its_family_and_no_table() -> None:
    program = """
import dmlcy
dmlcy.average_pooling(np.ones((1, 1, 4, 4), np.float32), window_size=2)
dmlcy.padding1(np.ones(4), start_padding=1, end_padding=1, padding_mode="EDGE")
"""
    found = loaded(program)
    assert generated(found) == {
        "calls.window_reduce", "kernels.window_reduce", "calls.pad", "kernels.pad", "functions.average_pooling",
        "functions.padding1",
    }  # fmt: skip
    for later in ("_check", "_errors", "_facts", "_generated.operators", "_generated.descs", "desc", "specs"):
        assert f"dmlcy.{later}" not in found
    assert not {name for name in found if name.startswith("numpy")}


def test_a_desc_loads_its_own_module_and_its_own_table() -> None:
    program = """
import dmlcy
pad = dmlcy.desc.Padding1(input=dmlcy.TensorDesc("FLOAT32", [4]), start_padding=1, end_padding=1)
assert not dmlcy.check(pad) and dmlcy.desc.OperatorDesc.from_dict(pad.to_dict()) == pad
"""
    assert generated(loaded(program)) == {"descs.padding1", "operators.padding1"}
    compiled = f"{program}\ndmlcy.compile(pad)(np.ones(4, np.float32))"
    assert generated(loaded(compiled)) == {"descs.padding1", "operators.padding1", "calls.pad", "kernels.pad"}


def test_a_refused_call_loads_its_own_table() -> None:
    program = """
import dmlcy
try:
    dmlcy.padding1(np.ones(4), start_padding=-1, end_padding=1)
except dmlcy.DmlError as error:
    assert error.id == "DML-PADDING1-start_padding-range"
"""
    assert generated(loaded(program)) == {"functions.padding1", "calls.pad", "kernels.pad", "operators.padding1"}


def test_lint_of_a_model_loads_the_tables_of_its_operators(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    made = subprocess.run(
        [sys.executable, "-P", "-m", "dmlcy", "example", "PADDING1"], capture_output=True, text=True, check=True
    )
    model.write_text(made.stdout)
    for format in ("text", "json", "sarif"):
        program = f"from dmlcy._cli import main\nmain(['lint', {str(model)!r}, '--format', {format!r}])"
        found = {name for name in loaded(program, quiet=True) if name.startswith("dmlcy._generated.")}
        assert generated(found) == {"descs.padding1", "operators.padding1"}, format


def test_threads_that_ask_first() -> None:
    """Each thread gets the same function, and it works."""
    program = """
import threading, dmlcy
start, found = threading.Barrier(8), []
def ask():
    start.wait()
    found.append((dmlcy.padding1, dmlcy.PaddingMode, dmlcy.desc.Padding1, dmlcy.unfold))
    found[-1][0](np.ones(4), start_padding=1, end_padding=1, padding_mode="EDGE")
threads = [threading.Thread(target=ask) for _ in range(8)]
[one.start() for one in threads]
[one.join(60) for one in threads]
assert len(found) == 8 and len(set(found)) == 1
"""
    loaded(program)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_asks_first_while_a_thread_of_its_parent_imports() -> None:
    program = """
import os, threading, time, dmlcy
from importlib.abc import MetaPathFinder
begun = threading.Event()
class Slow(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "dmlcy._generated.calls.pad":
            begun.set()
            time.sleep(0.2)
sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=lambda: dmlcy.padding1)
thread.start()
begun.wait()
child = os.fork()
if not child:
    dmlcy.padding1(np.ones(4), start_padding=1, end_padding=1)
    os._exit(0)
for _ in range(600):
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    time.sleep(0.05)
else:
    os.kill(child, 9)
assert done and status == 0, (done, status)
thread.join()
"""
    loaded(program)


def test_a_family_that_cannot_be_imported_says_so() -> None:
    """Only its operators are missing then, and each time that one of them is asked for the error is the same."""
    program = """
import dmlcy
sys.modules["dmlcy._generated.calls.pad"] = None
for _ in range(2):
    try:
        dmlcy.padding1
    except ImportError as error:
        assert error.name == "dmlcy._generated.calls.pad", error.name
    else:
        raise AssertionError
dmlcy.unfold(np.ones((1, 1, 4, 4), np.float32), window_sizes=2)
"""
    loaded(program)


def test_functions_and_classes_are_pickled_by_their_public_names() -> None:
    program = "import pickle, dmlcy\nprint(pickle.loads(bytes.fromhex('{}')) is dmlcy.{})"
    for name in ("padding1", "PaddingMode", "desc.Padding1"):
        thing = dml
        for part in name.split("."):
            thing = getattr(thing, part)
        done = subprocess.run(
            [sys.executable, "-P", "-c", program.format(pickle.dumps(thing).hex(), name)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout == "True\n", done.stderr


def test_the_doctests_of_all_functions_are_collected() -> None:
    program = """
import doctest, dmlcy
from dmlcy._facts.tables import RUNNABLE
tests = [test.name.rpartition(".")[2] for test in doctest.DocTestFinder().find(dmlcy) if test.examples]
assert {*dmlcy._index.ENUMS, "TensorDesc"} & {*tests} == set()
assert sorted(tests) == sorted(operator.python for operator in RUNNABLE.values()), tests
"""
    loaded(program)


def test_every_public_name_is_found() -> None:
    names: dict[str, object] = {}
    exec("from dmlcy import *", names)
    assert set(dml.__all__) <= {*names, "__version__"}
    assert set(dir(dml)) == set(dml.__all__)
    assert len(set(dml.__all__)) == len(dml.__all__)
    assert not hasattr(dml, "nothing")


def folders(modules: set[str]) -> set[str]:
    """The private folders and files of the package, and the parts of the front ends, that modules are of."""
    inside = {name.removeprefix("dmlcy.") for name in modules if name.startswith("dmlcy.")}
    return {".".join(name.split(".")[: 2 if name.startswith("_frontends.") else 1]) for name in inside}


RUN = {
    "_check", "_cli", "_compile", "_desc", "_errors", "_facts", "_field_types", "_frontends", "_frontends.dxdispatch",
    "_frontends.graphs", "_generated", "_graph", "_runtime", "_types", "_version", "_words",
}  # fmt: skip
"""The code that both commands below need."""
ROOT = Path(__file__).parents[2]


def test_a_model_that_runs_loads_no_graph_and_nothing_that_judges() -> None:
    program = f"""
from dmlcy._cli import main
assert main(["run", {str(ROOT / "examples" / "average_pooling.json")!r}]) == 0
"""
    found = loaded(program, quiet=True)
    assert folders(found) == RUN | {"_show"}
    inside = {name.removeprefix("dmlcy.") for name in found}
    assert {name for name in inside if name.startswith("_frontends.graphs.")} == {
        f"_frontends.graphs.{name}" for name in ("files", "form", "kinds")
    }
    assert {name for name in inside if name.startswith("_graph.")} == {"_graph.limits"}
    assert {name for name in inside if name.startswith("_show.")} == {"_show.terminal"}
    assert {name for name in inside if name.startswith("_cli.")} == {
        "_cli.options", "_cli.run", "_cli.run_model", "_cli.warnings",
    }  # fmt: skip
    assert not {"_check.repairs", "_check.changes", "_frontends.dxdispatch.graph_models"} & inside
    assert generated(found) == {
        "calls.window_reduce", "kernels.window_reduce", "operators.average_pooling", "descs.average_pooling",
    }  # fmt: skip
    assert not {"secrets", "hashlib", "random", "numpy.random", "inspect", "tomllib", "PIL"} & found


def test_a_graph_that_runs_loads_nothing_that_judges_or_shows() -> None:
    program = f"""
from dmlcy._cli import main
assert main(["run", {str(ROOT / "examples" / "graphs" / "directions.json")!r}]) == 0
"""
    found = loaded(program, quiet=True)
    assert folders(found) == RUN | {"_arithmetic", "_families", "_frontends.serialized"}
    inside = {name.removeprefix("dmlcy.") for name in found}
    assert {name for name in inside if name.startswith("_frontends.serialized.")} == {"_frontends.serialized.problems"}
    unneeded = ("profile", "timing", "residents", "build", "operators")
    assert not inside & {f"_graph.{name}" for name in unneeded}
    assert not inside & {"_cli.run_model", "_frontends.dxdispatch.model", "_frontends.graphs.serialized"}
