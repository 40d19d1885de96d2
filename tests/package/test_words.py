"""Operators by the names of NumPy, of PyTorch and of everyday language."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from functools import reduce
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from each import each_of

import dmlcy as dml
from dmlcy._cli import main
from dmlcy._facts.tables import NAMES, names_elsewhere
from dmlcy._facts.words import advice, before, claims, fold, newest, operators_called, page_of
from dmlcy._show.explain.find import find, suggestion

ROOT = Path(__file__).parents[2]
WORDS = [(name, word) for name, words in names_elsewhere().ALSO.items() for word in words]
PAGES = [(page, word) for name, (page, _, *also) in names_elsewhere().PAGES.items() for word in (name, *also)]
OLDER = {
    "ELEMENT_WISE_ADD": "ELEMENT_WISE_ADD1 takes floats only",
    "RESAMPLE2": "RESAMPLE3 is of the last level, and adds a filter",
    "MEAN_VARIANCE_NORMALIZATION1": "MEAN_VARIANCE_NORMALIZATION2 is of a late level, and leaves steps out",
}
"""Versions that have words although there is a newer one, and why."""


def test_every_operator_has_words() -> None:
    known = {newest(name) for name in names_elsewhere().ALSO}
    assert {newest(name) for name in NAMES} == known


def test_no_name_is_claimed_twice_without_an_order() -> None:
    for word, operators in claims().items():
        for first, second in pairwise(operators):
            assert first in before(second), f"{word}: also_after of {second} or of {first} must say which comes first"
    assert operators_called("gather") == ("GATHER", "GATHER_ELEMENTS")
    assert operators_called("torch.gather") == ("GATHER_ELEMENTS",)


def test_an_order_is_of_operators_that_share_a_name() -> None:
    shared = {frozenset((one, other)) for named in claims().values() for one in named for other in named}
    for operator, earlier in names_elsewhere().AFTER.items():
        assert all(frozenset((operator, first)) in shared for first in earlier), operator


def test_a_name_belongs_to_the_newest_version() -> None:
    assert {name for name, _ in WORDS if name != newest(name)} == {*OLDER}
    versions: dict[tuple[str, str], set[str]] = {}
    for name, word in WORDS:
        versions.setdefault((newest(name), fold(word)), set()).add(name)
    assert not [key for key, names in versions.items() if len(names) > 1]


def test_no_word_of_an_operator_is_one_of_a_page() -> None:
    taken = {fold(word): name for name, word in WORDS}
    assert not [word for _, word in PAGES if fold(word) in taken or operators_called(word)]


@pytest.mark.parametrize("library", ["np", "torch", "F", "nn"])
def test_the_names_are_those_of_the_libraries(library: str) -> None:
    if library == "np" and np.lib.NumpyVersion(np.__version__) < "2.2.0":
        pytest.skip("older versions of NumPy do not have all names")
    modules = {"np": "numpy", "torch": "torch", "F": "torch.nn.functional", "nn": "torch.nn"}
    pytest.importorskip(modules[library].partition(".")[0])
    module = importlib.import_module(modules[library])
    names = [word for _, word in (*WORDS, *PAGES) if word.startswith(f"{library}.")]
    assert len(names) > 20
    for name in names:
        reduce(getattr, name.split(".")[1:], module)


@each_of("name, word", WORDS)
def test_explain_knows_every_word(name: str, word: str) -> None:
    found = find(word)
    named = [one["operator"] for facts in found if facts["kind"] == "word" for one in facts["operators"]]
    assert name in [*named, *(facts["name"] for facts in found if facts["kind"] == "operator")]


@pytest.mark.parametrize(
    ("word", "operator"),
    [
        ("layer norm", "MEAN_VARIANCE_NORMALIZATION1"),
        ("bilinear", "RESAMPLE2"),
        ("resize", "RESAMPLE2"),
        ("np.pad", "PADDING1"),
        ("numpy.pad", "PADDING1"),
        ("im2col", "UNFOLD"),
        ("pixel shuffle", "DEPTH_TO_SPACE1"),
        ("matmul", "GEMM"),
        ("conv2d", "CONVOLUTION"),
        ("torch.nn.functional.conv2d", "CONVOLUTION"),
        ("AVG_POOL2D", "AVERAGE_POOLING1"),
        ("top-k", "TOP_K1"),
        ("one-hot", "ONE_HOT"),
        ("max pooling", "MAX_POOLING2"),
        ("is nan", "ELEMENT_WISE_IS_NAN"),
        ("jnp.cumsum()", "CUMULATIVE_SUMMATION"),
    ],
)
def test_the_first_operator_of_a_word(word: str, operator: str) -> None:
    assert operators_called(word)[0] == operator


@pytest.mark.parametrize("word", ["", ".", "np.", "np.nosuch", "foo.pad", "PADDING1.softmax", "x" * 10**6, "\ud800"])
def test_what_no_operator_is_called(word: str) -> None:
    assert operators_called(word) == () and page_of(word) is None
    assert not [facts for facts in find(word) if facts["kind"] == "word"]


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("softmax", "Take dmlcy.activation_softmax1."),
        ("conv2d", "Take dmlcy.convolution."),
        ("resize", "Take dmlcy.resample2."),
        ("layer_norm", "Take dmlcy.mean_variance_normalization1."),
        ("matmul", "Take dmlcy.gemm or dmlcy.matrix_multiply_integer."),
        ("mean", 'Take dmlcy.reduce with function="AVERAGE".'),
        ("reduce_mean", 'Take dmlcy.reduce with function="AVERAGE".'),
        ("reduce_sum", 'Take dmlcy.reduce with function="SUM".'),
        ("norm", "Take dmlcy.reduce."),
        ("transpose", "See docs/from-numpy.md#transpose-reshape-broadcast-einsum."),
    ],
)
def test_an_attribute_that_is_not_there_names_the_function(name: str, takes: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(takes)) as caught:
        getattr(dml, name)
    assert str(caught.value).startswith(f"module 'dmlcy' has no attribute '{name}'. ")
    assert not hasattr(dml, name) and name not in dir(dml)


@pytest.mark.parametrize("name", ["nosuch", "average_poling", "__wrapped__", "_pad"])
def test_another_attribute_has_the_message_of_python(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(dml, name)
    assert str(caught.value) == f"module 'dmlcy' has no attribute '{name}'"


def test_an_import_of_no_name_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'softmax' from 'dmlcy'"):
        exec("from dmlcy import softmax", {})


def test_the_names_are_read_when_one_is_not_there() -> None:
    program = """
import sys, dmlcy
hasattr(dmlcy, "__wrapped__"), dmlcy.unfold, dir(dmlcy)
print("dmlcy._generated.words" in sys.modules)
hasattr(dmlcy, "softmax")
print("dmlcy._generated.words" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_advice_names_functions_and_pages_that_are_there() -> None:
    for _, word in WORDS:
        functions = re.findall(r"dmlcy\.(\w+)", advice(word))
        assert functions and all(callable(getattr(dml, function)) for function in functions)
    for page, word in PAGES:
        assert page in advice(word)


def test_the_pages_of_words_are_there() -> None:
    for page in {term["page"] for term in dml.specs.terms().values() if "page" in term}:
        file, _, anchor = page.partition("#")
        headings = re.findall(r"^#+ (.*)$", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in anchors, page


def test_the_refusal_of_an_operator_names_the_one_that_is_called_so() -> None:
    with pytest.raises(dml.ModelError, match="DirectML calls it ACTIVATION_SOFTMAX1"):
        dml.specs.operator("softmax")
    with pytest.raises(dml.ModelError, match="has no operator that transposes"):
        dml.specs.operator("transpose")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """A command: its status, and what it wrote."""
    try:
        status = main(arguments)
    except SystemExit as stopped:
        status = int(str(stopped.code))
    out, err = capsys.readouterr()
    return status, out, err


def test_an_example_of_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "example", "layer", "norm")
    assert status == 0 and "MEAN_VARIANCE_NORMALIZATION1" in out and json.loads(out)
    assert err == 'dmlcy example: "layer norm" is MEAN_VARIANCE_NORMALIZATION1 in DirectML.\n'
    assert "MATRIX_MULTIPLY_INTEGER has this name too" in run(capsys, "example", "matmul")[2]
    assert run(capsys, "example", "PADDING1")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("exmple", "PADDING1"), '"exmple" is not a command. Did you mean "example"?'),
        (("zzz",), '"zzz" is not a command. The commands are run, '),
        ((), "A command is missing. The commands are run, compare, export, "),
        ((), "`dmlcy -h` says what each does."),
        (("example", "nosuch"), "`dmlcy operators` lists the operators."),
        (("example", "avg_poling"), 'Did you mean "AVERAGE_POOLING"?'),
        (("example", "transpose"), "See docs/from-numpy.md"),
    ],
)
def test_what_is_misspelt_has_a_proposal(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "") and said in err


@pytest.mark.parametrize("word", ["squeeze", "view", "swapaxes", "broadcast_to", "expand_dims"])
def test_an_operation_without_an_operator_is_known_with_and_without_its_library(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "explain", word)
    assert status == 0 and ", an operation without an operator\n" in out
    with pytest.raises(AttributeError, match=r"See docs/from-numpy\.md#transpose-reshape-broadcast-einsum"):
        getattr(dml, word)


def test_explain_takes_several_words(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "explain", "layer", "norm")
    assert (status, err) == (0, "")
    assert out.startswith("layer norm, another name of MEAN_VARIANCE_NORMALIZATION1\n")
    assert "has other versions: MEAN_VARIANCE_NORMALIZATION and" in " ".join(out.split())
    assert 'Did you mean "bilinear"?' in suggestion("bilinaer")


def test_the_pages_and_explain_show_the_names() -> None:
    page = (ROOT / "docs/reference/padding1.md").read_text(encoding="utf-8")
    assert "- Also called: `np.pad`, `F.pad`" in page and "zero padding" in page
    (found,) = find("PADDING1")
    assert found["also"] == dml.specs.operator("PADDING1")["operator"]["also"]
