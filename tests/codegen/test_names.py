"""The Python names of operators and enums: all of DirectML's are possible, and none hides what generated code needs."""

from __future__ import annotations

import ast
import builtins
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jinja2
import pytest

from codegen import names
from codegen.__main__ import make_plan
from codegen.emit import MODULES, OUTPUTS, environment, made
from codegen.families import FAMILIES, LOOPS
from codegen.pages.stubs import Stubs
from codegen.plan import FamilyPlan, OperatorPlan, Plan
from codegen.tables import facts_module, index_module

ROOT = Path(__file__).parents[2]
CATALOGUE = tomllib.loads((ROOT / "specs" / "catalogue.toml").read_text(encoding="utf-8"))["operator"]
NAMES = [entry["name"] for entry in CATALOGUE]
MODEL = "DEPTH_TO_SPACE"
Modules = list[tuple[OperatorPlan, str, str]]
STUBS = ("stubs/__init__.pyi.j2", "stubs/dask.pyi.j2", "stubs/desc.pyi.j2")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """The plan of 177 operators of one family: each is DEPTH_TO_SPACE under its own name."""
    root = tmp_path_factory.mktemp("all")
    specs = root / "specs"
    shutil.copytree(ROOT / "specs", specs, ignore=shutil.ignore_patterns("operators", "fused.toml", "directml.toml"))
    catalogue = (specs / "catalogue.toml").read_text(encoding="utf-8")
    head, *rows = re.split(r"(?m)^\[\[operator\]\]\n", catalogue)
    fields = next(row for row in rows if f'"{MODEL}"' in row).partition("\nfields")[2]
    rows = [f"{row.partition(chr(10) + 'fields')[0]}\nfields{fields}" for row in rows]
    rows = [re.sub(r"(?m)^in_place.*$", "in_place = []", row) for row in rows]
    rows = [re.sub(r"(?m)^directmlx .*\n", "", row) for row in rows]  # names members that the operator had
    (specs / "catalogue.toml").write_text("[[operator]]\n".join([head, *rows]), encoding="utf-8")
    (specs / "fused.toml").write_text("", encoding="utf-8")  # no operator of these has a field that holds another
    folder = specs / "operators" / "rearrange"
    folder.mkdir(parents=True)
    text = (ROOT / "specs" / "operators" / "rearrange" / f"{MODEL.lower()}.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^\[\[same\]\].*?(?=^\[)", "", text)
    for name in NAMES:
        own = text.replace(f'"{MODEL}"', f'"{name}"')
        (folder / f"{name.lower()}.toml").write_text(own, encoding="utf-8")
    return make_plan(root)


def rendered(env: jinja2.Environment, plan: Plan) -> dict[str, str]:
    """The Python modules and the stubs, except the modules of operators."""
    found = {"enums": env.get_template("package_enums.py.j2").render(plan=plan)}
    found |= {"index": index_module(plan), "facts": facts_module(plan)}
    found |= {name: env.get_template(name).render(plan=plan, stubs=Stubs(plan)) for name in STUBS}
    found["calls"] = env.get_template("stubs/calls.pyi.j2").render(family=plan.families[0])
    return found


@pytest.fixture(scope="module")
def own_modules(plan: Plan) -> Modules:
    """Of each operator, each of its modules: the folder and the text."""
    operators = {op.file_name: op for op in plan.operators}
    outputs = [output for output in OUTPUTS if output.of is OperatorPlan and output.path.endswith(".py")]
    assert len(outputs) == 4
    return [(operators[Path(path).stem], Path(path).parent.name, text) for path, text, _ in made(plan, ROOT, outputs)]


def test_every_operator_of_the_catalogue_can_have_its_own_name(plan: Plan) -> None:
    assert {op.python for op in plan.operators} == {name.lower() for name in NAMES} and len(NAMES) == 177
    for name in NAMES:
        for family in FAMILIES:
            assert names.refused(name.lower(), family, name.lower()) is None
        assert not {*names.classes(name)} & names.used()


def test_nothing_in_the_package_uses_a_name_that_an_operator_hides(plan: Plan, own_modules: Modules) -> None:
    """Where a name of an operator is read, the operator is meant: in the module of its function."""
    taken = {op.python for op in plan.operators}
    for name, text in rendered(environment(), plan).items():
        assert [one for one in read(text) if one in taken] == [], name
    for op, folder, text in own_modules:
        hidden = {op.python} if folder in ("functions", "dask") else set()
        assert [one for one in read(text) if one in hidden] == ([op.python] if folder == "functions" else []), op.name


def read(text: str) -> list[str]:
    """The names that a module reads."""
    tree = ast.parse(text)
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]


def test_the_module_of_operators_with_odd_names_is_translated(plan: Plan, tmp_path: Path) -> None:
    """Odd names are builtins, words of the templates, and names that modules import. All 177 operators would take
    minutes.
    """
    pytest.importorskip("Cython", reason="Cython is not installed")
    (family,) = plan.families
    templates = [path for folder in (names.TEMPLATES, names.FAMILIES) for path in folder.rglob("*.pyx.j2")]
    words = set(re.findall(r"\w+", f"{names.CIMPORTS}" + "".join(path.read_text("utf-8") for path in templates)))
    odd = [op for op in family.operators if {op.python, op.desc} & (words | {*dir(builtins), "cast"})]
    assert {"slice", "cast", "tile", "gather"} <= {op.python for op in odd}
    some = FamilyPlan(family.family, tuple(odd), LOOPS[family.family.name].module([op.kernel for op in odd]))
    package = tmp_path / "dmlcy" / "_generated"
    for file, module in MODULES.items():
        path = package / file.format(name="rearrange")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = module(environment(), plan, some)
        assert text is not None
        path.write_text(text, encoding="utf-8")
    (tmp_path / "dmlcy" / "_runtime").symlink_to(ROOT / "dmlcy" / "_runtime")
    for folder in (package.parent, package, package / "calls", package / "kernels"):
        (folder / "__init__.py").touch()
    modules = sorted(map(str, package.glob("*/*.pyx")))
    command = [sys.executable, "-m", "cython", "-3", *modules]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert len(modules) == 2 and done.returncode == 0, done.stderr


def test_the_names_of_the_package_are_known() -> None:
    dmlcy = pytest.importorskip("dmlcy")
    own = {*dmlcy._index.ENUMS, *(python for python, *_ in dmlcy._index.OPERATORS.values())}
    modules = {one.name for one in pkgutil.iter_modules(dmlcy.__path__) if not one.name.startswith("_")}
    assert {*names.public()} == {*dmlcy.__all__} - own
    assert {*names.public(), *names.MODULES} >= modules


def test_what_a_generated_module_defines_and_imports_is_known(plan: Plan, own_modules: Modules) -> None:
    enums = {enum.python for enum in plan.enums}
    defined_is_known(rendered(environment(), plan)["enums"], enums)
    for op, folder, text in own_modules:
        if folder != "operators":  # only the tables of the operator and its lets are there
            defined_is_known(text, {op.python, *names.classes(op.name), *enums})


def defined_is_known(text: str, own: set[str]) -> None:
    for node in ast.parse(text).body:
        found: set[str] = set()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found = {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found = {node.name}
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = {target.id for target in targets if isinstance(target, ast.Name)}
        assert found - own <= names.used(), text[:100]
