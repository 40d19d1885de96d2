"""Plan to text: renders the templates. Every file that is generated is named here."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

from . import source
from .figures import alt, figures, xml
from .names import CIMPORTS
from .pages import arguments, dask_docstring, docstring, marked_pages, pages
from .pages.speed import read as read_speeds
from .plan import FamilyPlan, Plan
from .show import show
from .writer import Writer

CALLED = ("dmlcy._runtime.checks",)  # functions only: their names are words that a kernel may use
LINE = 120
FOLDER = Path(__file__).parent
PACKAGE = "dmlcy/_generated"
SPECS = f"{PACKAGE}/specs"
FACTS = ("levels", "dtypes", "enums", "catalogue", "errors", "model_errors", "terms")
OWNED = (
    f"{PACKAGE}/*.pyx", f"{PACKAGE}/*.pyi", f"{PACKAGE}/*.py",
    f"{SPECS}/**/*.toml", f"{SPECS}/*.lock", f"{SPECS}/*.json",
    "docs/reference/*.md", "docs/reference/figures/*.svg", "tests/codegen/golden/*.pyx",
)  # fmt: skip


def environment() -> jinja2.Environment:
    """The template environment: an undefined name is an error."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER / "templates", FOLDER / "families"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    found.filters.update(
        suffix=lambda text, end: f"{text}{end}",
        member=member,
        repr=repr,
        outer=without_outer,
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


def fitted(line: str) -> str:
    """An assignment, or a condition in parentheses, broken before its words where the line would be too long."""
    if len(line) <= LINE:
        return line
    if line.endswith("):"):
        (head, _, body), end = line.removesuffix("):").partition("("), "):"
    else:
        (head, _, body), end = line.partition("= "), ")"
        head += "= "
    kept = re.sub(r" (?!(?:else|or|and) )", "\0", body)  # spaces that are no place to break at
    margin = " " * (len(line) - len(line.lstrip()) + 8)
    rows = textwrap.fill(kept, LINE, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
    return f"{head}(\n{rows}{end}".replace("\0", " ")


def member(name: str) -> str:
    """The name of an enum member in Python, which does not begin with a digit."""
    return f"LEVEL_{name}" if name[0].isdigit() else name


def escaped(text: str) -> str:
    """Text that may stand between triple quotes."""
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'{text[:-1]}\\"' if text.endswith('"') else text


def without_outer(code: str) -> str:
    """Code without parentheses around all of it."""
    if not code.startswith("("):
        return code
    depth = 0
    for position, character in enumerate(code):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return code[1:-1] if position == len(code) - 1 else code
    return code


def enum_classes(fields: Any, plan: Plan) -> list[str]:
    """Python classes of the enums that the fields of some operators have."""
    names = {item.field.enum for group in fields for item in group if item.field.enum}
    return sorted(plan.enum(name).python for name in names)


def emit(plan: Plan, writer: Writer) -> None:
    """Gives every generated file to the writer."""
    env = environment()
    for family in plan.families:
        writer.write(f"{PACKAGE}/{family.family.name}.pyx", module(env, plan, family))
        stub = env.get_template("stubs/family.pyi.j2").render(family=family)
        writer.write(f"{PACKAGE}/{family.family.name}.pyi", stub)
        sample = FamilyPlan(family.family, family.operators[:1], _one(family))
        golden = f"tests/codegen/golden/{family.family.name}.pyx"
        writer.write(golden, module(env, plan, sample), committed=True)
    dask = {operator.python: escaped(dask_docstring(env, operator)) for operator in plan.operators}
    for name in ("enums", "operators", "desc", "api", "dask"):
        text = env.get_template(f"package_{name}.py.j2").render(plan=plan, docstrings=dask)
        writer.write(f"{PACKAGE}/{name}.py", text)
    writer.write(f"{PACKAGE}/arguments.py", arguments(env, plan))
    writer.write(f"{PACKAGE}/__init__.py", '"""Generated from the specs by ``python -m codegen gen``."""\n')
    for name in FACTS:
        text = source.read(writer.root / "specs" / f"{name}.toml").decode()
        writer.write(f"{SPECS}/{name}.toml", text)
    for operator in plan.specs.operators.values():
        text = show(operator, plan.facts.catalogue[operator.name])
        writer.write(f"{SPECS}/operators/{operator.name.lower()}.toml", text)
    written = (*pages(env, plan, read_speeds(writer.root)), *figures(env, plan), *marked_pages(plan, writer.root))
    for relative, text in written:
        writer.write(relative, text, committed=True)


def _one(family: FamilyPlan) -> Any:
    return family.family.module([family.operators[0].kernel])


def module(env: jinja2.Environment, plan: Plan, family: FamilyPlan) -> str:
    """The Cython module of a family: its kernels, then its operators."""
    name = family.family.name
    parts = [env.get_template(f"{name}/kernels.pyx.j2").render(**family.kernels).strip()]
    parts += [enum_names(plan, family)] if family.enums else []
    for operator in family.operators:
        run = env.get_template(f"{name}/run.pyx.j2").render(op=operator).strip() + "\n"
        binding = env.get_template("binding.pyx.j2")
        parts.append(binding.render(op=operator, run=run, docstring=quoted(docstring(env, plan, operator))).strip())
    body = "\n\n\n".join(parts) + "\n"
    text = env.get_template("module.pyx.j2").render(
        family=family,
        body=body,
        cimports=list(cimports(body)),
        enums=[plan.enum(enum).python for enum in family.enums],
        enums_module=f"{PACKAGE}.enums".replace("/", "."),
    )
    return re.sub(r"\n{4,}", "\n\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


def cimports(body: str) -> Iterator[tuple[str, list[str]]]:
    """The declarations that a module uses and does not make itself."""
    code = re.sub(r'""".*?"""|#[^\n]*', "", body, flags=re.DOTALL)
    words, called = set(re.findall(r"\w+", code)), set(re.findall(r"\b(\w+)\(", code))
    own = {name for line in re.findall(r"^cdef .*\).*:$", code, re.M) for name in re.findall(r"\b(\w+)\(", line)}
    for where, names in CIMPORTS.items():
        found = called if where in CALLED else words
        used = [name for name in names.split() if name in found and name not in own]
        if used:
            yield where, used


def enum_names(plan: Plan, family: FamilyPlan) -> str:
    """The dictionaries from the spellings of a member to its value."""
    tables = []
    for name in family.enums:
        enum = plan.enum(name)
        rows = "".join(
            f'    "{item.name}": {item.value},\n    "{enum.prefix}{item.name}": {item.value},\n'
            for item in enum.members
        )
        tables.append(f"cdef dict {enum.python}_NAMES = {{\n{rows}}}")
    return "\n\n".join(tables)


def quoted(text: str) -> str:
    """A docstring of several lines, quotes included."""
    return f'"""{escaped(text)}\n"""'
