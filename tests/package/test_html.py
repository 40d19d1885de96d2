"""The view of descs, violations and support tables in a notebook: well-formed, escaped, in its own colours."""

from __future__ import annotations

import copy
import json
import pickle
from html.parser import HTMLParser
from typing import Any

import pytest
from each import each_of
from example_descs import desc_of

import dmlcy as dml
from dmlcy._facts.rows import Operator
from dmlcy._facts.tables import OPERATORS

KNOWN = tuple(OPERATORS.values())  # before tests add to them
HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></table><b>", "&lt;b&gt;", "'onload='x",
    "\x1b[31m\x00\u202e", "{{ x }}$x$", "a\nb",
)  # fmt: skip
STYLES = (
    "border-collapse", "margin", "text-align", "caption-side", "font-weight", "padding", "vertical-align",
    "border-bottom", "border-left",
)  # fmt: skip


class Reader(HTMLParser):
    """Refuses what is not a plain table, and keeps its cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td", "br", "p"}, tag
        for name, value in attrs:
            assert name in {"style", "scope"}, name
            styles = [part.partition(":")[0].strip() for part in (value or "").split(";") if name == "style"]
            assert set(styles) <= set(STYLES), styles
        if tag in ("caption", "th", "td", "p"):
            self.cells.append("")
        if tag == "br":
            self.cells[-1] += "\n"
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("caption", "th", "td", "p"):
            self.cells[-1] += data
        else:
            assert not data.strip()


def cells(thing: Any) -> list[str]:
    return Reader(thing._repr_html_()).cells


@each_of("operator", KNOWN)
def test_a_valid_desc(operator: Operator) -> None:
    shown = cells(desc_of(operator))
    assert shown[0] == f"{operator.struct} at feature level 6_4, valid"
    assert shown[1:4] == ["Field", "In DirectML", "Value"]
    for field in operator.fields:
        assert shown[shown.index(field.python) + 1] == field.name
    example = operator.examples[0]
    dtype, sizes, _ = next(iter((example.inputs or example.outputs).values()))
    assert any(f"{dtype} {tuple(sizes)}" in cell for cell in shown)


def test_a_desc_beside_what_is_wrong_with_it() -> None:
    image = dml.TensorDesc("FLOAT32", (1, 1, 4, 4), strides=(16, 16, 4, 1))
    desc = dml.desc.AveragePooling(input=image, window_size=(2, 9), strides=(0, 1))
    (first, *others) = dml.check(desc)
    shown = cells(desc)
    assert shown[0].endswith(f"{1 + len(others)} violation{'s' if others else ''}")
    assert str(first) in "\n".join(shown)
    assert "FLOAT32 (1, 1, 4, 4)\nstrides (16, 16, 4, 1)" in shown
    assert desc._repr_html_().count("border-left") == 1 + len(others)
    roi = desc_of(OPERATORS["ROI_POOLING"], pooled_size=(2, 3))
    assert "height 2, width 3" in cells(roi)


def test_a_desc_at_the_level_in_force() -> None:
    desc = desc_of(OPERATORS["PADDING1"])
    assert cells(desc)[0].endswith("at feature level 6_4, valid")
    with dml.feature_level("4_1"):
        shown = cells(desc)
    assert shown[0].endswith("at feature level 4_1, 1 violation")
    assert "DML-PADDING1-operator-level" in shown[-1]  # of no field


def test_a_desc_from_json_that_lacks_a_field() -> None:
    model = desc_of(OPERATORS["UNFOLD"]).to_dict()
    del model["desc"]["Strides"]
    model["desc"]["<b>"] = 1
    shown = cells(dml.desc.OperatorDesc.from_dict(model))
    assert shown[shown.index("strides") + 2] == ""
    assert "DML-UNFOLD-strides-required" in shown[shown.index("strides") + 3]
    assert "DML-UNFOLD-operator-unknown" in shown[-1]


def test_a_tensor_desc() -> None:
    shown = cells(dml.TensorDesc("FLOAT16", (2, 3), strides=(3, 1), flags="OWNED_BY_DML"))
    for name, value in (("dtype", "FLOAT16"), ("sizes", "(2, 3)"), ("strides", "(3, 1)"), ("flags", "OWNED_BY_DML")):
        assert shown[shown.index(name) + 2] == value
    assert "packed" in cells(dml.TensorDesc("INT8", (2,)))
    assert "4, 8 are needed" in cells(dml.TensorDesc("INT8", (5,), total_tensor_size_in_bytes=4))


def test_violations() -> None:
    desc = dml.desc.AveragePooling(input=dml.TensorDesc("FLOAT32", (1, 1, 4, 4)), window_size=9)
    found = dml.check(desc)
    shown = cells(found)
    assert shown[0] == "2 violations"
    for violation in found:
        assert {violation.id, violation.text, str(violation.index), violation.field} <= set(shown)
        own = cells(violation)
        assert own[0] == violation.id and violation.rule in own and violation.hint in own
    assert cells(found[:0] or dml.check(desc_of(OPERATORS["UNFOLD"]))) == ["No violations: the desc is valid."]
    assert cells(type(found)(found * 200))[0] == "400 violations, of which 200 are shown"


def test_violations_are_a_list() -> None:
    found = dml.check(dml.desc.AveragePooling(input=dml.TensorDesc("FLOAT32", (1, 1, 4, 4)), window_size=9))
    assert dml.check(desc_of(OPERATORS["UNFOLD"])) == [] and found == list(found)
    assert isinstance(found, list) and repr(found) == repr(list(found))
    assert pickle.loads(pickle.dumps(found)) == copy.copy(found) == found
    assert json.dumps([violation.to_json() for violation in found])


def test_the_support_table() -> None:
    found = dml.support_table()
    shown = cells(found)
    assert shown[0].startswith(f"{len(found)} combinations")
    table: list[tuple[Any, ...]] = [tuple(shown[at : at + 5]) for at in range(6, len(shown), 5)]
    again = []
    for operator, tensor, since, dtypes, dimensions in table:
        first, to, last = dimensions.partition(" to ")
        ranks = range(int(first), int(last) + 1) if to else [int(rank) for rank in dimensions.split(" or ")]
        again += [dml.SupportRow(operator, tensor, d, rank, since) for d in dtypes.split(", ") for rank in ranks]
    assert sorted(again) == sorted(found)
    assert cells(found[0])[5:] == [
        found[0].operator,
        found[0].tensor,
        found[0].since,
        found[0].dtype,
        str(found[0].rank),
    ]
    assert pickle.loads(pickle.dumps(found)) == found == tuple(found)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_text(text: str) -> None:
    tensor = dml.TensorDesc(text, (text, 2), strides=(text,), flags=text)  # type: ignore[arg-type]
    desc = desc_of(OPERATORS["PADDING1"], input=tensor, start_padding=text, end_padding=(text,), padding_mode=text)
    found = dml.check(desc)
    assert found
    violation = dml.Violation(text, text, text, text, 1, text, text, {text: text}, text, text, text, text, text)
    row = dml.SupportRow(text, text, text, 1, text)  # type: ignore[arg-type]
    for thing in (tensor, desc, found, *found, violation, type(found)([violation]), row):
        shown = cells(thing)
        assert all(character.isprintable() or character == "\n" for cell in shown for character in cell)
    printable = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
    assert printable in cells(violation) and printable in cells(row)
    model = {"type": "DML_OPERATOR_PADDING1", "desc": {text: text, "InputTensor": {text: text}}}
    cells(dml.desc.OperatorDesc.from_dict(model))


def test_repairs_of_a_violation_and_of_a_list_of_them() -> None:
    tensors = [dml.TensorDesc("FLOAT32", sizes) for sizes in ((1, 1, 2, 3), (1, 1, 4, 3))]
    found = dml.check(dml.desc.Gemm(a=tensors[0], b=tensors[1]))
    texts = [one.text for one in found[0].repairs]
    shown = cells(found[0])
    assert texts and shown[shown.index("Repairs") + 1].split("\n") == texts
    assert str(found[0]).removesuffix(f" [{found[0].id}]") in cells(found)
    assert cells(found[0].repairs[0])[-2:] == [found[0].repairs[0].field, texts[0]]
