"""Tensors that a desc may lack, and formulas that ask whether there is one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from depth import draws_of
from hypothesis import HealthCheck, given, settings

import dmlcy as dml
from dmlcy import testing
from dmlcy._desc.classes import desc_class
from dmlcy._facts.tables import OPERATORS
from dmlcy._show.explain.rules import broken

X = dml.TensorDesc("FLOAT32", (2, 3))
BYTES = dml.TensorDesc("UINT8", (2, 3))


def dequantize(level: Any = None, **values: Any) -> list[str]:
    desc = desc_class("ELEMENT_WISE_DEQUANTIZE_LINEAR")(**{"input": BYTES, "scale": X, **values})
    again = dml.desc.OperatorDesc.from_dict(json.loads(json.dumps(desc.to_dict())))
    found = dml.check(desc, level)
    assert [one.message for one in dml.check(again, level)] == [one.message for one in found]
    return [one.id.removeprefix("DML-ELEMENT_WISE_DEQUANTIZE_LINEAR-") for one in found]


def test_a_tensor_that_is_left_out() -> None:
    assert dequantize() == dequantize(zero_point=BYTES) == dequantize(zero_point=None) == []
    assert dequantize("6_1") == ["zero_point-given-before"]
    assert dequantize("6_1", zero_point=BYTES) == []


def test_rules_read_it_only_where_it_is_there() -> None:
    large = dml.TensorDesc("UINT8", (1000, 1)), dml.TensorDesc("FLOAT32", (1000, 1))
    assert dequantize(input=large[0], scale=large[1]) == []
    assert dequantize(input=large[0], scale=large[1], zero_point=large[0]) == ["zero_point-small"]
    prime = dml.TensorDesc("UINT8", (997,)), dml.TensorDesc("FLOAT32", (997,))
    assert dequantize(input=prime[0], scale=prime[1]) == []
    assert dequantize(input=prime[0], scale=prime[1], zero_point=prime[0]) == ["zero_point-aligned"]
    # A tensor that is given and refused is not read either.
    bad = dml.TensorDesc("UINT8", (0,))
    assert dequantize(zero_point=bad) == ["zero_point-range", "zero_point-sizes"] or dequantize(zero_point=bad) == [
        "zero_point-range"
    ]


def test_what_a_message_says_of_it() -> None:
    desc = desc_class("ELEMENT_WISE_DEQUANTIZE_LINEAR")(input=BYTES, scale=X)
    (violation,) = dml.check(desc, "6_1")
    assert violation.message == "zero_point is needed before level 6_2."
    assert violation.level == "6_2"
    assert str(dml.minimum_feature_level(desc)).startswith("6_2")


def align(**values: Any) -> Any:
    regions = dml.TensorDesc("FLOAT32", (2, 4))
    given = {"input_gradient": dml.TensorDesc("FLOAT32", (2, 1, 3, 3)), "roi": regions}
    indices = dml.TensorDesc("UINT32", (2,))
    return desc_class("ROI_ALIGN_GRAD")(**{**given, "batch_indices": indices, **values})


def ids(desc: Any) -> list[str]:
    return [one.id.removeprefix("DML-ROI_ALIGN_GRAD-") for one in dml.check(desc)]


def test_outputs_that_are_all_optional() -> None:
    image = dml.TensorDesc("FLOAT32", (1, 1, 9, 9))
    regions = dml.TensorDesc("FLOAT32", (2, 4))
    assert ids(align()) == ["output_gradient-one-of-two"]
    assert ids(align(output_gradient=image)) == []
    assert ids(align(output_roi_gradient=regions)) == ["input-for-regions"]
    assert ids(align(output_roi_gradient=regions, input=image)) == []
    assert ids(align(output_roi_gradient=X, input=image)) == ["output_roi_gradient-sizes"]


def test_the_first_tensor_that_is_there_has_the_data_type() -> None:
    image = dml.TensorDesc("FLOAT32", (1, 1, 9, 9))
    half = dml.TensorDesc("FLOAT16", (1, 1, 9, 9))
    wrong = dml.check(align(output_gradient=half))
    assert [one.id for one in wrong] == ["DML-ROI_ALIGN_GRAD-output_gradient-same-dtype"]
    assert "input_gradient" in wrong[0].message
    wrong = dml.check(align(output_gradient=image, input=half))
    assert {one.id.rpartition("GRAD-")[2] for one in wrong} == {
        "input_gradient-same-dtype", "roi-same-dtype", "output_gradient-same-dtype",
    }  # fmt: skip
    assert all("data type of input" in one.message or "input" in one.message for one in wrong)


NAMES = ["ELEMENT_WISE_DEQUANTIZE_LINEAR", "ROI_ALIGN_GRAD"]


@draws_of(30, 200)
@pytest.mark.parametrize("name", NAMES)
def test_random_descs_have_it_and_lack_it(name: str, draws: int) -> None:
    seen: set[tuple[str, bool]] = set()

    @given(testing.descs(name))
    @settings(max_examples=draws, deadline=None, database=None, derandomize=True)
    def look(desc: Any) -> None:
        assert dml.check(desc) == []
        for field in OPERATORS[name].fields:
            if field.optional:
                seen.add((field.python, getattr(desc, field.python) is None))

    look()
    optional = [field.python for field in OPERATORS[name].fields if field.optional]
    assert seen == {(one, absent) for one in optional for absent in (True, False)}


BROKEN = (
    "DML-ELEMENT_WISE_DEQUANTIZE_LINEAR-zero_point-of-int32", "DML-ELEMENT_WISE_DEQUANTIZE_LINEAR-zero_point-rank",
    "DML-ROI_ALIGN_GRAD-output_gradient-one-of-two", "DML-ROI_ALIGN_GRAD-input-for-regions",
    "DML-ROI_ALIGN_GRAD-input-dtype", "DML-ROI_ALIGN_GRAD-roi-sizes",
)  # fmt: skip


@pytest.mark.parametrize("id_", BROKEN)
def test_broken_descs_have_one_thing_wrong(id_: str) -> None:
    @given(testing.broken_descs(id_.split("-")[1], id=id_))
    @settings(max_examples=3, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def look(case: tuple[Any, Any]) -> None:
        assert [one.id for one in dml.check(case[0])] == [id_]

    look()


@pytest.mark.parametrize("name", NAMES)
def test_explanations_break_each_rule(name: str) -> None:
    for rule in OPERATORS[name].rules:
        assert broken(OPERATORS[name], rule) is not None, rule.id


def test_a_stub_and_a_page_say_that_it_is_optional(checkout: Any) -> None:
    root, _ = checkout
    stub = (root / "dmlcy/_generated/descs/roi_align_grad.pyi").read_text()
    assert "input: TensorDesc | None = None" in stub and "input_gradient: TensorDesc," in stub
    page = (root / "docs/reference/roi_align_grad.md").read_text()
    assert "input tensor, optional" in page
