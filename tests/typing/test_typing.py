"""Type checkers on the package: right uses, wrong ones, every operator; and whether the stubs are true."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from depth import deep, of_each_family

import dmlcy
from dmlcy._facts.rows import Example, Field, Operator
from dmlcy._facts.tables import DTYPES, ENUMS, IN_CHUNKS, OPERATORS
from dmlcy._field_types.tensor_desc import described

HERE = Path(__file__).parent
PACKAGE = Path(dmlcy.__file__).parent
FOLDERS = {"dmlcy": "functions", "dmlcy.desc": "descs", "dmlcy.dask": "dask"}
LONGEST = 1500
"""Lines of a stub file: an editor opens it at once."""
ATTRIBUTES: Final = {
    "uint": "int", "int": "int", "uint_array": "tuple[int, ...]", "int_array": "tuple[int, ...]",
    "float": "float", "float_array": "tuple[float, ...]", "bool": "bool", "size_2d": "dml.desc.Size2D",
    "scalar_union": "int | float", "scale_bias": "dml.desc.ScaleBias", "operator_desc": "dml.desc.OperatorDesc",
    "operator_desc_array": "tuple[dml.desc.OperatorDesc, ...]",
}  # fmt: skip


def run(module: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs mypy, pyright or stubtest on the package that the tests import."""
    pytest.importorskip(module.partition(".")[0], reason=f"{module} is not installed: it does not check the types")
    environment = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    root = PACKAGE.parent
    if root.name not in ("site-packages", "dist-packages"):
        environment |= {"MYPYPATH": str(root), "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(params=["some", pytest.param("every", marks=deep)])
def uses(tmp_path: Path, own_checkout: tuple[Path, Any], request: pytest.FixtureRequest) -> Path:
    """A folder with the uses that type checkers look at: those written here, and those of every operator.

    By default of an operator of each family: to look at all of them takes as long as to look at NumPy.
    """
    names = [*OPERATORS] if request.param == "every" else [one.values[0] for one in of_each_family() if not one.marks]
    for name in ("right.py", "wrong.py"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "every_operator.py").write_text("\n".join(every_operator(names)) + "\n")
    (tmp_path / "not_runnable.py").write_text("\n".join(described_operator(tmp_path, *own_checkout)) + "\n")
    return tmp_path


def described_operator(folder: Path, root: Path, plan: Any) -> Iterator[str]:
    """Calls of an operator that does not run, of a spec of the tests; its stub is beside them."""
    from own_specs import put_in_place

    (op,) = plan.operators
    stub = (root / "dmlcy" / "_generated" / "functions" / f"{op.python}.pyi").read_text(encoding="utf-8")
    (folder / "described_stub.pyi").write_text(f"# pyright: reportPrivateUsage=false\n{stub}", encoding="utf-8")
    yield "from typing import NoReturn"
    yield "import described_stub as dml"
    with pytest.MonkeyPatch.context() as patch:
        put_in_place(patch, root, plan)
        yield from refused_calls(OPERATORS[op.name], OPERATORS[op.name].examples[0])


def every_operator(names: Iterable[str]) -> Iterator[str]:
    """Calls and descs of operators as their examples have them, with the types they are to have."""
    yield "from typing import Any, assert_type"
    yield "import numpy as np"
    yield "import dmlcy as dml"
    yield "from dmlcy import TensorDesc"
    for operator in map(OPERATORS.__getitem__, names):
        if operator.runs:
            yield from calls(operator, operator.examples[0])
        yield from descs(operator, operator.examples[0])


RESULT = "np.ndarray[Any, np.dtype[Any]]"


def given(attributes: dict[str, object]) -> dict[str, object]:
    """Attributes, sequences as tuples."""
    return {name: tuple(x) if isinstance(x, list) else x for name, x in attributes.items()}


def numpy_type(dtype: str) -> str:
    """The type of an array of a data type."""
    return f"np.ndarray[Any, np.dtype[np.{DTYPES[dtype].numpy}]]"


def several(types: list[str]) -> str:
    """The type of a result of some outputs."""
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"


def calls(operator: Operator, example: Example) -> Iterator[str]:
    """The result is an array of the data type of the input that it shares one with, or what is given as ``out``."""
    inputs = [field for field in operator.fields if field.kind == "input"]
    outputs = [field for field in operator.fields if field.kind == "output"]
    sure, asked = ([field for field in outputs if field.optional is one] for one in (False, True))
    like = outputs[0].same_dtype_as
    attributes = [f"{name}={value!r}" for name, value in given(operator.example_arguments(example)).items()]
    if not sure:  # one of them has to be asked for
        sure, asked = asked[:1], asked[1:]
        attributes.append(f"{sure[0].python}=True")
    array = sure[0].type == "tensor_array"

    def call(arrays: Iterable[str], *more: str) -> str:
        return f"dml.{operator.python}({', '.join([*arrays, *attributes, *more])})"

    def of(field: Field, dtype: str) -> str:
        if field.same_dtype_as is not None and field.same_dtype_as == like and operator.has_type(field):
            return numpy_type(dtype)
        limited = any(rule.about == field.python and f"{field.python}.dtype" in rule.reads for rule in operator.rules)
        return numpy_type(field.default_dtype) if field.same_dtype_as is None and not limited else RESULT

    for dtype in sorted({name for row in outputs[0].dtypes for name in row.dtypes if DTYPES[name].numpy}):
        arrays = []
        for field in inputs:
            first = next(name for name in field.dtypes[0].dtypes if DTYPES[name].numpy)
            own = dtype if field.python == like else first
            one = f"np.zeros(1, np.{DTYPES[own].numpy})"
            arrays.append(f"[{one}]" if field.type == "tensor_array" else one)
        known = [f"tuple[{of(field, dtype)}, ...]" if array else of(field, dtype) for field in sure]
        yield f"assert_type({call(arrays)}, {several(known)})"
        for other in asked:
            first = of(other, dtype)
            also = {"True": first} | ({} if other.same_dtype_as else {f'"{dtype}"': RESULT})
            yield f"assert_type({call(arrays, f'{other.python}=False')}, {several(known)})"
            for value, one in also.items():
                yield f"assert_type({call(arrays, f'{other.python}={value}')}, {several([*known, one])})"
        for other in sure:
            if not operator.has_type(other):
                found = [RESULT if one is other else kind for one, kind in zip(sure, known, strict=True)]
                for value in (f'"{dtype}"', f"np.{DTYPES[dtype].numpy}"):
                    yield f"assert_type({call(arrays, f'{other.python}_dtype={value}')}, {several(found)})"
    rest = ['[b""]' if field.type == "tensor_array" else 'b""' for field in inputs]
    unknown = [of(field, "") if field.same_dtype_as is None else RESULT for field in sure]
    if array:
        yield f"assert_type({call(rest)}, {several([f'tuple[{one}, ...]' for one in unknown])})"
        yield f"assert_type({call(rest, 'out=(bytearray(4),)')}, tuple[bytearray])"
        yield f"{call(rest, 'out=bytearray(4)')}  # type: ignore"
        return
    out = ["bytearray(4)"] * len(sure)
    yield f"assert_type({call(rest)}, {several(unknown)})"
    for taken in [out, *([*out, "bytearray(4)"] for _ in asked)]:
        more = [f"{other.python}=True" for other in asked[: len(taken) - len(out)]]
        one = taken[0] if len(taken) == 1 else f"({', '.join(taken)})"
        yield f"assert_type({call(rest, *more, f'out={one}')}, {several(['bytearray'] * len(taken))})"
        yield f"{call(rest, *more, 'out=1')}  # type: ignore"
        wrong = "(bytearray(4), bytearray(4))" if len(taken) == 1 else "bytearray(4)"
        yield f"{call(rest, *more, f'out={wrong}')}  # type: ignore"
    for other in asked:
        yield f"{call(rest, f'{other.python}=1')}  # type: ignore"
    yield f"{call(rest, 'nothing=1')}  # type: ignore[call-overload]"
    if inputs:
        yield f"{call(['1', *rest[1:]])}  # type: ignore"
    for field in operator.fields:
        if field.kind == "attribute" and field.value is None and field.type.startswith("enum:"):
            kept = attributes
            left = [one for one in attributes if not one.startswith(f"{field.python}=")]
            for spelling in spellings(field):
                attributes = [*left, f"{field.python}={spelling}"]
                yield call(rest)
            attributes = [*left, f'{field.python}="NO_SUCH"']
            yield f"{call(rest)}  # type: ignore"
            attributes = kept


def refused_calls(operator: Operator, example: Example) -> Iterator[str]:
    """An operator that does not run: its parameters are known, and nothing comes after a call."""
    inputs = [field for field in operator.fields if field.kind == "input"]
    rest = ['[b""]' if field.type == "tensor_array" else 'b""' for field in inputs]
    given_ = [f"{name}={value!r}" for name, value in given(operator.example_arguments(example)).items()]
    for number, more in enumerate(([], ["nothing=1"])):
        call = f"dml.{operator.python}({', '.join([*rest, *given_, *more])}){'  # type: ignore' if more else ''}"
        yield f"def {operator.python}_{number}() -> NoReturn:\n    {call}"


def spellings(field: Field) -> Iterator[str]:
    """How a member of the enum of an attribute is written."""
    info = ENUMS[field.type.removeprefix("enum:")]
    for name, (member, _) in info.members.items():
        yield f"dml.{info.cls.__name__}.{member.name}"
        yield f'"{name}"'
        yield f'"{info.prefix}{name}"'


def descs(operator: Operator, example: Example) -> Iterator[str]:
    """Each field of a desc has its type, and cannot be assigned."""
    tensors = "".join(f"{name}={desc!r}, " for name, desc in described(operator.example_tensors(example)).items())
    attributes = ", ".join(f"{name}={value!r}" for name, value in given(example.attributes).items())
    name = operator.python
    yield f"{name} = dml.desc.{operator.desc}({tensors}{attributes})"
    for field in operator.fields:
        absent = " | None" if field.optional else ""
        if field.kind != "attribute":
            tensors = "tuple[dml.TensorDesc, ...]" if field.type == "tensor_array" else "dml.TensorDesc"
            yield f"assert_type({name}.{field.python}, {tensors}{absent})"
        elif field.type.startswith("enum:"):
            yield f"assert_type({name}.{field.python}, dml.{ENUMS[field.type.removeprefix('enum:')].cls.__name__})"
        else:
            yield f"assert_type({name}.{field.python}, {ATTRIBUTES[field.type]}{absent})"
    yield f"{name}.nothing  # type: ignore"


def test_mypy(uses: Path, pytestconfig: pytest.Config) -> None:
    kept = getattr(pytestconfig, "cache", None)
    cache = uses if kept is None else kept.mkdir("mypy")
    result = run(
        "mypy", "--config-file=", "--strict", "--warn-unused-ignores", "--follow-imports=silent",
        f"--cache-dir={cache}", *sorted(uses.glob("*.py")), cwd=uses,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr


def test_pyright(uses: Path) -> None:
    settings = {
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": True,
        "reportUnusedExpression": False,
    }
    (uses / "pyrightconfig.json").write_text(json.dumps(settings))
    result = run("pyright", "--pythonpath", sys.executable, "--project", uses, cwd=uses)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_public_name_has_a_type_and_a_docstring(tmp_path: Path) -> None:
    """As pyright sees them: nothing is unknown, and no public function is bare."""
    result = run(
        "pyright", "--pythonpath", sys.executable, "--verifytypes", "dmlcy", "--ignoreexternal", "--outputjson",
        cwd=tmp_path,
    )  # fmt: skip
    found = json.loads(result.stdout)["typeCompleteness"]
    bare = [symbol["name"] for symbol in found["symbols"] if symbol["diagnostics"]]
    assert found["completenessScore"] == 1, bare
    assert found["missingFunctionDocStringCount"] == 0


def test_right_uses_run() -> None:
    runpy.run_path(str(HERE / "right.py"))


def test_stubs_match_the_package(tmp_path: Path) -> None:
    """Names, signatures and defaults of the stubs are those at run time; what may differ has its reason in a file."""
    pytest.importorskip("dask", reason="dask is not installed: dmlcy.dask cannot be looked at")
    result = run("mypy.stubtest", "dmlcy", "--concise", "--allowlist", HERE / "stubtest.txt", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def declared(module: str) -> Iterator[tuple[Any, ast.FunctionDef | ast.ClassDef]]:
    """The declarations of the operators' stubs that a public module shows, with the object at run time."""
    for path in sorted((PACKAGE / "_generated" / FOLDERS[module]).glob("*.pyi")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield getattr(sys.modules[module], node.name), node


def test_no_stub_is_longer_than_an_editor_likes() -> None:
    """An operator's stub does not grow with the others. The public ones grow by a line or two for each of the 177."""
    for path in PACKAGE.rglob("*.pyi"):
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines + (0 if path.parent.parent.name == "_generated" else 3 * (177 - len(OPERATORS))) <= LONGEST, path


@pytest.mark.parametrize("module", FOLDERS)
def test_docstrings_of_the_stubs_are_those_at_run_time(module: str) -> None:
    """An editor shows what help() shows."""
    if module == "dmlcy.dask":
        pytest.importorskip("dask", reason="dask is not installed")
    importlib.import_module(module)
    found = [(thing, node) for thing, node in declared(module) if ast.get_docstring(node) is not None]
    assert len(found) == len(IN_CHUNKS if module == "dmlcy.dask" else OPERATORS)
    for thing, node in found:
        assert ast.get_docstring(node) == inspect.getdoc(thing), node.name


def test_signatures_at_run_time_are_those_of_the_stubs() -> None:
    outputs = [field for one in OPERATORS.values() for field in one.fields if field.kind == "output"]
    optional = {name for field in outputs for name in (field.python, f"{field.python}_dtype")}
    for thing, node in declared("dmlcy"):
        assert isinstance(node, ast.FunctionDef)
        names = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        defaults = [None if default is None else ast.unparse(default) for default in node.args.kw_defaults]
        found = inspect.signature(thing).parameters
        assert list(found) == names, node.name
        keywords = [parameter for parameter in found.values() if parameter.kind is parameter.KEYWORD_ONLY]
        shown = [None if one.default is one.empty else repr(one.default) for one in keywords]
        # An overload that asks for an optional output, or for a data type, has no default for that.
        rows = zip(keywords, shown, defaults, strict=True)
        same = [default == wanted or (one.name in optional and default is None) for one, wanted, default in rows]
        assert all(same[:-1]), node.name
        assert keywords[-1].name == "out" and keywords[-1].default is None
