"""Tests of codegen.pages: the reference and the stubs."""

from __future__ import annotations

import ast
import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from calls_on_pages import Descs, frozen, inputs_of, sizes_of
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from planned import files
from planned import planned as planned_once

from codegen import emit, ids, schema
from codegen.diagnostics import Diagnostics, SpecError
from codegen.emit import OUTPUTS
from codegen.families import FAMILIES
from codegen.load import load
from codegen.model import Dtype, Operator, TensorData
from codegen.notice import notice
from codegen.pages.errors import error_tables
from codegen.pages.markdown import cell, code, escape, link, prose, table, wrapped
from codegen.pages.marked import MARKED
from codegen.pages.speed import PATH as SPEEDS
from codegen.pages.speed import Speed
from codegen.pages.speed import read as read_speeds
from codegen.pages.values import array_code, array_text, literal
from codegen.plan import OperatorPlan, Plan, plan

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = "docs/reference/"
ALLOWED = (
    r'(<a id="[^"]*">|</a>|<br>|</?details>|<summary>[\w, ]+</summary>|'
    r'<div class="filtered" data-columns="[\w ,]+"></div>|<!-- Generated [^>]* -->|\s)*'
)

PAGES = [one for one in OUTPUTS if one.committed and one.path not in MARKED and one.path.endswith((".md", ".pyi"))]


def make_plan(root: Path) -> Plan:
    diagnostics = Diagnostics()
    made = plan(load(root), diagnostics)
    diagnostics.raise_if_any()
    return made


@pytest.fixture(scope="module")
def planned() -> Plan:
    return planned_once()


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The pages of the reference and the stubs, by path."""
    made = files()
    return {path: made[path] for output in PAGES for path, _ in output.items(planned_once()) if path in made}


def pages(plan: Plan, root: Path, outputs: Iterable[emit.Output] = PAGES) -> dict[str, str]:
    """The same of any plan."""
    return {path: text for path, text, _ in emit.made(plan, root, outputs)}


def markdown(texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in texts.items() if name.endswith(".md"))


def outside_code(text: str) -> str:
    """The text without code blocks and code spans."""
    text = re.sub(r"^(`{3,})[^`\n]*\n.*?^\1$", "", text, flags=re.M | re.S)
    return re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def rows(text: str) -> Iterator[list[str]]:
    """The tables: the cells of each line, by line."""
    for line in text.split("\n"):
        if line.startswith("|"):
            yield re.split(r"(?<!\\)\|", line)[1:-1]


# Ids, links and layout -----------------------------------------------------------------------------------------------


def test_every_id_is_explained(planned: Plan, texts: dict[str, str]) -> None:
    pages = {operator.name: operator.python for operator in planned.operators}
    pages |= {"MODEL": "errors", "GRAPH": "errors", "ONNX": "onnx_errors"}
    places: dict[str, list[str]] = {}
    for name, text in markdown(texts):
        for id_, shown in re.findall(r'<a id="(DML-\w+-[^"]*)"></a>\s*`([^`]*)`', text):
            places.setdefault(id_, []).extend([name] * (shown in (id_, id_.split("-")[2])))
    assert places == {id_: [f"{REFERENCE}{pages[id_.split('-')[1]]}.md"] for id_, _ in planned.ids}


def test_the_index_of_errors_names_the_operators_of_a_slug(planned: Plan, texts: dict[str, str]) -> None:
    listed: dict[str, str] = {}
    for line in rows(texts[f"{REFERENCE}errors.md"]):
        slug = line[0].strip(" `").partition("`")[0]
        listed[slug] = listed.get(slug, "") + line[-1]
    for operator in planned.operators:
        rules = {rule.id for rule in operator.rules}
        ids = {id_ for id_, _ in operator.ids}
        slugs = {id_.split("-", 2 if id_ in rules else 3)[-1] for id_ in ids}
        for slug, operators in listed.items():
            every = "every operator" in operators and f"`{operator.name}`" not in operators
            assert (every or f"[{operator.name}](" in operators) == (slug in slugs), (slug, operator.name)
        assert slugs <= {*listed}


def test_the_index_of_errors_is_small_for_the_whole_catalogue(planned: Plan) -> None:
    """Each operator of the catalogue with the errors of one that runs."""
    built = itertools.cycle(planned.operators)
    pairs = [(name, next(built)) for name in planned.facts.catalogue]
    operators = []
    for name, op in pairs:
        rules = tuple(replace(rule, id=rule.id.replace(f"-{op.name}-", f"-{name}-")) for rule in op.rules)
        ids = tuple((id_.replace(f"-{op.name}-", f"-{name}-"), about) for id_, about in op.ids)
        operators.append(replace(op, name=name, rules=rules, ids=ids))
    tables = error_tables(replace(planned, operators=tuple(operators)))
    assert len("".join(tables.values())) < 104_000


def test_links_lead_somewhere(texts: dict[str, str]) -> None:
    for name, text in markdown(texts):
        for target in re.findall(r"(?<!\\)\]\(([^)]*)\)", outside_code(text)):
            if target.startswith("https://"):
                continue
            if target.startswith("figures/"):
                assert (ROOT / REFERENCE / target).is_file(), target
                continue
            file, _, fragment = target.partition("#")
            path = os.path.normpath(f"{REFERENCE}{file}") if file else name
            there = texts[path] if path in texts else (ROOT / path).read_text(encoding="utf-8")
            slugs = re.sub(r"[^\w\n #-]", "", there).lower().replace(" ", "-")
            assert not fragment or f'<a id="{fragment}"></a>' in there or f"#-{fragment}\n" in slugs, target


def test_operators_that_are_named_are_linked(texts: dict[str, str], planned: Plan) -> None:
    pages = {operator.name: texts[f"{REFERENCE}{operator.python}.md"] for operator in planned.operators}
    named = 0
    for operator in planned.operators:
        docs = [operator.operator.summary, *(field.doc for field in operator.operator.fields)]
        docs += [text for one in operator.operator.interpretations for text in (one.choice, one.evidence)]
        for name in {*re.findall(r"\w+", " ".join(docs))} & {*pages}:
            assert (f"[{name}]({name.lower()}.md)" in pages[operator.name]) == (name != operator.name)
            named += name != operator.name
    assert named
    assert "(fold.md)" in pages["UNFOLD"] and "(unfold.md)" in pages["FOLD"]


def test_anchors_are_unique(texts: dict[str, str]) -> None:
    for name, text in markdown(texts):
        anchors = re.findall(r'<a id="([^"]*)"></a>', text)
        assert len(anchors) == len(set(anchors)), name


def test_layout(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        assert text.endswith("\n") and not text.endswith("\n\n") and "\t" not in text, name
        assert not re.search(r"[ \r]$", text, re.M), name
        assert "None" not in outside_code(text) or name.endswith(".pyi"), name


def test_tables_have_equal_columns(texts: dict[str, str]) -> None:
    for name, text in markdown(texts):
        for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
            widths = [[len(part) for part in line] for line in rows(block)]
            assert len({len(line) for line in widths}) == 1, name
            assert len({tuple(line[:-1]) for line in widths}) == 1, name


def test_what_is_shown(texts: dict[str, str], planned: Plan) -> None:
    for operator in planned.operators:
        page = texts[f"{REFERENCE}{operator.python}.md"]
        plain = re.sub(r"\[(\w+)\]\(\w+\.md\)", r"\1", page.replace("\\", ""))
        for field in operator.operator.fields:
            assert f"`{field.name}`" in page and f"`{field.python}`" in page
        for item in operator.operator.interpretations:
            assert " ".join(item.choice.split()) in " ".join(plain.split())
        for shown in operator.operator.examples:
            assert f"\n### {shown.title}\n" in plain or f"\n## At a glance\n\nExample: {shown.title}. " in plain
        for row in operator.operator.types.values():
            assert all(dtype in page for since in row for dtype in since.dtypes)
    levels = texts[f"{REFERENCE}levels.md"]
    assert all(re.search(rf"\b{name}\b", levels) for name in planned.facts.catalogue)


@pytest.mark.deep  # `python -m codegen check`, which each run of .ci/run does, compares all files of two processes
@pytest.mark.parametrize("seed", ["1", "2"])
def test_generation_is_deterministic(texts: dict[str, str], tmp_path: Path, seed: str) -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]; from pathlib import Path\n"
        "from codegen.__main__ import make_plan; from test_pages import pages\n"
        "root = Path(sys.argv[1]); texts = pages(make_plan(root), root)\n"
        "sys.stdout.buffer.write(repr(list(texts.items())).encode())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, *map(str, (ROOT, Path(__file__).parent, ROOT / "tests"))],
        cwd=tmp_path,
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
        capture_output=True,
        check=True,
    )
    assert ast.literal_eval(run.stdout.decode()) == list(texts.items())


def test_stubs_parse(texts: dict[str, str], planned: Plan) -> None:
    for op in planned.operators:
        dask = [("dask", op.python)] if op.takes_chunks else []
        for folder, name in (("functions", op.python), ("descs", op.desc), *dask):
            tree = ast.parse(texts[f"dmlcy/_generated/{folder}/{op.file_name}.pyi"])
            defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
            assert defined == {name}
            public = {"functions": "__init__", "descs": "desc", "dask": "dask"}[folder]
            module = f"from dmlcy._generated.{folder}.{op.file_name} import"
            assert re.search(rf"^{module} (\(\n    )?{name}\b", texts[f"dmlcy/{public}.pyi"], re.M)


def test_every_generated_file_says_what_made_it(planned: Plan) -> None:
    by_hand = {*MARKED}  # in part
    data = {"schema.json", "ids.lock"}  # which have no comment in the first line that every reader takes
    made = [(path, text) for path, text in files().items() if PurePosixPath(path).name not in data]
    paths = {path: text.partition("\n")[0] for path, text in made}
    assert by_hand <= {*paths}
    for path, first in paths.items():
        found = re.search(r"Generated by (?:python -m )?codegen gen from (\S+)(?: and (\S+))?\. Do not edit\.", first)
        assert (found is None) == (path in by_hand), path
        for made_from in found.groups() if found else ():
            assert made_from is None or (ROOT / made_from).exists(), path
    form = json.loads(schema.render(planned.facts, FAMILIES))
    assert next(iter(form)) == "$comment" and form["$comment"] == notice("specs")
    assert "python -m codegen gen" in ids.render(ids.Lock(), (), ()).partition("\n")[0]


# The figures of the benchmark ----------------------------------------------------------------------------------------


def test_speeds_are_those_of_the_benchmark(planned: Plan, texts: dict[str, str]) -> None:
    from benchmarks.peers import NAMES
    from benchmarks.ratios import copied, forms, geometric_mean, grid, ratio
    from benchmarks.results import Results

    results = Results.load(ROOT / "docs" / "benchmarks" / "results.json")
    speeds = read_speeds(ROOT)
    assert {*speeds} == {row.cell.operator for row in results.rows} <= {op.python for op in planned.operators}
    for name, speed in speeds.items():
        own = [row for row in grid(results.rows) if row.cell.operator == name]
        found = {peer: [v for row in own if (v := ratio(row, forms(key)))] for key, peer in NAMES.items()}
        found["memcpy of the same bytes"] = [value for value, _ in copied(own)]
        assert {*speed.beside} == {peer for peer, values in found.items() if values}
        for peer, (mean, count) in speed.beside.items():
            assert count == len(found[peer])
            assert mean == pytest.approx(geometric_mean(found[peer]), rel=1e-3)
            assert f"| {peer} " in texts[f"{REFERENCE}{name}.md"]


def test_results_of_a_benchmark_may_be_missing_or_broken(tmp_path: Path, planned: Plan, texts: dict[str, str]) -> None:
    assert read_speeds(tmp_path) == {}
    (of_operators,) = (one for one in PAGES if one.path == f"{REFERENCE}{{name}}.md" and one.of is OperatorPlan)
    page = f"{REFERENCE}{next(op.python for op in planned.operators if op.python in read_speeds(ROOT))}.md"
    made = next(text for path, text, _ in emit.made(planned, tmp_path, [of_operators]) if path == page)
    assert "\n## Speed\n" in texts[page] and "\n## Speed\n" not in made
    path = tmp_path / "docs" / "benchmarks" / "results.json"
    path.parent.mkdir(parents=True)
    for text in ("", "[]", "{", '{"machine": {}}', '{"machine": {"processor": 1, "threads": 1, "versions": []}}'):
        path.write_text(text)
        with pytest.raises(SpecError, match=r"cannot read docs/benchmarks/results\.json"):
            read_speeds(tmp_path)


def test_speeds_are_rounded_as_in_the_benchmark() -> None:
    rows = Speed({"a": (9.994, 1), "b": (10.4, 2)}, "").rows.split("\n")[2:]
    assert [[part.strip() for part in row.split("|")[1:-1]] for row in rows] == [
        ["a", "9.99×", "1"], ["b", "10×", "2"],
    ]  # fmt: skip


# Text of a spec stays in its place -----------------------------------------------------------------------------------

HOSTILE = "a | b `c` <script>alert(1)</script> [x](https://x) ![y](z) **bold** _i_ # h &lt; ~~s~~ $m$ \\\\ 1*2*3"

STUBS = ("dmlcy/__init__.pyi", "dmlcy/desc.pyi")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of specs whose every text is hostile."""
    tmp_path = tmp_path_factory.mktemp("hostile")
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    for path in (tmp_path / "specs").rglob("*.toml"):
        text = path.read_text()
        keys = "doc|summary|hint|says|question|choice|evidence|title|calculation|note|windows|call|tested"
        changed = re.sub(rf'\b({keys})(\s*)= "[^"]*"', rf'\1\2= """{HOSTILE}"""'.replace("\\\\", "\\\\\\\\"), text)
        path.write_text(changed)
    (tmp_path / "docs" / "benchmarks").mkdir(parents=True)
    shutil.copy(ROOT / SPEEDS, tmp_path / SPEEDS)
    shown = [one for one in PAGES if one.path.endswith(".md") or one.path in STUBS]
    return pages(make_plan(tmp_path), tmp_path, shown)


def test_hostile_specs(hostile: dict[str, str]) -> None:
    test_tables_have_equal_columns(hostile)
    test_links_lead_somewhere(hostile)
    for name, text in markdown(hostile):
        bare = outside_code(text)
        assert "<script" not in bare.replace("\\<script", ""), name
        assert "**bold" not in bare and "~~" not in bare and "(https://x)" not in re.sub(r"\\\]\S+", "", bare), name
    for name in STUBS:
        ast.parse(hostile[name])


def test_html_of_a_spec_is_text(hostile: dict[str, str]) -> None:
    """The parser of the site finds no tag except the pages' own tags."""
    parser = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed").MarkdownIt().enable("table")
    for name, text in markdown(hostile):
        waiting = parser.parse(text)
        while waiting:
            token = waiting.pop()
            waiting += token.children or ()
            if token.type in ("html_inline", "html_block"):
                assert re.fullmatch(ALLOWED, token.content), (name, token.content)


@given(st.text())
@example("- x\n\n# y\n> z\n1. a\n```\n")
@example("`|`")
def test_escaped_text_stays_on_its_line(text: str) -> None:
    for made in (escape(text), cell(text), code(text), code(text, in_table=True)):
        assert "\n" not in made and "\r" not in made
    assert not re.search(r"(?<!\\)\|", cell(text).replace("\\\\", ""))
    assert not re.search(r"(?<!\\)`", escape(text).replace("\\\\", ""))
    for line in prose(text).split("\n"):
        assert not re.match(r"(\s*([-+*>|:]|#+|\d+[.)])(\s|$)|[=-]+$|```|~~~| {4})", line)


def test_escape_keeps_what_is_harmless() -> None:
    assert escape("start_padding is 2 * (n - 1), [a, b] <= {N, C}; 0 ... 2^32-1!") == (
        "start_padding is 2 * (n - 1), [a, b] <= {N, C}; 0 ... 2^32-1!"
    )
    assert escape("a <b> _c_ 2*n [d](e)") == "a \\<b> \\_c\\_ 2\\*n [d\\](e)"
    assert code("a`b") == "``a`b``" and code("`") == "`` ` ``" and code("a|b", in_table=True) == "`a\\|b`"
    assert [wrapped("x " * 48 + one).split("\n")[1] for one in ("abc - d", "`abc - d`")] == ["\\- d", "`abc - d`"]


def test_links_are_web_links() -> None:
    assert link("x", "https://a/b_c") == "[x](https://a/b_c)"
    assert link("x", "https://a/(b) c\u00e9") == "[x](https://a/%28b%29%20c%C3%A9)"
    assert link("x", "javascript:alert(1)") == link("x", None) == "x"


def test_table() -> None:
    assert table(("A", "Bcde"), [("1", "2"), ("long", "")]) == (
        "| A    | Bcde |\n| ---- | ---- |\n| 1    | 2    |\n| long |      |"
    )


# Arrays and examples -------------------------------------------------------------------------------------------------

DTYPES = {
    name: Dtype(name, 0, np.dtype(numpy).itemsize * 8, "1_0", numpy)
    for name, numpy in (
        ("FLOAT64", "float64"), ("FLOAT32", "float32"), ("FLOAT16", "float16"), ("INT64", "int64"), ("INT32", "int32"),
        ("INT8", "int8"), ("UINT64", "uint64"), ("UINT8", "uint8"),
    )
}  # fmt: skip


def tensor(array: np.ndarray[Any, Any], dtype: str) -> TensorData:
    return TensorData(dtype, array.shape, array.tolist())


@given(st.data(), st.sampled_from(sorted(DTYPES)))
def test_arrays_are_shown_as_numpy_does(data: st.DataObject, name: str) -> None:
    dtype = np.dtype(DTYPES[name].numpy)
    shape = data.draw(arrays.array_shapes(min_dims=1, max_dims=5, max_side=9))
    whole = st.integers(-100 if dtype.kind != "u" else 0, 100)
    parts = st.sampled_from([0.5, 0.1, 1.75, 1 / 3, -0.0, math.nan, math.inf, -math.inf, 99.5, 1e-5, 6e4])
    array = data.draw(arrays.arrays(dtype, shape, elements=whole | parts if dtype.kind == "f" else whole))
    shown = array_text(tensor(array, name), DTYPES[name])
    if array.size > 1000:
        assert shown is None
    elif shown is None:
        finite = np.abs(array[np.isfinite(array) & (array != 0)].astype(float))
        assert finite.max() >= 1000 or finite.min() < 1e-4 or finite.max() / finite.min() > 1000
    else:
        assert shown == repr(array)


@given(st.data(), st.sampled_from(sorted(DTYPES)))
def test_array_code_makes_the_array(data: st.DataObject, name: str) -> None:
    dtype = np.dtype(DTYPES[name].numpy)
    shape = data.draw(arrays.array_shapes(min_dims=1, max_dims=4, max_side=4))
    special = st.sampled_from([0.5, math.nan, math.inf, -math.inf]) if dtype.kind == "f" else st.nothing()
    array = data.draw(arrays.arrays(dtype, shape, elements=st.integers(0, 100) | special))
    made = eval(array_code(tensor(array, name), DTYPES[name]), {"np": np})
    assert made.dtype == dtype and made.shape == shape
    np.testing.assert_array_equal(made, array)


def test_ranges_are_written_as_such() -> None:
    made = TensorData("UINT8", (2, 3), [[4, 5, 6], [7, 8, 9]])
    assert array_code(made, DTYPES["UINT8"]) == "np.arange(4, 10, dtype=np.uint8).reshape(2, 3)"


@given(st.text() | st.floats(allow_nan=False) | st.booleans() | st.lists(st.integers()))
def test_literals(value: Any) -> None:
    assert ast.unparse(ast.parse(literal(value)))
    made = eval(literal(value))
    assert made == (tuple(value) if isinstance(value, list) else value)


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Each statement at a prompt, and what is printed after it."""
    for block in re.findall(r"^```pycon\n(.*?)^```$", page, re.M | re.S):
        for part in re.split(r"^(?=>>> )", block, flags=re.M)[1:]:
            lines = part.rstrip("\n").split("\n")
            count = 1 + sum(1 for line in lines[1:] if line.startswith("... "))
            yield "\n".join(line[4:] for line in lines[:count]), "\n".join(lines[count:])


def run(page: str, names: dict[str, Any], ulp: int = 0) -> int:
    """Runs a page, up to what other libraries do; how many results were compared, which may be off by so many ULP."""
    compared = 0
    for statement, shown in blocks(page.partition("\n## Equivalents\n")[0]):
        if statement.startswith("import dmlcy"):
            continue
        if shown:
            found = eval(statement, names)
            if ulp and repr(found) != shown:  # arrays show 8 decimals
                np.testing.assert_allclose(found, eval(shown, vars(np).copy()), ulp * 2.0**-23, 1e-8)
            else:
                assert repr(found).split() == shown.split(), statement
            compared += 1
        else:
            exec(statement, names)
    return compared


def test_examples_show_their_data(planned: Plan, texts: dict[str, str]) -> None:
    """The calls on the pages have the inputs and attributes of the examples, and show their outputs."""
    dtypes = {dtype.name: dtype.numpy for dtype in planned.facts.dtypes}
    for operator in (operator for operator in planned.operators if operator.runs):
        spec = operator.operator
        optional = [field.python for field in spec.outputs if field.optional]

        def call(*positional: Any, **given: Any) -> Any:
            inputs = inputs_of(spec, positional, given)  # noqa: B023
            asked = [name for name in optional if name in given]  # noqa: B023
            attributes = {name: value for name, value in given.items() if name not in asked}
            for one in spec.examples:  # noqa: B023
                wished = {**operator.chosen_in(one), **one.attributes}  # noqa: B023
                typed = {f"{name}_dtype": output.dtype for name, output in one.outputs.items()}
                typed |= sizes_of(spec, one)  # noqa: B023
                wished |= {name: value for name, value in typed.items() if name in given}
                same = attributes == {name: frozen(value) for name, value in wished.items()}
                same = same and asked == [name for name in optional if name in one.outputs]  # noqa: B023
                same = same and {*inputs} == {path.partition("[")[0] for path in one.inputs}
                flat = [array for value in inputs.values() for array in (value if isinstance(value, list) else [value])]
                wanted = [np.array(tensor.data, dtypes[tensor.dtype]) for tensor in one.inputs.values()]
                same = same and len(flat) == len(wanted)
                if same and all(map(partial(np.array_equal, equal_nan=True), flat, wanted)):
                    outputs = one.outputs.values()
                    assert [str(array.dtype) for array in flat] == [dtypes[t.dtype] for t in one.inputs.values()]
                    assert all(given[name] in (True, one.outputs[name].dtype) for name in asked)
                    arrays = [np.array(output.data, dtypes[output.dtype]).reshape(output.sizes) for output in outputs]
                    return tuple(arrays) if len(arrays) > 1 or "[" in next(iter(one.outputs)) else arrays[0]
            raise AssertionError(f"no example has {given}")

        dml = SimpleNamespace(**{operator.python: call}, desc=Descs())
        compared = run(texts[f"{REFERENCE}{operator.python}.md"], {"dml": dml})
        assert compared == sum(len(one.outputs) for one in spec.examples)


def loops_ulp(operator: Operator) -> int:
    """The distance of loops from the nearest result: 1 ULP is none; functions that are chained over steps have 16."""
    texts = [one.ulp.text for one in operator.accuracy]
    return max((int(a) if a in "23456789" else 16 for a in texts if a in "23456789" or "steps" in a), default=0)


def test_examples_run(planned: Plan, texts: dict[str, str]) -> None:
    dml = pytest.importorskip("dmlcy", reason="the package is not built: the examples of the pages are not run")
    for operator in planned.operators:
        if hasattr(dml, operator.python):
            page = texts[f"{REFERENCE}{operator.python}.md"]
            assert run(page, {"dml": dml}, loops_ulp(operator.operator)) or not operator.operator.examples
