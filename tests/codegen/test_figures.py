"""Tests of codegen.figures: what is drawn is what the compiled operators do, and text of a spec stays text."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from depth import deep, of_each_family, seeds_of
from each import each_of
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from planned import planned

from codegen.__main__ import make_plan
from codegen.diagnostics import SpecError
from codegen.emit import OUTPUTS, made
from codegen.families import FAMILIES
from codegen.families.base import grid, inside, shown
from codegen.figures import alt, xml
from codegen.figures.evaluate import Evaluated
from codegen.figures.shown import MOST, Shown, examples, follow
from codegen.figures.tensors import Drawing
from codegen.figures.tiles import FONTS, Tile, length, paragraph
from codegen.model import Example, TensorData
from codegen.plan import OperatorPlan, Plan
from codegen.show import value

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
PLAN = planned()
OPERATORS = [pytest.param(op, id=op.python) for op in PLAN.operators]
DRAWN = [op for op in PLAN.operators if op.drawn]
SHOWN = {op.operator.family for op in DRAWN}


def is_shown(op: OperatorPlan) -> bool:
    """Whether its family has figures."""
    return op.operator.family in SHOWN


def drawn(plan: Plan) -> dict[str, str]:
    outputs = [output for output in OUTPUTS if output.path.endswith(".svg")]
    return {Path(name).stem: text for name, text, _ in made(plan, ROOT, outputs)}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return drawn(PLAN)


# The drawing shows what happens ---------------------------------------------------------------------------------------


def example_of(desc: Any, arrays: dict[str, Any], outputs: tuple[Any, ...]) -> Example:
    """An example as a spec has it, of a use of an operator."""

    def plain(value: Any) -> Any:
        if hasattr(value, "height"):
            return [value.height, value.width]
        return [*value] if isinstance(value, tuple) else getattr(value, "name", value)

    fields = {field.python: field.kind for field in desc.operator.fields}
    inputs = {name: TensorData("", arrays[name].shape, arrays[name].tolist()) for name in fields if name in arrays}
    given_ = {name: plain(getattr(desc, name)) for name, kind in fields.items() if kind == "attribute"}
    names = (name for name, kind in fields.items() if kind == "output")
    results = {name: TensorData("", x.shape, x.tolist()) for name, x in zip(names, outputs, strict=False)}
    return Example("", None, "", inputs, given_, results, None, None)


def changed(operator: Any, arrays: dict[str, Any], name: str) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    """For each element of the output, the elements of an input that change it: from 0 to 1, or from 1 to 0."""
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for base, other in ((0, 1), (1, 0)):
        same = np.full(arrays[name].shape, base, arrays[name].dtype)
        before = operator(**{**arrays, name: same})
        for place in grid(same.shape):
            one = same.copy()
            one[place] = other
            after = operator(**{**arrays, name: one})
            for at in map(tuple, np.argwhere((after != before) & ((after == after) | (before == before))).tolist()):
                found.setdefault(at, set()).add(place)
    return {place: found.get(place, set()) for place in grid(before.shape)}


def within(places: Any, sizes: tuple[int, ...]) -> set[tuple[int, ...]]:
    return {place for place in places if inside(place, sizes)}


CHOSEN = {"select"}
"""Families that choose elements by their values: each element of the output is one of the input, as it is there."""
ROUNDED = {"attention", "contract", "normalize", "reduce", "region_sample", "resample", "window_sum"}
"""Families in which an element need not change all that is made of it: extremes, products with 0, rounded means."""


@each_of("op", DRAWN)
def test_coloured_elements_are_those_that_matter(op: OperatorPlan) -> None:
    """Of each example of a figure: growing an element of the input changes what has its colour, and nothing else."""
    dml = pytest.importorskip("dmlcy", reason="the package is not built: figures are not compared with it")
    numpy = {dtype.name: dtype.numpy for dtype in PLAN.facts.dtypes}
    for item in examples(op):
        tensors = item.example.inputs.items()
        arrays = {name: np.array(tensor.data, numpy[tensor.dtype]) for name, tensor in tensors}
        call = getattr(dml, op.python)
        given_ = {**op.chosen_in(item.example), **item.example.attributes}
        attributes: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given_.items()}
        pieces = [tensor.sizes for name, tensor in item.example.outputs.items() if "[" in name]
        if pieces:
            attributes["output_sizes"] = pieces

        def result(which: int, call: Any = call, attributes: Any = attributes, **given: Any) -> Any:
            for name in [name for name in given if "[" in name]:  # of an array of tensors
                given.setdefault(name.partition("[")[0], []).append(given.pop(name))
            results = call(**given, **attributes)
            return results[which] if isinstance(results, (list, tuple)) else results

        if op.operator.family in CHOSEN:
            assert item.groups and chosen(item)
            continue
        several = {
            name: changed(partial(result, which), arrays, item.use.input)
            for which, name in enumerate(item.example.outputs)
            if name == item.use.output or name in item.picture.beside
        }
        found = several[item.use.output]
        sizes = item.use.sizes(item.use.input)
        assert item.groups
        marks = {float(item.use.element(item.use.output, place)) for place in found} == {0, 1}
        for group in item.groups:
            outputs = {**group.beside, item.use.output: group.outputs}
            of_outputs = (one[place] for name, one in several.items() for place in outputs.get(name, ()))
            assert within(group.inputs, sizes) == set().union(*of_outputs)
            for place in group.outputs:
                read = within(item.picture.sources[place], sizes)
                # Outputs that only mark the largest element of a line do not change with each other element.
                assert found[place] == read or (marks and found[place] < read)
                # A value that does not come from the input alone is drawn as padding, and has the padding's value.
                if not found[place] and place in item.picture.outside and item.picture.padding is not None:
                    assert item.use.element(item.use.output, place) == item.picture.padding


@seeds_of(4)
@pytest.mark.parametrize("name", of_each_family(op.name for op in PLAN.operators if op.is_fast and is_shown(op)))
def test_sources_are_those_of_the_compiled_operator(name: str, seeds: range) -> None:
    """Of any valid use: each element of the output has the sources that the family says, and all of them are drawn."""
    pytest.importorskip("dmlcy", reason="the package is not built: figures are not compared with it")
    from dmlcy import testing

    once = settings(
        max_examples=15, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    op = next(op for op in PLAN.operators if op.name == name)
    for number in seeds:  # one seed alone repeats itself
        seed(number)(once(given(testing.cases(op.name, most_elements=120))(lambda case: look(op, *case))))()


def look(op: OperatorPlan, desc: Any, arrays: dict[str, Any]) -> None:
    import dmlcy as dml

    values = [getattr(desc, field.python) for field in desc.operator.fields if field.type == "uint_array"]
    assume(all(entry < 50 for entries in values for entry in entries))  # a window is listed element by element
    counts = [getattr(desc, field.python) for field in desc.operator.fields if field.type == "uint"]
    assume(all(count < 50 for count in counts if isinstance(count, int)))  # samples are listed one by one
    floats = [getattr(desc, field.python) for field in desc.operator.fields if field.type == "float_array"]
    if any(0 < abs(entry) < 0.02 or abs(entry) > 1e6 for entries in floats for entry in entries):
        return  # a mean of very many elements; a draw of another use costs more than the look at it
    operator = dml.compile(desc)

    def compiled(**given: Any) -> Any:
        result: Any = operator(**given)
        return result[0] if isinstance(result, tuple) else result  # figures are of the first output

    if op.inputs[0].python not in arrays or any(field.type == "tensor_array" for field in desc.operator.fields):
        return  # an array of tensors has no figure
    arrays = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
    if op.operator.family not in CHOSEN:
        arrays[op.inputs[0].python] = np.zeros_like(arrays[op.inputs[0].python])
    outputs = operator(**arrays)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    example = example_of(desc, arrays, outputs)
    if FAMILIES[op.operator.family].picture(op.kernel, Evaluated(op, example)) is None:
        return
    item = follow(op, example)
    sizes = arrays[item.use.input].shape
    sources = {place: within(read, sizes) for place, read in item.picture.sources.items()}
    if op.operator.family in CHOSEN:
        assert chosen(item)
        return
    found = changed(compiled, arrays, item.use.input)
    if op.operator.family in ROUNDED:
        assert {*sources} == {*found} and all(found[place] <= sources[place] for place in found)
    else:
        assert sources == found
    for name, places in (
        (item.use.input, [group.inputs for group in item.groups]),
        (item.use.output, [group.outputs for group in item.groups]),
    ):
        tile = Drawing(item, name, 30, places, False).tile(None)
        assert sum(kind.startswith("fill") for kind in kinds(tile)) == sum(map(len, places))


def chosen(item: Shown) -> bool:
    """Whether each element of the output is the one that it comes from; or an index of its place."""
    name, pairs = item.use.output, []
    for to, (place,) in item.picture.sources.items():
        value = item.use.element(item.use.input, place)
        if item.picture.output:  # a list of places
            assert value != 0
            value = place[len(place) - item.use.sizes(name)[-1] + to[-1]]
        pairs.append((item.use.element(name, to), value))
    values = np.array(pairs)
    return len(values) > 0 and np.array_equal(values[:, 0], values[:, 1], equal_nan=values.dtype.kind == "f")


def kinds(tile: Tile) -> Iterator[str]:
    """The kinds of the shapes of a tile."""
    yield from (str(shape.attributes.get("class")) for shape in tile.shapes)
    for _, _, inner in tile.tiles:
        yield from kinds(inner)


# The drawing ---------------------------------------------------------------------------------------------------------


def placed(element: Any, x: float = 0, y: float = 0) -> Iterator[tuple[Any, float, float]]:
    """Each element of an SVG with the place of its group."""
    for child in element:
        if child.tag == f"{SVG}g":
            moved = re.fullmatch(r"translate\((\S+) (\S+)\)", child.get("transform"))
            assert moved is not None
            dx, dy = map(float, moved.groups())
            yield from placed(child, x + dx, y + dy)
        else:
            yield child, x, y


def box(element: Any, x: float, y: float) -> tuple[float, float, float, float]:
    left, top = x + float(element.get("x")), y + float(element.get("y"))
    return left, top, left + float(element.get("width")), top + float(element.get("height"))


def coloured(text: str) -> Counter[tuple[str, str]]:
    """Colours and the values on them, as the drawing shows them."""
    shapes = [(child, x, y) for child, x, y in placed(ElementTree.fromstring(text))]
    values = [
        (x + float(child.get("x")), y + float(child.get("y")), child.text)
        for child, x, y in shapes
        if child.get("class", "").startswith("value")
    ]
    found: Counter[tuple[str, str]] = Counter()
    for child, x, y in shapes:
        kind = child.get("class", "").split()
        if kind[:1] == ["fill"]:
            left, top, right, bottom = box(child, x, y)
            here = [word for a, b, word in values if left <= a <= right and top <= b <= bottom]
            assert len(here) <= 1
            found[kind[1], "".join(here)] += 1
    return found


@each_of("op", DRAWN)
def test_the_drawing_has_the_groups(op: OperatorPlan, texts: dict[str, str]) -> None:
    """The values on a colour in the SVG are the values of its elements."""
    wanted: Counter[tuple[str, str]] = Counter()

    def add(item: Shown, name: str, colour: int, place: tuple[int, ...]) -> None:
        known = inside(place, item.use.sizes(name))
        value = item.use.element(name, place) if known else item.picture.padding
        wanted[f"c{colour}", "" if value is None else shown(value)] += 1

    for _, items in groupby(examples(op), key=lambda item: item.before):
        for number, item in enumerate(items):
            for colour, group in enumerate(item.groups):
                for place in group.outputs:
                    add(item, item.use.output, colour, place)
                for place in group.inputs if number == 0 else ():
                    add(item, item.use.input, colour, place)
                for name, places in group.beside.items() if number == 0 else ():
                    for place in places:
                        add(item, name, colour, place)
    assert coloured(texts[op.python]) == wanted


@each_of("op", DRAWN)
def test_all_values_are_drawn(op: OperatorPlan, texts: dict[str, str]) -> None:
    every = Counter(
        child.text for child, _, _ in placed(ElementTree.fromstring(texts[op.python]))
        if child.get("class", "").startswith("value")
    )  # fmt: skip
    for item in examples(op):
        first = next(iter(item.example.outputs))  # of several outputs
        for name, tensor in {**item.example.inputs, first: item.example.outputs[first]}.items():
            values = Counter(shown(item.use.element(name, place)) for place in grid(tensor.sizes))
            assert values <= every


def extents(child: Any, x: float, y: float) -> tuple[float, float, float]:
    """Left and right end of a line of text, and its base."""
    kind = child.get("class").split()[0]
    x, y = x + float(child.get("x")), y + float(child.get("y"))
    if kind in FONTS:
        return x, x + length(kind, child.text), y
    half = len(child.text) * 3.3
    return (x - half, x + half, y) if kind in ("letter", "value") else (x, x + 2 * half, y)


@each_of("name", [op.python for op in PLAN.operators if op.drawn])
def test_text_stands_inside_and_apart(name: str, texts: dict[str, str]) -> None:
    text_stands_inside_and_apart(name, texts)


def text_stands_inside_and_apart(name: str, texts: dict[str, str]) -> None:
    root = ElementTree.fromstring(texts[name])
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    lines = [extents(child, x, y) for child, x, y in placed(root) if child.tag == f"{SVG}text"]
    assert all(left >= 0 and right <= width and 8 < base < height for left, right, base in lines)
    texts_ = [line for line, (child, _, _) in zip(
        lines, [c for c in placed(root) if c[0].tag == f"{SVG}text"], strict=True
    ) if child.get("class") != "letter"]  # fmt: skip
    for index, (left, right, base) in enumerate(texts_):
        for other_left, other_right, other_base in texts_[index + 1 :]:
            assert abs(base - other_base) > 8 or right <= other_left or other_right <= left


def test_a_figure_is_on_its_page(texts: dict[str, str]) -> None:
    assert sorted(texts) == sorted(op.python for op in PLAN.operators if op.drawn)
    for op in PLAN.operators:
        page = (ROOT / f"docs/reference/{op.python}.md").read_text(encoding="utf-8")
        shown_ = re.findall(r"^!\[[^\]]{40,}\]\(figures/(\w+)\.svg\)$", page, re.M)
        assert shown_ == [op.python] * op.drawn
    for name, text in texts.items():
        assert (ROOT / f"docs/reference/figures/{name}.svg").read_text(encoding="utf-8") == text


def test_a_version_without_a_figure_leads_to_the_one_that_has_it(texts: dict[str, str]) -> None:
    newer = {op.name for op in PLAN.operators if any(one.drawn for one in PLAN.newer.get(op.name, ()))}
    rest = [op for op in PLAN.operators if op.name in newer and not op.drawn]
    for op in rest:
        page = (ROOT / f"docs/reference/{op.python}.md").read_text(encoding="utf-8")
        (other,) = re.findall(r"^The page of \[\w+\]\((\w+)\.md\) has a figure\.$", page, re.M)
        assert other in texts
    assert rest


def test_the_site_knows_them_by_their_text() -> None:
    style = (ROOT / "docs/_static/site.css").read_text(encoding="utf-8")
    known = re.findall(r'\[alt\^="([^"]+)"\]', style)
    assert len(known) == 2 and all(alt(op).startswith(text) for op in PLAN.operators if op.drawn for text in known)


@each_of("name", [op.python for op in PLAN.operators if op.drawn])
def test_it_is_an_image_for_everybody(name: str, texts: dict[str, str]) -> None:
    is_an_image_for_everybody(name, texts)


def is_an_image_for_everybody(name: str, texts: dict[str, str]) -> None:
    """The image has a name and a description, nothing that runs, and nothing from elsewhere."""
    root = ElementTree.fromstring(texts[name])
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    named = {child.get("id"): child.text for child in root if child.get("id")}
    assert [named[id_] for id_ in root.get("aria-labelledby", "").split() if named[id_]] == [*named.values()]
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "g", "rect", "circle", "path", "text"}
    assert not re.search(r"url\(|@import|href|<!|<\?", texts[name].partition("\n")[2])  # below the first line


@deep  # `python -m codegen check`, which each run of .ci/run does, compares all files of two processes
@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_generation_is_deterministic(texts: dict[str, str], tmp_path: Path, hash_seed: str) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path\n"
        "from codegen.__main__ import make_plan; from codegen.emit import OUTPUTS, made\n"
        "outputs = [output for output in OUTPUTS if output.path.endswith('.svg')]; root = Path(sys.argv[1])\n"
        "drawn = {Path(name).stem: text for name, text, _ in made(make_plan(root), root, outputs)}\n"
        "sys.stdout.buffer.write(repr(drawn).encode())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(ROOT)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONUTF8": "1"},
        capture_output=True,
        check=True,
    )
    assert ast.literal_eval(run.stdout.decode()) == texts


# Text of a spec ------------------------------------------------------------------------------------------------------

HOSTILE = "\"'</text><script>alert(1)</script> & {{ 7*7 }} {% x %} <!-- ]]> " + "w" * 200


def test_hostile_specs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    for path in (tmp_path / "specs").rglob("*.toml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            re.sub(r'^(title|summary)( *=) "[^"]*"', lambda m: f"{m[1]}{m[2]} {value(HOSTILE)}", text, flags=re.M)
        )
    plan = make_plan(tmp_path)
    for name, text in drawn(plan).items():
        root = ElementTree.fromstring(text)
        is_an_image_for_everybody(name, {name: re.sub(r"&lt;[!?]", "", text)})
        assert HOSTILE in (root.findtext(f"{SVG}title") or "") and HOSTILE in (root.findtext(f"{SVG}desc") or "")
        shown_ = "".join(child.text or "" for child in root.iter(f"{SVG}text") if child.get("class") == "title")
        assert HOSTILE.replace(" ", "") in shown_.replace(" ", "") and "{{ 7*7 }}" in text
        text_stands_inside_and_apart(name, {name: text})


@given(st.text())
def test_xml_is_one_line_of_xml(text: str) -> None:
    made = xml(text)
    element = ElementTree.fromstring(f'<a b="{made}">{made}</a>')
    assert element.get("b") == (element.text or "") and (element.text or "").isprintable()
    assert not len(element) and (not text.isprintable() or element.text == (" ".join(text.split()) or None))


@given(st.lists(st.from_regex(r"\A[!-~]+\Z")), st.floats(20, 400))
def test_paragraphs_keep_their_text(pieces: list[str], width: float) -> None:
    tile = paragraph("title", pieces, width)
    assert "".join(shape.text for shape in tile.shapes).replace(" ", "") == "".join(pieces).replace(" ", "")
    assert all(length("title", shape.text) <= width or len(shape.text) == 1 for shape in tile.shapes)


# Examples that cannot be drawn ----------------------------------------------------------------------------------------

BASE = Path(__file__).parent / "bad" / "base"
WIDEN = "specs/operators/pad/widen.toml"
TITLE = 'title       = "One axis"'


def widened(folder: Path, old: str = "figure = []", new: str = "figure = []") -> OperatorPlan:
    shutil.copytree(BASE, folder / "specs_", dirs_exist_ok=True)
    path = folder / "specs_" / WIDEN
    text = path.read_text(encoding="utf-8").replace(TITLE, f"{TITLE}\nfigure = []")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return next(op for op in make_plan(folder / "specs_").operators if op.name == "WIDEN")


def test_an_example_that_does_not_fit(tmp_path: Path) -> None:
    op = widened(tmp_path, "start_padding = [2]", "start_padding = [2, 1]")
    with pytest.raises(SpecError, match=r"widen\.toml:\d+:\d+: the example does not fit its operator"):
        alt(op)


def test_an_example_that_is_too_large(tmp_path: Path) -> None:
    data = f"sizes = [{MOST + 1}], data = {[0] * (MOST + 1)}"
    op = widened(tmp_path, "sizes = [4], data = [0, 0, 1, 2]", data)
    with pytest.raises(SpecError, match=rf"a figure shows at most {MOST} elements of a tensor: this example has"):
        alt(op)


def test_the_spec_chooses(tmp_path: Path) -> None:
    (item,) = examples(widened(tmp_path, "figure = []", "figure = [[3], [0]]"))
    assert [group.outputs for group in item.groups] == [((3,),), ((0,), (1,))]
    assert [group.inputs for group in item.groups] == [((1,),), ()]
    plain = widened(tmp_path, "\nfigure = []\n", "\n")
    assert not plain.drawn and not examples(plain)


def test_a_family_may_have_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    op = widened(tmp_path)
    monkeypatch.setattr(type(FAMILIES[op.operator.family]), "picture", lambda *_: None)
    with pytest.raises(SpecError, match=r"widen\.toml:\d+:\d+: family pad has no figures: its elements do not move"):
        alt(op)
