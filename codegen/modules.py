"""The Cython of a family, in two modules: its kernels, and the calls of its operators, which need fewer optimisations.

The kernels' declarations say what is between them: a struct for each operator, and a function that runs on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jinja2

from .names import CIMPORTS, constant, level
from .plan import FamilyPlan, OperatorPlan, Surroundings

# Functions only: their names are words that a kernel may use.
CALLED = ("dmlcy._runtime.checks", "dmlcy._runtime.power", "dmlcy._runtime.values")


def calls_module(env: jinja2.Environment, plan: Surroundings, family: FamilyPlan) -> str:
    """How the operators of a family are called: what differs between them."""
    parts = [enum_names(plan, family)] if family.enums else []
    for operator in family.operators:
        struct = "" if operator.is_fast else env.get_template("struct.pxd.j2").render(op=operator).strip()
        call = env.get_template("call.pyx.j2").render(op=operator, struct=struct)
        parts.append(call.strip())
    names = [name for operator in family.fast for name in (operator.desc, f"{operator.python}_run")]
    names += [f"{operator.python}_prepare" for operator in family.fast if operator.prepared]
    extra = [(kernels_name(family), names)] if names else []
    enums = [plan.enum(enum).python for enum in family.enums]
    return laid_out(env, plan, title(family.family.name, "calls", family.operators), parts, extra=extra, enums=enums)


def kernels_module(env: jinja2.Environment, plan: Surroundings, family: FamilyPlan) -> str | None:
    """The functions that start the loops, and the loops that the runtime does not have; None without fast operators."""
    if family.kernels is None:
        return None
    name = family.family.name
    run = env.get_template(f"{name}/run.pyx.j2")
    parts = own_loops(env, name, family.kernels)
    parts += [f"# {operator.name}\n\n{run.render(op=operator).strip()}" for operator in family.fast]
    return laid_out(env, plan, title(name, "loops", family.fast), parts)


def own_loops(env: jinja2.Environment, family: str, kernels: Mapping[str, Any]) -> list[str]:
    """The kernels of a family in ``kernels.pyx.j2``; a family whose loops are all in the runtime has no such file."""
    try:
        template = env.get_template(f"{family}/kernels.pyx.j2")
    except jinja2.TemplateNotFound:
        return []
    return [template.render(**kernels).strip()]


def kernels_header(env: jinja2.Environment, plan: Surroundings, family: FamilyPlan) -> str | None:
    """The kernels that the calls of a family know; None where it has none."""
    if family.kernels is None:
        return None
    template = env.get_template("struct.pxd.j2")
    parts = [f"# {operator.name}\n\n{template.render(op=operator).strip()}" for operator in family.fast]
    return laid_out(env, plan, "", parts)


def kernels_name(family: FamilyPlan) -> str:
    """The module of the kernels of a family."""
    return f"dmlcy._generated.kernels.{family.family.name}"


def title(name: str, what: str, operators: Iterable[OperatorPlan]) -> str:
    """The operators that each module of a family has."""
    return f"{name}: {what} of {', '.join(operator.name for operator in operators)}."


def laid_out(
    env: jinja2.Environment,
    plan: Surroundings,
    doc: str,
    parts: list[str],
    extra: list[tuple[str, list[str]]] | None = None,
    enums: list[str] | None = None,
) -> str:
    """A file of these parts, with the declarations and the constants that they use."""
    body = "\n\n\n".join(parts) + "\n"
    text = env.get_template("module.pyx.j2").render(
        doc=doc,
        body=body,
        cimports=[*cimports(body), *(extra or [])],
        constants=list(constants(plan, body)),
        enums=enums,
        enums_module="dmlcy._generated.enums",
    )
    return re.sub(r"\n{4,}", "\n\n\n", re.sub(r"[ \t]+\n", "\n", text)).strip() + "\n"


def cimports(body: str) -> Iterator[tuple[str, list[str]]]:
    """The declarations that a module uses and does not make itself."""
    code = without_prose(body)
    words, called = set(re.findall(r"\w+", code)), set(re.findall(r"\b(\w+)\(", code))
    own = {name for line in re.findall(r"^cdef .*\).*:$", code, re.M) for name in re.findall(r"\b(\w+)\(", line)}
    for where, names in CIMPORTS.items():
        found = called if where in CALLED else words
        used = [name for name in names.split() if name in found and name not in own]
        if used:
            yield where, used


def without_prose(body: str) -> str:
    """Cython without its docstrings and comments."""
    return re.sub(r'""".*?"""|#[^\n]*', "", body, flags=re.DOTALL)


def constants(plan: Surroundings, body: str) -> Iterator[tuple[str, int]]:
    """The feature levels and the members of enums that a module compares with."""
    words = set(re.findall(r"\w+", without_prose(body)))
    levels = [(level(one.name), index) for index, one in enumerate(plan.facts.levels)]
    members = [(constant(enum, one.name), one.value) for enum in plan.facts.enums.values() for one in enum.members]
    for name, value in (*levels, *members):
        if name in words:
            yield name, value


def enum_names(plan: Surroundings, family: FamilyPlan) -> str:
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
