"""The search of the site knows the words of NumPy and PyTorch users. The search runs in Node.js as in a browser."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from searched import FIRST

from dmlcy._facts.tables import NAMES, names_elsewhere, onnx_names
from dmlcy._facts.words import operators_called, page_of
from dmlcy._frontends.onnx.tables import shown
from dmlcy._generated.onnx import OPERATORS

NODE = shutil.which("node")


def found(site: Path, words: list[str]) -> list[list[str]]:
    """The pages that the search finds for each word, the first one first."""
    if NODE is None:
        pytest.skip("there is no node to run the search of the site")
    script = Path(__file__).with_name("search.js")
    done = subprocess.run([NODE, script, site, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages: list[list[str]] = json.loads(done.stdout)
    return pages


def test_a_word_finds_its_page_first(site: Path) -> None:
    pages = dict(zip(FIRST, found(site, [*FIRST]), strict=True))
    assert {word: pages[word][0] for word in FIRST} == FIRST


def test_each_name_of_another_library_finds_its_operator_first(site: Path) -> None:
    also = [word for words in names_elsewhere().ALSO.values() for word in words]
    words = {word: f"reference/{NAMES[operators_called(word)[0]]}" for word in also}
    pages = dict(zip(words, found(site, [*words]), strict=True))
    assert len(words) > 600 and {word: [*pages[word], ""][0] for word in words} == words


def test_each_struct_finds_its_operator_first(site: Path) -> None:
    words = {f"DML_{name}_OPERATOR_DESC": f"reference/{python}" for name, python in NAMES.items()}
    pages = dict(zip(words, found(site, [*words]), strict=True))
    assert len(words) > 150 and {word: [*pages[word], ""][0] for word in words} == words


def test_each_operator_of_onnx_finds_its_operator_or_its_row_first(site: Path) -> None:
    """The row of an operator that becomes several of DirectML's, or none: SkipLayerNormalization, Loop."""
    become: dict[str, list[str]] = {}
    for operator, names in onnx_names().BECOME.items():
        for name in names:
            become.setdefault(name, []).append(operator)
    words: dict[str, set[str]] = {}
    for name in (shown(*key) for key in OPERATORS):
        alone = become.get(name, ()) if len(become.get(name, ())) == 1 else ()
        for word in (name, name.rpartition(".")[2]):
            pages = {f"reference/{NAMES[operator]}" for operator in (*operators_called(word)[:1], *alone)}
            words.setdefault(word, pages | {"reference/onnx"} | ({"from-numpy"} if page_of(word) else set()))
    firsts = dict(zip(words, ([*pages, ""][0] for pages in found(site, [*words])), strict=True))
    assert len(words) > 200 and {word: firsts[word] for word in words if firsts[word] not in words[word]} == {}


def test_an_operator_of_onnx_finds_its_place(site: Path) -> None:
    words = ["Conv", "ReduceMean", "Resize", "com.microsoft Attention", "ConstantOfShape"]
    assert all("reference/onnx" in pages for pages in found(site, words))


def test_the_changelog_and_the_benchmarks_are_found_last(site: Path) -> None:
    (pages,) = found(site, ["average_pooling"])
    late = {"changelog", "benchmarks/README", "benchmarks/moving"}
    assert late & {*pages} and {*pages[-len(late & {*pages}) :]} == late & {*pages}
