"""Tests of docs/rest-of-the-catalogue.md: its lists are those of the catalogue, its sketches lack what it says."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from planned import planned
from shown_pages import DOCS, blocks

from codegen.diagnostics import Diagnostic, Diagnostics, SpecError
from codegen.expr.nodes import ExprError
from codegen.expr.parse import parse
from codegen.families import LOOPS
from codegen.lint import lint, required
from codegen.load import load
from codegen.model import CatalogueOperator, snake
from codegen.pages.markdown import table
from codegen.plan import plan

ROOT = Path(__file__).parents[2]
PAGE = DOCS / "rest-of-the-catalogue.md"
TEXT = PAGE.read_text(encoding="utf-8")
SPECS = planned().specs
CATALOGUE = SPECS.facts.catalogue
RUN = {name: operator for name, operator in SPECS.operators.items() if operator.kernel is not None}
DONE = {name: operator for name, operator in RUN.items() if operator.family in LOOPS}

Array: TypeAlias = npt.NDArray[Any]

MARK = "# missing"
LIST = re.compile(r"^(?:Operators|Needed by|Of use to) \((\d+)\): ([^.]*)\.$", re.MULTILINE)
FILE = "specs/operators/"


def sections(title: str) -> dict[str, str]:
    """The sections of the third level below one of the second, by title."""
    parts = re.split(r"^## ", TEXT, flags=re.MULTILINE)
    _, *inner = re.split(r"^### ", next(part for part in parts if part.startswith(f"{title}\n")), flags=re.MULTILINE)
    return {name.strip("`"): body for name, body in (part.split("\n", 1) for part in inner)}


def listed(section: str) -> list[str]:
    """The operators of the list of a section, which has as many as it says."""
    (found,) = LIST.finditer(section)
    names = re.findall(r"`(\w+)`", found[2])
    assert len(names) == int(found[1])
    assert names == sorted(set(names))
    assert set(names) <= set(CATALOGUE)
    return names


def waits(section: str) -> dict[str, int]:
    """The constructs that a family waits for, and how many of its operators do."""
    found = re.search(r"^Waits for: ([^.]*)\.$", section, re.MULTILINE)
    return {} if found is None else {name: int(count) for name, count in re.findall(r"`(\w+)`\S*\s\((\d+)\)", found[1])}


FAMILIES = {name: listed(body) for name, body in sections("The families").items()}
CONSTRUCTS = {name: listed(body) for name, body in sections("What is missing").items()}
KEYS = {name: listed(body) for name, body in sections("What families lack").items()}
MISSING = {**CONSTRUCTS, **KEYS}
STEPS = re.findall(r"^\| (\d+) \| ([^|]+) \| (\d+) \| (\d+) \|", TEXT, re.MULTILINE)
ADDED = {name: int(number) for number, adds, _, _ in STEPS for name in re.findall(r"`(\w+)`", adds)}
NEEDS = {
    name: {key for key, names in {**FAMILIES, **MISSING}.items() if key in ADDED and name in names}
    for name in CATALOGUE
}


def step_of(name: str) -> int:
    """The step after which nothing is missing of an operator; 0 for what can be said today."""
    return max((ADDED[key] for key in NEEDS[name]), default=0)


def typed(*types: str) -> Callable[[CatalogueOperator], bool]:
    return lambda operator: any(field.type in types for field in operator.fields)


def named(*names: str) -> Callable[[CatalogueOperator], bool]:
    return lambda operator: any(snake(field.name) in names for field in operator.fields)


# The constructs whose operators the catalogue tells.
TOLD: dict[str, Callable[[CatalogueOperator], bool]] = {
    "scale_bias": typed("scale_bias"),
    "among": typed("operator_desc", "operator_desc_array"),
    "tensor_array": typed("tensor_array"),
    "float_array": typed("float_array"),
    "present": lambda operator: any(field.kind == "input" and field.optional for field in operator.fields),
    "no_input": lambda operator: all(field.kind != "input" or field.optional for field in operator.fields),
    "in_place": lambda operator: operator.in_place,
    "a": named("a"),
}


def test_every_operator_is_in_one_family() -> None:
    assert sorted(name for names in FAMILIES.values() for name in names) == sorted(CATALOGUE)


def test_operators_that_are_done_are_in_their_families() -> None:
    for operator in DONE.values():
        assert operator.name in FAMILIES[operator.family]


@pytest.mark.parametrize("construct", TOLD)
def test_lists_are_those_of_the_catalogue(construct: str) -> None:
    assert CONSTRUCTS[construct] == sorted(name for name, entry in CATALOGUE.items() if TOLD[construct](entry))


def test_a_list_of_axes_has_a_length_of_its_own() -> None:
    counted = named("axis_count", "activation_desc_count")
    assert {name for name, entry in CATALOGUE.items() if counted(entry)} <= set(CONSTRUCTS["max_length"])


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_family_waits_for_is_counted(family: str) -> None:
    steps = " ".join(adds for _, adds, _, _ in STEPS)
    counts = {name: len({*names} & {*FAMILIES[family]}) for name, names in MISSING.items() if f"`{name}`" in steps}
    assert waits(sections("The families")[family]) == {name: count for name, count in counts.items() if count}


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_construct_serves_three_operators(construct: str) -> None:
    assert len(CONSTRUCTS[construct]) >= 3


def test_the_order_of_work_is_counted() -> None:
    """Each step leaves as many operators without anything missing as it says; the last one leaves none with."""
    ready = [name for name in CATALOGUE if not NEEDS[name]]
    assert {*DONE} == {*ready}, "README, adding-an-operator.md and this page say that no other is ready"
    assert f"{len(ready)} operators can be said" in TEXT
    total = len(ready)
    for number, _, more, sum_ in STEPS:
        now = sum(step_of(name) <= int(number) for name in CATALOGUE)
        assert (int(more), int(sum_)) == (now - total, now), f"step {number}"
        total = now
    assert total == len(CATALOGUE)
    assert {*MISSING} - {*ADDED} == {"in_place", "broadcast"}, "no operator waits for these"


def test_each_operator_has_a_row() -> None:
    families = {name: family for family, names in FAMILIES.items() for name in names}
    rows = [
        (f"`{name}`", f"[{families[name]}](#{families[name]})", f"{step_of(name)}", waits_for(name))
        for name in sorted({*CATALOGUE} - {*DONE})
    ]
    head, old = TEXT.split("## Each operator\n")
    about = old.partition("|")[0]
    text = f"{head}## Each operator\n{about}{table(('Operator', 'Family', 'Step', 'Waits for'), rows)}\n"
    if os.environ.get("CODEGEN_REWRITE"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, f"CODEGEN_REWRITE=1 pytest {Path(__file__).relative_to(ROOT)}"


def waits_for(name: str) -> str:
    """The constructs that an operator waits for, in their order."""
    return ", ".join(f"[`{key}`](#{key})" for key in ADDED if key in NEEDS[name] and key in MISSING)


# Sketches -------------------------------------------------------------------------------------------------------------


def files() -> Iterator[tuple[str, str, list[str]]]:
    """Each file that the page shows: its path, its text, and what lint says of it."""
    shown = list(blocks(PAGE))
    for (language, code, file), (after, said, _) in zip(shown, [*shown[1:], ("", "", None)], strict=True):
        assert language in ("toml", "text")
        if language == "toml" and file is not None:
            yield file, code, said.splitlines() if after == "text" else []


SKETCHES = {file: (code, said) for file, code, said in files()}


def marked(text: str) -> list[range]:
    """The lines of each part that is marked: of a line itself, of a header its table."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        if line.endswith(MARK):
            end = number + 1
            while line.startswith("[") and end < len(lines) and not lines[end].startswith("["):
                end += 1
            found.append(range(number + 1, end + 1))
    return found


def without(text: str) -> str:
    gone = {number for part in marked(text) for number in part}
    return "\n".join(line for number, line in enumerate(text.split("\n"), 1) if number not in gone)


def checkout(folder: Path, file: str, change: Callable[[str], str]) -> Path:
    """A checkout whose only operator is one of the page, with the facts and the groups of this one and of the page."""
    shutil.copytree(ROOT / "specs", folder / "specs", ignore=shutil.ignore_patterns("operators"))
    for path, (text, _) in SKETCHES.items():
        if path == file or not path.startswith(FILE):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(change(text), encoding="utf-8")
    return folder


def problems(root: Path) -> tuple[Diagnostic, ...]:
    """What ``python -m codegen lint`` says."""
    diagnostics = Diagnostics()
    try:
        specs = load(root)
        required(specs, diagnostics)
        complete = diagnostics.ok
        lint(specs, diagnostics)
        if complete:
            plan(specs, diagnostics)
    except SpecError as error:
        return error.errors
    return diagnostics.errors


def formulas(value: Any) -> Iterator[str]:
    """The strings of [kernel] that are expressions, or names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "pattern":
                yield from formulas(item)
    elif isinstance(value, list):
        for item in value:
            yield from formulas(item)


def unknown(text: str) -> list[str]:
    """What the expression language says of the kernel of a spec."""
    found = []
    for formula in formulas(tomllib.loads(text).get("kernel", {})):
        try:
            parse(formula)
        except ExprError as error:
            found.append(f"[kernel] {error.message}")
    return found


@pytest.mark.parametrize("file", [file for file in SKETCHES if file.startswith(FILE)])
def test_sketches_lack_what_the_page_says(file: str, tmp_path: Path) -> None:
    text, said = SKETCHES[file]
    assert tomllib.loads(text)["operator"]["name"] not in DONE, "it is done: take the sketch away"
    missing = {path: marked(text) for path, (text, _) in SKETCHES.items()}
    used = [file, *(f"specs/shared/{group}.toml" for group in tomllib.loads(text)["operator"].get("include", ()))]
    if any(missing[path] for path in used):
        places = []
        for error in problems(checkout(tmp_path / "whole", file, lambda text: text)):
            assert error.span is not None
            places.append((error.span.file, error.span.line))
            is_marked = any(error.span.line in part for part in missing.get(error.span.file, ()))
            assert is_marked or error.message in said, f"{error.message}: {error.span.text}"
        for path in used:
            for part in missing[path]:
                there = any(place == path and line in part for place, line in places)
                assert there, f"{path}:{part.start} is not missing any more"
    rest = {error.message for error in problems(checkout(tmp_path / "rest", file, without))}
    assert sorted({*rest, *unknown(text)}) == sorted(said)


@pytest.mark.parametrize("file", [file for file in SKETCHES if file.startswith(FILE)])
def test_sketches_say_where_they_can_be_cut(file: str) -> None:
    """All but those without inputs, and those of a family whose section says why not."""
    spec = tomllib.loads(SKETCHES[file][0])
    included = [f"specs/shared/{group}.toml" for group in spec["operator"].get("include", ())]
    said = any("independent" in one for one in (spec, *(tomllib.loads(SKETCHES[group][0]) for group in included)))
    inputs = any(field.kind == "input" for field in CATALOGUE[spec["operator"]["name"]].fields)
    cannot = "`[[independent]]` cannot say it" in sections("The families")[spec["operator"]["family"]]
    assert said == (inputs and not cannot)


def gather(input: Array, indices: Array, axis: int, index_dimensions: int) -> Array:
    """GATHER as its page defines it: the output has as many axes as the input, with ones in front."""
    taken = np.take(input, indices.reshape(indices.shape[input.ndim - index_dimensions :]), axis)
    more = taken.ndim - input.ndim
    return taken.reshape(taken.shape[more:] if more > 0 else (1,) * -more + taken.shape)


def test_slices_of_a_gather() -> None:
    """The sketch's formulas, evaluated by Python, say what is so."""
    sketch = tomllib.loads(SKETCHES[f"{FILE}index/gather.toml"][0])
    cuts = set()
    for sizes, axis, dimensions in product([(5,), (2, 3), (1, 3, 4), (1, 2, 3, 4), (1, 1, 4, 3)], range(4), range(5)):
        rank = len(sizes)
        if axis >= rank or dimensions > rank:
            continue
        indices = np.arange(2**dimensions).reshape([1] * (rank - dimensions) + [2] * dimensions) % sizes[axis]
        x = np.arange(np.prod(sizes)).reshape(sizes)
        given: dict[str, Any] = {"input": x, "indices": indices, "axis": axis, "index_dimensions": dimensions}
        names = given | {"rank": np.ndim, "sizes": np.shape, "max": max}
        if not all(eval(rule["that"], names | {"d": d}) for rule in sketch["rule"] for d in range(rank)):
            continue
        whole = gather(**given)
        for (number, row), d in product(enumerate(sketch["independent"]), range(rank)):
            along = {name: eval(formula, names | {"d": d}) for name, formula in row["axes"].items()}
            name = next(name for name in along if name != "output")
            if eval(row["when"], names | {"d": d}) and given[name].shape[along[name]] > 1:
                parts = np.split(given[name], [1], along[name])
                found = [gather(**given | {name: part}) for part in parts]
                assert np.array_equal(np.concatenate(found, along["output"]), whole)
                cuts.add(number)
    assert cuts == {*range(len(sketch["independent"]))}


def test_a_table_of_a_kernel_has_one_meaning() -> None:
    """`[kernel.axes]` is what the family that is built has under this name."""
    built = [path.read_text(encoding="utf-8") for path in (ROOT / FILE).rglob("*.toml")]
    sketched = [text for file, (text, _) in SKETCHES.items() if file.startswith(FILE)]
    families = [
        {spec["operator"]["family"] for spec in map(tomllib.loads, specs) if "axes" in spec.get("kernel", {})}
        for specs in (built, sketched)
    ]
    assert len(families[0]) == 1 and families[1] <= families[0]


def test_fragments_are_toml() -> None:
    fragments = [code for language, code, file in blocks(PAGE) if language == "toml" and file is None]
    assert fragments
    assert all("kernel" in tomllib.loads(code) for code in fragments)
