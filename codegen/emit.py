"""Plan to text: renders the templates. Every file that is generated is in one list at the end: OUTPUTS."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from types import CodeType
from typing import Any, ClassVar

import jinja2
from jinja2.bccache import Bucket

from . import ids, schema, source, tables
from .diagnostics import Diagnostics
from .families import FAMILIES, LOOPS
from .figures import alt, figure_page, xml
from .headers import dump_header
from .model import Enum, Facts, Onnx
from .modules import calls_module, kernels_header, kernels_module
from .names import level
from .notice import noticed
from .pages import (
    BINDINGS,
    FOLDERS,
    MARKED,
    REFERENCE,
    StubOperator,
    arguments,
    bindings_module,
    bound_enums,
    graph_stub,
    marked_page,
    onnx_page,
    operator_page,
    operator_stub,
    reference_page,
    stub,
)
from .pages.speed import Speed
from .pages.speed import read as read_speeds
from .plan import FamilyPlan, OperatorPlan, Plan, Surroundings, plan_operator
from .plan.rows import without_outer
from .show import show
from .writer import Writer

LINE = 120
FOLDER = Path(__file__).parent
PACKAGE = "dmlcy/_generated"
SPECS = f"{PACKAGE}/specs"
FACTS = (
    "levels", "dtypes", "enums", "catalogue", "fused", "errors", "model_errors", "graph_errors", "onnx/errors", "terms",
)  # fmt: skip
OWNED = (
    f"{PACKAGE}/**/*.pyx", f"{PACKAGE}/**/*.pxd", f"{PACKAGE}/*.pyi", f"{PACKAGE}/**/*.py",
    f"{SPECS}/**/*.toml", f"{SPECS}/*.lock", f"{SPECS}/*.json",
    f"{PACKAGE}/*/*.pyi", "docs/reference/*.md", "docs/reference/figures/*.svg", "tests/codegen/golden/**/*.p*",
)  # fmt: skip


class Compiled(jinja2.BytecodeCache):
    """The templates that were compiled in this process, by their file and their text: each run has an environment."""

    codes: ClassVar[dict[tuple[str, str], CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Finds what an earlier environment compiled."""
        bucket.code = self.codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps it for later ones."""
        assert bucket.code is not None
        self.codes[bucket.key, bucket.checksum] = bucket.code


class Templates(jinja2.Environment):
    """The template environment. The environment notes which templates are used, and which templates these use."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.used: set[str] = set()
        self.inside: dict[str, set[str]] = {}

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> jinja2.Template:
        """The template of this name, asked for by ``parent`` or by codegen."""
        (self.used if parent is None else self.inside.setdefault(parent, set())).add(name)
        return super().get_template(name, parent, globals)

    def reached(self) -> set[str]:
        """The templates that were used since ``used`` was cleared, with all that are inside them."""
        found: set[str] = set()
        waiting = [*self.used]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.inside.get(name, ())
        return found


def environment() -> Templates:
    """The template environment: an undefined name is an error."""
    found = Templates(
        loader=jinja2.FileSystemLoader([FOLDER / "templates", FOLDER / "families"]),
        bytecode_cache=Compiled(),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    found.filters.update(
        suffix=lambda text, end: f"{text}{end}",
        member=member,
        level=level,
        repr=repr,
        outer=without_outer,
        broken=broken,
        fitted=fitted,
        wrapped=lambda text, width: textwrap.fill(str(text), width),
        docstring=escaped,
        enum_classes=enum_classes,
        import_line=import_line,
        xml=xml,
        figure_alt=alt,
    )
    return found


def import_line(names: list[str], module: str, word: str) -> str:
    """``from module import names``, in parentheses where the line would be too long."""
    line = f"from {module} {word} {', '.join(names)}"
    if len(line) <= LINE:
        return line
    rows = textwrap.fill(", ".join(names) + ",", LINE, initial_indent="    ", subsequent_indent="    ")
    return f"from {module} {word} (\n{rows}\n)"


def broken(line: str) -> str:
    """A line with parentheses or braces: what they hold is on lines of its own where the line would be too long."""
    if len(line) <= LINE:
        return line
    margin = " " * (len(line) - len(line.lstrip()))
    found = re.fullmatch(r"(\s*[^({]*[({])(.*)([)}][^)}]*)", line)
    assert found is not None
    rows = textwrap.fill(
        found[2], LINE - 8, initial_indent=f"{margin}    ", subsequent_indent=f"{margin}    ",
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
    return f"{found[1]}\n{rows}\n{margin}{found[3]}"


def fitted(line: str) -> str:
    """An assignment, or a condition in parentheses, broken before its words where the line would be too long."""
    if len(line) <= LINE:
        return line
    if line.endswith("):"):
        (head, _, body), end = line.removesuffix("):").partition("("), "):"
    else:
        (head, _, body), end = line.partition("= "), ")"
        head += "= "
    margin = " " * (len(line) - len(line.lstrip()) + 8)
    for kept in (r" (?!(?:else|or|and) )", r"(?<!,) (?!(?:else|or|and|[-+*/]{1,2}) )"):  # spaces to break at otherwise
        rows = textwrap.wrap(
            re.sub(kept, "\0", body), LINE - len(end), initial_indent=margin, subsequent_indent=margin,
            break_on_hyphens=False, break_long_words=False,
        )  # fmt: skip
        if all(len(row) <= LINE for row in rows):
            break
    text = "\n".join(rows)
    return f"{head}(\n{text}{end}".replace("\0", " ")


def member(name: str) -> str:
    """The name of an enum member in Python, which does not begin with a digit."""
    return f"LEVEL_{name}" if name[0].isdigit() else name


def escaped(text: str) -> str:
    """Text that is safe between triple quotes."""
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'{text[:-1]}\\"' if text.endswith('"') else text


def enum_classes(fields: Any, plan: Surroundings) -> list[str]:
    """Python classes of the enums that the fields of some operators have."""
    names = {item.field.enum for group in fields for item in group if item.field.enum}
    return sorted(plan.enum(name).python for name in names)


Item = OperatorPlan | FamilyPlan | Plan | Facts | Onnx
Module = Callable[[jinja2.Environment, Surroundings, FamilyPlan], str | None]
CYTHON = ("calls", "kernels")
"""The folders of the Cython of families."""
MODULES: dict[str, Module] = {
    "calls/{name}.pyx": calls_module, "kernels/{name}.pyx": kernels_module, "kernels/{name}.pxd": kernels_header,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Given:
    """The facts that every output may read beside its own operator or page."""

    env: Templates
    around: Surroundings
    speeds: Mapping[str, Speed]
    lock: ids.Lock
    root: Path

    @classmethod
    def of(cls, root: Path, facts: Facts, enums: tuple[Enum, ...]) -> Given:
        """The facts that the outputs of a checkout may read; raises SpecError with every problem of its files."""
        diagnostics = Diagnostics()
        lock = ids.read(root, diagnostics)
        diagnostics.raise_if_any()
        return cls(environment(), Surroundings(facts, enums, (), {}), read_speeds(root), lock, root)

    def beside(self, plan: Plan, item: Item) -> Given:
        """The same for an output that may name other operators."""
        name = item.name if isinstance(item, OperatorPlan) else ""
        newer = {name: plan.newer[name]} if name in plan.newer else {}
        return replace(self, around=replace(self.around, names=plan.names, newer=newer))


@dataclass(frozen=True, slots=True)
class Output:
    """Files that are made alike: one for each operator, one for each family, or one of the whole plan or the facts.

    ``{name}`` in the path is the family, or the operator in Python; ``{operator}`` is the operator in small letters.
    The text of a file follows from the arguments of ``text`` alone, and is not made again where these are the same. The
    arguments are the facts, the speeds, the operator or family, and where it is ``linked`` the names and the newer
    versions. Another is the file ``reads``. There is no file where the text is None. The text that is made from a
    result in place of ``reads`` is the same. ``source`` is named in the first line of the file if the file is not made
    from the specs of its part of the plan. The notice is "" for a file that a hand writes in part, which has no such
    line.
    """

    of: type[OperatorPlan | FamilyPlan | Plan | Facts | Onnx]
    path: str
    text: Callable[[Given, Any], str | None]
    committed: bool = False
    source: str | None = None
    linked: bool = False
    reads: str | None = None

    def file(self, name: str = "", operator: str = "") -> str:
        """The path of the file of an operator or of a family, relative to the root."""
        return self.path.format(name=name, operator=operator.lower())

    def items(self, plan: Plan) -> Iterator[tuple[str, Item]]:
        """The path of each file, and what the file is made of."""
        if self.of is OperatorPlan:
            yield from ((self.file(operator.python, operator.name), operator) for operator in plan.operators)
        elif self.of is FamilyPlan:
            yield from ((self.file(family.family.name), family) for family in plan.families)
        else:
            yield self.file(), plan.facts if self.of is Facts else plan.onnx if self.of is Onnx else plan

    def made(self, given: Given, plan: Plan, item: Item) -> str | None:
        """The text of the file of an item, its first line included."""
        text = self.text(given.beside(plan, item) if self.linked else given, item)
        source = self.source_of(item) if self.source is None else self.source
        return noticed(self.path, text, source) if text is not None and source else text

    @staticmethod
    def source_of(item: Item) -> str:
        """The path of the specs that an item is made from."""
        match item:
            case OperatorPlan():
                return item.operator.file
            case FamilyPlan():
                folders = {str(PurePosixPath(operator.operator.file).parent) for operator in item.operators}
                return " and ".join([*sorted(folders), f"codegen/families/{item.family.name}"])
            case _:
                return "specs"


def _cython(module: Module, given: Given, family: FamilyPlan) -> str | None:
    return module(given.env, given.around, family)


def _sample(module: Module, given: Given, family: FamilyPlan) -> str | None:
    """The module of a family that has its first operator only, which has a single data type."""
    facts, operator = given.around.facts, family.operators[0].operator
    types = {name: (replace(row, dtypes=row.dtypes[:1]),) for name, (row, *_) in operator.types.items()}
    diagnostics = Diagnostics()
    planned = plan_operator(replace(operator, types=types), facts, diagnostics)
    diagnostics.raise_if_any()
    assert planned is not None
    kernels = LOOPS[family.family.name].module([planned.kernel]) if planned.is_fast else None
    return module(given.env, given.around, FamilyPlan(family.family, (planned,), kernels))


def _family_stub(name: str, given: Given, family: FamilyPlan) -> str | None:
    if name == "kernels" and not family.fast:
        return None
    return given.env.get_template(f"stubs/{name}.pyi.j2").render(family=family)


def _enums(given: Given, facts: Facts) -> str:
    return given.env.get_template("package_enums.py.j2").render(plan=given.around)


def _table(given: Given, operator: OperatorPlan) -> str:
    return tables.operator_module(operator)


def _facts(given: Given, plan: Plan) -> str:
    return tables.facts_module(plan)


def _index(given: Given, plan: Plan) -> str:
    return tables.index_module(plan)


def _words(given: Given, plan: Plan) -> str:
    return tables.words_module(plan)


def _onnx(given: Given, onnx: Onnx) -> str:
    return tables.onnx_module(onnx)


def _onnx_names(given: Given, onnx: Onnx) -> str:
    return tables.onnx_names_module(onnx)


def _onnx_page(given: Given, onnx: Onnx) -> str | None:
    return onnx_page(given.env, onnx, given.around.facts)


def _operator(name: str, given: Given, operator: OperatorPlan) -> str | None:
    if name == "dask" and not operator.takes_chunks:
        return None
    stub = StubOperator(given.env, given.around, operator)
    return given.env.get_template(f"operator_{name}.py.j2").render(plan=given.around, op=operator, stub=stub)


def _operator_stub(name: str, given: Given, operator: OperatorPlan) -> str | None:
    if name == "dask" and not operator.takes_chunks:
        return None
    return operator_stub(given.env, given.around, operator, name)


def _init(given: Given, facts: Facts) -> str:
    return '"""The modules and tables that are made from the specs."""\n'


def _shown(given: Given, operator: OperatorPlan) -> str:
    return show(operator.operator, given.around.facts.catalogue[operator.name])


def _fact(name: str, given: Given, facts: Facts) -> str:
    return source.read(given.root / "specs" / f"{name}.toml").decode()


def _page(given: Given, operator: OperatorPlan) -> str:
    return operator_page(given.env, given.around, operator, given.speeds.get(operator.python))


def _figure(given: Given, operator: OperatorPlan) -> str | None:
    return figure_page(given.env, operator)


def _reference(name: str, given: Given, plan: Plan) -> str:
    return reference_page(given.env, plan, name)


def _graph_stub(given: Given, plan: Plan) -> str:
    return graph_stub(given.env, plan)


def _stub(name: str, given: Given, plan: Plan) -> str:
    return stub(given.env, plan, name)


def _arguments(given: Given, plan: Plan) -> str:
    return arguments(given.env, plan)


def _bindings(name: str, given: Given, plan: Plan) -> str:
    return bindings_module(given.env, plan, name)


def _bound_enums(given: Given, facts: Facts) -> str:
    return bound_enums(given.env, facts.bindings)


def _dump_header(given: Given, plan: Plan) -> str:
    return dump_header(given.env, plan)


def _schema(given: Given, facts: Facts) -> str:
    return schema.render(facts, FAMILIES)


def _published(given: Given, plan: Plan) -> str:
    return ids.render(given.lock, {id_ for id_, _ in plan.ids} - plan.provisional, plan.provisional)


def _marked(name: str, given: Given, plan: Plan) -> str | None:
    return marked_page(plan, given.root, name)


OUTPUTS = (
    *(Output(FamilyPlan, f"{PACKAGE}/{file}", partial(_cython, module)) for file, module in MODULES.items()),
    *(
        Output(FamilyPlan, f"tests/codegen/golden/{file}", partial(_sample, module), committed=True)
        for file, module in MODULES.items()
    ),
    *(
        Output(FamilyPlan, f"{PACKAGE}/{name}/{{name}}.pyi", partial(_family_stub, name), committed=True)
        for name in CYTHON
    ),
    Output(Facts, f"{PACKAGE}/enums.py", _enums),
    Output(Plan, f"{PACKAGE}/facts.py", _facts),
    Output(Plan, f"{PACKAGE}/index.py", _index),
    Output(Plan, f"{PACKAGE}/words.py", _words),
    Output(Onnx, f"{PACKAGE}/onnx.py", _onnx, source="specs/onnx"),
    Output(Onnx, f"{PACKAGE}/onnx_names.py", _onnx_names, source="specs/onnx"),
    Output(OperatorPlan, f"{PACKAGE}/operators/{{operator}}.py", _table),
    *(
        Output(OperatorPlan, f"{PACKAGE}/{folder}/{{operator}}.py", partial(_operator, name))
        for name, folder in FOLDERS.items()
    ),
    *(
        Output(OperatorPlan, f"{PACKAGE}/{folder}/{{operator}}.pyi", partial(_operator_stub, name), committed=True)
        for name, folder in FOLDERS.items()
    ),
    *(
        Output(Facts, f"{PACKAGE}/{folder}/__init__.py", _init)
        for folder in ("operators", *CYTHON, *FOLDERS.values(), BINDINGS)
    ),
    Output(Facts, f"{PACKAGE}/__init__.py", _init),
    Output(Plan, f"{PACKAGE}/arguments.py", _arguments),
    *(Output(Facts, f"{SPECS}/{name}.toml", partial(_fact, name), source=f"specs/{name}.toml") for name in FACTS),
    Output(OperatorPlan, f"{SPECS}/operators/{{operator}}.toml", _shown),
    Output(OperatorPlan, "docs/reference/{name}.md", _page, committed=True, linked=True),
    Output(OperatorPlan, "docs/reference/figures/{name}.svg", _figure, committed=True),
    *(Output(Plan, f"docs/reference/{name}.md", partial(_reference, name), committed=True) for name in REFERENCE),
    Output(Onnx, "docs/reference/onnx.md", _onnx_page, committed=True, source="specs/onnx"),
    *(Output(Plan, f"dmlcy/{name}.pyi", partial(_stub, name), committed=True) for name in ("__init__", "desc", "dask")),
    Output(Facts, f"{PACKAGE}/{BINDINGS}/enums.py", _bound_enums, source="specs"),
    Output(Facts, f"{PACKAGE}/{BINDINGS}/enums.pyi", _bound_enums, committed=True),
    *(
        Output(Plan, f"{PACKAGE}/{BINDINGS}/{name}", partial(_bindings, name), committed=name.endswith("i"))
        for name in ("functions.py", "functions.pyi")
    ),
    Output(Plan, "dmlcy/_graph/operators.pyi", _graph_stub, committed=True),
    *(Output(Plan, name, partial(_marked, name), committed=True, source="", reads=name) for name in MARKED),
    Output(Plan, "dmlcy/_cpp/dmlcy_dump.h", _dump_header, committed=True),
    Output(Facts, schema.PATH, _schema, committed=True, source=""),
    Output(Facts, f"{SPECS}/schema.json", _schema, source=""),
    Output(Plan, ids.PATH, _published, committed=True, source="", reads=ids.PATH),
    Output(Plan, f"{SPECS}/ids.lock", _published, source="", reads=ids.PATH),
)  # fmt: skip


def made(plan: Plan, root: Path, outputs: Iterable[Output] = OUTPUTS) -> Iterator[tuple[str, str, bool]]:
    """Every generated file: its path below the root, its text, and whether it is committed."""
    given = Given.of(root, plan.facts, plan.enums)
    for output in outputs:
        for path, item in output.items(plan):
            text = output.made(given, plan, item)
            if text is not None:
                yield path, text, output.committed


def emit(plan: Plan, writer: Writer) -> None:
    """Gives every generated file to the writer."""
    for path, text, committed in made(plan, writer.root):
        writer.write(path, text, committed)
